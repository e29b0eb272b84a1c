/* The loop's state as parts, and in results. See checkpoint.h. */
#include <string.h>

#include "base/build.h"
#include "base/encoding.h"
#include "base/log.h"
#include "base/memory.h"
#include "checkpoint/checkpoint.h"
#include "io/results/result.h"

/* Whether the objective has a regulariser that sees eigenvalues: it keeps their vectors. */
static bool has_spectrum(const ikt_loop_state *state) {
    bool has = false;
    for (int a = 0; a < state->arrays; a++)
        has |= strcmp(state->form[a].name, "eigenvectors") == 0;
    return has;
}

/* LOCAL. The table of the parts: heads, the trace, the arrays of the loop. */
static void name_parts(const ikt_rows *rows, const ikt_loop_state *state, ikt_loop_parts *p) {
    const int64_t points = state->points;
    ikt_part *part = p->part;
    *part++ = ikt_part_shared("numbers", IKT_PART_I64, IKT_NUMBERS(p->number), &p->number);
    *part++ = ikt_part_shared("reals", IKT_PART_F64, IKT_NUMBERS(p->real), &p->real);
    *part++ = ikt_part_shared("trace_iteration", IKT_PART_I64, points, p->trace.iteration);
    *part++ = ikt_part_shared("trace_value", IKT_PART_F64, points, p->trace.value);
    *part++ = ikt_part_shared("trace_value_error", IKT_PART_F64, points, p->trace.error);
    *part++ = ikt_part_shared("trace_gradient_norm", IKT_PART_F64, points, p->trace.norm);
    *part++ = ikt_part_shared("trace_seconds", IKT_PART_F64, points, p->trace.seconds);
    if (has_spectrum(state))
        *part++ = ikt_part_shared("trace_eigenvalues", IKT_PART_F64, points * IKT_TRACE_EIGENVALUES,
                                  p->trace.eigenvalue);
    for (int a = 0; a < state->arrays; a++)
        *part++ = ikt_loop_part(&state->form[a], rows, state->array[a]);
    p->count = part - p->part;
}

/* --- the trace -------------------------------------------------------------------------------- */

static ikt_status make_columns(ikt_context *ctx, int64_t count, ikt_trace_columns *c) {
    *c = (ikt_trace_columns){.held = ikt_arrays_of(ctx, "trace")};
    c->iteration = ikt_claim(&c->held, count, sizeof *c->iteration);
    c->value = ikt_claim(&c->held, count, sizeof *c->value);
    c->error = ikt_claim(&c->held, count, sizeof *c->error);
    c->norm = ikt_claim(&c->held, count, sizeof *c->norm);
    c->eigenvalue = ikt_claim(&c->held, count * IKT_TRACE_EIGENVALUES, sizeof *c->eigenvalue);
    c->seconds = ikt_claim(&c->held, count, sizeof *c->seconds);
    return c->held.status;
}

ikt_status ikt_trace_columns_make(ikt_context *ctx, const ikt_trace_point *point, int64_t count,
                                  ikt_trace_columns *out) {
    IKT_TRY(make_columns(ctx, count, out));
    for (int64_t i = 0; i < count; i++) {
        out->iteration[i] = point[i].iteration;
        out->value[i] = point[i].value;
        out->error[i] = point[i].error;
        out->norm[i] = point[i].gradient_norm;
        out->seconds[i] = point[i].seconds;
        memcpy(out->eigenvalue + i * IKT_TRACE_EIGENVALUES, point[i].eigenvalue,
               sizeof point[i].eigenvalue);
    }
    return IKT_OK;
}

void ikt_trace_columns_destroy(ikt_trace_columns *columns) {
    ikt_arrays_free(&columns->held);
}

/* --- states ----------------------------------------------------------------------------------- */

void ikt_loop_parts_destroy(ikt_loop_parts *p) {
    ikt_trace_columns_destroy(&p->trace);
}

ikt_status ikt_loop_parts_make(ikt_context *ctx, const ikt_rows *rows, const ikt_loop_state *state,
                               ikt_loop_parts *out) {
    *out = (ikt_loop_parts){.number = {state->iteration, state->points, {0}},
                            .real = {state->seconds, {0}}};
    memcpy(out->number.phase, state->phase_number, sizeof state->phase_number);
    memcpy(out->real.phase, state->phase_real, sizeof state->phase_real);
    IKT_TRY(ikt_trace_columns_make(ctx, state->point, state->points, &out->trace));
    name_parts(rows, state, out);
    return IKT_OK;
}

/* LOCAL. Room for what the heads say that there is. */
static ikt_status make_room(ikt_context *ctx, const ikt_rows *rows, ikt_loop_parts *p,
                            ikt_loop_state *state) {
    state->iteration = p->number.iteration;
    state->points = p->number.points;
    state->seconds = p->real.seconds;
    memcpy(state->phase_number, p->number.phase, sizeof state->phase_number);
    memcpy(state->phase_real, p->real.phase, sizeof state->phase_real);
    if (state->iteration < 0 || state->points < 0 || state->points > state->iteration + 1)
        return ikt_fail(ctx, IKT_ERR_DATA, "the state of the loop makes no sense");
    IKT_TRY(make_columns(ctx, state->points, &p->trace));
    IKT_TRY(ikt_alloc(ctx, &state->point, state->points, sizeof *state->point, "checkpoint"));
    return ikt_loop_state_allocate(ctx, rows, state);
}

ikt_status ikt_loop_parts_read(ikt_context *ctx, const ikt_rows *rows,
                               const ikt_layout_settings *settings,
                               ikt_status (*read)(void *file, const ikt_part *parts, int64_t count),
                               void *file, ikt_loop_state *out) {
    ikt_loop_parts p IKT_AT_END(ikt_loop_parts_destroy) = {.trace = {.iteration = NULL}};
    ikt_loop_state state IKT_AT_END(ikt_loop_state_destroy) = {0};
    *out = (ikt_loop_state){0};
    name_parts(rows, &state, &p);
    IKT_TRY(read(file, p.part, IKT_LOOP_HEADS));
    state.arrays = ikt_loop_arrays(settings, rows, state.form);
    IKT_TRY(ikt_agree(ctx, make_room(ctx, rows, &p, &state)));
    name_parts(rows, &state, &p);
    IKT_TRY(read(file, p.part + IKT_LOOP_HEADS, p.count - IKT_LOOP_HEADS));
    for (int64_t i = 0; i < state.points; i++) {
        state.point[i] = (ikt_trace_point){.iteration = p.trace.iteration[i],
                                           .value = p.trace.value[i],
                                           .error = p.trace.error[i],
                                           .gradient_norm = p.trace.norm[i],
                                           .seconds = p.trace.seconds[i]};
        memcpy(state.point[i].eigenvalue, p.trace.eigenvalue + i * IKT_TRACE_EIGENVALUES,
               sizeof state.point[i].eigenvalue);
    }
    return ikt_give(out, state);
}

/* --- finished runs ---------------------------------------------------------------------------- */

ikt_status ikt_finished_parts(ikt_context *ctx, const ikt_rows *rows, const ikt_loop_state *last,
                              const ikt_trace *trace, ikt_loop_parts *out) {
    ikt_loop_state state = *last;
    state.point = trace->point;
    state.seconds = 0;
    while (state.points < trace->count && trace->point[state.points].iteration < state.iteration)
        state.points++;
    IKT_TRY(ikt_loop_parts_make(ctx, rows, &state, out));
    memset(out->trace.seconds, 0, (size_t)state.points * sizeof *out->trace.seconds);
    return IKT_OK;
}

static ikt_status read_parts(void *file, const ikt_part *parts, int64_t count) {
    return ikt_result_read_state(file, parts, count);
}

/* Whether the state in a result is of such a run.
 *   own   what it has to agree with; no input: that of the file will do */
static ikt_status check_state(ikt_context *ctx, const ikt_settings *settings, int64_t n,
                              const ikt_stage_head *own, ikt_result_file *file) {
    const char *path = settings->output.file;
    ikt_stage_head head, wanted = *own;
    if (ikt_result_rows(file) != n || ikt_result_dimensions(file) != settings->layout.dimensions)
        return ikt_fail(ctx, IKT_ERR_USAGE, "%s is of other data, or in other dimensions", path);
    IKT_TRY(ikt_result_state_head(file, &head));
    if (!wanted.input) wanted.input = head.input;
    wanted.build = head.build;
    wanted.isa = head.isa;
    IKT_TRY(ikt_checkpoint_compare(ctx, &wanted, &head, path));
    if (!ikt_build_is_same(head.build, own->build) || strcmp(head.isa, own->isa) != 0)
        ikt_log(ctx, IKT_LOG_WARN,
                "%s was made by another build of iktsne or with another instruction set (%s; %s): "
                "the embedding will not have the bits of one longer run",
                path, ikt_text_or(head.build, "a build that was not noted"),
                ikt_text_or(head.isa, "not noted"));
    return IKT_OK;
}

ikt_status ikt_finished_check(ikt_context *ctx, const ikt_settings *settings, int64_t n) {
    ikt_result_file *file IKT_AT_END(ikt_result_close) = NULL;
    char *print IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_fingerprint_settings(ctx, settings, &print)));
    const ikt_stage_head own = ikt_checkpoint_head("loop", NULL, print);
    IKT_TRY(ikt_result_open(ctx, settings->output.file, &file));
    return check_state(ctx, settings, n, &own, file);
}

ikt_status ikt_finished_read(ikt_context *ctx, const ikt_settings *settings, const ikt_rows *rows,
                             const ikt_stage_head *own, ikt_loop_state *out) {
    ikt_result_file *file IKT_AT_END(ikt_result_close) = NULL;
    *out = (ikt_loop_state){0};
    IKT_TRY(ikt_result_open(ctx, settings->output.file, &file));
    IKT_TRY(check_state(ctx, settings, rows->n, own, file));
    return ikt_loop_parts_read(ctx, rows, &settings->layout, read_parts, file, out);
}
