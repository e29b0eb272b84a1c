/* An iteration of TriMap with a pool: far rows, forces on tiles, and edges by both of their ends.
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/timer.h"
#include "harness.h"
#include "objective/objective.h"
#include "paths.h"
#include "report.h"

enum { NEIGHBOURS = 12, LIST = 20, COLUMNS = 50, Q = 2 };

typedef struct {
    ikt_context *ctx;
    ikt_rows rows;
    ikt_features features;
    ikt_neighbours lists;
    ikt_objective objective;
    int64_t iteration;
    double sum; /* so that reading is not left out */
} sampling;

static double iterate(void *self) {
    sampling *s = self;
    ikt_gradient gradient;
    ikt_objective_terms terms;
    const double begun = ikt_now();
    if (s->objective.kind->evaluate(&s->objective, ++s->iteration, false, &gradient, &terms) !=
        IKT_OK)
        return 0;
    return ikt_now() - begun;
}

/* The numbers of all rows, and of each near row its number, its D and its coefficient. */
static double read_all(void *self) {
    sampling *s = self;
    const int64_t numbers = s->rows.count * COLUMNS, near = s->rows.count * LIST;
    const float *row = s->features.tile, *score = s->lists.score;
    const double begun = ikt_now();
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) num_threads(ikt_threads(s->ctx))
    for (int64_t e = 0; e < numbers; e += 16)
        sum += (double)row[e];
#pragma omp parallel for schedule(static) reduction(+ : sum) num_threads(ikt_threads(s->ctx))
    for (int64_t e = 0; e < near; e += 16)
        sum += (double)score[e];
    s->sum += sum;
    return ikt_now() - begun;
}

/* Rows that are near are so by number, as after the order of cells, at growing distances. */
static ikt_status make_rows(sampling *s) {
    const int64_t n = s->rows.n;
    IKT_TRY(ikt_features_create(s->ctx, &s->rows, COLUMNS, &ikt_metric_euclidean, &s->features));
    IKT_TRY(ikt_neighbours_create(s->ctx, &s->rows, LIST, &s->lists));
    float *x = ikt_features_rows(&s->features);
    for (int64_t e = 0; e < s->rows.count * COLUMNS; e++)
        x[e] = (float)ikt_rng_uniform(5, IKT_RNG_TEST, s->rows.first * COLUMNS + e, 0);
    for (int64_t i = 0; i < s->rows.count; i++)
        for (int64_t e = 0; e < LIST; e++) {
            const int64_t gap = 1 + ikt_rng_below(5, IKT_RNG_TEST, i, (uint64_t)e, 40);
            s->lists.row[i * LIST + e] = (uint32_t)((s->rows.first + i + e * 41 + gap) % n);
            s->lists.score[i * LIST + e] = (float)(1 + 0.1 * (double)e);
        }
    return ikt_features_turn(s->ctx, &s->features);
}

static ikt_status make_objective(sampling *s) {
    const size_t entries = (size_t)(s->rows.count * LIST);
    ikt_neighbours lists; /* the objective destroys them */
    IKT_TRY(ikt_agree(s->ctx, ikt_neighbours_create(s->ctx, &s->rows, LIST, &lists)));
    if (entries > 0) memcpy(lists.row, s->lists.row, entries * sizeof *lists.row);
    if (entries > 0) memcpy(lists.score, s->lists.score, entries * sizeof *lists.score);
    const int64_t pool = s->rows.n < 4096 ? s->rows.n : 4096;
    const ikt_objective_inputs inputs = {.rows = s->rows,
                                         .q = Q,
                                         .options = {.seed = 3,
                                                     .own.triplet = {.triplets = IKT_TRIPLETS_POOL,
                                                                .neighbours = NEIGHBOURS,
                                                                .outliers = 4,
                                                                .random = 3,
                                                                .t = 2,
                                                                .t_prime = 2,
                                                                .scale_from = 3,
                                                                .scale_to = 5,
                                                                .pool_rows = pool,
                                                                .redraw = 1,
                                                                .far_rows = 4}},
                                         .iterations = 400,
                                         .neighbours = &lists,
                                         .features = &s->features};
    IKT_TRY(ikt_objective_create(s->ctx, &ikt_objective_trimap, &inputs, &s->objective));
    for (int64_t e = 0; e < Q * s->rows.count; e++)
        s->objective.y[e] =
            (float)(10 * ikt_rng_uniform(6, IKT_RNG_TEST, Q * s->rows.first + e, 0));
    return IKT_OK;
}

ikt_status bench_path_triplets(bench *b) {
    char rows[32];
    sampling s = {.ctx = b->ctx,
                  .rows = ikt_rows_make(b->rows, ikt_size(b->ctx), ikt_rank(b->ctx))};
    const double work = (double)s.rows.count;
    ikt_status st = ikt_agree(b->ctx, make_rows(&s));
    if (st == IKT_OK) st = make_objective(&s);
    bench_case c = {.path = "triplets",
                    .unit = "rows",
                    .work = {NULL, iterate, &s, work},
                    .limit = {{"reading rows and lists", read_all, &s, work}}};
    snprintf(c.size, sizeof c.size, "%s rows x %d, %d near rows", bench_grouped(b->rows, rows),
             COLUMNS, NEIGHBOURS);
    if (st == IKT_OK) st = bench_measure(b, &c);
    ikt_objective_destroy(&s.objective);
    ikt_features_destroy(&s.features);
    ikt_neighbours_destroy(&s.lists);
    return st;
}
