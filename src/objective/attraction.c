/* Attraction along P: the share of each thread. See attraction.h; the loops are in
 * attraction_body.h.
 *
 * Rows differ in length (a hub has hundreds of times the average), so that pieces are cut by
 * entries, several for each thread, and taken as threads become free. */
#include "objective/attraction.h"

#include "base/sort.h"
#include "objective/attraction_kernel.h"

enum { PIECES = 16 /* for each thread */, ROWS = 256 /* of which a kernel is asked at a time */ };

/* Entries from which on a second thread is worth waking. */
static const int64_t parallel_entries = 1 << 16;

const ikt_attraction_kernel *ikt_attraction_kernel_for(ikt_isa isa) {
#if defined(__x86_64__)
    if (isa >= IKT_ISA_AVX512) return &ikt_attraction_avx512;
    if (isa == IKT_ISA_AVX2) return &ikt_attraction_avx2;
#endif
    (void)isa;
    return &ikt_attraction_portable;
}

/* The first row of piece `piece` of `pieces`; a row counts as one more entry. */
static int64_t cut(const ikt_graph *graph, int64_t piece, int64_t pieces) {
    const int64_t n = graph->rows.count;
    const int64_t *forward = graph->forward.start, *reverse = graph->reverse.start;
    const int64_t cost = forward[n] + reverse[n] + n;
    const int64_t before = cost / pieces * piece + cost % pieces * piece / pieces;
    int64_t row;
    IKT_FIND_FIRST(row, 0, n, forward[row] + reverse[row] + row >= before);
    return piece == pieces ? n : row;
}

/* Adds what a kernel has found for `count` rows. */
static void collect(ikt_exact_sum *sum, const float *of_row, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        ikt_exact_sum_add(sum, (double)of_row[i]);
}

static void merge(ikt_pair_totals *into, const ikt_pair_totals *mine) {
#pragma omp critical(ikt_attraction_totals)
    {
        ikt_exact_sum_merge(&into->value, &mine->value);
        ikt_exact_sum_merge(&into->balance, &mine->balance);
    }
}

static bool has_balance(const ikt_pair_weight *pair) {
    return pair->kind == IKT_PAIR_NERV || pair->kind == IKT_PAIR_JSE;
}

/* Rows first .. last - 1 of one of both P, their terms by way of small buffers. */
static void attract(const ikt_attraction_kernel *kernel, const ikt_graph *graph,
                    const ikt_dense *dense, ikt_attraction_job job, ikt_pair_totals *totals) {
    float value[ROWS], balance[ROWS];
    const int64_t last = job.last;
    if (totals) job.value = value;
    if (totals && has_balance(job.pair)) job.balance = balance;
    for (; job.first < last; job.first = job.last) {
        job.last = job.first + ROWS < last ? job.first + ROWS : last;
        if (graph)
            kernel->sparse(graph, &job);
        else
            kernel->dense(dense, &job);
        if (job.value) collect(&totals->value, value, job.last - job.first);
        if (job.balance) collect(&totals->balance, balance, job.last - job.first);
    }
}

void ikt_attraction(ikt_context *ctx, const ikt_graph *graph, int q, const ikt_pair_weight *pair,
                    const float *y, float *force, ikt_pair_totals *totals) {
    const ikt_attraction_kernel *kernel = ikt_attraction_kernel_for(ikt_cpu_isa());
    const int64_t pieces = PIECES * (int64_t)ikt_threads(ctx), n = graph->rows.count;
    const int64_t entries = graph->forward.start[n] + graph->reverse.start[n];
#pragma omp parallel num_threads(ikt_threads(ctx)) if (entries >= parallel_entries)
    {
        ikt_pair_totals mine = {{{0}, 0, 0}, {{0}, 0, 0}};
#pragma omp for schedule(dynamic) nowait
        for (int64_t piece = 0; piece < pieces; piece++) {
            const ikt_attraction_job job = {.q = q,
                                            .pair = pair,
                                            .y = y,
                                            .first = cut(graph, piece, pieces),
                                            .last = cut(graph, piece + 1, pieces),
                                            .force = force};
            attract(kernel, graph, NULL, job, totals ? &mine : NULL);
        }
        if (totals) merge(totals, &mine);
    }
}

void ikt_attraction_dense(ikt_context *ctx, const ikt_dense *dense, int q,
                          const ikt_pair_weight *pair, const float *const *at, float *force,
                          ikt_pair_totals *totals) {
    const ikt_attraction_kernel *kernel = ikt_attraction_kernel_for(ikt_cpu_isa());
#pragma omp parallel num_threads(ikt_threads(ctx))
    {
        ikt_pair_totals mine = {{{0}, 0, 0}, {{0}, 0, 0}};
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < dense->rows.count; i++) {
            const ikt_attraction_job job = {
                .q = q, .pair = pair, .at = at, .first = i, .last = i + 1, .force = force};
            attract(kernel, NULL, dense, job, totals ? &mine : NULL);
        }
        if (totals) merge(totals, &mine);
    }
}
