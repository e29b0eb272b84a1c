/* Exact neighbours by scoring every pair.
 *
 * Advantage: exact and unique. Disadvantage: n^2 scores; right up to about 10^5 rows. */
#include "base/memory.h"
#include "neighbours/neighbours.h"

typedef struct {
    ikt_neighbours *lists;
    int64_t first_row; /* global number of own row 0 */
} keeper;

/* Most scores lose against the worst kept one; that comparison alone is the inner loop. */
static void keep_best(void *self, int64_t first, int64_t na, int64_t row, int64_t nb,
                      const float *scores, int64_t stride) {
    const keeper *keep = self;
    int64_t k = keep->lists->k;
    for (int64_t a = 0; a < na; a++) {
        float *best = keep->lists->score + (first + a) * k;
        int64_t *best_row = keep->lists->row + (first + a) * k;
        const float *score = scores + a * stride;
        int64_t own = keep->first_row + first + a;
        for (int64_t b = 0; b < nb; b++)
            if (score[b] <= best[0] && row + b != own)
                ikt_best_offer(best, best_row, k, score[b], row + b);
    }
}

static void prepare(ikt_context *ctx, ikt_neighbours *lists) {
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < lists->n_local; i++)
        ikt_best_clear(lists->score + i * lists->k, lists->row + i * lists->k, lists->k);
}

static void finish(ikt_context *ctx, ikt_neighbours *lists) {
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < lists->n_local; i++)
        ikt_best_sort(lists->score + i * lists->k, lists->row + i * lists->k, lists->k);
}

ikt_status ikt_neighbours_brute(ikt_context *ctx, const ikt_scorer *scorer, int64_t k,
                                ikt_neighbours *out) {
    *out = (ikt_neighbours){scorer->map.count, k, NULL, NULL};
    keeper keep = {out, scorer->map.first};
    ikt_status st = ikt_alloc(ctx, &out->row, out->n_local * k, sizeof *out->row, "neighbours");
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &out->score, out->n_local * k, sizeof *out->score, "neighbours");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        prepare(ctx, out);
        st = ikt_score_all(ctx, scorer, keep_best, &keep);
    }
    if (st == IKT_OK)
        finish(ctx, out);
    else
        ikt_neighbours_destroy(out);
    return st;
}

void ikt_neighbours_destroy(ikt_neighbours *neighbours) {
    ikt_free(&neighbours->row);
    ikt_free(&neighbours->score);
    neighbours->n_local = 0;
}

int64_t ikt_neighbours_memory(int64_t n_local, int64_t k) {
    return n_local * k * (int64_t)(sizeof(int64_t) + sizeof(float));
}
