/* The pipeline. Read ikt_pipeline_run first: it is the architecture on one screen. */
#include "pipeline/pipeline.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "base/timer.h"
#include "base/watch.h"
#include "io/result.h"
#include "pipeline/finished.h"
#include "pipeline/memory_plan.h"
#include "pipeline/model_rows.h"
#include "pipeline/time_limit.h"
#include "pipeline/workload.h"

ikt_status ikt_pipeline_open(ikt_context *ctx, const ikt_settings *settings, ikt_source **source,
                             ikt_dataset **data) {
    const ikt_input_settings *input = &settings->input;
    *source = NULL;
    *data = NULL;
    if (!input->file[0])
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "input.file is not set: name the HDF5 file with the data");
    ikt_status st = ikt_source_open(ctx, input->file, input->dataset,
                                    input->rows == IKT_AUTO_INT ? 0 : input->rows, source);
    if (st == IKT_OK)
        st = settings->isolation.model_from[0]
                 ? ikt_model_rows_open(ctx, settings, *source, data)
                 : ikt_dataset_create(ctx, *source, &settings->preprocess, data);
    if (st != IKT_OK) ikt_source_close(source);
    return st;
}

void ikt_pipeline_close(ikt_source **source, ikt_dataset **data) {
    ikt_dataset_destroy(data);
    ikt_source_close(source);
}

/* Everything that can be refused is refused before the first long stage. */
static ikt_status check_outputs(ikt_context *ctx, const ikt_output_settings *output) {
    if (!output->file[0])
        return ikt_fail(ctx, IKT_ERR_USAGE, "output.file is not set: name the HDF5 file to write");
    IKT_TRY(ikt_atomic_check(ctx, output->file, output->overwrite));
    return output->picture[0] ? ikt_atomic_check(ctx, output->picture, output->overwrite) : IKT_OK;
}

/* As soon as the rows are counted: a disk that is full now will hardly be emptier after the run. */
static ikt_status check_room(ikt_context *ctx, const ikt_run *run) {
    const int64_t q = run->settings.layout.dimensions;
    const ikt_part arrays = ikt_part_rows("y", IKT_PART_F32, &run->map, q, NULL);
    const ikt_part state[] = {arrays, arrays, arrays}; /* positions, velocities, gains */
    const ikt_result likely = {.map = run->map, .q = (int)q, .state = state, .n_state = 3};
    return ikt_atomic_check_room(ctx, run->settings.output.file, ikt_result_bytes(&likely));
}

/* Begins the file of output.model, which is filled as the run goes on. */
static ikt_status open_model(ikt_context *ctx, ikt_run *run) {
    const ikt_output_settings *output = &run->settings.output;
    if (!output->model[0]) return IKT_OK;
    if (run->settings.affinity.kind != IKT_AFFINITY_ISOLATION)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "output.model needs affinity.kind = isolation: only its cell codes tell "
                        "where new rows belong");
    if (run->settings.isolation.form != IKT_FORM_VORONOI)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "output.model needs isolation.form = voronoi: the file holds centres of "
                        "cells, not trees");
    if (run->settings.layout.objective == IKT_OBJECTIVE_SNE)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "output.model does not go with layout.objective = sne: new rows are placed "
                        "by the kernel of t-SNE");
    if (strcmp(output->model, output->file) == 0)
        return ikt_fail(ctx, IKT_ERR_USAGE, "output.model and output.file are the same file: %s",
                        output->file);
    return ikt_model_writer_begin(ctx, output->model, output->overwrite, &run->keep);
}

/* What is known only when the data is open. */
static ikt_status check_sparse(ikt_context *ctx, const ikt_dataset *data,
                               const ikt_settings *settings) {
    if (!ikt_dataset_is_sparse(data)) return IKT_OK;
    if (settings->output.model[0])
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "output.model needs dense rows, and those of %s are sparse: the file holds "
                        "centres with all their columns",
                        ikt_dataset_name(data));
    return IKT_OK;
}

static ikt_status check_memory(ikt_context *ctx, const ikt_source *source, ikt_dataset *data,
                               ikt_run *run) {
    ikt_workload work;
    ikt_data_shape shape = ikt_data_shape_of(source, ikt_source_is_sparse(source));
    shape.is_sparse = shape.is_sparse && ikt_dataset_is_sparse(data);
    shape.drawn = ikt_dataset_rows(ikt_dataset_model(data));
    if (shape.type == IKT_TYPE_U8 && !ikt_dataset_is_u8(data)) shape.type = IKT_TYPE_F32;
    IKT_TRY(ikt_workload_make(ctx, &run->settings, &shape, ikt_size(ctx), ikt_threads(ctx), &work));
    ikt_memory_plan plan = ikt_memory_plan_make(&work, ikt_memory_resident_peak());
    run->predicted_bytes = ikt_max_one(ctx, plan.peak);
    return ikt_memory_plan_check(ctx, &plan);
}

static ikt_status read_labels(ikt_context *ctx, ikt_source *source, ikt_run *run) {
    const ikt_input_settings *input = &run->settings.input;
    bool present = false;
    ikt_status st = ikt_alloc(ctx, &run->labels, run->map.count, sizeof *run->labels, "labels");
    IKT_TRY(ikt_agree(ctx, st));
    IKT_TRY(ikt_source_read_labels(source, input->labels, run->map.first, run->map.count,
                                   run->labels, &present));
    if (!present) ikt_free(&run->labels);
    if (!present && strcmp(input->labels, "labels") != 0)
        return ikt_fail(ctx, IKT_ERR_DATA, "%s has no data set '%s' (input.labels)", input->file,
                        input->labels);
    return ikt_source_read_marked(source, &run->marked, &run->n_marked);
}

static void note_input(const ikt_source *source, ikt_run *run) {
    strncat(run->input_name, ikt_source_name(source), sizeof run->input_name - 1);
    run->d = ikt_source_columns(source);
    run->type = ikt_type_name(ikt_source_type(source));
    if (ikt_source_is_sparse(source))
        run->type = ikt_source_type(source) == IKT_TYPE_F32 ? "sparse float32" : "sparse float64";
}

/* COLLECTIVE. Begins to watch signals and time; a run without checkpoints dies of them. */
static ikt_status watch(ikt_context *ctx, const ikt_run_settings *settings) {
    const double every =
        settings->checkpoint_every > 0 ? 60 * settings->checkpoint_every : INFINITY;
    const bool is_limited =
        strcmp(settings->max_time, "auto") != 0 && strcmp(settings->max_time, "none") != 0;
    double seconds;
    if (strcmp(settings->checkpoint, "none") == 0 && is_limited)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "run.max_time needs a checkpoint to stop with, and run.checkpoint is none");
    if (strcmp(settings->checkpoint, "none") == 0) return IKT_OK;
    IKT_TRY(ikt_time_limit(ctx, settings->max_time, &seconds));
    ikt_watch_signals();
    ikt_watch_begin(ctx, seconds, every);
    return IKT_OK;
}

/* COLLECTIVE. What the result depends on, and the checkpoint that has to agree with it. */
static ikt_status open_checkpoint(ikt_context *ctx, ikt_source *source, ikt_run *run) {
    ikt_stage_begin(ctx, IKT_STAGE_READ);
    ikt_status st = ikt_fingerprint_input(ctx, source, run->input_print);
    ikt_stage_end(ctx, IKT_STAGE_READ);
    if (st == IKT_OK)
        st = ikt_agree(ctx, ikt_fingerprint_settings(ctx, &run->settings, &run->settings_print));
    if (st == IKT_OK)
        st = ikt_checkpoint_create(ctx, &run->settings, run->input_print, &run->checkpoint);
    return st;
}

/* COLLECTIVE. Embeds, from the checkpoint or the finished run there is. */
static ikt_status make_embedding(ikt_context *ctx, ikt_dataset *data, ikt_run *run) {
    const int64_t q = run->settings.layout.dimensions;
    ikt_keepers keepers;
    ikt_loop_state finished = {0};
    ikt_embedding_wish wish = {
        .labels = run->labels, .keep = run->keep, .want_last = run->settings.output.state};
    if (run->checkpoint) {
        ikt_keepers_make(ctx, run->checkpoint, &run->map, q, &keepers);
        wish.keepers = &keepers;
    }
    if (run->settings.run.extend > 0) {
        IKT_TRY(ikt_finished_read(ctx, run, &finished));
        wish.from = &finished;
        run->settings.layout.iterations = finished.iteration + run->settings.run.extend;
    }
    ikt_status st =
        ikt_embedding_make(ctx, &run->settings, data, &run->map, &wish, &run->embedding);
    ikt_loop_state_destroy(&finished);
    return st;
}

/* Checks what can be refused, and embeds. */
static ikt_status embed(ikt_context *ctx, ikt_source *source, ikt_dataset *data, ikt_run *run) {
    note_input(source, run);
    run->map = ikt_row_map_make(ikt_dataset_rows(data), ikt_size(ctx), ikt_rank(ctx));
    ikt_log_numbers(ctx, IKT_LOG_STAGE,
                    (ikt_log_number[]){IKT_LOG_INT("rows", run->map.n),
                                       IKT_LOG_INT("columns", run->d),
                                       IKT_LOG_INT("ranks", ikt_size(ctx)),
                                       IKT_LOG_INT("threads", ikt_threads(ctx)),
                                       {0}},
                    "%s: %lld rows x %lld, %s; %d ranks x %d threads", run->input_name,
                    (long long)run->map.n, (long long)run->d, run->type, ikt_size(ctx),
                    ikt_threads(ctx));
    ikt_status st = check_sparse(ctx, data, &run->settings);
    if (st == IKT_OK) st = check_room(ctx, run);
    if (st == IKT_OK) st = check_memory(ctx, source, data, run);
    if (st == IKT_OK) st = open_checkpoint(ctx, source, run);
    if (st == IKT_OK) st = read_labels(ctx, source, run);
    if (st == IKT_OK) st = make_embedding(ctx, data, run);
    return st;
}

ikt_status ikt_pipeline_run(ikt_context *ctx, const ikt_settings *settings, ikt_run *out) {
    ikt_source *source = NULL;
    ikt_dataset *data = NULL;
    memset(out, 0, sizeof *out);
    out->settings = *settings;
    out->start_time = (double)time(NULL);
    /* The finished run is read before it is replaced. */
    if (settings->run.extend > 0) out->settings.output.overwrite = true;
    ikt_status st = check_outputs(ctx, &out->settings.output);
    if (st == IKT_OK) st = watch(ctx, &settings->run);
    if (st == IKT_OK) st = open_model(ctx, out);
    if (st == IKT_OK) st = ikt_pipeline_open(ctx, settings, &source, &data);
    if (st == IKT_OK) st = embed(ctx, source, data, out);
    if (st == IKT_OK)
        out->hash = ikt_row_hash(ctx, out->embedding.y, out->map.first, out->map.count,
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
    ikt_model_writer_abandon(&run->keep);
    ikt_embedding_destroy(&run->embedding);
    ikt_free(&run->labels);
    ikt_free(&run->marked);
    ikt_checkpoint_destroy(&run->checkpoint);
    ikt_free(&run->settings_print);
}
