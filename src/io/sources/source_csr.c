/* Sparse rows in the memory of a program that calls the library, each rank with its own; and the
 * scan of where sparse rows begin, which those of files need as well.
 *
 * Method: rows and entries are two arrays in blocks of the ranks (dist/row_blocks.h): a range of
 * rows is a range of starts, and these name a range of entries. Nothing is copied but what is read,
 * converted to the types of the library on the way. */
#include <math.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/sort.h"
#include "dist/row_blocks.h"
#include "dist/rows.h"
#include "io/sources/source_ops.h"

static const char purpose[] = "source";

/* --- where rows begin ------------------------------------------------------------------------- */

enum {
    LEVELS = 15, /* blocks of 2^0 .. 2^14 rows */
    LARGEST = 1 << (LEVELS - 1),
    PIECE = 8 * LARGEST,    /* rows looked at together */
    BLOCK_ENTRIES = 1 << 20 /* 12 MiB */
};

ikt_status ikt_source_scan_rows(ikt_source *source) {
    ikt_context *ctx = source->ctx;
    const int64_t n = source->n;
    const ikt_rows pieces = ikt_rows_make((n + PIECE - 1) / PIECE, ikt_size(ctx), ikt_rank(ctx));
    int64_t most[LEVELS] = {0}, end = 0;
    IKT_ARRAYS(held, ctx, purpose);
    int64_t *start = ikt_claim(&held, PIECE + 1, sizeof *start);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t p = 0; p < ikt_rows_count(&pieces, 0); p++) {
        const int64_t first = p < pieces.count ? (pieces.first + p) * PIECE : 0;
        const int64_t left = p < pieces.count ? n - first : 0, count = left < PIECE ? left : PIECE;
        IKT_TRY(source->ops->starts(source, first, count, start));
        for (int level = 0; level < LEVELS; level++) /* the fullest blocks of 2^level rows */
            for (int64_t i = 0; i < count; i += INT64_C(1) << level) {
                const int64_t next = i + (INT64_C(1) << level);
                const int64_t entries = start[next < count ? next : count] - start[i];
                if (entries > most[level]) most[level] = entries;
            }
        if (count > 0) end = start[count];
    }
    ikt_max_i64(ctx, most, LEVELS);
    source->entries = ikt_max_one(ctx, end);
    source->longest = most[0];
    source->block = 1;
    for (int level = 1; level < LEVELS && most[level] <= BLOCK_ENTRIES; level++)
        source->block = INT64_C(1) << level;
    return IKT_OK;
}

/* --- arrays of the ranks ---------------------------------------------------------------------- */

typedef struct {
    ikt_csr_arrays given;
    int64_t *start;               /* [given.count] entries of all ranks before each row */
    int64_t own;                  /* the first entry that is this rank's, in the given arrays */
    int64_t entries;              /* over all ranks */
    ikt_row_blocks rows, numbers; /* blocks of rows, and of entries */
    ikt_own_labels labels;
} csr_self;

static int64_t index_at(ikt_index index, const void *array, int64_t i) {
    return index == IKT_INDEX_32 ? ((const int32_t *)array)[i] : ((const int64_t *)array)[i];
}

ikt_status ikt_source_csr_starts(ikt_source *source, int64_t first, int64_t count, int64_t *start) {
    csr_self *self = source->self;
    const bool is_last = first + count == source->n;
    const int64_t read = count == 0 ? 0 : is_last ? count : count + 1;
    start[0] = 0;
    IKT_TRY(ikt_row_blocks_read(source->ctx, &self->rows, self->start, sizeof *start, first, read,
                                start));
    if (count > 0 && is_last) start[count] = self->entries;
    return IKT_OK;
}

/* The first entry that a matrix cannot have. */
static ikt_status refuse_entry(const ikt_source *source, int64_t first, int64_t count,
                               const int64_t *start, int64_t e, int64_t column, double value) {
    const long long row = first + ikt_find_block(start, count, start[0] + e);
    if (column < 0 || column >= source->d)
        return ikt_fail(source->ctx, IKT_ERR_DATA,
                        "row %lld of the sparse rows in memory has an entry in column %lld, but "
                        "columns go from 0 to %lld",
                        row, (long long)column, (long long)source->d - 1);
    return ikt_fail(source->ctx, IKT_ERR_DATA,
                    "row %lld, column %lld of the sparse rows in memory (counted from 0): value is "
                    "%s; replace the value or remove the row",
                    row, (long long)column, isnan(value) ? "NaN (not a number)" : "infinite");
}

ikt_status ikt_source_csr_entries(ikt_source *source, int64_t first, int64_t count,
                                  const int64_t *start, uint32_t *column, double *value) {
    ikt_context *ctx = source->ctx;
    csr_self *self = source->self;
    const ikt_csr_arrays *given = &self->given;
    const int64_t wide = given->index == IKT_INDEX_32 ? sizeof(int32_t) : sizeof(int64_t);
    const int64_t bytes = (int64_t)ikt_type_size(given->type);
    const int64_t entries = count > 0 ? start[count] - start[0] : 0, from = start[0];
    const char *own_columns = given->column, *own_values = given->value;
    int64_t bad = INT64_MAX;
    ikt_status st = IKT_OK;
    IKT_ARRAYS(held, ctx, purpose);
    char *columns = ikt_claim(&held, entries, (size_t)wide);
    char *values = ikt_claim(&held, entries, (size_t)bytes);
    IKT_TRY(ikt_arrays_agree(&held));
    if (own_columns) own_columns += self->own * wide;
    if (own_values) own_values += self->own * bytes;
    IKT_TRY(ikt_row_blocks_read(ctx, &self->numbers, own_columns, (size_t)wide, from, entries,
                                columns));
    IKT_TRY(
        ikt_row_blocks_read(ctx, &self->numbers, own_values, (size_t)bytes, from, entries, values));
#pragma omp parallel for schedule(static) reduction(min : bad) num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < entries; e++) {
        const int64_t number = index_at(given->index, columns, e);
        value[e] = ikt_number_at(given->type, values, e);
        column[e] = (uint32_t)number;
        if (((uint64_t)number >= (uint64_t)source->d || !isfinite(value[e])) && e < bad) bad = e;
    }
    if (bad < INT64_MAX)
        st = refuse_entry(source, first, count, start, bad, index_at(given->index, columns, bad),
                          value[bad]);
    return ikt_agree(ctx, st);
}

/* --- as a source ------------------------------------------------------------------------------ */

static ikt_status csr_labels(ikt_source *source, const char *name, int64_t first, int64_t count,
                             int64_t *labels, bool *present) {
    csr_self *self = source->self;
    (void)name;
    return ikt_own_labels_read(source->ctx, &self->labels, &self->rows, first, count, labels,
                               present);
}

static void csr_close(ikt_source *source) {
    csr_self *self = source->self;
    ikt_row_blocks_destroy(&self->rows);
    ikt_row_blocks_destroy(&self->numbers);
    ikt_free(&self->start);
}

static const ikt_source_ops csr_ops = {.self_bytes = sizeof(csr_self),
                                       .starts = ikt_source_csr_starts,
                                       .entries = ikt_source_csr_entries,
                                       .read_labels = csr_labels,
                                       .close = csr_close};

/* What a rank can see of its own arrays. */
static ikt_status check_own(ikt_context *ctx, const ikt_csr_arrays *given, int64_t d) {
    IKT_TRY(ikt_own_rows_check(ctx, given->count, d, given->type));
    if (given->index != IKT_INDEX_32 && given->index != IKT_INDEX_64)
        return ikt_fail(ctx, IKT_ERR_USAGE, "%d is no type of indices (iktsne/base.h)",
                        (int)given->index);
    if (given->count == 0) return IKT_OK;
    if (!given->start)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "rank %d gives %lld sparse rows, but not where they "
                        "begin",
                        ikt_rank(ctx), (long long)given->count);
    int64_t before = index_at(given->index, given->start, 0);
    const int64_t end = index_at(given->index, given->start, given->count);
    for (int64_t i = 0; i <= given->count; i++) {
        const int64_t next = index_at(given->index, given->start, i);
        if (next < before || next < 0)
            return ikt_fail(ctx, IKT_ERR_DATA,
                            "row %lld of the sparse rows in memory begins at entry %lld, before "
                            "the row in front of it (%lld)",
                            (long long)i, (long long)next, (long long)before);
        before = next;
    }
    if (end > index_at(given->index, given->start, 0) && (!given->column || !given->value))
        return ikt_fail(ctx, IKT_ERR_USAGE, "rank %d gives sparse rows without columns or values",
                        ikt_rank(ctx));
    return IKT_OK;
}

/* COLLECTIVE. What the arrays of all ranks make of a source. */
static ikt_status begin(ikt_source *source, const ikt_csr_arrays *given, int64_t d) {
    ikt_context *ctx = source->ctx;
    csr_self *self = source->self;
    const int64_t count = given->count;
    const int64_t first = count > 0 ? index_at(given->index, given->start, 0) : 0;
    const int64_t entries = count > 0 ? index_at(given->index, given->start, count) - first : 0;
    const int64_t before = ikt_sum_before(ctx, entries);
    self->given = *given;
    self->own = first;
    self->entries = ikt_sum_one(ctx, entries);
    IKT_TRY(ikt_alloc_all(ctx, &self->start, count, sizeof *self->start, purpose));
    for (int64_t i = 0; i < count; i++)
        self->start[i] = before + index_at(given->index, given->start, i) - first;
    IKT_TRY(ikt_row_blocks_create(ctx, count, &self->rows));
    IKT_TRY(ikt_row_blocks_create(ctx, entries, &self->numbers));
    source->n = source->n_file = self->rows.n;
    source->d = d;
    source->sparse = true;
    source->stored = given->type;
    source->type = given->type == IKT_TYPE_F64 ? IKT_TYPE_F64 : IKT_TYPE_F32;
    if (source->n == 0) return ikt_fail(ctx, IKT_ERR_DATA, "no rank gives any rows");
    return ikt_source_scan_rows(source);
}

ikt_status ikt_source_from_csr(ikt_context *ctx, const ikt_csr_arrays *given, const int64_t *labels,
                               int64_t d, ikt_source **out) {
    const int64_t count = given->count, type = given->type, index = given->index;
    *out = NULL;
    IKT_TRY(ikt_agree(ctx, check_own(ctx, given, d)));
    int64_t most[] = {d, -d, type, -type, index, -index};
    ikt_own_labels own;
    ikt_max_i64(ctx, most, sizeof most / sizeof *most);
    if (most[0] != -most[1] || most[2] != -most[3] || most[4] != -most[5])
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "the ranks give sparse rows of different numbers of columns, or of "
                        "different types");
    IKT_TRY(ikt_own_labels_make(ctx, labels, count, &own));
    IKT_TRY(ikt_source_new(ctx, &csr_ops, "memory", "memory", "sparse rows", out));
    csr_self *self = (*out)->self;
    self->labels = own;
    const ikt_status st = begin(*out, given, d);
    if (st != IKT_OK) ikt_source_close(out);
    return st;
}
