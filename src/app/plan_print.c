/* A plan, and what a run would do, for people and as JSON. */
#include "app/plan_print.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "config/config.h"
#include "config/value.h"

static double mega(double value) {
    return value / 1e6;
}

static void print_work(const ikt_workload *w) {
    printf("%lld rows x %lld, ", (long long)w->data.n, (long long)w->data.d);
    if (w->data.is_sparse) printf("sparse, %.1f values a row, ", w->data.entries);
    printf("%s; %d ranks x %d threads\n", ikt_type_name(w->data.type), w->ranks, w->threads);
    char kind[128];
    ikt_affinity_describe(&w->settings.affinity, kind, sizeof kind);
    printf("%s", kind);
    if (w->is_isolation)
        printf("%s, psi %lld, t %lld", w->is_forest ? " forest" : "", (long long)w->psi,
               (long long)w->t);
    if (w->is_dense)
        printf(", dense");
    else if (w->is_given)
        printf(", %lld entries a row of input.graph", (long long)w->k);
    else
        printf(", k %lld of %lld candidates", (long long)w->k, (long long)w->candidates);
    printf("; %lld iterations\n", (long long)w->settings.layout.iterations);
}

static void print_stages(const ikt_time_plan *time, int ranks) {
    printf("\nstage            seconds%s\n",
           ranks > 1 ? "      MB sent   messages   collective calls   (per rank)" : "");
    for (int s = 0; s < IKT_STAGE_COUNT; s++) {
        const ikt_cost *cost = &time->stage[s];
        if (!(cost->seconds > 0)) continue;
        int indent = 2 * ikt_stage_depth((ikt_stage)s);
        printf("%*s%-*s %9.3f", indent, "", 14 - indent, ikt_stage_name((ikt_stage)s),
               cost->seconds);
        if (ranks > 1)
            printf(" %12.1f %10.0f %18.0f", mega(cost->bytes_sent), cost->messages,
                   cost->collectives);
        printf("\n");
    }
}

void ikt_plan_print(const ikt_plan *plan) {
    const ikt_memory_plan *m = &plan->memory;
    ikt_cost iteration = ikt_time_plan_iteration(&plan->time);
    print_work(&plan->work);
    printf("machine: %s\n", plan->machine.name);
    print_stages(&plan->time, plan->work.ranks);
    printf("\nan iteration     %.5f s", iteration.seconds);
    if (plan->work.ranks > 1)
        printf("; %.1f KB sent, %.1f messages, %.1f collective calls per rank",
               iteration.bytes_sent / 1e3, iteration.messages, iteration.collectives);
    printf("\nmemory per rank  %.0f MB at most, in the stage '%s' (", mega((double)m->peak),
           ikt_stage_name(m->largest));
    for (int s = 0; s < IKT_STAGE_COUNT; s++)
        if (ikt_memory_plan_has(s))
            printf("%s %.0f, ", ikt_stage_name((ikt_stage)s),
                   mega((double)(m->stage[s] + m->base)));
    printf("each with %.0f for the program)\n", mega((double)m->base));
}

static void cost_json(ikt_json *json, const char *name, const ikt_cost *cost) {
    ikt_json_begin(json, name, '{');
    ikt_json_real(json, "seconds", cost->seconds);
    ikt_json_real(json, "bytes_sent", cost->bytes_sent);
    ikt_json_real(json, "messages_sent", cost->messages);
    ikt_json_real(json, "collective_calls", cost->collectives);
    ikt_json_end(json, '}');
}

static void memory_json(ikt_json *json, const ikt_memory_plan *memory) {
    ikt_json_begin(json, "bytes_per_rank", '{');
    ikt_json_int(json, "peak", memory->peak);
    ikt_json_text(json, "largest", ikt_stage_name(memory->largest));
    ikt_json_int(json, "program", memory->base);
    for (int s = 0; s < IKT_STAGE_COUNT; s++)
        if (ikt_memory_plan_has(s))
            ikt_json_int(json, ikt_stage_name((ikt_stage)s), memory->stage[s]);
    ikt_json_end(json, '}');
}

static void work_json(ikt_json *json, const ikt_plan *plan) {
    const ikt_workload *w = &plan->work;
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
}

void ikt_plan_json_members(ikt_json *json, const ikt_plan *plan) {
    ikt_cost iteration = ikt_time_plan_iteration(&plan->time);
    work_json(json, plan);
    memory_json(json, &plan->memory);
    cost_json(json, "per_iteration", &iteration);
    ikt_json_begin(json, "stages", '{');
    for (int s = 0; s < IKT_STAGE_COUNT; s++)
        if (plan->time.stage[s].seconds > 0)
            cost_json(json, ikt_stage_name((ikt_stage)s), &plan->time.stage[s]);
    ikt_json_end(json, '}');
}

void ikt_plan_json(const ikt_plan *plan) {
    ikt_json json = {stdout, 0, false};
    ikt_json_begin(&json, NULL, '{');
    ikt_plan_json_members(&json, plan);
    ikt_json_end(&json, '}');
}

/* --- a rehearsal: what a run would do --------------------------------------------------------- */

static double total_seconds(const ikt_rehearsal *r) {
    return r->plan.time.stage[IKT_STAGE_TOTAL].seconds;
}

static void print_files(const ikt_rehearsal *r) {
    const ikt_output_settings *out = &r->settings.output;
    printf("writes           %s, %.1f MB at most", out->file, (double)r->result_bytes / 1e6);
    if (out->picture[0]) printf("; picture %s", out->picture);
    if (out->model[0]) printf("; model %s", out->model);
    printf("\n");
    if (r->goes_on) printf("goes on          from a checkpoint of the stage '%s'\n", r->goes_on);
    if (isfinite(r->seconds_left))
        printf("time limit       %.0f s%s\n", r->seconds_left,
               total_seconds(r) > r->seconds_left ? ": it would stop with a checkpoint before its "
                                                    "end"
                                                  : "");
}

ikt_status ikt_rehearsal_print(ikt_context *ctx, const ikt_rehearsal *r) {
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    ikt_settings settings = r->settings;
    char *text = NULL;
    ikt_settings_parts(&settings, parts);
    IKT_TRY(ikt_agree(ctx, ikt_config_print(ctx, parts, IKT_SETTINGS_PARTS, &text)));
    if (ikt_rank(ctx) == 0) {
        printf("reads            %s, %s labels\n", r->input_name, r->has_labels ? "with" : "no");
        print_files(r);
        printf("time             %.1f s, predicted\n\n", total_seconds(r));
        ikt_plan_print(&r->plan);
        printf("\nsettings, as they would be used:\n%s", text);
    }
    ikt_free(&text);
    return IKT_OK;
}

static void key_json(ikt_json *json, const ikt_config_part *part, const ikt_key *key) {
    const void *member = ikt_config_member(part, key);
    char text[IKT_STRING_MAX];
    ikt_value_print(key, member, text, sizeof text);
    if (key->type == IKT_KEY_BOOL)
        ikt_json_bool(json, key->name, *(const bool *)member);
    else if (key->type == IKT_KEY_INT && *(const int64_t *)member != IKT_AUTO_INT)
        ikt_json_int(json, key->name, *(const int64_t *)member);
    else if (key->type == IKT_KEY_REAL && *(const double *)member > IKT_AUTO_REAL)
        ikt_json_real(json, key->name, *(const double *)member);
    else
        ikt_json_text(json, key->name, text);
}

static void settings_json(ikt_json *json, const ikt_settings *from) {
    ikt_settings settings = *from;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    ikt_settings_parts(&settings, parts);
    ikt_json_begin(json, "settings", '{');
    for (int p = 0; p < IKT_SETTINGS_PARTS; p++) {
        ikt_json_begin(json, parts[p].section->name, '{');
        for (size_t k = 0; k < parts[p].section->n_keys; k++)
            key_json(json, &parts[p], &parts[p].section->keys[k]);
        ikt_json_end(json, '}');
    }
    ikt_json_end(json, '}');
}

ikt_status ikt_rehearsal_json(ikt_context *ctx, const ikt_rehearsal *r) {
    ikt_json json = {stdout, 0, false};
    if (ikt_rank(ctx) != 0) return IKT_OK;
    ikt_json_begin(&json, NULL, '{');
    ikt_json_text(&json, "input", r->input_name);
    ikt_json_bool(&json, "labels", r->has_labels);
    ikt_json_int(&json, "output_bytes", r->result_bytes);
    ikt_json_real(&json, "seconds", total_seconds(r));
    if (isfinite(r->seconds_left)) ikt_json_real(&json, "seconds_left", r->seconds_left);
    if (r->goes_on) ikt_json_text(&json, "goes_on_from", r->goes_on);
    ikt_json_begin(&json, "plan", '{');
    ikt_plan_json_members(&json, &r->plan);
    ikt_json_end(&json, '}');
    settings_json(&json, &r->settings);
    ikt_json_end(&json, '}');
    return IKT_OK;
}
