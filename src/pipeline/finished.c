/* The state of a finished run. See finished.h. */
#include "pipeline/finished.h"

#include <string.h>

#include "base/memory.h"
#include "iktsne/version.h"
#include "io/results/result.h"

ikt_stage_head ikt_finished_head(const ikt_run *run) {
    return (ikt_stage_head){"loop", IKT_VERSION, run->input_fingerprint, run->settings_fingerprint};
}

ikt_status ikt_finished_parts(ikt_context *ctx, const ikt_run *run, ikt_loop_parts *out) {
    const ikt_trace *trace = &run->embedding.trace;
    ikt_loop_state state = run->embedding.last;
    *out = (ikt_loop_parts){.trace = {NULL, NULL, NULL, NULL}};
    if (!run->settings.output.state) return IKT_OK;
    state.point = trace->point;
    state.seconds = 0;
    while (state.points < trace->count && trace->point[state.points].iteration < state.iteration)
        state.points++;
    IKT_TRY(ikt_loop_parts_make(ctx, &run->rows, &state, out));
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
    return ikt_checkpoint_compare(ctx, &wanted, &head, path);
}

ikt_status ikt_finished_check(ikt_context *ctx, const ikt_settings *settings, int64_t n) {
    ikt_result_file *file = NULL;
    ikt_stage_head own = {"loop", IKT_VERSION, NULL, NULL};
    char *print = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_fingerprint_settings(ctx, settings, &print)));
    own.settings = print;
    ikt_status st = ikt_result_open(ctx, settings->output.file, &file);
    if (st == IKT_OK) st = check_state(ctx, settings, n, &own, file);
    ikt_result_close(&file);
    ikt_free(&print);
    return st;
}

ikt_status ikt_finished_read(ikt_context *ctx, const ikt_run *run, ikt_loop_state *out) {
    const ikt_stage_head own = ikt_finished_head(run);
    ikt_result_file *file = NULL;
    *out = (ikt_loop_state){0};
    IKT_TRY(ikt_result_open(ctx, run->settings.output.file, &file));
    ikt_status st = check_state(ctx, &run->settings, run->rows.n, &own, file);
    if (st == IKT_OK)
        st = ikt_loop_parts_read(ctx, &run->rows, &run->settings.layout, read_parts, file, out);
    ikt_result_close(&file);
    return st;
}
