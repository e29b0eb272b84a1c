/* Rows that the ranks of a program hold, each its own: read as if they were a file.
 *
 * A range may lie on any ranks; dist/row_blocks.h brings it. Advantage: nothing is copied but what
 * is read. Disadvantage: rows that are read in other blocks than the caller has travel in every
 * pass. */
#include <stdint.h>

#include "base/comm.h"
#include "base/memory.h"
#include "dist/row_blocks.h"
#include "io/sources/source_ops.h"

typedef struct {
    const char *rows;      /* of the caller */
    const int64_t *labels; /* of the caller, or NULL */
    bool has_labels;       /* on any rank */
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
    *present = self->has_labels;
    if (!self->has_labels) return IKT_OK;
    return ikt_row_blocks_read(source->ctx, &self->blocks, self->labels, sizeof *labels, first,
                               count, labels);
}

static ikt_status rows_marked(ikt_source *source, int64_t **rows, int64_t *count) {
    (void)source;
    *rows = NULL;
    *count = 0;
    return IKT_OK;
}

static ikt_status rows_text(ikt_source *source, const char *name, char **text) {
    (void)source, (void)name;
    *text = NULL;
    return IKT_OK;
}

static void rows_close(ikt_source *source) {
    rows_self *self = source->self;
    ikt_row_blocks_destroy(&self->blocks);
    ikt_free(&self);
    source->self = NULL;
}

static const ikt_source_ops rows_ops = {.read = rows_read,
                                        .read_labels = rows_labels,
                                        .read_marked = rows_marked,
                                        .read_text = rows_text,
                                        .close = rows_close};

/* What a rank can see of its own arguments. */
static ikt_status check_own(ikt_context *ctx, const void *rows, int64_t count, int64_t d,
                            ikt_type type) {
    if (count < 0 || d < 1)
        return ikt_fail(ctx, IKT_ERR_USAGE, "%lld rows x %lld columns on rank %d are no rows",
                        (long long)count, (long long)d, ikt_rank(ctx));
    if (type != IKT_TYPE_U8 && type != IKT_TYPE_F32 && type != IKT_TYPE_F64)
        return ikt_fail(ctx, IKT_ERR_USAGE, "%d is no type of numbers (iktsne/base.h)", (int)type);
    if (count > 0 && !rows)
        return ikt_fail(ctx, IKT_ERR_USAGE, "rank %d gives %lld rows, but no array with them",
                        ikt_rank(ctx), (long long)count);
    if (d > (INT64_MAX >> 4) / (count + 1))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%lld rows x %lld columns on rank %d are more than any memory holds",
                        (long long)count, (long long)d, ikt_rank(ctx));
    return IKT_OK;
}

/* COLLECTIVE. What only all ranks together can see. */
static ikt_status check_all(ikt_context *ctx, int64_t d, ikt_type type, int64_t count,
                            const int64_t *labels, bool *has_labels) {
    int64_t most[] = {d, -d, (int64_t)type, -(int64_t)type, labels != NULL, count > 0 && !labels};
    ikt_max_i64(ctx, most, sizeof most / sizeof *most);
    *has_labels = most[4] > 0;
    if (most[0] != -most[1])
        return ikt_fail(ctx, IKT_ERR_USAGE, "the ranks give rows of %lld to %lld columns",
                        (long long)-most[1], (long long)most[0]);
    if (most[2] != -most[3])
        return ikt_fail(ctx, IKT_ERR_USAGE, "the ranks give rows of different types: %s and %s",
                        ikt_type_name((ikt_type)-most[3]), ikt_type_name((ikt_type)most[2]));
    if (most[4] > 0 && most[5] > 0)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "some ranks give labels of their rows, and some do not");
    return IKT_OK;
}

static ikt_status prepare(ikt_context *ctx, ikt_source **out) {
    rows_self *self = NULL;
    IKT_TRY(ikt_source_new(ctx, "memory", "rows", out));
    IKT_TRY(ikt_alloc(ctx, &self, 1, sizeof *self, "source"));
    (*out)->self = self;
    (*out)->ops = &rows_ops;
    (*out)->format = "memory";
    return IKT_OK;
}

ikt_status ikt_source_from_rows(ikt_context *ctx, const void *rows, const int64_t *labels,
                                int64_t count, int64_t d, ikt_type type, ikt_source **out) {
    bool has_labels;
    *out = NULL;
    IKT_TRY(ikt_agree(ctx, check_own(ctx, rows, count, d, type)));
    IKT_TRY(check_all(ctx, d, type, count, labels, &has_labels));
    ikt_status st = ikt_agree(ctx, prepare(ctx, out));
    if (st == IKT_OK) {
        rows_self *self = (*out)->self;
        self->rows = rows;
        self->labels = labels;
        self->has_labels = has_labels;
        st = ikt_row_blocks_create(ctx, count, &self->blocks);
        (*out)->n = (*out)->n_file = self->blocks.n;
        (*out)->d = d;
        (*out)->type = type;
    }
    if (st == IKT_OK && (*out)->n == 0) st = ikt_fail(ctx, IKT_ERR_DATA, "no rank gives any rows");
    if (st != IKT_OK) ikt_source_close(out);
    return st;
}
