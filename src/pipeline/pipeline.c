/* The pipeline. Read ikt_pipeline_run, near the end, first: it is the architecture on one screen.
 */
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
#include "data/missing.h"
#include "io/sources/lent.h"
#include "isolation/small_neighbourhoods.h"
#include "pipeline/early_outputs.h"
#include "pipeline/run_inputs.h"
#include "pipeline/start.h"
#include "settings/checks.h"
#include "settings/run_files.h"
#include "settings/settings.h"

/* --- rows, and the rows that their model comes from ------------------------------------------- */

/* COLLECTIVE. Opens isolation.model_from. */
static ikt_status open_model_rows(ikt_context *ctx, const ikt_settings *settings,
                                  const ikt_source *rows, ikt_source **out) {
    const ikt_isolation_settings *isolation = &settings->isolation;
    *out = NULL;
    if (settings->affinity.kind != IKT_AFFINITY_ISOLATION)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "isolation.model_from needs affinity.kind = isolation: other kernels draw "
                        "no centres");
    IKT_TRY(ikt_source_open(ctx, isolation->model_from, isolation->model_dataset, 0, out));
    if (ikt_source_columns(rows) == ikt_source_columns(*out)) return IKT_OK;
    ikt_status st = ikt_fail(ctx, IKT_ERR_DATA,
                             "%s (isolation.model_from) has %lld columns, %s has %lld: centres and "
                             "rows must have the same",
                             ikt_source_name(*out), (long long)ikt_source_columns(*out),
                             ikt_source_name(rows), (long long)ikt_source_columns(rows));
    ikt_source_close(out);
    return st;
}

/* COLLECTIVE. Puts what preprocess.normalise: auto means for the rows of `source` in its place. */
static ikt_status settle_normalise(ikt_context *ctx, ikt_source *source,
                                   ikt_preprocess_settings *preprocess) {
    ikt_normalise mode = ikt_normalise_of(preprocess);
    if (mode == IKT_NORMALISE_AUTO && preprocess->metric != IKT_METRIC_PRECOMPUTED)
        IKT_TRY(ikt_normalise_choose(ctx, source, &mode));
    preprocess->normalise = (int)mode;
    return IKT_OK;
}

/* COLLECTIVE. The data set of `source`, and where its model comes from other rows that of those.
 * The statistics of one of the two fix the map of both. */
static ikt_status open_data(ikt_context *ctx, const ikt_settings *settings, ikt_source *source,
                            ikt_dataset **out) {
    ikt_preprocess_settings preprocess = settings->preprocess;
    ikt_source *other = NULL;
    ikt_dataset *leading = NULL, *following = NULL;
    preprocess.is_indefinite = settings->input.similarities[0] != '\0';
    if (!settings->isolation.model_from[0])
        return ikt_dataset_create(ctx, source, &preprocess, out);
    IKT_TRY(open_model_rows(ctx, settings, source, &other));
    ikt_status st = settle_normalise(ctx, other, &preprocess);
    const bool by_rows = preprocess.pca == 0 && (preprocess.normalise == IKT_NORMALISE_NONE ||
                                                 preprocess.normalise == IKT_NORMALISE_UNIT);
    if (st == IKT_OK) st = ikt_dataset_create(ctx, by_rows ? source : other, &preprocess, &leading);
    if (st == IKT_OK) {
        const ikt_data_map map = ikt_dataset_map(leading);
        st = ikt_dataset_create_mapped(ctx, by_rows ? other : source, &map, &following);
    }
    if (st == IKT_OK) {
        *out = by_rows ? leading : following;
        ikt_dataset_take_model(*out, &other, by_rows ? &following : &leading);
    } else {
        ikt_dataset_destroy(&following); /* what borrows the map goes first */
        ikt_dataset_destroy(&leading);
    }
    ikt_source_close(&other);
    return st;
}

/* COLLECTIVE. Puts psi for rows with small neighbourhoods in place of isolation.psi: auto. The
 * rule of other rows asks for no look at them (isolation/settings.h). */
static ikt_status settle_psi(ikt_context *ctx, ikt_dataset *data, ikt_settings *settings) {
    ikt_isolation_settings *isolation = &settings->isolation;
    int64_t cell_rows;
    double growth;
    if (!ikt_settings_look_at_neighbourhoods(settings, ikt_dataset_rows(data),
                                             ikt_dataset_is_sparse(data)))
        return IKT_OK;
    ikt_stage_begin(ctx, IKT_STAGE_PREPROCESS);
    ikt_status st = ikt_small_neighbourhoods_find(ctx, data, &cell_rows, &growth);
    ikt_stage_end(ctx, IKT_STAGE_PREPROCESS);
    if (st != IKT_OK || cell_rows == 0) return st;
    isolation->psi = ikt_dataset_rows(data) / cell_rows;
    ikt_log_numbers(
        ctx, IKT_LOG_STAGE,
        (ikt_log_number[]){IKT_LOG_INT("psi", isolation->psi), IKT_LOG_REAL("growth", growth), {0}},
        "isolation.psi: auto takes %lld, n/%lld, because the rows stand in small "
        "groups: beyond the 8 nearest rows their local dimension is %.1f times as high",
        (long long)isolation->psi, (long long)cell_rows, growth);
    return IKT_OK;
}

/* COLLECTIVE. Puts rows without missing values in place of `*source`, or of `given` ones, which
 * stay the caller's: then *source receives what stands on top of them, if anything has to. */
static ikt_status settle_missing(ikt_context *ctx, ikt_missing how, ikt_source *given,
                                 ikt_source **source) {
    ikt_source *without;
    IKT_TRY(ikt_missing_settle(ctx, given ? given : *source, given == NULL, how, NULL, &without));
    if (without) *source = without;
    return IKT_OK;
}

ikt_status ikt_pipeline_open(ikt_context *ctx, const ikt_settings *settings, ikt_source *given,
                             ikt_source **source, ikt_dataset **data) {
    *source = NULL;
    *data = NULL;
    if (!given && !ikt_input_has_rows(&settings->input) && settings->input.graph[0]) return IKT_OK;
    if (!given) IKT_TRY(ikt_input_open(ctx, &settings->input, source));
    ikt_status st = settle_missing(ctx, (ikt_missing)settings->preprocess.missing, given, source);
    if (st == IKT_OK) st = open_data(ctx, settings, *source ? *source : given, data);
    if (st != IKT_OK) ikt_source_close(source);
    return st;
}

void ikt_pipeline_close(ikt_source **source, ikt_dataset **data) {
    ikt_dataset_destroy(data);
    ikt_source_close(source);
}

/* --- labels and marked rows ------------------------------------------------------------------- */

ikt_status ikt_companions_read(ikt_context *ctx, const ikt_input_settings *input,
                               ikt_source *source, const ikt_rows *rows, ikt_companions *out) {
    const char *name = input->labels;
    bool present = false;
    ikt_graph_file *file = NULL;
    ikt_pairwise pairs = {.source = NULL};
    *out = (ikt_companions){.labels = NULL};
    if (!source) IKT_TRY(ikt_pairwise_open(ctx, input->graph, &pairs));
    if (pairs.source) source = pairs.source;
    if (!source) IKT_TRY(ikt_graph_file_open(ctx, input->graph, &file));
    ikt_status st =
        ikt_agree(ctx, ikt_alloc(ctx, &out->labels, rows->count, sizeof *out->labels, "labels"));
    if (st == IKT_OK)
        st = source ? ikt_source_read_labels(source, name, rows->first, rows->count, out->labels,
                                             &present)
                    : ikt_graph_labels(ctx, file, name, rows, out->labels, &present,
                                       &out->label_names);
    /* Labels that were named have to be there. */
    if (st == IKT_OK && !present && source && strcmp(name, "labels") != 0)
        st = ikt_source_no_labels(source, name, "input.labels");
    if (st == IKT_OK && present && source)
        st = ikt_source_read_text(source, "label_names", &out->label_names);
    if (!present) ikt_free(&out->labels);
    if (st == IKT_OK)
        st = source ? ikt_source_read_marked(source, &out->marked, &out->n_marked)
                    : ikt_graph_file_marked(file, &out->marked, &out->n_marked);
    ikt_graph_file_close(&file);
    ikt_pairwise_close(&pairs);
    if (st != IKT_OK) ikt_companions_free(out);
    return st;
}

void ikt_companions_free(ikt_companions *c) {
    ikt_free(&c->labels);
    ikt_free(&c->label_names);
    ikt_free(&c->marked);
}

/* --- before the first long stage -------------------------------------------------------------- */

static const char *type_of(const ikt_source *source, const ikt_graph_about *graph) {
    if (!source) return graph->is_pairwise ? "all pairs" : "graph";
    if (!ikt_source_is_sparse(source)) return ikt_type_name(ikt_source_type(source));
    return ikt_source_type(source) == IKT_TYPE_F32 ? "sparse float32" : "sparse float64";
}

/* The one line before a run: what is read, and what will be written. */
static void announce(ikt_context *ctx, const ikt_source *source, const ikt_run *run) {
    const ikt_output_settings *output = &run->settings.output;
    const char *const name[] = {output->file, output->picture, output->model, output->graph};
    const int64_t n = source ? ikt_source_rows(source) : run->graph.n;
    const int64_t d = source ? ikt_source_columns(source) : 0;
    char writes[3 * IKT_STRING_MAX] = "", shape[64] = "";
    int last = -1;
    for (int i = 0; i < 4; i++)
        if (name[i][0]) last = i;
    for (int i = 0, count = 0; i <= last; i++) {
        if (!name[i][0]) continue;
        const size_t used = strlen(writes);
        snprintf(writes + used, sizeof writes - used, "%s%s",
                 count++ == 0 ? ", will write "
                 : i == last  ? " and "
                              : ", ",
                 name[i]);
    }
    if (d > 0) snprintf(shape, sizeof shape, " x %lld columns", (long long)d);
    ikt_log_numbers(ctx, IKT_LOG_STAGE,
                    (ikt_log_number[]){IKT_LOG_INT("rows", n),
                                       IKT_LOG_INT("columns", d),
                                       IKT_LOG_INT("ranks", ikt_size(ctx)),
                                       IKT_LOG_INT("threads", ikt_threads(ctx)),
                                       {0}},
                    "reading %s (%lld rows%s, %s)%s; %d rank%s x %d thread%s",
                    source ? ikt_source_name(source) : run->graph.name, (long long)n, shape,
                    type_of(source, &run->graph), writes, ikt_size(ctx),
                    ikt_size(ctx) == 1 ? "" : "s", ikt_threads(ctx),
                    ikt_threads(ctx) == 1 ? "" : "s");
}

/* Notes rows, columns and ownership: of the data, or of a graph that stands alone. */
static void note_input(ikt_context *ctx, const ikt_source *source, ikt_dataset *data,
                       ikt_run *run) {
    const ikt_graph_about *graph = &run->graph;
    const int64_t n = source ? ikt_dataset_rows(data) : graph->n;
    snprintf(run->input_name, sizeof run->input_name, "%s",
             source ? ikt_source_name(source) : graph->name);
    run->d = source ? ikt_source_columns(source) : 0;
    run->type = type_of(source, graph);
    run->rows = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    if (graph->n > 0)
        ikt_log_numbers(ctx, IKT_LOG_STAGE,
                        (ikt_log_number[]){IKT_LOG_INT("entries", graph->entries), {0}},
                        "graph: %s, %lld entries%s", graph->name, (long long)graph->entries,
                        graph->is_kept       ? ", kept by a run of iktsne"
                        : graph->is_pairwise ? " of all pairs are used"
                                             : "");
    if (source) ikt_input_describe(ctx, source);
}

/* SAME-ARGS. What the run has to do.
 *   is_sparse, is_u8   how the kernels read the rows of `source`
 *   drawn              rows that centres are drawn from; 0: those */
static ikt_status make_workload(ikt_context *ctx, const ikt_settings *settings,
                                const ikt_graph_about *graph, const ikt_source *source,
                                bool is_sparse, bool is_u8, int64_t drawn, ikt_workload *out) {
    ikt_data_shape shape = {.n = graph->n, .type = IKT_TYPE_F32};
    if (source) {
        shape = ikt_data_shape_of(source, is_sparse);
        shape.drawn = drawn;
        if (shape.type == IKT_TYPE_U8 && !is_u8) shape.type = IKT_TYPE_F32;
    }
    IKT_TRY(ikt_graph_shape(ctx, graph, &shape));
    return ikt_workload_make(ctx, settings, &shape, ikt_size(ctx), ikt_threads(ctx), out);
}

/* COLLECTIVE. Refuses a matrix of similarities whose run does not fit before it is looked through,
 * which may take hours of a large one. Anything else that is wrong with it is told later. */
static ikt_status check_matrix_fits(ikt_context *ctx, const ikt_settings *settings) {
    const ikt_graph_about graph = {.n = 0};
    ikt_source *source = NULL;
    ikt_workload work;
    IKT_TRY(ikt_input_look(ctx, &settings->input, &source));
    const bool is_square = ikt_source_rows(source) == ikt_source_columns(source);
    ikt_status st = IKT_OK;
    if (!is_square || ikt_source_is_sparse(source) ||
        make_workload(ctx, settings, &graph, source, false, false, 0, &work) != IKT_OK) {
        ikt_clear(ctx);
    } else {
        const ikt_memory_plan plan = ikt_memory_plan_make(&work, ikt_memory_beside(ctx));
        st = ikt_memory_plan_fits(ctx, &plan);
    }
    ikt_source_close(&source);
    return st;
}

/* COLLECTIVE. What the result depends on, what is read and the settings, and the checkpoint that
 * has to agree with both. */
static ikt_status open_checkpoint(ikt_context *ctx, ikt_source *source, ikt_run *run) {
    ikt_stage_begin(ctx, IKT_STAGE_READ);
    ikt_status st = ikt_run_inputs_note(ctx, source, run);
    ikt_stage_end(ctx, IKT_STAGE_READ);
    if (st == IKT_OK)
        st = ikt_agree(ctx,
                       ikt_fingerprint_settings(ctx, &run->settings, &run->settings_fingerprint));
    if (st == IKT_OK)
        st = ikt_checkpoint_create(ctx, &run->settings, run->input_fingerprint, &run->checkpoint);
    return st;
}

/* COLLECTIVE. Refuses all that the settings alone tell to be refused, and settles what stands for
 * `auto` in them. is_watched and seconds are those of ikt_check_limits.
 *   has_rows   a program gives them */
static ikt_status check_settings(ikt_context *ctx, bool is_guest, bool has_rows,
                                 ikt_settings *settings, ikt_graph_about *graph, bool *is_watched,
                                 double *seconds) {
    /* The finished run is read before it is replaced. */
    if (settings->run.extend > 0) settings->output.overwrite = true;
    if (is_guest && !settings->output.file[0]) { /* no files without a name, nor what is for them */
        settings->output.state = false;
        if (strcmp(settings->run.checkpoint, "auto") == 0) strcpy(settings->run.checkpoint, "none");
    }
    IKT_TRY(ikt_check_outputs(ctx, settings, !is_guest));
    IKT_TRY(ikt_check_objective(ctx, settings));
    IKT_TRY(ikt_check_whole(ctx, settings));
    IKT_TRY(ikt_check_fisher(ctx, settings));
    IKT_TRY(ikt_check_missing(ctx, settings, is_guest));
    has_rows = has_rows || ikt_input_has_rows(&settings->input);
    IKT_TRY(ikt_check_kernel_map(ctx, settings, has_rows));
    IKT_TRY(ikt_graph_settle(ctx, settings, graph));
    IKT_TRY(ikt_unused_check(ctx, settings, has_rows, graph->is_kept));
    IKT_TRY(ikt_check_precomputed(ctx, settings));
    IKT_TRY(ikt_check_limits(ctx, &settings->run, is_guest, is_watched, seconds));
    return ikt_check_model(ctx, settings);
}

/* COLLECTIVE. Begins to watch signals and time, and the file of the model. A run without
 * checkpoints dies of signals; those of a host program are not ours. */
static ikt_status begin(ikt_context *ctx, double began, ikt_run *run) {
    const ikt_settings *settings = &run->settings;
    const double minutes = settings->run.checkpoint_every;
    bool is_watched;
    double seconds;
    IKT_TRY(check_settings(ctx, run->is_guest, run->given != NULL, &run->settings, &run->graph,
                           &is_watched, &seconds));
    if (is_watched && !run->is_guest) ikt_watch_signals();
    /* A limit that was given counts from the beginning, when the input had not been read yet. */
    if (strcmp(settings->run.max_time, "auto") != 0) seconds = fmax(0, seconds - ikt_now() + began);
    if (is_watched) ikt_watch_begin(ctx, seconds, minutes > 0 ? 60 * minutes : INFINITY);
    if (!settings->output.model[0]) return IKT_OK;
    return ikt_model_writer_begin(ctx, settings->output.model, settings->output.overwrite,
                                  &run->model_writer);
}

/* COLLECTIVE. What the rows tell to be refused, the checkpoint, labels, and the file of the graph.
 */
static ikt_status prepare(ikt_context *ctx, ikt_source *source, ikt_dataset *data, ikt_run *run) {
    const ikt_settings *settings = &run->settings;
    const bool is_sparse = data && ikt_dataset_is_sparse(data);
    char inputs[IKT_INPUTS_TEXT];
    ikt_companions found;
    ikt_workload work;
    note_input(ctx, source, data, run);
    IKT_TRY(ikt_check_sparse(ctx, settings, is_sparse));
    IKT_TRY(ikt_check_room(ctx, settings, run->rows.n));
    IKT_TRY(make_workload(ctx, settings, &run->graph, source, is_sparse,
                          data && ikt_dataset_is_u8(data),
                          data ? ikt_dataset_rows(ikt_dataset_model(data)) : 0, &work));
    const ikt_memory_plan plan = ikt_memory_plan_make(&work, ikt_memory_beside(ctx));
    run->predicted_bytes = ikt_max_one(ctx, plan.peak);
    IKT_TRY(ikt_memory_plan_check(ctx, &plan));
    IKT_TRY(ikt_companions_read(ctx, &settings->input, source, &run->rows, &found));
    run->labels = found.labels;
    run->label_names = found.label_names;
    run->marked = found.marked;
    run->n_marked = found.n_marked;
    IKT_TRY(open_checkpoint(ctx, source, run));
    ikt_run_inputs_of_graph(run, inputs);
    const ikt_graph_origin origin = {settings, inputs, run->label_names, run->marked,
                                     run->n_marked};
    return ikt_run_graph_begin(ctx, &origin, &run->graph_writer);
}

/* Which rows of the input the rows are, where some have been left out. */
static ikt_status note_originals(ikt_context *ctx, const ikt_source *source, ikt_run *run) {
    const ikt_rows *rows = &run->rows;
    IKT_TRY(ikt_agree(
        ctx, ikt_alloc(ctx, &run->original, rows->count, sizeof *run->original, "missing values")));
    for (int64_t i = 0; i < rows->count; i++)
        run->original[i] = ikt_missing_original(source, rows->first + i);
    return IKT_OK;
}

/* --- the line --------------------------------------------------------------------------------- */

ikt_status ikt_pipeline_run(ikt_context *ctx, const ikt_settings *given_settings, ikt_source *given,
                            ikt_run *out) {
    ikt_settings *settings = &out->settings;
    ikt_source *source = NULL;
    ikt_dataset *data = NULL;
    ikt_checkpoint_hooks hooks;
    ikt_loop_state finished = {0};
    memset(out, 0, sizeof *out);
    *settings = *given_settings;
    out->given = given;
    out->is_guest = given != NULL || ikt_lent_of(ctx) != NULL;
    out->start_time = (double)time(NULL);
    const double began = ikt_now();
    /* The input first: what is wrong with it explains more than what is wrong with outputs. */
    ikt_status st = ikt_check_similarities(ctx, settings);
    if (st == IKT_OK && !given && settings->input.similarities[0])
        st = check_matrix_fits(ctx, settings);
    if (st == IKT_OK && !given &&
        (ikt_input_has_rows(&settings->input) || !settings->input.graph[0]))
        st = ikt_input_open(ctx, &settings->input, &source);
    ikt_source *rows = given ? given : source;
    if (st == IKT_OK) st = begin(ctx, began, out);
    if (st == IKT_OK) announce(ctx, rows, out);
    if (st == IKT_OK && rows)
        st = settle_missing(ctx, (ikt_missing)settings->preprocess.missing, given, &source);
    if (st == IKT_OK && rows) st = open_data(ctx, settings, rows = source ? source : given, &data);
    if (st == IKT_OK && data) { /* what auto stood for */
        settings->preprocess.normalise = (int)ikt_dataset_map(data).normaliser.mode;
        st = settle_psi(ctx, data, settings);
    }
    if (st == IKT_OK) st = prepare(ctx, rows, data, out);
    ikt_embed_options options = {.labels = out->labels,
                                 .label_names = out->label_names,
                                 .model_writer = out->model_writer,
                                 .graph_writer = &out->graph_writer,
                                 .want_last = settings->output.state,
                                 .is_told = true};
    if (st == IKT_OK && out->checkpoint) {
        ikt_checkpoint_hooks_make(ctx, out->checkpoint, &out->rows, &settings->layout, &hooks);
        options.hooks = &hooks;
    }
    if (st == IKT_OK && settings->run.extend > 0) {
        const ikt_stage_head own =
            ikt_checkpoint_head("loop", out->input_fingerprint, out->settings_fingerprint);
        st = ikt_finished_read(ctx, settings, &out->rows, &own, &finished);
        options.from = &finished;
        settings->layout.iterations = finished.iteration + settings->run.extend;
    }
    if (st == IKT_OK && source && ikt_missing_drops(source)) st = note_originals(ctx, source, out);
    if (st == IKT_OK)
        st = ikt_embed_dataset(ctx, settings, data, &out->rows, &options, &out->embedding);
    if (st == IKT_OK)
        out->hash = ikt_row_hash(ctx, out->embedding.y, out->rows.first, out->rows.count,
                                 (size_t)settings->layout.dimensions * sizeof(float));
    ikt_loop_state_destroy(&finished);
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
    ikt_free(&run->original);
    ikt_checkpoint_destroy(&run->checkpoint);
    ikt_free(&run->settings_fingerprint);
}

/* --- the same without the work ---------------------------------------------------------------- */

/* What the run would refuse once its input is open, and what it would take. */
static ikt_status rehearse_with(ikt_context *ctx, ikt_settings *settings, ikt_source *source,
                                const ikt_graph_about *graph, ikt_rehearsal *out) {
    const bool is_sparse = source && ikt_source_is_sparse(source) && settings->preprocess.pca == 0;
    const ikt_rows none = {.n = source ? ikt_source_rows(source) : graph->n};
    bool is_u8 = source && ikt_source_type(source) == IKT_TYPE_U8 &&
                 settings->preprocess.metric != IKT_METRIC_PRECOMPUTED;
    int64_t drawn = 0;
    ikt_source *model = NULL;
    ikt_companions found;
    snprintf(out->input_name, sizeof out->input_name, "%s",
             source ? ikt_source_name(source) : graph->name);
    IKT_TRY(ikt_check_sparse(ctx, settings, is_sparse));
    if (source && settings->isolation.model_from[0]) {
        IKT_TRY(open_model_rows(ctx, settings, source, &model));
        drawn = ikt_source_rows(model);
        is_u8 = ikt_source_type(model) == IKT_TYPE_U8;
    }
    ikt_status st =
        source ? settle_normalise(ctx, model ? model : source, &settings->preprocess) : IKT_OK;
    ikt_source_close(&model);
    if (st == IKT_OK && source &&
        ikt_settings_look_at_neighbourhoods(settings, ikt_source_rows(source), is_sparse)) {
        ikt_dataset *data = NULL;
        st = open_data(ctx, settings, source, &data);
        if (st == IKT_OK) st = settle_psi(ctx, data, settings);
        ikt_dataset_destroy(&data);
    }
    IKT_TRY(st);
    out->result_bytes = ikt_check_result_bytes(ctx, settings, none.n);
    IKT_TRY(ikt_check_room(ctx, settings, none.n));
    IKT_TRY(make_workload(ctx, settings, graph, source, is_sparse, is_u8, drawn, &out->plan.work));
    IKT_TRY(ikt_plan_make(ctx, ikt_max_one(ctx, ikt_memory_beside(ctx)), &out->plan));
    ikt_plan_settings(&out->plan.work, &out->settings);
    IKT_TRY(ikt_unused_reset(ctx, &out->settings, ikt_input_has_rows(&settings->input), NULL));
    IKT_TRY(ikt_memory_plan_check(ctx, &out->plan.memory));
    IKT_TRY(ikt_companions_read(ctx, &settings->input, source, &none, &found));
    out->has_labels = found.labels != NULL;
    ikt_companions_free(&found);
    /* What the run goes on from, or begins at. */
    IKT_TRY(ikt_checkpoint_look(ctx, settings, &out->goes_on));
    if (settings->run.extend > 0) IKT_TRY(ikt_finished_check(ctx, settings, none.n));
    if (settings->layout.init != IKT_INIT_FILE) return IKT_OK;
    return ikt_start_file_check(ctx, &settings->layout, none.n);
}

ikt_status ikt_rehearse(ikt_context *ctx, const ikt_settings *settings, const ikt_machine *machine,
                        ikt_rehearsal *out) {
    ikt_settings wanted = *settings;
    ikt_source *source = NULL;
    ikt_graph_about graph;
    bool is_watched;
    memset(out, 0, sizeof *out);
    out->plan.machine = *machine;
    /* A median takes more passes than a mean, and nothing here depends on which it is. */
    const ikt_missing how = wanted.preprocess.missing == IKT_MISSING_MEDIAN
                                ? IKT_MISSING_MEAN
                                : (ikt_missing)wanted.preprocess.missing;
    IKT_TRY(ikt_check_similarities(ctx, &wanted));
    if (ikt_input_has_rows(&wanted.input) || !wanted.input.graph[0])
        IKT_TRY(ikt_input_look(ctx, &wanted.input, &source));
    ikt_status st =
        check_settings(ctx, false, false, &wanted, &graph, &is_watched, &out->seconds_left);
    if (st == IKT_OK && source) st = settle_missing(ctx, how, NULL, &source);
    if (st == IKT_OK) st = rehearse_with(ctx, &wanted, source, &graph, out);
    ikt_source_close(&source);
    return st;
}
