/* What a search does with pairs: similarity of codes, distances, keeping the k best. Each thread
 * works on a block of its own that stays in its second-level cache. */
#include <omp.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/select.h"
#include "base/timer.h"
#include "isolation/similarity.h"
#include "limits.h"
#include "metric/metric.h"
#include "paths.h"
#include "scene.h"

enum {
    ROWS = 256, /* of a block on either side, as in a search */
    T = 200,
    REPEATS = 8, /* blocks in a pass */
    CANDIDATES = 4096
};

/* Input and output of all threads, one behind the other. */
typedef struct {
    ikt_isa isa;
    int threads;
    ikt_code_shape shape;
    int64_t d, k;
    char *in; /* [threads * in_bytes] */
    int64_t in_bytes;
    char *out; /* [threads * out_bytes] */
    int64_t out_bytes;
} block;

static ikt_status make(bench *b, block *p) {
    p->isa = ikt_cpu_isa();
    p->threads = ikt_threads(b->ctx);
    IKT_TRY(ikt_alloc(b->ctx, &p->in, p->threads * p->in_bytes, 1, "bench"));
    return ikt_alloc(b->ctx, &p->out, p->threads * p->out_bytes, 1, "bench");
}

static void release(block *p) {
    ikt_free(&p->in);
    ikt_free(&p->out);
}

static void fill_floats(const block *p) {
    float *value = (void *)p->in;
    for (int64_t i = 0; i < p->threads * p->in_bytes / 4; i++)
        value[i] = (float)ikt_rng_uniform(3, IKT_RNG_TEST, i, 0);
}

/* Measures beside reading from the second-level cache, or beside multiply-adds. */
static ikt_status measure(bench *b, bench_case *c, double bytes_of_unit) {
    bench_stream near;
    ikt_status st = ikt_agree(b->ctx, bench_near_create(b->ctx, &near));
    if (st != IKT_OK) return st;
    if (bytes_of_unit > 0)
        c->limit[0] = (bench_part){"reading them from L2", bench_pass_read, &near,
                                   bench_near_bytes(&near) / bytes_of_unit};
    else
        c->limit[0] = (bench_part){"multiply-add instructions", bench_pass_fma, &near.cores,
                                   bench_fma_operations(&near.cores) / 2};
    st = bench_measure(b, c);
    bench_stream_destroy(&near);
    return st;
}

/* --- similarity ------------------------------------------------------------------------------- */

static double compare(void *self) {
    const block *p = self;
    double begin = ikt_now();
#pragma omp parallel num_threads(p->threads)
    {
        const char *a = p->in + omp_get_thread_num() * p->in_bytes;
        uint16_t *equal = (void *)(p->out + omp_get_thread_num() * p->out_bytes);
        for (int r = 0; r < REPEATS; r++)
            ikt_similarity_block(p->isa, p->shape, a, ROWS, a + ROWS * p->shape.stride, ROWS, equal,
                                 ROWS);
    }
    return ikt_now() - begin;
}

static ikt_status measure_similarity(bench *b, int width) {
    block p = {.shape = {T, (T * width + 63) / 64 * 64, width}};
    p.in_bytes = 2 * ROWS * p.shape.stride;
    p.out_bytes = ROWS * ROWS * (int64_t)sizeof(uint16_t);
    ikt_status st = ikt_agree(b->ctx, make(b, &p));
    if (st == IKT_OK)
        for (int64_t i = 0; i < p.threads * p.in_bytes; i++)
            p.in[i] = i % p.shape.stride < T * width ? (char)ikt_rng_below(1, IKT_RNG_TEST, i, 0, 9)
                                                     : (char)0;
    bench_case c = {.path = "similarity",
                    .unit = "pairs",
                    .work = {NULL, compare, &p, (double)p.threads * REPEATS * ROWS * ROWS}};
    snprintf(c.size, sizeof c.size, "codes of %d entries of %d bits", T, 8 * width);
    if (st == IKT_OK) st = measure(b, &c, (double)p.shape.stride);
    release(&p);
    return st;
}

ikt_status bench_path_similarity(bench *b) {
    IKT_TRY(measure_similarity(b, 1));
    return measure_similarity(b, 2);
}

/* --- distance --------------------------------------------------------------------------------- */

static double measure_block(void *self) {
    const block *p = self;
    double begin = ikt_now();
#pragma omp parallel num_threads(p->threads)
    {
        const float *a = (const void *)(p->in + omp_get_thread_num() * p->in_bytes);
        float *out = (void *)(p->out + omp_get_thread_num() * p->out_bytes);
        ikt_metric_euclidean.on(p->isa)->block(a, ROWS, a + ROWS * p->d, ROWS, p->d, out);
    }
    return ikt_now() - begin;
}

/* A coordinate takes two instructions, a subtraction and a multiply-add. */
static ikt_status measure_distance(bench *b, int64_t d) {
    block p = {.d = d};
    p.in_bytes = 4 * (ROWS * d + ikt_packed_floats(ROWS, d));
    p.out_bytes = 4 * ROWS * ikt_packed_rows(ROWS);
    ikt_status st = ikt_agree(b->ctx, make(b, &p));
    if (st == IKT_OK) fill_floats(&p);
    bench_case c = {.path = "distance",
                    .unit = "operations",
                    .work = {NULL, measure_block, &p, 2.0 * p.threads * ROWS * ROWS * (double)d}};
    snprintf(c.size, sizeof c.size, "%d x %d rows of %lld columns", ROWS, ROWS, (long long)d);
    if (st == IKT_OK) st = measure(b, &c, 0);
    release(&p);
    return st;
}

ikt_status bench_path_distance(bench *b) {
    if (b->quick) return measure_distance(b, 7);
    IKT_TRY(measure_distance(b, 50));
    return measure_distance(b, 784);
}

/* --- selection -------------------------------------------------------------------------------- */

static double select_best(void *self) {
    const block *p = self;
    double begin = ikt_now();
#pragma omp parallel num_threads(p->threads)
    {
        const float *score = (const void *)(p->in + omp_get_thread_num() * p->in_bytes);
        ikt_pair *pair = (void *)(p->out + omp_get_thread_num() * p->out_bytes);
        for (int r = 0; r < REPEATS; r++) {
            ikt_select kept;
            ikt_select_begin(&kept, p->isa, p->k, pair);
            for (int64_t at = 0; at < CANDIDATES; at += ROWS)
                ikt_select_floats(&kept, -1, at, ROWS, score + r * CANDIDATES + at);
            ikt_select_end(&kept);
        }
    }
    return ikt_now() - begin;
}

static ikt_status measure_selection(bench *b, int64_t k) {
    block p = {.k = k, .in_bytes = 4 * REPEATS * CANDIDATES};
    p.out_bytes = (IKT_SELECT_CAPACITY * k * (int64_t)sizeof(ikt_pair) + 63) / 64 * 64;
    ikt_status st = ikt_agree(b->ctx, make(b, &p));
    if (st == IKT_OK) fill_floats(&p);
    bench_case c = {.path = "selection",
                    .unit = "scores",
                    .work = {NULL, select_best, &p, (double)p.threads * REPEATS * CANDIDATES}};
    snprintf(c.size, sizeof c.size, "the %lld least of %d scores", (long long)k, CANDIDATES);
    if (st == IKT_OK) st = measure(b, &c, sizeof(float));
    release(&p);
    return st;
}

ikt_status bench_path_selection(bench *b) {
    IKT_TRY(measure_selection(b, 30));
    return measure_selection(b, 90);
}
