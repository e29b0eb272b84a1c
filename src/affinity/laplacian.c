/* Laplacian kernel: p_j|i proportional to exp(-d_ij / s_i), with a width s_i for each row that
 * gives it the wanted perplexity.
 *
 * Method: the weights of the Gaussian kernel (gaussian.c), of distances in place of their squares.
 * Advantage: far neighbours keep weight, so that rows of a heap and those at its rim have weights
 * of one kind. Disadvantage: the nearest rows stand out less. */
#include <math.h>

#include "affinity/affinity.h"

/* Distances in place of their squares. */
static void take_roots(ikt_context *ctx, float *squared, int64_t count) {
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < count; e++)
        squared[e] = sqrtf(squared[e]);
}

static ikt_status weigh(ikt_context *ctx, const ikt_affinity_job *job, ikt_neighbours *lists,
                        int64_t *zero_similarity) {
    take_roots(ctx, lists->score, lists->n_local * lists->k);
    return ikt_affinity_gaussian.weigh(ctx, job, lists, zero_similarity);
}

static ikt_status dense(ikt_context *ctx, const ikt_affinity_job *job, ikt_dense *out,
                        int64_t *zero_similarity) {
    take_roots(ctx, out->value, out->rows.count * out->stride);
    return ikt_affinity_gaussian.dense(ctx, job, out, zero_similarity);
}

const ikt_affinity ikt_affinity_laplacian = {IKT_PERPLEXITY_KIND, .name = "laplacian",
                                             .scores = IKT_SCORES_DISTANCES, .weigh = weigh,
                                             .dense = dense};
