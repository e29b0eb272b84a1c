/* Places for new points by triplets. See triplet_placing.h. */
#include "objective/triplet_placing.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/arrays.h"
#include "base/rng.h"
#include "objective/point_search.h"

enum { LANES = 8 /* sums that run beside each other, far row k in sum k % 8 */ };

/* Promised fall, of a loss whose weights sum to 1, below which a point has settled. */
static const double fall_least = 1e-9;

static const char purpose[] = "placing";

/* --- the triplets of one point ---------------------------------------------------------------- */

static int64_t stride_of(int64_t n_far) {
    return (n_far + LANES - 1) / LANES * LANES;
}

static void draw_pairs(const ikt_placed_triplets *old, int64_t pairs, int32_t *pair) {
    for (int64_t p = 0; p < pairs; p++) {
        const int64_t first =
            ikt_rng_below(old->seed, IKT_RNG_PLACING, 1, 2 * (uint64_t)p, old->n_far);
        const int64_t second =
            ikt_rng_below(old->seed, IKT_RNG_PLACING, 1, 2 * (uint64_t)p + 1, old->n_far - 1);
        pair[2 * p] = (int32_t)first;
        pair[2 * p + 1] = (int32_t)(second < first ? second : second + 1);
    }
}

ikt_status ikt_point_triplets_create(ikt_context *ctx, const ikt_placed_triplets *old,
                                     ikt_point_triplets *out) {
    const int64_t m = old->settings.neighbours, stride = stride_of(old->n_far), q = old->q;
    *out = (ikt_point_triplets){.old = old,
                                .m = m,
                                .stride = stride,
                                .pairs = old->settings.random > 0 ? old->n_far / 2 : 0};
    ikt_arrays *held = &out->held;
    *held = ikt_arrays_of(ctx, purpose);
    out->near = ikt_claim(held, m * q, sizeof *out->near);
    out->far = ikt_claim(held, q * stride, sizeof *out->far);
    out->pair = ikt_claim(held, 2 * out->pairs, sizeof *out->pair);
    out->weight = ikt_claim(held, m * stride, sizeof *out->weight);
    out->of_pair = ikt_claim(held, out->pairs, sizeof *out->of_pair);
    out->of_near = ikt_claim(held, m, sizeof *out->of_near);
    out->square = ikt_claim(held, stride, sizeof *out->square);
    out->push = ikt_claim(held, stride, sizeof *out->push);
    IKT_TRY(held->status);
    for (int64_t k = 0; k < old->n_far; k++)
        for (int64_t c = 0; c < q; c++)
            out->far[c * stride + k] = (double)old->y[q * old->far[k] + c];
    draw_pairs(old, out->pairs, out->pair);
    return IKT_OK;
}

void ikt_point_triplets_destroy(ikt_point_triplets *t) {
    ikt_arrays_free(&t->held);
}

int64_t ikt_triplets_placing_memory(int64_t m, int64_t n_far, int q, int threads) {
    const int64_t stride = stride_of(n_far);
    return threads * (8 * (m * (q + 1) + stride * (q + 2)) + 4 * m * stride + 12 * (n_far / 2));
}

void ikt_point_triplets_set(ikt_point_triplets *t, const uint32_t *row, const float *d,
                            const float *far_d) {
    const ikt_placed_triplets *old = t->old;
    const ikt_triplet_settings *s = &old->settings;
    const ikt_triplet_weighing weighing = (ikt_triplet_weighing)s->weights;
    const double random_share = ikt_triplet_random_share(weighing);
    const double of_near = (double)s->outliers / (double)old->n_far;
    const double of_pair = t->pairs > 0 ? (double)s->random / (double)t->pairs : 0;
    t->total = 0;
    for (int64_t b = 0; b < t->m; b++) {
        float *weight = t->weight + b * t->stride;
        const double near = ikt_triplet_near(weighing, (double)d[b]);
        t->of_near[b] = 0;
        for (int64_t k = 0; k < old->n_far; k++) {
            const double l = (double)far_d[k] - (double)d[b];
            const double w = of_near * ikt_triplet_weight(weighing, near, l, old->most);
            weight[k] = (float)w;
            t->of_near[b] += w;
        }
        t->total += t->of_near[b];
        for (int c = 0; c < old->q; c++)
            t->near[b * old->q + c] = (double)old->y[(int64_t)row[b] * old->q + c];
    }
    for (int64_t p = 0; p < t->pairs; p++) {
        const double l =
            random_share * ((double)far_d[t->pair[2 * p + 1]] - (double)far_d[t->pair[2 * p]]);
        const double w = of_pair * ikt_triplet_weight(weighing, 1, fabs(l), old->most);
        t->of_pair[p] = (float)(l < 0 ? -w : w);
        t->total += w;
    }
    if (!(t->total > 0)) return;
    for (int64_t e = 0; e < t->m * t->stride; e++)
        t->weight[e] = (float)((double)t->weight[e] / t->total);
    for (int64_t p = 0; p < t->pairs; p++)
        t->of_pair[p] = (float)((double)t->of_pair[p] / t->total);
}

static double total_of(const double lane[LANES]) {
    double sum = 0;
    for (int l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

/* The triplets of one near row for t = t' = 2, with a = 1 + |y - y_j|^2 and b of all far rows; what
 * they do to these is added to push. Returns the loss. */
static double add_usual(double a, const double *b, const float *w, int64_t stride, double *push,
                        double *pull) {
    double loss[LANES] = {0}, near[LANES] = {0};
    for (int64_t k = 0; k < stride; k += LANES)
        for (int l = 0; l < LANES; l++) {
            const double inverse = 1 / (a + b[k + l]), share = (double)w[k + l] * inverse;
            const double coefficient = 2 * share * inverse;
            loss[l] += share * a;
            near[l] += coefficient * b[k + l];
            push[k + l] += coefficient * a;
        }
    *pull = total_of(near);
    return total_of(loss);
}

/* The same for any t and t', of the squares themselves. */
static double add_any(const ikt_triplet_rule *rule, double u, const double *v, const float *w,
                      int64_t n_far, double *push, double *pull) {
    double loss = 0;
    *pull = 0;
    for (int64_t k = 0; k < n_far; k++) {
        if (!(w[k] > 0)) continue;
        const ikt_triplet_terms terms = ikt_triplet(rule, u, v[k]);
        loss += (double)w[k] * terms.loss;
        *pull += (double)w[k] * terms.c_j;
        push[k] += (double)w[k] * terms.c_k;
    }
    return loss;
}

/* The random triplets: both rows are among the far ones. */
static double add_pairs(const ikt_point_triplets *t, const ikt_triplet_rule *rule, double offset) {
    double loss = 0;
    for (int64_t p = 0; p < t->pairs; p++) {
        const double w = fabs((double)t->of_pair[p]);
        const int32_t j = t->pair[t->of_pair[p] < 0 ? 2 * p + 1 : 2 * p];
        const int32_t k = t->pair[t->of_pair[p] < 0 ? 2 * p : 2 * p + 1];
        if (!(w > 0)) continue;
        const ikt_triplet_terms terms =
            ikt_triplet(rule, t->square[j] - offset, t->square[k] - offset);
        loss += w * terms.loss;
        t->push[j] -= w * terms.c_j;
        t->push[k] += w * terms.c_k;
    }
    return loss;
}

/* Distances to the far rows, each `offset` larger. */
static void find_squares(const ikt_point_triplets *t, const float *y, double offset) {
    for (int64_t k = 0; k < t->stride; k++)
        t->square[k] = offset;
    for (int c = 0; c < t->old->q; c++)
        for (int64_t k = 0; k < t->stride; k++) {
            const double v = (double)y[c] - t->far[c * t->stride + k];
            t->square[k] += v * v;
        }
}

double ikt_point_triplets_loss(ikt_point_triplets *t, const float *y, double *gradient,
                               double *curvature) {
    const int q = t->old->q;
    const ikt_triplet_rule rule = {t->old->settings.t, t->old->settings.t_prime};
    const bool is_usual = rule.t == 2 && rule.t_prime == 2;
    const double offset = is_usual ? 1 : 0;
    double loss = 0, pulls = 0;
    memset(gradient, 0, (size_t)q * sizeof *gradient);
    memset(t->push, 0, (size_t)t->stride * sizeof *t->push);
    find_squares(t, y, offset);
    for (int64_t b = 0; b < t->m; b++) {
        const float *weight = t->weight + b * t->stride;
        double u[IKT_POINT_MOST], square = offset, pull;
        for (int c = 0; c < q; c++) {
            u[c] = (double)y[c] - t->near[b * q + c];
            square += u[c] * u[c];
        }
        loss += is_usual ? add_usual(square, t->square, weight, t->stride, t->push, &pull)
                         : add_any(&rule, square, t->square, weight, t->old->n_far, t->push, &pull);
        for (int c = 0; c < q; c++)
            gradient[c] += pull * u[c];
        pulls += pull;
    }
    loss += add_pairs(t, &rule, offset);
    for (int c = 0; c < q; c++) {
        double lane[LANES] = {0};
        for (int64_t k = 0; k < t->stride; k += LANES)
            for (int l = 0; l < LANES; l++)
                lane[l] += t->push[k + l] * ((double)y[c] - t->far[c * t->stride + k + l]);
        gradient[c] -= total_of(lane);
    }
    *curvature = pulls / 2;
    return loss;
}

/* --- all points ------------------------------------------------------------------------------- */

/* The mean of the near rows' places by the weight of their triplets; of those of no weight plainly.
 */
static void mean_place(const ikt_point_triplets *t, float *y) {
    double sum[IKT_POINT_MOST] = {0}, total = 0;
    for (int64_t b = 0; b < t->m; b++) {
        const double w = t->total > 0 ? t->of_near[b] : 1;
        total += w;
        for (int c = 0; c < t->old->q; c++)
            sum[c] += w * t->near[b * t->old->q + c];
    }
    for (int c = 0; c < t->old->q; c++)
        y[c] = (float)(total > 0 ? sum[c] / total : t->near[c]);
}

/* From the best start to the least loss nearby. */
static void place_point(ikt_point_triplets *t, int64_t trials, ikt_point_search *search) {
    const int q = t->old->q;
    int64_t done = 0;
    for (int64_t start = 0; start <= t->m && done < trials; start++, done++) {
        float y[IKT_POINT_MOST];
        double gradient[IKT_POINT_MOST], curvature;
        if (start == 0) mean_place(t, y);
        for (int c = 0; c < q && start > 0; c++)
            y[c] = (float)t->near[(start - 1) * q + c];
        const double value = ikt_point_triplets_loss(t, y, gradient, &curvature);
        if (start == 0 || value < search->value)
            ikt_point_begin(search, q, y, value, gradient, curvature, fall_least);
    }
    for (; done < trials && search->length > 0; done++) {
        float y[IKT_POINT_MOST];
        double gradient[IKT_POINT_MOST], curvature;
        ikt_point_trial(search, q, y);
        const double value = ikt_point_triplets_loss(t, y, gradient, &curvature);
        ikt_point_take(search, q, y, value, gradient, curvature);
    }
}

ikt_status ikt_triplets_place(ikt_context *ctx, const ikt_placed_triplets *old,
                              const ikt_neighbours *near, const float *far_d, int64_t trials,
                              float *y, double *cost, int64_t *unsettled) {
    const ikt_triplet_settings *s = &old->settings;
    const int threads = ikt_threads(ctx);
    const double triplets = (double)(s->neighbours * s->outliers + s->random);
    ikt_point_triplets *each IKT_AT_END(ikt_free) = NULL;
    int64_t open = 0;
    ikt_status st = ikt_alloc(ctx, &each, threads, sizeof *each, purpose);
    for (int t = 0; t < threads && st == IKT_OK; t++)
        st = ikt_point_triplets_create(ctx, old, &each[t]);
    const int64_t count = st == IKT_OK ? near->n_local : 0;
#pragma omp parallel for schedule(dynamic, 16) reduction(+ : open) num_threads(threads)
    for (int64_t i = 0; i < count; i++) {
        ikt_point_triplets *t = &each[omp_get_thread_num()];
        ikt_point_search search = {.length = 0};
        ikt_point_triplets_set(t, near->row + i * near->k, near->score + i * near->k,
                               far_d + i * old->n_far);
        if (t->total > 0)
            place_point(t, trials, &search);
        else
            mean_place(t, search.y);
        memcpy(y + i * old->q, search.y, (size_t)old->q * sizeof *y);
        cost[i] = search.value * t->total / triplets;
        open += search.length > 0;
    }
    *unsettled += open;
    for (int t = 0; each && t < threads; t++)
        ikt_point_triplets_destroy(&each[t]);
    return st;
}
