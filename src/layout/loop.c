/* The loop: phase, gradient, step, trace. It knows objective and optimiser, and nothing of P. */
#include <math.h>
#include <stdio.h>

#include "base/exact_sum.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "layout/layout.h"
#include "layout/optimiser.h"

typedef struct {
    ikt_context *ctx;
    const ikt_layout_settings *settings;
    const ikt_row_map *map;
    ikt_optimiser optimiser;
    float *gradient; /* [n_local * 2] */
    ikt_trace *trace;
    double began; /* seconds */
} loop;

void ikt_trace_destroy(ikt_trace *trace) {
    ikt_free(&trace->point);
    trace->count = 0;
}

static double norm(ikt_context *ctx, const float *values, int64_t count) {
    ikt_exact_sum sum = {{0}, 0, 0};
    for (int64_t e = 0; e < count; e++)
        ikt_exact_sum_add(&sum, (double)values[e] * (double)values[e]);
    ikt_exact_sum_reduce(ctx, &sum, 1);
    return sqrt(ikt_exact_sum_value(&sum));
}

/* Gradient at `y`, and a point of the trace when `iteration` is due for one. */
static ikt_status evaluate(loop *l, ikt_objective *objective, int64_t iteration, const float *y) {
    const ikt_layout_settings *s = l->settings;
    double exaggeration = iteration < s->exaggeration_iterations ? s->exaggeration : 1;
    ikt_objective_terms terms = {iteration % s->report_every == 0 || iteration == s->iterations, 0,
                                 0};
    objective->evaluate(objective->self, exaggeration, y, l->gradient, &terms);
    if (!isfinite(terms.z) || !(terms.z > 0))
        return ikt_fail(l->ctx, IKT_ERR_DATA,
                        "positions stopped being finite at iteration %lld (Z = %g): choose a "
                        "smaller layout.learning_rate than %g (final_learning_rate: %g)",
                        (long long)iteration, terms.z, s->learning_rate, s->final_learning_rate);
    if (terms.want_value)
        l->trace->point[l->trace->count++] =
            (ikt_trace_point){iteration, terms.value, norm(l->ctx, l->gradient, 2 * l->map->count),
                              ikt_now() - l->began};
    return IKT_OK;
}

static void report(const loop *l, int64_t iteration) {
    char extra[64] = "";
    if (l->trace->count > 0)
        snprintf(extra, sizeof extra, "KL %.4f", l->trace->point[l->trace->count - 1].kl);
    ikt_progress(l->ctx, "iterations", iteration, l->settings->iterations, extra);
}

static ikt_status iterate(loop *l, ikt_objective *objective, float *y) {
    const ikt_layout_settings *s = l->settings;
    for (int64_t iteration = 0; iteration < s->iterations; iteration++) {
        IKT_TRY(evaluate(l, objective, iteration, y));
        ikt_stage_begin(l->ctx, IKT_STAGE_STEP);
        double momentum = iteration < s->momentum_switch ? s->momentum : s->final_momentum;
        bool is_first = iteration < s->exaggeration_iterations;
        double rate = is_first ? s->learning_rate : s->final_learning_rate;
        /* The learning rate is defined on a quarter of the gradient. */
        ikt_optimiser_step(l->ctx, &l->optimiser, momentum, rate / 4, l->gradient, y);
        ikt_stage_end(l->ctx, IKT_STAGE_STEP);
        report(l, iteration + 1);
    }
    return evaluate(l, objective, s->iterations, y);
}

/* Moves the mean of the map to the origin; t-SNE does not determine it. */
static void centre(ikt_context *ctx, const ikt_row_map *map, float *y) {
    ikt_exact_sum sum[2] = {{{0}, 0, 0}, {{0}, 0, 0}};
    for (int64_t e = 0; e < 2 * map->count; e++)
        ikt_exact_sum_add(&sum[e % 2], (double)y[e]);
    ikt_exact_sum_reduce(ctx, sum, 2);
    double mean[2];
    for (int c = 0; c < 2; c++)
        mean[c] = ikt_exact_sum_value(&sum[c]) / (double)map->n;
    for (int64_t e = 0; e < 2 * map->count; e++)
        y[e] = (float)((double)y[e] - mean[e % 2]);
}

ikt_status ikt_layout_run(ikt_context *ctx, const ikt_layout_settings *settings,
                          const ikt_row_map *map, ikt_objective *objective, float *y,
                          ikt_trace *trace) {
    *trace = (ikt_trace){NULL, 0};
    loop l = {.ctx = ctx, .settings = settings, .map = map, .trace = trace, .began = ikt_now()};
    int64_t points = settings->iterations / settings->report_every + 2;
    ikt_status st = ikt_optimiser_create(ctx, 2 * map->count, &l.optimiser);
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &l.gradient, 2 * map->count, sizeof *l.gradient, "layout");
    if (st == IKT_OK) st = ikt_alloc(ctx, &trace->point, points, sizeof *trace->point, "trace");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = iterate(&l, objective, y);
    if (st == IKT_OK) centre(ctx, map, y);
    ikt_optimiser_destroy(&l.optimiser);
    ikt_free(&l.gradient);
    if (st != IKT_OK) ikt_trace_destroy(trace);
    return st;
}
