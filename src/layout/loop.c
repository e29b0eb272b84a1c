/* The loop: stop requests, gradient, phase, trace, step. It knows objective and optimiser by their
 * contracts, and nothing of P. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/timer.h"
#include "base/waiting.h"
#include "base/watch.h"
#include "kernelsum/replica.h"
#include "layout/layout.h"

typedef struct {
    ikt_context *ctx;
    const ikt_layout_settings *settings;
    const ikt_rows *rows;
    ikt_objective *objective;
    ikt_loop_course course;
    ikt_optimiser optimiser;
    ikt_phases phases;
    ikt_phases before; /* the last decision: the phases of a state that is saved */
    ikt_trace *trace;
    double began; /* seconds */
} loop;

void ikt_trace_destroy(ikt_trace *trace) {
    ikt_free_all(&trace->point, &trace->eigenvalue);
    trace->count = trace->eigenvalues = 0;
}

double ikt_trace_last(const ikt_trace *trace) {
    return trace->count > 0 ? trace->point[trace->count - 1].value : 0;
}

double ikt_trace_last_error(const ikt_trace *trace) {
    return trace->count > 0 ? trace->point[trace->count - 1].error : 0;
}

const char *ikt_trace_key(const ikt_trace *trace) {
    return strcmp(trace->value_name, "KL") == 0 ? "kl" : "cost";
}

/* --- stopping and going on -------------------------------------------------------------------- */

int ikt_loop_arrays(const ikt_layout_settings *settings, const ikt_rows *rows,
                    ikt_objective_array form[IKT_LOOP_ARRAYS_MOST]) {
    const ikt_objective_kind *kind = ikt_layout_objective(settings);
    const int q = (int)settings->dimensions;
    int count = 0;
    form[count++] = (ikt_objective_array){"y", IKT_PART_F32, false, q};
    for (int a = 0; a < kind->optimiser->arrays; a++)
        form[count++] =
            (ikt_objective_array){kind->optimiser->array[a].name, IKT_PART_F32, false, q};
    if (!kind->state) return count;
    const ikt_objective_shape shape = {
        .rows = *rows, .q = q, .options = ikt_layout_options(settings, 0)};
    return count + kind->state(&shape, form + count);
}

/* Bytes of such an array where a rank has n_local rows. */
static int64_t array_bytes(const ikt_objective_array *array, int64_t n_local) {
    return (array->is_shared ? 1 : n_local) * array->count *
           (int64_t)ikt_part_type_size(array->type);
}

ikt_part ikt_loop_part(const ikt_objective_array *form, const ikt_rows *rows, void *values) {
    return form->is_shared ? ikt_part_shared(form->name, form->type, form->count, values)
                           : ikt_part_rows(form->name, form->type, rows, form->count, values);
}

ikt_status ikt_loop_state_allocate(ikt_context *ctx, const ikt_rows *rows, ikt_loop_state *state) {
    for (int a = 0; a < state->arrays; a++)
        IKT_TRY(ikt_alloc(ctx, &state->array[a], array_bytes(&state->form[a], rows->count), 1,
                          "checkpoint"));
    return IKT_OK;
}

void ikt_loop_state_destroy(ikt_loop_state *state) {
    for (int a = 0; a < state->arrays; a++)
        ikt_free(&state->array[a]);
    ikt_free(&state->point);
    state->arrays = 0;
}

/* The loop as it was before `iteration` was looked at. Everything is borrowed. */
static ikt_loop_state state_at(const loop *l, int64_t iteration) {
    ikt_loop_state state = {.iteration = iteration,
                            .array = {l->objective->y},
                            .point = l->trace->point,
                            .points = l->trace->count,
                            .seconds = ikt_now() - l->began};
    const int of_optimiser = l->optimiser.kind->arrays;
    state.arrays = ikt_loop_arrays(l->settings, l->rows, state.form);
    for (int a = 1; a < state.arrays; a++)
        state.array[a] =
            a <= of_optimiser
                ? (void *)l->optimiser.array[a - 1]
                : l->objective->kind->state_array(l->objective, iteration, a - 1 - of_optimiser);
    ikt_phases_pack(&l->before, state.phase_number, state.phase_real);
    return state;
}

typedef struct {
    const ikt_loop_hooks *hooks;
    ikt_loop_state state;
} saving;

static ikt_status save(void *self) {
    const saving *s = self;
    return s->hooks->save(s->hooks->self, &s->state);
}

enum { RATE_TEXT = 160 };

/* The learning rate that is in force, and what is usual. */
static void describe_rate(const loop *l, bool is_exaggerated, double step, char text[RATE_TEXT]) {
    const ikt_layout_settings *s = l->settings;
    const int64_t n = l->rows->n;
    snprintf(text, RATE_TEXT,
             "layout.%slearning_rate = %g, which is in force (for %lld rows %.3g "
             "is usual)",
             is_exaggerated ? "" : "final_",
             (is_exaggerated ? s->learning_rate : s->final_learning_rate) * step, (long long)n,
             ikt_layout_usual_rate(s, (double)n, is_exaggerated));
}

/* SAME-ARGS. Positions or forces are of no use: what has happened, and what helps beside a shorter
 * step. */
static ikt_status refuse(const loop *l, int64_t iteration, const char *what, const char *remedy) {
    char rate[RATE_TEXT];
    describe_rate(l, l->phases.is_exaggerated, l->phases.step, rate);
    return ikt_fail(l->ctx, IKT_ERR_DATA, "at iteration %lld %s: take %sless than %s",
                    (long long)iteration, what, remedy, rate);
}

/* SAME-ARGS. Whether the forces of an evaluation are of use. */
static ikt_status check_forces(const loop *l, int64_t iteration, ikt_map_condition condition) {
    if (condition == IKT_MAP_NOT_FINITE)
        return refuse(l, iteration, "forces stopped being finite", "");
    if (condition != IKT_MAP_UNRESOLVED) return IKT_OK;
    return refuse(l, iteration, "rows lie so far apart that no force is left between them",
                  l->settings->repulsion == IKT_REPULSION_FFT ? "layout.repulsion=exact, or " : "");
}

/* COLLECTIVE. What has to be known of all ranks before an iteration, in one small reduction:
 * whether they are asked to save or to stop, which is done here, whether the program that watches
 * has asked for the map as it is, and whether all positions are finite.
 *   has_moved   a step has been taken since the start: however short the time that a run is
 *               given, a chain of them comes to its end */
static ikt_status check(const loop *l, int64_t iteration, bool has_moved, bool is_finite) {
    const ikt_layout_settings *s = l->settings;
    int64_t sum[3] = {ikt_watch_pack(l->ctx), !is_finite, ikt_watcher_wants_stop(l->ctx)};
    ikt_sum_i64(l->ctx, sum, 3);
    l->trace->is_stopped = sum[2] > 0;
    if (sum[1] > 0) return refuse(l, iteration, "positions stopped being finite", "");
    const ikt_request request = ikt_watch_unpack(l->ctx, sum[0]);
    if (!l->course.hooks || !has_moved || iteration == s->iterations) return IKT_OK;
    saving saved = {l->course.hooks, state_at(l, iteration)};
    const ikt_saver saver = {&saved, save, l->course.hooks->where, iteration};
    return ikt_watch_handle(l->ctx, request, &saver);
}

/* SAME-ARGS. Takes up where a state left off. */
static ikt_status restore(loop *l, const ikt_loop_state *from) {
    if (from->iteration > l->settings->iterations)
        return ikt_fail(l->ctx, IKT_ERR_USAGE,
                        "%lld iterations are done already, and %lld are asked for: ask for as many "
                        "(layout.iterations, --extend), or begin anew with run.resume=no, which "
                        "removes the checkpoint",
                        (long long)from->iteration, (long long)l->settings->iterations);
    const ikt_loop_state to = state_at(l, 0);
    for (int a = 0; a < to.arrays; a++)
        memcpy(to.array[a], from->array[a], (size_t)array_bytes(&to.form[a], l->rows->count));
    ikt_phases_unpack(from->phase_number, from->phase_real, &l->phases);
    for (int64_t i = 0; i < from->points; i++)
        if (from->point[i].iteration < from->iteration)
            l->trace->point[l->trace->count++] = from->point[i];
    l->began -= from->seconds;
    return IKT_OK;
}

/* --- the map ---------------------------------------------------------------------------------- */

/* Moves the mean of the map to the origin; no objective determines it. */
static void centre(ikt_context *ctx, const ikt_rows *rows, int q, float *y) {
    enum { MOST = IKT_DIMENSIONS_MOST };
    ikt_exact_sum sum[MOST] = {{{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}};
#pragma omp parallel for schedule(static) reduction(exact : sum) num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < q * rows->count; e++)
        ikt_exact_sum_add(&sum[e % q], (double)y[e]);
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
 * in proportion. */
static void keep_from_vanishing(const loop *l) {
    const double width = ikt_map_width(l->ctx, l->objective->y, l->objective->q, l->rows->count);
    if (!(width > 0) || width > 0x1p-16) return;
    int exponent;
    frexp(width, &exponent);
    centre(l->ctx, l->rows, l->objective->q, l->objective->y);
    ikt_optimiser_scale(&l->optimiser, (float)ldexp(1, -12 - exponent), l->objective->y);
}

/* --- the loop --------------------------------------------------------------------------------- */

static void add_to_trace(const loop *l, int64_t iteration, const ikt_gradient *gradient,
                         const ikt_objective_terms *terms) {
    const double norm = ikt_gradient_norm(l->ctx, gradient, l->objective->q, l->rows->count);
    const double seconds = ikt_now() - l->began, value = terms->value;
    const ikt_log_number none = {0}, error = IKT_LOG_REAL("standard_error", terms->error);
    const bool is_estimated = terms->error > 0;
    char about[64] = "";
    ikt_trace_point *point = &l->trace->point[l->trace->count++];
    *point = (ikt_trace_point){.iteration = iteration,
                               .value = value,
                               .error = terms->error,
                               .gradient_norm = norm,
                               .seconds = seconds};
    for (int64_t k = 0; k < IKT_TRACE_EIGENVALUES; k++)
        point->eigenvalue[k] = k < terms->eigenvalues ? terms->eigenvalue[k] : NAN;
    if (is_estimated) snprintf(about, sizeof about, " +- %.6f, estimated", terms->error);
    ikt_log_numbers(
        l->ctx, ikt_log_record(l->ctx),
        (ikt_log_number[]){IKT_LOG_INT("iteration", iteration),
                           IKT_LOG_REAL(ikt_trace_key(l->trace), value),
                           IKT_LOG_REAL("gradient_norm", norm), IKT_LOG_REAL("seconds", seconds),
                           is_estimated ? error : none, none},
        "iteration %lld: %s %.6f%s", (long long)iteration, l->trace->value_name, value, about);
}

enum { EIGENVALUE_TEXT = 16 };

/* What the regulariser of the objective sees of the map, on a line behind that of the trace; kept,
 * as these eigenvalues may be the last ones. */
static ikt_status note_eigenvalues(const loop *l, int64_t iteration,
                                   const ikt_objective_terms *terms) {
    char text[IKT_TRACE_EIGENVALUES * EIGENVALUE_TEXT + 8] = "", name[IKT_TRACE_EIGENVALUES]
                                                                     [EIGENVALUE_TEXT];
    ikt_log_number number[IKT_TRACE_EIGENVALUES + 4] = {
        IKT_LOG_INT("iteration", iteration), IKT_LOG_REAL("divergence", terms->divergence),
        IKT_LOG_REAL("residual", terms->residual)};
    const int64_t count = terms->eigenvalues, said = ikt_smaller(count, IKT_TRACE_EIGENVALUES);
    ikt_trace *trace = l->trace;
    size_t used = 0;
    if (count == 0) return IKT_OK;
    IKT_TRY(ikt_agree(l->ctx, ikt_reserve(l->ctx, &trace->eigenvalue, count,
                                          sizeof *trace->eigenvalue, "trace")));
    memcpy(trace->eigenvalue, terms->eigenvalue, (size_t)count * sizeof *trace->eigenvalue);
    trace->eigenvalues = count;
    trace->divergence = terms->divergence;
    for (int64_t k = 0; k < said; k++) {
        used += (size_t)snprintf(text + used, EIGENVALUE_TEXT, " %.3g", terms->eigenvalue[k]);
        snprintf(name[k], sizeof name[k], "sigma_%d", (int)(k + 2));
        number[3 + k] = IKT_LOG_REAL(name[k], terms->eigenvalue[k]);
    }
    ikt_log_numbers(l->ctx, ikt_log_record(l->ctx), number,
                    "iteration %lld: KL %.6f; eigenvalues 2 to %lld of the map's graph:%s%s",
                    (long long)iteration, terms->divergence, (long long)(count + 1), text,
                    said < count ? " ..." : "");
    return IKT_OK;
}

/* The factor on the attraction in a step: that of the first phase, then 1, then the late one. */
static double exaggeration_at(const loop *l, int64_t iteration) {
    const ikt_layout_settings *s = l->settings;
    if (l->phases.is_exaggerated) return s->exaggeration;
    return iteration >= s->final_exaggeration_from ? s->final_exaggeration : 1;
}

static double momentum_at(const ikt_layout_settings *s, int64_t iteration) {
    return iteration < s->momentum_switch ? s->momentum : s->final_momentum;
}

/* What the optimiser does in an iteration; `wanted` by the objective, of the learning rate. */
static ikt_optimiser_step step_at(const loop *l, int64_t iteration, double wanted) {
    const ikt_layout_settings *s = l->settings;
    /* The learning rate is defined on a quarter of the gradient. */
    const double rate =
        l->phases.is_exaggerated ? s->learning_rate : s->final_learning_rate * wanted;
    return (ikt_optimiser_step){.iteration = iteration,
                                .momentum = momentum_at(s, iteration),
                                .next_momentum = momentum_at(s, iteration + 1),
                                .rate = l->phases.step * rate / 4};
}

/* What was decided at an iteration that is not usual, or begins something. */
static void tell_decisions(const loop *l, int64_t iteration, double value) {
    const ikt_phases *now = &l->phases, *before = &l->before;
    char rate[RATE_TEXT];
    const long long at = (long long)iteration;
    if (before->is_exaggerated && !now->is_exaggerated)
        ikt_log(l->ctx, IKT_LOG_DETAIL, "exaggeration ends at iteration %lld", at);
    if (before->is_beginning && !now->is_beginning)
        ikt_log(l->ctx, IKT_LOG_DETAIL,
                "iteration %lld: the map of t-SNE is there, from which %s goes on", at,
                l->objective->kind->name);
    if (now->step == before->step || now->is_done) return;
    describe_rate(l, before->is_exaggerated, before->step, rate);
    ikt_log(l->ctx, IKT_LOG_WARN,
            "iteration %lld: the %s has risen from %.6g to %.6g, so steps are halved from here on: "
            "they are too long with %s",
            at, before->is_beginning ? "KL divergence" : l->trace->value_name, before->kl, value,
            rate);
}

static ikt_status iterate(loop *l, int64_t first) {
    const ikt_layout_settings *s = l->settings;
    ikt_objective *objective = l->objective;
    const int64_t every = l->course.report ? ikt_watcher_every(l->ctx) : 0;
    bool is_finite = true;
    char value[64] = ""; /* the last one, for who watches */
    for (int64_t iteration = first;; iteration++) {
        ikt_gradient gradient;
        ikt_objective_terms terms;
        l->before = l->phases;
        IKT_TRY(check(l, iteration, iteration > first, is_finite));
        const bool is_watched = every > 0 && iteration % every == 0;
        const bool is_reported =
            iteration % s->report_every == 0 || iteration == s->iterations || l->trace->is_stopped;
        const bool want_value =
            is_reported || is_watched || ikt_phases_want_value(&l->phases, iteration);
        objective->is_exaggerated =
            l->phases.is_exaggerated && iteration < s->exaggeration_iterations;
        objective->is_beginning = l->phases.is_beginning && iteration < s->tsne_iterations;
        IKT_TRY(objective->kind->evaluate(objective, iteration, want_value, &gradient, &terms));
        IKT_TRY(check_forces(l, iteration, terms.condition));
        ikt_phases_decide(&l->phases, iteration, terms.value);
        if (l->trace->is_stopped) ikt_phases_stop(&l->phases, iteration);
        gradient.attraction_scale *= (float)exaggeration_at(l, iteration);
        tell_decisions(l, iteration, terms.value);
        if (is_reported || l->phases.is_done) {
            add_to_trace(l, iteration, &gradient, &terms);
            IKT_TRY(note_eigenvalues(l, iteration, &terms));
        }
        if (is_watched) IKT_TRY(l->course.report(l->course.reporter, iteration, terms.value));
        if (l->phases.is_done) break;

        /* Gains that suit t-SNE are too large for another objective. */
        if (l->before.is_beginning && !l->phases.is_beginning) ikt_optimiser_begin(&l->optimiser);
        const ikt_optimiser_step step = step_at(l, iteration, terms.step > 0 ? terms.step : 1);
        ikt_stage_begin(l->ctx, IKT_STAGE_STEP);
        const uint8_t *moves = l->course.batch ? ikt_batch_draw(l->course.batch, iteration) : NULL;
        is_finite = ikt_optimiser_take_step(l->ctx, &l->optimiser, &step, &gradient, objective->q,
                                            moves, objective->y);
        ikt_stage_end(l->ctx, IKT_STAGE_STEP);
        if (terms.condition == IKT_MAP_POINT) keep_from_vanishing(l);
        if (l->trace->count > 0)
            snprintf(value, sizeof value, "%s %.4f", l->trace->value_name,
                     ikt_trace_last(l->trace));
        ikt_progress(l->ctx, "iterations", iteration + 1, s->iterations, value);
        ikt_waiting_adapt(l->ctx);
    }
    l->trace->exaggeration_end = l->phases.exaggeration_end;
    l->trace->end = l->phases.end;
    l->trace->has_converged = !l->trace->is_stopped && l->phases.end < s->iterations;
    if (l->phases.end < s->iterations)
        ikt_progress(l->ctx, "iterations", l->phases.end, l->phases.end, "");
    return IKT_OK;
}

/* LOCAL. Memory for the optimiser, the trace and, where it is wanted, the last state, which
 * receives the arrays of the optimiser as they are, and copies of the others. */
static ikt_status allocate(loop *l) {
    const ikt_optimiser_kind *optimiser = l->objective->kind->optimiser;
    const int64_t coordinates = l->objective->q * l->rows->count;
    const int64_t earlier = l->course.from ? l->course.from->points : 0;
    const int64_t points = l->settings->iterations / l->settings->report_every + 2 + earlier;
    ikt_loop_state *last = l->course.last;
    IKT_TRY(ikt_optimiser_create(l->ctx, optimiser, coordinates, &l->optimiser));
    if (last) {
        *last = (ikt_loop_state){0};
        last->arrays = ikt_loop_arrays(l->settings, l->rows, last->form);
    }
    for (int a = 0; last && a < last->arrays; a++)
        if (a == 0 || a > optimiser->arrays)
            IKT_TRY(ikt_alloc(l->ctx, &last->array[a], array_bytes(&last->form[a], l->rows->count),
                              1, "layout"));
    return ikt_alloc(l->ctx, &l->trace->point, points, sizeof *l->trace->point, "trace");
}

/* Hands the loop's last state over; the trace itself has the points. */
static void give_state(loop *l, ikt_loop_state *out) {
    ikt_loop_state last = state_at(l, l->trace->end);
    for (int a = 0; a < last.arrays; a++) {
        if (a > 0 && a <= l->optimiser.kind->arrays) {
            l->optimiser.array[a - 1] = NULL;
        } else {
            memcpy(out->array[a], last.array[a],
                   (size_t)array_bytes(&last.form[a], l->rows->count));
            last.array[a] = out->array[a];
        }
    }
    last.point = NULL;
    last.points = 0;
    *out = last;
}

ikt_status ikt_layout_run(ikt_context *ctx, const ikt_layout_settings *settings,
                          const ikt_rows *rows, ikt_objective *objective,
                          const ikt_loop_course *course, float *y, ikt_trace *trace) {
    const size_t bytes = (size_t)(rows->count * objective->q) * sizeof *y;
    *trace = (ikt_trace){.value_name = objective->kind->value_name};
    loop l = {.ctx = ctx,
              .settings = settings,
              .rows = rows,
              .objective = objective,
              .course = course ? *course : (ikt_loop_course){0},
              .phases = ikt_phases_begin(settings, objective->is_estimated),
              .trace = trace,
              .began = ikt_now()};
    const ikt_loop_state *from = l.course.from;
    l.phases.is_extended = l.course.is_extended;
    ikt_status st = ikt_agree(ctx, allocate(&l));
    if (st == IKT_OK && from)
        st = restore(&l, from);
    else if (st == IKT_OK)
        memcpy(objective->y, y, bytes);
    if (st == IKT_OK) st = iterate(&l, from ? from->iteration : 0);
    if (st == IKT_OK && l.course.last) give_state(&l, l.course.last);
    if (st == IKT_OK) {
        memcpy(y, objective->y, bytes);
        centre(ctx, rows, objective->q, y);
    }
    ikt_optimiser_destroy(&l.optimiser);
    if (st != IKT_OK) {
        if (l.course.last) ikt_loop_state_destroy(l.course.last);
        ikt_trace_destroy(trace);
    }
    return st;
}
