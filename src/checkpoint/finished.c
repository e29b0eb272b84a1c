/* The state of a finished run. See finished.h. */
#include "checkpoint/finished.h"

#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/fingerprint.h"
#include "io/results/result.h"

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
