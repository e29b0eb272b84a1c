/* The model of the classes. See class_model.h. */
#include "metric/class_model.h"

#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/cpu.h"
#include "base/rng.h"
#include "base/sort.h"
#include "metric/segment.h"

/* --- distances along lines, from what the kernels find at their points (segment.h) ------------ */

double ikt_segment_chord_of(double length) {
    const double pi = 3.14159265358979323846;
    if (!(length < pi)) return INFINITY;
    const double half = sin(length / 4);
    return 4 * half * half;
}

int64_t ikt_segment_scratch(const ikt_class_lanes *shape, int points) {
    return (int64_t)points * shape->wide;
}

/* Speeds at the points, by the weights of the rule. */
static float sum_speeds(const ikt_segment_job *job, const float *low, const float *high) {
    const int pieces = job->points + 1;
    double length = 0;
    for (int q = 0; q <= pieces; q++) {
        const bool is_end = q == 0 || q == pieces;
        if (job->rule == IKT_RULE_OUTER && 2 * q == pieces) continue;
        const double v = sqrt(job->kernel->speed(&job->shape, low, high, (float)q / (float)pieces));
        length += job->rule == IKT_RULE_TRAPEZOID && is_end ? v / 2 : v;
    }
    return (float)(length / pieces);
}

float ikt_segment_distance(const ikt_segment_job *job, const float *low, const float *high,
                           const float *root_low, const float *root_high, float limit,
                           float *scratch) {
    if (job->rule != IKT_RULE_ARC) return sum_speeds(job, low, high);
    return job->kernel->arcs(&job->shape, job->points, low, high, root_low, root_high, limit,
                             scratch);
}

static const char purpose[] = "fisher support";

enum { LANES = 16 };

static int64_t rounded_up(int64_t count) {
    return (count + LANES - 1) / LANES * LANES;
}

/* --- support ---------------------------------------------------------------------------------- */

/* The least draws of one class so far, in any order. */
typedef struct {
    uint64_t *draw;
    int64_t *row;
    int64_t count, most, worst; /* entries, at most so many; which one is the greatest */
} least_draws;

static void offer(least_draws *l, uint64_t draw, int64_t row) {
    if (l->count == l->most && draw >= l->draw[l->worst]) return; /* rows come ascending */
    const int64_t at = l->count < l->most ? l->count++ : l->worst;
    l->draw[at] = draw;
    l->row[at] = row;
    l->worst = 0;
    for (int64_t e = 1; e < l->count; e++)
        if (l->draw[e] > l->draw[l->worst] ||
            (l->draw[e] == l->draw[l->worst] && l->row[e] > l->row[l->worst]))
            l->worst = e;
}

/* How many rows of each class are drawn, in most[classes]; returns how many in all. */
static int64_t divide(const int64_t *rows, int classes, int64_t m, int64_t *most) {
    int64_t labelled = 0, total = 0;
    for (int c = 0; c < classes; c++)
        labelled += rows[c];
    for (int c = 0; c < classes; c++) {
        const int64_t share = llround((double)m * (double)rows[c] / (double)labelled);
        most[c] = share > 2 ? share : 2;
        if (most[c] > rows[c]) most[c] = rows[c];
        total += most[c];
    }
    return total;
}

ikt_status ikt_class_support_make(ikt_context *ctx, const int64_t *row, const int32_t *of,
                                  int64_t m, int classes, ikt_class_support *out) {
    ikt_class_support made IKT_AT_END(ikt_class_support_destroy) = {.m = m};
    *out = (ikt_class_support){.m = 0};
    IKT_ARRAYS(held, ctx, purpose);
    made.row = ikt_claim_kept(&held, m, sizeof *made.row);
    made.of = ikt_claim_kept(&held, m, sizeof *made.of);
    made.lane = ikt_claim_kept(&held, m, sizeof *made.lane);
    made.first = ikt_claim_kept(&held, classes + 1, sizeof *made.first);
    IKT_TRY(held.status);
    memcpy(made.row, row, (size_t)m * sizeof *row);
    memcpy(made.of, of, (size_t)m * sizeof *of);
    for (int c = 0; c < classes; c++) {
        int64_t count = 0;
        for (int64_t l = 0; l < m; l++)
            if (of[l] == c) made.lane[l] = made.first[c] + count++;
        made.first[c + 1] = made.first[c] + rounded_up(count);
    }
    made.shape = (ikt_class_lanes){.lanes = made.first[classes],
                                   .classes = classes,
                                   .wide = (int)rounded_up(classes),
                                   .first = made.first};
    return ikt_give(out, made);
}

ikt_status ikt_class_support_draw(ikt_context *ctx, const int32_t *of_row, int64_t n, int classes,
                                  int64_t m, uint64_t seed, ikt_class_support *out) {
    *out = (ikt_class_support){.m = 0};
    IKT_ARRAYS(held, ctx, purpose);
    int64_t *rows = ikt_claim(&held, classes, sizeof *rows);
    int64_t *most = ikt_claim(&held, classes, sizeof *most);
    least_draws *drawn = ikt_claim(&held, classes, sizeof *drawn);
    IKT_TRY(held.status);
    for (int64_t i = 0; i < n; i++)
        if (of_row[i] >= 0) rows[of_row[i]]++;
    const int64_t count = divide(rows, classes, m, most);
    int64_t *row = ikt_claim(&held, count, sizeof *row);
    uint64_t *draw = ikt_claim(&held, count, sizeof *draw);
    int32_t *of = ikt_claim(&held, count, sizeof *of);
    IKT_TRY(held.status);
    for (int64_t c = 0, at = 0; c < classes; at += most[c], c++)
        drawn[c] = (least_draws){.draw = draw + at, .row = row + at, .most = most[c]};
    for (int64_t i = 0; i < n; i++)
        if (of_row[i] >= 0) offer(&drawn[of_row[i]], ikt_rng_u64(seed, IKT_RNG_SUPPORT, i, 0), i);
    /* The drawn rows of all classes stand one behind the other. */
    ikt_sort_i64(row, count);
    for (int64_t l = 0; l < count; l++)
        of[l] = of_row[row[l]];
    return ikt_class_support_make(ctx, row, of, count, classes, out);
}

void ikt_class_support_destroy(ikt_class_support *support) {
    ikt_free_all(&support->row, &support->of, &support->lane, &support->first);
    support->m = 0;
}

int64_t ikt_class_lane_of(const ikt_class_support *support, int64_t row) {
    const int64_t at = ikt_find_i64(support->row, support->m, row);
    return at < 0 ? -1 : support->lane[at];
}

int64_t ikt_class_lanes_most(int64_t m, int64_t classes) {
    const int64_t rows = m > 2 * classes ? m : 2 * classes;
    return rounded_up(rows + (LANES - 1) * classes);
}

/* --- sigma ------------------------------------------------------------------------------------ */

static const double sigma_perplexity = 20, least_probability = 1e-6;

/* t-SNE's bandwidth of a row: sigma whose weights exp(-d^2 / (2 sigma^2)) have the entropy `target`
 * over the others; 0 where no bandwidth has it, because too many are at the least distance. */
static double bandwidth(const double *squared, int64_t m, int64_t own, double target) {
    double least = INFINITY, low = 0, high = INFINITY, beta = 0, scale = 0;
    for (int64_t j = 0; j < m; j++)
        if (j != own && squared[j] < least) least = squared[j];
    for (int64_t j = 0; j < m; j++)
        if (j != own) scale += (squared[j] - least) / (double)(m - 1);
    if (!(scale > 0)) return 0;
    beta = 1 / scale;
    for (int step = 0; step < 200; step++) {
        double sum = 0, first = 0;
        for (int64_t j = 0; j < m; j++) {
            if (j == own) continue;
            const double above = squared[j] - least, weight = exp(-beta * above);
            sum += weight;
            first += weight * above;
        }
        const double entropy = log(sum) + beta * first / sum;
        if (fabs(entropy - target) < 1e-10) break;
        if (entropy > target)
            low = beta;
        else
            high = beta;
        beta = high == INFINITY ? 2 * beta : (low + high) / 2;
        if (beta * scale > 1e12) return 0;
    }
    return 1 / sqrt(2 * beta);
}

/* Squared distance of two support rows. */
static double distance(const double *k, const double *self, int64_t m, int64_t a, int64_t b) {
    const double squared = self[a] + self[b] - 2 * k[a * m + b];
    return squared > 0 ? squared : 0;
}

/* log p(c_l|s_l) with the own weight left out. */
static double log_probability(const ikt_class_support *s, const double *k, const double *self,
                              double sigma, int64_t l) {
    const double *row = k + l * s->m, scale = 1 / (sigma * sigma);
    double most = -INFINITY, own = 0, all = 0;
    for (int64_t j = 0; j < s->m; j++)
        if (j != l) most = fmax(most, row[j] - self[j] / 2);
    for (int64_t j = 0; j < s->m; j++) {
        if (j == l) continue;
        const double weight = exp((row[j] - self[j] / 2 - most) * scale);
        all += weight;
        if (s->of[j] == s->of[l]) own += weight;
    }
    return log(fmax(own / all, least_probability));
}

/* The mean over the support; `each` [m] is work space, so that its order is one. */
static double mean_likelihood(ikt_context *ctx, const ikt_class_support *s, const double *k,
                              const double *self, double sigma, double *each) {
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t l = 0; l < s->m; l++)
        each[l] = log_probability(s, k, self, sigma, l);
    double sum = 0;
    for (int64_t l = 0; l < s->m; l++)
        sum += each[l];
    return sum / (double)s->m;
}

/* The mean of the bandwidths above 0; 0 where there is none. `squared` [threads * m]. */
static double mean_bandwidth(ikt_context *ctx, const ikt_class_support *s, const double *k,
                             const double *self, double *each, double *squared) {
    const double others = (double)(s->m - 1);
    const double target = log(fmin(sigma_perplexity, fmax(others / 3, 1.5)));
    double sum = 0, count = 0;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t l = 0; l < s->m; l++) {
        double *own = squared + l * s->m;
        for (int64_t j = 0; j < s->m; j++)
            own[j] = distance(k, self, s->m, l, j);
        each[l] = bandwidth(own, s->m, l, target);
    }
    for (int64_t l = 0; l < s->m; l++) {
        sum += each[l];
        count += each[l] > 0;
    }
    return count > 0 ? sum / count : 0;
}

ikt_status ikt_class_sigma_find(ikt_context *ctx, const ikt_class_support *support,
                                ikt_sigma_rule rule, double given, const double *k,
                                const double *self, ikt_class_sigma *out) {
    enum { FIRST = -4, LAST = 6 };
    double *each IKT_AT_END(ikt_free) = NULL, *squared IKT_AT_END(ikt_free) = NULL;
    *out = (ikt_class_sigma){.sigma = given};
    IKT_TRY(ikt_alloc(ctx, &each, support->m, sizeof *each, purpose));
    if (rule != IKT_SIGMA_GIVEN)
        IKT_TRY(ikt_alloc(ctx, &squared, support->m * support->m, sizeof *squared, purpose));
    if (rule != IKT_SIGMA_GIVEN) {
        out->perplexity_sigma = mean_bandwidth(ctx, support, k, self, each, squared);
        out->sigma = out->perplexity_sigma;
        if (!(out->sigma > 0))
            return ikt_fail(ctx, IKT_ERR_DATA,
                            "no bandwidth suits the support of affinity.kind=fisher: its rows are "
                            "equal, or most of them; give fisher.sigma as a number, or other rows");
    }
    out->log_likelihood = mean_likelihood(ctx, support, k, self, out->sigma, each);
    if (rule == IKT_SIGMA_LIKELIHOOD) {
        out->log_likelihood = -INFINITY;
        for (int q = FIRST; q <= LAST; q++) { /* ascending, so that a tie goes to the larger */
            const double sigma = out->perplexity_sigma * pow(2, q / 2.0);
            const double value = mean_likelihood(ctx, support, k, self, sigma, each);
            if (!(value >= out->log_likelihood)) continue;
            out->log_likelihood = value;
            out->sigma = sigma;
        }
    }
    return IKT_OK;
}

/* --- log-weights ------------------------------------------------------------------------------ */

void ikt_class_weights(ikt_context *ctx, const ikt_class_support *s, double sigma, const float *k,
                       const double *self, const int64_t *row, int64_t count, float *weight,
                       float *root) {
    const double scale = 1.4426950408889634 / (sigma * sigma); /* log2(e) / sigma^2 */
    const int64_t m = s->m, lanes = s->shape.lanes;
    const ikt_segment_kernel *kernel = ikt_segment_kernel_for(ikt_cpu_isa());
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < count; i++) {
        float *out = weight + i * lanes;
        const float *own = k + i * m;
        const int64_t left_out = row ? ikt_class_lane_of(s, row[i]) : -1;
        double most = -INFINITY, sum = 0;
        for (int64_t l = 0; l < lanes; l++)
            out[l] = IKT_NO_WEIGHT;
        for (int64_t l = 0; l < m; l++)
            if (s->lane[l] != left_out) most = fmax(most, (double)own[l] - self[l] / 2);
        for (int64_t l = 0; l < m; l++)
            if (s->lane[l] != left_out) sum += exp2(((double)own[l] - self[l] / 2 - most) * scale);
        const double total = log2(sum);
        for (int64_t l = 0; l < m; l++)
            if (s->lane[l] != left_out)
                out[s->lane[l]] = (float)fmax(((double)own[l] - self[l] / 2 - most) * scale - total,
                                              (double)IKT_NO_WEIGHT / 2);
        kernel->roots(&s->shape, out, out, 0, root + i * s->shape.wide);
    }
}

int ikt_class_best(const ikt_class_lanes *shape, const float *root) {
    int best = 0;
    for (int c = 1; c < shape->classes; c++)
        if (root[c] > root[best]) best = c;
    return best;
}

void ikt_class_compare(const ikt_metric *metric, const float *x, int64_t count,
                       const float *support, int64_t m, int64_t d, float *squared, float *k) {
    const int64_t stride = ikt_packed_rows(m);
    metric->on(ikt_cpu_isa())->block(x, count, support, m, d, squared);
    for (int64_t i = 0; i < count; i++)
        for (int64_t l = 0; l < m; l++)
            k[i * m + l] = -0.5f * squared[i * stride + l];
}
