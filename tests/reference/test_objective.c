/* The gradient and the divergence against plain double sums over all pairs, and the descent. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/row_hash.h"
#include "layout/layout.h"
#include "objective/divergence.h"
#include "support/random_p.h"

enum { N = 137, K = 9, CLUSTER = 20 };

static int64_t in_its_cluster(int64_t row, int64_t e, int64_t n) {
    int64_t first = row / CLUSTER * CLUSTER, size = n - first < CLUSTER ? n - first : CLUSTER;
    return first + (row - first + e + 1) % size;
}

static void make_p(ikt_context *ctx, const ikt_rows *rows, ikt_graph *graph) {
    make_random_p(ctx, rows, K, on_a_ring, 1, graph);
}

static float position(int64_t row, int64_t c) {
    return (float)(3 * ikt_rng_normal(7, IKT_RNG_TEST, row, (uint64_t)c));
}

/* All of P as a full matrix on every rank. */
static double *full_p(void) {
    double *p = malloc(N * N * sizeof *p);
    assert_non_null(p);
    fill_random_p(N, K, on_a_ring, 1, p);
    return p;
}

typedef struct {
    double gradient[2 * N], kl, z;
} reference;

static double kernel(int64_t i, int64_t j, double *dx, double *dy) {
    *dx = (double)position(i, 0) - (double)position(j, 0);
    *dy = (double)position(i, 1) - (double)position(j, 1);
    return 1 / (1 + *dx * *dx + *dy * *dy);
}

static void reference_terms(const double *p, double exaggeration, reference *ref) {
    double dx, dy;
    memset(ref, 0, sizeof *ref);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            if (i != j) ref->z += kernel(i, j, &dx, &dy);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            if (i == j) continue;
            double w = kernel(i, j, &dx, &dy);
            double factor = 4 * w * (exaggeration * p[i * N + j] - w / ref->z);
            ref->gradient[2 * i] += factor * dx;
            ref->gradient[2 * i + 1] += factor * dy;
            if (p[i * N + j] > 0) ref->kl += p[i * N + j] * log(p[i * N + j] * ref->z / w);
        }
}

static void compare(const ikt_rows *rows, ikt_objective *objective, const double *p,
                    double exaggeration) {
    reference *ref = malloc(sizeof *ref);
    ikt_gradient gradient;
    for (int64_t e = 0; e < 2 * rows->count; e++)
        objective->y[e] = position(rows->first + e / 2, e % 2);
    reference_terms(p, exaggeration, ref);
    ikt_objective_terms terms;
    assert_int_equal(objective->kind->evaluate(objective, 0, true, &gradient, &terms), IKT_OK);
    assert_true(fabs(terms.z - ref->z) < 1e-6 * ref->z);
    assert_true(fabs(terms.value - ref->kl) < 1e-6 * ref->kl);
    gradient.attraction_scale *= (float)exaggeration;
    double scale = 0;
    for (int64_t e = 0; e < 2 * N; e++)
        scale += ref->gradient[e] * ref->gradient[e] / (2 * N);
    for (int64_t e = 0; e < 2 * rows->count; e++)
        assert_true(fabs((double)(gradient.attraction_scale * gradient.attraction[e] +
                                  gradient.repulsion_scale * gradient.repulsion[e]) -
                         ref->gradient[2 * rows->first + e]) < 1e-5 * sqrt(scale));
    free(ref);
}

/* t-SNE in the plane on one of both P; the sums as `repulsion` says. */
static ikt_objective make_objective(ikt_context *ctx, const ikt_objective_kind *kind,
                                    const ikt_graph *graph, const ikt_dense *dense, int repulsion) {
    const ikt_objective_inputs inputs = {.rows = graph ? graph->rows : dense->rows,
                                         .q = 2,
                                         .options = {.repulsion = repulsion},
                                         .graph = graph,
                                         .dense = dense};
    ikt_objective objective;
    assert_int_equal(ikt_objective_create(ctx, kind, &inputs, &objective), IKT_OK);
    return objective;
}

static void sparse_gradient_and_divergence_are_exact(void **state) {
    ikt_context *ctx = *state;
    double *p = full_p();
    ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    ikt_graph graph;
    ikt_objective objective;
    make_p(ctx, &rows, &graph);
    objective = make_objective(ctx, &ikt_objective_tsne, &graph, NULL, IKT_REPULSION_EXACT);
    compare(&rows, &objective, p, 1);
    compare(&rows, &objective, p, 12);
    ikt_objective_destroy(&objective);
    ikt_graph_destroy(&graph);
    free(p);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void dense_gradient_and_divergence_are_exact(void **state) {
    ikt_context *ctx = *state;
    double *p = full_p();
    ikt_dense dense = {ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx)), (N + 15) / 16 * 16, NULL};
    ikt_alloc(ctx, &dense.value, dense.rows.count * dense.stride, sizeof *dense.value, "test");
    for (int64_t i = 0; i < dense.rows.count; i++)
        for (int64_t j = 0; j < N; j++)
            dense.value[i * dense.stride + j] = (float)p[(dense.rows.first + i) * N + j];
    ikt_objective objective;
    /* In two passes, as any divergence, and in one. */
    ikt_objective_kind in_two = ikt_objective_tsne;
    in_two.create = ikt_divergence_create;
    objective = make_objective(ctx, &in_two, NULL, &dense, IKT_REPULSION_EXACT);
    compare(&dense.rows, &objective, p, 1);
    compare(&dense.rows, &objective, p, 4);
    ikt_objective_destroy(&objective);
    objective = make_objective(ctx, &ikt_objective_tsne, NULL, &dense, IKT_REPULSION_EXACT);
    assert_ptr_equal(objective.kind, &ikt_objective_dense_tsne);
    compare(&dense.rows, &objective, p, 1);
    compare(&dense.rows, &objective, p, 4);
    ikt_objective_destroy(&objective);
    ikt_dense_destroy(&dense);
    free(p);
}

static ikt_layout_settings schedule(int64_t iterations, double rate) {
    return (ikt_layout_settings){.iterations = iterations,
                                 .exaggeration_iterations = 50,
                                 .exaggeration = 4,
                                 .learning_rate = rate,
                                 .final_learning_rate = rate,
                                 .final_exaggeration = 1,
                                 .momentum = 0.5,
                                 .final_momentum = 0.8,
                                 .momentum_switch = 50,
                                 .report_every = 50};
}

/* Runs the loop on a context's ranks; returns the hash of the map and the last divergence. */
static uint64_t descend(ikt_context *ctx, int repulsion, double *first_kl, double *last_kl) {
    ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    ikt_layout_settings settings = schedule(150, 20);
    ikt_graph graph;
    ikt_objective objective;
    ikt_trace trace;
    float *y;
    make_p(ctx, &rows, &graph);
    ikt_alloc(ctx, &y, 2 * rows.count, sizeof *y, "test");
    ikt_initial_random(ctx, &rows, 2, 3, 0, y);
    objective = make_objective(ctx, &ikt_objective_tsne, &graph, NULL, repulsion);
    assert_int_equal(ikt_layout_run(ctx, &settings, &rows, &objective, NULL, y, &trace), IKT_OK);
    assert_int_equal(trace.count, 4);
    assert_int_equal(trace.point[3].iteration, 150);
    *first_kl = trace.point[0].value;
    *last_kl = trace.point[3].value;
    uint64_t hash = ikt_row_hash(ctx, y, rows.first, rows.count, 2 * sizeof *y);
    ikt_objective_destroy(&objective);
    ikt_graph_destroy(&graph);
    ikt_trace_destroy(&trace);
    ikt_free(&y);
    assert_int_equal(ikt_memory_now(ctx), 0);
    return hash;
}

static void the_loop_descends_with_the_same_bits_on_any_ranks(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    for (int repulsion = IKT_REPULSION_FFT; repulsion <= IKT_REPULSION_EXACT; repulsion++) {
        double first, last, first_alone, last_alone;
        uint64_t hash = descend(ctx, repulsion, &first, &last);
        assert_true(hash == descend(alone, repulsion, &first_alone, &last_alone));
        assert_true(first == first_alone && last == last_alone);
        assert_true(last < 0.85 * first);
    }
    ikt_context_destroy(&alone);
}

/* A run that stops by itself: where its phases ended, and what came out. */
typedef struct {
    uint64_t hash;
    int64_t exaggeration_end, end;
    bool has_converged;
    double kl;
} stopped;

static stopped descend_until_settled(ikt_context *ctx) {
    ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    ikt_layout_settings settings = schedule(3000, 100);
    settings.stop = IKT_STOP_AUTO;
    settings.exaggeration_iterations = 500;
    settings.report_every = 70;
    ikt_graph graph;
    ikt_objective objective;
    ikt_trace trace;
    float *y;
    make_random_p(ctx, &rows, K, in_its_cluster, 1, &graph);
    ikt_alloc(ctx, &y, 2 * rows.count, sizeof *y, "test");
    ikt_initial_random(ctx, &rows, 2, 3, 0, y);
    objective = make_objective(ctx, &ikt_objective_tsne, &graph, NULL, IKT_REPULSION_EXACT);
    assert_int_equal(ikt_layout_run(ctx, &settings, &rows, &objective, NULL, y, &trace), IKT_OK);
    const ikt_trace_point *last = &trace.point[trace.count - 1];
    assert_int_equal(last->iteration, trace.end);
    assert_true(isfinite(last->value) && isfinite(last->gradient_norm));
    stopped out = {ikt_row_hash(ctx, y, rows.first, rows.count, 2 * sizeof *y),
                   trace.exaggeration_end, trace.end, trace.has_converged, last->value};
    ikt_objective_destroy(&objective);
    ikt_graph_destroy(&graph);
    ikt_trace_destroy(&trace);
    ikt_free(&y);
    return out;
}

static void an_easy_set_stops_by_itself_in_the_same_iteration_on_any_ranks(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    const stopped all = descend_until_settled(ctx), one = descend_until_settled(alone);
    assert_true(all.has_converged);
    assert_in_range(all.exaggeration_end, 15, 499);
    assert_in_range(all.end, all.exaggeration_end + 15, 2999);
    assert_true(all.hash == one.hash);
    assert_true(all.end == one.end && all.exaggeration_end == one.exaggeration_end);
    assert_true(all.kl == one.kl);
    ikt_context_destroy(&alone);
}

/* Z against a plain sum, over sizes of phi from 1 to the largest there is. */
static void the_normalisation_is_exact(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    enum { ROWS = 70000 };
    ikt_rows rows = ikt_rows_make(ROWS, ikt_size(ctx), ikt_rank(ctx));
    double *phi, z = 0;
    assert_int_equal(ikt_alloc(ctx, &phi, ROWS, sizeof *phi, "test"), IKT_OK);
    for (int64_t i = 0; i < ROWS; i++) {
        phi[i] = 1 + pow(2, 32 * ikt_rng_uniform(9, IKT_RNG_TEST, i, 0) - 1);
        z += phi[i] - 1;
    }
    const double found = ikt_normalisation(ctx, phi + rows.first, 1, rows.count);
    assert_true(fabs(found - z) < 1e-12 * z);
    assert_true(found == ikt_normalisation(alone, phi, 1, ROWS));
    phi[ROWS / 2] = INFINITY;
    assert_true(isnan(ikt_normalisation(ctx, phi + rows.first, 1, rows.count)));
    ikt_free(&phi);
    ikt_context_destroy(&alone);
}

static void a_diverging_run_is_stopped_with_advice(void **state) {
    ikt_context *ctx = *state;
    ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    ikt_layout_settings settings = schedule(100, 1e38);
    ikt_graph graph;
    ikt_objective objective;
    ikt_trace trace;
    float *y;
    make_p(ctx, &rows, &graph);
    ikt_alloc(ctx, &y, 2 * rows.count, sizeof *y, "test");
    ikt_initial_random(ctx, &rows, 2, 3, 0, y);
    objective = make_objective(ctx, &ikt_objective_tsne, &graph, NULL, IKT_REPULSION_EXACT);
    assert_int_equal(ikt_layout_run(ctx, &settings, &rows, &objective, NULL, y, &trace),
                     IKT_ERR_DATA);
    assert_non_null(strstr(ikt_message(ctx), "learning_rate"));
    ikt_objective_destroy(&objective);
    ikt_graph_destroy(&graph);
    ikt_free(&y);
}

IKT_MPI_TESTS(ikt_test(sparse_gradient_and_divergence_are_exact),
              ikt_test(dense_gradient_and_divergence_are_exact),
              ikt_test(the_loop_descends_with_the_same_bits_on_any_ranks),
              ikt_test(an_easy_set_stops_by_itself_in_the_same_iteration_on_any_ranks),
              ikt_test(the_normalisation_is_exact),
              ikt_test(a_diverging_run_is_stopped_with_advice))
