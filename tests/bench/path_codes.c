/* The cell-code kernels: distances and argmin of tiles of rows against whole partitionings. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/timer.h"
#include "isolation/codes_kernel.h"
#include "limits.h"
#include "paths.h"
#include "scene.h"

enum { MOST = 16, CENTRE_BYTES = 1 << 20, ROWS_LEAST = 8192, ROWS_QUICK = 600 };

typedef struct {
    ikt_context *ctx;
    const ikt_codes_kernel *kernel;
    int64_t d, n, psi;
    char *rows;                /* [n*d] of the kernel's type */
    ikt_row_tile *tile;        /* [threads] */
    int64_t count;             /* partitionings */
    ikt_centres centres[MOST]; /* in slab */
    char *slab;
    ikt_arrays held; /* of the tiles */
} coding;

static int64_t size_of(const coding *c) {
    return c->kernel->is_u8 ? 1 : 4;
}

static void fill_rows(coding *c) {
#pragma omp parallel for num_threads(ikt_threads(c->ctx))
    for (int64_t i = 0; i < c->n; i++)
        for (int64_t k = 0; k < c->d; k++) {
            double x = bench_coordinate(i, k);
            if (c->kernel->is_u8)
                ((uint8_t *)c->rows)[i * c->d + k] = (uint8_t)(255 * x);
            else
                ((float *)(void *)c->rows)[i * c->d + k] = (float)x;
        }
}

static ikt_status make_centres(coding *c) {
    int64_t bytes = ikt_centres_bytes(c->kernel, c->psi, c->d), *index = NULL;
    c->count = CENTRE_BYTES / bytes;
    c->count = c->count < 1 ? 1 : c->count > MOST ? MOST : c->count;
    IKT_TRY(ikt_alloc(c->ctx, &c->slab, c->count * bytes, 1, "bench"));
    IKT_TRY(ikt_alloc(c->ctx, &index, c->psi, sizeof *index, "bench"));
    for (int64_t i = 0; i < c->count; i++) {
        for (int64_t j = 0; j < c->psi; j++)
            index[j] = ikt_rng_below(7, IKT_RNG_TEST, i, (uint64_t)j, c->n);
        ikt_centres_place(c->kernel, c->psi, c->d, c->slab + i * bytes, &c->centres[i]);
        ikt_centres_fill(c->kernel, &c->centres[i], c->rows, index, NULL);
    }
    ikt_free(&index);
    return IKT_OK;
}

static ikt_status make(coding *c) {
    int threads = ikt_threads(c->ctx);
    IKT_TRY(ikt_alloc(c->ctx, &c->rows, c->n * c->d, (size_t)size_of(c), "bench"));
    IKT_TRY(ikt_alloc(c->ctx, &c->tile, threads, sizeof *c->tile, "bench"));
    c->held = ikt_arrays_of(c->ctx, "bench");
    for (int i = 0; i < threads; i++)
        ikt_row_tile_create(&c->held, c->kernel, c->d, &c->tile[i]);
    IKT_TRY(c->held.status);
    fill_rows(c);
    const int64_t rows = c->tile[0].capacity, bytes = rows * c->d * size_of(c);
    for (int i = 0; i < threads; i++)
        ikt_row_tile_stage(c->kernel, &c->tile[i], c->rows + i * bytes, rows);
    return make_centres(c);
}

static void release(coding *c) {
    ikt_arrays_free(&c->held);
    ikt_free(&c->tile);
    ikt_free(&c->slab);
    ikt_free(&c->rows);
}

/* Every thread codes a tile of its own, which was staged once, against all partitionings. */
static double assign(void *self) {
    const coding *c = self;
    double begin = ikt_now();
#pragma omp parallel num_threads(ikt_threads(c->ctx))
    {
        uint32_t cell[IKT_ROW_TILE_MOST + IKT_LANES];
        ikt_row_tile *tile = &c->tile[omp_get_thread_num()];
        for (int64_t i = 0; i < c->count; i++)
            ikt_row_tile_assign(c->kernel, tile, &c->centres[i], cell);
    }
    return ikt_now() - begin;
}

static ikt_status measure(bench *b, bool is_u8, int64_t d, int64_t psi) {
    coding c = {
        .ctx = b->ctx, .kernel = ikt_codes_kernel_choose(is_u8, false, ikt_cpu_isa()), .d = d};
    const int threads = ikt_threads(b->ctx);
    const int64_t tile = ikt_row_tile_rows(c.kernel, d), least = b->quick ? ROWS_QUICK : ROWS_LEAST;
    c.n = tile * threads > least ? tile * threads : least;
    c.psi = psi;
    ikt_status st = ikt_agree(b->ctx, make(&c));
    bench_cores cores = {ikt_cpu_isa(), threads};
    double operations = 2.0 * (double)(tile * threads * c.count * psi) * (double)d;
    bench_case of = {.path = is_u8 ? "codes-u8" : "codes-f32",
                     .unit = "operations",
                     .work = {NULL, assign, &c, operations}};
    if (is_u8)
        of.limit[0] = (bench_part){"integer multiply-adds", bench_pass_dot, &cores,
                                   bench_dot_operations(&cores)};
    else
        of.limit[0] = (bench_part){"float32 multiply-adds", bench_pass_fma, &cores,
                                   bench_fma_operations(&cores)};
    snprintf(of.size, sizeof of.size, "%lld columns, psi %lld", (long long)d, (long long)psi);
    if (st == IKT_OK) st = bench_measure(b, &of);
    release(&c);
    return st;
}

ikt_status bench_path_codes_u8(bench *b) {
    if (b->quick) return measure(b, true, 20, 17);
    IKT_TRY(measure(b, true, 784, 256));
    return measure(b, true, 784, 4096);
}

ikt_status bench_path_codes_f32(bench *b) {
    if (b->quick) return measure(b, false, 5, 17);
    IKT_TRY(measure(b, false, 50, 256));
    IKT_TRY(measure(b, false, 50, 4096));
    return measure(b, false, 784, 256);
}
