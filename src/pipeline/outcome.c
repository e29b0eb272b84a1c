/* File, picture and cost of a finished run. */
#define _GNU_SOURCE
#include "pipeline/outcome.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sort.h"
#include "checkpoint/loop_parts.h"
#include "objective/divergence.h"
#include "pipeline/notes.h"
#include "plot/plot.h"
#include "recipe/facts.h"

/* --- notes ------------------------------------------------------------------------------------ */

/* By which program and of what the run is. */
static void note_origin(const ikt_run *run, ikt_notes *n) {
    ikt_notes_program(n);
    ikt_note_fact(n, "instruction_set", "%s", ikt_isa_name(ikt_cpu_isa()));
    ikt_note_fact(n, "input", "%s", run->input_name);
    if (run->d > 0)
        ikt_note_fact(n, "input_shape", "%lld x %lld %s", (long long)run->rows.n, (long long)run->d,
                      run->type);
    ikt_note_hash(n, "embedding_hash", run->hash);
}

static void note_eigenvectors(const ikt_embed_result *e, ikt_notes *n) {
    const ikt_eigengap *gap = &e->gap;
    const bool has_gap = gap->values > 0, has_start = e->eigenvectors.components > 0;
    double after[IKT_EIGENGAP_LARGEST];
    if (has_gap || has_start)
        ikt_note_int(n, "components_of_p",
                     has_gap ? gap->report.components : e->eigenvectors.components);
    if (has_start) {
        ikt_note_int(n, "start_products", e->eigenvectors.products);
        ikt_note_real(n, "start_residual", e->eigenvectors.residual);
    }
    if (!has_gap) return;
    for (int64_t g = 0; g < gap->gaps; g++)
        after[g] = (double)gap->after[g];
    ikt_note_reals(n, "eigenvalues", gap->value, (int)gap->values);
    ikt_note_int(n, "eigenvalue_products", gap->report.products);
    ikt_note_real(n, "eigenvalue_residual", gap->report.residual);
    ikt_note_reals(n, "gaps_after", after, (int)gap->gaps);
    ikt_note_reals(n, "gaps", gap->gap, (int)gap->gaps);
    if (gap->is_clear) ikt_note_int(n, "clusters_by_eigengap", gap->after[0]);
}

enum { EIGENVALUES_MOST = 100 }; /* that a fact has room for */

/* What the regulariser of the objective left: the divergence alone, and the eigenvalues. */
static void note_regulariser(const ikt_trace *trace, ikt_notes *n) {
    if (trace->eigenvalues == 0) return;
    ikt_note_int(n, "regulariser_rank", trace->eigenvalues + 1);
    if (strcmp(trace->value_name, "KL") != 0) ikt_note_real(n, "kl", trace->divergence);
    ikt_note_reals(n, "map_eigenvalues", trace->eigenvalue,
                   (int)ikt_smaller(trace->eigenvalues, EIGENVALUES_MOST));
}

static void note_figures(const ikt_label_figures *f, const char *of, ikt_notes *n) {
    const struct {
        const char *name;
        double value;
    } figure[] = {{"posterior_error", f->posterior},
                  {"space_1nn_error", f->space_nearest},
                  {"space_vote_error", f->space_votes},
                  {"map_1nn_error", f->map_nearest},
                  {"map_vote_error", f->map_votes}};
    char name[64];
    snprintf(name, sizeof name, "fisher_%s_rows", of);
    ikt_note_fact(n, name, "%lld, of which %lld were asked", (long long)f->rows,
                  (long long)f->sample);
    for (size_t e = 0; f->sample > 0 && e < sizeof figure / sizeof *figure; e++) {
        snprintf(name, sizeof name, "fisher_%s_%s", of, figure[e].name);
        ikt_note_share(n, name, figure[e].value);
    }
}

/* That labels were used, which, and what they tell of others. */
static void note_classes(const ikt_class_outcome *o, ikt_notes *n) {
    if (!o->is_there) return;
    ikt_note_fact(n, "labels_used", "%slabels of %lld rows of the support (fisher/support)",
                  o->is_permuted ? "permuted " : "", (long long)o->support.m);
    ikt_note_int(n, "fisher_train_rows", o->classes.trained);
    ikt_note_int(n, "fisher_labelled_rows", o->classes.labelled);
    ikt_note_real(n, "fisher_sigma", o->sigma.sigma);
    ikt_note_real(n, "fisher_log_likelihood", o->sigma.log_likelihood);
    ikt_note_share(n, "fisher_certain", o->certain);
    ikt_note_share(n, "fisher_chance", o->chance);
    ikt_note_share(n, "fisher_proved", o->proved);
    ikt_note_int(n, "fisher_votes", o->used.votes);
    note_figures(&o->held_out, "held_out", n);
    note_figures(&o->used, "used", n);
}

static void note_kernel(const ikt_kernel_report *r, ikt_notes *n) {
    const ikt_discriminant_facts *d = &r->separated;
    if (r->m == 0) return;
    ikt_note_int(n, "kernel_rows", r->m);
    if (r->bandwidth > 0) ikt_note_real(n, "kernel_bandwidth", r->bandwidth);
    if (!r->is_kda) {
        ikt_note_reals(n, "kernel_eigenvalues", r->components.value, r->q);
        ikt_note_real(n, "kernel_trace", r->components.trace);
        return;
    }
    ikt_note_fact(n, "labels_used", "%lld of %lld classes", (long long)r->m, (long long)d->classes);
    ikt_note_int(n, "rows_without_label", r->unlabelled);
    ikt_note_real(n, "kernel_ridge", d->ridge);
    ikt_note_share(n, "kernel_error", d->error);
    ikt_note_share(n, "permuted_error", d->baseline);
    ikt_note_share(n, "chance_error", d->chance);
}

/* Every file that was read, by its role; the file of the settings, which may as well be words of
 * the command, is no fact of the map. */
static void note_inputs(const ikt_run *run, ikt_notes *n) {
    char name[64];
    for (int i = 0; i < run->n_inputs; i++) {
        const ikt_run_input *input = &run->input[i];
        const bool is_told = strcmp(input->role, "configuration") == 0;
        snprintf(name, sizeof name, "read_%s", input->role);
        if (input->name[0])
            (is_told ? ikt_note_circumstance : ikt_note_fact)(n, name, "%s, %s", input->name,
                                                              input->checksum);
    }
}

/* What is the same in every equal run. */
static void note_facts(const ikt_run *run, ikt_notes *n) {
    const ikt_embed_result *e = &run->embedding;
    note_origin(run, n);
    if (run->graph.n > 0)
        ikt_note_fact(n, "graph", "%s, %lld rows, %lld entries", run->graph.name,
                      (long long)run->graph.n, (long long)run->graph.entries);
    if (run->input_fingerprint[0])
        ikt_note_fact(n, "input_fingerprint", "%s", run->input_fingerprint);
    note_inputs(run, n);
    if (e->entries > 0) ikt_note_int(n, "entries_of_p", e->entries);
    ikt_note_int(n, "rows_without_similarity", e->zero_similarity);
    if (e->accuracy >= 0) ikt_note_share(n, "neighbour_label_accuracy", e->accuracy);
    if (e->recall.sample > 0) {
        ikt_note_share(n, "neighbour_similarity", e->recall.similarity);
        ikt_note_share(n, "neighbours_found", e->recall.found);
        ikt_note_int(n, "recall_sample", e->recall.sample);
    }
    ikt_note_cells(n, &e->cells);
    note_classes(&e->classes, n);
    note_eigenvectors(e, n);
    note_kernel(&e->kernel, n);
    ikt_note_int(n, "exaggeration_ended", e->trace.exaggeration_end);
    ikt_note_int(n, "iterations_done", e->trace.end);
    ikt_note_fact(n, "stopped_because", "%s",
                  e->trace.has_converged ? "the objective settled" : "iterations are done");
    ikt_note_real(n, ikt_trace_key(&e->trace), ikt_trace_last(&e->trace));
    note_regulariser(&e->trace, n);
    if (ikt_trace_last_error(&e->trace) > 0)
        ikt_note_real(n, "standard_error", ikt_trace_last_error(&e->trace));
}

/* What varies from run to run. Memory is that of the rank that had most when the file was written,
 * and a number for each of few ranks; traffic that of the rank that has most of each. */
static void note_circumstances(const ikt_run *run, const ikt_run_cost *cost, ikt_notes *n) {
    const ikt_memory_peaks *m = &cost->memory;
    char host[256] = "unknown", start[64] = "unknown", name[64];
    char text[sizeof n->circumstance->text] = "";
    size_t used = 0;
    struct tm parts;
    time_t seconds = (time_t)run->start_time;
    if (gethostname(host, sizeof host - 1) != 0) snprintf(host, sizeof host, "unknown");
    if (gmtime_r(&seconds, &parts)) strftime(start, sizeof start, "%Y-%m-%dT%H:%M:%SZ", &parts);
    ikt_note_circumstance(n, "host", "%s", host);
    ikt_note_circumstance(n, "start", "%s", start);
    ikt_note_circumstance(n, "predicted_bytes_per_rank", "%lld", (long long)run->predicted_bytes);
    ikt_note_circumstance(n, "peak_bytes_per_rank", "%lld", (long long)m->most);
    ikt_note_circumstance(n, "peak_rank", "%d", m->rank);
    ikt_note_circumstance(n, "peak_stage", "%s", ikt_stage_name(m->stage));
    ikt_memory_peaks_describe(m, text, sizeof text);
    ikt_note_circumstance(n, "peak_purposes", "%s", text);
    for (int r = 0; r < m->ranks && used < sizeof text; r++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld", r > 0 ? " " : "",
                                 (long long)m->of_rank[r]);
    if (m->ranks > 0) ikt_note_circumstance(n, "peak_bytes_of_ranks", "%s", text);
    for (int s = 0; s < IKT_STAGE_COUNT; s++) {
        const ikt_traffic_range *of = cost->traffic[s].of;
        snprintf(name, sizeof name, "seconds_%s", ikt_stage_name((ikt_stage)s));
        if (cost->times[s].count > 0) ikt_note_circumstance(n, name, "%.6f", cost->times[s].most);
        if (of[IKT_TRAFFIC_COLLECTIVES].most + of[IKT_TRAFFIC_MESSAGES_SENT].most == 0) continue;
        snprintf(name, sizeof name, "traffic_%s", ikt_stage_name((ikt_stage)s));
        ikt_note_circumstance(n, name,
                              "per rank at most %lld bytes sent, %lld received, %lld messages "
                              "sent, %lld received, %lld collective calls, %.6f s in calls of MPI, "
                              "%.6f s in the longest",
                              (long long)of[IKT_TRAFFIC_BYTES_SENT].most,
                              (long long)of[IKT_TRAFFIC_BYTES_RECEIVED].most,
                              (long long)of[IKT_TRAFFIC_MESSAGES_SENT].most,
                              (long long)of[IKT_TRAFFIC_MESSAGES_RECEIVED].most,
                              (long long)of[IKT_TRAFFIC_COLLECTIVES].most,
                              cost->traffic[s].wait_most, cost->traffic[s].wait_longest);
    }
}

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

ikt_status ikt_run_write(ikt_context *ctx, ikt_run *run) {
    const ikt_trace *trace = &run->embedding.trace;
    ikt_run_cost cost;
    ikt_trace_columns c = {.iteration = NULL};
    char *configuration = NULL;
    ikt_loop_parts state = {.trace = {.iteration = NULL}};
    const int64_t eigenvalues = ikt_smaller(trace->eigenvalues, IKT_TRACE_EIGENVALUES);
    const bool has_originals = ikt_max_one(ctx, run->original != NULL) > 0;
    ikt_stage_begin(ctx, IKT_STAGE_WRITE);
    ikt_run_cost_collect(ctx, &cost);
    ikt_free(&run->facts);
    ikt_status st = ikt_alloc(ctx, &run->facts, 1, sizeof *run->facts, "provenance");
    if (st == IKT_OK) st = make_columns(ctx, trace, eigenvalues, &c);
    if (st == IKT_OK) st = ikt_run_configuration(ctx, run, &configuration);
    if (st == IKT_OK && run->settings.output.state)
        st = ikt_finished_parts(ctx, &run->rows, &run->embedding.last, trace, &state);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        ikt_notes *n = run->facts;
        note_facts(run, n);
        note_circumstances(run, &cost, n);
        ikt_notes_share(ctx, n);
        const ikt_class_outcome *o = &run->embedding.classes;
        const ikt_part fisher[] = {
            ikt_part_rows("posterior", IKT_PART_F32, &run->rows, o->classes.classes, o->posterior),
            ikt_part_shared("classes", IKT_PART_I64, o->classes.classes, o->classes.value),
            ikt_part_shared("support", IKT_PART_I64, o->support.m, o->support.row),
            ikt_part_shared("held_out", IKT_PART_I64, o->held_out.sample, o->held_out.row)};
        const ikt_result_column original = {"row", IKT_COLUMN_INT64, run->original};
        ikt_result result = ikt_run_map(run);
        result.columns = &original;
        result.n_columns = has_originals;
        put_trace(trace, &c, eigenvalues, &result);
        result.configuration = configuration;
        result.facts = n->fact;
        result.n_facts = n->n_facts;
        result.circumstances = n->circumstance;
        result.n_circumstances = n->n_circumstances;
        result.fisher = fisher;
        result.n_fisher = !o->is_there ? 0 : o->held_out.sample > 0 ? 4 : 3;
        result.state = state.part;
        result.n_state = state.count;
        result.state_head =
            ikt_checkpoint_head("loop", run->input_fingerprint, run->settings_fingerprint);
        st = ikt_result_write(ctx, run->settings.output.file, run->settings.output.overwrite,
                              &result);
    }
    ikt_trace_columns_destroy(&c);
    ikt_free(&configuration);
    ikt_loop_parts_destroy(&state);
    ikt_stage_end(ctx, IKT_STAGE_WRITE);
    return st;
}

ikt_status ikt_run_model_end(ikt_context *ctx, ikt_run *run) {
    const ikt_rows *rows = &run->rows;
    ikt_model_writer *w = run->model_writer;
    ikt_notes *n = NULL;
    char *configuration = NULL;
    if (!w) return IKT_OK;
    ikt_stage_begin(ctx, IKT_STAGE_WRITE);
    ikt_status st = ikt_alloc(ctx, &n, 1, sizeof *n, "provenance");
    if (st == IKT_OK) st = ikt_run_configuration(ctx, run, &configuration);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK)
        st = ikt_model_writer_part(w, IKT_MODEL_EMBEDDING, rows->first, rows->count,
                                   run->embedding.y, 0);
    /* A rank without rows may hold no labels either: all ranks take the same path. */
    if (st == IKT_OK && ikt_max_one(ctx, run->labels != NULL) > 0)
        st = ikt_model_writer_part(w, IKT_MODEL_LABELS, rows->first, rows->count, run->labels, 0);
    if (st == IKT_OK) {
        note_origin(run, n);
        st = ikt_model_writer_notes(w, configuration, n->fact, n->n_facts);
    }
    st = ikt_model_writer_end(&run->model_writer, st);
    if (st == IKT_OK)
        ikt_log(ctx, IKT_LOG_STAGE, "model: %s; `iktsne transform` places new rows by it",
                run->settings.output.model);
    ikt_free(&n);
    ikt_free(&configuration);
    ikt_stage_end(ctx, IKT_STAGE_WRITE);
    return st;
}

/* --- picture ---------------------------------------------------------------------------------- */

/* "isolation psi 1024, t 200, k 30, seed 1, KL 1.234": what a reader of the picture asks first; the
 * name of the objective where it is not t-SNE. */
static void describe_run(const ikt_run *run, char *text, size_t size) {
    const ikt_settings *s = &run->settings;
    const ikt_trace *trace = &run->embedding.trace;
    const ikt_objective_kind *kind = ikt_layout_objective(&s->layout);
    char kernel[64], own[64] = "", support[64] = "dense", objective[64] = "";
    ikt_affinity_describe(&s->affinity, kernel, sizeof kernel);
    if (ikt_affinity_of(&s->affinity)->scores == IKT_SCORES_CODES)
        snprintf(own, sizeof own, "%s psi %lld, t %lld",
                 s->isolation.form == IKT_FORM_FOREST ? " forest" : "", (long long)s->isolation.psi,
                 (long long)s->isolation.partitionings);
    if (s->affinity.kind == IKT_AFFINITY_GRAPH)
        snprintf(support, sizeof support, "%.1f entries a row",
                 (double)run->graph.entries / (double)run->graph.n);
    else if (s->affinity.support == IKT_SUPPORT_WHOLE)
        snprintf(support, sizeof support, "whole");
    else if (s->affinity.support == IKT_SUPPORT_SPARSE)
        snprintf(support, sizeof support, "k %lld", (long long)s->affinity.neighbours);
    if (trace->eigenvalues > 0 && s->layout.regulariser_weight > 0)
        snprintf(objective, sizeof objective, "laptsne K %lld, lambda %g, ",
                 (long long)(trace->eigenvalues + 1), s->layout.regulariser_weight);
    else if (kind->divergence && kind->divergence->has_trade_off)
        snprintf(objective, sizeof objective, "%s %g, ", kind->name, s->layout.trade_off);
    else if (kind != &ikt_objective_tsne)
        snprintf(objective, sizeof objective, "%s, ", kind->name);
    if (kind->is_start && kind->needs == 0)
        snprintf(text, size, "%s, %s %.4f", kind->name, trace->value_name, ikt_trace_last(trace));
    else
        snprintf(text, size, "%s%s%s, %s, seed %lld, %s %.4f", objective, kernel, own, support,
                 (long long)s->run.seed, trace->value_name, ikt_trace_last(trace));
}

ikt_status ikt_run_picture(ikt_context *ctx, const ikt_run *run) {
    const ikt_output_settings *output = &run->settings.output;
    char footer[512], *configuration = NULL;
    if (!output->picture[0]) return IKT_OK;
    ikt_stage_begin(ctx, IKT_STAGE_PICTURE);
    ikt_status st = ikt_agree(ctx, ikt_run_configuration(ctx, run, &configuration));
    if (st == IKT_OK) {
        ikt_plot_settings settings = ikt_plot_defaults();
        describe_run(run, footer, sizeof footer);
        settings.overwrite = output->overwrite;
        settings.footer = footer;
        settings.description = configuration;
        const ikt_plot_points points = {.rows = &run->rows,
                                        .q = (int)run->settings.layout.dimensions,
                                        .y = run->embedding.y,
                                        .labels = run->labels,
                                        .column = run->settings.input.labels,
                                        .class_names = run->label_names,
                                        .marked = run->marked,
                                        .n_marked = run->n_marked};
        st = ikt_plot_embedding(ctx, &settings, &points, output->picture);
    }
    ikt_free(&configuration);
    ikt_stage_end(ctx, IKT_STAGE_PICTURE);
    return st;
}
