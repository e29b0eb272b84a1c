/* Neighbour lists: memory and order. */
#include "base/memory.h"
#include "neighbours/neighbours.h"

static ikt_status check_rows(ikt_context *ctx, int64_t n) {
    if (n < UINT32_MAX) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_RESOURCE,
                    "%lld rows; neighbour lists hold at most %lld (32 bits a row number)",
                    (long long)n, (long long)UINT32_MAX - 1);
}

ikt_status ikt_neighbours_create(ikt_context *ctx, const ikt_rows *rows, int64_t k,
                                 ikt_neighbours *out) {
    int64_t entries = rows->count * k;
    *out = (ikt_neighbours){rows->count, k, NULL, NULL};
    ikt_status st = check_rows(ctx, rows->n);
    if (st == IKT_OK) st = ikt_alloc(ctx, &out->row, entries, sizeof *out->row, "neighbours");
    if (st == IKT_OK) st = ikt_alloc(ctx, &out->score, entries, sizeof *out->score, "neighbours");
    if (st != IKT_OK) {
        ikt_neighbours_destroy(out);
        return st;
    }
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < rows->count; i++)
        ikt_best_clear(out->score + i * k, out->row + i * k, k);
    return IKT_OK;
}

void ikt_neighbours_sort(ikt_context *ctx, ikt_neighbours *lists) {
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < lists->n_local; i++)
        ikt_best_sort(lists->score + i * lists->k, lists->row + i * lists->k, lists->k);
}

void ikt_neighbours_destroy(ikt_neighbours *neighbours) {
    ikt_free(&neighbours->row);
    ikt_free(&neighbours->score);
    neighbours->n_local = 0;
}

int64_t ikt_neighbours_memory(int64_t n_local, int64_t k) {
    return n_local * k * (int64_t)(sizeof(uint32_t) + sizeof(float));
}
