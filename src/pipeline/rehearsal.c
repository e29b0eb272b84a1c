/* A run up to the point where work would begin. See rehearsal.h; the order is that of pipeline.c.
 */
#include "pipeline/rehearsal.h"

#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "pipeline/checkpoint.h"
#include "pipeline/checks.h"
#include "pipeline/finished.h"
#include "pipeline/input.h"
#include "pipeline/model_rows.h"
#include "pipeline/pipeline.h"
#include "pipeline/start.h"

/* What the data are, without reading them. */
static ikt_status find_shape(ikt_context *ctx, const ikt_settings *settings,
                             const ikt_source *source, ikt_data_shape *out) {
    bool is_u8;
    *out = (ikt_data_shape){.n = ikt_source_rows(source),
                            .d = ikt_source_columns(source),
                            .type = ikt_source_type(source)};
    IKT_TRY(ikt_model_rows_check(ctx, settings, source, &out->drawn, &is_u8));
    if (out->type == IKT_TYPE_U8 && !is_u8) out->type = IKT_TYPE_F32;
    return IKT_OK;
}

static ikt_status make_plan(ikt_context *ctx, const ikt_settings *settings,
                            const ikt_data_shape *shape, ikt_rehearsal *out) {
    const int64_t base = ikt_max_one(ctx, ikt_memory_resident_peak());
    IKT_TRY(
        ikt_workload_make(ctx, settings, shape, ikt_size(ctx), ikt_threads(ctx), &out->plan.work));
    IKT_TRY(ikt_plan_make(ctx, base, &out->plan));
    ikt_plan_settings(&out->plan.work, &out->settings);
    return ikt_memory_plan_check(ctx, &out->plan.memory);
}

/* Labels, and what the run goes on from or begins at. */
static ikt_status check_companions(ikt_context *ctx, const ikt_settings *settings,
                                   ikt_source *source, ikt_rehearsal *out) {
    const int64_t n = ikt_source_rows(source);
    IKT_TRY(ikt_pipeline_check_labels(settings, source, &out->has_labels));
    IKT_TRY(ikt_checkpoint_look(ctx, settings, &out->goes_on));
    if (settings->run.extend > 0) IKT_TRY(ikt_finished_check(ctx, settings, n));
    if (settings->layout.init != IKT_INIT_FILE) return IKT_OK;
    return ikt_start_check_file(ctx, &settings->layout, n);
}

static ikt_status rehearse_with(ikt_context *ctx, const ikt_settings *settings, ikt_source *source,
                                ikt_rehearsal *out) {
    ikt_data_shape shape;
    const int64_t n = ikt_source_rows(source);
    snprintf(out->input_name, sizeof out->input_name, "%s", ikt_source_name(source));
    out->result_bytes = ikt_check_result_bytes(ctx, settings, n);
    IKT_TRY(find_shape(ctx, settings, source, &shape));
    IKT_TRY(ikt_check_room(ctx, settings, n));
    IKT_TRY(make_plan(ctx, settings, &shape, out));
    return check_companions(ctx, settings, source, out);
}

ikt_status ikt_rehearse(ikt_context *ctx, const ikt_settings *settings, const ikt_machine *machine,
                        ikt_rehearsal *out) {
    ikt_settings wanted = *settings;
    ikt_source *source = NULL;
    bool is_watched;
    memset(out, 0, sizeof *out);
    out->plan.machine = *machine;
    if (wanted.run.extend > 0) wanted.output.overwrite = true;
    IKT_TRY(ikt_check_outputs(ctx, &wanted));
    IKT_TRY(ikt_check_limits(ctx, &wanted.run, &is_watched, &out->seconds_left));
    IKT_TRY(ikt_check_model(ctx, &wanted));
    IKT_TRY(ikt_input_open(ctx, &wanted.input, &source));
    ikt_status st = rehearse_with(ctx, &wanted, source, out);
    ikt_source_close(&source);
    return st;
}
