/* A data set file, dense or sparse, written in parallel and atomically. See table_writer.h. */
#include "io/convert/table_writer.h"

#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "io/hdf5/h5.h"

/* What is open while the file is written, in the order in which it is closed; sparse rows have four
 * in place of the data set of dense ones. */
enum { GROUP, DATA, INDICES, INDPTR, LABELS, IDS };

struct ikt_table_writer {
    ikt_context *ctx;
    ikt_h5_output out;
    hid_t ids[IDS]; /* negative ones are not there. Dense rows: DATA */
    ikt_type type;
    hid_t index; /* of sparse rows: HDF5's type of the column numbers; not owned */
};

/* COLLECTIVE. Begins the file without rows, which take `bytes` at most. (Rows to be marked are
 * few.) */
static ikt_status begin(ikt_context *ctx, const char *path, bool overwrite, int64_t n,
                        int64_t bytes, ikt_type type, bool labels, ikt_table_writer **out) {
    ikt_table_writer *w = NULL;
    *out = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &w, 1, sizeof *w, "table"));
    w->ctx = ctx;
    w->type = type;
    w->index = -1;
    for (int i = 0; i < IDS; i++)
        w->ids[i] = -1;
    bytes += IKT_H5_FILE_BYTES + (labels ? ikt_h5_rows_bytes(n, (int64_t)sizeof(int32_t)) : 0);
    ikt_status st = ikt_h5_output_begin(ctx, path, overwrite, bytes, &w->out);
    if (st != IKT_OK) {
        ikt_free(&w);
        return st;
    }
    if (labels)
        st = ikt_h5_create(ctx, w->out.file, "labels", H5T_NATIVE_INT32, n, 0, IKT_H5_CHECKED,
                           &w->ids[LABELS]);
    if (st != IKT_OK) st = ikt_table_close(&w, st);
    *out = w;
    return st;
}

ikt_status ikt_table_close(ikt_table_writer **writer, ikt_status local) {
    if (!*writer) return local;
    const ikt_status st = ikt_h5_output_end(&(*writer)->out, (*writer)->ids, IDS, local);
    ikt_free(writer);
    return st;
}

ikt_status ikt_table_attribute(ikt_table_writer *w, const char *name, const char *text) {
    return ikt_h5_output_check(&w->out, ikt_h5_set_text(w->out.file, name, text), name);
}

ikt_status ikt_table_marked(ikt_table_writer *w, const int64_t *rows, int64_t count) {
    return ikt_h5_write_array(w->ctx, w->out.file, "marked", H5T_NATIVE_INT64, count, rows);
}

ikt_status ikt_table_origin(ikt_table_writer *w, const int64_t *rows, int64_t count) {
    IKT_TRY(ikt_h5_output_reserve(&w->out, ikt_h5_rows_bytes(count, (int64_t)sizeof *rows)));
    return ikt_h5_write_array(w->ctx, w->out.file, "rows", H5T_NATIVE_INT64, count, rows);
}

/* --- texts ------------------------------------------------------------------------------------ */

static hid_t text_type(const ikt_table_text *text) {
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type < 0 || H5Tset_size(type, (size_t)text->width) < 0 ||
        H5Tset_strpad(type, H5T_STR_NULLPAD) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0) {
        ikt_h5_close(type);
        return -1;
    }
    return type;
}

/* What the data sets take at most: texts that cannot be made shorter, and the zeros behind them, of
 * which a thousand become one. */
static int64_t text_bytes(int64_t n, const ikt_table_text *text) {
    return text->bytes + text->bytes / 64 + ikt_h5_rows_bytes(n, text->width) / 256 + (32 << 10);
}

/* COLLECTIVE. The data set of a column. */
static ikt_status create_texts(ikt_table_writer *w, hid_t group, int64_t n,
                               const ikt_table_text *text) {
    const hid_t type IKT_AT_END(ikt_h5_end) = text_type(text);
    hid_t set IKT_AT_END(ikt_h5_end) = -1;
    IKT_TRY(ikt_h5_output_check(&w->out, type >= 0, text->name));
    IKT_TRY(ikt_h5_create(w->ctx, group, text->name, type, n, 0, IKT_H5_PACKED, &set));
    if (strcmp(text->name, text->heading) == 0) return IKT_OK;
    return ikt_h5_output_check(&w->out, ikt_h5_set_text(set, "heading", text->heading), "heading");
}

ikt_status ikt_table_texts(ikt_table_writer *w, int64_t n, const ikt_table_text *text,
                           int64_t count) {
    int64_t bytes = 0;
    for (int64_t t = 0; t < count; t++)
        bytes += text_bytes(n, &text[t]);
    if (count == 0) return IKT_OK;
    IKT_TRY(ikt_h5_output_reserve(&w->out, bytes));
    const hid_t group IKT_AT_END(ikt_h5_end) = ikt_h5_create_group(w->out.file, "columns");
    IKT_TRY(ikt_h5_output_check(&w->out, group >= 0, "the group columns"));
    for (int64_t t = 0; t < count; t++)
        IKT_TRY(create_texts(w, group, n, &text[t]));
    return IKT_OK;
}

/* The data set is opened for every block: a file may have more columns than can stay open. */
ikt_status ikt_table_write_texts(ikt_table_writer *w, const ikt_table_text *text, int64_t first,
                                 int64_t count, const char *texts) {
    char path[300];
    snprintf(path, sizeof path, "columns/%s", text->name);
    const hid_t type IKT_AT_END(ikt_h5_end) = text_type(text);
    const hid_t set IKT_AT_END(ikt_h5_end) = H5Dopen2(w->out.file, path, H5P_DEFAULT);
    IKT_TRY(ikt_h5_output_check(&w->out, type >= 0 && set >= 0, path));
    return ikt_h5_write_rows(w->ctx, set, type, first, count, texts);
}

static ikt_status write_labels(ikt_table_writer *w, int64_t first, int64_t count,
                               const int32_t *labels) {
    if (w->ids[LABELS] < 0) return IKT_OK;
    return ikt_h5_write_rows(w->ctx, w->ids[LABELS], H5T_NATIVE_INT32, first, count, labels);
}

/* --- dense rows ------------------------------------------------------------------------------- */

ikt_status ikt_table_create(ikt_context *ctx, const char *path, bool overwrite, int64_t n,
                            int64_t d, ikt_type type, bool labels, ikt_table_writer **out) {
    const int64_t bytes = ikt_h5_rows_bytes(n, d * (int64_t)ikt_type_size(type));
    IKT_TRY(begin(ctx, path, overwrite, n, bytes, type, labels, out));
    ikt_table_writer *w = *out;
    const ikt_status st = ikt_h5_create(ctx, w->out.file, "X", ikt_h5_memory_type(type), n, d,
                                        IKT_H5_CHECKED, &w->ids[DATA]);
    return st == IKT_OK ? IKT_OK : ikt_table_close(out, st);
}

ikt_status ikt_table_write(ikt_table_writer *w, int64_t first, int64_t count, const void *rows,
                           const int32_t *labels) {
    IKT_TRY(
        ikt_h5_write_rows(w->ctx, w->ids[DATA], ikt_h5_memory_type(w->type), first, count, rows));
    return write_labels(w, first, count, labels);
}

/* --- sparse rows ------------------------------------------------------------------------------ */

static int64_t index_bytes(const ikt_sparse_shape *shape) {
    const bool wide = shape->d > (int64_t)INT32_MAX + 1;
    return wide ? (int64_t)sizeof(int64_t) : (int64_t)sizeof(int32_t);
}

double ikt_sparse_bytes(const ikt_sparse_shape *shape) {
    const double entry = (double)index_bytes(shape) + (double)ikt_type_size(shape->type);
    return (double)shape->entries * entry + 8.0 * ((double)shape->n + 1);
}

static ikt_status create_group(ikt_table_writer *w, const ikt_sparse_shape *shape) {
    const int64_t size[2] = {shape->n, shape->d};
    const hid_t group = ikt_h5_create_group(w->out.file, "X");
    w->ids[GROUP] = group;
    const bool good = group >= 0 && ikt_h5_set_text(group, "encoding-type", "csr_matrix") &&
                      ikt_h5_set_text(group, "encoding-version", "0.1.0") &&
                      ikt_h5_set_ints(group, "shape", 2, size);
    IKT_TRY(ikt_h5_output_check(&w->out, good, "the group X"));
    IKT_TRY(ikt_h5_create(w->ctx, group, "data", ikt_h5_memory_type(w->type), shape->entries, 0,
                          IKT_H5_CHECKED, &w->ids[DATA]));
    IKT_TRY(ikt_h5_create(w->ctx, group, "indices", w->index, shape->entries, 0, IKT_H5_CHECKED,
                          &w->ids[INDICES]));
    return ikt_h5_create(w->ctx, group, "indptr", H5T_NATIVE_INT64, shape->n + 1, 0, IKT_H5_CHECKED,
                         &w->ids[INDPTR]);
}

ikt_status ikt_sparse_create(ikt_context *ctx, const char *path, bool overwrite,
                             const ikt_sparse_shape *shape, ikt_table_writer **out) {
    const int64_t bytes = ikt_h5_rows_bytes(shape->entries, (int64_t)ikt_type_size(shape->type)) +
                          ikt_h5_rows_bytes(shape->entries, index_bytes(shape)) +
                          ikt_h5_rows_bytes(shape->n + 1, (int64_t)sizeof(int64_t));
    IKT_TRY(begin(ctx, path, overwrite, shape->n, bytes, shape->type, shape->labels, out));
    (*out)->index = index_bytes(shape) == 8 ? H5T_NATIVE_INT64 : H5T_NATIVE_INT32;
    const ikt_status st = create_group(*out, shape);
    return st == IKT_OK ? IKT_OK : ikt_table_close(out, st);
}

/* To the types of the file, in place: a narrower element never reaches beyond the one it comes
 * from. */
static void narrow(const ikt_table_writer *w, ikt_sparse_block *block) {
    const bool wide = H5Tget_size(w->index) == sizeof(int64_t);
    const size_t size = ikt_type_size(w->type);
    char *columns = (char *)block->columns, *values = (char *)block->values;
    for (int64_t e = 0; e < block->entries && !wide; e++) {
        const int32_t column = (int32_t)block->columns[e];
        memcpy(columns + (size_t)e * sizeof column, &column, sizeof column);
    }
    for (int64_t e = 0; e < block->entries; e++) {
        double number;
        ikt_number_put(w->type, &number, 0, block->values[e]);
        memcpy(values + (size_t)e * size, &number, size);
    }
}

/* indptr has one number more than there are rows, a zero, which goes with row 0. */
ikt_status ikt_sparse_write(ikt_table_writer *w, int64_t first, int64_t first_entry,
                            ikt_sparse_block *block) {
    const bool zero = first == 0 && block->rows > 0;
    IKT_ARRAYS(held, w->ctx, "blocks");
    int64_t *ends = ikt_claim(&held, block->rows + 1, sizeof *ends);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t row = 0; row < block->rows; row++)
        ends[row + 1] = first_entry + block->ends[row];
    IKT_TRY(ikt_h5_write_rows(w->ctx, w->ids[INDPTR], H5T_NATIVE_INT64, first + !zero,
                              block->rows + zero, ends + !zero));
    ikt_arrays_free(&held);
    narrow(w, block);
    IKT_TRY(ikt_h5_write_rows(w->ctx, w->ids[INDICES], w->index, first_entry, block->entries,
                              block->columns));
    IKT_TRY(ikt_h5_write_rows(w->ctx, w->ids[DATA], ikt_h5_memory_type(w->type), first_entry,
                              block->entries, block->values));
    return write_labels(w, first, block->rows, block->labels);
}
