/* The loop's state as parts, and in results. See loop_parts.h. */
#include "checkpoint/loop_parts.h"

#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "checkpoint/fingerprint.h"
#include "io/results/result.h"

/* Whether the objective has a regulariser that sees eigenvalues: it keeps their vectors. */
static bool has_spectrum(const ikt_loop_state *state) {
    bool has = false;
    for (int a = 0; a < state->arrays; a++)
        has = has || strcmp(state->form[a].name, "eigenvectors") == 0;
    return has;
}

/* LOCAL. The table of the parts: heads, the trace, the arrays of the loop. */
static void name_parts(const ikt_rows *rows, const ikt_loop_state *state, ikt_loop_parts *p) {
    const int64_t points = state->points;
    ikt_part *part = p->part;
    *part++ = ikt_part_shared("numbers", IKT_PART_I64, IKT_LOOP_NUMBERS, p->number);
    *part++ = ikt_part_shared("reals", IKT_PART_F64, IKT_LOOP_REALS, p->real);
    *part++ = ikt_part_shared("trace_iteration", IKT_PART_I64, points, p->trace.iteration);
    *part++ = ikt_part_shared("trace_value", IKT_PART_F64, points, p->trace.value);
    *part++ = ikt_part_shared("trace_value_error", IKT_PART_F64, points, p->trace.error);
    *part++ = ikt_part_shared("trace_gradient_norm", IKT_PART_F64, points, p->trace.norm);
    *part++ = ikt_part_shared("trace_seconds", IKT_PART_F64, points, p->trace.seconds);
    if (has_spectrum(state))
        *part++ = ikt_part_shared("trace_eigenvalues", IKT_PART_F64, points * IKT_TRACE_EIGENVALUES,
                                  p->trace.eigenvalue);
    for (int a = 0; a < state->arrays; a++) {
        const ikt_objective_array *form = &state->form[a];
        *part++ = form->is_shared
                      ? ikt_part_shared(form->name, form->type, form->count, state->array[a])
                      : ikt_part_rows(form->name, form->type, rows, form->count, state->array[a]);
    }
    p->count = part - p->part;
}

/* --- the trace -------------------------------------------------------------------------------- */

static ikt_status make_columns(ikt_context *ctx, int64_t count, ikt_trace_columns *c) {
    IKT_TRY(ikt_alloc(ctx, &c->iteration, count, sizeof *c->iteration, "trace"));
    IKT_TRY(ikt_alloc(ctx, &c->value, count, sizeof *c->value, "trace"));
    IKT_TRY(ikt_alloc(ctx, &c->error, count, sizeof *c->error, "trace"));
    IKT_TRY(ikt_alloc(ctx, &c->norm, count, sizeof *c->norm, "trace"));
    IKT_TRY(ikt_alloc(ctx, &c->eigenvalue, count * IKT_TRACE_EIGENVALUES, sizeof *c->eigenvalue,
                      "trace"));
    return ikt_alloc(ctx, &c->seconds, count, sizeof *c->seconds, "trace");
}

ikt_status ikt_trace_columns_make(ikt_context *ctx, const ikt_trace_point *point, int64_t count,
                                  ikt_trace_columns *out) {
    *out = (ikt_trace_columns){.iteration = NULL};
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
    ikt_free(&columns->iteration);
    ikt_free(&columns->value);
    ikt_free(&columns->error);
    ikt_free(&columns->norm);
    ikt_free(&columns->seconds);
    ikt_free(&columns->eigenvalue);
}

/* --- states ----------------------------------------------------------------------------------- */

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

ikt_status ikt_loop_parts_read(ikt_context *ctx, const ikt_rows *rows,
                               const ikt_layout_settings *settings,
                               ikt_status (*read)(void *file, const ikt_part *parts, int64_t count),
                               void *file, ikt_loop_state *out) {
    ikt_loop_parts p = {.trace = {.iteration = NULL}};
    *out = (ikt_loop_state){0};
    name_parts(rows, out, &p);
    ikt_status st = read(file, p.part, IKT_LOOP_HEADS);
    out->arrays = ikt_loop_arrays(settings, rows, out->form);
    if (st == IKT_OK) {
        out->iteration = p.number[0];
        out->points = p.number[1];
        out->seconds = p.real[0];
        memcpy(out->phase_number, p.number + 2, sizeof out->phase_number);
        memcpy(out->phase_real, p.real + 1, sizeof out->phase_real);
        if (out->iteration < 0 || out->points < 0 || out->points > out->iteration + 1)
            st = ikt_fail(ctx, IKT_ERR_DATA, "the state of the loop makes no sense");
        if (st == IKT_OK) st = make_columns(ctx, out->points, &p.trace);
        if (st == IKT_OK)
            st = ikt_alloc(ctx, &out->point, out->points, sizeof *out->point, "checkpoint");
        if (st == IKT_OK) st = ikt_loop_state_allocate(ctx, rows, out);
        st = ikt_agree(ctx, st);
    }
    if (st == IKT_OK) {
        name_parts(rows, out, &p);
        st = read(file, p.part + IKT_LOOP_HEADS, p.count - IKT_LOOP_HEADS);
    }
    for (int64_t i = 0; st == IKT_OK && i < out->points; i++) {
        out->point[i] = (ikt_trace_point){.iteration = p.trace.iteration[i],
                                          .value = p.trace.value[i],
                                          .error = p.trace.error[i],
                                          .gradient_norm = p.trace.norm[i],
                                          .seconds = p.trace.seconds[i]};
        memcpy(out->point[i].eigenvalue, p.trace.eigenvalue + i * IKT_TRACE_EIGENVALUES,
               sizeof out->point[i].eigenvalue);
    }
    ikt_loop_parts_destroy(&p);
    if (st != IKT_OK) ikt_loop_state_destroy(out);
    return st;
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
    if (strcmp(head.build, own->build) != 0 || strcmp(head.isa, own->isa) != 0)
        ikt_log(ctx, IKT_LOG_WARN,
                "%s was made by another build of iktsne or with another instruction set (%s; %s): "
                "the embedding will not have the bits of one longer run",
                path, head.build[0] ? head.build : "a build that was not noted",
                head.isa[0] ? head.isa : "not noted");
    return IKT_OK;
}

ikt_status ikt_finished_check(ikt_context *ctx, const ikt_settings *settings, int64_t n) {
    ikt_result_file *file = NULL;
    char *print = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_fingerprint_settings(ctx, settings, &print)));
    const ikt_stage_head own = ikt_checkpoint_head("loop", NULL, print);
    ikt_status st = ikt_result_open(ctx, settings->output.file, &file);
    if (st == IKT_OK) st = check_state(ctx, settings, n, &own, file);
    ikt_result_close(&file);
    ikt_free(&print);
    return st;
}

ikt_status ikt_finished_read(ikt_context *ctx, const ikt_settings *settings, const ikt_rows *rows,
                             const ikt_stage_head *own, ikt_loop_state *out) {
    ikt_result_file *file = NULL;
    *out = (ikt_loop_state){0};
    IKT_TRY(ikt_result_open(ctx, settings->output.file, &file));
    ikt_status st = check_state(ctx, settings, rows->n, own, file);
    if (st == IKT_OK) st = ikt_loop_parts_read(ctx, rows, &settings->layout, read_parts, file, out);
    ikt_result_close(&file);
    return st;
}
