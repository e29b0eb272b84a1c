/* kNN kernel: every one of a row's k nearest rows counts the same, all others nothing.
 *
 * Zhu & Ting 2021, appendix D, equation 14. Dense: row i has row j among its k nearest where the
 * pair (distance, j) is not above that of its k-th nearest, which every rank is told for every row;
 * so neither lists nor a transpose are needed. Advantage: nothing to tune but k, and no bandwidth.
 * Disadvantage: how near the neighbours are is forgotten. */
#include "affinity/kind.h"
#include "base/memory.h"

void ikt_knn_weights(ikt_context *ctx, const ikt_neighbours *lists, float *weight) {
    const float share = (float)(1 / (double)lists->k);
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < lists->n_local * lists->k; e++)
        weight[e] = share;
}

static ikt_status weigh(ikt_context *ctx, const ikt_affinity_job *job, ikt_neighbours *lists,
                        int64_t *zero_similarity) {
    (void)job;
    ikt_knn_weights(ctx, lists, lists->score);
    *zero_similarity = 0;
    return IKT_OK;
}

/* --- dense P ---------------------------------------------------------------------------------- */

static void fill_rows(ikt_context *ctx, ikt_dense *dense, int64_t k, const ikt_pair *nearest) {
    const double share = 1 / (2 * (double)dense->rows.n * (double)k);
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < dense->rows.count; i++) {
        float *row = dense->value + i * dense->stride;
        const int64_t own = dense->rows.first + i;
        for (int64_t j = 0; j < dense->rows.n; j++) {
            int to = ikt_pair_make(row[j], (uint32_t)j) <= nearest[own];
            int from = ikt_pair_make(row[j], (uint32_t)own) <= nearest[j];
            row[j] = (float)(share * (to + from));
        }
        row[own] = 0;
    }
}

static ikt_status dense(ikt_context *ctx, const ikt_affinity_job *job, ikt_dense *out,
                        int64_t *zero_similarity) {
    ikt_pair *nearest = NULL;
    *zero_similarity = 0;
    ikt_status st = ikt_dense_nearest(ctx, out, job->k, &nearest);
    if (st == IKT_OK) fill_rows(ctx, out, job->k, nearest);
    ikt_free(&nearest);
    return st;
}

/* --- the kind --------------------------------------------------------------------------------- */

static int64_t neighbours(const ikt_affinity_settings *settings) {
    (void)settings;
    return 30;
}

const ikt_affinity ikt_affinity_knn = {.name = "knn",
                                       .scores = IKT_SCORES_DISTANCES,
                                       .neighbours = neighbours,
                                       .weigh = weigh,
                                       .dense = dense};
