/* A plan, for people and as JSON. */
#include "app/plan_print.h"

#include <stdio.h>

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
