/* UMAP's weights: how likely a row is connected to each of its nearest rows.
 *
 * w_j|i = exp(-max(0, d_ij - rho_i) / sigma_i) for the k nearest rows j of i (McInnes, Healy &
 * Melville 2018, section 3.1). rho_i is the distance to the nearest row that is not in the same
 * place, so that every row has a neighbour of weight 1 (local connectivity); sigma_i is such that
 * the weights of the row sum to log2(k). Both directions of a pair become one by the probabilistic
 * union w_j|i + w_i|j - w_j|i w_i|j (IKT_SYMMETRY_UNION), and P is that divided by its total.
 *
 * Method: bisection on sigma, which doubles until the root is bracketed; at most 64 steps to 1e-5,
 * and sigma no less than a thousandth of the mean distance of the row, as umap-learn has it: where
 * neighbours at the distance rho alone sum to log2(k) or more, sigma would be 0.
 * Advantage: distances count from rho_i on, so that neighbours are told apart however many columns
 * make all distances alike; a row needs nothing but its own list. Disadvantage: weights are found
 * by iteration, and the size of a weight is lost where rho_i is noise.
 *
 * umap-learn counts a row among its own neighbours: k here is its n_neighbors - 1, and it takes
 * the logarithm of n_neighbors. */
#include <math.h>

#include "affinity/affinity.h"

enum { STEPS = 64 };
static const double tolerance = 1e-5, sigma_least = 1e-3; /* the latter in mean distances */

/* Sum of the weights of k distances. */
static double total_of(const float *squared, int64_t k, double rho, double sigma) {
    double sum = 0;
    for (int64_t e = 0; e < k; e++)
        sum += exp(-fmax(0, sqrt((double)squared[e]) - rho) / sigma);
    return sum;
}

ikt_fuzzy_row ikt_fuzzy_fit(const float *squared, int64_t k, double target) {
    double rho = INFINITY, mean = 0, low = 0, high = INFINITY, sigma = 1;
    for (int64_t e = 0; e < k; e++) {
        const double distance = sqrt((double)squared[e]);
        mean += distance / (double)(k + 1); /* the row itself is at distance 0 */
        if (distance > 0) rho = fmin(rho, distance);
    }
    if (rho == INFINITY) return (ikt_fuzzy_row){0, 1}; /* every weight is 1 */
    for (int step = 0; step < STEPS; step++) {
        const double difference = total_of(squared, k, rho, sigma) - target;
        if (fabs(difference) < tolerance) break;
        if (difference > 0)
            high = sigma;
        else
            low = sigma;
        sigma = high == INFINITY ? 2 * sigma : (low + high) / 2;
    }
    return (ikt_fuzzy_row){rho, fmax(sigma, sigma_least * mean)};
}

static ikt_status weigh(ikt_context *ctx, const ikt_affinity_job *job, ikt_neighbours *lists,
                        int64_t *zero_similarity) {
    const int64_t k = lists->k;
    const double target = log2((double)k);
    (void)job;
    *zero_similarity = 0;
    ikt_neighbours_sort(ctx, lists); /* sums in one order, whatever the order of the search */
#pragma omp parallel for schedule(dynamic, 256) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < lists->n_local; i++) {
        float *score = lists->score + i * k;
        const ikt_fuzzy_row row = ikt_fuzzy_fit(score, k, target);
        for (int64_t e = 0; e < k; e++)
            score[e] = (float)exp(-fmax(0, sqrt((double)score[e]) - row.rho) / row.sigma);
    }
    return IKT_OK;
}

/* --- the kind --------------------------------------------------------------------------------- */

static int64_t neighbours(const ikt_affinity_settings *settings) {
    (void)settings;
    return 15;
}

static ikt_status check(ikt_context *ctx, const ikt_affinity_settings *settings, int64_t weighed) {
    (void)settings;
    if (weighed >= 2) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "affinity.kind=fuzzy with %lld neighbour of a row: its weights sum to "
                    "log2(neighbours), which needs affinity.neighbours of 2 or more",
                    (long long)weighed);
}

const ikt_affinity ikt_affinity_fuzzy = {.name = "fuzzy",
                                         .scores = IKT_SCORES_DISTANCES,
                                         .symmetry = IKT_SYMMETRY_UNION,
                                         .neighbours = neighbours,
                                         .check = check,
                                         .has_bandwidth_search = true,
                                         .weigh = weigh};
