/* Exact neighbours by scoring every pair.
 *
 * Advantage: exact and unique. Disadvantage: n^2 scores; right up to about 10^5 rows. */
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
        uint32_t *best_row = keep->lists->row + (first + a) * k;
        const float *score = scores + a * stride;
        int64_t own = keep->first_row + first + a;
        for (int64_t b = 0; b < nb; b++)
            if (score[b] <= best[0] && row + b != own)
                ikt_best_offer(best, best_row, k, score[b], (uint32_t)(row + b));
    }
}

ikt_status ikt_neighbours_brute(ikt_context *ctx, const ikt_scorer *scorer, int64_t k,
                                ikt_neighbours *out) {
    keeper keep = {out, scorer->map.first};
    ikt_status st = ikt_agree(ctx, ikt_neighbours_create(ctx, &scorer->map, k, out));
    if (st == IKT_OK) st = ikt_score_all(ctx, scorer, keep_best, &keep);
    if (st == IKT_OK)
        ikt_neighbours_sort(ctx, out);
    else
        ikt_neighbours_destroy(out);
    return st;
}
