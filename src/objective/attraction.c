/* Attraction along P: the share of each thread. See attraction.h; the loops are in
 * attraction.kernel.c.
 *
 * Rows differ in length (a hub has hundreds of times the average), so that threads take some
 * hundred rows at a time, as they become free. */
#include "objective/attraction.h"

enum { ROWS = 256 /* of which a kernel is asked at a time */ };

/* Entries from which on a second thread is worth waking. */
static const int64_t parallel_entries = 1 << 16;

static bool has_balance(const ikt_pair_weight *pair) {
    return pair->kind == IKT_PAIR_NERV || pair->kind == IKT_PAIR_JSE;
}

/* The terms that a kernel has found for `count` rows; what a thread has found. */
static void collect(ikt_pair_totals *totals, const float *value, const float *balance,
                    int64_t count) {
    for (int64_t i = 0; i < count; i++)
        ikt_exact_sum_add(&totals->value, (double)value[i]);
    for (int64_t i = 0; balance && i < count; i++)
        ikt_exact_sum_add(&totals->balance, (double)balance[i]);
}

static void merge(ikt_pair_totals *into, const ikt_pair_totals *mine) {
#pragma omp critical(ikt_attraction_totals)
    {
        ikt_exact_sum_merge(&into->value, &mine->value);
        ikt_exact_sum_merge(&into->balance, &mine->balance);
    }
}

void ikt_attraction(ikt_context *ctx, const ikt_graph *graph, int q, const ikt_pair_weight *pair,
                    const float *y, float *force, ikt_pair_totals *totals) {
    const ikt_attraction_kernel *kernel = ikt_attraction_kernel_for(ikt_cpu_isa());
    const int64_t n = graph->rows.count;
    const int64_t entries = graph->forward.start[n] + graph->reverse.start[n];
    const bool want_balance = totals && has_balance(pair);
#pragma omp parallel num_threads(ikt_threads(ctx)) if (entries >= parallel_entries)
    {
        ikt_pair_totals mine = {{{0}, 0, 0}, {{0}, 0, 0}};
        float value[ROWS], balance[ROWS];
#pragma omp for schedule(dynamic, 4) nowait
        for (int64_t first = 0; first < n; first += ROWS) {
            const ikt_attraction_job job = {.q = q,
                                            .pair = pair,
                                            .y = y,
                                            .first = first,
                                            .last = first + ROWS < n ? first + ROWS : n,
                                            .force = force,
                                            .value = totals ? value : NULL,
                                            .balance = want_balance ? balance : NULL};
            kernel->sparse(graph, &job);
            if (totals) collect(&mine, value, job.balance, job.last - first);
        }
        if (totals) merge(totals, &mine);
    }
}

void ikt_attraction_dense(ikt_context *ctx, const ikt_dense *dense, int q,
                          const ikt_pair_weight *pair, const float *const *at, float *force,
                          ikt_pair_totals *totals) {
    const ikt_attraction_kernel *kernel = ikt_attraction_kernel_for(ikt_cpu_isa());
    const bool want_balance = totals && has_balance(pair);
#pragma omp parallel num_threads(ikt_threads(ctx))
    {
        ikt_pair_totals mine = {{{0}, 0, 0}, {{0}, 0, 0}};
        float value, balance;
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < dense->rows.count; i++) {
            const ikt_attraction_job job = {.q = q,
                                            .pair = pair,
                                            .at = at,
                                            .first = i,
                                            .last = i + 1,
                                            .force = force,
                                            .value = totals ? &value : NULL,
                                            .balance = want_balance ? &balance : NULL};
            kernel->dense(dense, &job);
            if (totals) collect(&mine, &value, job.balance, 1);
        }
        if (totals) merge(totals, &mine);
    }
}
