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

static int64_t find_position(const int64_t *row, int64_t count, const int64_t *position,
                             int64_t wanted) {
    return position[ikt_find_i64(row, count, wanted)];
}

/* COLLECTIVE. Rows in the orphans' lists become positions. */
static ikt_status to_positions(ikt_context *ctx, const ikt_order *order,
                               ikt_zero_similarity *orphans) {
    int64_t entries = orphans->count * orphans->k, total = orphans->count + entries, kept;
    int64_t *row = NULL, *position = NULL;
    ikt_status st = ikt_alloc(ctx, &row, total, sizeof *row, "orphans");
    if (st == IKT_OK) st = ikt_alloc(ctx, &position, total, sizeof *position, "orphans");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        memcpy(row, orphans->row, (size_t)orphans->count * sizeof *row);
        for (int64_t e = 0; e < entries; e++)
            row[orphans->count + e] = orphans->nearest[e];
        kept = ikt_sort_distinct_i64(row, total);
        ikt_order_find(ctx, order, row, kept, position);
        for (int64_t e = 0; e < orphans->count; e++)
            orphans->row[e] = find_position(row, kept, position, orphans->row[e]);
        for (int64_t e = 0; e < entries; e++)
            orphans->nearest[e] = (uint32_t)find_position(row, kept, position, orphans->nearest[e]);
    }
    ikt_free(&row);
    ikt_free(&position);
    return st;
}

static void adopt(const ikt_zero_similarity *orphans, const ikt_rows *rows, ikt_neighbours *lists) {
    int64_t k = lists->k;
    for (int64_t o = 0; o < orphans->count; o++) {
        int64_t i = orphans->row[o] - rows->first;
        if (i < 0 || i >= rows->count) continue;
        memcpy(lists->row + i * k, orphans->nearest + o * k, (size_t)k * sizeof *lists->row);
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
    ikt_zero_similarity orphans = {0, 0, NULL, NULL};
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &marked, rows->count, 1, "orphans"));
    if (st == IKT_OK) st = mark(ctx, rows, order, lists, marked);
    if (st == IKT_OK) st = ikt_zero_similarity_find(ctx, data, rows, marked, lists->k, &orphans);
    if (st == IKT_OK && order && orphans.count > 0) st = to_positions(ctx, order, &orphans);
    if (st == IKT_OK) adopt(&orphans, rows, lists);
    *count = orphans.count;
    ikt_zero_similarity_destroy(&orphans);
    ikt_free(&marked);
    return st;
}
