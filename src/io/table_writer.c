/* A data set file written in parallel and atomically. */
#include "io/table_writer.h"

#include <stdio.h>

#include "base/atomic_file.h"
#include "base/memory.h"
#include "io/h5.h"

struct ikt_table_writer {
    ikt_context *ctx;
    char path[IKT_PATH_MAX], temporary[IKT_PATH_MAX];
    hid_t file, rows, labels;
    hid_t memory; /* HDF5's type of an element; not owned */
};

static hid_t native(ikt_type type) {
    return type == IKT_TYPE_U8    ? H5T_NATIVE_UINT8
           : type == IKT_TYPE_F32 ? H5T_NATIVE_FLOAT
                                  : H5T_NATIVE_DOUBLE;
}

/* The rows to be marked are few. */
static int64_t file_bytes(int64_t n, int64_t row_bytes, bool labels) {
    return IKT_H5_FILE_BYTES + ikt_h5_rows_bytes(n, row_bytes) +
           (labels ? ikt_h5_rows_bytes(n, (int64_t)sizeof(int32_t)) : 0);
}

static ikt_status create_datasets(ikt_table_writer *w, int64_t n, int64_t d, bool labels) {
    IKT_TRY(ikt_h5_create_rows(w->ctx, w->file, "X", w->memory, n, d, &w->rows));
    if (!labels) return IKT_OK;
    return ikt_h5_create_rows(w->ctx, w->file, "labels", H5T_NATIVE_INT32, n, 0, &w->labels);
}

ikt_status ikt_table_create(ikt_context *ctx, const char *path, bool overwrite, int64_t n,
                            int64_t d, ikt_type type, bool labels, ikt_table_writer **out) {
    ikt_table_writer *w = NULL;
    *out = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &w, 1, sizeof *w, "table")));
    w->ctx = ctx;
    w->file = w->rows = w->labels = -1;
    w->memory = native(type);
    snprintf(w->path, sizeof w->path, "%s", path);
    ikt_status st = ikt_atomic_begin(ctx, path, overwrite, w->temporary);
    if (st != IKT_OK) {
        ikt_free(&w);
        return st;
    }
    st = ikt_h5_create_sized(ctx, path, w->temporary,
                             file_bytes(n, d * (int64_t)ikt_type_size(type), labels), &w->file);
    if (st == IKT_OK) st = create_datasets(w, n, d, labels);
    if (st != IKT_OK) st = ikt_table_close(&w, st);
    *out = w;
    return st;
}

ikt_status ikt_table_write(ikt_table_writer *w, int64_t first, int64_t count, const void *rows,
                           const int32_t *labels) {
    IKT_TRY(ikt_h5_write_rows(w->ctx, w->rows, w->memory, first, count, rows));
    if (w->labels < 0) return IKT_OK;
    return ikt_h5_write_rows(w->ctx, w->labels, H5T_NATIVE_INT32, first, count, labels);
}

ikt_status ikt_table_attribute(ikt_table_writer *w, const char *name, const char *text) {
    char reason[256];
    ikt_status st = IKT_OK;
    if (!ikt_h5_set_text(w->file, name, text))
        st = ikt_fail(w->ctx, IKT_ERR_FILE, "%s: attribute %s cannot be written: %s", w->path, name,
                      ikt_h5_reason(reason, sizeof reason));
    return ikt_h5_agree(w->ctx, w->file, st);
}

ikt_status ikt_table_marked(ikt_table_writer *w, const int64_t *rows, int64_t count) {
    return ikt_h5_write_array(w->ctx, w->file, "marked", H5T_NATIVE_INT64, count, rows);
}

ikt_status ikt_table_close(ikt_table_writer **writer, ikt_status local) {
    ikt_table_writer *w = *writer;
    if (!w) return local;
    hid_t ids[] = {w->labels, w->rows, w->file};
    local = ikt_h5_complete(w->ctx, ids, 3, w->path, w->temporary, local);
    ikt_status st = ikt_atomic_end(w->ctx, w->path, w->temporary, local);
    ikt_free(writer);
    return st;
}
