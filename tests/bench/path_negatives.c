/* Repulsion from negative samples: the rows of tiles against far rows of a pool. */
#include "base/memory.h"
#include "base/rng.h"
#include "base/timer.h"
#include "harness.h"
#include "limits.h"
#include "objective/attraction.h"
#include "paths.h"
#include "report.h"

#include <stdio.h>

enum {
    Q = 2,
    FAR = 32,
    OPERATIONS = 60 /* of a pair: differences, logarithm, exponential, force */
};

typedef struct {
    ikt_context *ctx;
    int64_t tiles;
    float *at, *weight, *sum; /* [tiles * IKT_TILE * Q], [tiles * IKT_TILE], as the first */
    float far[FAR * (Q + 1)];
} repelling;

static double repel(void *self) {
    repelling *r = self;
    ikt_negatives_kernel *kernel = ikt_negatives_kernel_for(ikt_cpu_isa());
    const double begun = ikt_now();
#pragma omp parallel for schedule(static) num_threads(ikt_threads(r->ctx))
    for (int64_t tile = 0; tile < r->tiles; tile++) {
        const float *at = r->at + tile * IKT_TILE * Q;
        float *sum = r->sum + tile * IKT_TILE * Q;
        const ikt_negatives_job job = {.q = Q,
                                       .force = {0.4555f, 0.8951f, 1.79f, 0.001f, 4},
                                       .at = {at, at + IKT_TILE},
                                       .weight = r->weight + tile * IKT_TILE,
                                       .far = FAR,
                                       .far_at = r->far,
                                       .sum = {sum, sum + IKT_TILE}};
        kernel(&job);
    }
    return ikt_now() - begun;
}

static ikt_status make(repelling *r) {
    const int64_t rows = r->tiles * IKT_TILE;
    IKT_TRY(ikt_alloc(r->ctx, &r->at, Q * rows, sizeof *r->at, "bench"));
    IKT_TRY(ikt_alloc(r->ctx, &r->sum, Q * rows, sizeof *r->sum, "bench"));
    IKT_TRY(ikt_alloc(r->ctx, &r->weight, rows, sizeof *r->weight, "bench"));
    for (int64_t e = 0; e < Q * rows; e++)
        r->at[e] = (float)(20 * ikt_rng_uniform(5, IKT_RNG_TEST, e, 0));
    for (int64_t i = 0; i < rows; i++)
        r->weight[i] = (float)ikt_rng_uniform(5, IKT_RNG_TEST, i, 1);
    for (int64_t e = 0; e < FAR * (Q + 1); e++)
        r->far[e] = (float)(20 * ikt_rng_uniform(5, IKT_RNG_TEST, e, 2));
    return IKT_OK;
}

ikt_status bench_path_negatives(bench *b) {
    char rows[32];
    repelling r = {.ctx = b->ctx, .tiles = b->rows / ikt_size(b->ctx) / IKT_TILE + 1};
    bench_cores cores = {ikt_cpu_isa(), ikt_threads(b->ctx)};
    ikt_status st = ikt_agree(b->ctx, make(&r));
    bench_case c = {.path = "negatives",
                    .unit = "pairs",
                    .work = {NULL, repel, &r, (double)(r.tiles * IKT_TILE * FAR)},
                    .limit = {{"60 operations a pair at the rate of multiply-adds", bench_pass_fma,
                               &cores, bench_fma_operations(&cores) / OPERATIONS}}};
    snprintf(c.size, sizeof c.size, "%s rows x %d far rows", bench_grouped(b->rows, rows), FAR);
    if (st == IKT_OK) st = bench_measure(b, &c);
    ikt_free(&r.at);
    ikt_free(&r.sum);
    ikt_free(&r.weight);
    return st;
}
