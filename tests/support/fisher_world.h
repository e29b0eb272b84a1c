/* Rows in overlapping classes, their class model and the distances of their pairs, for tests. */
#ifndef IKT_TEST_FISHER_WORLD_H
#define IKT_TEST_FISHER_WORLD_H

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "metric/class_model.h"
#include "support/fisher_ref.h"
#include "support/ikt_test.h"

enum { N = 60, D = 5, C = 3, M = 30 };
static const double sigma = 1.1;

/* Rows in three classes that overlap; all arrays of one support. */
typedef struct {
    ikt_context *ctx;
    ikt_class_support support;
    int32_t of_row[N];
    double x[N][D];
    float *k; /* [N * m] similarities */
    double *self;
    float *weight, *root;
    double *plain; /* [N * m] natural logarithms of weights */
    ikt_segment_job job;
} world;

static inline double normal(int64_t row, int64_t column) {
    return ikt_rng_normal(3, IKT_RNG_TEST, row, (uint64_t)column);
}

static inline void allocate(world *w) {
    const ikt_class_support *s = &w->support;
    assert_int_equal(ikt_alloc(w->ctx, &w->k, N * s->m, sizeof *w->k, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(w->ctx, &w->self, s->m, sizeof *w->self, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(w->ctx, &w->plain, N * s->m, sizeof *w->plain, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(w->ctx, &w->weight, N * s->shape.lanes, sizeof(float), "test"),
                     IKT_OK);
    assert_int_equal(ikt_alloc(w->ctx, &w->root, N * s->shape.wide, sizeof(float), "test"), IKT_OK);
}

/* k = x^T s */
static inline void compare_rows(world *w) {
    for (int64_t l = 0; l < w->support.m; l++) {
        const double *s = w->x[w->support.row[l]];
        w->self[l] = 0;
        for (int c = 0; c < D; c++)
            w->self[l] += s[c] * s[c];
        for (int64_t i = 0; i < N; i++) {
            double k = 0;
            for (int c = 0; c < D; c++)
                k += w->x[i][c] * s[c];
            w->k[i * w->support.m + l] = (float)k;
        }
    }
}

/* Log-weights by the model, and plainly. */
static inline void weigh(world *w, double bandwidth, bool leaves_out) {
    int64_t row[N];
    const int64_t m = w->support.m;
    for (int64_t i = 0; i < N; i++)
        row[i] = i;
    ikt_class_weights(w->ctx, &w->support, bandwidth, w->k, w->self, leaves_out ? row : NULL, N,
                      w->weight, w->root);
    for (int64_t i = 0; i < N; i++)
        for (int64_t l = 0; l < m; l++)
            w->plain[i * m + l] =
                ((double)w->k[i * m + l] - w->self[l] / 2) / (bandwidth * bandwidth);
}

static inline void world_begin(world *w, int64_t m) {
    memset(w, 0, sizeof *w);
    w->ctx = ikt_test_alone();
    for (int64_t i = 0; i < N; i++) {
        w->of_row[i] = (int32_t)(i % C);
        for (int c = 0; c < D; c++)
            w->x[i][c] = normal(i, c) + (c == i % C ? 1.5 : 0);
    }
    assert_int_equal(ikt_class_support_draw(w->ctx, w->of_row, N, C, m, 7, &w->support), IKT_OK);
    allocate(w);
    compare_rows(w);
    w->job = (ikt_segment_job){.kernel = ikt_segment_kernel_for(ikt_cpu_isa()),
                               .shape = w->support.shape,
                               .rule = IKT_RULE_ARC,
                               .points = 5};
    weigh(w, sigma, false);
}

static inline void world_end(world *w) {
    ikt_class_support_destroy(&w->support);
    ikt_free(&w->k);
    ikt_free(&w->self);
    ikt_free(&w->plain);
    ikt_free(&w->weight);
    ikt_free(&w->root);
    assert_int_equal(ikt_memory_now(w->ctx), 0);
    ikt_context_destroy(&w->ctx);
}

static inline ref_pair pair_of(const world *w, int64_t i, int64_t j) {
    return (ref_pair){.m = w->support.m,
                      .classes = w->support.shape.classes,
                      .of = w->support.of,
                      .low = w->plain + i * w->support.m,
                      .high = w->plain + j * w->support.m,
                      .one = -1,
                      .another = -1};
}

static inline float distance_within(const world *w, int64_t i, int64_t j, float limit) {
    const ikt_class_lanes *shape = &w->support.shape;
    float *scratch = NULL;
    assert_int_equal(ikt_alloc(w->ctx, &scratch, ikt_segment_scratch(shape, w->job.points),
                               sizeof *scratch, "t"),
                     IKT_OK);
    const float d =
        ikt_segment_distance(&w->job, w->weight + i * shape->lanes, w->weight + j * shape->lanes,
                             w->root + i * shape->wide, w->root + j * shape->wide, limit, scratch);
    ikt_free(&scratch);
    return d;
}

static inline float distance(const world *w, int64_t i, int64_t j) {
    return distance_within(w, i, j, INFINITY);
}

#endif
