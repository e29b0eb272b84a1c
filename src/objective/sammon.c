/* Sammon's map: distances in the map against those in the data, small ones counting as much as
 * large.
 *
 * E = 1 / (sum of d_ij) * sum over pairs of (d_ij - r_ij)^2 / d_ij, r_ij = |y_i - y_j| (Sammon
 * 1969, "A nonlinear mapping for data structure analysis"). Distances d_ij are divided by their
 * mean, so that maps of all data have one size; those of the Isolation kernel are |phi(x_i) -
 * phi(x_j)|, in proportion to the root of 1 - K, as those of rows are to the root of their square.
 * Pairs of equal rows, whose term is not defined, are left out of both sums.
 *
 * Steps: Sammon divides each component of the gradient by the second derivative, which can be 0 or
 * less. Here it is the second derivative of the function that majorises E, always positive (de
 * Leeuw 1977, as SMACOF): with V_i = sum_j 1 / d_ij dE/dy_i = (2 / sum of d) sum_j (1 / d_ij - 1 /
 * r_ij) (y_i - y_j), the step is along  1 / V_i  sum_j (1 / d_ij - 1 / r_ij) (y_i - y_j), by
 * momentum and gains. A rate of 1 suits any number of rows, and rows of dense regions, whose
 * gradient is steep, do not jump.
 * Advantage: exact, no kernel and no width. Disadvantage: 4 n^2 bytes over all ranks, and n^2 time
 * an iteration: for up to some 20,000 rows. */
#include <math.h>
#include <stdio.h>

#include "affinity/dense.h"
#include "base/arrays.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/exact_sum.h"
#include "base/timer.h"
#include "kernelsum/pairs.h"
#include "objective/objective.h"

typedef struct {
    ikt_context *ctx;
    ikt_dense distance; /* over their mean; 0 where a pair is left out */
    double *weight;     /* [n_local] V_i */
    double total;       /* sum of all distances, both ways */
    ikt_isa isa;
    ikt_replica replica;
    float *y, *along; /* [n_local * q] */
} state;

/* --- distances -------------------------------------------------------------------------------- */

/* COLLECTIVE. Squares of distances, or what is in proportion to them. */
static ikt_status fill(ikt_context *ctx, const ikt_objective_inputs *inputs, ikt_dense *out) {
    const ikt_features *features = inputs->features;
    const ikt_rows *rows = &inputs->rows;
    float *x IKT_AT_END(ikt_free) = NULL;
    if (!features) {
        const ikt_scorer scorer = ikt_scorer_codes(inputs->codes, rows);
        return ikt_dense_fill(ctx, &scorer, out);
    }
    if (!features->metric) {
        IKT_TRY(ikt_agree(ctx, ikt_dense_create(ctx, rows, out)));
        for (int64_t i = 0; i < rows->count; i++)
            ikt_features_copy(features, i, out->value + i * out->stride);
        return IKT_OK;
    }
    IKT_TRY(ikt_alloc_all(ctx, &x, rows->count * features->d, sizeof *x, "distances"));
    for (int64_t i = 0; i < rows->count; i++)
        ikt_features_copy(features, i, x + i * features->d);
    const ikt_scorer scorer = ikt_scorer_rows(features->metric, x, features->d, rows);
    return ikt_dense_fill(ctx, &scorer, out);
}

/* COLLECTIVE. From squares to distances over their mean, and what is summed of them. */
static ikt_status scale(state *s) {
    const ikt_dense *all = &s->distance;
    const int64_t n = all->rows.n, first = all->rows.first;
    ikt_exact_sum total = {{0}, 0, 0};
    int64_t pairs = 0;
#pragma omp parallel for num_threads(ikt_threads(s->ctx)) reduction(+ : pairs)
    for (int64_t i = 0; i < all->rows.count; i++) {
        float *row = all->value + i * all->stride;
        double sum = 0;
        row[first + i] = 0;
        for (int64_t j = 0; j < n; j++) {
            row[j] = sqrtf(row[j]);
            sum += (double)row[j];
            pairs += row[j] > 0;
        }
        s->weight[i] = sum; /* for now */
    }
    ikt_exact_sum_add_array(&total, s->weight, all->rows.count, 1);
    ikt_exact_sum_reduce(s->ctx, &total, 1);
    pairs = ikt_sum_one(s->ctx, pairs);
    s->total = (double)pairs;
    if (pairs == 0)
        return ikt_fail(s->ctx, IKT_ERR_DATA,
                        "all %lld rows are equal, so that layout.objective=sammon has no distance "
                        "to keep: look at the data, and at isolation.psi where rows are compared "
                        "by cells",
                        (long long)n);
    const double mean = ikt_exact_sum_value(&total) / (double)pairs;
#pragma omp parallel for num_threads(ikt_threads(s->ctx))
    for (int64_t i = 0; i < all->rows.count; i++) {
        float *row = all->value + i * all->stride;
        double sum = 0;
        for (int64_t j = 0; j < n; j++) {
            row[j] = (float)((double)row[j] / mean);
            if (row[j] > 0) sum += 1 / (double)row[j];
        }
        s->weight[i] = sum;
    }
    return IKT_OK;
}

/* --- sums over all rows ----------------------------------------------------------------------- */

/* Sums of a row: of (d - r)^2 / d, and of the gradient along each axis. */
typedef struct {
    vector value, along[IKT_DIMENSIONS_MOST];
} row_lanes;
typedef struct {
    pair_wide value, along[IKT_DIMENSIONS_MOST];
} row_sums;

/* Own rows first .. last - 1; `value` receives the first sum of each. */
typedef struct {
    const state *of;
    int64_t first, last;
    double *value;
} job;

LANES_INLINE void keep_where(const vector_bits *mask, vector *value) {
    vector_bits bits;
    memcpy(&bits, value, sizeof bits);
    bits &= *mask;
    memcpy(value, &bits, sizeof bits);
}

LANES_INLINE void add_pairs(int q, const vector *distance, const vector *apart, row_lanes *lanes) {
    const vector zero = {0};
    vector square = apart[0] * apart[0], r, inverse = 1.0f / *distance;
    for (int c = 1; c < q; c++)
        square += apart[c] * apart[c];
    for (int l = 0; l < LANES; l++)
        r[l] = sqrtf(square[l]);
    vector of_map = 1.0f / r;
    const vector_bits is_pair = (vector_bits)(*distance > zero);
    const vector_bits is_apart = is_pair & (vector_bits)(r > zero);
    keep_where(&is_pair, &r);
    keep_where(&is_pair, &inverse);
    keep_where(&is_apart, &of_map);
    const vector wrong = *distance - r, pull = inverse - of_map;
    lanes->value += wrong * wrong * inverse;
    for (int c = 0; c < q; c++)
        lanes->along[c] += pull * apart[c];
}

LANES_INLINE void sum_row(const job *j, int q, int64_t i) {
    const state *s = j->of;
    const float *distance = s->distance.value + i * s->distance.stride, *own = s->y + q * i;
    const int64_t padded = s->replica.padded;
    row_sums sums;
    memset(&sums, 0, sizeof sums);
    for (int64_t first = 0; first < padded; first += PAIR_BLOCK) {
        const int64_t end = first + PAIR_BLOCK < padded ? first + PAIR_BLOCK : padded;
        row_lanes lanes;
        memset(&lanes, 0, sizeof lanes);
        for (int64_t at = first; at < end; at += LANES) {
            vector d, apart[IKT_DIMENSIONS_MOST];
            memcpy(&d, distance + at, sizeof d);
            for (int c = 0; c < q; c++) {
                memcpy(&apart[c], s->replica.at[c] + at, sizeof apart[c]);
                apart[c] = own[c] - apart[c];
            }
            add_pairs(q, &d, apart, &lanes);
        }
        pair_widen(&lanes.value, &sums.value);
        for (int c = 0; c < q; c++)
            pair_widen(&lanes.along[c], &sums.along[c]);
    }
    j->value[i - j->first] = pair_total(&sums.value);
    for (int c = 0; c < q; c++)
        s->along[q * i + c] = (float)(pair_total(&sums.along[c]) / s->weight[i]);
}

LANES_INLINE void sum_rows(const job *j) {
    const int q = j->of->replica.q;
    for (int64_t i = j->first; i < j->last; i++)
        if (q == 1)
            sum_row(j, 1, i);
        else if (q == 2)
            sum_row(j, 2, i);
        else
            sum_row(j, 3, i);
}

IKT_FOR_EACH_ISA(sum, sum_rows, (const job *j), (j))

static ikt_exact_sum sum_own(state *s) {
    enum { PIECE = 16 };
    const int64_t n = s->distance.rows.count;
    ikt_exact_sum total = {{0}, 0, 0};
#pragma omp parallel for schedule(static) reduction(exact : total) num_threads(ikt_threads(s->ctx))
    for (int64_t i = 0; i < n; i += PIECE) {
        double value[PIECE];
        const job j = {s, i, i + PIECE < n ? i + PIECE : n, value};
        sum(s->isa)(&j);
        ikt_exact_sum_add_array(&total, value, j.last - j.first, 1);
    }
    return total;
}

static ikt_status evaluate(ikt_objective *objective, int64_t iteration, bool want_value,
                           ikt_gradient *gradient, ikt_objective_terms *terms) {
    state *s = objective->self;
    ikt_exact_sum value = {{0}, 0, 0};
    (void)iteration;
    ikt_stage_begin(s->ctx, IKT_STAGE_HALO);
    const bool is_finite = ikt_replica_fill(s->ctx, &s->distance.rows, s->y, &s->replica);
    ikt_stage_end(s->ctx, IKT_STAGE_HALO);
    ikt_stage_begin(s->ctx, IKT_STAGE_REPULSION);
    if (is_finite) value = sum_own(s);
    ikt_stage_end(s->ctx, IKT_STAGE_REPULSION);
    if (want_value) ikt_exact_sum_reduce(s->ctx, &value, 1);
    *gradient = (ikt_gradient){s->along, s->along, 1, 0};
    *terms =
        (ikt_objective_terms){.value = want_value ? ikt_exact_sum_value(&value) / s->total : NAN,
                              .condition = is_finite ? IKT_MAP_SOUND : IKT_MAP_NOT_FINITE};
    return IKT_OK;
}

/* --- the kind --------------------------------------------------------------------------------- */

static ikt_status resolve(ikt_context *ctx, const ikt_objective_kind *kind, int64_t n, int q,
                          ikt_objective_options *options) {
    (void)kind, (void)n, (void)q;
    if (options->repulsion != IKT_REPULSION_AUTO && options->repulsion != IKT_REPULSION_EXACT)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.objective=sammon sums over all pairs of rows exactly: leave "
                        "layout.repulsion at auto");
    options->repulsion = IKT_REPULSION_EXACT;
    return IKT_OK;
}

static void destroy(ikt_objective *objective) {
    state *s = objective->self;
    if (!s) return;
    ikt_dense_destroy(&s->distance);
    ikt_replica_destroy(&s->replica);
    ikt_free_all(&s->weight, &s->y, &s->along, &s);
}

static ikt_status create(ikt_context *ctx, const ikt_objective_inputs *inputs, ikt_objective *out) {
    const int64_t rows = inputs->rows.count, own = inputs->q * rows;
    state *s = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &s, 1, sizeof *s, "layout"));
    out->self = s;
    *s = (state){.ctx = ctx, .isa = ikt_cpu_isa()};
    IKT_ARRAYS(held, ctx, "layout");
    held.status = ikt_replica_create(ctx, &inputs->rows, inputs->q, &s->replica);
    s->weight = ikt_claim_kept(&held, rows, sizeof *s->weight);
    out->y = s->y = ikt_claim_kept(&held, own, sizeof *s->y);
    s->along = ikt_claim_kept(&held, own, sizeof *s->along);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(fill(ctx, inputs, &s->distance));
    return scale(s);
}

static void describe(const ikt_objective *objective, char *text, size_t size) {
    const state *s = objective->self;
    snprintf(text, size, "exact sums over all pairs of %lld rows", (long long)s->distance.rows.n);
}

static int64_t memory(const ikt_objective_kind *kind, const ikt_objective_shape *shape) {
    const int64_t rows = shape->rows.count;
    (void)kind;
    return (int64_t)sizeof(state) + ikt_dense_memory(rows, shape->rows.n) +
           ikt_replica_memory(&shape->rows, shape->q) +
           rows * ((int64_t)sizeof(double) + 2 * shape->q * (int64_t)sizeof(float));
}

static const ikt_rule rules[] = {
    {{IKT_FACT_GRAPH},
     "layout.objective=sammon compares all pairs of rows, which input.graph does not hold: give "
     "the rows as input.file, or their distances with preprocess.metric=precomputed",
     IKT_ERR_USAGE},
    {{IKT_FACT_DENSE},
     "affinity.support = dense is a form of P, which layout.objective=sammon makes no use of: it "
     "keeps the distances of all pairs anyway; leave it out",
     IKT_ERR_USAGE},
    {{IKT_FACT_BATCHES},
     "layout.batch_rows moves rows that are near by P, which layout.objective=sammon does not "
     "make: leave it out",
     IKT_ERR_USAGE},
    {{0}, NULL, IKT_OK}};

const ikt_objective_kind ikt_objective_sammon = {.name = "sammon",
                                                 .value_name = "cost",
                                                 .needs = IKT_NEEDS_FEATURES,
                                                 .rules = rules,
                                                 .pair_sums = 2,
                                                 .learning_rate = 1,
                                                 .start_deviation = 0.5,
                                                 .optimiser = &ikt_optimiser_momentum,
                                                 .resolve = resolve,
                                                 .create = create,
                                                 .destroy = destroy,
                                                 .evaluate = evaluate,
                                                 .describe = describe,
                                                 .memory = memory};
