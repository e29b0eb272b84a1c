/* Eigenpairs of normalised affinities: against a dense solver and against graphs whose spectrum is
 * known, and bit for bit against one rank with one thread. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "linalg/eigen.h"
#include "linalg/solver.h"
#include "spectral/normalised.h"
#include "spectral/spectrum.h"
#include "support/edges_p.h"
#include "support/random_p.h"

static const double pi = 3.14159265358979323846;

static ikt_rows rows_of(ikt_context *ctx, int64_t n) {
    return ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
}

/* --- graphs ----------------------------------------------------------------------------------- */

static int64_t ring(int64_t row, int64_t n, int64_t to[EDGES_MOST]) {
    if (row == 0) {
        to[0] = 1;
        to[1] = n - 1;
        return 2;
    }
    to[0] = row + 1;
    return row + 1 < n;
}

static int64_t path(int64_t row, int64_t n, int64_t to[EDGES_MOST]) {
    to[0] = row + 1;
    return row + 1 < n;
}

static int64_t complete(int64_t row, int64_t n, int64_t to[EDGES_MOST]) {
    for (int64_t j = row + 1; j < n; j++)
        to[j - row - 1] = j;
    return n - row - 1;
}

/* Rows of equal remainder by 3 are paths of their own; the last row is joined to none. */
static int64_t braid(int64_t row, int64_t n, int64_t to[EDGES_MOST]) {
    to[0] = row + 3;
    return row + 3 < n - 1;
}

/* Groups of 20 rows, all of a group joined, and each group to the next by one edge. */
static int64_t groups(int64_t row, int64_t n, int64_t to[EDGES_MOST]) {
    int64_t count = 0;
    for (int64_t j = row + 1; j < n && j / 20 == row / 20; j++)
        to[count++] = j;
    if (row % 20 == 19 && row + 1 < n) to[count++] = row + 1;
    return count;
}

/* --- known answers ---------------------------------------------------------------------------- */

static ikt_eigengap values_of(ikt_context *ctx, int64_t n, edges_of *edges, bool is_dense) {
    const ikt_rows rows = rows_of(ctx, n);
    ikt_graph graph = {.n_ghost = 0};
    ikt_dense dense = {.value = NULL};
    ikt_eigengap found;
    if (is_dense)
        make_edges_dense(ctx, &rows, edges, &dense);
    else
        make_edges_p(ctx, &rows, edges, &graph);
    const ikt_spectrum_of p = {is_dense ? NULL : &graph, is_dense ? &dense : NULL};
    ikt_eigengap_find(ctx, &p, IKT_EIGENGAP_ABSOLUTE, 1, &found);
    ikt_graph_destroy(&graph);
    ikt_dense_destroy(&dense);
    return found;
}

static void a_ring_has_the_values_of_cosines(void **state) {
    ikt_context *ctx = *state;
    for (int is_dense = 0; is_dense < 2; is_dense++) {
        const ikt_eigengap found = values_of(ctx, 200, ring, is_dense);
        assert_int_equal(found.values, 31);
        assert_int_equal(found.report.components, 1);
        assert_true(found.report.has_converged);
        for (int k = 0; k < 31; k++)
            assert_true(fabs(found.value[k] - (1 - cos(2 * pi * ((k + 1) / 2) / 200.0))) < 1e-10);
        assert_int_equal(found.after[0], 29); /* squares, in pairs: the last gap is the largest */
    }
}

static void a_path_has_the_values_of_cosines(void **state) {
    ikt_context *ctx = *state;
    const ikt_eigengap found = values_of(ctx, 150, path, false);
    for (int k = 0; k < 31; k++)
        assert_true(fabs(found.value[k] - (1 - cos(pi * k / 149.0))) < 1e-10);
}

static void components_are_found_and_their_zeros_known(void **state) {
    ikt_context *ctx = *state;
    const int64_t n = 301;
    const ikt_rows rows = rows_of(ctx, n);
    for (int is_dense = 0; is_dense < 2; is_dense++) {
        ikt_graph graph = {.n_ghost = 0};
        ikt_dense dense = {.value = NULL};
        ikt_components components;
        if (is_dense)
            make_edges_dense(ctx, &rows, braid, &dense);
        else
            make_edges_p(ctx, &rows, braid, &graph);
        assert_int_equal(ikt_components_find(ctx, is_dense ? NULL : &graph,
                                             is_dense ? &dense : NULL, &components),
                         IKT_OK);
        assert_int_equal(components.count, 4);
        for (int64_t i = 0; i < rows.count; i++)
            assert_int_equal(components.of[i], rows.first + i == n - 1 ? 3 : (rows.first + i) % 3);
        ikt_components_destroy(&components);
        ikt_graph_destroy(&graph);
        ikt_dense_destroy(&dense);
        const ikt_eigengap found = values_of(ctx, n, braid, is_dense);
        assert_int_equal(found.report.components, 4);
        for (int k = 0; k < 31; k++) { /* three paths of 100 rows, and the last row's zero */
            const double expected = k < 4 ? 0 : 1 - cos(pi * ((k - 1) / 3) / 99.0);
            assert_true(fabs(found.value[k] - expected) < 1e-10);
        }
    }
}

static void the_gap_counts_groups(void **state) {
    ikt_context *ctx = *state;
    const ikt_eigengap found = values_of(ctx, 240, groups, false);
    assert_int_equal(found.after[0], 12);
    assert_true(found.gap[0] > 0.5);
    assert_true(found.gap[0] == found.value[12] - found.value[11]);
    assert_int_equal(found.gaps, IKT_EIGENGAP_LARGEST);
    for (int g = 1; g < IKT_EIGENGAP_LARGEST; g++)
        assert_true(found.gap[g] <= found.gap[g - 1]);
    ikt_eigengap relative = found;
    ikt_eigengap_order(IKT_EIGENGAP_RELATIVE, &relative);
    assert_true(relative.is_clear);
    assert_true(relative.gap[0] ==
                (found.value[relative.after[0]] - found.value[relative.after[0] - 1]) /
                    found.value[relative.after[0]]);
}

/* The order of gaps, on numbers made for it. */
static void gaps_are_ordered_with_ties_to_the_lower(void **state) {
    ikt_eigengap g = {.values = 8, .value = {0, 0.5, 0.5625, 0.6875, 0.75, 0.875, 1, 1.0625}};
    (void)state;
    ikt_eigengap_order(IKT_EIGENGAP_ABSOLUTE, &g); /* that after 1 does not count */
    assert_true(g.is_clear);
    const int64_t after[] = {3, 5, 6, 2, 4};
    for (int k = 0; k < 5; k++)
        assert_int_equal(g.after[k], after[k]);
    ikt_eigengap_order(IKT_EIGENGAP_RELATIVE, &g);
    assert_int_equal(g.after[0], 3);
    assert_true(g.gap[0] == 0.125 / 0.6875);
    assert_int_equal(g.after[1], 5);
    ikt_eigengap even = {.values = 4, .value = {0, 0.25, 0.5, 0.75}};
    ikt_eigengap_order(IKT_EIGENGAP_ABSOLUTE, &even);
    assert_false(even.is_clear);
    ikt_eigengap few = {.values = 2, .value = {0, 1}};
    ikt_eigengap_order(IKT_EIGENGAP_ABSOLUTE, &few);
    assert_false(few.is_clear);
    ikt_eigengap zeros = {.values = 31, .value = {0}};
    ikt_eigengap_order(IKT_EIGENGAP_RELATIVE, &zeros);
    assert_false(zeros.is_clear);
}

static void equal_gaps_say_nothing(void **state) {
    ikt_context *ctx = *state;
    const ikt_rows rows = rows_of(ctx, 60);
    ikt_graph graph;
    ikt_eigengap found;
    make_edges_p(ctx, &rows, complete, &graph);
    const ikt_spectrum_of p = {&graph, NULL};
    int64_t clusters;
    assert_int_equal(ikt_eigengap_find(ctx, &p, IKT_EIGENGAP_ABSOLUTE, 1, &found), IKT_OK);
    assert_int_equal(ikt_eigengap_clusters(ctx, &found, &clusters), IKT_ERR_DATA);
    assert_non_null(strstr(ikt_message(ctx), "suggest no number of clusters"));
    for (int k = 1; k < 31; k++)
        assert_true(fabs(found.value[k] - 60.0 / 59) < 1e-12);
    ikt_clear(ctx);
    ikt_graph_destroy(&graph);
}

/* --- a dense solver --------------------------------------------------------------------------- */

/* Least eigenvalues of L by ScaLAPACK of this rank alone, and its matrix N. */
static void solve_dense(int64_t n, int k, double power, int64_t wanted, double *value,
                        double *vectors) {
    ikt_context *alone = ikt_test_alone();
    const ikt_rows rows = ikt_rows_make(n, 1, 0);
    double *p = NULL, *d = NULL;
    ikt_alloc(alone, &p, n * n, sizeof *p, "test");
    ikt_alloc(alone, &d, n, sizeof *d, "test");
    fill_random_p(n, k, on_a_ring, power, p);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            d[i] += p[i * n + j];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            p[i * n + j] /= sqrt(d[i]) * sqrt(d[j]);
    assert_int_equal(ikt_eigen_selected(alone, &rows, p, NULL, wanted, IKT_EIGEN_LARGEST,
                                        IKT_EIGEN_ALONE_MAX, value, vectors),
                     IKT_OK);
    for (int64_t j = 0; j < wanted; j++)
        value[j] = 1 - value[j];
    ikt_free(&p);
    ikt_free(&d);
    ikt_context_destroy(&alone);
}

static void values_and_vectors_are_those_of_a_dense_solver(void **state) {
    ikt_context *ctx = *state;
    const int64_t n = ikt_size(ctx) == 1 ? 1500 : 500;
    const ikt_rows rows = rows_of(ctx, n);
    double value[IKT_EIGENGAP_VALUES], map_value[3];
    double *vectors = NULL, *map = NULL;
    ikt_graph graph;
    ikt_eigengap found;
    ikt_spectrum_report report;
    ikt_alloc(ctx, &vectors, n * IKT_EIGENGAP_VALUES, sizeof *vectors, "test");
    ikt_alloc(ctx, &map, 3 * rows.count, sizeof *map, "test");
    solve_dense(n, 7, 4, IKT_EIGENGAP_VALUES, value, vectors);
    make_random_p(ctx, &rows, 7, on_a_ring, 4, &graph);
    const ikt_spectrum_of p = {&graph, NULL};
    assert_int_equal(ikt_eigengap_find(ctx, &p, IKT_EIGENGAP_ABSOLUTE, 1, &found), IKT_OK);
    assert_true(found.report.has_converged && found.report.residual <= 1e-6);
    for (int k = 0; k < IKT_EIGENGAP_VALUES; k++)
        assert_true(fabs(found.value[k] - value[k]) < 1e-8);
    assert_int_equal(ikt_spectrum_map(ctx, &p, 3, 1e-9, 1, map, map_value, &report), IKT_OK);
    assert_true(report.has_converged);
    ikt_spectrum_orient(ctx, &rows, 3, map);
    for (int c = 0; c < 3; c++) {
        assert_true(fabs(map_value[c] - value[c + 1]) < 1e-12);
        for (int64_t i = 0; i < rows.count; i++)
            assert_true(fabs(map[3 * i + c] - vectors[(c + 1) * n + rows.first + i]) < 1e-5);
    }
    ikt_free(&vectors);
    ikt_free(&map);
    ikt_graph_destroy(&graph);
}

/* --- the same bits ---------------------------------------------------------------------------- */

enum { SAME_MOST = 1700 * 2 }; /* numbers of a map */

typedef struct {
    double map[SAME_MOST], value[3]; /* of the own rows */
    ikt_eigengap gap;
    ikt_spectrum_report report;
} found_bits;

static void find_bits(ikt_context *ctx, int64_t n, int64_t q, bool is_dense, found_bits *out) {
    const ikt_rows rows = rows_of(ctx, n);
    ikt_graph graph = {.n_ghost = 0};
    ikt_dense dense = {.value = NULL};
    if (is_dense)
        make_edges_dense(ctx, &rows, path, &dense);
    else
        make_random_p(ctx, &rows, 5, on_a_ring, 2, &graph);
    const ikt_spectrum_of p = {is_dense ? NULL : &graph, is_dense ? &dense : NULL};
    memset(out, 0, sizeof *out);
    assert_int_equal(ikt_spectrum_map(ctx, &p, q, 1e-3, 5, out->map, out->value, &out->report),
                     IKT_OK);
    assert_int_equal(ikt_eigengap_find(ctx, &p, IKT_EIGENGAP_ABSOLUTE, 5, &out->gap), IKT_OK);
    ikt_spectrum_orient(ctx, &rows, q, out->map);
    ikt_graph_destroy(&graph);
    ikt_dense_destroy(&dense);
}

/* With one thread a rank, and with two. One rank alone finds what all compare with: ranks that each
 * did so would keep the processors from the others. */
static void compare_with_one_rank(ikt_context *ctx, int64_t n, int64_t q, bool is_dense) {
    static found_bits all, own;
    const ikt_rows rows = rows_of(ctx, n);
    if (ikt_rank(ctx) == 0) {
        ikt_context *alone = ikt_test_alone();
        find_bits(alone, n, q, is_dense, &all);
        ikt_context_destroy(&alone);
    }
    ikt_broadcast(ctx, &all, sizeof all, 0);
    for (int threads = 1; threads <= 2; threads++) {
        ikt_context_set_threads(ctx, threads);
        find_bits(ctx, n, q, is_dense, &own);
        assert_memory_equal(own.map, all.map + q * rows.first,
                            (size_t)(q * rows.count) * sizeof(double));
        assert_memory_equal(own.value, all.value, (size_t)q * sizeof(double));
        assert_memory_equal(own.gap.value, all.gap.value, sizeof all.gap.value);
        assert_memory_equal(own.gap.after, all.gap.after, sizeof all.gap.after);
        assert_int_equal(own.report.products, all.report.products);
        assert_true(own.report.residual == all.report.residual);
    }
}

static void ranks_and_threads_change_no_bit(void **state) {
    compare_with_one_rank(*state, 1700, 2, false);
    compare_with_one_rank(*state, 530, 3, true);
}

/* Two rows of one magnitude: the lower one decides, wherever the rows lie. */
static void signs_follow_the_lowest_of_the_largest_rows(void **state) {
    ikt_context *ctx = *state;
    const ikt_rows rows = rows_of(ctx, 40);
    double *map = NULL;
    ikt_alloc(ctx, &map, 2 * rows.count, sizeof *map, "test");
    for (int64_t i = 0; i < rows.count; i++) {
        const int64_t row = rows.first + i;
        map[2 * i] = row == 11 ? -3 : row == 31 ? 3 : 1;
        map[2 * i + 1] = row == 11 ? 3 : row == 31 ? -3 : 1;
    }
    ikt_spectrum_orient(ctx, &rows, 2, map);
    for (int64_t i = 0; i < rows.count; i++) {
        const int64_t row = rows.first + i;
        assert_true(map[2 * i] == (row == 11 ? 3 : row == 31 ? -3 : -1));
        assert_true(map[2 * i + 1] == (row == 11 ? 3 : row == 31 ? -3 : 1));
    }
    ikt_free(&map);
}

/* --- the solver ------------------------------------------------------------------------------- */

/* A diagonal operator. */
typedef struct {
    double (*entry)(int64_t row, int64_t n);
    int64_t products;
} diagonal;

static double spread(int64_t row, int64_t n) {
    return 2 * (double)row / (double)(n - 1) - 1;
}

/* Three values stand out. */
static double three_stand_out(int64_t row, int64_t n) {
    return row < 3 ? 1 - 0.1 * (double)row : 0.5 * (double)row / (double)n;
}

static double equal(int64_t row, int64_t n) {
    (void)row;
    (void)n;
    return 0.25;
}

static ikt_status apply(void *self, const ikt_block *x, double alpha, double beta, double gamma,
                        ikt_block *y) {
    diagonal *d = self;
    d->products++;
    for (int64_t i = 0; i < x->rows.count; i++)
        for (int64_t k = 0; k < x->m; k++) {
            const double a = d->entry(x->rows.first + i, x->rows.n), *from = x->v + i * x->m + k;
            double *to = y->v + i * x->m + k;
            *to = alpha * a * *from + beta * *from + (gamma != 0 ? gamma * *to : 0);
        }
    return IKT_OK;
}

static ikt_eigenpairs solve(ikt_context *ctx, diagonal *d, double tolerance, int64_t steps) {
    const ikt_rows rows = rows_of(ctx, 1000);
    const ikt_operator a = {d, apply, {NULL, NULL}, -1};
    const ikt_solver_options options = {.wanted = 3,
                                        .columns = 13,
                                        .degree = IKT_SOLVER_DEGREE,
                                        .tolerance = tolerance,
                                        .steps_most = steps,
                                        .seed = 3};
    ikt_eigenpairs pairs;
    assert_int_equal(ikt_eigenpairs_find(ctx, &rows, &a, &options, &pairs), IKT_OK);
    assert_int_equal(pairs.products, d->products);
    return pairs;
}

static void values_that_stand_out_take_two_filters(void **state) {
    diagonal d = {three_stand_out, 0};
    ikt_eigenpairs pairs = solve(*state, &d, 1e-6, 100);
    assert_true(pairs.has_converged);
    assert_int_equal(pairs.steps, 3);
    assert_int_equal(pairs.products, 41);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(pairs.theta[k] - (1 - 0.1 * k)) < 1e-12);
    ikt_eigenpairs_destroy(&pairs);
}

static void a_filter_brings_what_theory_says(void **state) {
    /* Values 0.002 apart: T_20 grows from the cut, 13 values below the top, by a factor of about
     * 10 to the third value, so that 1e-6 takes some seven steps. The power method would take
     * thousands. */
    diagonal d = {spread, 0};
    ikt_eigenpairs pairs = solve(*state, &d, 1e-6, 100);
    assert_true(pairs.has_converged);
    assert_in_range(pairs.steps, 5, 12);
    assert_int_equal(pairs.products, 20 * (pairs.steps - 1) + 1);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(pairs.theta[k] - (1 - 2.0 * k / 999)) < 1e-10);
    ikt_eigenpairs_destroy(&pairs);
}

static void equal_values_fall_back_to_power_steps(void **state) {
    diagonal d = {equal, 0};
    ikt_eigenpairs pairs = solve(*state, &d, -1, 4);
    assert_false(pairs.has_converged);
    assert_int_equal(pairs.steps, 5);
    assert_int_equal(pairs.products, 5); /* none but those of Rayleigh-Ritz */
    for (int k = 0; k < 13; k++)
        assert_true(fabs(pairs.theta[k] - 0.25) < 1e-14 && pairs.residual[k] < 1e-14);
    ikt_eigenpairs_destroy(&pairs);
}

static void too_few_eigenvectors_are_one_sentence(void **state) {
    ikt_context *ctx = *state;
    const ikt_rows rows = rows_of(ctx, 2);
    ikt_graph graph;
    ikt_spectrum_report report;
    double *map = NULL, value[2];
    ikt_alloc(ctx, &map, 2 * rows.count, sizeof *map, "test");
    make_edges_p(ctx, &rows, path, &graph);
    const ikt_spectrum_of p = {&graph, NULL};
    assert_int_equal(ikt_spectrum_map(ctx, &p, 2, 1e-3, 1, map, value, &report), IKT_ERR_DATA);
    assert_non_null(strstr(ikt_message(ctx), "leaves 1 eigenvectors"));
    ikt_clear(ctx);
    assert_int_equal(ikt_spectrum_map(ctx, &p, 1, 1e-3, 1, map, value, &report), IKT_OK);
    assert_true(fabs(value[0] - 2) < 1e-12); /* the other end of the spectrum of L */
    ikt_graph_destroy(&graph);
    ikt_free(&map);
}

/* Gaps that another seed may have first are named with the largest; others are not. */
static void near_gaps_are_named(void **state) {
    (void)state;
    ikt_eigengap gap = {.gaps = 4, .after = {11, 8, 18, 24}, .gap = {0.02, 0.019, 0.0165, 0.015}};
    char text[512];
    ikt_eigengap_describe(IKT_EIGENGAP_ABSOLUTE, &gap, text, sizeof text);
    assert_non_null(strstr(text, "11 (0.0200), 8 (0.0190), 18 (0.0165), 24 (0.0150)"));
    assert_non_null(strstr(text, "the second is 95 % of the first"));
    assert_non_null(strstr(text, "may suggest 8, 18, whose"));
    gap.gap[1] = gap.gap[2] = gap.gap[3] = 0.01;
    ikt_eigengap_describe(IKT_EIGENGAP_ABSOLUTE, &gap, text, sizeof text);
    assert_non_null(strstr(text, "the second is 50 % of the first"));
    assert_null(strstr(text, "may suggest"));
    gap.gaps = 1;
    ikt_eigengap_describe(IKT_EIGENGAP_RELATIVE, &gap, text, sizeof text);
    assert_string_equal(text, "the largest relative gaps come after eigenvalues 11 (0.0200)");
}

IKT_MPI_TESTS(ikt_test(near_gaps_are_named), ikt_test(a_ring_has_the_values_of_cosines),
              ikt_test(a_path_has_the_values_of_cosines),
              ikt_test(components_are_found_and_their_zeros_known), ikt_test(the_gap_counts_groups),
              ikt_test(gaps_are_ordered_with_ties_to_the_lower), ikt_test(equal_gaps_say_nothing),
              ikt_test(values_and_vectors_are_those_of_a_dense_solver),
              ikt_test(ranks_and_threads_change_no_bit),
              ikt_test(signs_follow_the_lowest_of_the_largest_rows),
              ikt_test(values_that_stand_out_take_two_filters),
              ikt_test(a_filter_brings_what_theory_says),
              ikt_test(equal_values_fall_back_to_power_steps),
              ikt_test(too_few_eigenvectors_are_one_sentence))
