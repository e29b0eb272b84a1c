/* Adaptive Gaussian kernel: as wide at a row as its m-th nearest row is far.
 *
 * K(x, y) = exp(-|x - y|^2 / (sigma_x sigma_y)), sigma the distance to the m-th nearest row (Zhu &
 * Ting 2021, appendix D, equation 15; Zelnik-Manor & Perona 2004, "local scaling", m = 7),
 * normalised over the list. Where rows coincide sigma can be 0. Then K is its limit: 1 at distance
 * 0, 0 at any other. A row whose similarities all are 0 thereby (a lone row beside a heap of equal
 * ones) gets the uniform weight over its m nearest rows. Kernels too small for a number do no harm:
 * they are normalised by differences of their exponents.
 * The m-th distance of each row stands in its own list; those of its neighbours are asked for once,
 * each rank's foreign ones together. Everything is computed from squares, so that one root is taken
 * a pair and both rows of it find the same bits.
 * Advantage: symmetric, and no search for a bandwidth. Disadvantage: one m for all densities; where
 * more than m rows coincide the width is 0, and K its limit. */
#include <math.h>

#include <omp.h>

#include "affinity/affinity.h"
#include "base/arrays.h"
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

static void reaches_destroy(reaches *r) {
    ikt_row_set_destroy(&r->other);
}

/* COLLECTIVE. From sorted lists; the arrays are claimed in `held`. */
static ikt_status find_reaches(ikt_context *ctx, const ikt_neighbours *lists, int64_t m,
                               ikt_arrays *held, reaches *r) {
    IKT_TRY(ikt_agree(ctx, ikt_row_set_create(ctx, r->rows->n, &r->other)));
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < lists->n_local * lists->k; e++)
        if (!ikt_is_own(r->rows, lists->row[e])) ikt_row_set_add(&r->other, lists->row[e]);
    ikt_row_set_number(&r->other);
    r->own = ikt_claim(held, lists->n_local, sizeof *r->own);
    r->row = ikt_claim(held, r->other.count, sizeof *r->row);
    r->foreign = ikt_claim(held, r->other.count, sizeof *r->foreign);
    IKT_TRY(ikt_arrays_agree(held));
    ikt_row_set_list(&r->other, r->row);
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
        const float reach = ikt_is_own(r->rows, row[e])
                                ? r->own[row[e] - r->rows->first]
                                : r->foreign[ikt_row_set_place(&r->other, row[e])];
        exponent[e] = ikt_adaptive_exponent((double)score[e], (double)r->own[i], (double)reach);
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

static ikt_status weigh(ikt_context *ctx, const ikt_affinity_job *job, ikt_neighbours *lists,
                        int64_t *zero_similarity) {
    const int64_t k = lists->k, m = job->settings->adaptive.neighbours;
    reaches r IKT_AT_END(reaches_destroy) = {.rows = job->rows};
    int64_t count = 0;
    ikt_neighbours_sort(ctx, lists); /* sums in one order, whatever the order of the search */
    IKT_ARRAYS(held, ctx, purpose);
    double *exponent = ikt_claim(&held, ikt_threads(ctx) * k, sizeof *exponent);
    IKT_TRY(find_reaches(ctx, lists, m, &held, &r));
#pragma omp parallel for schedule(static) reduction(+ : count) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < lists->n_local; i++)
        count += weigh_row(&r, lists, i, m, exponent + omp_get_thread_num() * k);
    *zero_similarity = ikt_sum_one(ctx, count);
    return IKT_OK;
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

static void scales_destroy(scales *s) {
    ikt_free_all(&s->nearest, &s->scale);
}

static double dense_exponent(const scales *s, const float *row, int64_t i, int64_t j) {
    return ikt_adaptive_exponent((double)row[j], (double)ikt_pair_value(s->nearest[i]),
                                 (double)ikt_pair_value(s->nearest[j]));
}

/* p_j|i, where `exponent` and `squared` are those of the pair. */
static double conditional(const scales *s, int64_t i, int64_t j, float squared, double exponent) {
    const scale *own = &s->scale[i];
    if (own->least < INFINITY) return exp(own->least - exponent) / own->total;
    return ikt_pair_make(squared, (uint32_t)j) <= s->nearest[i] ? 1 / (double)s->m : 0;
}

static ikt_status dense(ikt_context *ctx, const ikt_affinity_job *job, ikt_dense *out,
                        int64_t *zero_similarity) {
    scales s IKT_AT_END(scales_destroy) = {.m = job->settings->adaptive.neighbours};
    int64_t count = 0;
    const int64_t first = out->rows.first, n = out->rows.n;
    const double half = 1 / (2 * (double)n);
    scale *own IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_dense_nearest(ctx, out, s.m, &s.nearest));
    IKT_TRY(ikt_alloc_all(ctx, &own, out->rows.count, sizeof *own, purpose));
#pragma omp parallel for schedule(static) reduction(+ : count) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < out->rows.count; i++) {
        const float *row = out->value + i * out->stride;
        scale found = {INFINITY, 0};
        for (int64_t j = 0; j < n; j++)
            if (j != first + i)
                found.least = fmin(found.least, dense_exponent(&s, row, first + i, j));
        for (int64_t j = 0; j < n && found.least < INFINITY; j++)
            if (j != first + i)
                found.total += exp(found.least - dense_exponent(&s, row, first + i, j));
        own[i] = found;
        count += found.least == INFINITY;
    }
    *zero_similarity = ikt_sum_one(ctx, count);
    IKT_TRY(ikt_share_rows(ctx, &out->rows, own, sizeof *own, purpose, &s.scale));
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t i = first; i < first + out->rows.count; i++) {
        float *row = out->value + (i - first) * out->stride;
        for (int64_t j = 0; j < n; j++) {
            const double exponent = dense_exponent(&s, row, i, j);
            row[j] = (float)(half * (conditional(&s, i, j, row[j], exponent) +
                                     conditional(&s, j, i, row[j], exponent)));
        }
        row[i] = 0;
    }
    return IKT_OK;
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
