/* A run up to the point where work would begin. See rehearsal.h; the order is that of pipeline.c.
 */
#include "pipeline/rehearsal.h"

#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/loop_parts.h"
#include "pipeline/graph_input.h"
#include "pipeline/model_rows.h"
#include "pipeline/pipeline.h"
#include "pipeline/start_file.h"
#include "settings/checks.h"
#include "settings/input.h"
#include "settings/unused.h"

/* What is embedded: rows, a graph, or both. */
typedef struct {
    ikt_source *source; /* NULL: a graph that stands alone */
    ikt_graph_about graph;
    ikt_data_shape shape;
} subject;

/* What the rows are, without reading them. */
static ikt_status find_rows(ikt_context *ctx, const ikt_settings *settings,
                            const ikt_source *source, ikt_data_shape *out) {
    const bool is_sparse = ikt_source_is_sparse(source) && settings->preprocess.pca == 0;
    bool is_u8;
    IKT_TRY(ikt_check_sparse(ctx, settings, is_sparse));
    *out = ikt_data_shape_of(source, is_sparse);
    IKT_TRY(ikt_model_rows_check(ctx, settings, source, &out->drawn, &is_u8));
    if (out->type == IKT_TYPE_U8 && !is_u8) out->type = IKT_TYPE_F32;
    return IKT_OK;
}

static ikt_status find_shape(ikt_context *ctx, const ikt_settings *settings, subject *s) {
    if (s->source)
        IKT_TRY(find_rows(ctx, settings, s->source, &s->shape));
    else
        s->shape = (ikt_data_shape){.n = s->graph.n, .type = IKT_TYPE_F32};
    return ikt_graph_shape(ctx, &s->graph, &s->shape);
}

static ikt_status make_plan(ikt_context *ctx, const ikt_settings *settings,
                            const ikt_data_shape *shape, ikt_rehearsal *out) {
    const int64_t base = ikt_max_one(ctx, ikt_memory_resident_peak());
    IKT_TRY(
        ikt_workload_make(ctx, settings, shape, ikt_size(ctx), ikt_threads(ctx), &out->plan.work));
    IKT_TRY(ikt_plan_make(ctx, base, &out->plan));
    ikt_plan_settings(&out->plan.work, &out->settings);
    IKT_TRY(ikt_unused_reset(ctx, &out->settings, settings->input.file[0], NULL));
    return ikt_memory_plan_check(ctx, &out->plan.memory);
}

static ikt_status check_labels(ikt_context *ctx, const ikt_settings *settings, const subject *s,
                               bool *present) {
    const ikt_rows none = {.n = s->shape.n};
    ikt_graph_companions found;
    if (s->source) return ikt_pipeline_check_labels(settings, s->source, present);
    IKT_TRY(ikt_graph_companions_read(ctx, &settings->input, &none, &found));
    *present = found.labels != NULL;
    ikt_graph_companions_free(&found);
    return IKT_OK;
}

/* Labels, and what the run goes on from or begins at. */
static ikt_status check_companions(ikt_context *ctx, const ikt_settings *settings, const subject *s,
                                   ikt_rehearsal *out) {
    IKT_TRY(check_labels(ctx, settings, s, &out->has_labels));
    IKT_TRY(ikt_checkpoint_look(ctx, settings, &out->goes_on));
    if (settings->run.extend > 0) IKT_TRY(ikt_finished_check(ctx, settings, s->shape.n));
    if (settings->layout.init != IKT_INIT_FILE) return IKT_OK;
    return ikt_start_file_check(ctx, &settings->layout, s->shape.n);
}

static ikt_status rehearse_with(ikt_context *ctx, const ikt_settings *settings, subject *s,
                                ikt_rehearsal *out) {
    snprintf(out->input_name, sizeof out->input_name, "%s",
             s->source ? ikt_source_name(s->source) : s->graph.name);
    IKT_TRY(find_shape(ctx, settings, s));
    out->result_bytes = ikt_check_result_bytes(ctx, settings, s->shape.n);
    IKT_TRY(ikt_check_room(ctx, settings, s->shape.n));
    IKT_TRY(make_plan(ctx, settings, &s->shape, out));
    return check_companions(ctx, settings, s, out);
}

ikt_status ikt_rehearse(ikt_context *ctx, const ikt_settings *settings, const ikt_machine *machine,
                        ikt_rehearsal *out) {
    ikt_settings wanted = *settings;
    subject s = {.source = NULL};
    bool is_watched;
    memset(out, 0, sizeof *out);
    out->plan.machine = *machine;
    if (wanted.run.extend > 0) wanted.output.overwrite = true;
    IKT_TRY(ikt_check_outputs(ctx, &wanted, true));
    IKT_TRY(ikt_graph_settle(ctx, &wanted, &s.graph));
    IKT_TRY(ikt_unused_check(ctx, &wanted, wanted.input.file[0], s.graph.is_kept));
    IKT_TRY(ikt_check_limits(ctx, &wanted.run, &is_watched, &out->seconds_left));
    IKT_TRY(ikt_check_model(ctx, &wanted));
    if (wanted.input.file[0] || s.graph.n == 0)
        IKT_TRY(ikt_input_open(ctx, &wanted.input, &s.source));
    ikt_status st = rehearse_with(ctx, &wanted, &s, out);
    ikt_source_close(&s.source);
    return st;
}
