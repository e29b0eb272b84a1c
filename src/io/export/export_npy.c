/* NPY, version 1: a header of text and the places, row after row. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/shared_file.h"
#include "io/export/export.h"
#include "io/numbers/element.h"

enum { HEADER = 128, PREFIX = 10 };

/* Magic, version, length, and a dictionary filled up with blanks so that the data is aligned. */
static void make_header(const ikt_export *export, char header[HEADER]) {
    const char order = ikt_element_native('f', 4).big ? '>' : '<';
    char text[HEADER - PREFIX];
    const int length = snprintf(text, sizeof text,
                                "{'descr': '%cf4', 'fortran_order': False, 'shape': (%lld, %d), }",
                                order, (long long)export->n, export->q);
    memset(header, ' ', HEADER);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)(HEADER - PREFIX);
    header[9] = 0;
    memcpy(header + PREFIX, text, (size_t)length);
    header[HEADER - 1] = '\n';
}

static ikt_status write_npy(ikt_export *export, const ikt_export_options *options,
                            const char *path) {
    ikt_context *ctx = export->ctx;
    ikt_shared_file *file;
    float *y = NULL;
    char header[HEADER];
    const int64_t row_bytes = export->q * (int64_t)sizeof *y;
    const int64_t bytes = HEADER + export->n * row_bytes;
    make_header(export, header);
    IKT_TRY(ikt_shared_begin(ctx, path, options->overwrite, bytes, &file));
    ikt_status st =
        ikt_agree(ctx, ikt_alloc(ctx, &y, IKT_EXPORT_BLOCK * export->q, sizeof *y, "block"));
    if (st == IKT_OK) st = ikt_shared_append(file, header, ikt_rank(ctx) == 0 ? HEADER : 0);
    for (int64_t round = 0; st == IKT_OK && round < ikt_export_rounds(export); round++) {
        int64_t first, count;
        ikt_export_share(export, round, &first, &count);
        st = ikt_result_read_embedding(export->file, first, count, y);
        if (st == IKT_OK) st = ikt_shared_append(file, y, count * row_bytes);
    }
    ikt_free(&y);
    return ikt_shared_end(&file, st);
}

const ikt_export_format ikt_export_npy = {"npy", ".npy", false, false, true, write_npy};
