/* What a run cost. */
#include "app/cost_print.h"

#include <stdio.h>

#include "base/log.h"

void ikt_times_print(const ikt_run_cost *cost, int ranks) {
    printf("\nstage            seconds%s\n", ranks > 1 ? "   (mean, slowest rank)" : "");
    for (int s = 0; s < IKT_STAGE_COUNT; s++) {
        const ikt_stage_times *t = &cost->times[s];
        if (t->count == 0) continue;
        int indent = 2 * ikt_stage_depth((ikt_stage)s);
        printf("%*s%-*s %9.3f", indent, "", 14 - indent, ikt_stage_name((ikt_stage)s), t->most);
        if (ranks > 1) printf("   (%.3f, rank %d)", t->mean, t->slowest);
        printf("\n");
    }
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

static void log_stage(const ikt_context *ctx, ikt_stage stage, const ikt_stage_times *t) {
    const ikt_log_number numbers[] = {IKT_LOG_INT("depth", ikt_stage_depth(stage)),
                                      IKT_LOG_INT("times", t->count),
                                      IKT_LOG_REAL("least_seconds", t->least),
                                      IKT_LOG_REAL("mean_seconds", t->mean),
                                      IKT_LOG_REAL("most_seconds", t->most),
                                      IKT_LOG_INT("slowest_rank", t->slowest),
                                      {0}};
    ikt_log_numbers(ctx, IKT_LOG_STAGE, numbers, "%s: %.3f s in all", ikt_stage_name(stage),
                    t->most);
}

void ikt_cost_log(const ikt_context *ctx, const ikt_run_cost *cost, int64_t predicted) {
    const ikt_memory_peaks *m = &cost->memory;
    char text[256];
    if (!ikt_log_is_json(ctx)) return;
    for (int s = 0; s < IKT_STAGE_COUNT; s++)
        if (cost->times[s].count > 0) log_stage(ctx, (ikt_stage)s, &cost->times[s]);
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

/* --- transfers -------------------------------------------------------------------------------- */

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
