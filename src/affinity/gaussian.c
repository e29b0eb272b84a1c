/* Gaussian kernel with a bandwidth for each row that gives it the wanted perplexity; and the
 * Laplacian one, which is the same of distances in place of their squares (at the end).
 *
 * Method: Newton's steps on the entropy as a function of log(beta), kept inside the bracket that
 * doubling and halving finds. The entropy falls monotonically with beta, so the bracket always
 * closes; a handful of steps do where bisection takes twenty. */
#include <math.h>

#include "affinity/affinity.h"
#include "base/arrays.h"
#include "base/cpu.h"
#include "base/exp_lanes.h"
#include "base/log.h"
#include "base/watch.h"
#include "dist/shuffle.h"
#include "linalg/blocks.h"

enum { STEPS = 64 };
static const double entropy_tolerance = 1e-6, step_most = 1.5;

/* How far eight distances from place j on lie above the least; 0 at `skip` and from `count` on. */
IKT_DOUBLES_INLINE void load_above(const float *squared, int64_t j, int64_t count, int64_t skip,
                                   double least, ikt_doubles *above) {
    ikt_doubles_load(squared + j, count - j, (float)least, above);
    *above -= least;
    if (skip >= j && skip < j + IKT_DOUBLES) (*above)[skip - j] = 0;
}

/* Entropy of p_j proportional to exp(-beta (d_j - least)); the sum of exponentials in *total, and
 * the derivative of the entropy by log(beta) in *slope. */
static IKT_WIDEST_VECTORS double entropy(const float *squared, int64_t count, int64_t skip,
                                         double least, double beta, double *total, double *slope) {
    ikt_doubles sums = {0}, firsts = {0}, seconds = {0};
    for (int64_t j = 0; j < count; j += IKT_DOUBLES) {
        ikt_doubles distance, weight;
        load_above(squared, j, count, skip, least, &distance);
        weight = distance * -beta;
        ikt_exp_lanes(&weight);
        if (count - j < IKT_DOUBLES) ikt_doubles_keep(&weight, count - j);
        if (skip >= j && skip < j + IKT_DOUBLES) weight[skip - j] = 0;
        sums += weight;
        firsts += weight * distance;
        seconds += weight * distance * distance;
    }
    const double sum = ikt_doubles_total(&sums), mean = ikt_doubles_total(&firsts) / sum;
    *total = sum;
    *slope = -beta * beta * (ikt_doubles_total(&seconds) / sum - mean * mean);
    return log(sum) + beta * mean;
}

/* The least distance above a limit; infinite where there is none. */
static double least_of(const float *squared, int64_t count, int64_t skip, double limit) {
    double least = INFINITY;
    for (int64_t j = 0; j < count; j++)
        if ((double)squared[j] < least && (double)squared[j] > limit && j != skip)
            least = (double)squared[j];
    return least;
}

/* Of all distances above the least, their sum. */
static IKT_WIDEST_VECTORS double sum_above(const float *squared, int64_t count, int64_t skip,
                                           double least) {
    ikt_doubles sums = {0};
    for (int64_t j = 0; j < count; j += IKT_DOUBLES) {
        ikt_doubles distance;
        load_above(squared, j, count, skip, least, &distance);
        sums += distance;
    }
    return ikt_doubles_total(&sums);
}

static const double beta_most = 750; /* exp(-750) is 0 */

double ikt_gaussian_beta(const float *squared, int64_t count, int64_t skip, double perplexity,
                         double *least, double *total) {
    *least = least_of(squared, count, skip, -INFINITY);
    const double sum = sum_above(squared, count, skip, *least);
    double scale = sum / (double)count, target = log(perplexity), slope;
    if (!(scale > 0)) { /* all equally far: any bandwidth gives the uniform distribution */
        entropy(squared, count, skip, *least, 0, total, &slope);
        return 0;
    }
    double at = -log(scale), low = -INFINITY, high = INFINITY; /* log(beta), and its bracket */
    for (int step = 0; step < STEPS; step++) {
        double difference = entropy(squared, count, skip, *least, exp(at), total, &slope) - target;
        if (fabs(difference) < entropy_tolerance) break;
        if (difference > 0)
            low = at;
        else
            high = at;
        double move = slope < 0 ? -difference / slope : INFINITY;
        double next = at + fmax(-step_most, fmin(step_most, move));
        if (slope == 0) /* no weight depends on beta any more */
            next = at + (difference > 0 ? step_most : -step_most);
        at = next > low && next < high ? next : (low + high) / 2;
    }
    /* Where more rows are equally near than the perplexity asks for, beta grows without end. From
     * here on all other weights are 0 in any case, and products of beta would lose their digits. */
    if (high == INFINITY) {
        const double gap = least_of(squared, count, skip, *least) - *least;
        if (isfinite(gap) && exp(at) * gap > beta_most) return beta_most / gap;
    }
    return exp(at);
}

/* exp(-beta (d_j - least)) / total; `weight` may be where the distances are. */
static IKT_WIDEST_VECTORS void weigh_row(const float *squared, int64_t count, double least,
                                         double beta, double total, float *weight) {
    for (int64_t j = 0; j < count; j += IKT_DOUBLES) {
        ikt_doubles w;
        load_above(squared, j, count, -1, least, &w);
        w *= -beta;
        ikt_exp_lanes(&w);
        w /= total;
        for (int64_t l = 0; l < IKT_DOUBLES && j + l < count; l++)
            weight[j + l] = (float)w[l];
    }
}

void ikt_gaussian_weights(ikt_context *ctx, const ikt_neighbours *lists, double perplexity,
                          float *weight) {
    int64_t k = lists->k;
#pragma omp parallel for schedule(dynamic, 256) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < lists->n_local; i++) {
        const float *squared = lists->score + i * k;
        double least, total, beta = ikt_gaussian_beta(squared, k, -1, perplexity, &least, &total);
        weigh_row(squared, k, least, beta, total, weight + i * k);
    }
}

static ikt_status weigh(ikt_context *ctx, const ikt_affinity_job *job, ikt_neighbours *lists,
                        int64_t *zero_similarity) {
    ikt_gaussian_weights(ctx, lists, job->settings->gaussian.perplexity, lists->score);
    *zero_similarity = 0;
    return IKT_OK;
}

/* --- dense P ---------------------------------------------------------------------------------- */

/* p_j|i = exp(-beta_i (d^2 - least_i)) / total_i, so its logarithm is linear in d^2:
 * shift_i - beta_i d_ij^2. */
typedef struct {
    double beta, shift;
} bandwidth;

enum { ROWS_TOGETHER = 512 }; /* own rows between two pauses */

/* COLLECTIVE. The bandwidths of the own rows. */
static ikt_status find_bandwidths(ikt_context *ctx, const ikt_dense *p, double perplexity,
                                  bandwidth *mine) {
    const ikt_row_range own = {p->rows.first, p->rows.count};
    const int64_t steps = ikt_stream_steps(ctx, own.count, ROWS_TOGETHER);
    for (int64_t step = 0; step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, ROWS_TOGETHER, step);
#pragma omp parallel for schedule(dynamic, 16) num_threads(ikt_threads(ctx))
        for (int64_t row = at.first; row < at.first + at.count; row++) {
            const int64_t i = row - own.first;
            double least, total;
            mine[i].beta = ikt_gaussian_beta(p->value + i * p->stride, p->rows.n, row, perplexity,
                                             &least, &total);
            mine[i].shift = mine[i].beta * least - log(total);
        }
        IKT_TRY(ikt_watch_pause(ctx));
    }
    return IKT_OK;
}

static ikt_status dense(ikt_context *ctx, const ikt_affinity_job *job, ikt_dense *out,
                        int64_t *zero_similarity) {
    bandwidth *mine IKT_AT_END(ikt_free) = NULL, *of IKT_AT_END(ikt_free) = NULL;
    *zero_similarity = 0;
    const int64_t n = out->rows.n;
    const ikt_row_range own = {out->rows.first, out->rows.count};
    const double scale = 1 / (2 * (double)n);
    IKT_TRY(ikt_alloc_all(ctx, &mine, own.count, sizeof *mine, "dense P"));
    IKT_TRY(find_bandwidths(ctx, out, job->settings->gaussian.perplexity, mine));
    IKT_TRY(ikt_share_rows(ctx, &out->rows, mine, sizeof *mine, "dense P", &of));
    const int64_t steps = ikt_stream_steps(ctx, own.count, ROWS_TOGETHER);
    for (int64_t step = 0; step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, ROWS_TOGETHER, step);
#pragma omp parallel for num_threads(ikt_threads(ctx))
        for (int64_t i = at.first; i < at.first + at.count; i++) {
            float *row = out->value + (i - own.first) * out->stride;
            for (int64_t j = 0; j < n; j++) {
                double squared = (double)row[j];
                row[j] = (float)(scale * (exp(of[i].shift - of[i].beta * squared) +
                                          exp(of[j].shift - of[j].beta * squared)));
            }
            row[i] = 0;
        }
        IKT_TRY(ikt_watch_pause(ctx));
    }
    return IKT_OK;
}

/* --- the kind --------------------------------------------------------------------------------- */

static const ikt_key keys[] = {
    {"perplexity", IKT_KEY_REAL, offsetof(ikt_gaussian_settings, perplexity), "auto", 1, 1e6, 1,
     NULL, "rows",
     "The effective number of neighbours of a row under the Gaussian kernel; auto is 30, but at "
     "most a third of affinity.neighbours, where that is given, and of the other rows"}};

const ikt_section ikt_gaussian_section = {
    "gaussian", "The Gaussian kernel (affinity.kind: gaussian)", keys, sizeof keys / sizeof *keys};

static const double usual_perplexity = 30;

int64_t ikt_perplexity_neighbours(const ikt_affinity_settings *settings) {
    const bool is_given = settings->gaussian.perplexity > IKT_AUTO_REAL;
    return (int64_t)ceil(3 * (is_given ? settings->gaussian.perplexity : usual_perplexity));
}

void ikt_perplexity_resolve(ikt_context *ctx, ikt_affinity_settings *settings, int64_t n) {
    const bool has_few = settings->support == IKT_SUPPORT_SPARSE &&
                         settings->neighbours != IKT_AUTO_INT && settings->neighbours < n - 1;
    const int64_t weighed = has_few ? settings->neighbours : n - 1;
    const double most = fmax(1, (double)weighed / 3);
    if (settings->gaussian.perplexity > IKT_AUTO_REAL) return;
    settings->gaussian.perplexity = fmin(usual_perplexity, most);
    if (most < usual_perplexity)
        ikt_log(ctx, IKT_LOG_STAGE,
                "gaussian.perplexity: auto takes %.3g, a third of the %lld %s, in place of %g",
                most, (long long)weighed, has_few ? "neighbours of a row" : "other rows",
                usual_perplexity);
}

ikt_status ikt_perplexity_check(ikt_context *ctx, const ikt_affinity_settings *settings,
                                int64_t weighed) {
    if (settings->gaussian.perplexity <= (double)weighed) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "gaussian.perplexity = %g needs more than the %lld neighbours of a row; "
                    "choose a smaller perplexity or more affinity.neighbours",
                    settings->gaussian.perplexity, (long long)weighed);
}

void ikt_perplexity_shrink(ikt_affinity_settings *settings, int64_t n) {
    settings->gaussian.perplexity = fmin(settings->gaussian.perplexity, (double)(n - 1) / 3);
}

const ikt_affinity ikt_affinity_gaussian = {IKT_PERPLEXITY_KIND, .name = "gaussian",
                                            .scores = IKT_SCORES_DISTANCES, .weigh = weigh,
                                            .dense = dense};

/* Laplacian kernel: p_j|i proportional to exp(-d_ij / s_i), with a width s_i for each row that
 * gives it the wanted perplexity.
 *
 * Method: the weights of the Gaussian kernel, of distances in place of their squares.
 * Advantage: far neighbours keep weight, so that rows of a heap and those at its rim have weights
 * of one kind. Disadvantage: the nearest rows stand out less. */

/* Distances in place of their squares. */
static void take_roots(ikt_context *ctx, float *squared, int64_t count) {
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < count; e++)
        squared[e] = sqrtf(squared[e]);
}

static ikt_status weigh_roots(ikt_context *ctx, const ikt_affinity_job *job, ikt_neighbours *lists,
                              int64_t *zero_similarity) {
    take_roots(ctx, lists->score, lists->n_local * lists->k);
    return weigh(ctx, job, lists, zero_similarity);
}

static ikt_status dense_roots(ikt_context *ctx, const ikt_affinity_job *job, ikt_dense *out,
                              int64_t *zero_similarity) {
    take_roots(ctx, out->value, out->rows.count * out->stride);
    return dense(ctx, job, out, zero_similarity);
}

const ikt_affinity ikt_affinity_laplacian = {IKT_PERPLEXITY_KIND, .name = "laplacian",
                                             .scores = IKT_SCORES_DISTANCES, .weigh = weigh_roots,
                                             .dense = dense_roots};
