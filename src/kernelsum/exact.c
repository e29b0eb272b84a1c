/* Exact sums over all pairs.
 *
 * Method: positions of all rows on every rank, x and y apart; each own row runs over them in global
 * order in sixteen lanes of float, and every BLOCK rows the lanes are added to double sums.
 * Advantage: no approximation, the same bits on any ranks, threads and vector width.
 * Disadvantage: n^2 operations. */
#include <math.h>

#include "base/comm.h"
#include "base/memory.h"
#include "kernelsum/ops.h"

enum { LANES = 16, BLOCK = 512 };

typedef struct {
    int64_t padded;  /* n rounded up to whole lanes */
    int64_t *counts; /* [ranks] rows of each */
    float *all;      /* [n * 2] as gathered */
    float *x, *y;    /* [padded]; the padding lies infinitely far */
} exact;

typedef struct {
    double phi, x, y;
} sums3;

/* Adds the terms of rows from .. from + count - 1, a multiple of LANES, at the point (px, py). */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
static void
add_block(const float *x, const float *y, int64_t count, float px, float py, sums3 *sum) {
    float phi[LANES] = {0}, sx[LANES] = {0}, sy[LANES] = {0};
    for (int64_t j = 0; j < count; j += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            float dx = px - x[j + lane], dy = py - y[j + lane];
            float w = 1.0f / (1.0f + (dx * dx + dy * dy));
            phi[lane] += w;
            float squared = w * w;
            sx[lane] += squared * dx;
            sy[lane] += squared * dy;
        }
    for (int lane = 0; lane < LANES; lane++) {
        sum->phi += (double)phi[lane];
        sum->x += (double)sx[lane];
        sum->y += (double)sy[lane];
    }
}

static void spread_out(ikt_context *ctx, const exact *e, int64_t n) {
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < n; i++) {
        e->x[i] = e->all[2 * i];
        e->y[i] = e->all[2 * i + 1];
    }
}

static void evaluate(ikt_kernelsum *sums, const float *y, double *phi, float *gradient) {
    exact *e = sums->self;
    ikt_allgather(sums->ctx, y, sums->map.count, 2 * sizeof *y, e->all, e->counts);
    spread_out(sums->ctx, e, sums->map.n);
    int finite = 1;
    for (int64_t i = 0; i < 2 * sums->map.n; i++)
        finite &= isfinite(e->all[i]) != 0;
    if (!finite) {
        ikt_kernelsum_invalid(sums, phi);
        return;
    }
#pragma omp parallel for num_threads(ikt_threads(sums->ctx))
    for (int64_t i = 0; i < sums->map.count; i++) {
        sums3 sum = {0, 0, 0};
        for (int64_t j = 0; j < e->padded; j += BLOCK) {
            int64_t count = e->padded - j < BLOCK ? e->padded - j : BLOCK;
            add_block(e->x + j, e->y + j, count, y[2 * i], y[2 * i + 1], &sum);
        }
        phi[i] = sum.phi;
        gradient[2 * i] = (float)(-2 * sum.x); /* grad w = -2 w^2 (y - y_j) */
        gradient[2 * i + 1] = (float)(-2 * sum.y);
    }
}

static void destroy(ikt_kernelsum *sums) {
    exact *e = sums->self;
    if (!e) return;
    ikt_free(&e->counts);
    ikt_free(&e->all);
    ikt_free(&e->x);
    ikt_free(&e->y);
    ikt_free(&e);
}

static ikt_status prepare(ikt_kernelsum *sums) {
    ikt_context *ctx = sums->ctx;
    exact *e = NULL;
    int64_t n = sums->map.n;
    IKT_TRY(ikt_alloc(ctx, &e, 1, sizeof *e, "repulsion"));
    sums->self = e;
    e->padded = (n + LANES - 1) / LANES * LANES;
    IKT_TRY(ikt_alloc(ctx, &e->counts, ikt_size(ctx), sizeof *e->counts, "repulsion"));
    IKT_TRY(ikt_alloc(ctx, &e->all, 2 * n, sizeof *e->all, "repulsion"));
    IKT_TRY(ikt_alloc(ctx, &e->x, e->padded, sizeof *e->x, "repulsion"));
    IKT_TRY(ikt_alloc(ctx, &e->y, e->padded, sizeof *e->y, "repulsion"));
    for (int r = 0; r < ikt_size(ctx); r++)
        e->counts[r] = ikt_row_map_count(&sums->map, r);
    /* 1e30 squares to infinity in float: a kernel value of exactly 0, and 0 * 1e30 = 0. */
    for (int64_t i = n; i < e->padded; i++)
        e->x[i] = e->y[i] = 1e30f;
    return IKT_OK;
}

ikt_status ikt_kernelsum_create_exact(ikt_context *ctx, const ikt_row_map *map,
                                      ikt_kernelsum **out) {
    ikt_status st = ikt_alloc(ctx, out, 1, sizeof **out, "repulsion");
    if (st == IKT_OK) {
        **out = (ikt_kernelsum){ctx, *map, NULL, evaluate, destroy};
        st = prepare(*out);
    }
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) ikt_kernelsum_destroy(out);
    return st;
}
