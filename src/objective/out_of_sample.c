/* Places for new points in a finished map. See out_of_sample.h. */
#include "objective/out_of_sample.h"

#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "objective/point_search.h"

enum { MOST = IKT_FIELD_DIMENSIONS_MOST, CHUNK = 8192, CENTRAL_AMONG = 10 };

static const double field_least = 1e-25; /* what is lost of 1e7 terms is a millionth of it */
static const double fall_least = 1e-7;   /* promised fall below which a point has settled */

/* A point under way. */
typedef struct {
    ikt_point_search search; /* of the least KL_i */
    double entropy;          /* sum p log p */
} moving;

typedef struct {
    ikt_context *ctx;
    const ikt_placed *old;
    const ikt_neighbours *lists;
    int64_t first, count; /* points of the chunk */
    moving *point;        /* [count] */
    int32_t *active;      /* [n_active] points that take a trial */
    int64_t n_active;
    float *trial;  /* [n_active * q] */
    double *phi;   /* [n_active] */
    float *slopes; /* [n_active * q] grad phi */
} chunk;

/* --- the objective of one point --------------------------------------------------------------- */

/* -sum p log w and, unless NULL, its gradient and sum p v. */
static double attraction(const chunk *c, int64_t i, const float *y, double *gradient,
                         double *weight) {
    const int64_t q = c->old->q, k = c->lists->k;
    const uint32_t *row = c->lists->row + i * k;
    const float *p = c->lists->score + i * k;
    const ikt_kernel kernel = c->old->kernel;
    const double inverse = kernel.kind == IKT_KERNEL_GAUSSIAN ? 0 : 1 / kernel.alpha;
    double value = 0;
    for (int64_t e = 0; e < k; e++) {
        if (!(p[e] > 0)) continue;
        const float *other = c->old->y + (int64_t)row[e] * q;
        double d[MOST] = {0}, r2 = 0;
        for (int64_t a = 0; a < q; a++) {
            d[a] = (double)y[a] - (double)other[a];
            r2 += d[a] * d[a];
        }
        value += (double)p[e] * ikt_kernel_minus_log(kernel, r2);
        if (!gradient) continue;
        const double pv = (double)p[e] / (1 + r2 * inverse);
        *weight += pv;
        for (int64_t a = 0; a < q; a++)
            gradient[a] += 2 * pv * d[a];
    }
    return value;
}

/* KL_i, its gradient and sum p v, at a place with that field. With a light tail terms of the field
 * below 1e-38 are lost to floats: where that could count KL_i is taken as infinite, so that no
 * point is drawn away from all old ones by a field that is too low. */
static double evaluate(const chunk *c, const moving *m, int64_t i, const float *y, double phi,
                       const float *slope, double *gradient, double *weight) {
    memset(gradient, 0, MOST * sizeof *gradient);
    *weight = 0;
    double value = attraction(c, i, y, gradient, weight);
    for (int a = 0; a < c->old->q; a++)
        gradient[a] += (double)slope[a] / phi;
    const bool is_lost = c->old->kernel.kind != IKT_KERNEL_STUDENT && !(phi >= field_least);
    return is_lost ? INFINITY : m->entropy + value + log(phi);
}

/* --- starts ----------------------------------------------------------------------------------- */

static void mean_place(const chunk *c, int64_t i, float *y) {
    const int64_t q = c->old->q, k = c->lists->k;
    double sum[MOST] = {0};
    for (int64_t e = i * k; e < (i + 1) * k; e++) {
        const double p = (double)c->lists->score[e];
        if (!(p > 0)) continue;
        for (int64_t a = 0; a < q; a++)
            sum[a] += p * (double)c->old->y[(int64_t)c->lists->row[e] * q + a];
    }
    for (int64_t a = 0; a < q; a++)
        y[a] = (float)sum[a];
}

/* The place of the neighbour, among the first, to which the others are nearest. */
static void central_place(const chunk *c, int64_t i, float *y) {
    const int64_t q = c->old->q, k = c->lists->k;
    double least = INFINITY;
    for (int64_t e = 0; e < k && e < CENTRAL_AMONG; e++) {
        if (!(c->lists->score[i * k + e] > 0)) continue;
        const float *place = c->old->y + (int64_t)c->lists->row[i * k + e] * q;
        double value = attraction(c, i, place, NULL, NULL);
        if (value >= least) continue;
        least = value;
        memcpy(y, place, (size_t)q * sizeof *y);
    }
}

/* --- a chunk of points ------------------------------------------------------------------------ */

/* Both starts of every point: the mean first, which the other must beat. */
static void start(chunk *c) {
    const int q = c->old->q;
    const int64_t k = c->lists->k;
    c->n_active = c->count;
    for (int again = 0; again < 2; again++) {
#pragma omp parallel for schedule(static) num_threads(ikt_threads(c->ctx))
        for (int64_t i = 0; i < c->count; i++)
            (again ? central_place : mean_place)(c, c->first + i, c->trial + i * q);
        ikt_field_evaluate(c->old->field, c->trial, c->n_active, c->phi, c->slopes);
#pragma omp parallel for schedule(static) num_threads(ikt_threads(c->ctx))
        for (int64_t i = 0; i < c->count; i++) {
            moving *m = &c->point[i];
            const float *y = c->trial + i * q;
            double gradient[MOST], weight;
            if (!again) m->entropy = 0;
            const float *p = c->lists->score + (c->first + i) * k;
            for (int64_t e = 0; !again && e < k; e++)
                if (p[e] > 0) m->entropy += (double)p[e] * log((double)p[e]);
            double value =
                evaluate(c, m, c->first + i, y, c->phi[i], c->slopes + i * q, gradient, &weight);
            if (again && !(value < m->search.value)) continue;
            ikt_point_begin(&m->search, q, y, value, gradient, weight, fall_least);
        }
    }
}

/* Lists the points that go on, and writes their trials. */
static void collect(chunk *c) {
    const int q = c->old->q;
    c->n_active = 0;
    for (int64_t i = 0; i < c->count; i++)
        if (c->point[i].search.length > 0) c->active[c->n_active++] = (int32_t)i;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(c->ctx))
    for (int64_t e = 0; e < c->n_active; e++)
        ikt_point_trial(&c->point[c->active[e]].search, q, c->trial + e * q);
}

static void take_trials(chunk *c) {
    const int q = c->old->q;
    ikt_field_evaluate(c->old->field, c->trial, c->n_active, c->phi, c->slopes);
#pragma omp parallel for schedule(static) num_threads(ikt_threads(c->ctx))
    for (int64_t e = 0; e < c->n_active; e++) {
        moving *m = &c->point[c->active[e]];
        const float *y = c->trial + e * q;
        double gradient[MOST], weight;
        double value = evaluate(c, m, c->first + c->active[e], y, c->phi[e], c->slopes + e * q,
                                gradient, &weight);
        ikt_point_take(&m->search, q, y, value, gradient, weight);
    }
}

ikt_status ikt_out_of_sample_place(ikt_context *ctx, const ikt_placed *old,
                                   const ikt_neighbours *lists, int64_t trials, float *y,
                                   double *divergence, int64_t *unsettled) {
    const int64_t n = lists->n_local, rows = n < CHUNK ? n : CHUNK, q = old->q;
    chunk c = {.ctx = ctx, .old = old, .lists = lists};
    int64_t open = 0;
    IKT_ARRAYS(held, ctx, "placing");
    c.point = ikt_claim(&held, rows, sizeof *c.point);
    c.active = ikt_claim(&held, rows, sizeof *c.active);
    c.trial = ikt_claim(&held, rows * q, sizeof *c.trial);
    c.phi = ikt_claim(&held, rows, sizeof *c.phi);
    c.slopes = ikt_claim(&held, rows * q, sizeof *c.slopes);
    ikt_status st = held.status;
    for (; st == IKT_OK && c.first < n; c.first += rows) {
        c.count = n - c.first < rows ? n - c.first : rows;
        start(&c);
        collect(&c);
        for (int64_t trial = 2; trial < trials && c.n_active > 0; trial++) {
            take_trials(&c);
            collect(&c);
        }
        for (int64_t i = 0; i < c.count; i++) {
            memcpy(y + (c.first + i) * q, c.point[i].search.y, (size_t)q * sizeof *y);
            divergence[c.first + i] = c.point[i].search.value;
        }
        open += c.n_active;
    }
    if (unsettled) *unsettled = open;
    return st;
}
