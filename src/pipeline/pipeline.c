/* The pipeline. Read ikt_pipeline_run, near the end, first: it is the architecture on one screen.
 */
#include "pipeline/pipeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/comm.h"
#include "base/encoding.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/part_file.h"
#include "base/row_hash.h"
#include "base/sort.h"
#include "base/timer.h"
#include "base/waiting.h"
#include "base/watch.h"
#include "checkpoint/checkpoint.h"
#include "io/sources/source.h"
#include "pipeline/early_outputs.h"
#include "recipe/facts.h"
#include "recipe/recipe.h"
#include "settings/checks.h"

/* --- before the first long stage -------------------------------------------------------------- */

static const char *type_of(const ikt_source *source, const ikt_graph_about *graph) {
    if (!source) return graph->is_pairwise ? "all pairs" : "graph";
    if (!ikt_source_is_sparse(source)) return ikt_type_name(ikt_source_type(source));
    return ikt_source_type(source) == IKT_TYPE_F32 ? "sparse float32" : "sparse float64";
}

/* "a.h5, b.svg and c.h5": the outputs that are named. */
static void list_outputs(const ikt_output_settings *output, char *text, size_t size) {
    const char *const name[] = {output->file, output->picture, output->model, output->graph};
    static const char *const between[] = {"", " and ", ", ", ", ", ", "}; /* by those left */
    int left = 0;
    text[0] = '\0';
    for (int i = 0; i < 4; i++)
        left += name[i][0] != '\0';
    for (int i = 0; i < 4; i++)
        if (name[i][0]) ikt_join(text, size, between[left--], "%s", name[i]);
}

/* Notes name, columns and type of what is read: of the rows, or of a graph that stands alone. */
static void note_source(const ikt_source *source, ikt_run *run) {
    const char *name = run->graph.name;
    run->d = 0;
    run->type = type_of(source, &run->graph);
    if (source) {
        name = ikt_source_name(source);
        run->d = ikt_source_columns(source);
    }
    snprintf(run->input_name, sizeof run->input_name, "%s", name);
}

/* The one line before a run: what is read, n rows, and what will be written. */
static void announce(ikt_context *ctx, int64_t n, const ikt_settings *asked, const ikt_run *run) {
    char writes[4 * IKT_STRING_MAX + 64], shape[64] = "";
    list_outputs(&run->settings.output, writes, sizeof writes);
    if (run->d > 0) snprintf(shape, sizeof shape, " x %lld columns", (long long)run->d);
    ikt_log_numbers(ctx, IKT_LOG_STAGE,
                    IKT_LOG_NUMBERS(IKT_LOG_INT("rows", n), IKT_LOG_INT("columns", run->d),
                                    IKT_LOG_INT("ranks", ikt_size(ctx)),
                                    IKT_LOG_INT("threads", ikt_threads(ctx))),
                    "reading %s (%lld rows%s, %s)%s%s; %d rank%s x %d thread%s", run->input_name,
                    (long long)n, shape, run->type, writes[0] ? ", will write " : "", writes,
                    ikt_size(ctx), ikt_plural(ikt_size(ctx)), ikt_threads(ctx),
                    ikt_plural(ikt_threads(ctx)));
    if (run->settings.layout.init == IKT_INIT_RANDOM && asked->layout.init == IKT_INIT_AUTO)
        ikt_log(ctx, IKT_LOG_STAGE,
                "layout.init: random, as there is no input.file to take principal components from");
}

/* Notes ownership of the rows that there are, and tells what is known of them. */
static void note_input(ikt_context *ctx, const ikt_source *source, ikt_dataset *data,
                       ikt_run *run) {
    const ikt_graph_about *graph = &run->graph;
    const char *used = graph->is_pairwise ? " of all pairs are used" : "";
    if (graph->is_kept) used = ", kept by a run of iktsne";
    note_source(source, run);
    run->rows =
        ikt_rows_make(data ? ikt_dataset_rows(data) : graph->n, ikt_size(ctx), ikt_rank(ctx));
    if (graph->n > 0)
        ikt_log_numbers(ctx, IKT_LOG_STAGE, IKT_LOG_NUMBERS(IKT_LOG_INT("entries", graph->entries)),
                        "graph: %s, %lld entries%s", graph->name, (long long)graph->entries, used);
    if (source) ikt_input_describe(ctx, source);
}

/* COLLECTIVE. What the result depends on, what is read and the settings, and the checkpoint that
 * has to agree with both. */
static ikt_status open_checkpoint(ikt_context *ctx, ikt_source *source,
                                  const ikt_settings *resolved, ikt_run *run) {
    IKT_TRY(ikt_run_inputs_note(ctx, source, run));
    IKT_TRY(
        ikt_agree(ctx, ikt_fingerprint_settings(ctx, &run->settings, &run->settings_fingerprint)));
    return ikt_checkpoint_create(ctx, &run->settings, resolved, run->input_fingerprint,
                                 &run->checkpoint);
}

/* COLLECTIVE up to the recipe, whose outcome is not agreed on yet. */
static ikt_status decide_on(ikt_context *ctx, const ikt_settings *asked, const ikt_shape *shape,
                            bool needs_file, ikt_recipe *recipe) {
    IKT_TRY(ikt_check_outputs(ctx, asked, needs_file));
    return ikt_recipe_make(ctx, asked, shape, ikt_size(ctx), ikt_threads(ctx), recipe);
}

/* COLLECTIVE. Looks at the inputs and decides what the run is: everything that is refused without
 * reading the rows is refused here, and in the same way wherever somebody asks.
 *   source   receives the opened rows; NULL where they are given */
static ikt_status decide(ikt_context *ctx, ikt_settings *asked, ikt_source *given, bool is_host,
                         ikt_recipe *recipe, ikt_source **source) {
    ikt_shape shape IKT_AT_END(ikt_shape_destroy) = {0};
    ikt_source *opened IKT_AT_END(ikt_source_close) = NULL;
    *source = NULL;
    /* The finished run is read before it is replaced. */
    if (asked->run.extend > 0) asked->output.overwrite = true;
    if (is_host && !asked->output.file[0]) { /* no files without a name, nor what is for them */
        asked->output.state = false;
        if (strcmp(asked->run.checkpoint, "auto") == 0) strcpy(asked->run.checkpoint, "none");
    }
    /* What is wrong with an input explains more than what is wrong with an output. */
    IKT_TRY(ikt_check_apart(ctx, asked));
    IKT_TRY(ikt_shape_look(ctx, asked, given, is_host, &shape, &opened));
    IKT_TRY(ikt_agree(ctx, decide_on(ctx, asked, &shape, !is_host, recipe)));
    recipe->graph.settings = NULL; /* which nobody asks for any more */
    return ikt_give(source, opened);
}

/* COLLECTIVE. Opens a matrix of similarities, which is looked through first. A run that does not
 * fit is refused before that, as it may take hours. */
static ikt_status open_similarities(ikt_context *ctx, const ikt_recipe *recipe,
                                    ikt_source **source) {
    if (!recipe->settings.input.similarities[0] || !*source) return IKT_OK;
    const ikt_memory_plan plan = ikt_memory_plan_make(&recipe->work, ikt_memory_beside(ctx));
    ikt_source_close(source);
    IKT_TRY(ikt_memory_plan_fits(ctx, &plan));
    return ikt_input_open(ctx, &recipe->settings.input, source);
}

/* COLLECTIVE. Begins to watch signals and time. A run without checkpoints dies of signals; those of
 * a host program are not ours. */
static ikt_status begin_watch(ikt_context *ctx, double began, const ikt_run *run) {
    const ikt_run_settings *settings = &run->settings.run;
    const double minutes = settings->checkpoint_every;
    bool is_watched;
    double seconds;
    IKT_TRY(ikt_check_limits(ctx, settings, run->is_host, &is_watched, &seconds));
    if (!is_watched) return IKT_OK;
    if (!run->is_host) ikt_watch_signals();
    /* A limit that was given counts from the beginning, when the input had not been read yet. */
    if (ikt_run_has_limit(settings)) seconds = fmax(0, seconds - ikt_now() + began);
    ikt_watch_begin(ctx, seconds, minutes > 0 ? 60 * minutes : INFINITY);
    return IKT_OK;
}

/* COLLECTIVE. Begins the file of the model, where one is wanted. */
static ikt_status begin_model(ikt_context *ctx, ikt_run *run) {
    const ikt_output_settings *output = &run->settings.output;
    if (!output->model[0]) return IKT_OK;
    return ikt_model_writer_begin(ctx, output->model, output->overwrite, &run->model_writer);
}

/* COLLECTIVE. What the rows decide and refuse, the checkpoint, labels, the file of the graph. */
static ikt_status prepare(ikt_context *ctx, ikt_source *source, ikt_dataset *data,
                          ikt_recipe *recipe, ikt_run *run) {
    ikt_settings *settings = &run->settings;
    ikt_type type = recipe->work.data.type;
    ikt_companions found;
    note_input(ctx, source, data, run);
    if (data && type == IKT_TYPE_U8 && !ikt_dataset_is_u8(data)) type = IKT_TYPE_F32;
    IKT_TRY(ikt_check_room(ctx, settings, run->rows.n));
    IKT_TRY(ikt_recipe_fit(ctx, recipe, run->rows.n, type, settings));
    const ikt_memory_plan plan = ikt_memory_plan_make(&recipe->work, ikt_memory_beside(ctx));
    run->predicted_bytes = ikt_max_one(ctx, plan.peak);
    IKT_TRY(ikt_memory_plan_check(ctx, &plan));
    IKT_TRY(ikt_companions_read(ctx, &settings->input, source, &run->rows, &found));
    run->labels = found.labels;
    run->label_names = found.label_names;
    run->marked = found.marked;
    run->n_marked = found.n_marked;
    run->original = found.original;
    IKT_TRY(open_checkpoint(ctx, source, &recipe->work.settings, run));
    return ikt_run_graph_begin(ctx, run, &run->graph_writer);
}

/* Which rows of the input the rows are, where some have been left out. */
static ikt_status note_originals(ikt_context *ctx, const ikt_source *source, ikt_run *run) {
    const ikt_rows *rows = &run->rows;
    IKT_TRY(
        ikt_alloc_all(ctx, &run->original, rows->count, sizeof *run->original, "missing values"));
    for (int64_t i = 0; i < rows->count; i++)
        run->original[i] = ikt_missing_original(source, rows->first + i);
    return IKT_OK;
}

/* --- the line --------------------------------------------------------------------------------- */

/* COLLECTIVE. Opens the rows of a run that has been decided on, and what goes with them. No
 * checkpoint holds any of it: a signal to stop is heeded at once.
 *   source   the opened rows, or NULL
 *   data     receives what is made of them */
static ikt_status open_inputs(ikt_context *ctx, const ikt_settings *asked, double began,
                              ikt_recipe *recipe, ikt_run *run, ikt_source **source,
                              ikt_dataset **data) {
    ikt_settings *settings = &run->settings;
    char folder[IKT_PATH_MAX];
    bool has_worked = false;
    ikt_checkpoint_folder_name(settings, folder);
    const ikt_saver nothing = {.where = folder[0] ? folder : NULL};
    IKT_TRY(begin_watch(ctx, began, run));
    IKT_MAY_PAUSE(ctx, &nothing, &has_worked);
    IKT_TRY(begin_model(ctx, run));
    announce(ctx, recipe->work.data.n, asked, run);
    IKT_TRY(open_similarities(ctx, recipe, source));
    if (run->given || *source)
        IKT_TRY(
            ikt_rows_complete(ctx, (ikt_missing)settings->preprocess.missing, run->given, source));
    ikt_source *rows = ikt_source_or(*source, run->given);
    if (rows) IKT_TRY(ikt_rows_open(ctx, rows, settings, data));
    IKT_TRY(prepare(ctx, rows, *data, recipe, run));
    if (*source && ikt_missing_drops(*source)) return note_originals(ctx, *source, run);
    return IKT_OK;
}

/* COLLECTIVE. From where the map is made: the beginning, a checkpoint, or a finished run.
 *   hooks      memory for those of the checkpoint
 *   finished   receives the state of a finished run that is extended */
static ikt_status choose_beginning(ikt_context *ctx, ikt_run *run, ikt_checkpoint_hooks *hooks,
                                   ikt_loop_state *finished, ikt_embed_options *options) {
    ikt_settings *settings = &run->settings;
    if (run->checkpoint) {
        ikt_checkpoint_hooks_make(ctx, run->checkpoint, &run->rows, &settings->layout, hooks);
        options->hooks = hooks;
    }
    if (settings->run.extend == 0) return IKT_OK;
    const ikt_stage_head own =
        ikt_checkpoint_head("loop", run->input_fingerprint, run->settings_fingerprint);
    IKT_TRY(ikt_finished_read(ctx, settings, &run->rows, &own, finished));
    options->from = finished;
    settings->layout.iterations = finished->iteration + settings->run.extend;
    return IKT_OK;
}

/* COLLECTIVE. The map of rows that are there. */
static ikt_status embed(ikt_context *ctx, ikt_dataset *data, const ikt_steps *steps, ikt_run *run) {
    ikt_loop_state finished IKT_AT_END(ikt_loop_state_destroy) = {0};
    ikt_checkpoint_hooks hooks;
    ikt_embed_options options = {.labels = run->labels,
                                 .label_names = run->label_names,
                                 .original = run->original,
                                 .model_writer = run->model_writer,
                                 .graph_writer = &run->graph_writer,
                                 .want_last = run->settings.output.state,
                                 .steps = steps,
                                 .reports = true};
    IKT_TRY(choose_beginning(ctx, run, &hooks, &finished, &options));
    return ikt_embed_dataset(ctx, &run->settings, data, &run->rows, &options, &run->embedding);
}

/* COLLECTIVE. From settings to the map.
 *   source, data   what was opened, also after a failure */
static ikt_status run_steps(ikt_context *ctx, const ikt_settings *given, double began,
                            ikt_source **source, ikt_dataset **data, ikt_run *out) {
    ikt_settings asked = *given;
    ikt_recipe recipe;
    IKT_TRY(decide(ctx, &asked, out->given, out->is_host, &recipe, source));
    out->settings = recipe.settings;
    out->graph = recipe.graph;
    note_source(ikt_source_or(out->given, *source), out);
    IKT_TRY(open_inputs(ctx, &asked, began, &recipe, out, source, data));
    return embed(ctx, *data, &recipe.steps, out);
}

ikt_status ikt_pipeline_run(ikt_context *ctx, const ikt_settings *settings, ikt_source *given,
                            ikt_run *out) {
    ikt_source *source = NULL;
    ikt_dataset *data = NULL;
    const double began = ikt_now();
    ikt_context *in IKT_AT_END(ikt_waiting_end) = ctx;
    ikt_waiting_begin(in);
    memset(out, 0, sizeof *out);
    out->given = given;
    out->is_host = given != NULL || ikt_borrowed_of(ctx) != NULL;
    out->claims = ctx;
    out->start_time = (double)time(NULL);
    const ikt_status st = run_steps(ctx, settings, began, &source, &data, out);
    ikt_pipeline_close(&source, &data);
    if (st != IKT_OK) {
        ikt_watch_end(ctx);
        ikt_run_destroy(out);
        return st;
    }
    out->hash = ikt_row_hash(ctx, out->embedding.y, out->rows.first, out->rows.count,
                             (size_t)out->settings.layout.dimensions * sizeof(float));
    return IKT_OK;
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
    ikt_free_all(&run->labels, &run->label_names, &run->marked, &run->original, &run->facts,
                 &run->settings_fingerprint);
    ikt_checkpoint_destroy(&run->checkpoint);
    ikt_part_unclaim(&run->claims);
}

/* --- the same without the work ---------------------------------------------------------------- */

ikt_status ikt_rows_look(ikt_context *ctx, const ikt_settings *settings, ikt_source **source) {
    return ikt_rows_complete(ctx, ikt_missing_of_look(settings->preprocess.missing), NULL, source);
}

ikt_status ikt_pipeline_look(ikt_context *ctx, ikt_settings *settings, ikt_source **source) {
    IKT_TRY(ikt_rows_look(ctx, settings, source));
    return ikt_rows_resolve(ctx, *source, settings);
}

/* COLLECTIVE. What the run would take, and what it goes on from, or begins at. */
static ikt_status rehearse(ikt_context *ctx, ikt_recipe *recipe, ikt_source **source,
                           ikt_rehearsal *out) {
    ikt_settings *settings = &recipe->settings;
    const ikt_shape all = {.has_rows = *source != NULL};
    int64_t n = recipe->work.data.n;
    bool is_watched;
    IKT_TRY(ikt_check_limits(ctx, &settings->run, false, &is_watched, &out->seconds_left));
    if (*source) {
        IKT_TRY(ikt_pipeline_look(ctx, settings, source));
        n = ikt_source_rows(*source);
    }
    snprintf(out->input_name, sizeof out->input_name, "%s",
             *source ? ikt_source_name(*source) : recipe->graph.name);
    out->result_bytes = ikt_check_result_bytes(ctx, settings, n);
    IKT_TRY(ikt_check_room(ctx, settings, n));
    IKT_TRY(ikt_recipe_fit(ctx, recipe, n, recipe->work.data.type, settings));
    out->plan.work = recipe->work;
    IKT_TRY(ikt_plan_make(ctx, ikt_max_one(ctx, ikt_memory_beside(ctx)), &out->plan));
    ikt_workload_settings(&out->plan.work, &out->settings);
    IKT_TRY(ikt_unused_reset(ctx, &out->settings, &all, NULL));
    IKT_TRY(ikt_memory_plan_check(ctx, &out->plan.memory));
    IKT_TRY(ikt_checkpoint_look(ctx, settings, &out->plan.work.settings, &out->goes_on));
    if (settings->run.extend == 0) return IKT_OK;
    IKT_TRY(ikt_finished_check(ctx, settings, n));
    ikt_warn_of_iterations(ctx, &out->plan.work.settings, 0, true);
    return IKT_OK;
}

ikt_status ikt_rehearse(ikt_context *ctx, const ikt_settings *settings, const ikt_machine *machine,
                        ikt_rehearsal *out) {
    ikt_settings asked = *settings;
    ikt_source *source IKT_AT_END(ikt_source_close) = NULL;
    ikt_context *claims IKT_AT_END(ikt_part_unclaim) = ctx;
    IKT_ARRAYS(held, ctx, "recipe");
    memset(out, 0, sizeof *out);
    out->plan.machine = *machine;
    ikt_recipe *recipe = ikt_claim(&held, 1, sizeof *recipe);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(decide(ctx, &asked, NULL, false, recipe, &source));
    out->has_labels = recipe->has_labels;
    return rehearse(ctx, recipe, &source, out);
}
