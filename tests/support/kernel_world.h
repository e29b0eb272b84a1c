/* Rows, their matrix of inner products, and what compares them; and a plain solver of equations. */
#ifndef IKT_TESTS_KERNEL_WORLD_H
#define IKT_TESTS_KERNEL_WORLD_H

#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "isolation/model.h"
#include "similarity/similarities.h"

enum { N = 93, D = 21, CLASSES = 4 };

typedef struct {
    float x[N * D];
    double gram[N * N];
    int64_t label[N];
} world;

static inline world *world_make(void) {
    world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    for (int64_t i = 0; i < N; i++) {
        w->label[i] = 10 * (i * 7 % CLASSES);
        for (int64_t c = 0; c < D; c++)
            w->x[i * D + c] =
                (float)(ikt_rng_normal(3, IKT_RNG_TEST, i, (uint64_t)c) / (double)(1 + c) +
                        (c % CLASSES == i * 7 % CLASSES ? 0.8 : 0) + 3);
    }
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            for (int64_t c = 0; c < D; c++)
                w->gram[i * N + j] += (double)w->x[i * D + c] * (double)w->x[j * D + c];
    return w;
}

static inline double gap(const double *k, int64_t i, int64_t j) {
    return k[i * N + i] + k[j * N + j] - 2 * k[i * N + j];
}

typedef struct {
    ikt_source *source;
    ikt_dataset *data;
    ikt_rows rows;
    ikt_codes codes;
    ikt_similarities *similar;
} compared;

/* Compares the rows of a world with chosen ones. */
static inline void compared_make(ikt_context *ctx, const world *w, ikt_similarity_kind kind,
                                 double bandwidth, const int64_t *chosen, int64_t m,
                                 compared *out) {
    const bool is_given = kind == IKT_SIMILARITY_GIVEN;
    const ikt_preprocess_settings as_read = {.normalise = IKT_NORMALISE_NONE,
                                             .metric = is_given ? IKT_METRIC_PRECOMPUTED
                                                                : IKT_METRIC_EUCLIDEAN,
                                             .matrix = IKT_MATRIX_SIMILARITIES,
                                             .is_indefinite = true};
    ikt_model *model = NULL;
    *out = (compared){.rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx))};
    const void *rows = is_given ? (const void *)w->gram : w->x;
    assert_int_equal(ikt_source_from_memory(ctx, rows, N, is_given ? N : D,
                                            is_given ? IKT_TYPE_F64 : IKT_TYPE_F32, &out->source),
                     IKT_OK);
    assert_int_equal(ikt_dataset_create(ctx, out->source, &as_read, &out->data), IKT_OK);
    ikt_similarity_of of = {.kind = kind, .bandwidth = bandwidth, .data = out->data};
    if (kind == IKT_SIMILARITY_ISOLATION) {
        const ikt_model_spec spec = {.seed = 5, .n = N, .psi = 8, .t = 50};
        assert_int_equal(ikt_model_create(ctx, &spec, &model), IKT_OK);
        assert_int_equal(ikt_codes_compute(ctx, out->data, &out->rows, model, &out->codes, NULL),
                         IKT_OK);
        ikt_model_destroy(&model);
        of.codes = &out->codes;
    }
    assert_int_equal(ikt_similarities_create(ctx, &of, &out->rows, chosen, m, &out->similar),
                     IKT_OK);
}

static inline void compared_end(compared *c) {
    ikt_similarities_destroy(&c->similar);
    ikt_codes_destroy(&c->codes);
    ikt_dataset_destroy(&c->data);
    ikt_source_close(&c->source);
}

/* All of N rows; or some, which lie unevenly. */
static inline int64_t choose(bool all, int64_t chosen[N]) {
    int64_t m = 0;
    for (int64_t i = 0; i < N; i++)
        if (all || i % 5 == 1 || i > 70) chosen[m++] = i;
    return m;
}

/* Gauss and Jordan with pivots: x = a^-1 b, n <= N. */
static inline void solve_plainly(double *a, double *b, int64_t n) {
    for (int64_t p = 0; p < n; p++) {
        int64_t best = p;
        for (int64_t i = p; i < n; i++)
            if (fabs(a[i * n + p]) > fabs(a[best * n + p])) best = i;
        for (int64_t j = 0; j < n; j++) {
            const double kept = a[p * n + j];
            a[p * n + j] = a[best * n + j];
            a[best * n + j] = kept;
        }
        const double kept = b[p];
        b[p] = b[best];
        b[best] = kept;
        for (int64_t i = 0; i < n; i++) {
            const double factor = i == p ? 0 : a[i * n + p] / a[p * n + p];
            for (int64_t j = 0; j < n && factor != 0; j++)
                a[i * n + j] -= factor * a[p * n + j];
            b[i] -= factor * b[p];
        }
    }
    for (int64_t p = 0; p < n; p++)
        b[p] /= a[p * n + p];
}

#endif
