/* Maps that are where the rows start: layout.objective=pca, eigenmap, kpca and kda.
 *
 * Of all linear maps with orthonormal axes principal components have the largest variance, so that
 * E = -(the variance of the map, summed over its axes) is the least with them. The start of the
 * loop, which is there already, is the minimum: no iteration is made, and no neighbours, kernel or
 * P. Advantage: seconds for millions of rows, distances far apart kept as well as any linear map
 * keeps them; what other maps are measured against. Disadvantage: clusters lie over one another.
 *
 * Eigenvectors of the graph Laplacian L of P (spectral/spectrum.h) have the least sum of Rayleigh
 * quotients y' L y / y' y of all maps with orthogonal axes; that sum is E. Advantage: the least in
 * one step, with no local minima. Disadvantage: a map of slow changes along P, which shows few of
 * many clusters.
 *
 * Kernel PCA and kernel discriminant analysis (similarity/kernel_map.h) are linear maps of the rows
 * in the space of a kernel, made in one step as well. E is -(the variance of the map) for both: of
 * the first it is what principal components have most of, of the second what the ridge lets through
 * of the 1 / n that each response of length 1 has. */
#include <math.h>
#include <stdio.h>

#include "base/arrays.h"
#include "base/exact_sum.h"
#include "objective/objective.h"
#include "spectral/normalised.h"

typedef struct {
    ikt_context *ctx;
    ikt_rows rows;
    float *y, *zero; /* [n_local * q] positions, and their gradient along which nothing moves */
    const ikt_graph *graph; /* P, sparse or dense, of the eigenmap */
    const ikt_dense *dense;
} state;

static ikt_status create(ikt_context *ctx, const ikt_objective_inputs *inputs, ikt_objective *out) {
    const int64_t coordinates = inputs->q * inputs->rows.count;
    state *s;
    IKT_TRY(ikt_alloc_all(ctx, &s, 1, sizeof *s, "layout"));
    out->self = s;
    *s = (state){.ctx = ctx, .rows = inputs->rows, .graph = inputs->graph, .dense = inputs->dense};
    IKT_ARRAYS(held, ctx, "layout");
    out->y = s->y = ikt_claim_kept(&held, coordinates, sizeof *s->y);
    s->zero = ikt_claim_kept(&held, coordinates, sizeof *s->zero);
    return ikt_arrays_agree(&held);
}

static void destroy(ikt_objective *objective) {
    state *s = objective->self;
    if (!s) return;
    ikt_free_all(&s->y, &s->zero, &s);
}

/* COLLECTIVE. The variance of one axis. */
static double variance_of(const state *s, int q, int axis) {
    const double n = (double)s->rows.n;
    ikt_exact_sum sum = {{0}, 0, 0}, squares = {{0}, 0, 0};
    for (int64_t i = 0; i < s->rows.count; i++)
        ikt_exact_sum_add(&sum, (double)s->y[q * i + axis]);
    ikt_exact_sum_reduce(s->ctx, &sum, 1);
    const double mean = ikt_exact_sum_value(&sum) / n;
    for (int64_t i = 0; i < s->rows.count; i++) {
        const double apart = (double)s->y[q * i + axis] - mean;
        ikt_exact_sum_add(&squares, apart * apart);
    }
    ikt_exact_sum_reduce(s->ctx, &squares, 1);
    return ikt_exact_sum_value(&squares) / n;
}

static void stand_still(const state *s, double value, ikt_gradient *gradient,
                        ikt_objective_terms *terms) {
    *gradient = (ikt_gradient){s->zero, s->zero, 0, 0};
    *terms = (ikt_objective_terms){.value = value};
}

static ikt_status evaluate(ikt_objective *objective, int64_t iteration, bool want_value,
                           ikt_gradient *gradient, ikt_objective_terms *terms) {
    const state *s = objective->self;
    double value = want_value ? 0 : NAN;
    (void)iteration;
    for (int axis = 0; want_value && axis < objective->q; axis++)
        value -= variance_of(s, objective->q, axis);
    stand_still(s, value, gradient, terms);
    return IKT_OK;
}

/* COLLECTIVE. The sum over axes of y' L y / y' y, by one product. */
static ikt_status sum_quotients(const state *s, int64_t q, double *value) {
    ikt_components components IKT_AT_END(ikt_components_destroy) = {0};
    ikt_normalised *normalised IKT_AT_END(ikt_normalised_destroy) = NULL;
    ikt_block y IKT_AT_END(ikt_block_destroy) = {.v = NULL},
                b IKT_AT_END(ikt_block_destroy) = {.v = NULL};
    double gram[9], norm[3];
    IKT_TRY(ikt_components_find(s->ctx, s->graph, s->dense, &components));
    IKT_TRY(ikt_normalised_create(s->ctx, s->graph, s->dense, &components, q, &normalised));
    ikt_status st = ikt_block_create(s->ctx, &s->rows, q, &y);
    if (st == IKT_OK) st = ikt_block_create(s->ctx, &s->rows, q, &b);
    IKT_TRY(ikt_agree(s->ctx, st));
    const ikt_operator n = ikt_normalised_operator(normalised);
    for (int64_t e = 0; e < q * s->rows.count; e++)
        y.v[e] = (double)s->y[e];
    IKT_TRY(n.apply(n.self, &y, -1, 1, 0, &b)); /* L y */
    IKT_TRY(ikt_block_gram(&y, &b, gram));
    IKT_TRY(ikt_block_norms(&y, norm));
    *value = 0;
    for (int64_t c = 0; c < q; c++)
        *value += gram[c * q + c] / (norm[c] * norm[c]);
    return IKT_OK;
}

static ikt_status evaluate_eigenmap(ikt_objective *objective, int64_t iteration, bool want_value,
                                    ikt_gradient *gradient, ikt_objective_terms *terms) {
    const state *s = objective->self;
    double value = NAN;
    (void)iteration;
    if (want_value) IKT_TRY(sum_quotients(s, objective->q, &value));
    stand_still(s, value, gradient, terms);
    return IKT_OK;
}

static void describe(const ikt_objective *objective, char *text, size_t size) {
    snprintf(text, size, "%s, at which the rows stay", objective->kind->stays_at);
}

static int64_t memory(const ikt_objective_kind *kind, const ikt_objective_shape *shape) {
    (void)kind;
    return (int64_t)sizeof(state) + 2 * shape->q * shape->rows.count * (int64_t)sizeof(float);
}

/* A product and its block, beside. */
static int64_t memory_eigenmap(const ikt_objective_kind *kind, const ikt_objective_shape *shape) {
    const int64_t rows = shape->rows.count, q = shape->q;
    const int64_t boundary = shape->is_dense ? shape->rows.n : shape->boundary;
    return memory(kind, shape) + ikt_solver_bytes(rows, q, shape->threads) +
           ikt_normalised_bytes(rows, boundary, q) + ikt_components_bytes(rows, boundary);
}

/* What the objectives share whose map is their start. */
#define STANDING_KIND                                                                              \
    .value_name = "cost", .is_start = true, .optimiser = &ikt_optimiser_descent, .create = create, \
    .destroy = destroy, .describe = describe

static const char similarities[] = "a map of similarities (section kernel), which no start "
                                   "changes: leave layout.init and init_file out";

const ikt_objective_kind ikt_objective_pca = {
    .name = "pca",
    .start = IKT_INIT_PCA,
    .stays_at = "principal components",
    .map_of = "the map of the principal components of the rows: leave layout.init and init_file "
              "out, and give the rows as input.file",
    STANDING_KIND,
    .evaluate = evaluate,
    .memory = memory};

const ikt_objective_kind ikt_objective_eigenmap = {.name = "eigenmap",
                                                   .needs = IKT_NEEDS_P,
                                                   .start = IKT_INIT_SPECTRAL,
                                                   .stays_at = "eigenvectors of P",
                                                   .map_of = "the map of eigenvectors of P: leave "
                                                             "layout.init and init_file out",
                                                   STANDING_KIND,
                                                   .evaluate = evaluate_eigenmap,
                                                   .memory = memory_eigenmap};

const ikt_objective_kind ikt_objective_kpca = {.name = "kpca",
                                               .start = IKT_INIT_KPCA,
                                               .stays_at = "principal components of similarities",
                                               .map_of = similarities,
                                               STANDING_KIND,
                                               .evaluate = evaluate,
                                               .memory = memory};

const ikt_objective_kind ikt_objective_kda = {.name = "kda",
                                              .needs = IKT_NEEDS_LABELS,
                                              .start = IKT_INIT_KDA,
                                              .stays_at = "discriminants of the labels",
                                              .map_of = similarities,
                                              STANDING_KIND,
                                              .evaluate = evaluate,
                                              .memory = memory};
