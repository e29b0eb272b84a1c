/* Compressed sparse rows. See sparse_rows.h. */
#include "io/numbers/sparse_rows.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

static const char purpose[] = "sparse rows";

typedef struct {
    int32_t column;
    int64_t place;
    double value;
} entry;

ikt_status ikt_sparse_rows_reserve(ikt_context *ctx, int64_t count, int64_t entries,
                                   ikt_sparse_rows *rows) {
    IKT_TRY(ikt_reserve(ctx, &rows->start, count + 1, sizeof *rows->start, purpose));
    IKT_TRY(ikt_reserve(ctx, &rows->column, entries, sizeof *rows->column, purpose));
    return ikt_reserve(ctx, &rows->value, entries, sizeof *rows->value, purpose);
}

void ikt_sparse_rows_destroy(ikt_sparse_rows *rows) {
    ikt_free(&rows->start);
    ikt_free(&rows->column);
    ikt_free(&rows->value);
    *rows = (ikt_sparse_rows){0};
}

int ikt_sparse_is_ascending(const int32_t *column, int64_t count) {
    int ascends = 1;
    for (int64_t e = 1; e < count; e++)
        ascends &= column[e - 1] < column[e];
    return ascends;
}

int64_t ikt_sparse_scratch_bytes(int64_t count) {
    return count * (int64_t)sizeof(entry);
}

static int by_column(const void *a, const void *b) {
    const entry *x = a, *y = b;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return IKT_COMPARE(x->place, y->place);
}

/* Sorted, and each column once. */
static int64_t add_up(int32_t *column, double *value, int64_t count, int is_single,
                      entry *scratch) {
    int64_t kept = 0;
    for (int64_t e = 0; e < count; e++)
        scratch[e] = (entry){column[e], e, value[e]};
    qsort(scratch, (size_t)count, sizeof *scratch, by_column);
    for (int64_t e = 0, end; e < count; e = end, kept++) {
        double sum = scratch[e].value;
        for (end = e + 1; end < count && scratch[end].column == scratch[e].column; end++)
            sum += scratch[end].value;
        column[kept] = scratch[e].column;
        value[kept] = is_single ? (double)(float)sum : sum;
    }
    return kept;
}

int64_t ikt_sparse_canonical(int32_t *column, double *value, int64_t count, int is_single,
                             void *scratch) {
    int64_t kept = 0;
    if (scratch) count = add_up(column, value, count, is_single, scratch);
    for (int64_t e = 0; e < count; e++) {
        if (value[e] == 0) continue;
        column[kept] = column[e];
        value[kept++] = value[e];
    }
    return kept;
}

static int is_ascending(const ikt_sparse_rows *rows, int64_t i) {
    const int64_t at = rows->start[i];
    return ikt_sparse_is_ascending(rows->column + at, rows->start[i + 1] - at);
}

ikt_status ikt_sparse_rows_order(ikt_context *ctx, int is_single, ikt_sparse_rows *rows) {
    const int threads = ikt_threads(ctx);
    int64_t longest = 0, *left = NULL, to = 0;
    char *scratch = NULL;
    for (int64_t i = 0; i < rows->count; i++)
        if (rows->start[i + 1] - rows->start[i] > longest && !is_ascending(rows, i))
            longest = rows->start[i + 1] - rows->start[i];
    const int64_t bytes = ikt_sparse_scratch_bytes(longest);
    ikt_status st = ikt_alloc(ctx, &left, rows->count, sizeof *left, purpose);
    if (st == IKT_OK && bytes > 0) st = ikt_alloc(ctx, &scratch, threads * bytes, 1, purpose);
    if (st == IKT_OK) {
#pragma omp parallel for num_threads(threads)
        for (int64_t i = 0; i < rows->count; i++) {
            const int64_t at = rows->start[i];
            left[i] = ikt_sparse_canonical(
                rows->column + at, rows->value + at, rows->start[i + 1] - at, is_single,
                is_ascending(rows, i) ? NULL : scratch + omp_get_thread_num() * bytes);
        }
        for (int64_t i = 0; i < rows->count; i++) {
            const int64_t from = rows->start[i];
            if (to != from) {
                memmove(rows->column + to, rows->column + from, (size_t)left[i] * sizeof(int32_t));
                memmove(rows->value + to, rows->value + from, (size_t)left[i] * sizeof(double));
            }
            rows->start[i] = to;
            to += left[i];
        }
        rows->start[rows->count] = to;
    }
    ikt_free(&left);
    ikt_free(&scratch);
    return st;
}
