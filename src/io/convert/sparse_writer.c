/* A data set file with sparse rows. See table_writer.h. */
#include "io/convert/table_writer.h"

#include <string.h>

#include "base/memory.h"
#include "io/convert/table_parts.h"
#include "io/numbers/element.h"

enum { GROUP, DATA, INDICES, INDPTR }; /* of the writer's ids */

static bool is_wide(const ikt_sparse_shape *shape) {
    return shape->d > (int64_t)INT32_MAX + 1;
}

static int64_t index_bytes(const ikt_sparse_shape *shape) {
    return is_wide(shape) ? (int64_t)sizeof(int64_t) : (int64_t)sizeof(int32_t);
}

double ikt_sparse_bytes(const ikt_sparse_shape *shape) {
    const double entry = (double)index_bytes(shape) + (double)ikt_type_size(shape->type);
    return (double)shape->entries * entry + 8.0 * ((double)shape->n + 1);
}

static int64_t file_bytes(const ikt_sparse_shape *shape) {
    return ikt_h5_rows_bytes(shape->entries, (int64_t)ikt_type_size(shape->type)) +
           ikt_h5_rows_bytes(shape->entries, index_bytes(shape)) +
           ikt_h5_rows_bytes(shape->n + 1, (int64_t)sizeof(int64_t));
}

static ikt_status create_group(ikt_table_writer *w, const ikt_sparse_shape *shape) {
    const int64_t size[2] = {shape->n, shape->d};
    char reason[256];
    ikt_status st = IKT_OK;
    w->ids[GROUP] = ikt_h5_create_group(w->file, "X");
    if (w->ids[GROUP] < 0 || !ikt_h5_set_text(w->ids[GROUP], "encoding-type", "csr_matrix") ||
        !ikt_h5_set_text(w->ids[GROUP], "encoding-version", "0.1.0") ||
        !ikt_h5_set_ints(w->ids[GROUP], "shape", 2, size))
        st = ikt_fail(w->ctx, IKT_ERR_FILE, "%s: the group X cannot be created: %s", w->path,
                      ikt_h5_reason(reason, sizeof reason));
    return ikt_h5_agree(w->ctx, w->file, st);
}

static ikt_status create_datasets(ikt_table_writer *w, const ikt_sparse_shape *shape) {
    const hid_t group = w->ids[GROUP];
    w->index = is_wide(shape) ? H5T_NATIVE_INT64 : H5T_NATIVE_INT32;
    IKT_TRY(ikt_h5_create_rows(w->ctx, group, "data", w->memory, shape->entries, 0, &w->ids[DATA]));
    IKT_TRY(ikt_h5_create_rows(w->ctx, group, "indices", w->index, shape->entries, 0,
                               &w->ids[INDICES]));
    return ikt_h5_create_rows(w->ctx, group, "indptr", H5T_NATIVE_INT64, shape->n + 1, 0,
                              &w->ids[INDPTR]);
}

ikt_status ikt_sparse_create(ikt_context *ctx, const char *path, bool overwrite,
                             const ikt_sparse_shape *shape, ikt_table_writer **out) {
    IKT_TRY(ikt_table_begin(ctx, path, overwrite, shape->n, file_bytes(shape), shape->type,
                            shape->labels, out));
    ikt_status st = create_group(*out, shape);
    if (st == IKT_OK) st = create_datasets(*out, shape);
    return st == IKT_OK ? IKT_OK : ikt_table_close(out, st);
}

/* In place: a narrower element never reaches beyond the one it comes from. */
static void narrow_columns(ikt_sparse_block *block) {
    char *to = (char *)block->columns;
    for (int64_t e = 0; e < block->entries; e++) {
        const int32_t column = (int32_t)block->columns[e];
        memcpy(to + (size_t)e * sizeof column, &column, sizeof column);
    }
}

static void narrow_values(ikt_sparse_block *block, ikt_type type) {
    const size_t size = ikt_type_size(type);
    char *to = (char *)block->values;
    for (int64_t e = 0; e < block->entries; e++) {
        union {
            uint8_t u8;
            float f32;
            double f64;
        } narrow;
        ikt_number_put(type, &narrow, 0, block->values[e]);
        memcpy(to + (size_t)e * size, &narrow, size);
    }
}

static ikt_type type_of(const ikt_table_writer *w) {
    const size_t size = H5Tget_size(w->memory);
    return size == 1 ? IKT_TYPE_U8 : size == sizeof(float) ? IKT_TYPE_F32 : IKT_TYPE_F64;
}

/* indptr has one number more than there are rows, a zero, which goes with row 0. */
static ikt_status write_ends(ikt_table_writer *w, int64_t first, int64_t first_entry,
                             const ikt_sparse_block *block) {
    const bool zero = first == 0 && block->rows > 0;
    int64_t *ends = NULL;
    ikt_status st = ikt_alloc(w->ctx, &ends, block->rows + 1, sizeof *ends, "blocks");
    for (int64_t row = 0; row < block->rows && st == IKT_OK; row++)
        ends[row + 1] = first_entry + block->ends[row];
    st = ikt_agree(w->ctx, st);
    if (st == IKT_OK)
        st = ikt_h5_write_rows(w->ctx, w->ids[INDPTR], H5T_NATIVE_INT64, first + !zero,
                               block->rows + zero, ends + !zero);
    ikt_free(&ends);
    return st;
}

ikt_status ikt_sparse_write(ikt_table_writer *w, int64_t first, int64_t first_entry,
                            ikt_sparse_block *block) {
    IKT_TRY(write_ends(w, first, first_entry, block));
    if (H5Tget_size(w->index) < sizeof(int64_t)) narrow_columns(block);
    narrow_values(block, type_of(w));
    IKT_TRY(ikt_h5_write_rows(w->ctx, w->ids[INDICES], w->index, first_entry, block->entries,
                              block->columns));
    IKT_TRY(ikt_h5_write_rows(w->ctx, w->ids[DATA], w->memory, first_entry, block->entries,
                              block->values));
    return ikt_table_write_labels(w, first, block->rows, block->labels);
}
