/* What a run sent and received. */
#include "app/traffic_print.h"

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
}

static void iteration_json(ikt_json *json, const ikt_run_cost *cost) {
    ikt_json_begin(json, "per_iteration", '{');
    for (int kind = 0; kind < IKT_TRAFFIC_KINDS; kind++) {
        const ikt_traffic_range *range = &cost->traffic[IKT_STAGE_LAYOUT].of[kind];
        ikt_json_begin(json, ikt_traffic_name((ikt_traffic_kind)kind), '{');
        ikt_json_real(json, "least", per_iteration(cost, (double)range->least));
        ikt_json_real(json, "mean", per_iteration(cost, range->mean));
        ikt_json_real(json, "most", per_iteration(cost, (double)range->most));
        ikt_json_end(json, '}');
    }
    ikt_json_end(json, '}');
}

static void stage_json(ikt_json *json, ikt_stage stage, const ikt_traffic *traffic) {
    if (traffic->of[IKT_TRAFFIC_COLLECTIVES].most == 0 &&
        traffic->of[IKT_TRAFFIC_MESSAGES_SENT].most == 0)
        return;
    ikt_json_begin(json, ikt_stage_name(stage), '{');
    for (int kind = 0; kind < IKT_TRAFFIC_KINDS; kind++) {
        const ikt_traffic_range *range = &traffic->of[kind];
        ikt_json_begin(json, ikt_traffic_name((ikt_traffic_kind)kind), '{');
        ikt_json_int(json, "least", range->least);
        ikt_json_real(json, "mean", range->mean);
        ikt_json_int(json, "most", range->most);
        ikt_json_end(json, '}');
    }
    ikt_json_end(json, '}');
}

void ikt_traffic_json(ikt_json *json, const ikt_run_cost *cost) {
    ikt_json_begin(json, "traffic", '{');
    ikt_json_int(json, "gradients", cost->times[IKT_STAGE_REPULSION].count);
    iteration_json(json, cost);
    ikt_json_begin(json, "stages", '{');
    for (int s = 0; s < IKT_STAGE_COUNT; s++)
        stage_json(json, (ikt_stage)s, &cost->traffic[s]);
    ikt_json_end(json, '}');
    ikt_json_end(json, '}');
}
