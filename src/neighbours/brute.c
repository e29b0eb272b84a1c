/* Exact neighbours by scoring every pair.
 *
 * Advantage: exact and unique. Disadvantage: n^2 scores; right up to about 10^5 rows. */
#include "neighbours/neighbours.h"

typedef struct {
    ikt_neighbours *lists;
    int64_t first_row; /* global number of own row 0 */
} keeper;

static void keep_best(void *self, int64_t first, int64_t na, int64_t row, int64_t nb,
                      const float *scores, int64_t stride) {
    const keeper *keep = self;
    int64_t k = keep->lists->k;
    for (int64_t a = first; a < first + na; a++)
        ikt_best_offer_row(keep->lists->score + a * k, keep->lists->row + a * k, k,
                           keep->first_row + a, row, nb, scores + (a - first) * stride);
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
