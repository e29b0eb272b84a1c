/* TriMap on few rows whose similarities are known, for tests: rows, lists, the objective on them.
 */
#ifndef IKT_TEST_TRIMAP_WORLD_H
#define IKT_TEST_TRIMAP_WORLD_H

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "objective/objective.h"
#include "support/expect.h"

enum { N = 70, D = 4, M = 5, LIST = 12 };

typedef struct {
    ikt_rows rows;
    ikt_features features;
    ikt_neighbours lists;
    float x[N * D], d[N][N]; /* D_ij of all pairs, */
    int near[N][M];          /* and the near rows by it */
} world;

static inline float square_between(const float *a, const float *b) {
    float sum = 0;
    for (int c = 0; c < D; c++) {
        const float gap = a[c] - b[c];
        sum = fmaf(gap, gap, sum);
    }
    return sum;
}

/* The k nearest others of row i by (key, row), by selection. */
static inline void sort_row(const float *key, int i, int k, uint32_t *row) {
    bool is_taken[N] = {false};
    for (int e = 0; e < k; e++) {
        int best = -1;
        for (int j = 0; j < N; j++)
            if (j != i && !is_taken[j] && (best < 0 || key[j] < key[best])) best = j;
        is_taken[best] = true;
        row[e] = (uint32_t)best;
    }
}

static inline void make_world(ikt_context *ctx, world *w) {
    static float square[N][N];
    double scale[N];
    uint32_t row[LIST];
    *w = (world){.rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx))};
    for (int e = 0; e < N * D; e++)
        w->x[e] = (float)ikt_rng_normal(3, IKT_RNG_TEST, e, 0);
    succeed(ctx, ikt_neighbours_create(ctx, &w->rows, LIST, &w->lists));
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++)
            square[i][j] = square_between(w->x + i * D, w->x + j * D);
        sort_row(square[i], i, LIST, row);
        scale[i] = 0;
        for (int e = 2; e < 5; e++)
            scale[i] += sqrt((double)square[i][row[e]]) / 3;
        const int64_t own = i - w->rows.first;
        for (int e = 0; e < LIST && own >= 0 && own < w->rows.count; e++) {
            w->lists.row[own * LIST + e] = row[e];
            w->lists.score[own * LIST + e] = square[i][row[e]];
        }
    }
    for (int i = 0; i < N; i++) {
        float among[N];
        for (int j = 0; j < N; j++) {
            w->d[i][j] = square[i][j] / ((float)scale[i] * (float)scale[j]);
            among[j] = INFINITY;
        }
        sort_row(square[i], i, LIST, row);
        for (int e = 0; e < LIST; e++)
            among[row[e]] = w->d[i][row[e]];
        sort_row(among, i, M, row);
        for (int b = 0; b < M; b++)
            w->near[i][b] = (int)row[b];
    }
    succeed(ctx, ikt_features_create(ctx, &w->rows, D, &ikt_metric_euclidean, &w->features));
    memcpy(ikt_features_rows(&w->features), w->x + w->rows.first * D,
           (size_t)(w->rows.count * D) * sizeof *w->x);
    succeed(ctx, ikt_features_turn(ctx, &w->features));
}

static inline void destroy_world(world *w) {
    ikt_features_destroy(&w->features);
    ikt_neighbours_destroy(&w->lists);
}

static inline ikt_triplet_settings usual(int64_t pool, int64_t far) {
    return (ikt_triplet_settings){.triplets = IKT_TRIPLETS_POOL,
                                 .neighbours = M,
                                 .outliers = 3,
                                 .random = 0,
                                 .weights = IKT_TRIPLET_LOG,
                                 .t = 2,
                                 .t_prime = 2,
                                 .scale_from = 3,
                                 .scale_to = 5,
                                 .pool_rows = pool,
                                 .redraw = 1,
                                 .far_rows = far};
}

static inline float place_of(int i, int c) {
    return (float)(0.7 * ikt_rng_normal(5, IKT_RNG_TEST, i, (uint64_t)c));
}

/* Copies, as objectives destroy their lists. */
static inline ikt_neighbours copy_lists(ikt_context *ctx, const ikt_rows *rows,
                                        const ikt_neighbours *lists) {
    ikt_neighbours copy;
    const size_t entries = (size_t)(lists->n_local * lists->k);
    succeed(ctx, ikt_neighbours_create(ctx, rows, lists->k, &copy));
    if (entries > 0) memcpy(copy.row, lists->row, entries * sizeof *copy.row);
    if (entries > 0) memcpy(copy.score, lists->score, entries * sizeof *copy.score);
    return copy;
}

static inline ikt_objective make_objective(ikt_context *ctx, world *w, int q,
                                           const ikt_triplet_settings *s) {
    ikt_neighbours lists = copy_lists(ctx, &w->rows, &w->lists);
    const ikt_objective_inputs inputs = {.rows = w->rows,
                                         .q = q,
                                         .options = {.seed = 9, .own.triplet = *s},
                                         .iterations = 400,
                                         .neighbours = &lists,
                                         .features = &w->features};
    ikt_objective objective;
    succeed(ctx, ikt_objective_create(ctx, &ikt_objective_trimap, &inputs, &objective));
    assert_null(lists.row); /* they take no memory any more */
    for (int64_t i = 0; i < w->rows.count; i++)
        for (int c = 0; c < q; c++)
            objective.y[q * i + c] = place_of((int)(w->rows.first + i), c);
    return objective;
}

/* The whole gradient of all own rows at an iteration, before it is divided by the mean weight. */
static inline double gradient_of(ikt_context *ctx, ikt_objective *objective, int64_t iteration,
                                 bool want_value, int64_t n_local, double *out) {
    ikt_gradient g;
    ikt_objective_terms terms;
    succeed(ctx, objective->kind->evaluate(objective, iteration, want_value, &g, &terms));
    for (int64_t e = 0; e < objective->q * n_local; e++)
        out[e] = (double)g.attraction[e] + (g.repulsion_scale > 0 ? (double)g.repulsion[e] : 0);
    return terms.value;
}

#endif
