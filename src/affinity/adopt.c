/* Rows without any similarity get their nearest rows as neighbours. */
#include <string.h>

#include "affinity/affinity.h"
#include "affinity/zero_similarity.h"
#include "base/memory.h"
#include "base/sort.h"

static uint8_t is_empty(const float *weight, int64_t k) {
    for (int64_t e = 0; e < k; e++)
        if (weight[e] > 0) return 0;
    return 1;
}

static int64_t find_slot(const int64_t *row, int64_t count, const int64_t *slot, int64_t wanted) {
    return slot[ikt_find_i64(row, count, wanted)];
}

/* COLLECTIVE. Rows in the lists of zero-similarity rows become slots. */
static ikt_status to_slots(ikt_context *ctx, const ikt_order *order, ikt_zero_similarity *zeros) {
    int64_t entries = zeros->count * zeros->k, total = zeros->count + entries, kept;
    int64_t *row = NULL, *slot = NULL;
    ikt_status st = ikt_alloc(ctx, &row, total, sizeof *row, "zero similarity");
    if (st == IKT_OK) st = ikt_alloc(ctx, &slot, total, sizeof *slot, "zero similarity");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        memcpy(row, zeros->row, (size_t)zeros->count * sizeof *row);
        for (int64_t e = 0; e < entries; e++)
            row[zeros->count + e] = zeros->nearest[e];
        kept = ikt_sort_distinct_i64(row, total);
        ikt_order_find(ctx, order, row, kept, slot);
        for (int64_t e = 0; e < zeros->count; e++)
            zeros->row[e] = find_slot(row, kept, slot, zeros->row[e]);
        for (int64_t e = 0; e < entries; e++)
            zeros->nearest[e] = (uint32_t)find_slot(row, kept, slot, zeros->nearest[e]);
    }
    ikt_free(&row);
    ikt_free(&slot);
    return st;
}

static void adopt(const ikt_zero_similarity *zeros, const ikt_rows *rows, ikt_neighbours *lists) {
    int64_t k = lists->k;
    for (int64_t o = 0; o < zeros->count; o++) {
        int64_t i = zeros->row[o] - rows->first;
        if (i < 0 || i >= rows->count) continue;
        memcpy(lists->row + i * k, zeros->nearest + o * k, (size_t)k * sizeof *lists->row);
        for (int64_t e = 0; e < k; e++)
            lists->score[i * k + e] = (float)(1 / (double)k);
    }
}

/* COLLECTIVE. Which own rows of the input have empty lists. */
static ikt_status mark(ikt_context *ctx, const ikt_rows *rows, const ikt_order *order,
                       const ikt_neighbours *lists, uint8_t *marked) {
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < rows->count; i++)
        marked[i] = is_empty(lists->score + i * lists->k, lists->k);
    return order ? ikt_order_restore(ctx, order, marked, 1, marked, 1, 1) : IKT_OK;
}

ikt_status ikt_affinity_adopt_zero_similarity(ikt_context *ctx, ikt_dataset *data,
                                              const ikt_rows *rows, const ikt_order *order,
                                              ikt_neighbours *lists, int64_t *count) {
    uint8_t *marked = NULL;
    ikt_zero_similarity zeros = {0, 0, NULL, NULL};
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &marked, rows->count, 1, "zero similarity"));
    if (st == IKT_OK) st = mark(ctx, rows, order, lists, marked);
    if (st == IKT_OK) st = ikt_zero_similarity_find(ctx, data, rows, marked, lists->k, &zeros);
    if (st == IKT_OK && order && zeros.count > 0) st = to_slots(ctx, order, &zeros);
    if (st == IKT_OK) adopt(&zeros, rows, lists);
    *count = zeros.count;
    ikt_zero_similarity_destroy(&zeros);
    ikt_free(&marked);
    return st;
}
