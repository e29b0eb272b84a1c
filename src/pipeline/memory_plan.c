/* What a run will need, before it starts. The sizes are those that the modules allocate; what they
 * allocate in blocks of fixed size is counted with the block. */
#include "pipeline/memory_plan.h"

#include <math.h>

#include "affinity/dense.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "isolation/codes.h"
#include "kernelsum/kernelsum.h"
#include "neighbours/neighbours.h"

/* Bytes a directed entry holds at the peak of symmetrisation: its list (12), its weight (4), the
 * received transposed entry (16), and both as entries to be merged (32). */
enum { SYMMETRISE_BYTES = 64 };

/* Bytes of an entry of P in its final form, and entries per directed one at most. */
enum { ENTRY_BYTES = 8, ENTRIES_MOST = 2 };

/* Positions, velocities, gains, gradients, sums and boundary of a row in the loop. */
enum { LAYOUT_BYTES = 80 };

static void find_peak(ikt_memory_plan *plan) {
    const struct {
        const char *name;
        int64_t bytes;
    } stages[] = {{"codes", plan->codes},
                  {"neighbours", plan->neighbours},
                  {"graph", plan->graph},
                  {"layout", plan->layout}};
    int64_t most = 0;
    for (size_t s = 0; s < sizeof stages / sizeof *stages; s++)
        if (stages[s].bytes > most) {
            most = stages[s].bytes;
            plan->largest = stages[s].name;
        }
    plan->peak = plan->base + most;
}

/* Late maps have a side of at most about 4 sqrt(n) / 3. */
static int64_t repulsion_bytes(const ikt_layout_settings *layout, const ikt_row_map *map,
                               int threads) {
    if (layout->repulsion == IKT_REPULSION_EXACT) return ikt_kernelsum_memory_exact(map);
    bool tight = layout->accuracy == IKT_ACCURACY_TIGHT;
    ikt_fft_settings fft = ikt_fft_preset(tight ? IKT_FFT_TIGHT : IKT_FFT_DEFAULT);
    return ikt_kernelsum_memory_fft(&fft, map, threads, 4 * sqrt((double)map->n) / 3);
}

ikt_memory_plan ikt_memory_plan_make(ikt_context *ctx, const ikt_settings *settings,
                                     const ikt_dataset *data, const ikt_row_map *map, int64_t k) {
    int64_t n_local = ikt_row_map_count(map, 0), d = ikt_dataset_columns(data);
    int is_dense = settings->affinity.support == IKT_SUPPORT_DENSE;
    int is_isolation = settings->affinity.kind == IKT_AFFINITY_ISOLATION;
    ikt_memory_plan plan = {.base = ikt_memory_resident_peak(), .largest = "codes"};

    int64_t psi = 0, rows = n_local * d * (int64_t)sizeof(float);
    if (is_isolation &&
        ikt_isolation_resolve_psi(ctx, &settings->isolation, map->n, &psi) == IKT_OK) {
        plan.codes = ikt_codes_memory_peak(data, n_local, psi, settings->isolation.partitionings,
                                           ikt_threads(ctx));
        rows = ikt_codes_memory(n_local, psi, settings->isolation.partitionings);
    }
    int64_t lists =
        is_dense ? ikt_dense_memory(n_local, map->n) : ikt_neighbours_memory(n_local, k);
    plan.neighbours = rows + lists;
    plan.graph = is_dense ? lists : SYMMETRISE_BYTES * n_local * k + rows;
    int64_t p = is_dense ? lists : ENTRY_BYTES * ENTRIES_MOST * n_local * k;
    plan.layout = p + LAYOUT_BYTES * n_local + 24 * map->n * is_dense +
                  repulsion_bytes(&settings->layout, map, ikt_threads(ctx));
    plan.advice = is_dense ? "affinity.support=sparse" : "fewer affinity.neighbours";
    find_peak(&plan);
    return plan;
}

ikt_status ikt_memory_plan_check(ikt_context *ctx, const ikt_memory_plan *plan) {
    double megabyte = 1e6;
    ikt_log(ctx, IKT_LOG_DETAIL,
            "predicted memory per rank: %.0f MB at most (codes %.0f, neighbours %.0f, graph %.0f, "
            "layout %.0f, program %.0f)",
            (double)plan->peak / megabyte, (double)plan->codes / megabyte,
            (double)plan->neighbours / megabyte, (double)plan->graph / megabyte,
            (double)plan->layout / megabyte, (double)plan->base / megabyte);
    int64_t more = plan->peak - plan->base, available = ikt_memory_available(ctx);
    ikt_status st = IKT_OK;
    if (more > available)
        st = ikt_fail(ctx, IKT_ERR_RESOURCE,
                      "the stage '%s' needs about %.0f MB more on each rank, but only %.0f MB are "
                      "left for rank %d: use more nodes, or %s",
                      plan->largest, (double)more / megabyte, (double)available / megabyte,
                      ikt_rank(ctx), plan->advice);
    return ikt_agree(ctx, st);
}
