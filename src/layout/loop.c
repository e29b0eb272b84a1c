/* The loop: gradient, phase, trace, step. It knows objective and optimiser, and nothing of P. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/exact_sum.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "base/watch.h"
#include "kernelsum/replica.h"
#include "layout/layout.h"
#include "layout/optimiser.h"
#include "layout/phases.h"

typedef struct {
    ikt_context *ctx;
    const ikt_layout_settings *settings;
    const ikt_rows *rows;
    ikt_objective *objective;
    ikt_loop_course course;
    ikt_optimiser optimiser;
    ikt_phases phases;
    ikt_gradient gradient;
    ikt_phases before; /* the last decision */
    ikt_trace *trace;
    double began; /* seconds */
} loop;

void ikt_trace_destroy(ikt_trace *trace) {
    ikt_free(&trace->point);
    trace->count = 0;
}

double ikt_trace_last(const ikt_trace *trace) {
    return trace->count > 0 ? trace->point[trace->count - 1].value : 0;
}

const char *ikt_trace_key(const ikt_trace *trace) {
    return strcmp(trace->value_name, "KL") == 0 ? "kl" : "cost";
}

static bool is_reported(const loop *l, int64_t iteration) {
    return iteration % l->settings->report_every == 0 || iteration == l->settings->iterations;
}

/* Z is a sum of positive terms; where it is not above 0, they are less than a grid errs by. */
static ikt_status check_sum(const loop *l, int64_t iteration, double z) {
    const ikt_layout_settings *s = l->settings;
    if (isfinite(z) && z > 0) return IKT_OK;
    if (isfinite(z))
        return ikt_fail(l->ctx, IKT_ERR_DATA,
                        "at iteration %lld the rows are so few or lie so far apart that all forces "
                        "between them are below the accuracy of the grid (Z = %g): use "
                        "layout.repulsion=exact, or a smaller layout.learning_rate than %g",
                        (long long)iteration, z, s->learning_rate);
    return ikt_fail(l->ctx, IKT_ERR_DATA,
                    "positions stopped being finite at iteration %lld (Z = %g): choose a "
                    "smaller layout.learning_rate than %g (final_learning_rate: %g)",
                    (long long)iteration, z, s->learning_rate, s->final_learning_rate);
}

/* Gradient, exaggerated where the phase is, and what is known about it. */
static ikt_status evaluate(loop *l, int64_t iteration, ikt_objective_terms *terms) {
    const ikt_layout_settings *s = l->settings;
    terms->want_value = is_reported(l, iteration) || ikt_phases_want_value(&l->phases, iteration);
    l->objective->evaluate(l->objective->self, &l->gradient, terms);
    IKT_TRY(check_sum(l, iteration, terms->z));
    bool was_exaggerated = l->phases.is_exaggerated;
    ikt_phases_decide(&l->phases, iteration, terms->value);
    if (l->phases.is_exaggerated)
        l->gradient.pull *= (float)s->exaggeration;
    else if (was_exaggerated)
        ikt_log(l->ctx, IKT_LOG_DETAIL, "exaggeration ends at iteration %lld",
                (long long)iteration);
    return IKT_OK;
}

static void add_to_trace(loop *l, int64_t iteration, double value) {
    const double norm = ikt_gradient_norm(l->ctx, &l->gradient, l->objective->q, l->rows->count);
    const double seconds = ikt_now() - l->began;
    l->trace->point[l->trace->count++] = (ikt_trace_point){iteration, value, norm, seconds};
    ikt_log_numbers(l->ctx, ikt_log_record(l->ctx),
                    (ikt_log_number[]){IKT_LOG_INT("iteration", iteration),
                                       IKT_LOG_REAL(ikt_trace_key(l->trace), value),
                                       IKT_LOG_REAL("gradient_norm", norm),
                                       IKT_LOG_REAL("seconds", seconds),
                                       {0}},
                    "iteration %lld: %s %.6f", (long long)iteration, l->trace->value_name, value);
}

static void step(loop *l, int64_t iteration) {
    const ikt_layout_settings *s = l->settings;
    ikt_stage_begin(l->ctx, IKT_STAGE_STEP);
    double momentum = iteration < s->momentum_switch ? s->momentum : s->final_momentum;
    double rate = l->phases.is_exaggerated ? s->learning_rate : s->final_learning_rate;
    /* The learning rate is defined on a quarter of the gradient. */
    ikt_optimiser_step(l->ctx, &l->optimiser, momentum, rate / 4, &l->gradient, l->objective->y);
    ikt_stage_end(l->ctx, IKT_STAGE_STEP);
}

static void report(const loop *l, int64_t iteration) {
    char extra[64] = "";
    if (l->trace->count > 0)
        snprintf(extra, sizeof extra, "%s %.4f", l->trace->value_name, ikt_trace_last(l->trace));
    ikt_progress(l->ctx, "iterations", iteration, l->settings->iterations, extra);
}

/* Moves the mean of the map to the origin; no objective determines it. */
static void centre(ikt_context *ctx, const ikt_rows *rows, int q, float *y) {
    enum { MOST = IKT_DIMENSIONS_MOST };
    ikt_exact_sum sum[MOST] = {{{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}};
#pragma omp parallel num_threads(ikt_threads(ctx))
    {
        ikt_exact_sum mine[MOST] = {{{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}};
#pragma omp for schedule(static) nowait
        for (int64_t e = 0; e < q * rows->count; e++)
            ikt_exact_sum_add(&mine[e % q], (double)y[e]);
#pragma omp critical(ikt_centre)
        for (int c = 0; c < q; c++)
            ikt_exact_sum_merge(&sum[c], &mine[c]);
    }
    ikt_exact_sum_reduce(ctx, sum, q);
    double mean[MOST];
    for (int c = 0; c < q; c++)
        mean[c] = ikt_exact_sum_value(&sum[c]) / (double)rows->n;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < q * rows->count; e++)
        y[e] = (float)((double)y[e] - mean[e % q]);
}

/* COLLECTIVE. A map may contract without end where exaggerated attraction is all there is: with
 * similarities that are nearly alike. Far below the width of the kernel forces are linear in the
 * differences of positions, so that place and size of the map change nothing but themselves; but
 * floats have 24 bits and end at 1e-38, and rows that have met never part. So a map that has all
 * but vanished is centred and brought back to the size of a start by a power of two, with the steps
 * in proportion.
 *   z   of before the last step: of n (n - 1) terms that are all 1 where the map is tiny. Maps that
 *       are not cost nothing here */
static void keep_from_vanishing(loop *l, double z) {
    const double pairs = (double)l->rows->n * (double)(l->rows->n - 1);
    if (z < 0.999 * pairs) return;
    const double width = ikt_layout_width(l->ctx, l->objective->y, l->objective->q, l->rows->count);
    if (!(width > 0) || width > 0x1p-16) return;
    int exponent;
    frexp(width, &exponent);
    centre(l->ctx, l->rows, l->objective->q, l->objective->y);
    ikt_optimiser_scale(&l->optimiser, (float)ldexp(1, -12 - exponent), l->objective->y);
}

/* --- stopping and going on ---------------------------------------------------------------------
 */

void ikt_loop_state_destroy(ikt_loop_state *state) {
    ikt_free(&state->y);
    ikt_free(&state->velocity);
    ikt_free(&state->gain);
    ikt_free(&state->point);
}

/* The loop as it was before `iteration` was looked at. Everything is lent. */
static ikt_loop_state state_at(const loop *l, int64_t iteration) {
    ikt_loop_state state = {.iteration = iteration,
                            .y = l->objective->y,
                            .velocity = l->optimiser.velocity,
                            .gain = l->optimiser.gain,
                            .point = l->trace->point,
                            .points = l->trace->count,
                            .seconds = ikt_now() - l->began};
    ikt_phases_pack(&l->before, state.phase_number, state.phase_real);
    return state;
}

typedef struct {
    const ikt_loop_hooks *keeper;
    ikt_loop_state state;
} saving;

static ikt_status save(void *self) {
    const saving *s = self;
    return s->keeper->save(s->keeper->self, &s->state);
}

/* COLLECTIVE. Saves and stops where the ranks were asked for it, which Z's sum has told. */
static ikt_status obey(const loop *l, int64_t iteration) {
    const ikt_loop_hooks *keeper = l->course.keeper;
    const ikt_request wish = ikt_watch_poll(l->ctx);
    if (!keeper || wish == IKT_REQUEST_NONE) return IKT_OK;
    saving s = {keeper, state_at(l, iteration)};
    const ikt_saver saver = {&s, save, keeper->where};
    return ikt_watch_handle(l->ctx, wish, &saver);
}

/* SAME-ARGS. Takes up where a state left off. */
static ikt_status restore(loop *l, const ikt_loop_state *from) {
    const size_t bytes = (size_t)l->optimiser.coordinates * sizeof(float);
    if (from->iteration > l->settings->iterations)
        return ikt_fail(l->ctx, IKT_ERR_USAGE,
                        "%lld iterations are done already; layout.iterations = %lld asks for fewer",
                        (long long)from->iteration, (long long)l->settings->iterations);
    memcpy(l->objective->y, from->y, bytes);
    memcpy(l->optimiser.velocity, from->velocity, bytes);
    memcpy(l->optimiser.gain, from->gain, bytes);
    ikt_phases_unpack(from->phase_number, from->phase_real, &l->phases);
    for (int64_t i = 0; i < from->points; i++)
        if (from->point[i].iteration < from->iteration)
            l->trace->point[l->trace->count++] = from->point[i];
    l->began -= from->seconds;
    return IKT_OK;
}

/* Hands the loop's last state over. */
static void give_state(loop *l, int64_t iteration, float *y, ikt_loop_state *out) {
    *out = state_at(l, iteration);
    memcpy(y, out->y, (size_t)l->optimiser.coordinates * sizeof *y);
    out->y = y;
    out->point = NULL; /* the trace itself has them */
    out->points = 0;
    l->optimiser.velocity = l->optimiser.gain = NULL;
}

/* --- the loop ----------------------------------------------------------------------------------
 */

static ikt_status iterate(loop *l, int64_t first) {
    for (int64_t iteration = first; !l->phases.is_done; iteration++) {
        ikt_objective_terms terms;
        l->before = l->phases;
        IKT_TRY(evaluate(l, iteration, &terms));
        /* Every start does at least one step: however short its time, a chain of them ends. */
        if (!l->phases.is_done && iteration > first) IKT_TRY(obey(l, iteration));
        if (is_reported(l, iteration) || l->phases.is_done) add_to_trace(l, iteration, terms.value);
        if (l->phases.is_done) break;
        step(l, iteration);
        keep_from_vanishing(l, terms.z);
        report(l, iteration + 1);
    }
    l->trace->exaggeration_end = l->phases.exaggeration_end;
    l->trace->end = l->phases.end;
    l->trace->is_settled = l->phases.end < l->settings->iterations;
    if (l->trace->is_settled) ikt_progress(l->ctx, "iterations", l->phases.end, l->phases.end, "");
    return IKT_OK;
}

/* Room for the optimiser, the trace and, where it is wanted, the last state. */
static ikt_status make_room(loop *l, float **last_y) {
    const int64_t coordinates = l->objective->q * l->rows->count;
    const int64_t earlier = l->course.from ? l->course.from->points : 0;
    const int64_t points = l->settings->iterations / l->settings->report_every + 2 + earlier;
    IKT_TRY(ikt_optimiser_create(l->ctx, coordinates, &l->optimiser));
    if (l->course.last) IKT_TRY(ikt_alloc(l->ctx, last_y, coordinates, sizeof **last_y, "layout"));
    return ikt_alloc(l->ctx, &l->trace->point, points, sizeof *l->trace->point, "trace");
}

ikt_status ikt_layout_run(ikt_context *ctx, const ikt_layout_settings *settings,
                          const ikt_rows *rows, ikt_objective *objective,
                          const ikt_loop_course *course, float *y, ikt_trace *trace) {
    const int q = objective->q;
    const size_t bytes = (size_t)(rows->count * q) * sizeof *y;
    float *last_y = NULL;
    *trace = (ikt_trace){.value_name = objective->value_name};
    loop l = {.ctx = ctx,
              .settings = settings,
              .rows = rows,
              .objective = objective,
              .course = course ? *course : (ikt_loop_course){0},
              .phases = ikt_phases_begin(settings),
              .trace = trace,
              .began = ikt_now()};
    const ikt_loop_state *from = l.course.from;
    l.phases.is_extended = l.course.is_extended;
    ikt_status st = ikt_agree(ctx, make_room(&l, &last_y));
    if (st == IKT_OK && from)
        st = restore(&l, from);
    else if (st == IKT_OK)
        memcpy(objective->y, y, bytes);
    if (st == IKT_OK) st = iterate(&l, from ? from->iteration : 0);
    if (st == IKT_OK && l.course.last) {
        give_state(&l, trace->end, last_y, l.course.last);
        last_y = NULL;
    }
    if (st == IKT_OK) {
        memcpy(y, objective->y, bytes);
        centre(ctx, rows, q, y);
    }
    ikt_free(&last_y);
    ikt_optimiser_destroy(&l.optimiser);
    if (st != IKT_OK) ikt_trace_destroy(trace);
    return st;
}
