/* The nearest rows of a few rows. See query.h. */
#include "neighbours/query.h"

#include "base/comm.h"
#include "base/memory.h"

static const char purpose[] = "lists of queries";

ikt_status ikt_query_join(ikt_context *ctx, ikt_neighbours *lists, const int64_t *counts) {
    const int64_t k = lists->k, ranks = ikt_size(ctx), own = counts[ikt_rank(ctx)];
    int64_t *leave = NULL, *come = NULL; /* [ranks] entries */
    float *score = NULL;                 /* [ranks * own * k] from every rank */
    uint32_t *row = NULL;
    ikt_status st = ikt_alloc(ctx, &leave, ranks, sizeof *leave, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &come, ranks, sizeof *come, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &score, ranks * own * k, sizeof *score, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &row, ranks * own * k, sizeof *row, purpose);
    st = ikt_agree(ctx, st);
    for (int64_t r = 0; st == IKT_OK && r < ranks; r++) {
        leave[r] = counts[r] * k;
        come[r] = own * k;
    }
    if (st == IKT_OK) {
        ikt_exchange(ctx, lists->score, leave, score, come, sizeof *score);
        ikt_exchange(ctx, lists->row, leave, row, come, sizeof *row);
    }
    for (int64_t q = 0; st == IKT_OK && q < own; q++) {
        float *best = lists->score + q * k;
        uint32_t *best_row = lists->row + q * k;
        ikt_best_clear(best, best_row, k);
        for (int64_t e = 0; e < ranks * k; e++) {
            const int64_t at = (e / k * own + q) * k + e % k;
            ikt_best_offer(best, best_row, k, score[at], row[at]);
        }
        ikt_best_sort(best, best_row, k);
    }
    ikt_free(&leave);
    ikt_free(&come);
    ikt_free(&score);
    ikt_free(&row);
    return st;
}
