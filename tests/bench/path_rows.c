/* Passes over the rows: a step of the optimiser, exact sums. */
#include <stdio.h>

#include "base/exact_sum.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/timer.h"
#include "layout/optimiser.h"
#include "limits.h"
#include "paths.h"
#include "scene.h"

/* --- step ------------------------------------------------------------------------------------- */

/* Floats of a coordinate that a step reads (gradient, velocity, gain, y) and writes (all but the
 * gradient): as much traffic as copying half of them, 14 bytes. */
enum { STEP_BYTES = (4 + 3) * 4 / 2 };

typedef struct {
    ikt_context *ctx;
    ikt_optimiser optimiser;
    float *gradient, *y;
} stepping;

static double step(void *self) {
    stepping *s = self;
    double begin = ikt_now();
    ikt_optimiser_step(s->ctx, &s->optimiser, 0.8, 1e-9, s->gradient, s->y);
    return ikt_now() - begin;
}

/* Coordinates are as numerous as the gradient's; its signs alternate at random, as late ones do. */
static ikt_status make(stepping *s, const ikt_row_map *map) {
    IKT_TRY(bench_positions(s->ctx, map, &s->y));
    IKT_TRY(ikt_optimiser_create(s->ctx, 2 * map->count, &s->optimiser));
    IKT_TRY(ikt_alloc(s->ctx, &s->gradient, 2 * map->count, sizeof *s->gradient, "bench"));
    for (int64_t e = 0; e < 2 * map->count; e++)
        s->gradient[e] = (float)(ikt_rng_uniform(5, IKT_RNG_TEST, e, 0) - 0.5);
    return IKT_OK;
}

ikt_status bench_path_step(bench *b) {
    char text[32];
    stepping s = {.ctx = b->ctx};
    bench_stream stream = {.bytes = 0};
    ikt_row_map map = ikt_row_map_make(b->rows, ikt_size(b->ctx), ikt_rank(b->ctx));
    ikt_status st = make(&s, &map);
    if (st == IKT_OK) st = bench_stream_create(b->ctx, 2 * STEP_BYTES * map.count, &stream);
    st = ikt_agree(b->ctx, st);
    bench_case c = {
        .path = "step",
        .unit = "points",
        .work = {NULL, step, &s, (double)map.count},
        .limit = {{"copying as many bytes", bench_pass_copy, &stream, (double)map.count}}};
    snprintf(c.size, sizeof c.size, "%s points", bench_grouped(b->rows, text));
    if (st == IKT_OK) st = bench_measure(b, &c);
    bench_stream_destroy(&stream);
    ikt_optimiser_destroy(&s.optimiser);
    ikt_free(&s.gradient);
    ikt_free(&s.y);
    return st;
}

/* --- exact sum -------------------------------------------------------------------------------- */

/* The values are what the stream reads. */
static double add_exactly(void *self) {
    const bench_stream *s = self;
    const double *value = (const void *)s->from;
    const int64_t count = s->bytes / 8;
    ikt_exact_sum total = {{0}, 0, 0};
    double begin = ikt_now();
#pragma omp parallel num_threads(s->cores.threads)
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

ikt_status bench_path_sum(bench *b) {
    char text[32];
    bench_stream s;
    ikt_row_map map = ikt_row_map_make(b->rows, ikt_size(b->ctx), ikt_rank(b->ctx));
    IKT_TRY(ikt_agree(b->ctx, bench_stream_create(b->ctx, 8 * map.count, &s)));
    double *value = (void *)s.from;
    for (int64_t i = 0; i < map.count; i++) /* as phi: from 1 to some thousand */
        value[i] = 1 + 4000 * ikt_rng_uniform(6, IKT_RNG_TEST, i, 0);
    bench_case c = {.path = "exact-sum",
                    .unit = "values",
                    .work = {NULL, add_exactly, &s, (double)map.count},
                    .limit = {{"reading them", bench_pass_read, &s, (double)map.count}}};
    snprintf(c.size, sizeof c.size, "%s doubles", bench_grouped(b->rows, text));
    ikt_status st = bench_measure(b, &c);
    bench_stream_destroy(&s);
    return st;
}
