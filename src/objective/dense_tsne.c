/* t-SNE with a dense P and exact sums: everything from one pass over all pairs.
 *
 * Method: the kernel w_ij of a pair is computed once, for the sum phi, for repulsion w^2 and for
 * attraction p w, and where the value is wanted for p log(p / w); two own rows go together
 * (kernelsum/pairs.h). Positions of all rows are on every rank.
 * Advantage: one division a pair in place of two, and one read of the positions; floats are summed
 * in blocks. Disadvantage: t-SNE alone, since its weight of a pair does not depend on Z. */
#include <math.h>
#include <stdio.h>

#include "base/arrays.h"
#include "base/cpu.h"
#include "base/exact_sum.h"
#include "base/timer.h"
#include "kernelsum/pairs.h"
#include "objective/divergence.h"
#include "objective/regulariser.h"

enum {
    GROUP = 2,
    PIECE = 16,
    AHEAD =
        512 /* entries of P that are fetched ahead: a page of memory stops the processor's own */
};

typedef struct {
    ikt_context *ctx;
    const ikt_dense *dense;
    ikt_isa isa;
    ikt_replica replica;
    float *y, *attraction, *field; /* [n_local * q] */
    double *phi;                   /* [n_local] */
    ikt_regulariser_settings regularising;
    ikt_kernelsum *sums; /* of the regulariser; NULL where there is none */
    ikt_regulariser *regulariser;
    ikt_arrays held;
} fused;

/* Sums of a row. */
typedef struct {
    vector phi, value, repulsion[IKT_DIMENSIONS_MOST], attraction[IKT_DIMENSIONS_MOST];
} row_lanes;
typedef struct {
    pair_wide phi, value, repulsion[IKT_DIMENSIONS_MOST], attraction[IKT_DIMENSIONS_MOST];
} row_sums;

/* Own rows first .. last - 1; `value` receives sum_j p log(p / w) of each, or is NULL. */
typedef struct {
    const fused *of;
    int64_t first, last;
    double *value;
} job;

LANES_INLINE void add_pair(int q, bool want_value, const vector *p, const vector *d,
                           row_lanes *lanes) {
    vector far = d[0] * d[0];
    for (int c = 1; c < q; c++)
        far += d[c] * d[c];
    far += 1.0f;
    const vector w = 1.0f / far, near = *p * w, square = w * w;
    lanes->phi += w;
    for (int c = 0; c < q; c++) {
        lanes->repulsion[c] += square * d[c];
        lanes->attraction[c] += near * d[c];
    }
    if (!want_value) return;
    vector_cap(&far, pair_far);
    vector ratio = *p * far;
    vector_log(&ratio);
    lanes->value += *p * ratio;
}

LANES_INLINE void add_block(const job *j, int q, bool want_value, int group, const float *p,
                            const float *own, int64_t first, int64_t end, row_lanes *lanes) {
    const ikt_replica *all = &j->of->replica;
    for (int64_t at = first; at < end; at += LANES) {
        vector other[IKT_DIMENSIONS_MOST];
        for (int c = 0; c < q; c++)
            memcpy(&other[c], all->at[c] + at, sizeof other[c]);
        for (int i = 0; i < group; i++) {
            vector value, d[IKT_DIMENSIONS_MOST];
            const float *entries = p + i * all->padded + at;
            memcpy(&value, entries, sizeof value);
            if (at + AHEAD < all->padded) __builtin_prefetch(entries + AHEAD);
            for (int c = 0; c < q; c++)
                d[c] = own[q * i + c] - other[c];
            add_pair(q, want_value, &value, d, &lanes[i]);
        }
    }
}

/* Rows i .. i + group - 1. */
LANES_INLINE void sum_group(const job *j, int q, bool want_value, int group, int64_t i) {
    const ikt_replica *all = &j->of->replica;
    const float *p = j->of->dense->value + i * all->padded, *own = j->of->y + q * i;
    row_sums sums[GROUP];
    memset(sums, 0, sizeof sums);
    for (int64_t first = 0; first < all->padded; first += PAIR_BLOCK) {
        const int64_t end = first + PAIR_BLOCK < all->padded ? first + PAIR_BLOCK : all->padded;
        row_lanes lanes[GROUP];
        memset(lanes, 0, sizeof lanes);
        add_block(j, q, want_value, group, p, own, first, end, lanes);
        for (int k = 0; k < group; k++) {
            pair_widen(&lanes[k].phi, &sums[k].phi);
            if (want_value) pair_widen(&lanes[k].value, &sums[k].value);
            for (int c = 0; c < q; c++) {
                pair_widen(&lanes[k].repulsion[c], &sums[k].repulsion[c]);
                pair_widen(&lanes[k].attraction[c], &sums[k].attraction[c]);
            }
        }
    }
    for (int k = 0; k < group; k++) {
        j->of->phi[i + k] = pair_total(&sums[k].phi);
        if (want_value) j->value[i + k - j->first] = pair_total(&sums[k].value);
        for (int c = 0; c < q; c++) {
            const int64_t at = q * (i + k) + c;
            j->of->field[at] = (float)(-2 * pair_total(&sums[k].repulsion[c]));
            j->of->attraction[at] = (float)pair_total(&sums[k].attraction[c]);
        }
    }
}

LANES_INLINE void sum_rows(const job *j, int q, bool want_value) {
    int64_t i = j->first;
    for (; i + GROUP <= j->last; i += GROUP)
        sum_group(j, q, want_value, GROUP, i);
    for (; i < j->last; i++)
        sum_group(j, q, want_value, 1, i);
}

LANES_INLINE void sum_all(const job *j) {
    const int q = j->of->replica.q;
    if (q == 1)
        j->value ? sum_rows(j, 1, true) : sum_rows(j, 1, false);
    else if (q == 2)
        j->value ? sum_rows(j, 2, true) : sum_rows(j, 2, false);
    else
        j->value ? sum_rows(j, 3, true) : sum_rows(j, 3, false);
}

IKT_FOR_EACH_ISA(sum, sum_all, (const job *j), (j))

/* All own rows, and the sum of their values where that is wanted. */
static ikt_exact_sum sum_own(fused *t, bool want_value) {
    const int64_t n = t->dense->rows.count;
    ikt_exact_sum total = {{0}, 0, 0};
#pragma omp parallel for schedule(static) reduction(exact : total) num_threads(ikt_threads(t->ctx))
    for (int64_t i = 0; i < n; i += PIECE) {
        double value[PIECE];
        const job j = {t, i, i + PIECE < n ? i + PIECE : n, want_value ? value : NULL};
        sum(t->isa)(&j);
        if (want_value) ikt_exact_sum_add_array(&total, value, j.last - j.first, 1);
    }
    return total;
}

static ikt_status evaluate(ikt_objective *objective, int64_t iteration, bool want_value,
                           ikt_gradient *gradient, ikt_objective_terms *terms) {
    fused *t = objective->self;
    const ikt_rows *rows = &t->dense->rows;
    ikt_exact_sum value = {{0}, 0, 0};
    ikt_divergence_sums sums = {.n = rows->n};
    ikt_stage_begin(t->ctx, IKT_STAGE_HALO);
    const bool is_finite = ikt_replica_fill(t->ctx, rows, t->y, &t->replica);
    ikt_stage_end(t->ctx, IKT_STAGE_HALO);
    ikt_stage_begin(t->ctx, IKT_STAGE_REPULSION);
    if (is_finite) value = sum_own(t, want_value);
    ikt_stage_end(t->ctx, IKT_STAGE_REPULSION);
    sums.total[0] = is_finite ? ikt_normalisation(t->ctx, t->phi, 1, rows->count) : NAN;
    if (want_value) ikt_exact_sum_reduce(t->ctx, &value, 1);
    sums.value = ikt_exact_sum_value(&value);
    const ikt_divergence_terms found = ikt_objective_tsne.divergence->combine(&sums);
    *gradient =
        (ikt_gradient){t->attraction, t->field, (float)found.attraction, (float)found.field[0]};
    *terms = (ikt_objective_terms){.value = want_value ? found.value : NAN,
                                   .z = sums.total[0],
                                   .condition = ikt_map_condition_of(sums.total[0], rows->n)};
    const ikt_regulariser_map map = {objective, iteration, want_value, t->phi, t->field};
    return ikt_regulariser_add(t->regulariser, &t->regularising, &map, gradient, terms);
}

static void *state_array(ikt_objective *objective, int64_t iteration, int k) {
    const fused *t = objective->self;
    return ikt_regulariser_state_array(t->regulariser, iteration, k);
}

static void destroy(ikt_objective *objective) {
    fused *t = objective->self;
    if (!t) return;
    ikt_regulariser_destroy(&t->regulariser);
    ikt_kernelsum_destroy(&t->sums);
    ikt_replica_destroy(&t->replica);
    ikt_arrays_free(&t->held);
    ikt_free(&t);
}

static ikt_status create(ikt_context *ctx, const ikt_objective_inputs *inputs, ikt_objective *out) {
    const int64_t rows = inputs->rows.count, own = inputs->q * rows;
    fused *t = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &t, 1, sizeof *t, "layout"));
    out->self = t;
    *t = (fused){.ctx = ctx,
                 .dense = inputs->dense,
                 .isa = ikt_cpu_isa(),
                 .regularising = inputs->options.regulariser,
                 .held = ikt_arrays_of(ctx, "layout")};
    t->held.status = ikt_replica_create(ctx, &inputs->rows, inputs->q, &t->replica);
    out->y = t->y = ikt_claim(&t->held, own, sizeof *t->y);
    t->attraction = ikt_claim(&t->held, own, sizeof *t->attraction);
    t->field = ikt_claim(&t->held, own, sizeof *t->field);
    t->phi = ikt_claim(&t->held, rows, sizeof *t->phi);
    IKT_TRY(ikt_arrays_agree(&t->held));
    if (ikt_regulariser_is_there(&inputs->options))
        IKT_TRY(ikt_kernelsum_create_exact(ctx, &inputs->rows, inputs->q, ikt_student, &t->sums));
    return ikt_regulariser_create(ctx, inputs, t->sums, &t->regulariser);
}

static void describe(const ikt_objective *objective, char *text, size_t size) {
    const fused *t = objective->self;
    snprintf(text, size,
             "exact sums over all pairs of %lld points, in one pass with the attraction",
             (long long)t->dense->rows.n);
}

#define KIND                                                                                       \
    .name = "tsne", .needs = IKT_NEEDS_P, .has_exaggeration = true,                                \
    .optimiser = &ikt_optimiser_momentum, .resolve = ikt_divergence_resolve, .create = create,     \
    .destroy = destroy, .evaluate = evaluate, .describe = describe,                                \
    .memory = ikt_divergence_memory, .state = ikt_regulariser_state, .state_array = state_array

const ikt_objective_kind ikt_objective_dense_tsne = {KIND, .value_name = "KL"};
const ikt_objective_kind ikt_objective_dense_regularised = {KIND, .value_name = "cost"};
