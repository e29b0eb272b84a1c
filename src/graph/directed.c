/* Directed weights by rows. See graph.h. */
#include "graph/transpose.h"

#include <string.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/cpu.h"
#include "base/sort.h"
#include "dist/order.h"

/* Rows of k entries each without those of weight 0. */
static void close_gaps(ikt_directed *rows, int64_t k) {
    int64_t kept = 0;
    for (int64_t i = 0; i < rows->n_local; i++) {
        rows->start[i] = kept;
        for (int64_t e = i * k; e < (i + 1) * k; e++) {
            if (!(rows->value[e] > 0)) continue;
            rows->column[kept] = rows->column[e];
            rows->value[kept++] = rows->value[e];
        }
    }
    rows->start[rows->n_local] = kept;
}

ikt_status ikt_directed_from_lists(ikt_context *ctx, ikt_neighbours *lists, ikt_directed *out) {
    const int64_t k = lists->k;
    int64_t kept = 0;
    *out = (ikt_directed){.n_local = lists->n_local, .column = lists->row, .value = lists->score};
    lists->row = NULL;
    lists->score = NULL;
    ikt_status st = ikt_alloc(ctx, &out->start, out->n_local + 1, sizeof *out->start, "graph");
    if (st != IKT_OK) {
        ikt_directed_destroy(out);
        return st;
    }
    /* Gaussian weights have no zeros, so that mostly nothing has to move. */
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx)) reduction(+ : kept)
    for (int64_t i = 0; i < out->n_local; i++) {
        for (int64_t e = i * k; e < (i + 1) * k; e++)
            kept += out->value[e] > 0;
        out->start[i + 1] = (i + 1) * k;
    }
    if (kept < out->n_local * k) close_gaps(out, k);
    return IKT_OK;
}

ikt_status ikt_directed_from_zeros(ikt_context *ctx, const ikt_zero_similarity *zeros,
                                   const ikt_rows *rows, ikt_directed *out) {
    const int64_t k = zeros->k, n = rows->count;
    *out = (ikt_directed){.n_local = n};
    IKT_TRY(ikt_alloc(ctx, &out->start, n + 1, sizeof *out->start, "graph"));
    for (int64_t o = 0; o < zeros->count; o++) {
        const int64_t i = zeros->row[o] - rows->first;
        if (i >= 0 && i < n) out->start[i + 1] = k;
    }
    for (int64_t i = 0; i < n; i++)
        out->start[i + 1] += out->start[i];
    IKT_TRY(ikt_alloc(ctx, &out->column, out->start[n], sizeof *out->column, "graph"));
    IKT_TRY(ikt_alloc(ctx, &out->value, out->start[n], sizeof *out->value, "graph"));
    for (int64_t o = 0; o < zeros->count; o++) {
        const int64_t i = zeros->row[o] - rows->first;
        if (i < 0 || i >= n) continue;
        memcpy(out->column + out->start[i], zeros->nearest + o * k,
               (size_t)k * sizeof *out->column);
        for (int64_t e = 0; e < k; e++)
            out->value[out->start[i] + e] = (float)(1 / (double)k);
    }
    return IKT_OK;
}

/* A row that is short enough is sorted by counting for each column how many are lower: some six
 * comparisons of sixteen columns an entry, where a radix sort has more counters than such a row has
 * entries. */
enum { LANES = 16, COUNTED_MOST = 128 };

typedef uint32_t lanes __attribute__((vector_size(4 * LANES)));

/* rank   [count rounded up to LANES] receives how many columns are lower than each */
static IKT_WIDEST_VECTORS void rank_columns(const uint32_t *column, int64_t count, uint32_t *rank) {
    for (int64_t first = 0; first < count; first += LANES) {
        const int64_t left = count - first < LANES ? count - first : LANES;
        lanes own = {0}, lower = {0};
        memcpy(&own, column + first, (size_t)left * sizeof *column);
        for (int64_t e = 0; e < count; e++) /* a comparison that holds is -1 */
            lower -= (lanes)((lanes){0} + column[e] < own);
        memcpy(rank + first, &lower, sizeof lower);
    }
}

static void sort_by_counting(uint32_t *column, float *value, int64_t count) {
    uint32_t rank[COUNTED_MOST], columns[COUNTED_MOST];
    float values[COUNTED_MOST];
    rank_columns(column, count, rank);
    for (int64_t e = 0; e < count; e++) {
        columns[rank[e]] = column[e];
        values[rank[e]] = value[e];
    }
    memcpy(column, columns, (size_t)count * sizeof *column);
    memcpy(value, values, (size_t)count * sizeof *value);
}

/* key   [2 * count] */
static void sort_by_radix(uint32_t *column, float *value, int64_t count, uint64_t *key) {
    uint32_t bits;
    for (int64_t e = 0; e < count; e++) {
        memcpy(&bits, &value[e], sizeof bits);
        key[e] = (uint64_t)column[e] << 32 | bits;
    }
    ikt_pairs_sort_by_upper(key, key + count, count);
    for (int64_t e = 0; e < count; e++) {
        bits = (uint32_t)key[e];
        memcpy(&value[e], &bits, sizeof bits);
        column[e] = (uint32_t)(key[e] >> 32);
    }
}

ikt_status ikt_directed_sort(ikt_context *ctx, const ikt_directed *rows) {
    const int64_t *start = rows->start, threads = ikt_threads(ctx);
    int64_t longest = 0;
    uint64_t *keys IKT_AT_END(ikt_free) =
        NULL; /* column and value in one number; columns are distinct */
    for (int64_t i = 0; i < rows->n_local; i++)
        if (start[i + 1] - start[i] > longest) longest = start[i + 1] - start[i];
    if (longest > COUNTED_MOST)
        IKT_TRY(ikt_alloc(ctx, &keys, threads * 2 * longest, sizeof *keys, "symmetrise"));
#pragma omp parallel for schedule(dynamic, 256) num_threads(threads)
    for (int64_t i = 0; i < rows->n_local; i++) {
        const int64_t count = start[i + 1] - start[i];
        uint32_t *column = rows->column + start[i];
        float *value = rows->value + start[i];
        if (count <= COUNTED_MOST)
            sort_by_counting(column, value, count);
        else
            sort_by_radix(column, value, count, keys + omp_get_thread_num() * 2 * longest);
    }
    return IKT_OK;
}

/* COLLECTIVE. One of the arrays of the rows, in slots. */
static ikt_status move(ikt_context *ctx, const ikt_order *order, const ikt_directed *rows,
                       const int64_t *to, void *array_address) {
    void *moved IKT_AT_END(ikt_free) = NULL, *array;
    memcpy(&array, array_address, sizeof array);
    IKT_TRY(ikt_alloc_all(ctx, &moved, to[order->rows.count], 4, "graph"));
    IKT_TRY(ikt_redistribute_entries(ctx, order, IKT_TO_SLOTS, rows->start, array, to, moved));
    ikt_free(&array);
    memcpy(array_address, &moved, sizeof moved);
    moved = NULL;
    return IKT_OK;
}

ikt_status ikt_directed_to_slots(ikt_context *ctx, const ikt_order *order, const uint32_t *slot,
                                 ikt_directed *rows) {
    const int64_t count = order->rows.count;
    ikt_directed made IKT_AT_END(ikt_directed_destroy) = *rows; /* which is taken */
    int64_t *to IKT_AT_END(ikt_free) = NULL;
    *rows = (ikt_directed){.start = NULL};
    IKT_TRY(ikt_alloc_all(ctx, &to, count + 1, sizeof *to, "graph"));
    IKT_TRY(ikt_translate_indices(ctx, &order->rows, slot, made.column, made.start[count]));
    IKT_TRY(ikt_redistribute_starts(ctx, order, IKT_TO_SLOTS, made.start, to));
    IKT_TRY(move(ctx, order, &made, to, &made.column));
    IKT_TRY(move(ctx, order, &made, to, &made.value));
    ikt_free(&made.start);
    made.start = to;
    to = NULL;
    return ikt_give(rows, made);
}

void ikt_directed_destroy(ikt_directed *rows) {
    ikt_free_all(&rows->start, &rows->column, &rows->value);
    rows->n_local = 0;
}

/* --- both directions of every pair as one number ------------------------------------------------
 *
 * Method: an entry that has a mirror image takes the smaller or larger of both numbers, whichever
 * came first; those without one make rows of their own, which are merged into the others from the
 * last row on. Advantage: the smaller or larger of numbers does not depend on an order, so that
 * batches, ranks and threads change nothing. */

static float better(const void *takes_larger, float a, float b) {
    return (a > b) == *(const bool *)takes_larger ? a : b;
}

/* LOCAL. From the last row on, as rows only move towards the end. */
static ikt_status merge(ikt_context *ctx, ikt_directed *rows, const ikt_directed *added) {
    const int64_t count = rows->n_local, entries = rows->start[count] + added->start[count];
    IKT_TRY(ikt_resize(ctx, &rows->column, entries, sizeof *rows->column, "graph"));
    IKT_TRY(ikt_resize(ctx, &rows->value, entries, sizeof *rows->value, "graph"));
    for (int64_t i = count - 1, to = entries - 1; i >= 0; i--) {
        int64_t own = rows->start[i + 1] - 1, other = added->start[i + 1] - 1;
        rows->start[i + 1] = to + 1;
        while (own >= rows->start[i] || other >= added->start[i]) {
            const bool is_own = other < added->start[i] ||
                                (own >= rows->start[i] && rows->column[own] > added->column[other]);
            rows->column[to] = is_own ? rows->column[own] : added->column[other];
            rows->value[to--] = is_own ? rows->value[own--] : added->value[other--];
        }
    }
    return IKT_OK;
}

ikt_status ikt_directed_unite(ikt_context *ctx, const ikt_rows *distribution, bool takes_larger,
                              ikt_directed *rows) {
    ikt_directed added IKT_AT_END(ikt_directed_destroy) = {.start = NULL};
    ikt_status st =
        ikt_directed_join(ctx, distribution, rows, better, &takes_larger, false, &added);
    if (st == IKT_OK) st = ikt_agree(ctx, merge(ctx, rows, &added));
    if (st != IKT_OK) ikt_directed_destroy(rows);
    return st;
}
