/* Attraction along P: the share of each thread. See attraction.h; the loops are in
 * attraction_body.h.
 *
 * Rows differ in length (a hub has hundreds of times the average), so that pieces are cut by
 * entries, several for each thread, and taken as threads become free. */
#include "objective/attraction.h"

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
    const int64_t n = graph->map.count;
    const int64_t *forward = graph->forward.start, *reverse = graph->reverse.start;
    const int64_t cost = forward[n] + reverse[n] + n;
    const int64_t before = cost / pieces * piece + cost % pieces * piece / pieces;
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (forward[middle] + reverse[middle] + middle < before)
            low = middle + 1;
        else
            high = middle;
    }
    return piece == pieces ? n : low;
}

/* Adds what a kernel has found for `count` rows. */
static void collect(ikt_exact_sum *sum, const float *divergence, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        ikt_exact_sum_add(sum, (double)divergence[i]);
}

static void merge(ikt_exact_sum *into, const ikt_exact_sum *mine) {
#pragma omp critical(ikt_attraction_divergence)
    ikt_exact_sum_merge(into, mine);
}

/* Rows first .. last - 1, their divergence by way of a small buffer. */
static void attract(const ikt_attraction_kernel *kernel, const ikt_graph *graph, const float *y,
                    int64_t first, int64_t last, float *force, ikt_exact_sum *sum) {
    float divergence[ROWS];
    for (int64_t i = first; i < last; i += ROWS) {
        const int64_t end = i + ROWS < last ? i + ROWS : last;
        kernel->sparse(graph, y, i, end, force, sum ? divergence : NULL);
        if (sum) collect(sum, divergence, end - i);
    }
}

void ikt_attraction(ikt_context *ctx, const ikt_graph *graph, const float *y, float *force,
                    ikt_exact_sum *divergence) {
    const ikt_attraction_kernel *kernel = ikt_attraction_kernel_for(ikt_cpu_isa());
    const int64_t pieces = PIECES * (int64_t)ikt_threads(ctx), n = graph->map.count;
    const int64_t entries = graph->forward.start[n] + graph->reverse.start[n];
#pragma omp parallel num_threads(ikt_threads(ctx)) if (entries >= parallel_entries)
    {
        ikt_exact_sum mine = {{0}, 0, 0};
#pragma omp for schedule(dynamic) nowait
        for (int64_t piece = 0; piece < pieces; piece++)
            attract(kernel, graph, y, cut(graph, piece, pieces), cut(graph, piece + 1, pieces),
                    force, divergence ? &mine : NULL);
        if (divergence) merge(divergence, &mine);
    }
}

void ikt_attraction_dense(ikt_context *ctx, const ikt_dense *dense, const float *y, float *force,
                          ikt_exact_sum *divergence) {
    const ikt_attraction_kernel *kernel = ikt_attraction_kernel_for(ikt_cpu_isa());
#pragma omp parallel num_threads(ikt_threads(ctx))
    {
        ikt_exact_sum mine = {{0}, 0, 0};
        float row;
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < dense->map.count; i++) {
            kernel->dense(dense, y, i, i + 1, force, divergence ? &row : NULL);
            if (divergence) collect(&mine, &row, 1);
        }
        if (divergence) merge(divergence, &mine);
    }
}
