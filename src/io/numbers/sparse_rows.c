/* Compressed sparse rows, and blocks of them. See sparse_rows.h. */
#include "io/numbers/sparse_rows.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/encoding.h"
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

static int by_column(const void *a, const void *b) {
    const entry *x = a, *y = b;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return IKT_COMPARE(x->place, y->place);
}

/* Sorted, and each column once. */
static int64_t add_up(int32_t *column, double *value, int64_t count, bool is_single,
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

/* Makes a row canonical; returns how many entries are left.
 *   scratch   [count], or NULL where the columns ascend already, none twice */
static int64_t make_canonical(int32_t *column, double *value, int64_t count, bool is_single,
                              entry *scratch) {
    int64_t kept = 0;
    if (scratch) count = add_up(column, value, count, is_single, scratch);
    for (int64_t e = 0; e < count; e++) {
        if (value[e] == 0) continue;
        column[kept] = column[e];
        value[kept++] = value[e];
    }
    return kept;
}

static bool is_ascending(const ikt_sparse_rows *rows, int64_t i) {
    bool ascends = true;
    for (int64_t e = rows->start[i] + 1; e < rows->start[i + 1]; e++)
        ascends &= rows->column[e - 1] < rows->column[e];
    return ascends;
}

ikt_status ikt_sparse_rows_order(ikt_context *ctx, bool is_single, ikt_sparse_rows *rows) {
    const int threads = ikt_threads(ctx);
    int64_t longest = 0, to = 0;
    for (int64_t i = 0; i < rows->count; i++)
        if (rows->start[i + 1] - rows->start[i] > longest && !is_ascending(rows, i))
            longest = rows->start[i + 1] - rows->start[i];
    IKT_ARRAYS(held, ctx, purpose);
    int64_t *left = ikt_claim(&held, rows->count, sizeof *left);
    entry *scratch = longest > 0 ? ikt_claim(&held, threads * longest, sizeof *scratch) : NULL;
    IKT_TRY(held.status);
#pragma omp parallel for num_threads(threads)
    for (int64_t i = 0; i < rows->count; i++) {
        const int64_t at = rows->start[i];
        entry *own = is_ascending(rows, i) ? NULL : scratch + omp_get_thread_num() * longest;
        left[i] = make_canonical(rows->column + at, rows->value + at, rows->start[i + 1] - at,
                                 is_single, own);
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
    return IKT_OK;
}

/* --- blocks on their way from file to file ---------------------------------------------------- */

static int64_t grown(int64_t capacity, int64_t needed) {
    const int64_t twice = capacity < INT64_MAX / 2 ? 2 * capacity : capacity;
    return twice > needed ? twice : needed;
}

ikt_status ikt_sparse_block_reserve(ikt_context *ctx, ikt_sparse_block *block, int64_t rows,
                                    int64_t entries) {
    const int64_t all_rows = block->rows + rows, all_entries = block->entries + entries;
    if (all_rows > block->row_capacity) {
        const int64_t more = grown(block->row_capacity, all_rows);
        IKT_TRY(ikt_resize(ctx, &block->ends, more, sizeof *block->ends, "blocks"));
        IKT_TRY(ikt_resize(ctx, &block->labels, more, sizeof *block->labels, "blocks"));
        block->row_capacity = more;
    }
    if (all_entries > block->entry_capacity) {
        const int64_t more = grown(block->entry_capacity, all_entries);
        IKT_TRY(ikt_resize(ctx, &block->columns, more, sizeof *block->columns, "blocks"));
        IKT_TRY(ikt_resize(ctx, &block->values, more, sizeof *block->values, "blocks"));
        block->entry_capacity = more;
    }
    return IKT_OK;
}

void ikt_sparse_block_clear(ikt_sparse_block *block) {
    block->rows = block->entries = 0;
}

void ikt_sparse_block_free(ikt_sparse_block *block) {
    ikt_free(&block->ends);
    ikt_free(&block->columns);
    ikt_free(&block->values);
    ikt_free(&block->labels);
    *block = (ikt_sparse_block){0};
}

int64_t ikt_sparse_block_first(const ikt_sparse_block *block, int64_t row) {
    return row > 0 ? block->ends[row - 1] : 0;
}

static void swap(int64_t *columns, double *values, int64_t a, int64_t b) {
    const int64_t column = columns[a];
    const double value = values[a];
    columns[a] = columns[b];
    values[a] = values[b];
    columns[b] = column;
    values[b] = value;
}

static void sift(int64_t *columns, double *values, int64_t at, int64_t count) {
    for (int64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && columns[child + 1] > columns[child]) child++;
        if (columns[child] <= columns[at]) return;
        swap(columns, values, at, child);
        at = child;
    }
}

/* Heapsort: two arrays move together, in place, and no order of theirs makes it slow. */
static void sort_row(int64_t *columns, double *values, int64_t count) {
    for (int64_t at = count / 2; at-- > 0;)
        sift(columns, values, at, count);
    for (int64_t last = count - 1; last > 0; last--) {
        swap(columns, values, 0, last);
        sift(columns, values, 0, last);
    }
}

static bool ascends(const int64_t *columns, int64_t count) {
    for (int64_t e = 1; e < count; e++)
        if (columns[e] <= columns[e - 1]) return false;
    return true;
}

int64_t ikt_sparse_block_sort(ikt_sparse_block *block) {
    int64_t twice = -1;
    for (int64_t row = 0; row < block->rows; row++) {
        const int64_t first = ikt_sparse_block_first(block, row), count = block->ends[row] - first;
        int64_t *columns = block->columns + first;
        if (ascends(columns, count)) continue;
        sort_row(columns, block->values + first, count);
        if (twice < 0 && !ascends(columns, count)) twice = row;
    }
    return twice;
}

void ikt_sparse_block_spread(const ikt_sparse_block *block, int64_t d, ikt_type type, void *rows) {
    memset(rows, 0, (size_t)(block->rows * d) * ikt_type_size(type));
    for (int64_t row = 0; row < block->rows; row++)
        for (int64_t e = ikt_sparse_block_first(block, row); e < block->ends[row]; e++)
            ikt_number_put(type, rows, row * d + block->columns[e], block->values[e]);
}

/* --- whole matrices --------------------------------------------------------------------------- */

static ikt_status check_triplets(ikt_context *ctx, const ikt_sparse_triplets *t) {
    const int64_t rows_an_entry = 1000; /* rows take memory even if only a number tells of them */
    const int64_t *starts = t->column_starts;
    if (t->n / rows_an_entry > t->entries + rows_an_entry)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s announces %lld rows for %lld entries: is it damaged?", t->path,
                        (long long)t->n, (long long)t->entries);
    bool good = !starts || (starts[0] == 0 && starts[t->d] == t->entries);
    for (int64_t column = 0; starts && column < t->d && good; column++)
        good = starts[column] <= starts[column + 1];
    if (!good)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s: where its columns begin (indptr) does not ascend from 0 to the %lld "
                        "entries: is it damaged?",
                        t->path, (long long)t->entries);
    for (int64_t e = 0; e < t->entries; e++) {
        const int64_t column = t->columns ? t->columns[e] : 0;
        char row[IKT_INTEGER_TEXT];
        if (t->rows[e] < 0 || t->rows[e] >= t->n || column < 0 || column >= t->d)
            return ikt_fail(ctx, IKT_ERR_DATA,
                            "%s: entry %lld stands in row %s, column %lld of a matrix of %lld x "
                            "%lld (counted from 0)",
                            t->path, (long long)e,
                            ikt_integer_text(t->rows[e], t->is_unsigned, row),
                            (long long)(starts ? ikt_find_block(starts, t->d, e) : column),
                            (long long)t->n, (long long)t->d);
    }
    const ikt_memory_room room = ikt_memory_left(ctx);
    const double need = 16.0 * (double)t->entries + 20.0 * (double)t->n;
    if (need <= (double)room.bytes) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_RESOURCE,
                    "%s: bringing %lld entries into %lld rows takes %.3g GB; %s leaves %.3g GB",
                    t->path, (long long)t->entries, (long long)t->n, need / 1e9, room.limit,
                    (double)room.bytes / 1e9);
}

/* Adds up the entries of one row and column. */
static void merge(ikt_sparse_block *block) {
    if (ikt_sparse_block_sort(block) < 0) return;
    int64_t kept = 0, first = 0;
    for (int64_t row = 0; row < block->rows; row++) {
        const int64_t start = kept, end = block->ends[row];
        for (int64_t e = first; e < end; e++) {
            if (kept > start && block->columns[kept - 1] == block->columns[e]) {
                block->values[kept - 1] += block->values[e];
                continue;
            }
            block->columns[kept] = block->columns[e];
            block->values[kept++] = block->values[e];
        }
        block->ends[row] = kept;
        first = end;
    }
    block->entries = kept;
}

ikt_status ikt_sparse_whole(ikt_context *ctx, const ikt_sparse_triplets *t,
                            ikt_sparse_block *whole) {
    IKT_TRY(check_triplets(ctx, t));
    IKT_TRY(ikt_sparse_block_reserve(ctx, whole, t->n, t->entries));
    memset(whole->ends, 0, (size_t)t->n * sizeof *whole->ends);
    for (int64_t e = 0; e < t->entries; e++)
        whole->ends[t->rows[e]]++;
    for (int64_t row = 0, before = 0; row < t->n; row++) {
        const int64_t count = whole->ends[row];
        whole->ends[row] = before; /* where the next of the row goes; in the end, the row's end */
        before += count;
    }
    for (int64_t e = 0, column = 0; e < t->entries; e++) {
        while (t->column_starts && t->column_starts[column + 1] <= e)
            column++;
        const int64_t to = whole->ends[t->rows[e]]++;
        whole->columns[to] = t->columns ? t->columns[e] : column;
        whole->values[to] = t->values[e];
    }
    whole->rows = t->n;
    whole->entries = t->entries;
    merge(whole);
    return IKT_OK;
}

ikt_status ikt_sparse_whole_read(ikt_context *ctx, const ikt_sparse_block *whole, int64_t first,
                                 int64_t rows, int64_t entries, ikt_sparse_block *block) {
    const int64_t from = ikt_sparse_block_first(whole, first);
    int64_t count = 0;
    while (count < rows && (count == 0 || whole->ends[first + count - 1] - from < entries))
        count++;
    const int64_t now = count > 0 ? whole->ends[first + count - 1] - from : 0;
    IKT_TRY(ikt_sparse_block_reserve(ctx, block, count, now));
    for (int64_t row = 0; row < count; row++)
        block->ends[block->rows + row] = block->entries + whole->ends[first + row] - from;
    if (now > 0) {
        memcpy(block->columns + block->entries, whole->columns + from,
               (size_t)now * sizeof *whole->columns);
        memcpy(block->values + block->entries, whole->values + from,
               (size_t)now * sizeof *whole->values);
    }
    block->rows += count;
    block->entries += now;
    return IKT_OK;
}
