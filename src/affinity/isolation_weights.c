/* Isolation kernel: shares of equal cells become conditional probabilities. */
#include <string.h>

#include "affinity/affinity.h"
#include "affinity/orphans.h"
#include "base/memory.h"

int64_t ikt_isolation_weights(ikt_context *ctx, const ikt_neighbours *lists, int64_t t,
                              float *weight) {
    int64_t empty = 0, k = lists->k;
#pragma omp parallel for reduction(+ : empty) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < lists->n_local; i++) {
        const float *differing = lists->score + i * k; /* may be what is written below */
        int64_t total = 0;                             /* counts are integers: the sum is exact */
        for (int64_t e = 0; e < k; e++)
            total += t - (int64_t)differing[e];
        for (int64_t e = 0; e < k; e++)
            weight[i * k + e] =
                total > 0 ? (float)((double)(t - (int64_t)differing[e]) / (double)total) : 0.0f;
        empty += total == 0;
    }
    return empty;
}

static void adopt(const ikt_orphans *orphans, const ikt_row_map *map, ikt_neighbours *lists) {
    int64_t k = lists->k;
    for (int64_t o = 0; o < orphans->count; o++) {
        int64_t i = orphans->row[o] - map->first;
        if (i < 0 || i >= map->count) continue;
        memcpy(lists->row + i * k, orphans->nearest + o * k, (size_t)k * sizeof *lists->row);
        for (int64_t e = 0; e < k; e++)
            lists->score[i * k + e] = (float)(1 / (double)k);
    }
}

ikt_status ikt_affinity_adopt_orphans(ikt_context *ctx, ikt_dataset *data, const ikt_row_map *map,
                                      ikt_neighbours *lists, int64_t *count) {
    uint8_t *marked = NULL;
    ikt_orphans orphans = {0, 0, NULL, NULL};
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &marked, map->count, 1, "orphans"));
    if (st == IKT_OK) {
        /* The first entry of a list is the most similar row. */
        for (int64_t i = 0; i < map->count; i++)
            marked[i] = !(lists->score[i * lists->k] > 0);
        st = ikt_orphans_find(ctx, data, map, marked, lists->k, &orphans);
    }
    if (st == IKT_OK) adopt(&orphans, map, lists);
    *count = orphans.count;
    ikt_orphans_destroy(&orphans);
    ikt_free(&marked);
    return st;
}
