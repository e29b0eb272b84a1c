/* Writing a kept graph. See graph_file.h. */

#include <stdio.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/memory.h"
#include "io/hdf5/h5.h"
#include "io/hdf5/parts_h5.h"
#include "io/results/graph_file.h"

struct ikt_graph_writer {
    ikt_context *ctx;
    char path[IKT_PATH_MAX], temporary[IKT_PATH_MAX];
    hid_t file, group; /* negative: not made yet */
    ikt_rows rows;
    int64_t first, count, entries; /* own entries: the first, how many; of all ranks */
};

ikt_status ikt_graph_writer_begin(ikt_context *ctx, const char *path, bool overwrite,
                                  ikt_graph_writer **out) {
    ikt_graph_writer *w = NULL;
    *out = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &w, 1, sizeof *w, "graph file")));
    w->ctx = ctx;
    w->file = w->group = -1;
    snprintf(w->path, sizeof w->path, "%s", path);
    ikt_status st = ikt_atomic_begin(ctx, path, overwrite, w->temporary);
    if (st == IKT_OK) st = ikt_h5_create(ctx, w->temporary, &w->file);
    if (st != IKT_OK) ikt_graph_writer_abandon(&w);
    *out = w;
    return st;
}

const char *ikt_graph_writer_path(const ikt_graph_writer *writer) {
    return writer->path;
}

/* COLLECTIVE. */
static ikt_status note_failure(ikt_graph_writer *w, bool good, const char *what) {
    char reason[256];
    ikt_status st = IKT_OK;
    if (!good)
        st = ikt_fail(w->ctx, IKT_ERR_FILE, "%s: %s cannot be written: %s", w->path, what,
                      ikt_h5_reason(reason, sizeof reason));
    return ikt_h5_agree(w->ctx, w->file, st);
}

/* With labels, positions and the largest start. */
static int64_t file_bytes(const ikt_graph_writer *w) {
    const int64_t n = w->rows.n;
    return IKT_H5_FILE_BYTES + 2 * ikt_h5_rows_bytes(w->entries, 8) + ikt_h5_rows_bytes(n + 1, 8) +
           ikt_h5_rows_bytes(n, 8) + ikt_h5_rows_bytes(n, 4) + ikt_h5_rows_bytes(n, 24);
}

/* What makes the group a sparse matrix, and the file a kept graph. */
static bool write_form(ikt_graph_writer *w) {
    const int64_t shape[2] = {w->rows.n, w->rows.n};
    w->group = ikt_h5_create_group(w->file, IKT_GRAPH_GROUP);
    return w->group >= 0 && ikt_h5_set_text(w->file, "format", IKT_GRAPH_FORMAT) &&
           ikt_h5_set_int(w->file, "format_version", IKT_GRAPH_CURRENT) &&
           ikt_h5_set_text(w->group, "encoding-type", "csr_matrix") &&
           ikt_h5_set_text(w->group, "encoding-version", "0.1.0") &&
           ikt_h5_set_ints(w->group, "shape", 2, shape) &&
           ikt_h5_set_text(w->group, "values", IKT_GRAPH_CONDITIONAL);
}

/* COLLECTIVE. A data set of the group, written by all ranks. */
static ikt_status write(ikt_graph_writer *w, const char *name, hid_t type, int64_t n, int64_t first,
                        int64_t count, const void *values) {
    hid_t dataset;
    ikt_status st = ikt_h5_create_rows(w->ctx, w->group, name, type, n, 0, &dataset);
    if (st == IKT_OK && n > 0) st = ikt_h5_write_rows(w->ctx, dataset, type, first, count, values);
    ikt_h5_close(dataset);
    return st;
}

/* COLLECTIVE. The last rank that has rows also writes where the last one ends. */
static ikt_status write_starts(ikt_graph_writer *w, const int64_t *start) {
    const int64_t rows = w->rows.count;
    const int64_t count = rows + (rows > 0 && w->rows.first + rows == w->rows.n);
    int64_t *global = NULL;
    ikt_status st = ikt_alloc(w->ctx, &global, count, sizeof *global, "graph file");
    st = ikt_agree(w->ctx, st);
    for (int64_t i = 0; st == IKT_OK && i < count; i++)
        global[i] = w->first + start[i];
    if (st == IKT_OK)
        st = write(w, "indptr", H5T_NATIVE_INT64, w->rows.n + 1, w->rows.first, count, global);
    ikt_free(&global);
    return st;
}

ikt_status ikt_graph_writer_rows(ikt_graph_writer *w, const ikt_rows *rows, const int64_t *start) {
    w->rows = *rows;
    w->count = start[rows->count];
    w->first = ikt_sum_before(w->ctx, w->count);
    w->entries = ikt_sum_one(w->ctx, w->count);
    IKT_TRY(ikt_atomic_reserve(w->ctx, w->path, w->temporary, file_bytes(w)));
    IKT_TRY(note_failure(w, write_form(w), "the form"));
    return write_starts(w, start);
}

ikt_status ikt_graph_writer_columns(ikt_graph_writer *w, const uint32_t *column) {
    /* Numbers below 2^31 have the same bits with and without a sign; parallel HDF5 converts nothing
     * that it checksums. */
    const hid_t type = w->rows.n <= INT32_MAX ? H5T_NATIVE_INT32 : H5T_NATIVE_UINT32;
    return write(w, "indices", type, w->entries, w->first, w->count, column);
}

ikt_status ikt_graph_writer_weights(ikt_graph_writer *w, const float *weight) {
    return write(w, "data", H5T_NATIVE_FLOAT, w->entries, w->first, w->count, weight);
}

/* COLLECTIVE. */
static ikt_status write_part(ikt_graph_writer *w, ikt_part part) {
    return ikt_parts_write(w->ctx, w->file, false, &part, 1);
}

ikt_status ikt_graph_writer_positions(ikt_graph_writer *w, uint32_t *position) {
    return write_part(w, ikt_part_rows("position", IKT_PART_U32, &w->rows, 0, position));
}

ikt_status ikt_graph_writer_start(ikt_graph_writer *w, ikt_graph_start what, int64_t q,
                                  void *start) {
    const ikt_part_type type = what == IKT_GRAPH_START_PCA ? IKT_PART_F64 : IKT_PART_F32;
    return write_part(w, ikt_part_rows("start", type, &w->rows, q, start));
}

ikt_status ikt_graph_writer_labels(ikt_graph_writer *w, const int64_t *labels) {
    return write_part(w, ikt_part_rows("labels", IKT_PART_I64, &w->rows, 0, (void *)labels));
}

ikt_status ikt_graph_writer_marked(ikt_graph_writer *w, int64_t *rows, int64_t count) {
    return write_part(w, ikt_part_shared("marked", IKT_PART_I64, count, rows));
}

ikt_status ikt_graph_writer_text(ikt_graph_writer *w, const char *name, const char *text) {
    return note_failure(w, ikt_h5_set_text(w->file, name, text), name);
}

ikt_status ikt_graph_writer_int(ikt_graph_writer *w, const char *name, int64_t value) {
    return note_failure(w, ikt_h5_set_int(w->file, name, value), name);
}

static ikt_status close_all(ikt_graph_writer *w, ikt_status local) {
    const hid_t ids[] = {w->group, w->file};
    return ikt_h5_complete(w->ctx, ids, 2, w->path, w->temporary, local);
}

ikt_status ikt_graph_writer_end(ikt_graph_writer **writer, ikt_status local) {
    ikt_graph_writer *w = *writer;
    if (!w) return local;
    ikt_status st = ikt_atomic_end(w->ctx, w->path, w->temporary, close_all(w, local));
    ikt_free(writer);
    return st;
}

void ikt_graph_writer_abandon(ikt_graph_writer **writer) {
    ikt_graph_writer *w = *writer;
    if (!w) return;
    close_all(w, IKT_OK); /* after which nobody has it open any more */
    if (ikt_rank(w->ctx) == 0 && w->temporary[0]) ikt_atomic_discard(w->temporary);
    ikt_free(writer);
}
