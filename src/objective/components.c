/* Principal components as a map: layout.objective=pca.
 *
 * Of all linear maps with orthonormal axes principal components have the largest variance, so that
 * E = -(the variance of the map, summed over its axes) is the least with them. The start of the
 * loop, which is there already, is the minimum: no iteration is made, and no neighbours, kernel or
 * P. Advantage: seconds for millions of rows, distances far apart kept as well as any linear map
 * keeps them; what other maps are measured against. Disadvantage: clusters lie over one another. */
#include <math.h>
#include <stdio.h>

#include "base/exact_sum.h"
#include "base/memory.h"
#include "objective/objective.h"

typedef struct {
    ikt_context *ctx;
    ikt_rows rows;
    float *y, *zero; /* [n_local * q] positions, and their gradient along which nothing moves */
} state;

static ikt_status resolve(ikt_context *ctx, const ikt_objective_kind *kind, int64_t n, int q,
                          ikt_objective_options *options) {
    (void)n;
    (void)q;
    IKT_TRY(ikt_objective_refuse_trade_off(ctx, kind, options));
    if (options->repulsion != IKT_REPULSION_AUTO)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.repulsion is how the sum over all pairs is made, and "
                        "layout.objective=%s has no such sum; leave it at auto",
                        kind->name);
    return IKT_OK;
}

static ikt_status create(ikt_context *ctx, const ikt_objective_inputs *inputs, ikt_objective *out) {
    const int64_t coordinates = inputs->q * inputs->rows.count;
    state *s;
    ikt_status st = ikt_alloc(ctx, &s, 1, sizeof *s, "layout");
    if (st == IKT_OK) {
        out->self = s;
        *s = (state){.ctx = ctx, .rows = inputs->rows};
        st = ikt_alloc(ctx, &s->y, coordinates, sizeof *s->y, "layout");
        if (st == IKT_OK) st = ikt_alloc(ctx, &s->zero, coordinates, sizeof *s->zero, "layout");
        out->y = s->y;
    }
    return ikt_agree(ctx, st);
}

static void destroy(ikt_objective *objective) {
    state *s = objective->self;
    if (!s) return;
    ikt_free(&s->y);
    ikt_free(&s->zero);
    ikt_free(&s);
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

static ikt_status evaluate(ikt_objective *objective, int64_t iteration, bool want_value,
                           ikt_gradient *gradient, ikt_objective_terms *terms) {
    const state *s = objective->self;
    double value = want_value ? 0 : NAN;
    (void)iteration;
    for (int axis = 0; want_value && axis < objective->q; axis++)
        value -= variance_of(s, objective->q, axis);
    *gradient = (ikt_gradient){s->zero, s->zero, 0, 0};
    *terms = (ikt_objective_terms){.value = value};
    return IKT_OK;
}

static void describe(const ikt_objective *objective, char *text, size_t size) {
    (void)objective;
    snprintf(text, size, "principal components, at which the rows stay");
}

static int64_t memory(const ikt_objective_kind *kind, const ikt_objective_shape *shape) {
    (void)kind;
    return (int64_t)sizeof(state) + 2 * shape->q * shape->rows.count * (int64_t)sizeof(float);
}

const ikt_objective_kind ikt_objective_pca = {.name = "pca",
                                              .value_name = "cost",
                                              .is_start = true,
                                              .optimiser = &ikt_optimiser_descent,
                                              .resolve = resolve,
                                              .create = create,
                                              .destroy = destroy,
                                              .evaluate = evaluate,
                                              .describe = describe,
                                              .memory = memory};
