/* Sammon's stress: value and gradient against plain sums in double precision, the same bits on any
 * ranks, threads and instruction sets, and whole runs: points of a plane come back. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "support/run.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>

#include "base/cpu.h"
#include "base/row_hash.h"
#include "base/watch.h"
#include "objective/objective.h"

enum { N = 70, D = 4, POINTS = 120, STOP_AT = 17 };

/* --- a plain reference ------------------------------------------------------------------------ */

/* Rows 0 and 1 are equal, and so are 2, 3 and 4. */
static double coordinate(int64_t row, int64_t c) {
    if (row <= 1) row = 0;
    if (row >= 2 && row <= 4) row = 2;
    return (double)(float)ikt_rng_normal(5, IKT_RNG_TEST, D * row + c, 1) * (c == 0 ? 3 : 1);
}

static double distance[N][N];

/* Over their mean. Returns their sum, both ways. */
static double make_distances(void) {
    double total = 0, pairs = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            double square = 0;
            for (int64_t c = 0; c < D; c++)
                square += pow(coordinate(i, c) - coordinate(j, c), 2);
            distance[i][j] = sqrt(square);
            total += distance[i][j];
            pairs += square > 0;
        }
    for (int64_t e = 0; e < N * N; e++)
        distance[e / N][e % N] /= total / pairs;
    return pairs;
}

static double apart(const double *y, int q, int64_t i, int64_t j) {
    double square = 0;
    for (int c = 0; c < q; c++)
        square += pow(y[q * i + c] - y[q * j + c], 2);
    return sqrt(square);
}

/* Pairs i < j, as the paper has it. */
static double stress(const double *y, int q) {
    double sum = 0, total = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = i + 1; j < N; j++) {
            const double d = distance[i][j];
            if (!(d > 0)) continue;
            total += d;
            sum += pow(d - apart(y, q, i, j), 2) / d;
        }
    return sum / total;
}

/* --- what is tested --------------------------------------------------------------------------- */

typedef struct {
    ikt_rows rows;
    ikt_features features;
    ikt_objective objective;
} problem;

static double position(int q, int64_t e) {
    const int64_t row = e / q == N - 1 ? 7 : e / q; /* the last row lies on another */
    return (double)(float)ikt_rng_normal(6, IKT_RNG_TEST, row, (uint64_t)(e % q));
}

static void problem_make(ikt_context *ctx, int q, problem *p) {
    p->rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    succeed(ctx, ikt_features_create(ctx, &p->rows, D, &ikt_metric_euclidean, &p->features));
    float *x = ikt_features_rows(&p->features);
    for (int64_t e = 0; e < D * p->rows.count; e++)
        x[e] = (float)coordinate(p->rows.first + e / D, e % D);
    succeed(ctx, ikt_features_turn(ctx, &p->features));
    const ikt_objective_inputs inputs = {.rows = p->rows, .q = q, .features = &p->features};
    succeed(ctx, ikt_objective_create(ctx, &ikt_objective_sammon, &inputs, &p->objective));
    for (int64_t e = 0; e < q * p->rows.count; e++)
        p->objective.y[e] = (float)position(q, q * p->rows.first + e);
}

static void problem_destroy(ikt_context *ctx, problem *p) {
    ikt_objective_destroy(&p->objective);
    ikt_features_destroy(&p->features);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* The step is along the gradient, that of a row times half the sum of all distances over the sum of
 * the inverse ones of the row. */
static void the_gradient_is_the_slope_of_the_stress(void **state) {
    ikt_context *ctx = *state;
    const double both_ways = make_distances(), h = 1e-6;
    for (int q = 1; q <= 3; q++) {
        problem p;
        ikt_gradient g;
        ikt_objective_terms terms;
        double y[3 * N];
        problem_make(ctx, q, &p);
        succeed(ctx, p.objective.kind->evaluate(&p.objective, 0, true, &g, &terms));
        for (int64_t e = 0; e < q * N; e++)
            y[e] = position(q, e);
        const double value = stress(y, q);
        assert_true(fabs(terms.value - value) <= 1e-6 * value);
        assert_int_equal(terms.condition, IKT_MAP_SOUND);
        for (int64_t e = 0; e < q * p.rows.count; e++) {
            const int64_t all = q * p.rows.first + e, row = all / q;
            double inverse = 0;
            assert_true(isfinite(g.attraction[e]));
            if (row == 7 || row == N - 1) continue; /* where the stress has no slope */
            for (int64_t j = 0; j < N; j++)
                if (distance[row][j] > 0) inverse += 1 / distance[row][j];
            y[all] += h;
            const double more = stress(y, q);
            y[all] -= 2 * h;
            const double less = stress(y, q);
            y[all] += h;
            const double expected = (more - less) / (2 * h) * (both_ways / 4) / inverse;
            const double found =
                (double)(g.attraction_scale * g.attraction[e] + g.repulsion_scale * g.repulsion[e]);
            assert_true(fabs(found - expected) <= 2e-5);
        }
        problem_destroy(ctx, &p);
    }
}

static uint64_t hash_of(ikt_context *ctx, int q) {
    problem p;
    ikt_gradient g;
    ikt_objective_terms terms;
    problem_make(ctx, q, &p);
    succeed(ctx, p.objective.kind->evaluate(&p.objective, 0, true, &g, &terms));
    uint64_t value, hash = ikt_row_hash(ctx, g.attraction, p.rows.first, p.rows.count,
                                        (size_t)q * sizeof(float));
    memcpy(&value, &terms.value, sizeof value);
    problem_destroy(ctx, &p);
    return hash ^ value;
}

static void bits_do_not_depend_on_ranks_threads_or_instructions(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    for (int q = 1; q <= 3; q++) {
        const uint64_t wanted = hash_of(alone, q);
        for (int threads = 1; threads <= 2; threads++) {
            ikt_context_set_threads(ctx, threads);
            assert_true(hash_of(ctx, q) == wanted);
        }
        for (int isa = IKT_ISA_PORTABLE; isa <= IKT_ISA_AVX512; isa++) {
            setenv("IKTSNE_ISA", ikt_isa_name((ikt_isa)isa), 1);
            assert_true(hash_of(ctx, q) == wanted);
        }
        unsetenv("IKTSNE_ISA");
    }
    ikt_context_destroy(&alone);
}

static void a_map_that_is_not_finite_is_said_to_be(void **state) {
    ikt_context *ctx = *state;
    problem p;
    ikt_gradient g;
    ikt_objective_terms terms;
    problem_make(ctx, 2, &p);
    if (ikt_rank(ctx) == 0) p.objective.y[3] = INFINITY;
    succeed(ctx, p.objective.kind->evaluate(&p.objective, 0, false, &g, &terms));
    assert_int_equal(terms.condition, IKT_MAP_NOT_FINITE);
    problem_destroy(ctx, &p);
}

/* --- runs ------------------------------------------------------------------------------------- */

/* Points of a plane, turned into five columns. */
static run_files plane_write(ikt_context *ctx, float *rows) {
    for (int64_t i = 0; i < POINTS; i++)
        for (int64_t c = 0; c < 5; c++) {
            const double u = ikt_rng_normal(8, IKT_RNG_TEST, i, 0),
                         v = ikt_rng_normal(8, IKT_RNG_TEST, i, 1);
            rows[5 * i + c] = (float)(u * cos((double)c) + 2 * v * sin(3 * (double)c));
        }
    return run_files_write(ctx, rows, NULL, POINTS, 5);
}

static const char *const usual = "affinity.kind=gaussian layout.objective=sammon "
                                 "preprocess.normalise=none";

/* Distances in the map are in proportion to those of the points, from a random start, too. */
static void points_of_a_plane_come_back(void **state) {
    static const char *const starts[] = {"", "layout.init=random"};
    ikt_context *ctx = *state;
    float x[5 * POINTS];
    const run_files f = plane_write(ctx, x);
    for (int s = 0; s < 2; s++) {
        ikt_settings settings = run_settings(ctx, &f, usual);
        double value;
        set(ctx, &settings, starts[s]);
        run_hash(ctx, &settings, &value);
        if (!(value < 1e-8)) fail_msg("%s: stress %g", starts[s], value);
    }
    io_remove(ctx, f.output);
    io_remove(ctx, f.input);
}

static const char *const runs[] = {"affinity.kind=gaussian",
                                   "affinity.kind=isolation isolation.psi=16",
                                   "affinity.kind=knn layout.dimensions=3"};
enum { RUNS = sizeof runs / sizeof *runs };

static ikt_settings make_settings(ikt_context *ctx, const run_files *f, const char *text) {
    ikt_settings settings = run_settings(ctx, f,
                                         "layout.iterations=40 layout.objective=sammon "
                                         "layout.exaggeration_iterations=auto");
    set(ctx, &settings, text);
    return settings;
}

static const ikt_objective_kind *real = &ikt_objective_sammon;
static int64_t stop_at = -1, first_iteration = -1;

static ikt_status stopping_evaluate(ikt_objective *objective, int64_t iteration, bool want_value,
                                    ikt_gradient *gradient, ikt_objective_terms *terms) {
    if (first_iteration < 0) first_iteration = iteration;
    if (iteration == stop_at) raise(SIGTERM);
    return real->evaluate(objective, iteration, want_value, gradient, terms);
}

static void runs_have_the_same_bits_and_go_on_from_a_checkpoint(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    float x[5 * POINTS];
    const run_files f = plane_write(ctx, x);
    ikt_context_set_log(alone, IKT_LOG_ERROR);
    for (int r = 0; r < RUNS; r++) {
        ikt_settings settings = make_settings(ctx, &f, runs[r]);
        ikt_objective_kind stopping = *real;
        ikt_run run;
        const uint64_t whole = run_hash(alone, &settings, NULL);
        for (int threads = 1; threads <= 2; threads++) {
            ikt_context_set_threads(ctx, threads);
            assert_true(run_hash(ctx, &settings, NULL) == whole);
        }
        stopping.evaluate = stopping_evaluate;
        settings.layout.custom = &stopping;
        set_checkpoint(ctx, &settings, &f);
        stop_at = STOP_AT;
        first_iteration = -1;
        assert_int_equal(ikt_pipeline_run(ctx, &settings, NULL, &run), IKT_STOPPED);
        io_expect(ctx, "stopped by");
        ikt_watch_signals_end();
        stop_at = first_iteration = -1;
        assert_true(run_hash(ctx, &settings, NULL) == whole);
        assert_int_equal(first_iteration, STOP_AT + 1);
        ikt_watch_signals_end();
    }
    ikt_context_destroy(&alone);
    io_remove(ctx, f.output);
    io_remove(ctx, f.input);
}

static void what_makes_no_sense_is_refused_with_the_reason(void **state) {
    static const struct {
        const char *settings, *why;
    } cases[] = {{"affinity.support=dense", "a form of P"},
                 {"affinity.support=whole", "a form of P"},
                 {"affinity.kind=gaussian gaussian.perplexity=9", "an objective that has P"},
                 {"affinity.neighbours=9", "would have no effect"},
                 {"layout.repulsion=fft", "leave layout.repulsion at auto"},
                 {"layout.trade_off=0.5", "nothing to trade off"},
                 {"layout.batch_rows=20", "near by P"},
                 {"layout.exaggeration=4", "would have no effect"},
                 {"output.graph=graph.h5", "keeps P"},
                 {"output.model=model.h5", "output.model does not go with"}};
    ikt_context *ctx = *state;
    float x[5 * POINTS];
    const run_files f = plane_write(ctx, x);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const ikt_settings settings = make_settings(ctx, &f, cases[c].settings);
        run_is_refused(ctx, &settings, cases[c].settings, cases[c].why);
    }
    io_remove(ctx, f.input);
}

static void equal_rows_are_refused(void **state) {
    ikt_context *ctx = *state;
    float x[5 * POINTS] = {0};
    const run_files f = run_files_write(ctx, x, NULL, POINTS, 5);
    const ikt_settings settings =
        make_settings(ctx, &f, "affinity.kind=gaussian layout.init=random");
    ikt_run run;
    refuse(ctx, ikt_pipeline_run(ctx, &settings, NULL, &run), IKT_ERR_DATA, "rows are equal");
    assert_int_equal(ikt_memory_now(ctx), 0);
    io_remove(ctx, f.input);
}

IKT_MPI_TESTS(ikt_test(the_gradient_is_the_slope_of_the_stress),
              ikt_test(bits_do_not_depend_on_ranks_threads_or_instructions),
              ikt_test(a_map_that_is_not_finite_is_said_to_be),
              ikt_test(points_of_a_plane_come_back),
              ikt_test(runs_have_the_same_bits_and_go_on_from_a_checkpoint),
              ikt_test(what_makes_no_sense_is_refused_with_the_reason),
              ikt_test(equal_rows_are_refused))
