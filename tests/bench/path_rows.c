/* Passes over the rows: a step of the optimiser, Z, exact sums. */
#include <stdio.h>

#include "base/exact_sum.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/timer.h"
#include "limits.h"
#include "objective/divergence.h"
#include "optimiser/optimiser.h"
#include "paths.h"
#include "scene.h"

/* --- step ------------------------------------------------------------------------------------- */

typedef struct {
    ikt_context *ctx;
    ikt_optimiser optimiser;
    float *attraction, *repulsion, *y;
} stepping;

static double step(void *self) {
    stepping *s = self;
    const ikt_gradient gradient = {s->attraction, s->repulsion, 4, 1e-3f};
    double begin = ikt_now();
    const ikt_optimiser_step step = {.momentum = 0.8, .rate = 1e-9};
    ikt_optimiser_take_step(s->ctx, &s->optimiser, &step, &gradient, 2, NULL, s->y);
    return ikt_now() - begin;
}

/* Adds nothing to what a step writes, a multiple of what it reads. */
IKT_WIDEST_VECTORS static void add_multiples(float zero, int64_t count, const float *attraction,
                                             const float *repulsion, float *restrict velocity,
                                             float *restrict gain, float *restrict y) {
    for (int64_t e = 0; e < count; e++) {
        velocity[e] += zero * attraction[e];
        gain[e] += zero * repulsion[e];
        y[e] += zero;
    }
}

/* Reads and writes what a step does, with next to no arithmetic. */
static double rewrite(void *self) {
    enum { PIECE = 4096 };
    stepping *s = self;
    const int64_t count = s->optimiser.coordinates;
    volatile float nothing = 0;
    const float zero = nothing;
    double begin = ikt_now();
#pragma omp parallel for num_threads(ikt_threads(s->ctx)) schedule(static)
    for (int64_t at = 0; at < count; at += PIECE)
        add_multiples(zero, count - at < PIECE ? count - at : PIECE, s->attraction + at,
                      s->repulsion + at, s->optimiser.array[0] + at, s->optimiser.array[1] + at,
                      s->y + at);
    return ikt_now() - begin;
}

/* Signs alternate at random, as late ones do. */
static ikt_status make(stepping *s, const ikt_rows *rows) {
    const int64_t count = 2 * rows->count;
    IKT_TRY(bench_positions(s->ctx, rows, &s->y));
    IKT_TRY(ikt_optimiser_create(s->ctx, &ikt_optimiser_momentum, count, &s->optimiser));
    IKT_TRY(ikt_alloc(s->ctx, &s->attraction, count, sizeof *s->attraction, "bench"));
    IKT_TRY(ikt_alloc(s->ctx, &s->repulsion, count, sizeof *s->repulsion, "bench"));
    for (int64_t e = 0; e < count; e++) {
        s->attraction[e] = (float)(ikt_rng_uniform(5, IKT_RNG_TEST, e, 0) - 0.5);
        s->repulsion[e] = (float)(ikt_rng_uniform(5, IKT_RNG_TEST, e, 1) - 0.5);
    }
    return IKT_OK;
}

static void release(stepping *s) {
    ikt_optimiser_destroy(&s->optimiser);
    ikt_free(&s->attraction);
    ikt_free(&s->repulsion);
    ikt_free(&s->y);
}

ikt_status bench_path_step(bench *b) {
    char text[32];
    stepping s = {.ctx = b->ctx};
    ikt_rows rows = ikt_rows_make(b->rows, ikt_size(b->ctx), ikt_rank(b->ctx));
    const double count = (double)rows.count;
    ikt_status st = ikt_agree(b->ctx, make(&s, &rows));
    bench_case c = {.path = "step",
                    .unit = "points",
                    .work = {NULL, step, &s, count},
                    .limit = {{"reading and writing the same", rewrite, &s, count}}};
    snprintf(c.size, sizeof c.size, "%s points", bench_grouped(b->rows, text));
    if (st == IKT_OK) st = bench_measure(b, &c);
    release(&s);
    return st;
}

/* --- sums over the rows ----------------------------------------------------------------------- */

/* The values, as phi from 1 to some thousand, are what the stream reads. */
typedef struct {
    ikt_context *ctx;
    bench_stream stream;
} summing;

static double normalise(void *self) {
    summing *s = self;
    double begin = ikt_now();
    const double *phi = (const void *)s->stream.from;
    volatile double z = ikt_normalisation(s->ctx, phi, 1, s->stream.bytes / 8);
    (void)z;
    return ikt_now() - begin;
}

static double add_exactly(void *self) {
    const summing *s = self;
    const double *value = (const void *)s->stream.from;
    const int64_t count = s->stream.bytes / 8;
    ikt_exact_sum total = {{0}, 0, 0};
    double begin = ikt_now();
#pragma omp parallel num_threads(s->stream.cores.threads)
    {
        ikt_exact_sum own = {{0}, 0, 0};
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < count; i++)
            ikt_exact_sum_add(&own, value[i]);
#pragma omp critical
        ikt_exact_sum_merge(&total, &own);
    }
    volatile double keep = ikt_exact_sum_value(&total);
    (void)keep;
    return ikt_now() - begin;
}

static ikt_status measure_sum(bench *b, const char *path, bench_pass *pass) {
    char text[32];
    summing s = {.ctx = b->ctx};
    ikt_rows rows = ikt_rows_make(b->rows, ikt_size(b->ctx), ikt_rank(b->ctx));
    const double count = (double)rows.count;
    IKT_TRY(ikt_agree(b->ctx, bench_stream_create(b->ctx, 8 * rows.count, &s.stream)));
    double *value = (void *)s.stream.from;
    for (int64_t i = 0; i < rows.count; i++)
        value[i] = 1 + 4000 * ikt_rng_uniform(6, IKT_RNG_TEST, i, 0);
    bench_case c = {.path = path,
                    .unit = "values",
                    .work = {NULL, pass, &s, count},
                    .limit = {{"reading them", bench_pass_read, &s.stream, count}}};
    snprintf(c.size, sizeof c.size, "%s doubles", bench_grouped(b->rows, text));
    ikt_status st = bench_measure(b, &c);
    bench_stream_destroy(&s.stream);
    return st;
}

ikt_status bench_path_z(bench *b) {
    return measure_sum(b, "z", normalise);
}

ikt_status bench_path_sum(bench *b) {
    return measure_sum(b, "exact-sum", add_exactly);
}
