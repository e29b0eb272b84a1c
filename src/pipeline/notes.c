/* The facts of a run. See notes.h. */
#define _GNU_SOURCE
#include "pipeline/notes.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/build.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/encoding.h"
#include "base/sort.h"
#include "config/value.h"
#include "iktsne/build.h"
#include "pipeline/outcome.h"

static void set(ikt_note *note, const char *name, const char *format, va_list values) {
    snprintf(note->name, sizeof note->name, "%s", name);
    vsnprintf(note->text, sizeof note->text, format, values);
}

void ikt_note_fact(ikt_notes *n, const char *name, const char *format, ...) {
    va_list values;
    assert(n->n_facts < IKT_FACTS_MOST);
    for (int64_t i = 0; i < n->n_facts; i++)
        assert(strcmp(n->fact[i].name, name) != 0); /* they are attributes of one group */
    va_start(values, format);
    set(&n->fact[n->n_facts++], name, format, values);
    va_end(values);
}

__attribute__((format(printf, 3, 4))) static void note_circumstance(ikt_notes *n, const char *name,
                                                                    const char *format, ...) {
    va_list values;
    assert(n->n_circumstances < IKT_CIRCUMSTANCES_MOST);
    va_start(values, format);
    set(&n->circumstance[n->n_circumstances++], name, format, values);
    va_end(values);
}

/* The fact that was added last has a value. */
static void set_value(ikt_notes *n, ikt_fact_kind kind, double number) {
    n->value[n->n_facts - 1] = (ikt_fact_value){kind, number};
}

void ikt_note_int(ikt_notes *n, const char *name, int64_t value) {
    ikt_note_fact(n, name, "%lld", (long long)value);
    set_value(n, IKT_FACT_INT, (double)value);
}

void ikt_note_bool(ikt_notes *n, const char *name, bool value) {
    ikt_note_fact(n, name, value ? "yes" : "no");
    set_value(n, IKT_FACT_BOOL, value);
}

void ikt_note_real(ikt_notes *n, const char *name, double value) {
    ikt_note_fact(n, name, "%.17g", value);
    set_value(n, IKT_FACT_REAL, value);
}

void ikt_note_share(ikt_notes *n, const char *name, double value) {
    ikt_note_fact(n, name, "%.6f", value);
    set_value(n, IKT_FACT_REAL, value);
}

/* Counts and shares that there are, and numbers above 0: others are not known. */
static void note_count(ikt_notes *n, const char *name, int64_t value) {
    if (value > 0) ikt_note_int(n, name, value);
}

static void note_known_share(ikt_notes *n, const char *name, double value) {
    if (value >= 0) ikt_note_share(n, name, value);
}

static void note_positive(ikt_notes *n, const char *name, double value) {
    if (value > 0) ikt_note_real(n, name, value);
}

void ikt_note_hash(ikt_notes *n, const char *name, uint64_t hash) {
    ikt_note_fact(n, name, "%016llx", (unsigned long long)hash);
}

void ikt_note_cells(ikt_notes *n, const ikt_code_check *cells) {
    if (cells->sample == 0) return;
    ikt_note_share(n, "cells_differing", cells->differing);
    ikt_note_int(n, "cell_sample", cells->sample);
}

/* "0.5 0.25" */
void ikt_note_reals(ikt_notes *n, const char *name, const double *values, int count) {
    char text[sizeof n->fact->text] = "";
    for (int i = 0; i < count; i++) {
        char one[IKT_REAL_TEXT];
        ikt_real_print(values[i], one);
        assert(strlen(text) + IKT_REAL_TEXT < sizeof text);
        ikt_join(text, sizeof text, " ", "%s", one);
    }
    ikt_note_fact(n, name, "%s", text);
    if (count == 1) set_value(n, IKT_FACT_REAL, values[0]);
}

void ikt_notes_program(ikt_notes *n) {
    ikt_note_fact(n, "version", "%s", IKT_VERSION);
    ikt_note_fact(n, "commit", "%s", ikt_commit);
    ikt_note_fact(n, "compiler", "%s %s", IKT_COMPILER, IKT_COMPILE_FLAGS);
}

void ikt_notes_share(ikt_context *ctx, ikt_notes *n) {
    char folder[sizeof n->circumstance->text];
    note_circumstance(n, "ranks", "%d", ikt_size(ctx));
    note_circumstance(n, "threads", "%d", ikt_threads(ctx));
    note_circumstance(n, "directory", "%s", getcwd(folder, sizeof folder) ? folder : "unknown");
    ikt_broadcast(ctx, n, (int64_t)sizeof *n, 0);
}

/* --- those of a run --------------------------------------------------------------------------- */

void ikt_note_origin(const ikt_run *run, ikt_notes *n) {
    ikt_notes_program(n);
    ikt_note_fact(n, "instruction_set", "%s", ikt_isa_name(ikt_cpu_isa()));
    ikt_note_fact(n, "input", "%s", run->input_name);
    if (run->d > 0)
        ikt_note_fact(n, "input_shape", "%lld x %lld %s", (long long)run->rows.n, (long long)run->d,
                      run->type);
    ikt_note_hash(n, "embedding_hash", run->hash);
}

static void note_start(const ikt_spectrum_report *report, ikt_notes *n) {
    if (report->components == 0) return;
    ikt_note_int(n, "start_products", report->products);
    ikt_note_real(n, "start_residual", report->residual);
}

static void note_gap(const ikt_eigengap *gap, ikt_notes *n) {
    double after[IKT_EIGENGAP_LARGEST];
    if (gap->values == 0) return;
    for (int64_t g = 0; g < gap->gaps; g++)
        after[g] = (double)gap->after[g];
    ikt_note_reals(n, "eigenvalues", gap->value, (int)gap->values);
    ikt_note_int(n, "eigenvalue_products", gap->report.products);
    ikt_note_real(n, "eigenvalue_residual", gap->report.residual);
    ikt_note_reals(n, "gaps_after", after, (int)gap->gaps);
    ikt_note_reals(n, "gaps", gap->gap, (int)gap->gaps);
    if (gap->is_clear) ikt_note_int(n, "clusters_by_eigengap", gap->after[0]);
}

static void note_eigenvectors(const ikt_embed_result *e, ikt_notes *n) {
    const int64_t components =
        e->gap.values > 0 ? e->gap.report.components : e->eigenvectors.components;
    note_count(n, "components_of_p", components);
    note_start(&e->eigenvectors, n);
    note_gap(&e->gap, n);
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

static void note_kernel(const ikt_kernel_report *r, ikt_notes *n) {
    const ikt_discriminant_facts *d = &r->separated;
    if (r->m == 0) return;
    ikt_note_int(n, "kernel_rows", r->m);
    note_positive(n, "kernel_bandwidth", r->bandwidth);
    if (!r->of_labels) {
        ikt_note_reals(n, "kernel_eigenvalues", r->components.value, r->q);
        ikt_note_real(n, "kernel_trace", r->components.trace);
        return;
    }
    ikt_note_fact(n, "kernel_labels_used", "%lld of %lld classes", (long long)r->m,
                  (long long)d->classes);
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
        const bool is_circumstance = strcmp(input->role, "configuration") == 0;
        if (!input->name[0]) continue;
        snprintf(name, sizeof name, "read_%s", input->role);
        (is_circumstance ? note_circumstance : ikt_note_fact)(n, name, "%s, %s", input->name,
                                                              input->checksum);
    }
}

/* What is the same in every equal run. */
static void note_facts(const ikt_run *run, ikt_notes *n) {
    const ikt_embed_result *e = &run->embedding;
    ikt_note_origin(run, n);
    if (run->graph.n > 0)
        ikt_note_fact(n, "graph", "%s, %lld rows, %lld entries", run->graph.name,
                      (long long)run->graph.n, (long long)run->graph.entries);
    if (run->input_fingerprint[0])
        ikt_note_fact(n, "input_fingerprint", "%s", run->input_fingerprint);
    note_inputs(run, n);
    note_count(n, "entries_of_p", e->entries);
    ikt_note_int(n, "rows_without_similarity", e->zero_similarity);
    note_known_share(n, "neighbour_label_accuracy", e->accuracy);
    if (e->recall.sample > 0) {
        ikt_note_share(n, "neighbour_similarity", e->recall.similarity);
        note_known_share(n, "neighbours_found", e->recall.found);
        ikt_note_int(n, "recall_sample", e->recall.sample);
    }
    ikt_note_cells(n, &e->cells);
    ikt_class_outcome_note(&e->classes, n);
    note_eigenvectors(e, n);
    note_kernel(&e->kernel, n);
    ikt_note_int(n, "exaggeration_ended", e->trace.exaggeration_end);
    ikt_note_int(n, "iterations_done", e->trace.end);
    ikt_note_fact(n, "stopped_because", "%s",
                  e->trace.has_converged ? "the objective settled" : "iterations are done");
    ikt_note_real(n, ikt_trace_key(&e->trace), ikt_trace_last(&e->trace));
    note_regulariser(&e->trace, n);
    note_positive(n, "standard_error", ikt_trace_last_error(&e->trace));
}

/* Seconds and traffic of a stage, where there were any; those of the rank that has most of each. */
static void note_stage(const ikt_run_cost *cost, ikt_stage stage, ikt_notes *n) {
    const ikt_traffic *traffic = &cost->traffic[stage];
    const ikt_traffic_range *of = traffic->of;
    const int64_t calls = of[IKT_TRAFFIC_COLLECTIVES].most;
    char name[64];
    snprintf(name, sizeof name, "seconds_%s", ikt_stage_name(stage));
    if (cost->times[stage].count > 0) note_circumstance(n, name, "%.6f", cost->times[stage].most);
    if (calls + of[IKT_TRAFFIC_MESSAGES_SENT].most == 0) return;
    snprintf(name, sizeof name, "traffic_%s", ikt_stage_name(stage));
    note_circumstance(n, name,
                      "per rank at most %lld bytes sent, %lld received, %lld messages "
                      "sent, %lld received, %lld collective calls, %.6f s in calls of MPI, "
                      "%.6f s in the longest",
                      (long long)of[IKT_TRAFFIC_BYTES_SENT].most,
                      (long long)of[IKT_TRAFFIC_BYTES_RECEIVED].most,
                      (long long)of[IKT_TRAFFIC_MESSAGES_SENT].most,
                      (long long)of[IKT_TRAFFIC_MESSAGES_RECEIVED].most, (long long)calls,
                      traffic->wait_most, traffic->wait_longest);
}

/* What varies from run to run. Memory is that of the rank that had most when the file was written,
 * and a number for each of few ranks. */
static void note_circumstances(const ikt_run *run, const ikt_run_cost *cost, ikt_notes *n) {
    const ikt_memory_peaks *m = &cost->memory;
    char host[256] = "unknown", start[64] = "unknown";
    char text[sizeof n->circumstance->text];
    struct tm parts;
    time_t seconds = (time_t)run->start_time;
    if (gethostname(host, sizeof host - 1) != 0) snprintf(host, sizeof host, "unknown");
    if (gmtime_r(&seconds, &parts)) strftime(start, sizeof start, "%Y-%m-%dT%H:%M:%SZ", &parts);
    note_circumstance(n, "host", "%s", host);
    note_circumstance(n, "start", "%s", start);
    note_circumstance(n, "predicted_bytes_per_rank", "%lld", (long long)run->predicted_bytes);
    note_circumstance(n, "peak_bytes_per_rank", "%lld", (long long)m->most);
    note_circumstance(n, "peak_rank", "%d", m->rank);
    note_circumstance(n, "peak_stage", "%s", ikt_stage_name(m->stage));
    ikt_memory_peaks_describe(m, text, sizeof text);
    note_circumstance(n, "peak_purposes", "%s", text);
    text[0] = '\0';
    for (int r = 0; r < m->ranks; r++)
        ikt_join(text, sizeof text, " ", "%lld", (long long)m->of_rank[r]);
    if (m->ranks > 0) note_circumstance(n, "peak_bytes_of_ranks", "%s", text);
    for (int s = 0; s < IKT_STAGE_COUNT; s++)
        note_stage(cost, (ikt_stage)s, n);
}

void ikt_note_run(ikt_context *ctx, const ikt_run *run, const ikt_run_cost *cost, ikt_notes *n) {
    note_facts(run, n);
    note_circumstances(run, cost, n);
    ikt_notes_share(ctx, n);
}
