/* Rows in memory, dense or sparse: all of them on every rank, or those of each rank of the program
 * that calls the library, which are read as if they were a file.
 *
 * Of the latter a range may lie on any ranks; dist/row_blocks.h brings it. Advantage: nothing is
 * copied but what is read. Disadvantage: rows that are read in other blocks than the caller has
 * travel in every pass. */
#include <stdint.h>
#include <string.h>

#include "base/comm.h"
#include "base/context.h"
#include "dist/row_blocks.h"
#include "io/sources/source_ops.h"

/* --- dense rows that every rank holds --------------------------------------------------------- */

typedef struct {
    const char *rows; /* of the caller */
} whole_self;

static ikt_status whole_read(ikt_source *source, int64_t first, int64_t count, void *rows) {
    const size_t row = (size_t)source->d * ikt_type_size(source->type);
    if (count > 0)
        memcpy(rows, ((whole_self *)source->self)->rows + (size_t)first * row, (size_t)count * row);
    return IKT_OK;
}

static const ikt_source_ops whole_ops = {.self_bytes = sizeof(whole_self), .read = whole_read};

static void set_shape(ikt_source *source, int64_t n, int64_t d, ikt_type type) {
    source->n = source->n_file = n;
    source->d = d;
    source->type = source->stored = type;
}

ikt_status ikt_source_from_memory(ikt_context *ctx, const void *rows, int64_t n, int64_t d,
                                  ikt_type type, ikt_source **out) {
    IKT_TRY(ikt_source_new(ctx, &whole_ops, "memory", "memory", "rows", out));
    ((whole_self *)(*out)->self)->rows = rows;
    set_shape(*out, n, d, type);
    return IKT_OK;
}

/* --- sparse rows that every rank holds -------------------------------------------------------- */

enum { BLOCK_ENTRIES = 1 << 20 };

typedef struct {
    const ikt_sparse_rows *rows; /* of the caller */
} sparse_self;

static ikt_status sparse_starts(ikt_source *source, int64_t first, int64_t count, int64_t *start) {
    const ikt_sparse_rows *from = ((sparse_self *)source->self)->rows;
    start[0] = 0;
    if (count > 0) memcpy(start, from->start + first, (size_t)(count + 1) * sizeof *start);
    return IKT_OK;
}

static ikt_status sparse_entries(ikt_source *source, int64_t first, int64_t count,
                                 const int64_t *start, uint32_t *column, double *value) {
    const ikt_sparse_rows *from = ((sparse_self *)source->self)->rows;
    const int64_t entries = start[count] - start[0];
    (void)first;
    if (entries == 0) return IKT_OK;
    memcpy(column, from->column + start[0], (size_t)entries * sizeof *column);
    memcpy(value, from->value + start[0], (size_t)entries * sizeof *value);
    return IKT_OK;
}

static const ikt_source_ops sparse_ops = {
    .self_bytes = sizeof(sparse_self), .starts = sparse_starts, .entries = sparse_entries};

ikt_status ikt_source_from_sparse(ikt_context *ctx, const ikt_sparse_rows *rows, int64_t d,
                                  ikt_type type, ikt_source **out) {
    IKT_TRY(ikt_source_new(ctx, &sparse_ops, "memory", "memory", "rows", out));
    ikt_source *source = *out;
    ((sparse_self *)source->self)->rows = rows;
    set_shape(source, rows->count, d, type);
    source->sparse = true;
    source->entries = rows->start[rows->count];
    for (int64_t i = 0; i < rows->count; i++)
        if (rows->start[i + 1] - rows->start[i] > source->longest)
            source->longest = rows->start[i + 1] - rows->start[i];
    source->block = 1;
    while (2 * source->block * source->longest <= BLOCK_ENTRIES && source->block < rows->count)
        source->block *= 2;
    return IKT_OK;
}

/* --- rows of which each rank holds its own ---------------------------------------------------- */

ikt_status ikt_own_rows_check(ikt_context *ctx, int64_t count, int64_t d, ikt_type type) {
    if (count < 0 || d < 1)
        return ikt_fail(ctx, IKT_ERR_USAGE, "%lld rows x %lld columns on rank %d are no rows",
                        (long long)count, (long long)d, ikt_rank(ctx));
    if (type != IKT_TYPE_U8 && type != IKT_TYPE_F32 && type != IKT_TYPE_F64)
        return ikt_fail(ctx, IKT_ERR_USAGE, "%d is no type of numbers (iktsne/base.h)", (int)type);
    return IKT_OK;
}

ikt_status ikt_own_labels_make(ikt_context *ctx, const int64_t *labels, int64_t count,
                               ikt_own_labels *out) {
    int64_t some[] = {labels != NULL, count > 0 && !labels};
    ikt_max_i64(ctx, some, 2);
    *out = (ikt_own_labels){labels, some[0] > 0};
    if (some[0] == 0 || some[1] == 0) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE, "some ranks give labels of their rows, and some do not");
}

ikt_status ikt_own_labels_read(ikt_context *ctx, const ikt_own_labels *own, ikt_row_blocks *blocks,
                               int64_t first, int64_t count, int64_t *labels, bool *present) {
    *present = own->is_there;
    if (!own->is_there) return IKT_OK;
    return ikt_row_blocks_read(ctx, blocks, own->labels, sizeof *labels, first, count, labels);
}

typedef struct {
    const char *rows; /* of the caller */
    ikt_own_labels labels;
    ikt_row_blocks blocks;
} rows_self;

static ikt_status rows_read(ikt_source *source, int64_t first, int64_t count, void *rows) {
    rows_self *self = source->self;
    return ikt_row_blocks_read(source->ctx, &self->blocks, self->rows,
                               (size_t)source->d * ikt_type_size(source->type), first, count, rows);
}

static ikt_status rows_labels(ikt_source *source, const char *dataset, int64_t first, int64_t count,
                              int64_t *labels, bool *present) {
    rows_self *self = source->self;
    (void)dataset;
    return ikt_own_labels_read(source->ctx, &self->labels, &self->blocks, first, count, labels,
                               present);
}

static void rows_close(ikt_source *source) {
    ikt_row_blocks_destroy(&((rows_self *)source->self)->blocks);
}

static const ikt_source_ops rows_ops = {.self_bytes = sizeof(rows_self),
                                        .read = rows_read,
                                        .read_labels = rows_labels,
                                        .close = rows_close};

/* What a rank can see of its own arguments. */
static ikt_status check_own(ikt_context *ctx, const void *rows, int64_t count, int64_t d,
                            ikt_type type) {
    IKT_TRY(ikt_own_rows_check(ctx, count, d, type));
    if (count > 0 && !rows)
        return ikt_fail(ctx, IKT_ERR_USAGE, "rank %d gives %lld rows, but no array with them",
                        ikt_rank(ctx), (long long)count);
    if (d > (INT64_MAX >> 4) / (count + 1))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%lld rows x %lld columns on rank %d are more than any memory holds",
                        (long long)count, (long long)d, ikt_rank(ctx));
    return IKT_OK;
}

ikt_status ikt_source_from_rows(ikt_context *ctx, const void *rows, const int64_t *labels,
                                int64_t count, int64_t d, ikt_type type, ikt_source **out) {
    *out = NULL;
    IKT_TRY(ikt_agree(ctx, check_own(ctx, rows, count, d, type)));
    /* What only all ranks together can see. */
    int64_t most[] = {d, -d, (int64_t)type, -(int64_t)type};
    ikt_own_labels own;
    ikt_max_i64(ctx, most, sizeof most / sizeof *most);
    if (most[0] != -most[1])
        return ikt_fail(ctx, IKT_ERR_USAGE, "the ranks give rows of %lld to %lld columns",
                        (long long)-most[1], (long long)most[0]);
    if (most[2] != -most[3])
        return ikt_fail(ctx, IKT_ERR_USAGE, "the ranks give rows of different types: %s and %s",
                        ikt_type_name((ikt_type)-most[3]), ikt_type_name((ikt_type)most[2]));
    IKT_TRY(ikt_own_labels_make(ctx, labels, count, &own));
    IKT_TRY(ikt_source_new(ctx, &rows_ops, "memory", "memory", "rows", out));
    rows_self *self = (*out)->self;
    self->rows = rows;
    self->labels = own;
    ikt_status st = ikt_row_blocks_create(ctx, count, &self->blocks);
    set_shape(*out, self->blocks.n, d, type);
    if (st == IKT_OK && (*out)->n == 0) st = ikt_fail(ctx, IKT_ERR_DATA, "no rank gives any rows");
    if (st != IKT_OK) ikt_source_close(out);
    return st;
}

/* --- arrays in place of files ----------------------------------------------------------------- */

void ikt_borrow(ikt_context *ctx, const ikt_borrowed *borrowed) {
    ctx->borrowed = borrowed;
}

const ikt_borrowed *ikt_borrowed_of(const ikt_context *ctx) {
    return ctx->borrowed;
}

ikt_source *ikt_borrowed_find(const ikt_context *ctx, const char *name) {
    const ikt_borrowed *borrowed = ctx->borrowed;
    if (!borrowed) return NULL;
    return strcmp(name, IKT_BORROWED_GRAPH) == 0   ? borrowed->graph
           : strcmp(name, IKT_BORROWED_PAIRS) == 0 ? borrowed->pairs
           : strcmp(name, IKT_BORROWED_START) == 0 ? borrowed->start
                                                   : NULL;
}
