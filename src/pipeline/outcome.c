/* File, picture and cost of a finished run. */
#define _GNU_SOURCE
#include "pipeline/outcome.h"
#include "objective/divergence.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "checkpoint/loop_parts.h"
#include "iktsne/build.h"
#include "io/results/result.h"
#include "plot/plot.h"
#include "settings/unused.h"

enum { FACTS_MAX = 28, CIRCUMSTANCES_MAX = 16 + 2 * IKT_STAGE_COUNT };

typedef struct {
    ikt_note facts[FACTS_MAX], circumstances[CIRCUMSTANCES_MAX];
    int64_t n_facts, n_circumstances;
} notes;

#define ADD_NOTE(list, count, title, ...)                                                          \
    do {                                                                                           \
        snprintf((list)[count].name, sizeof(list)[count].name, "%s", title);                       \
        snprintf((list)[count].text, sizeof(list)[count].text, __VA_ARGS__);                       \
        (count)++;                                                                                 \
    } while (0)

/* What is the same in every equal run. */
static void add_facts(const ikt_run *run, notes *n) {
    const ikt_trace *trace = &run->embedding.trace;
    ADD_NOTE(n->facts, n->n_facts, "version", "%s", IKT_VERSION);
    ADD_NOTE(n->facts, n->n_facts, "commit", "%s", IKT_COMMIT);
    ADD_NOTE(n->facts, n->n_facts, "compiler", "%s %s", IKT_COMPILER, IKT_COMPILE_FLAGS);
    ADD_NOTE(n->facts, n->n_facts, "instruction_set", "%s", ikt_isa_name(ikt_cpu_isa()));
    ADD_NOTE(n->facts, n->n_facts, "input", "%s", run->input_name);
    if (run->d > 0)
        ADD_NOTE(n->facts, n->n_facts, "input_shape", "%lld x %lld %s", (long long)run->rows.n,
                 (long long)run->d, run->type);
    if (run->graph.n > 0)
        ADD_NOTE(n->facts, n->n_facts, "graph", "%s, %lld rows, %lld entries", run->graph.name,
                 (long long)run->graph.n, (long long)run->graph.entries);
    if (run->input_fingerprint[0])
        ADD_NOTE(n->facts, n->n_facts, "input_fingerprint", "%s", run->input_fingerprint);
    ADD_NOTE(n->facts, n->n_facts, "entries_of_p", "%lld", (long long)run->embedding.entries);
    ADD_NOTE(n->facts, n->n_facts, "rows_without_similarity", "%lld",
             (long long)run->embedding.zero_similarity);
    if (run->embedding.accuracy >= 0)
        ADD_NOTE(n->facts, n->n_facts, "neighbour_label_accuracy", "%.6f", run->embedding.accuracy);
    if (run->embedding.recall.sample > 0) {
        ADD_NOTE(n->facts, n->n_facts, "neighbour_similarity", "%.6f",
                 run->embedding.recall.similarity);
        ADD_NOTE(n->facts, n->n_facts, "neighbours_found", "%.6f", run->embedding.recall.found);
        ADD_NOTE(n->facts, n->n_facts, "recall_sample", "%lld",
                 (long long)run->embedding.recall.sample);
    }
    ADD_NOTE(n->facts, n->n_facts, "exaggeration_ended", "%lld",
             (long long)trace->exaggeration_end);
    ADD_NOTE(n->facts, n->n_facts, "iterations_done", "%lld", (long long)trace->end);
    ADD_NOTE(n->facts, n->n_facts, "stopped_because", "%s",
             trace->has_converged ? "the objective settled" : "iterations are done");
    ADD_NOTE(n->facts, n->n_facts, ikt_trace_key(trace), "%.17g", ikt_trace_last(trace));
    ADD_NOTE(n->facts, n->n_facts, "embedding_hash", "%016llx", (unsigned long long)run->hash);
}

/* Of the rank that has most of each. */
static void add_traffic(const ikt_run_cost *cost, notes *n) {
    char name[64];
    for (int s = 0; s < IKT_STAGE_COUNT; s++) {
        const ikt_traffic_range *of = cost->traffic[s].of;
        if (of[IKT_TRAFFIC_COLLECTIVES].most + of[IKT_TRAFFIC_MESSAGES_SENT].most == 0) continue;
        snprintf(name, sizeof name, "traffic_%s", ikt_stage_name((ikt_stage)s));
        ADD_NOTE(n->circumstances, n->n_circumstances, name,
                 "per rank at most %lld bytes sent, %lld received, %lld messages sent, %lld "
                 "received, %lld collective calls",
                 (long long)of[IKT_TRAFFIC_BYTES_SENT].most,
                 (long long)of[IKT_TRAFFIC_BYTES_RECEIVED].most,
                 (long long)of[IKT_TRAFFIC_MESSAGES_SENT].most,
                 (long long)of[IKT_TRAFFIC_MESSAGES_RECEIVED].most,
                 (long long)of[IKT_TRAFFIC_COLLECTIVES].most);
    }
}

/* Of the rank that had most when the file was written, and a number for each of few ranks. */
static void add_memory(const ikt_memory_peaks *m, notes *n) {
    ikt_note *list = n->circumstances, *each;
    ADD_NOTE(list, n->n_circumstances, "peak_rank", "%d", m->rank);
    ADD_NOTE(list, n->n_circumstances, "peak_stage", "%s", ikt_stage_name(m->stage));
    ADD_NOTE(list, n->n_circumstances, "peak_purposes", "%s", "");
    each = &list[n->n_circumstances - 1];
    ikt_memory_peaks_describe(m, each->text, sizeof each->text);
    if (m->ranks == 0) return;
    ADD_NOTE(list, n->n_circumstances, "peak_bytes_of_ranks", "%s", "");
    each = &list[n->n_circumstances - 1];
    for (int r = 0; r < m->ranks; r++)
        snprintf(each->text + strlen(each->text), sizeof each->text - strlen(each->text), "%s%lld",
                 r > 0 ? " " : "", (long long)m->of_rank[r]);
}

/* What varies from run to run. */
static void add_circumstances(ikt_context *ctx, const ikt_run *run, const ikt_run_cost *cost,
                              notes *n) {
    char host[256] = "unknown", start[64] = "unknown", directory[2048] = "unknown", stage[64];
    struct tm parts;
    time_t seconds = (time_t)run->start_time;
    if (gethostname(host, sizeof host - 1) != 0) snprintf(host, sizeof host, "unknown");
    if (gmtime_r(&seconds, &parts)) strftime(start, sizeof start, "%Y-%m-%dT%H:%M:%SZ", &parts);
    ADD_NOTE(n->circumstances, n->n_circumstances, "host", "%s", host);
    if (!getcwd(directory, sizeof directory)) snprintf(directory, sizeof directory, "unknown");
    ADD_NOTE(n->circumstances, n->n_circumstances, "directory", "%s", directory);
    ADD_NOTE(n->circumstances, n->n_circumstances, "start", "%s", start);
    ADD_NOTE(n->circumstances, n->n_circumstances, "ranks", "%d", ikt_size(ctx));
    ADD_NOTE(n->circumstances, n->n_circumstances, "threads", "%d", ikt_threads(ctx));
    ADD_NOTE(n->circumstances, n->n_circumstances, "peak_bytes_per_rank", "%lld",
             (long long)cost->memory.most);
    ADD_NOTE(n->circumstances, n->n_circumstances, "predicted_bytes_per_rank", "%lld",
             (long long)run->predicted_bytes);
    add_memory(&cost->memory, n);
    for (int s = 0; s < IKT_STAGE_COUNT; s++) {
        if (cost->times[s].count == 0) continue;
        snprintf(stage, sizeof stage, "seconds_%s", ikt_stage_name((ikt_stage)s));
        ADD_NOTE(n->circumstances, n->n_circumstances, stage, "%.6f", cost->times[s].most);
    }
    add_traffic(cost, n);
}

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
    IKT_TRY(ikt_unused_reset(ctx, &settings, run->given || settings.input.file[0], NULL));
    ikt_settings_parts(&settings, parts);
    return ikt_config_print(ctx, parts, IKT_SETTINGS_PARTS, text);
}

static ikt_result describe(const ikt_run *run, const ikt_trace_columns *c, const notes *n,
                           const ikt_loop_parts *state, const char *configuration) {
    return (ikt_result){.rows = run->rows,
                        .q = (int)run->settings.layout.dimensions,
                        .embedding = run->embedding.y,
                        .labels = run->labels,
                        .label_names = run->label_names,
                        .marked = run->marked,
                        .n_marked = run->n_marked,
                        .n_trace = run->embedding.trace.count,
                        .trace_iteration = c->iteration,
                        .value_name = ikt_trace_key(&run->embedding.trace),
                        .trace_value = c->value,
                        .trace_gradient_norm = c->norm,
                        .trace_seconds = c->seconds,
                        .configuration = configuration,
                        .facts = n->facts,
                        .n_facts = n->n_facts,
                        .circumstances = n->circumstances,
                        .n_circumstances = n->n_circumstances,
                        .state = state->part,
                        .n_state = state->count,
                        .state_head = ikt_checkpoint_head("loop", run->input_fingerprint,
                                                          run->settings_fingerprint)};
}

ikt_status ikt_run_write(ikt_context *ctx, const ikt_run *run) {
    const ikt_trace *trace = &run->embedding.trace;
    ikt_run_cost cost;
    notes *n = NULL;
    ikt_trace_columns c = {NULL, NULL, NULL, NULL};
    char *configuration = NULL;
    ikt_loop_parts state = {.trace = {NULL, NULL, NULL, NULL}};
    ikt_stage_begin(ctx, IKT_STAGE_WRITE);
    ikt_run_cost_collect(ctx, &cost);
    ikt_status st = ikt_alloc(ctx, &n, 1, sizeof *n, "provenance");
    if (st == IKT_OK) st = ikt_trace_columns_make(ctx, trace->point, trace->count, &c);
    if (st == IKT_OK) st = ikt_run_configuration(ctx, run, &configuration);
    if (st == IKT_OK && run->settings.output.state)
        st = ikt_finished_parts(ctx, &run->rows, &run->embedding.last, trace, &state);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        add_facts(run, n);
        add_circumstances(ctx, run, &cost, n);
        /* Times and host of rank 0 are written by all: HDF5 wants equal attributes. */
        ikt_broadcast(ctx, n, (int64_t)sizeof *n, 0);
        ikt_result result = describe(run, &c, n, &state, configuration);
        st = ikt_result_write(ctx, run->settings.output.file, run->settings.output.overwrite,
                              &result);
    }
    ikt_free(&n);
    ikt_trace_columns_destroy(&c);
    ikt_free(&configuration);
    ikt_loop_parts_destroy(&state);
    ikt_stage_end(ctx, IKT_STAGE_WRITE);
    return st;
}

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
    else if (s->affinity.support == IKT_SUPPORT_SPARSE)
        snprintf(support, sizeof support, "k %lld", (long long)s->affinity.neighbours);
    if (kind->divergence && kind->divergence->has_trade_off)
        snprintf(objective, sizeof objective, "%s %g, ", kind->name, s->layout.trade_off);
    else if (kind != &ikt_objective_tsne)
        snprintf(objective, sizeof objective, "%s, ", kind->name);
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
