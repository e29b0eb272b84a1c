/* Isolation kernel: shares of equal cells become conditional probabilities.
 *
 * Advantage: counts are integers, so every sum is exact. Disadvantage: a row may share no cell with
 * any other; such rows are few, and their nearest rows are looked up in the data
 * (zero_similarity.c). */
#include "affinity/affinity.h"
#include "base/arrays.h"
#include "dist/shuffle.h"

int64_t ikt_isolation_weights(ikt_context *ctx, const ikt_neighbours *lists, int64_t t,
                              float *weight) {
    int64_t empty = 0, k = lists->k;
#pragma omp parallel for reduction(+ : empty) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < lists->n_local; i++) {
        const float *differing = lists->score + i * k; /* may be what is written below */
        int64_t total = 0;                             /* counts are integers: the sum is exact */
        for (int64_t e = 0; e < k; e++)
            total += t - (int64_t)differing[e];
        for (int64_t e = 0; e < k; e++)
            weight[i * k + e] =
                total > 0 ? (float)((double)(t - (int64_t)differing[e]) / (double)total) : 0.0f;
        empty += total == 0;
    }
    return empty;
}

static ikt_status weigh(ikt_context *ctx, const ikt_affinity_job *job, ikt_neighbours *lists,
                        int64_t *zero_similarity) {
    ikt_isolation_weights(ctx, lists, job->t, lists->score);
    return ikt_affinity_adopt_zero_similarity(ctx, job->data, job->rows, job->order, lists,
                                              zero_similarity);
}

/* --- dense P ---------------------------------------------------------------------------------- */

/* Turns numbers of differing cells into numbers of equal cells; returns the sum without self. */
static double count_equal(const ikt_affinity_job *job, const ikt_dense *dense, int64_t i) {
    float *row = dense->value + i * dense->stride;
    const int64_t t = job->t;
    int64_t sum = 0;
    for (int64_t j = 0; j < dense->rows.n; j++) {
        row[j] = (float)t - row[j];
        sum += (int64_t)row[j];
    }
    row[dense->rows.first + i] = 0;
    return (double)(sum - t);
}

ikt_status ikt_similarities_dense(ikt_context *ctx, const ikt_affinity_job *job,
                                  ikt_similarity_row *sum_row, ikt_dense *out,
                                  int64_t *zero_similarity) {
    const double scale = 1 / (2 * (double)out->rows.n);
    const ikt_rows *rows = &out->rows;
    const int64_t k = job->k;
    double *own IKT_AT_END(ikt_free) = NULL, *sum IKT_AT_END(ikt_free) = NULL;
    uint8_t *marked IKT_AT_END(ikt_free) = NULL;
    ikt_zero_similarity zeros IKT_AT_END(ikt_zero_similarity_destroy) = {0, 0, NULL, NULL};
    IKT_TRY(ikt_alloc_all(ctx, &own, rows->count, sizeof *own, "dense P"));
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < rows->count; i++)
        own[i] = sum_row(job, out, i);
    IKT_TRY(ikt_share_rows(ctx, rows, own, sizeof *own, "dense P", &sum));
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < rows->count; i++) {
        float *row = out->value + i * out->stride;
        const double mine = sum[rows->first + i];
        if (!(mine > 0)) continue; /* no similarity at all: the row is zero already */
        for (int64_t j = 0; j < rows->n; j++)
            if (row[j] > 0) row[j] = (float)(scale * (double)row[j] * (1 / mine + 1 / sum[j]));
    }
    IKT_TRY(ikt_alloc_all(ctx, &marked, rows->count, 1, "zero similarity"));
    for (int64_t i = 0; i < rows->count; i++)
        marked[i] = !(sum[rows->first + i] > 0);
    IKT_TRY(ikt_zero_similarity_find(ctx, job->data, rows, marked, k, &zeros));
    /* Rows without similarity get uniform weights over their nearest rows, in both directions. */
    const float share = (float)(1 / (2 * (double)rows->n * (double)k));
    for (int64_t e = 0; e < zeros.count * k; e++) {
        const int64_t a = zeros.row[e / k], b = zeros.nearest[e];
        if (ikt_is_own(rows, a)) out->value[(a - rows->first) * out->stride + b] += share;
        if (ikt_is_own(rows, b)) out->value[(b - rows->first) * out->stride + a] += share;
    }
    *zero_similarity = zeros.count;
    return IKT_OK;
}

static ikt_status dense(ikt_context *ctx, const ikt_affinity_job *job, ikt_dense *out,
                        int64_t *zero_similarity) {
    return ikt_similarities_dense(ctx, job, count_equal, out, zero_similarity);
}

/* The keys of the kernel itself are those of the codes, isolation/settings.h. */
const ikt_affinity ikt_affinity_isolation = {
    .name = "isolation",
    .scores = IKT_SCORES_CODES,
    .weigh = weigh,
    .dense = dense,
    .zero_similarity_because =
        "share no cell with any other (isolation.psi may be too large); they are "
        "tied to their nearest rows by input distance"};
