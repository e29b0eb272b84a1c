/* The pipeline. Read ikt_pipeline_run first: it is the architecture on one screen. */
#include "pipeline/pipeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "base/timer.h"
#include "base/watch.h"
#include "checkpoint/loop_parts.h"
#include "pipeline/graph_keep.h"
#include "pipeline/model_rows.h"
#include "plan/memory_plan.h"
#include "plan/workload.h"
#include "settings/checks.h"
#include "settings/input.h"
#include "settings/unused.h"

static ikt_status open_data(ikt_context *ctx, const ikt_settings *settings, ikt_source *source,
                            ikt_dataset **data) {
    return settings->isolation.model_from[0]
               ? ikt_model_rows_open(ctx, settings, source, data)
               : ikt_dataset_create(ctx, source, &settings->preprocess, data);
}

ikt_status ikt_pipeline_open_on(ikt_context *ctx, const ikt_settings *settings, ikt_source *given,
                                ikt_source **source, ikt_dataset **data) {
    *source = NULL;
    *data = NULL;
    if (given) return open_data(ctx, settings, given, data);
    if (!settings->input.file[0] && settings->input.graph[0]) return IKT_OK;
    IKT_TRY(ikt_input_open(ctx, &settings->input, source));
    ikt_status st = open_data(ctx, settings, *source, data);
    if (st != IKT_OK) ikt_source_close(source);
    return st;
}

ikt_status ikt_pipeline_open(ikt_context *ctx, const ikt_settings *settings, ikt_source **source,
                             ikt_dataset **data) {
    return ikt_pipeline_open_on(ctx, settings, NULL, source, data);
}

void ikt_pipeline_close(ikt_source **source, ikt_dataset **data) {
    ikt_dataset_destroy(data);
    ikt_source_close(source);
}

static ikt_status check_memory(ikt_context *ctx, const ikt_source *source, ikt_dataset *data,
                               ikt_run *run) {
    ikt_workload work;
    ikt_data_shape shape = {.n = run->rows.n, .d = run->d, .type = IKT_TYPE_F32};
    if (data) {
        shape = ikt_data_shape_of(source, ikt_dataset_is_sparse(data));
        if (shape.type == IKT_TYPE_U8 && !ikt_dataset_is_u8(data)) shape.type = IKT_TYPE_F32;
        shape.drawn = ikt_dataset_rows(ikt_dataset_model(data));
    }
    IKT_TRY(ikt_graph_shape(ctx, &run->graph, &shape));
    IKT_TRY(ikt_workload_make(ctx, &run->settings, &shape, ikt_size(ctx), ikt_threads(ctx), &work));
    ikt_memory_plan plan = ikt_memory_plan_make(&work, ikt_memory_resident_peak());
    run->predicted_bytes = ikt_max_one(ctx, plan.peak);
    return ikt_memory_plan_check(ctx, &plan);
}

/* Labels that were named have to be there. */
static ikt_status check_present(const ikt_input_settings *input, ikt_source *source, bool present) {
    if (present || strcmp(input->labels, "labels") == 0) return IKT_OK;
    return ikt_source_no_labels(source, input->labels, "input.labels");
}

ikt_status ikt_pipeline_check_labels(const ikt_settings *settings, ikt_source *source,
                                     bool *present) {
    int64_t none;
    *present = false;
    IKT_TRY(ikt_source_read_labels(source, settings->input.labels, 0, 0, &none, present));
    return check_present(&settings->input, source, *present);
}

/* COLLECTIVE. The same of a graph that stands alone. */
static ikt_status read_companions(ikt_context *ctx, ikt_run *run) {
    ikt_graph_companions found;
    IKT_TRY(ikt_graph_companions_read(ctx, &run->settings.input, &run->rows, &found));
    run->labels = found.labels;
    run->label_names = found.label_names;
    run->marked = found.marked;
    run->n_marked = found.n_marked;
    return IKT_OK;
}

static ikt_status read_labels(ikt_context *ctx, ikt_source *source, ikt_run *run) {
    const ikt_input_settings *input = &run->settings.input;
    bool present = false;
    if (!source) return read_companions(ctx, run);
    ikt_status st = ikt_alloc(ctx, &run->labels, run->rows.count, sizeof *run->labels, "labels");
    IKT_TRY(ikt_agree(ctx, st));
    IKT_TRY(ikt_source_read_labels(source, input->labels, run->rows.first, run->rows.count,
                                   run->labels, &present));
    if (!present) ikt_free(&run->labels);
    IKT_TRY(check_present(input, source, present));
    if (present) IKT_TRY(ikt_source_read_text(source, "label_names", &run->label_names));
    return ikt_source_read_marked(source, &run->marked, &run->n_marked);
}

/* Rows, columns and ownership: of the data, or of a graph that stands alone. */
static void note_input(ikt_context *ctx, const ikt_source *source, ikt_dataset *data,
                       ikt_run *run) {
    const char *name = source ? ikt_source_name(source) : run->graph.name;
    const int64_t n = source ? ikt_dataset_rows(data) : run->graph.n;
    snprintf(run->input_name, sizeof run->input_name, "%s", name);
    run->d = source ? ikt_source_columns(source) : 0;
    run->type = source ? ikt_type_name(ikt_source_type(source)) : "graph";
    run->rows = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    if (source && ikt_source_is_sparse(source))
        run->type = ikt_source_type(source) == IKT_TYPE_F32 ? "sparse float32" : "sparse float64";
}

static void log_input(ikt_context *ctx, const ikt_run *run) {
    ikt_log_numbers(ctx, IKT_LOG_STAGE,
                    (ikt_log_number[]){IKT_LOG_INT("rows", run->rows.n),
                                       IKT_LOG_INT("columns", run->d),
                                       IKT_LOG_INT("ranks", ikt_size(ctx)),
                                       IKT_LOG_INT("threads", ikt_threads(ctx)),
                                       {0}},
                    "%s: %lld rows x %lld, %s; %d ranks x %d threads", run->input_name,
                    (long long)run->rows.n, (long long)run->d, run->type, ikt_size(ctx),
                    ikt_threads(ctx));
    if (run->graph.n > 0)
        ikt_log_numbers(ctx, IKT_LOG_STAGE,
                        (ikt_log_number[]){IKT_LOG_INT("entries", run->graph.entries), {0}},
                        "graph: %s, %lld entries%s", run->graph.name, (long long)run->graph.entries,
                        run->graph.is_kept ? ", kept by a run of iktsne" : "");
}

/* COLLECTIVE. Begins to watch signals and time; a run without checkpoints dies of them. Signals of
 * a host program are not ours. */
static ikt_status watch(ikt_context *ctx, const ikt_run_settings *settings, bool is_guest) {
    const double every =
        settings->checkpoint_every > 0 ? 60 * settings->checkpoint_every : INFINITY;
    double seconds;
    bool is_watched;
    IKT_TRY(ikt_check_limits(ctx, settings, &is_watched, &seconds));
    if (!is_watched) return IKT_OK;
    if (!is_guest) ikt_watch_signals();
    ikt_watch_begin(ctx, seconds, every);
    return IKT_OK;
}

/* COLLECTIVE. What the result depends on, the rows and the settings, and the checkpoint that has to
 * agree with both. */
static ikt_status open_checkpoint(ikt_context *ctx, ikt_source *source, ikt_run *run) {
    char data[IKT_INPUT_TEXT] = "";
    ikt_stage_begin(ctx, IKT_STAGE_READ);
    ikt_status st = source ? ikt_fingerprint_input(ctx, source, data) : IKT_OK;
    if (st == IKT_OK && run->graph.n > 0)
        st = ikt_graph_fingerprint(ctx, &run->settings, data, run->input_fingerprint);
    else if (st == IKT_OK)
        memcpy(run->input_fingerprint, data, sizeof data);
    ikt_stage_end(ctx, IKT_STAGE_READ);
    if (st == IKT_OK)
        st = ikt_agree(ctx,
                       ikt_fingerprint_settings(ctx, &run->settings, &run->settings_fingerprint));
    if (st == IKT_OK)
        st = ikt_checkpoint_create(ctx, &run->settings, run->input_fingerprint, &run->checkpoint);
    return st;
}

/* COLLECTIVE. Checks what can be refused, opens what is written on the way, and embeds, from the
 * checkpoint or the finished run there is. */
static ikt_status embed(ikt_context *ctx, ikt_source *source, ikt_dataset *data, ikt_run *run) {
    ikt_settings *settings = &run->settings;
    ikt_checkpoint_hooks hooks;
    ikt_loop_state finished = {0};
    note_input(ctx, source, data, run);
    log_input(ctx, run);
    if (source) ikt_input_describe(ctx, source);
    IKT_TRY(ikt_check_sparse(ctx, settings, data && ikt_dataset_is_sparse(data)));
    IKT_TRY(ikt_check_room(ctx, settings, run->rows.n));
    IKT_TRY(check_memory(ctx, source, data, run));
    IKT_TRY(open_checkpoint(ctx, source, run));
    IKT_TRY(read_labels(ctx, source, run));
    const ikt_graph_origin origin = {.settings = settings,
                                     .input = run->input_fingerprint,
                                     .label_names = run->label_names,
                                     .marked = run->marked,
                                     .n_marked = run->n_marked};
    IKT_TRY(ikt_graph_keep_begin(ctx, &origin, &run->graph_writer));
    ikt_embed_options options = {.labels = run->labels,
                                 .model_writer = run->model_writer,
                                 .graph_writer = &run->graph_writer,
                                 .want_last = settings->output.state};
    if (run->checkpoint) {
        ikt_checkpoint_hooks_make(ctx, run->checkpoint, &run->rows, &settings->layout, &hooks);
        options.hooks = &hooks;
    }
    if (settings->run.extend > 0) {
        const ikt_stage_head own =
            ikt_checkpoint_head("loop", run->input_fingerprint, run->settings_fingerprint);
        IKT_TRY(ikt_finished_read(ctx, settings, &run->rows, &own, &finished));
        options.from = &finished;
        settings->layout.iterations = finished.iteration + settings->run.extend;
    }
    ikt_status st = ikt_embed_dataset(ctx, settings, data, &run->rows, &options, &run->embedding);
    ikt_loop_state_destroy(&finished);
    return st;
}

/* What a guest leaves out: files without a name, and what only they are for. */
static void be_guest(ikt_settings *settings) {
    if (settings->output.file[0]) return;
    settings->output.state = false;
    if (strcmp(settings->run.checkpoint, "auto") == 0) strcpy(settings->run.checkpoint, "none");
}

ikt_status ikt_pipeline_run(ikt_context *ctx, const ikt_settings *given_settings, ikt_source *given,
                            ikt_run *out) {
    ikt_settings *settings = &out->settings;
    ikt_source *source = NULL;
    ikt_dataset *data = NULL;
    memset(out, 0, sizeof *out);
    *settings = *given_settings;
    out->given = given;
    out->start_time = (double)time(NULL);
    /* The finished run is read before it is replaced. */
    if (settings->run.extend > 0) settings->output.overwrite = true;
    if (given) be_guest(settings);
    /* Everything that can be refused is refused before the first long stage. */
    ikt_status st = ikt_check_outputs(ctx, settings, given == NULL);
    if (st == IKT_OK) st = ikt_graph_settle(ctx, settings, &out->graph);
    if (st == IKT_OK)
        st = ikt_unused_check(ctx, settings, given || settings->input.file[0], out->graph.is_kept);
    if (st == IKT_OK) st = watch(ctx, &settings->run, given != NULL);
    if (st == IKT_OK && settings->output.model[0]) {
        st = ikt_check_model(ctx, settings);
        if (st == IKT_OK)
            st = ikt_model_writer_begin(ctx, settings->output.model, settings->output.overwrite,
                                        &out->model_writer);
    }
    if (st == IKT_OK) st = ikt_pipeline_open_on(ctx, settings, given, &source, &data);
    if (st == IKT_OK) st = embed(ctx, given ? given : source, data, out);
    if (st == IKT_OK)
        out->hash = ikt_row_hash(ctx, out->embedding.y, out->rows.first, out->rows.count,
                                 (size_t)settings->layout.dimensions * sizeof(float));
    ikt_pipeline_close(&source, &data);
    if (st != IKT_OK) {
        ikt_watch_end(ctx);
        ikt_run_destroy(out);
    }
    return st;
}

void ikt_run_finish(ikt_context *ctx, ikt_run *run) {
    ikt_watch_end(ctx);
    ikt_checkpoint_finish(run->checkpoint);
    ikt_loop_state_destroy(&run->embedding.last); /* measures want the memory */
}

void ikt_run_destroy(ikt_run *run) {
    ikt_model_writer_abandon(&run->model_writer);
    ikt_graph_writer_abandon(&run->graph_writer);
    ikt_embed_result_destroy(&run->embedding);
    ikt_free(&run->labels);
    ikt_free(&run->label_names);
    ikt_free(&run->marked);
    ikt_checkpoint_destroy(&run->checkpoint);
    ikt_free(&run->settings_fingerprint);
}
