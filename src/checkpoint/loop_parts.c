/* The loop's state as parts. See loop_parts.h. */
#include "checkpoint/loop_parts.h"

#include <string.h>

#include "base/memory.h"

static const char purpose[] = "checkpoint";

/* LOCAL. The table of the parts: heads, the trace, the arrays of the loop. */
static void name_parts(const ikt_rows *rows, const ikt_loop_state *state, ikt_loop_parts *p) {
    const int64_t points = state->points;
    ikt_part *part = p->part;
    *part++ = ikt_part_shared("numbers", IKT_PART_I64, IKT_LOOP_NUMBERS, p->number);
    *part++ = ikt_part_shared("reals", IKT_PART_F64, IKT_LOOP_REALS, p->real);
    *part++ = ikt_part_shared("trace_iteration", IKT_PART_I64, points, p->trace.iteration);
    *part++ = ikt_part_shared("trace_value", IKT_PART_F64, points, p->trace.value);
    *part++ = ikt_part_shared("trace_gradient_norm", IKT_PART_F64, points, p->trace.norm);
    *part++ = ikt_part_shared("trace_seconds", IKT_PART_F64, points, p->trace.seconds);
    for (int a = 0; a < state->arrays; a++) {
        const ikt_objective_array *form = &state->form[a];
        *part++ = form->is_shared
                      ? ikt_part_shared(form->name, form->type, form->count, state->array[a])
                      : ikt_part_rows(form->name, form->type, rows, form->count, state->array[a]);
    }
    p->count = part - p->part;
}

/* --- the trace ---------------------------------------------------------------------------------
 */

static ikt_status make_columns(ikt_context *ctx, int64_t count, ikt_trace_columns *c) {
    IKT_TRY(ikt_alloc(ctx, &c->iteration, count, sizeof *c->iteration, "trace"));
    IKT_TRY(ikt_alloc(ctx, &c->value, count, sizeof *c->value, "trace"));
    IKT_TRY(ikt_alloc(ctx, &c->norm, count, sizeof *c->norm, "trace"));
    return ikt_alloc(ctx, &c->seconds, count, sizeof *c->seconds, "trace");
}

ikt_status ikt_trace_columns_make(ikt_context *ctx, const ikt_trace_point *point, int64_t count,
                                  ikt_trace_columns *out) {
    *out = (ikt_trace_columns){NULL, NULL, NULL, NULL};
    IKT_TRY(make_columns(ctx, count, out));
    for (int64_t i = 0; i < count; i++) {
        out->iteration[i] = point[i].iteration;
        out->value[i] = point[i].value;
        out->norm[i] = point[i].gradient_norm;
        out->seconds[i] = point[i].seconds;
    }
    return IKT_OK;
}

void ikt_trace_columns_destroy(ikt_trace_columns *columns) {
    ikt_free(&columns->iteration);
    ikt_free(&columns->value);
    ikt_free(&columns->norm);
    ikt_free(&columns->seconds);
}

/* --- states ------------------------------------------------------------------------------------
 */

void ikt_loop_parts_destroy(ikt_loop_parts *p) {
    ikt_trace_columns_destroy(&p->trace);
}

ikt_status ikt_loop_parts_make(ikt_context *ctx, const ikt_rows *rows, const ikt_loop_state *state,
                               ikt_loop_parts *out) {
    *out = (ikt_loop_parts){.number = {state->iteration, state->points}, .real = {state->seconds}};
    memcpy(out->number + 2, state->phase_number, sizeof state->phase_number);
    memcpy(out->real + 1, state->phase_real, sizeof state->phase_real);
    IKT_TRY(ikt_trace_columns_make(ctx, state->point, state->points, &out->trace));
    name_parts(rows, state, out);
    return IKT_OK;
}

/* LOCAL. Room for a state whose heads have been read. */
static ikt_status make_state(ikt_context *ctx, const ikt_rows *rows, ikt_loop_parts *p,
                             ikt_loop_state *state) {
    state->iteration = p->number[0];
    state->points = p->number[1];
    state->seconds = p->real[0];
    memcpy(state->phase_number, p->number + 2, sizeof state->phase_number);
    memcpy(state->phase_real, p->real + 1, sizeof state->phase_real);
    if (state->iteration < 0 || state->points < 0 || state->points > state->iteration + 1)
        return ikt_fail(ctx, IKT_ERR_DATA, "the state of the loop makes no sense");
    IKT_TRY(make_columns(ctx, state->points, &p->trace));
    IKT_TRY(ikt_alloc(ctx, &state->point, state->points, sizeof *state->point, purpose));
    return ikt_loop_state_allocate(ctx, rows, state);
}

static void join_columns(const ikt_loop_parts *p, ikt_loop_state *state) {
    for (int64_t i = 0; i < state->points; i++)
        state->point[i] = (ikt_trace_point){p->trace.iteration[i], p->trace.value[i],
                                            p->trace.norm[i], p->trace.seconds[i]};
}

ikt_status ikt_loop_parts_read(ikt_context *ctx, const ikt_rows *rows,
                               const ikt_layout_settings *settings,
                               ikt_status (*read)(void *file, const ikt_part *parts, int64_t count),
                               void *file, ikt_loop_state *out) {
    ikt_loop_parts p = {.trace = {NULL, NULL, NULL, NULL}};
    *out = (ikt_loop_state){0};
    name_parts(rows, out, &p);
    ikt_status st = read(file, p.part, IKT_LOOP_HEADS);
    out->arrays = ikt_loop_arrays(settings, rows, out->form);
    if (st == IKT_OK) st = ikt_agree(ctx, make_state(ctx, rows, &p, out));
    if (st == IKT_OK) {
        name_parts(rows, out, &p);
        st = read(file, p.part + IKT_LOOP_HEADS, p.count - IKT_LOOP_HEADS);
    }
    if (st == IKT_OK) join_columns(&p, out);
    ikt_loop_parts_destroy(&p);
    if (st != IKT_OK) ikt_loop_state_destroy(out);
    return st;
}
