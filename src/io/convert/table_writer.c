/* A data set file written in parallel and atomically. */
#include "io/convert/table_writer.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/convert/table_parts.h"

/* The rows to be marked are few. */
static int64_t file_bytes(int64_t n, int64_t bytes, bool labels) {
    return IKT_H5_FILE_BYTES + bytes +
           (labels ? ikt_h5_rows_bytes(n, (int64_t)sizeof(int32_t)) : 0);
}

static ikt_status make_writer(ikt_context *ctx, const char *path, ikt_type type,
                              ikt_table_writer **out) {
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, "table"));
    ikt_table_writer *w = *out;
    w->ctx = ctx;
    w->file = w->labels = w->index = -1;
    for (int i = 0; i < IKT_TABLE_IDS; i++)
        w->ids[i] = -1;
    w->memory = ikt_h5_memory_type(type);
    snprintf(w->path, sizeof w->path, "%s", path);
    return IKT_OK;
}

ikt_status ikt_table_begin(ikt_context *ctx, const char *path, bool overwrite, int64_t n,
                           int64_t bytes, ikt_type type, bool labels, ikt_table_writer **out) {
    ikt_table_writer *w = NULL;
    *out = NULL;
    IKT_TRY(ikt_agree(ctx, make_writer(ctx, path, type, &w)));
    ikt_status st = ikt_atomic_begin(ctx, path, overwrite, w->temporary);
    if (st != IKT_OK) {
        ikt_free(&w);
        return st;
    }
    st = ikt_h5_create_sized(ctx, path, w->temporary, file_bytes(n, bytes, labels), &w->file);
    if (st == IKT_OK && labels)
        st = ikt_h5_create_rows(ctx, w->file, "labels", H5T_NATIVE_INT32, n, 0, &w->labels);
    if (st != IKT_OK) st = ikt_table_close(&w, st);
    *out = w;
    return st;
}

ikt_status ikt_table_create(ikt_context *ctx, const char *path, bool overwrite, int64_t n,
                            int64_t d, ikt_type type, bool labels, ikt_table_writer **out) {
    const int64_t bytes = ikt_h5_rows_bytes(n, d * (int64_t)ikt_type_size(type));
    IKT_TRY(ikt_table_begin(ctx, path, overwrite, n, bytes, type, labels, out));
    ikt_table_writer *w = *out;
    const ikt_status st = ikt_h5_create_rows(ctx, w->file, "X", w->memory, n, d, &w->ids[0]);
    return st == IKT_OK ? IKT_OK : ikt_table_close(out, st);
}

ikt_status ikt_table_write_labels(ikt_table_writer *w, int64_t first, int64_t count,
                                  const int32_t *labels) {
    if (w->labels < 0) return IKT_OK;
    return ikt_h5_write_rows(w->ctx, w->labels, H5T_NATIVE_INT32, first, count, labels);
}

ikt_status ikt_table_write(ikt_table_writer *w, int64_t first, int64_t count, const void *rows,
                           const int32_t *labels) {
    IKT_TRY(ikt_h5_write_rows(w->ctx, w->ids[0], w->memory, first, count, rows));
    return ikt_table_write_labels(w, first, count, labels);
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
    hid_t ids[IKT_TABLE_IDS + 2];
    memcpy(ids, w->ids, sizeof w->ids);
    ids[IKT_TABLE_IDS] = w->labels;
    ids[IKT_TABLE_IDS + 1] = w->file;
    local = ikt_h5_complete(w->ctx, ids, IKT_TABLE_IDS + 2, w->path, w->temporary, local);
    ikt_status st = ikt_atomic_end(w->ctx, w->path, w->temporary, local);
    ikt_free(writer);
    return st;
}
