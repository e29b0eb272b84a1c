/* What verbs print. See print.h. */
#include "app/print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/encoding.h"
#include "base/log.h"
#include "base/sort.h"
#include "config/config.h"
#include "config/value.h"

/* The name in words first; that of the field, which JSON and studies have, before the note. */
void ikt_measure_print(const ikt_measure *m) {
    char plain[sizeof m->name + 32], value[32] = "none";
    ikt_measure_plain(m->name, plain, sizeof plain);
    const bool is_other = strcmp(plain, m->name) != 0;
    if (!isnan(m->value)) snprintf(value, sizeof value, "%.6g", m->value);
    printf("%-40s %12s   %s%s%s", plain, value, is_other ? m->name : "", is_other ? ": " : "",
           m->note);
    if (m->sample > 0) printf("; %lld rows sampled", (long long)m->sample);
    printf("\n");
}

void ikt_measures_print(const ikt_measures *measures) {
    for (int64_t i = 0; i < measures->count; i++)
        ikt_measure_print(&measures->list[i]);
}

void ikt_measures_json(ikt_json *json, const ikt_measures *measures) {
    if (measures->unlabelled > 0) ikt_json_int(json, "rows_without_label", measures->unlabelled);
    ikt_json_begin(json, "measures", '{');
    for (int64_t i = 0; i < measures->count; i++) {
        const ikt_measure *m = &measures->list[i];
        ikt_json_begin(json, m->name, '{');
        ikt_json_real(json, "value", m->value);
        if (m->sample > 0) ikt_json_int(json, "sample", m->sample);
        ikt_json_text(json, "note", m->note);
        ikt_json_end(json, '}');
    }
    ikt_json_end(json, '}');
}

void ikt_facts_json(ikt_json *json, const ikt_notes *facts) {
    for (int64_t f = 0; f < facts->n_facts; f++) {
        const char *name = facts->fact[f].name;
        const ikt_fact_value *value = &facts->value[f];
        if (value->kind == IKT_FACT_INT) ikt_json_int(json, name, (int64_t)value->number);
        if (value->kind == IKT_FACT_REAL) ikt_json_real(json, name, value->number);
        if (value->kind == IKT_FACT_BOOL) ikt_json_bool(json, name, value->number > 0);
        if (value->kind == IKT_FACT_TEXT) ikt_json_text(json, name, facts->fact[f].text);
    }
}

/* --- what a run cost -------------------------------------------------------------------------- */

/* The line of a stage, up to its seconds. */
static void begin_stage(ikt_stage stage, double seconds) {
    const int indent = 2 * ikt_stage_depth(stage);
    printf("%*s%-*s %9.3f", indent, "", 14 - indent, ikt_stage_name(stage), seconds);
}

void ikt_times_print(const ikt_run_cost *cost, int ranks) {
    printf("\nstage            seconds%s\n", ranks > 1 ? "   (mean, slowest rank)" : "");
    for (int s = 0; s < IKT_STAGE_COUNT; s++) {
        const ikt_stage_times *t = &cost->times[s];
        if (t->count == 0) continue;
        begin_stage((ikt_stage)s, t->most);
        if (ranks > 1) printf("   (%.3f, rank %d)", t->mean, t->slowest);
        printf("\n");
    }
}

void ikt_times_json(ikt_json *json, const ikt_run_cost *cost) {
    ikt_json_begin(json, "seconds", '{');
    for (int s = 0; s < IKT_STAGE_COUNT; s++)
        if (cost->times[s].count > 0)
            ikt_json_real(json, ikt_stage_name((ikt_stage)s), cost->times[s].most);
    ikt_json_end(json, '}');
}

/* Data may be largest between stages. */
static const char *stage_of(const ikt_memory_peaks *m) {
    return m->stage == IKT_STAGE_TOTAL ? "none" : ikt_stage_name(m->stage);
}

void ikt_memory_print(const ikt_run_cost *cost, int64_t predicted) {
    const ikt_memory_peaks *m = &cost->memory;
    char text[256];
    printf("peak memory      %.0f MB per rank at most, %.0f MB in all (predicted %.0f MB per "
           "rank)\n",
           (double)m->most / 1e6, (double)m->all / 1e6, (double)predicted / 1e6);
    if (m->least < m->most)
        printf("                 from %.0f MB to %.0f MB, most on rank %d\n",
               (double)m->least / 1e6, (double)m->most / 1e6, m->rank);
    ikt_memory_peaks_describe(m, text, sizeof text);
    printf("                 its data: %.1f MB in stage %s: %s\n"
           "                 the rest is the program, and what MPI, HDF5, FFTW and BLAS hold\n",
           (double)m->accounted / 1e6, stage_of(m), text);
}

void ikt_memory_json(ikt_json *json, const ikt_run_cost *cost, int64_t predicted) {
    const ikt_memory_peaks *m = &cost->memory;
    ikt_json_int(json, "peak_bytes_per_rank", m->most);
    ikt_json_int(json, "peak_bytes", m->all);
    ikt_json_int(json, "predicted_bytes_per_rank", predicted);
    ikt_json_begin(json, "memory", '{');
    ikt_json_int(json, "least_bytes", m->least);
    ikt_json_int(json, "most_bytes", m->most);
    ikt_json_int(json, "rank", m->rank);
    ikt_json_int(json, "data_bytes", m->accounted);
    ikt_json_text(json, "stage", stage_of(m));
    ikt_json_begin(json, "purposes", '{');
    for (int i = 0; i < m->n_largest; i++)
        ikt_json_int(json, m->largest[i].name, m->largest[i].bytes);
    ikt_json_end(json, '}');
    if (m->ranks > 0) {
        ikt_json_begin(json, "bytes_of_ranks", '[');
        for (int r = 0; r < m->ranks; r++)
            ikt_json_int(json, NULL, m->of_rank[r]);
        ikt_json_end(json, ']');
    }
    ikt_json_end(json, '}');
}

/* Counts of the loop by gradients computed, of which there is one more than iterations. */
static double per_iteration(const ikt_run_cost *cost, double count) {
    int64_t gradients = cost->times[IKT_STAGE_REPULSION].count;
    return gradients > 0 ? count / (double)gradients : 0;
}

void ikt_traffic_print(const ikt_run_cost *cost, int ranks) {
    if (ranks == 1) return;
    const ikt_traffic *loop = &cost->traffic[IKT_STAGE_LAYOUT];
    printf("communication    %.1f KB sent, %.1f messages, %.1f collective calls per rank and "
           "iteration; %.1f MB sent per rank in all\n",
           per_iteration(cost, loop->of[IKT_TRAFFIC_BYTES_SENT].mean) / 1e3,
           per_iteration(cost, loop->of[IKT_TRAFFIC_MESSAGES_SENT].mean),
           per_iteration(cost, loop->of[IKT_TRAFFIC_COLLECTIVES].mean),
           cost->traffic[IKT_STAGE_TOTAL].of[IKT_TRAFFIC_BYTES_SENT].mean / 1e6);
    printf("                 in calls of MPI %.2f ms of an iteration on average, %.2f on the rank "
           "with most; %.1f ms in the longest call\n",
           per_iteration(cost, loop->wait_mean) * 1e3, per_iteration(cost, loop->wait_most) * 1e3,
           loop->wait_longest * 1e3);
}

/* Transfers of a stage; of the loop also per iteration. */
static void transfers_json(ikt_json *json, const ikt_run_cost *cost, ikt_stage stage,
                           bool by_iteration) {
    const ikt_traffic *traffic = &cost->traffic[stage];
    ikt_json_begin(json, by_iteration ? "per_iteration" : ikt_stage_name(stage), '{');
    for (int kind = 0; kind < IKT_TRAFFIC_KINDS; kind++) {
        const ikt_traffic_range *range = &traffic->of[kind];
        ikt_json_begin(json, ikt_traffic_name((ikt_traffic_kind)kind), '{');
        if (by_iteration) {
            ikt_json_real(json, "least", per_iteration(cost, (double)range->least));
            ikt_json_real(json, "mean", per_iteration(cost, range->mean));
            ikt_json_real(json, "most", per_iteration(cost, (double)range->most));
        } else {
            ikt_json_int(json, "least", range->least);
            ikt_json_real(json, "mean", range->mean);
            ikt_json_int(json, "most", range->most);
        }
        ikt_json_end(json, '}');
    }
    ikt_json_begin(json, "seconds_in_calls", '{');
    ikt_json_real(json, "mean",
                  by_iteration ? per_iteration(cost, traffic->wait_mean) : traffic->wait_mean);
    ikt_json_real(json, "most",
                  by_iteration ? per_iteration(cost, traffic->wait_most) : traffic->wait_most);
    ikt_json_end(json, '}');
    ikt_json_real(json, "longest_call_seconds", traffic->wait_longest);
    ikt_json_end(json, '}');
}

void ikt_traffic_json(ikt_json *json, const ikt_run_cost *cost) {
    ikt_json_begin(json, "traffic", '{');
    ikt_json_int(json, "gradients", cost->times[IKT_STAGE_REPULSION].count);
    transfers_json(json, cost, IKT_STAGE_LAYOUT, true);
    ikt_json_begin(json, "stages", '{');
    for (int s = 0; s < IKT_STAGE_COUNT; s++)
        if (cost->traffic[s].of[IKT_TRAFFIC_COLLECTIVES].most > 0 ||
            cost->traffic[s].of[IKT_TRAFFIC_MESSAGES_SENT].most > 0)
            transfers_json(json, cost, (ikt_stage)s, false);
    ikt_json_end(json, '}');
    ikt_json_end(json, '}');
}

void ikt_cost_log(const ikt_context *ctx, const ikt_run_cost *cost, int64_t predicted) {
    const ikt_memory_peaks *m = &cost->memory;
    char text[256];
    if (!ikt_log_is_json(ctx)) return;
    for (int s = 0; s < IKT_STAGE_COUNT; s++) {
        const ikt_stage_times *t = &cost->times[s];
        if (t->count == 0) continue;
        const ikt_log_number numbers[] = {IKT_LOG_INT("depth", ikt_stage_depth((ikt_stage)s)),
                                          IKT_LOG_INT("times", t->count),
                                          IKT_LOG_REAL("least_seconds", t->least),
                                          IKT_LOG_REAL("mean_seconds", t->mean),
                                          IKT_LOG_REAL("most_seconds", t->most),
                                          IKT_LOG_INT("slowest_rank", t->slowest),
                                          {0}};
        ikt_log_numbers(ctx, IKT_LOG_STAGE, numbers, "%s: %.3f s in all",
                        ikt_stage_name((ikt_stage)s), t->most);
    }
    const ikt_log_number numbers[] = {IKT_LOG_INT("peak_bytes_per_rank", m->most),
                                      IKT_LOG_INT("least_bytes", m->least),
                                      IKT_LOG_INT("peak_bytes", m->all),
                                      IKT_LOG_INT("predicted_bytes_per_rank", predicted),
                                      IKT_LOG_INT("rank", m->rank),
                                      IKT_LOG_INT("data_bytes", m->accounted),
                                      {0}};
    ikt_memory_peaks_describe(m, text, sizeof text);
    ikt_log_numbers(ctx, IKT_LOG_STAGE, numbers, "peak memory in stage %s: %s", stage_of(m), text);
}

/* --- a plan ----------------------------------------------------------------------------------- */

static void placement_print(const ikt_placement *p) {
    const long long each = (long long)(p->ranks / p->nodes);
    printf("%lld node%s x %lld rank%s x %lld thread%s", (long long)p->nodes,
           p->nodes > 1 ? "s" : "", each, each > 1 ? "s" : "", (long long)p->threads,
           p->threads > 1 ? "s" : "");
}

static void recommendation_print(const ikt_recommendation *r) {
    const ikt_cluster *c = &r->cluster;
    const double giga = 0x1p30;
    printf("\nto run on        %lld node%s with %lld cores in %lld memory domain%s and %.1f GiB\n",
           (long long)c->nodes, c->nodes > 1 ? "s" : "", (long long)c->cores, (long long)c->domains,
           c->domains > 1 ? "s" : "", (double)c->memory / giga);
    if (!r->fits) {
        printf("recommended      nothing fits: ");
        placement_print(&r->leanest);
        printf(" would take %.1f GiB of a node, and nine tenths of its memory are planned with",
               (double)r->leanest.node_bytes / giga);
        if (r->advice) printf("; %s would take less", r->advice);
        printf("\n");
        return;
    }
    printf("recommended      ");
    placement_print(&r->best);
    printf(": mpirun -n %lld --map-by ppr:%lld:node:pe=%lld\n", (long long)r->best.ranks,
           (long long)(r->best.ranks / r->best.nodes), (long long)r->best.threads);
    printf("  nodes  ranks  threads    seconds  GiB a node  efficiency\n");
    for (int i = 0; i < r->count; i++) {
        const ikt_placement *p = &r->of_nodes[i];
        printf("%7lld %6lld %8lld %10.1f %11.1f %10.0f %%\n", (long long)p->nodes,
               (long long)p->ranks, (long long)p->threads, p->seconds, (double)p->node_bytes / giga,
               100 * ikt_placement_efficiency(p, &r->of_nodes[0]));
    }
    printf("one rank of %lld thread%s: %.1f s. These are predictions by the constants of the "
           "machine, not measurements; the best\non each number of nodes is shown, and the "
           "embedding is the same on all of them.\n",
           (long long)r->single.threads, r->single.threads > 1 ? "s" : "", r->single.seconds);
}

static void plan_print(const ikt_plan *plan) {
    const ikt_memory_plan *m = &plan->memory;
    const ikt_cost iteration = ikt_time_plan_iteration(&plan->time);
    const ikt_workload *w = &plan->work;
    char kind[128];
    printf("%lld rows x %lld, ", (long long)w->data.n, (long long)w->data.d);
    if (w->data.is_sparse) printf("sparse, %.1f values a row, ", w->data.entries);
    ikt_affinity_describe(&w->settings.affinity, kind, sizeof kind);
    printf("%s; %d rank%s x %d thread%s\n%s", ikt_type_name(w->data.type), w->ranks,
           ikt_plural(w->ranks), w->threads, ikt_plural(w->threads), kind);
    if (w->scores == IKT_SCORES_CODES)
        printf("%s, psi %lld, t %lld", w->is_forest ? " forest" : "", (long long)w->psi,
               (long long)w->t);
    if (w->is_dense)
        printf(", dense");
    else if (w->is_whole)
        printf(", whole, %lld partitionings an iteration, blocks of %lld rows",
               (long long)w->settings.affinity.whole.partitionings,
               (long long)w->settings.affinity.whole.block);
    else if (w->scores == IKT_SCORES_NONE)
        printf(", %lld entries a row of input.graph", (long long)w->k);
    else
        printf(", k %lld of %lld candidates", (long long)w->k, (long long)w->candidates);
    printf("; %lld iterations\n", (long long)w->settings.layout.iterations);
    printf("machine: %s\n", plan->machine.name);
    printf("\nstage            seconds%s\n",
           w->ranks > 1 ? "      MB sent   messages   collective calls   (per rank)" : "");
    for (int s = 0; s < IKT_STAGE_COUNT; s++) {
        const ikt_cost *cost = &plan->time.stage[s];
        if (!(cost->seconds > 0)) continue;
        begin_stage((ikt_stage)s, cost->seconds);
        if (w->ranks > 1)
            printf(" %12.1f %10.0f %18.0f", cost->bytes_sent / 1e6, cost->messages,
                   cost->collectives);
        printf("\n");
    }
    printf("\nan iteration     %.5f s", iteration.seconds);
    if (w->ranks > 1)
        printf("; %.1f KB sent, %.1f messages, %.1f collective calls per rank",
               iteration.bytes_sent / 1e3, iteration.messages, iteration.collectives);
    printf("\nmemory per rank  %.0f MB at most, in the stage '%s' (", (double)m->peak / 1e6,
           ikt_stage_name(m->largest));
    for (int s = 0; s < IKT_STAGE_COUNT; s++)
        if (ikt_memory_plan_has(s) && m->stage[s] > 0)
            printf("%s %.0f, ", ikt_stage_name((ikt_stage)s),
                   (double)(m->stage[s] + m->base) / 1e6);
    printf("each with %.0f for the program)\n", (double)m->base / 1e6);
}

void ikt_plan_print(const ikt_plan *plan, const ikt_recommendation *recommendation) {
    plan_print(plan);
    if (recommendation) recommendation_print(recommendation);
}

static void placement_json(ikt_json *json, const char *name, const ikt_placement *p) {
    ikt_json_begin(json, name, '{');
    ikt_json_int(json, "nodes", p->nodes);
    ikt_json_int(json, "ranks", p->ranks);
    ikt_json_int(json, "threads", p->threads);
    ikt_json_real(json, "predicted_seconds", p->seconds);
    ikt_json_int(json, "predicted_bytes_of_node", p->node_bytes);
    ikt_json_end(json, '}');
}

static void recommendation_json(ikt_json *json, const ikt_recommendation *r) {
    ikt_json_begin(json, "recommendation", '{');
    ikt_json_int(json, "nodes", r->cluster.nodes);
    ikt_json_int(json, "cores_of_node", r->cluster.cores);
    ikt_json_int(json, "domains_of_node", r->cluster.domains);
    ikt_json_int(json, "bytes_of_node", r->cluster.memory);
    ikt_json_bool(json, "fits", r->fits);
    if (r->fits) placement_json(json, "best", &r->best);
    placement_json(json, "one_rank", &r->single);
    placement_json(json, "least_memory", &r->leanest);
    ikt_json_begin(json, "by_nodes", '[');
    for (int i = 0; i < r->count; i++)
        placement_json(json, NULL, &r->of_nodes[i]);
    ikt_json_end(json, ']');
    ikt_json_end(json, '}');
}

static void cost_json(ikt_json *json, const char *name, const ikt_cost *cost) {
    ikt_json_begin(json, name, '{');
    ikt_json_real(json, "seconds", cost->seconds);
    ikt_json_real(json, "bytes_sent", cost->bytes_sent);
    ikt_json_real(json, "messages_sent", cost->messages);
    ikt_json_real(json, "collective_calls", cost->collectives);
    ikt_json_end(json, '}');
}

/* The plan as an object. */
static void plan_json(ikt_json *json, const char *name, const ikt_plan *plan,
                      const ikt_recommendation *recommendation) {
    const ikt_workload *w = &plan->work;
    const ikt_memory_plan *memory = &plan->memory;
    const ikt_cost iteration = ikt_time_plan_iteration(&plan->time);
    ikt_json_begin(json, name, '{');
    ikt_json_text(json, "machine", plan->machine.name);
    ikt_json_int(json, "rows", w->data.n);
    ikt_json_int(json, "columns", w->data.d);
    if (w->data.is_sparse) ikt_json_real(json, "values_a_row", w->data.entries);
    ikt_json_text(json, "type", ikt_type_name(w->data.type));
    ikt_json_int(json, "ranks", w->ranks);
    ikt_json_int(json, "threads", w->threads);
    ikt_json_int(json, "psi", w->psi);
    ikt_json_int(json, "partitionings", w->t);
    ikt_json_int(json, "neighbours", w->k);
    ikt_json_int(json, "candidates", w->candidates);
    ikt_json_int(json, "iterations", w->settings.layout.iterations);
    ikt_json_begin(json, "bytes_per_rank", '{');
    ikt_json_int(json, "peak", memory->peak);
    ikt_json_text(json, "largest", ikt_stage_name(memory->largest));
    ikt_json_int(json, "program", memory->base);
    for (int s = 0; s < IKT_STAGE_COUNT; s++)
        if (ikt_memory_plan_has(s))
            ikt_json_int(json, ikt_stage_name((ikt_stage)s), memory->stage[s]);
    ikt_json_end(json, '}');
    cost_json(json, "per_iteration", &iteration);
    ikt_json_begin(json, "stages", '{');
    for (int s = 0; s < IKT_STAGE_COUNT; s++)
        if (plan->time.stage[s].seconds > 0)
            cost_json(json, ikt_stage_name((ikt_stage)s), &plan->time.stage[s]);
    ikt_json_end(json, '}');
    if (recommendation) recommendation_json(json, recommendation);
    ikt_json_end(json, '}');
}

void ikt_plan_json(const ikt_plan *plan, const ikt_recommendation *recommendation) {
    ikt_json json = {stdout, 0, false};
    plan_json(&json, NULL, plan, recommendation);
}

/* --- a rehearsal: what a run would do --------------------------------------------------------- */

static void rehearsal_json(const ikt_rehearsal *r, const ikt_config_part *parts) {
    ikt_json json = {stdout, 0, false};
    ikt_json_begin(&json, NULL, '{');
    ikt_json_text(&json, "input", r->input_name);
    ikt_json_bool(&json, "labels", r->has_labels);
    ikt_json_int(&json, "output_bytes", r->result_bytes);
    ikt_json_real(&json, "seconds", r->plan.time.stage[IKT_STAGE_TOTAL].seconds);
    if (isfinite(r->seconds_left)) ikt_json_real(&json, "seconds_left", r->seconds_left);
    if (r->goes_on) ikt_json_text(&json, "goes_on_from", r->goes_on);
    plan_json(&json, "plan", &r->plan, NULL);
    ikt_json_begin(&json, "settings", '{');
    for (int p = 0; p < IKT_SETTINGS_PARTS; p++) {
        ikt_json_begin(&json, parts[p].section->name, '{');
        for (size_t k = 0; k < parts[p].section->n_keys; k++) {
            const ikt_key *key = &parts[p].section->keys[k];
            const void *member = ikt_config_member(&parts[p], key);
            char text[IKT_STRING_MAX];
            ikt_value_print(key, member, text, sizeof text);
            if (key->type == IKT_KEY_BOOL)
                ikt_json_bool(&json, key->name, *(const bool *)member);
            else if (key->type == IKT_KEY_INT && *(const int64_t *)member != IKT_AUTO_INT)
                ikt_json_int(&json, key->name, *(const int64_t *)member);
            else if (key->type == IKT_KEY_REAL && *(const double *)member > IKT_AUTO_REAL)
                ikt_json_real(&json, key->name, *(const double *)member);
            else
                ikt_json_text(&json, key->name, text);
        }
        ikt_json_end(&json, '}');
    }
    ikt_json_end(&json, '}');
    ikt_json_end(&json, '}');
}

static void rehearsal_print(const ikt_rehearsal *r, const char *configuration) {
    const ikt_output_settings *out = &r->settings.output;
    const double seconds = r->plan.time.stage[IKT_STAGE_TOTAL].seconds;
    printf("reads            %s, %s labels\n", r->input_name, r->has_labels ? "with" : "no");
    printf("writes           %s, %.1f MB at most", out->file, (double)r->result_bytes / 1e6);
    if (out->picture[0]) printf("; picture %s", out->picture);
    if (out->model[0]) printf("; model %s", out->model);
    printf("\n");
    if (r->goes_on) printf("goes on          from a checkpoint of the stage '%s'\n", r->goes_on);
    if (isfinite(r->seconds_left))
        printf("time limit       %.0f s%s\n", r->seconds_left,
               seconds > r->seconds_left ? ": it would stop with a checkpoint before its end" : "");
    printf("time             %.1f s, predicted\n\n", seconds);
    plan_print(&r->plan);
    printf("\nsettings, as they would be used:\n%s", configuration);
}

ikt_status ikt_rehearsal_print(ikt_context *ctx, const ikt_rehearsal *r, bool as_json) {
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    ikt_settings settings = r->settings;
    char *text IKT_AT_END(ikt_free) = NULL;
    ikt_settings_parts(&settings, parts);
    IKT_TRY(ikt_agree(ctx, ikt_config_print(ctx, parts, IKT_SETTINGS_PARTS, &text)));
    if (ikt_rank(ctx) != 0) return IKT_OK;
    if (as_json)
        rehearsal_json(r, parts);
    else
        rehearsal_print(r, text);
    return IKT_OK;
}

/* --- the steps of a run ----------------------------------------------------------------------- */

/* "codes, lists"; nothing: "the file". */
static void put_values(unsigned values, char *text, size_t size) {
    snprintf(text, size, "%s", values ? "" : "a file, or nothing");
    for (unsigned v = 1; v < 1u << IKT_VALUES; v <<= 1)
        if (values & v) ikt_join(text, size, ", ", "%s", ikt_value_name((ikt_value)v));
}

void ikt_steps_print(const ikt_steps *steps, const ikt_plan *plan) {
    bool is_counted[IKT_STAGE_COUNT] = {false};
    char takes[96];
    printf("%-13s %-22s %-13s %10s %10s  %-14s %s\n", "step", "takes", "makes", "MB a rank",
           "seconds", "goes on from", "what it makes");
    for (int s = 0; s < steps->count; s++) {
        const ikt_step *step = ikt_step_of(steps->id[s]);
        const char *saved = ikt_stage_saved(step->stage);
        char memory[32] = "", seconds[32] = "";
        put_values(step->takes, takes, sizeof takes);
        /* Steps that are counted under one stage have its numbers together. */
        if (!is_counted[step->stage]) {
            const double bytes = (double)plan->memory.stage[step->stage];
            if (bytes > 0)
                snprintf(memory, sizeof memory, "%.0f", (bytes + (double)plan->memory.base) / 1e6);
            snprintf(seconds, sizeof seconds, "%.2f", plan->time.stage[step->stage].seconds);
        }
        is_counted[step->stage] = true;
        printf("%-13s %-22s %-13s %10s %10s  %-14s %s\n", step->name, takes,
               ikt_value_name(step->makes), memory, seconds, saved ? saved : "", step->about);
    }
}

void ikt_steps_json(const ikt_steps *steps, const ikt_plan *plan) {
    ikt_json json = {stdout, 0, false};
    ikt_json_begin(&json, NULL, '{');
    ikt_json_begin(&json, "steps", '[');
    for (int s = 0; s < steps->count; s++) {
        const ikt_step *step = ikt_step_of(steps->id[s]);
        const char *saved = ikt_stage_saved(step->stage);
        const double bytes = (double)plan->memory.stage[step->stage];
        ikt_json_begin(&json, NULL, '{');
        ikt_json_text(&json, "step", step->name);
        ikt_json_begin(&json, "takes", '[');
        for (unsigned v = 1; v < 1u << IKT_VALUES; v <<= 1)
            if (step->takes & v) ikt_json_text(&json, NULL, ikt_value_name((ikt_value)v));
        ikt_json_end(&json, ']');
        ikt_json_text(&json, "makes", ikt_value_name(step->makes));
        ikt_json_text(&json, "stage", ikt_stage_name(step->stage));
        if (bytes > 0) ikt_json_real(&json, "stage_bytes", bytes + (double)plan->memory.base);
        ikt_json_real(&json, "stage_seconds", plan->time.stage[step->stage].seconds);
        if (saved) ikt_json_text(&json, "goes_on_from", saved);
        ikt_json_text(&json, "about", step->about);
        ikt_json_end(&json, '}');
    }
    ikt_json_end(&json, ']');
    ikt_json_end(&json, '}');
}
