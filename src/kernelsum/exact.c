/* Exact sums over all pairs.
 *
 * Method: positions of all rows on every rank, x and y apart; each own row runs over them in global
 * order in sixteen lanes of float, and every BLOCK rows the lanes are added to double sums. Four
 * own rows go together, which share what is loaded. The division is a division, not an estimate
 * with corrections, and nothing is fused: the same bits whatever the processor has.
 * Advantage: no approximation, the same bits on any ranks, threads and vector width.
 * Disadvantage: n^2 operations. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "kernelsum/ops.h"

enum { LANES = 16, BLOCK = 256, GROUP = 4 };

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

typedef struct {
    ikt_isa isa;
    int64_t padded;  /* n rounded up to whole lanes */
    int64_t *counts; /* [ranks] rows of each */
    float *all;      /* [n * 2] as gathered */
    float *x, *y;    /* [padded]; the padding lies infinitely far */
} exact;

typedef struct {
    double phi, x, y;
} sums3;

/* Adds the lanes, in double and in their order. */
static inline __attribute__((always_inline)) void add_lanes(const lanes *v, double *sum) {
    for (int lane = 0; lane < LANES; lane++)
        *sum += (double)(*v)[lane];
}

/* Sums at `group` points y over all rows. sum[group] */
static inline __attribute__((always_inline)) void sum_group(const exact *e, const float *y,
                                                            int group, sums3 *sum) {
    for (int64_t block = 0; block < e->padded; block += BLOCK) {
        int64_t end = block + BLOCK < e->padded ? block + BLOCK : e->padded;
        lanes phi[GROUP] = {{0}}, sx[GROUP] = {{0}}, sy[GROUP] = {{0}};
        for (int64_t j = block; j < end; j += LANES) {
            lanes xj, yj;
            memcpy(&xj, e->x + j, sizeof xj);
            memcpy(&yj, e->y + j, sizeof yj);
            for (int i = 0; i < group; i++) {
                lanes dx = y[2 * i] - xj, dy = y[2 * i + 1] - yj;
                lanes w = 1.0f / (1.0f + (dx * dx + dy * dy));
                phi[i] += w;
                w *= w;
                sx[i] += w * dx;
                sy[i] += w * dy;
            }
        }
        for (int i = 0; i < group; i++) {
            add_lanes(&phi[i], &sum[i].phi);
            add_lanes(&sx[i], &sum[i].x);
            add_lanes(&sy[i], &sum[i].y);
        }
    }
}

static inline __attribute__((always_inline)) void store(int64_t i, const sums3 *sum, double *phi,
                                                        float *gradient) {
    phi[i] = sum->phi;
    gradient[2 * i] = (float)(-2 * sum->x); /* grad w = -2 w^2 (y - y_j) */
    gradient[2 * i + 1] = (float)(-2 * sum->y);
}

/* Rows 0 .. count - 1 of y, phi and gradient. */
static inline __attribute__((always_inline)) void
sum_rows(const exact *e, const float *y, int64_t count, double *phi, float *gradient) {
    int64_t i = 0;
    for (; i + GROUP <= count; i += GROUP) {
        sums3 sum[GROUP] = {{0, 0, 0}};
        sum_group(e, y + 2 * i, GROUP, sum);
        for (int k = 0; k < GROUP; k++)
            store(i + k, &sum[k], phi, gradient);
    }
    for (; i < count; i++) {
        sums3 sum = {0, 0, 0};
        sum_group(e, y + 2 * i, 1, &sum);
        store(i, &sum, phi, gradient);
    }
}

static void rows_portable(const exact *e, const float *y, int64_t count, double *phi,
                          float *gradient) {
    sum_rows(e, y, count, phi, gradient);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void rows_avx2(const exact *e, const float *y, int64_t count,
                                                      double *phi, float *gradient) {
    sum_rows(e, y, count, phi, gradient);
}

__attribute__((target("avx512f"))) static void
rows_avx512(const exact *e, const float *y, int64_t count, double *phi, float *gradient) {
    sum_rows(e, y, count, phi, gradient);
}
#endif

static void rows_any(const exact *e, const float *y, int64_t count, double *phi, float *gradient) {
#if defined(__x86_64__)
    if (e->isa >= IKT_ISA_AVX512)
        rows_avx512(e, y, count, phi, gradient);
    else if (e->isa == IKT_ISA_AVX2)
        rows_avx2(e, y, count, phi, gradient);
    else
#endif
        rows_portable(e, y, count, phi, gradient);
}

/* Takes x and y apart; false when a coordinate is not finite. */
static bool separate(ikt_context *ctx, const exact *e, int64_t n) {
    int64_t invalid = 0;
#pragma omp parallel for num_threads(ikt_threads(ctx)) reduction(+ : invalid)
    for (int64_t i = 0; i < n; i++) {
        e->x[i] = e->all[2 * i];
        e->y[i] = e->all[2 * i + 1];
        invalid += !isfinite(e->x[i]) || !isfinite(e->y[i]);
    }
    return invalid == 0;
}

static void evaluate(ikt_kernelsum *sums, const float *y, double *phi, float *gradient) {
    exact *e = sums->self;
    ikt_allgather(sums->ctx, y, sums->map.count, 2 * sizeof *y, e->all, e->counts);
    if (!separate(sums->ctx, e, sums->map.n)) {
        ikt_kernelsum_invalid(sums, phi, gradient);
        return;
    }
    enum { PIECE = 4 * GROUP };
#pragma omp parallel for num_threads(ikt_threads(sums->ctx)) schedule(static)
    for (int64_t i = 0; i < sums->map.count; i += PIECE) {
        int64_t count = sums->map.count - i < PIECE ? sums->map.count - i : PIECE;
        rows_any(e, y + 2 * i, count, phi + i, gradient + 2 * i);
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

static void describe(const ikt_kernelsum *sums, char *text, size_t size) {
    snprintf(text, size, "exact sums over all pairs of %lld points", (long long)sums->map.n);
}

static const ikt_kernelsum_ops exact_ops = {evaluate, destroy, describe};

static ikt_status prepare(ikt_kernelsum *sums) {
    ikt_context *ctx = sums->ctx;
    exact *e = NULL;
    int64_t n = sums->map.n;
    IKT_TRY(ikt_alloc(ctx, &e, 1, sizeof *e, "repulsion"));
    sums->self = e;
    e->isa = ikt_cpu_isa();
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
        **out = (ikt_kernelsum){ctx, *map, NULL, &exact_ops};
        st = prepare(*out);
    }
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) ikt_kernelsum_destroy(out);
    return st;
}

int64_t ikt_kernelsum_memory_exact(const ikt_row_map *map) {
    return 16 * map->n + 8 * map->ranks;
}
