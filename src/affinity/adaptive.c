/* Adaptive Gaussian kernel: as wide at a row as its m-th nearest row is far.
 *
 * Zhu & Ting 2021, appendix D, equation 15; Zelnik-Manor & Perona 2004 ("local scaling", m = 7).
 * The m-th distance of each row stands in its own list; those of its neighbours are asked for once,
 * each rank's foreign ones together. Everything is computed from squares, so that one root is taken
 * a pair and both rows of it find the same bits.
 * Advantage: symmetric, and no search for a bandwidth. Disadvantage: one m for all densities; where
 * more than m rows coincide the width is 0, and K its limit. */
#include <math.h>

#include <omp.h>

#include "affinity/kind.h"
#include "base/comm.h"
#include "base/memory.h"
#include "dist/rows.h"
#include "dist/shuffle.h"

static const char purpose[] = "widths";

double ikt_adaptive_exponent(double squared, double reach_x, double reach_y) {
    if (squared == 0) return 0;
    double width = sqrt(reach_x * reach_y); /* the product of two floats fits a double */
    return width > 0 && squared < INFINITY ? squared / width : INFINITY;
}

/* --- lists ------------------------------------------------------------------------------------ */

/* Squared distances to the m-th nearest row: of the own rows, and of those in their lists. */
typedef struct {
    const ikt_rows *rows;
    float *own;        /* [rows->count] */
    ikt_row_set other; /* rows of other ranks in the lists */
    uint32_t *row;     /* [other.count] the same, ascending */
    float *foreign;    /* [other.count] */
} reaches;

static void reaches_free(reaches *r) {
    ikt_free(&r->own);
    ikt_free(&r->row);
    ikt_free(&r->foreign);
    ikt_row_set_destroy(&r->other);
}

static bool is_own(const reaches *r, uint32_t row) {
    return row >= r->rows->first && row < r->rows->first + r->rows->count;
}

static double reach_of(const reaches *r, uint32_t row) {
    if (is_own(r, row)) return (double)r->own[row - r->rows->first];
    return (double)r->foreign[ikt_row_set_place(&r->other, row)];
}

/* Which rows of others are in the lists. */
static ikt_status list_others(ikt_context *ctx, const ikt_neighbours *lists, reaches *r) {
    IKT_TRY(ikt_row_set_create(ctx, r->rows->n, &r->other));
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < lists->n_local * lists->k; e++)
        if (!is_own(r, lists->row[e])) ikt_row_set_add(&r->other, lists->row[e]);
    ikt_row_set_number(&r->other);
    IKT_TRY(ikt_alloc(ctx, &r->row, r->other.count, sizeof *r->row, purpose));
    IKT_TRY(ikt_alloc(ctx, &r->foreign, r->other.count, sizeof *r->foreign, purpose));
    ikt_row_set_list(&r->other, r->row);
    return IKT_OK;
}

/* COLLECTIVE. From sorted lists. */
static ikt_status find_reaches(ikt_context *ctx, const ikt_neighbours *lists, int64_t m,
                               reaches *r) {
    ikt_status st = ikt_alloc(ctx, &r->own, lists->n_local, sizeof *r->own, purpose);
    if (st == IKT_OK) st = list_others(ctx, lists, r);
    IKT_TRY(ikt_agree(ctx, st));
    for (int64_t i = 0; i < lists->n_local; i++)
        r->own[i] = lists->score[i * lists->k + m - 1];
    return ikt_gather_rows(ctx, r->rows, r->row, r->other.count, r->own, sizeof *r->own,
                           r->foreign);
}

/* Weights of own row i; whether it has no similarity to any of its list.
 *   exponent   [lists->k] work space */
static bool weigh_row(const reaches *r, const ikt_neighbours *lists, int64_t i, int64_t m,
                      double *exponent) {
    float *score = lists->score + i * lists->k;
    const uint32_t *row = lists->row + i * lists->k;
    double least = INFINITY, total = 0;
    for (int64_t e = 0; e < lists->k; e++) {
        exponent[e] =
            ikt_adaptive_exponent((double)score[e], (double)r->own[i], reach_of(r, row[e]));
        least = fmin(least, exponent[e]);
    }
    const bool is_flat = least == INFINITY;
    for (int64_t e = 0; e < lists->k; e++) {
        exponent[e] = is_flat ? e < m : exp(least - exponent[e]);
        total += exponent[e];
    }
    for (int64_t e = 0; e < lists->k; e++)
        score[e] = (float)(exponent[e] / total);
    return is_flat;
}

ikt_status ikt_adaptive_weights(ikt_context *ctx, const ikt_rows *rows, ikt_neighbours *lists,
                                int64_t m, int64_t *flat) {
    const int64_t k = lists->k;
    reaches r = {.rows = rows};
    double *exponent = NULL;
    int64_t count = 0;
    ikt_neighbours_sort(ctx, lists); /* sums in one order, whatever the order of the search */
    ikt_status st = ikt_alloc(ctx, &exponent, ikt_threads(ctx) * k, sizeof *exponent, purpose);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = find_reaches(ctx, lists, m, &r);
    if (st == IKT_OK) {
#pragma omp parallel for schedule(static) reduction(+ : count) num_threads(ikt_threads(ctx))
        for (int64_t i = 0; i < lists->n_local; i++)
            count += weigh_row(&r, lists, i, m, exponent + omp_get_thread_num() * k);
        *flat = ikt_sum_one(ctx, count);
    }
    ikt_free(&exponent);
    reaches_free(&r);
    return st;
}

static ikt_status weigh(ikt_context *ctx, const ikt_affinity_job *job, ikt_neighbours *lists,
                        int64_t *zero_similarity) {
    return ikt_adaptive_weights(ctx, job->rows, lists, job->settings->adaptive.neighbours,
                                zero_similarity);
}

/* --- dense P ---------------------------------------------------------------------------------- */

/* Of a row: p_j|i = exp(least - exponent) / total. `least` is infinite where K is 0 everywhere. */
typedef struct {
    double least, total;
} scale;

typedef struct {
    int64_t m;
    ikt_pair *nearest; /* [n] m-th nearest of all rows */
    scale *scale;      /* [n] */
} scales;

static double dense_exponent(const scales *s, const float *row, int64_t i, int64_t j) {
    return ikt_adaptive_exponent((double)row[j], (double)ikt_pair_value(s->nearest[i]),
                                 (double)ikt_pair_value(s->nearest[j]));
}

static scale find_scale(const scales *s, const ikt_dense *dense, int64_t i) {
    const float *row = dense->value + (i - dense->rows.first) * dense->stride;
    scale found = {INFINITY, 0};
    for (int64_t j = 0; j < dense->rows.n; j++)
        if (j != i) found.least = fmin(found.least, dense_exponent(s, row, i, j));
    for (int64_t j = 0; j < dense->rows.n && found.least < INFINITY; j++)
        if (j != i) found.total += exp(found.least - dense_exponent(s, row, i, j));
    return found;
}

/* p_j|i, where `exponent` and `squared` are those of the pair. */
static double conditional(const scales *s, int64_t i, int64_t j, float squared, double exponent) {
    const scale *own = &s->scale[i];
    if (own->least < INFINITY) return exp(own->least - exponent) / own->total;
    return ikt_pair_make(squared, (uint32_t)j) <= s->nearest[i] ? 1 / (double)s->m : 0;
}

static void fill_row(const scales *s, ikt_dense *dense, int64_t i) {
    const double half = 1 / (2 * (double)dense->rows.n);
    float *row = dense->value + (i - dense->rows.first) * dense->stride;
    for (int64_t j = 0; j < dense->rows.n; j++) {
        const double exponent = dense_exponent(s, row, i, j);
        row[j] = (float)(half * (conditional(s, i, j, row[j], exponent) +
                                 conditional(s, j, i, row[j], exponent)));
    }
    row[i] = 0;
}

/* COLLECTIVE. */
static ikt_status find_scales(ikt_context *ctx, const ikt_dense *dense, scales *s,
                              int64_t *zero_similarity) {
    int64_t count = 0;
    scale *own = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &own, dense->rows.count, sizeof *own, purpose)));
#pragma omp parallel for schedule(static) reduction(+ : count) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < dense->rows.count; i++) {
        own[i] = find_scale(s, dense, dense->rows.first + i);
        count += own[i].least == INFINITY;
    }
    *zero_similarity = ikt_sum_one(ctx, count);
    ikt_status st = ikt_dense_share(ctx, &dense->rows, own, sizeof *own, &s->scale);
    ikt_free(&own);
    return st;
}

static ikt_status dense(ikt_context *ctx, const ikt_affinity_job *job, ikt_dense *out,
                        int64_t *zero_similarity) {
    scales s = {.m = job->settings->adaptive.neighbours};
    ikt_status st = ikt_dense_nearest(ctx, out, s.m, &s.nearest);
    if (st == IKT_OK) st = find_scales(ctx, out, &s, zero_similarity);
    if (st == IKT_OK) {
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
        for (int64_t i = 0; i < out->rows.count; i++)
            fill_row(&s, out, out->rows.first + i);
    }
    ikt_free(&s.nearest);
    ikt_free(&s.scale);
    return st;
}

/* --- the kind --------------------------------------------------------------------------------- */

static const ikt_key keys[] = {
    {"neighbours", IKT_KEY_INT, offsetof(ikt_adaptive_settings, neighbours), "7", 1, 1e9, 0, NULL,
     "rows",
     "Which neighbour sets the width of the kernel at a row: 7 takes the distance to the seventh "
     "nearest row. It is at most affinity.neighbours"}};

const ikt_section ikt_adaptive_section = {"adaptive",
                                          "The adaptive Gaussian kernel (affinity.kind: adaptive)",
                                          keys, sizeof keys / sizeof *keys};

static int64_t neighbours(const ikt_affinity_settings *settings) {
    const int64_t wide = 3 * settings->adaptive.neighbours;
    return wide > 30 ? wide : 30;
}

static ikt_status check(ikt_context *ctx, const ikt_affinity_settings *settings, int64_t weighed) {
    if (settings->adaptive.neighbours <= weighed) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "adaptive.neighbours = %lld, but only %lld neighbours of a row are looked at; "
                    "choose at most %lld, or more affinity.neighbours",
                    (long long)settings->adaptive.neighbours, (long long)weighed,
                    (long long)weighed);
}

static void shrink(ikt_affinity_settings *settings, int64_t n) {
    if (settings->adaptive.neighbours >= n) settings->adaptive.neighbours = n - 1;
}

const ikt_affinity ikt_affinity_adaptive = {
    .name = "adaptive",
    .scores = IKT_SCORES_DISTANCES,
    .section = &ikt_adaptive_section,
    .keys = offsetof(ikt_affinity_settings, adaptive),
    .neighbours = neighbours,
    .check = check,
    .shrink = shrink,
    .weigh = weigh,
    .dense = dense,
    .zero_similarity_because =
        "lie alone beside heaps of more than adaptive.neighbours equal rows; they "
        "are tied to their adaptive.neighbours nearest rows alike"};
