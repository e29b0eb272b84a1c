/* File, picture and cost of a finished run. */
#include "pipeline/outcome.h"

#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sort.h"
#include "checkpoint/checkpoint.h"
#include "objective/divergence.h"
#include "objective/regulariser.h"
#include "pipeline/notes.h"
#include "plot/plot.h"
#include "recipe/facts.h"

/* --- file and model --------------------------------------------------------------------------- */

void ikt_run_cost_collect(ikt_context *ctx, ikt_run_cost *cost) {
    ikt_traffic_collect(ctx, cost->traffic); /* first: what follows communicates, too */
    ikt_stage_collect(ctx, cost->times);
    ikt_memory_peaks_collect(ctx, &cost->memory);
    cost->accounted_bytes = ikt_max_one(ctx, ikt_memory_peak(ctx));
}

ikt_status ikt_run_configuration(ikt_context *ctx, const ikt_run *run, char **text) {
    ikt_settings settings = run->settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    settings.output.overwrite = false;
    settings.run.threads = IKT_AUTO_INT;
    ikt_settings_forget_job(&settings.run);
    const ikt_shape shape = {.has_rows = run->given || ikt_input_has_rows(&settings.input)};
    IKT_TRY(ikt_unused_reset(ctx, &settings, &shape, NULL));
    ikt_settings_parts(&settings, parts);
    return ikt_config_print(ctx, parts, IKT_SETTINGS_PARTS, text);
}

ikt_result ikt_run_map(const ikt_run *run) {
    return (ikt_result){.rows = run->rows,
                        .q = (int)run->settings.layout.dimensions,
                        .embedding = run->embedding.y,
                        .labels = run->labels,
                        .label_names = run->label_names,
                        .marked = run->marked,
                        .n_marked = run->n_marked};
}

/* LOCAL. The trace by columns, with no room for more eigenvalues than there are. */
static ikt_status make_columns(ikt_context *ctx, const ikt_trace *trace, int64_t eigenvalues,
                               ikt_trace_columns *c) {
    IKT_TRY(ikt_trace_columns_make(ctx, trace->point, trace->count, c));
    for (int64_t i = 0; i < trace->count; i++)
        memmove(c->eigenvalue + i * eigenvalues, c->eigenvalue + i * IKT_TRACE_EIGENVALUES,
                (size_t)eigenvalues * sizeof *c->eigenvalue);
    return IKT_OK;
}

static void put_trace(const ikt_trace *trace, const ikt_trace_columns *c, int64_t eigenvalues,
                      ikt_result *result) {
    result->n_trace = trace->count;
    result->trace_iteration = c->iteration;
    result->value_name = ikt_trace_key(trace);
    result->trace_value = c->value;
    result->trace_error = ikt_trace_last_error(trace) > 0 ? c->error : NULL;
    result->trace_gradient_norm = c->norm;
    result->trace_eigenvalue = c->eigenvalue;
    result->trace_eigenvalues = eigenvalues;
    result->trace_seconds = c->seconds;
}

/* LOCAL. What a file holds beside map and trace. */
typedef struct {
    ikt_trace_columns trace;
    ikt_loop_parts state;
    char *configuration;
} written;

static void written_destroy(written *w) {
    ikt_trace_columns_destroy(&w->trace);
    ikt_loop_parts_destroy(&w->state);
    ikt_free(&w->configuration);
}

static ikt_status prepare(ikt_context *ctx, ikt_run *run, int64_t eigenvalues, written *w) {
    const ikt_embed_result *e = &run->embedding;
    ikt_free(&run->facts);
    IKT_TRY(ikt_alloc(ctx, &run->facts, 1, sizeof *run->facts, "provenance"));
    IKT_TRY(make_columns(ctx, &e->trace, eigenvalues, &w->trace));
    IKT_TRY(ikt_run_configuration(ctx, run, &w->configuration));
    if (!run->settings.output.state) return IKT_OK;
    return ikt_finished_parts(ctx, &run->rows, &e->last, &e->trace, &w->state);
}

ikt_status ikt_run_write(ikt_context *ctx, ikt_run *run) {
    const ikt_trace *trace = &run->embedding.trace;
    const int64_t eigenvalues = ikt_smaller(trace->eigenvalues, IKT_TRACE_EIGENVALUES);
    const bool has_originals = ikt_max_one(ctx, run->original != NULL) > 0;
    ikt_run_cost cost;
    ikt_part own[IKT_CLASS_PARTS];
    written w IKT_AT_END(written_destroy) = {.configuration = NULL};
    IKT_IN_STAGE(ctx, IKT_STAGE_WRITE);
    ikt_run_cost_collect(ctx, &cost);
    IKT_TRY(ikt_agree(ctx, prepare(ctx, run, eigenvalues, &w)));
    ikt_notes *n = run->facts;
    ikt_note_run(ctx, run, &cost, n);
    const ikt_result_column original = {"row", IKT_COLUMN_INT64, run->original};
    ikt_result result = ikt_run_map(run);
    result.columns = &original;
    result.n_columns = has_originals;
    put_trace(trace, &w.trace, eigenvalues, &result);
    result.configuration = w.configuration;
    result.facts = n->fact;
    result.n_facts = n->n_facts;
    result.circumstances = n->circumstance;
    result.n_circumstances = n->n_circumstances;
    result.own_name = ikt_affinity_of(&run->settings.affinity)->name;
    result.own = own;
    result.n_own = ikt_class_outcome_parts(&run->embedding.classes, &run->rows, own);
    result.state = w.state.part;
    result.n_state = w.state.count;
    result.state_head =
        ikt_checkpoint_head("loop", run->input_fingerprint, run->settings_fingerprint);
    return ikt_result_write(ctx, run->settings.output.file, run->settings.output.overwrite,
                            &result);
}

/* COLLECTIVE. What the model of a run has been waiting for. */
static ikt_status complete_model(ikt_context *ctx, const ikt_run *run, ikt_model_writer *w) {
    const ikt_rows *rows = &run->rows;
    char *configuration IKT_AT_END(ikt_free) = NULL;
    IKT_ARRAYS(held, ctx, "provenance");
    ikt_notes *n = ikt_claim(&held, 1, sizeof *n);
    if (n) held.status = ikt_run_configuration(ctx, run, &configuration);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_model_writer_part(w, IKT_MODEL_EMBEDDING, rows->first, rows->count,
                                  run->embedding.y, 0));
    /* A rank without rows may hold no labels either: all ranks take the same path. */
    if (ikt_max_one(ctx, run->labels != NULL) > 0)
        IKT_TRY(
            ikt_model_writer_part(w, IKT_MODEL_LABELS, rows->first, rows->count, run->labels, 0));
    IKT_TRY(ikt_model_writer_label_names(w, run->label_names));
    ikt_note_origin(run, n);
    return ikt_model_writer_notes(w, configuration, n->fact, n->n_facts);
}

ikt_status ikt_run_model_end(ikt_context *ctx, ikt_run *run) {
    if (!run->model_writer) return IKT_OK;
    IKT_IN_STAGE(ctx, IKT_STAGE_WRITE);
    const ikt_status st = complete_model(ctx, run, run->model_writer);
    IKT_TRY(ikt_model_writer_end(&run->model_writer, st));
    ikt_log(ctx, IKT_LOG_STAGE, "model: %s; `iktsne transform` places new rows by it",
            run->settings.output.model);
    return IKT_OK;
}

/* --- picture ---------------------------------------------------------------------------------- */

/* "laptsne K 8, lambda 0.5, ": what the objective is where it is not t-SNE. */
static void describe_objective(const ikt_layout_settings *layout, const ikt_trace *trace,
                               char *text, size_t size) {
    const ikt_objective_kind *kind = ikt_layout_objective(layout);
    text[0] = '\0';
    if (trace->eigenvalues > 0 && layout->regulariser_weight > 0)
        ikt_regulariser_describe(layout->regulariser_weight, trace->eigenvalues, text, size);
    else if (kind->divergence && kind->divergence->has_trade_off)
        snprintf(text, size, "%s %g, ", kind->name, layout->trade_off);
    else if (kind != &ikt_objective_tsne)
        snprintf(text, size, "%s, ", kind->name);
}

/* "isolation psi 1024, t 200, k 30": kernel and support. */
static void describe_affinity(const ikt_run *run, char *text, size_t size) {
    static const char *const supports[] = {
        [IKT_SUPPORT_DENSE] = "dense", [IKT_SUPPORT_WHOLE] = "whole", [IKT_SUPPORT_SPARSE] = ""};
    const ikt_settings *s = &run->settings;
    char kernel[64], own[64] = "", k[64] = "";
    ikt_affinity_describe(&s->affinity, kernel, sizeof kernel);
    if (ikt_affinity_of(&s->affinity)->scores == IKT_SCORES_CODES)
        snprintf(own, sizeof own, "%s psi %lld, t %lld",
                 s->isolation.form == IKT_FORM_FOREST ? " forest" : "", (long long)s->isolation.psi,
                 (long long)s->isolation.partitionings);
    if (s->affinity.support == IKT_SUPPORT_SPARSE)
        snprintf(k, sizeof k, "k %lld", (long long)s->affinity.neighbours);
    if (s->affinity.kind == IKT_AFFINITY_GRAPH)
        snprintf(text, size, "%s%s, %.1f entries a row", kernel, own,
                 (double)run->graph.entries / (double)run->graph.n);
    else
        snprintf(text, size, "%s%s, %s%s", kernel, own, supports[s->affinity.support], k);
}

/* "isolation psi 1024, t 200, k 30, seed 1, KL 1.234": what a reader of the picture asks first. */
static void describe_run(const ikt_run *run, char *text, size_t size) {
    const ikt_settings *s = &run->settings;
    const ikt_trace *trace = &run->embedding.trace;
    const ikt_objective_kind *kind = ikt_layout_objective(&s->layout);
    char affinity[256], objective[64];
    describe_objective(&s->layout, trace, objective, sizeof objective);
    describe_affinity(run, affinity, sizeof affinity);
    if (kind->is_start && kind->needs == 0)
        snprintf(text, size, "%s, %s %.4f", kind->name, trace->value_name, ikt_trace_last(trace));
    else
        snprintf(text, size, "%s%s, seed %lld, %s %.4f", objective, affinity,
                 (long long)s->run.seed, trace->value_name, ikt_trace_last(trace));
}

ikt_status ikt_run_picture(ikt_context *ctx, const ikt_run *run) {
    const ikt_output_settings *output = &run->settings.output;
    char footer[512], *configuration IKT_AT_END(ikt_free) = NULL;
    if (!output->picture[0]) return IKT_OK;
    IKT_IN_STAGE(ctx, IKT_STAGE_PICTURE);
    IKT_TRY(ikt_agree(ctx, ikt_run_configuration(ctx, run, &configuration)));
    ikt_plot_settings settings = ikt_plot_defaults();
    describe_run(run, footer, sizeof footer);
    settings.overwrite = output->overwrite;
    settings.footer = footer;
    settings.when_unread = "; the result is written, draw the picture with `iktsne plot`";
    settings.description = configuration;
    const ikt_plot_points points = {.rows = &run->rows,
                                    .q = (int)run->settings.layout.dimensions,
                                    .y = run->embedding.y,
                                    .labels = run->labels,
                                    .column = run->settings.input.labels,
                                    .class_names = run->label_names,
                                    .marked = run->marked,
                                    .n_marked = run->n_marked};
    return ikt_plot_embedding(ctx, &settings, &points, output->picture);
}
