/* Nodes, ranks and threads. See plan.h. */
#define _GNU_SOURCE
#include "plan/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/sort.h"

/* A tenth is less than what predictions are worth. */
static const double alike = 0.9;
static const double least_efficiency = 0.5;

typedef struct {
    ikt_context *ctx;
    const ikt_settings *settings;
    const ikt_data_shape *data;
    int64_t base;
    ikt_plan *plan; /* for one placement after the other; holds the machine */
    ikt_recommendation *out;
} planner;

ikt_cluster ikt_cluster_here(void) {
    ikt_cluster here = {.nodes = 1, .cores = ikt_cpu_mask_count(), .memory = ikt_slurm_memory()};
    const int64_t left[] = {ikt_machine_memory_left(),
                            ikt_group_memory_left("/proc/self/cgroup", "/sys/fs/cgroup")};
    for (int i = 0; i < 2; i++)
        here.memory = ikt_smaller(here.memory, left[i]);
    for (char path[64];; here.domains++) {
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d", (int)here.domains);
        if (access(path, F_OK) != 0) break;
    }
    if (here.domains < 1 || here.domains > here.cores) here.domains = 1;
    return here;
}

double ikt_placement_efficiency(const ikt_placement *p, const ikt_placement *than) {
    return than->seconds * (double)than->nodes / (p->seconds * (double)p->nodes);
}

static ikt_status make_placement(const planner *p, int64_t nodes, int64_t per_node, int64_t threads,
                                 ikt_placement *out) {
    *out = (ikt_placement){.nodes = nodes, .ranks = nodes * per_node, .threads = threads};
    IKT_TRY(ikt_workload_make(p->ctx, p->settings, p->data, (int)out->ranks, (int)threads,
                              &p->plan->work));
    IKT_TRY(ikt_plan_make(p->ctx, p->base, p->plan));
    out->seconds = p->plan->time.stage[IKT_STAGE_TOTAL].seconds;
    out->node_bytes = per_node * p->plan->memory.peak;
    ikt_recommendation *r = p->out;
    if (out->node_bytes < r->leanest.node_bytes) {
        r->leanest = *out;
        r->advice = p->plan->memory.advice;
    }
    return IKT_OK;
}

static bool fits(const planner *p, const ikt_placement *placement) {
    return (double)placement->node_bytes <= IKT_MEMORY_SHARE * (double)p->out->cluster.memory;
}

/* The fewest ranks whose time is within a tenth of the best. `best->ranks` is 0 where nothing fits.
 */
static ikt_status best_of_nodes(const planner *p, int64_t nodes, int64_t threads_most,
                                ikt_placement *best) {
    const int64_t cores = p->out->cluster.cores;
    ikt_placement placement;
    double fastest = INFINITY;
    *best = (ikt_placement){0};
    for (int pass = 0; pass < 2; pass++)
        for (int64_t each = 1; each <= cores && nodes * each <= p->data->n; each++) {
            if (cores % each != 0) continue;
            IKT_TRY(make_placement(p, nodes, each, ikt_smaller(cores / each, threads_most),
                                   &placement));
            if (!fits(p, &placement)) continue;
            if (pass == 0) fastest = fmin(fastest, placement.seconds);
            if (pass == 0 || alike * placement.seconds > fastest) continue;
            *best = placement;
            return IKT_OK;
        }
    return IKT_OK;
}

ikt_status ikt_recommend(ikt_context *ctx, const ikt_settings *settings, const ikt_data_shape *data,
                         const ikt_machine *machine, int64_t base, const ikt_cluster *cluster,
                         ikt_recommendation *out) {
    ikt_plan plan = {.machine = *machine};
    const planner p = {ctx, settings, data, base, &plan, out};
    int64_t threads = cluster->cores / cluster->domains;
    if (settings->run.threads != IKT_AUTO_INT)
        threads = ikt_smaller(threads, settings->run.threads);
    *out = (ikt_recommendation){.cluster = *cluster, .leanest = {.node_bytes = INT64_MAX}};
    IKT_TRY(make_placement(&p, 1, 1, threads, &out->single));
    for (int64_t nodes = 1; nodes <= cluster->nodes && out->count < IKT_PLACEMENTS_MOST;) {
        ikt_placement placement;
        IKT_TRY(best_of_nodes(&p, nodes, threads, &placement));
        if (placement.ranks > 0) {
            out->of_nodes[out->count++] = placement;
            const bool is_worth =
                out->fits && placement.seconds < alike * out->best.seconds &&
                ikt_placement_efficiency(&placement, &out->of_nodes[0]) >= least_efficiency;
            if (!out->fits || is_worth) out->best = placement;
            out->fits = true;
        }
        /* Twice as many, at last all of them. */
        nodes = nodes < cluster->nodes ? ikt_smaller(2 * nodes, cluster->nodes) : nodes + 1;
    }
    return IKT_OK;
}
