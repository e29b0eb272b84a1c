/* Whether marked rows stand apart from the others in a map. */
#include "evaluate/apart.h"

#include <math.h>

#include "base/memory.h"
#include "evaluate/order_statistic.h"
#include "evaluate/tree.h"

enum { NEAREST_MOST = 10, QUERIES = 2000 };

/* Mean distance of a row from its k nearest. */
static double loneliness(const ikt_tree *tree, const float *y, int64_t q, int64_t row, int64_t k) {
    float score[NEAREST_MOST];
    uint32_t nearest[NEAREST_MOST];
    double sum = 0;
    ikt_tree_nearest(tree, y + q * row, row, k, score, nearest);
    for (int64_t e = 0; e < k; e++)
        sum += sqrt((double)score[e]);
    return sum / (double)k;
}

static ikt_status judge(ikt_context *ctx, const ikt_tree *tree, const float *y,
                        const ikt_measured *what, const int64_t *marked, int64_t n_marked,
                        ikt_measures *out) {
    const int64_t n = what->rows.n, k = n - 1 < NEAREST_MOST ? n - 1 : NEAREST_MOST;
    const int64_t step = (n + QUERIES - 1) / QUERIES, queries = (n + step - 1) / step;
    float *usual = NULL;
    double least = INFINITY;
    IKT_TRY(ikt_alloc(ctx, &usual, queries, sizeof *usual, "measures"));
    for (int64_t i = 0; i < queries; i++)
        usual[i] = (float)loneliness(tree, y, what->q, i * step, k);
    const double median = ikt_median(usual, queries);
    ikt_free(&usual);
    for (int64_t m = 0; m < n_marked; m++)
        least = fmin(least, loneliness(tree, y, what->q, marked[m], k) / median);
    return ikt_measures_add(ctx, out, "marked rows apart", median > 0 ? least : NAN,
                            step > 1 ? queries : 0,
                            "distance from the ten nearest in the map, in medians of all rows; 1 "
                            "like any other, outliers more");
}

ikt_status ikt_measure_apart(ikt_context *ctx, const ikt_measured *what, const int64_t *marked,
                             int64_t n_marked, ikt_measures *out) {
    float *y = NULL;
    ikt_tree tree = {0};
    if (n_marked == 0 || what->rows.n < 2) return IKT_OK;
    IKT_TRY(ikt_measure_replicate(ctx, &what->rows, what->y, (size_t)what->q * sizeof *y, &y));
    ikt_status st = ikt_tree_create(ctx, y, what->rows.n, what->q, &tree);
    if (st == IKT_OK) st = judge(ctx, &tree, y, what, marked, n_marked, out);
    ikt_tree_destroy(&tree);
    ikt_free(&y);
    return ikt_agree(ctx, st);
}
