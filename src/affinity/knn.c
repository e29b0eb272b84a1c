/* kNN kernel: every one of a row's k nearest rows counts the same, all others nothing.
 *
 * K(x, y) = 1 for y among the k nearest rows of x, otherwise 0 (Zhu & Ting 2021, appendix D,
 * equation 14): p_j|i = 1 / k. P is symmetric although K is not, because p_ij is the mean of both
 * directions. Dense: row i has row j among its k nearest where the pair (distance, j) is not above
 * that of its k-th nearest, which every rank is told for every row; so neither lists nor a
 * transpose are needed. Advantage: nothing to tune but k, and no bandwidth. Disadvantage: how near
 * the neighbours are is forgotten. */
#include "affinity/affinity.h"
#include "base/arrays.h"

static ikt_status weigh(ikt_context *ctx, const ikt_affinity_job *job, ikt_neighbours *lists,
                        int64_t *zero_similarity) {
    const float share = (float)(1 / (double)lists->k);
    (void)job;
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < lists->n_local * lists->k; e++)
        lists->score[e] = share;
    *zero_similarity = 0;
    return IKT_OK;
}

static ikt_status dense(ikt_context *ctx, const ikt_affinity_job *job, ikt_dense *out,
                        int64_t *zero_similarity) {
    ikt_pair *nearest IKT_AT_END(ikt_free) = NULL;
    *zero_similarity = 0;
    const double share = 1 / (2 * (double)out->rows.n * (double)job->k);
    IKT_TRY(ikt_dense_nearest(ctx, out, job->k, &nearest));
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < out->rows.count; i++) {
        float *row = out->value + i * out->stride;
        const int64_t own = out->rows.first + i;
        for (int64_t j = 0; j < out->rows.n; j++) {
            int to = ikt_pair_make(row[j], (uint32_t)j) <= nearest[own];
            int from = ikt_pair_make(row[j], (uint32_t)own) <= nearest[j];
            row[j] = (float)(share * (to + from));
        }
        row[own] = 0;
    }
    return IKT_OK;
}

const ikt_affinity ikt_affinity_knn = {.name = "knn",
                                       .scores = IKT_SCORES_DISTANCES,
                                       .counts_neighbours = true,
                                       .weighs_alike = true,
                                       .weigh = weigh,
                                       .dense = dense};
