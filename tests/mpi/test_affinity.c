/* The kNN kernel, the adaptive Gaussian and the Laplacian kernel against plain double references,
 * over ranks.
 *
 * Rows have small integers as coordinates: their squared distances are exact, many are equal, and
 * some rows coincide. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "affinity/affinity.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/row_hash.h"
#include "graph/graph.h"
#include "support/graph_hash.h"
#include "support/neighbour_lists.h"
#include "support/symmetrise.h"

enum { N = 90, D = 3, K = 12, M = 5 };

typedef enum {
    SCATTERED, /* some rows coincide */
    HEAPS,     /* most rows lie on two places, and the last one alone */
    SETS
} set;

static int coordinate(set what, int64_t row, int64_t c) {
    if (what == HEAPS) return row == N - 1 ? 9 : row % 2 ? 2 : 5;
    return (int)ikt_rng_below(9, IKT_RNG_TEST, row, (uint64_t)c, 8);
}

static double squared(set what, int64_t a, int64_t b) {
    int sum = 0;
    for (int64_t c = 0; c < D; c++) {
        int difference = coordinate(what, a, c) - coordinate(what, b, c);
        sum += difference * difference;
    }
    return sum;
}

/* --- references ------------------------------------------------------------------------------- */

/* Of a set: the rank of row j among the neighbours of row i, from 0; squared widths. */
typedef struct {
    int64_t rank[N][N];
    double reach[N];
} reference;

/* Whether row a comes before row b among the neighbours of row i. */
static bool is_nearer(set what, int64_t i, int64_t a, int64_t b) {
    double x = squared(what, i, a), y = squared(what, i, b);
    return x < y || (x == y && a < b);
}

static const reference *of(set what) {
    static reference all[SETS];
    static bool is_made[SETS];
    reference *r = &all[what];
    for (int64_t i = 0; i < N && !is_made[what]; i++)
        for (int64_t j = 0; j < N; j++) {
            r->rank[i][j] = 0;
            for (int64_t a = 0; a < N; a++)
                r->rank[i][j] += a != i && a != j && is_nearer(what, i, a, j);
            if (i != j && r->rank[i][j] == M - 1) r->reach[i] = squared(what, i, j);
        }
    is_made[what] = true;
    return r;
}

/* K as appendix D has it; where a width is 0, its limit. */
static double adaptive_kernel(set what, int64_t i, int64_t j) {
    double width = sqrt(of(what)->reach[i]) * sqrt(of(what)->reach[j]);
    if (squared(what, i, j) == 0) return 1;
    return width > 0 ? exp(-squared(what, i, j) / width) : 0;
}

typedef double rule(set what, int64_t i, int64_t j);

static double knn_rule(set what, int64_t i, int64_t j) {
    return i != j && of(what)->rank[i][j] < K ? 1.0 / K : 0;
}

/* Over the first `support` neighbours. */
static double adaptive_over(set what, int64_t i, int64_t j, int64_t support) {
    const int64_t *rank = of(what)->rank[i];
    double total = 0;
    if (i == j || rank[j] >= support) return 0;
    for (int64_t a = 0; a < N; a++)
        if (a != i && rank[a] < support) total += adaptive_kernel(what, i, a);
    if (total == 0) return rank[j] < M ? 1.0 / M : 0;
    return adaptive_kernel(what, i, j) / total;
}

static double adaptive_rule(set what, int64_t i, int64_t j) {
    return adaptive_over(what, i, j, K);
}

static double adaptive_dense_rule(set what, int64_t i, int64_t j) {
    return adaptive_over(what, i, j, N);
}

/* --- the Laplacian kernel --- */

/* p_j|i over the first `support` neighbours, exp(-beta (d - least)), beta by halving the interval
 * in which the entropy crosses log(M), to the last bit. Where rows at the least distance are too
 * many, or all of them, beta is without bound, or of no effect. Returns the entropy. */
static double laplacian_row(set what, int64_t i, int64_t support, double p[N]) {
    double low = 1e-6, high = 1e6, entropy = 0;
    for (int step = 0; step < 200; step++) {
        const double beta = sqrt(low * high);
        double total = 0, least = 1e9;
        entropy = 0;
        for (int64_t j = 0; j < N; j++)
            if (j != i) least = fmin(least, sqrt(squared(what, i, j)));
        for (int64_t j = 0; j < N; j++) {
            const bool is_in = j != i && of(what)->rank[i][j] < support;
            p[j] = is_in ? exp(-beta * (sqrt(squared(what, i, j)) - least)) : 0;
            total += p[j];
        }
        for (int64_t j = 0; j < N; j++) {
            p[j] /= total;
            if (p[j] > 0) entropy -= p[j] * log(p[j]);
        }
        if (entropy > log(M))
            low = beta;
        else
            high = beta;
    }
    return entropy;
}

static void check_laplacian_row(set what, int64_t i, int64_t support, const float *weight,
                                const uint32_t *row) {
    double p[N], entropy = 0;
    const double expected = laplacian_row(what, i, support, p);
    for (int64_t e = 0; e < support; e++) {
        const int64_t j = row ? (int64_t)row[e] : e;
        const double w = (double)weight[e];
        assert_true(fabs(w - p[j]) <= 4e-6);
        if (w > 0) entropy -= w * log(w);
        for (int64_t a = 0; a < e && row; a++)
            if (squared(what, i, row[a]) == squared(what, i, row[e]))
                assert_true(weight[a] == weight[e]);
    }
    assert_true(fabs(entropy - expected) <= 1e-5);
}

static void assert_near(double value, double expected) {
    assert_true(fabs(value - expected) <= 1e-5 * fabs(expected));
}

/* --- what is tested --------------------------------------------------------------------------- */

static const ikt_affinity_settings settings = {
    .kind = IKT_AFFINITY_ADAPTIVE, .adaptive = {M}, .gaussian = {M}};

typedef struct {
    ikt_rows rows;
    float *x;
    ikt_scorer scorer;
    ikt_affinity_job job;
} rows;

static void rows_make(ikt_context *ctx, set what, rows *r) {
    memset(r, 0, sizeof *r);
    r->rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    assert_int_equal(ikt_alloc(ctx, &r->x, r->rows.count * D, sizeof *r->x, "test"), IKT_OK);
    for (int64_t e = 0; e < r->rows.count * D; e++)
        r->x[e] = (float)coordinate(what, r->rows.first + e / D, e % D);
    r->scorer = ikt_scorer_rows(&ikt_metric_euclidean, r->x, D, &r->rows);
    r->job = (ikt_affinity_job){.settings = &settings, .k = K, .rows = &r->rows};
}

static void rows_destroy(rows *r) {
    ikt_free(&r->x);
}

static void make_lists(ikt_context *ctx, const ikt_affinity *kind, const rows *r,
                       ikt_neighbours *lists, int64_t *orphans) {
    assert_int_equal(exact_lists(ctx, &r->scorer, K, lists), IKT_OK);
    assert_int_equal(kind->weigh(ctx, &r->job, lists, orphans), IKT_OK);
}

/* Weights of the lists of every set against the reference. */
static void check_lists(ikt_context *ctx, const ikt_affinity *kind, rule *expected) {
    for (set what = SCATTERED; what < SETS; what++) {
        rows r;
        ikt_neighbours lists;
        int64_t orphans;
        rows_make(ctx, what, &r);
        make_lists(ctx, kind, &r, &lists, &orphans);
        for (int64_t i = 0; i < r.rows.count; i++) {
            double total = 0;
            for (int64_t e = i * K; e < (i + 1) * K; e++) {
                total += (double)lists.score[e];
                assert_near((double)lists.score[e], expected(what, r.rows.first + i, lists.row[e]));
            }
            assert_near(total, 1);
        }
        ikt_neighbours_destroy(&lists);
        rows_destroy(&r);
        assert_int_equal(ikt_memory_now(ctx), 0);
    }
}

static void weights_of_lists_are_those_of_the_kernels(void **state) {
    check_lists(*state, &ikt_affinity_knn, knn_rule);
    check_lists(*state, &ikt_affinity_adaptive, adaptive_rule);
}

static void check_dense(ikt_context *ctx, const ikt_affinity *kind, rule *expected) {
    for (set what = SCATTERED; what < SETS; what++) {
        rows r;
        ikt_dense dense;
        int64_t orphans;
        rows_make(ctx, what, &r);
        assert_int_equal(ikt_dense_fill(ctx, &r.scorer, &dense), IKT_OK);
        assert_int_equal(kind->dense(ctx, &r.job, &dense, &orphans), IKT_OK);
        for (int64_t i = 0; i < r.rows.count; i++)
            for (int64_t j = 0; j < dense.stride; j++) {
                const int64_t row = r.rows.first + i;
                double p = j < N ? (expected(what, row, j) + expected(what, j, row)) / (2 * N) : 0;
                assert_near((double)dense.value[i * dense.stride + j], p);
            }
        ikt_dense_destroy(&dense);
        rows_destroy(&r);
        assert_int_equal(ikt_memory_now(ctx), 0);
    }
}

static void a_dense_p_is_that_of_the_kernels(void **state) {
    check_dense(*state, &ikt_affinity_knn, knn_rule);
    check_dense(*state, &ikt_affinity_adaptive, adaptive_dense_rule);
}

/* Of the lists, the entropy is that of the perplexity, and equal distances have equal weights. */
static void laplacian_weights_have_the_perplexity(void **state) {
    ikt_context *ctx = *state;
    int64_t found = 0, orphans;
    double p[N];
    for (set what = SCATTERED; what < SETS; what++) {
        rows r;
        ikt_neighbours lists;
        rows_make(ctx, what, &r);
        make_lists(ctx, &ikt_affinity_laplacian, &r, &lists, &orphans);
        assert_int_equal(orphans, 0);
        for (int64_t i = 0; i < r.rows.count; i++) {
            check_laplacian_row(what, r.rows.first + i, K, lists.score + i * K, lists.row + i * K);
            found += fabs(laplacian_row(what, r.rows.first + i, K, p) - log(M)) < 1e-9;
        }
        ikt_neighbours_destroy(&lists);
        rows_destroy(&r);
    }
    ikt_sum_i64(ctx, &found, 1);
    assert_true(found > N / 2); /* not only rows with heaps at one place */
}

static void a_dense_laplacian_p_is_that_of_all_rows(void **state) {
    ikt_context *ctx = *state;
    static double p[N][N];
    int64_t orphans;
    for (set what = SCATTERED; what < SETS; what++) {
        rows r;
        ikt_dense dense;
        for (int64_t i = 0; i < N; i++)
            laplacian_row(what, i, N, p[i]);
        rows_make(ctx, what, &r);
        assert_int_equal(ikt_dense_fill(ctx, &r.scorer, &dense), IKT_OK);
        assert_int_equal(ikt_affinity_laplacian.dense(ctx, &r.job, &dense, &orphans), IKT_OK);
        for (int64_t i = 0; i < r.rows.count; i++)
            for (int64_t j = 0; j < dense.stride; j++) {
                const int64_t row = r.rows.first + i;
                const double expected = j < N ? (p[row][j] + p[j][row]) / (2 * N) : 0;
                assert_true(fabs((double)dense.value[i * dense.stride + j] - expected) <= 1e-7);
            }
        ikt_dense_destroy(&dense);
        rows_destroy(&r);
    }
}

static uint64_t hash_of_lists(ikt_context *ctx, const ikt_affinity *kind, set what) {
    rows r;
    ikt_neighbours lists;
    ikt_graph graph;
    int64_t orphans;
    rows_make(ctx, what, &r);
    make_lists(ctx, kind, &r, &lists, &orphans);
    assert_int_equal(ikt_test_symmetrise(ctx, &r.rows, &lists, &graph), IKT_OK);
    assert_int_equal(ikt_graph_check(ctx, &graph), IKT_OK);
    uint64_t hash = ikt_test_graph_hash(ctx, &graph) + (uint64_t)orphans;
    ikt_graph_destroy(&graph);
    rows_destroy(&r);
    return hash;
}

static uint64_t hash_of_dense(ikt_context *ctx, const ikt_affinity *kind, set what) {
    rows r;
    ikt_dense dense;
    int64_t orphans;
    rows_make(ctx, what, &r);
    assert_int_equal(ikt_dense_fill(ctx, &r.scorer, &dense), IKT_OK);
    assert_int_equal(kind->dense(ctx, &r.job, &dense, &orphans), IKT_OK);
    uint64_t hash = ikt_row_hash(ctx, dense.value, r.rows.first, r.rows.count,
                                 (size_t)dense.stride * sizeof *dense.value);
    ikt_dense_destroy(&dense);
    rows_destroy(&r);
    return hash + (uint64_t)orphans;
}

static void bits_do_not_depend_on_ranks_or_threads(void **state) {
    const ikt_affinity *kinds[] = {&ikt_affinity_knn, &ikt_affinity_adaptive,
                                   &ikt_affinity_laplacian};
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    for (int k = 0; k < 3; k++)
        for (set what = SCATTERED; what < SETS; what++) {
            const uint64_t lists = hash_of_lists(alone, kinds[k], what);
            const uint64_t dense = hash_of_dense(alone, kinds[k], what);
            for (int threads = 1; threads <= 2; threads++) {
                ikt_context_set_threads(ctx, threads);
                assert_true(hash_of_lists(ctx, kinds[k], what) == lists);
                assert_true(hash_of_dense(ctx, kinds[k], what) == dense);
            }
        }
    ikt_context_destroy(&alone);
}

/* The lone row has only rows of the heaps as neighbours, whose widths are 0. */
static void a_lone_row_beside_heaps_is_counted_and_tied_to_its_nearest(void **state) {
    ikt_context *ctx = *state;
    rows r;
    ikt_neighbours lists;
    ikt_dense dense;
    int64_t in_lists = -1, in_dense = -1;
    rows_make(ctx, HEAPS, &r);
    make_lists(ctx, &ikt_affinity_adaptive, &r, &lists, &in_lists);
    assert_int_equal(ikt_dense_fill(ctx, &r.scorer, &dense), IKT_OK);
    assert_int_equal(ikt_affinity_adaptive.dense(ctx, &r.job, &dense, &in_dense), IKT_OK);
    assert_int_equal(in_lists, 1);
    assert_int_equal(in_dense, 1);
    const int64_t last = N - 1 - r.rows.first;
    for (int64_t e = 0; e < K && last >= 0 && last < r.rows.count; e++)
        assert_near((double)lists.score[last * K + e], e < M ? 1.0 / M : 0);
    ikt_dense_destroy(&dense);
    ikt_neighbours_destroy(&lists);
    rows_destroy(&r);
}

/* Widths of 1e-15 beside distances of 1e15: every similarity is far below the least number. */
static void similarities_too_small_for_a_number_are_normalised_all_the_same(void **state) {
    ikt_context *alone = ikt_test_alone();
    const ikt_rows six = ikt_rows_make(6, 1, 0);
    uint32_t row[12] = {1, 2, 0, 2, 0, 1, 4, 5, 3, 5, 3, 4};
    float score[12] = {1e-30f, 1e30f, 1e-30f, 2e30f, 1e30f, 3e30f, 1, 4, 1, 4, 4, 9};
    ikt_neighbours lists = {6, 2, row, score};
    const ikt_affinity_settings nearest = {.adaptive.neighbours = 1};
    const ikt_affinity_job job = {.settings = &nearest, .rows = &six};
    int64_t flat = -1;
    (void)state;
    assert_int_equal(ikt_affinity_adaptive.weigh(alone, &job, &lists, &flat), IKT_OK);
    assert_int_equal(flat, 0);
    for (int i = 0; i < 6; i++)
        assert_near((double)score[2 * i] + (double)score[2 * i + 1], 1);
    assert_true(score[0] == 1 && score[4] == 1); /* 1e60 : 3e60 in the exponent */
    assert_true(ikt_adaptive_exponent(0, 0, 0) == 0);
    assert_true(ikt_adaptive_exponent(4, 0, 9) == INFINITY);
    assert_true(ikt_adaptive_exponent(12, 4, 9) == 2);
    ikt_context_destroy(&alone);
}

/* --- settings --------------------------------------------------------------------------------- */

static void every_kind_stands_in_the_table_under_its_key(void **state) {
    ikt_affinity_settings some = settings;
    char names[256] = "", text[64];
    (void)state;
    for (some.kind = 0; some.kind < IKT_AFFINITIES; some.kind++) {
        if (some.kind > 0) strcat(names, "|");
        strcat(names, ikt_affinity_of(&some)->name);
    }
    assert_string_equal(ikt_affinity_section.keys[0].name, "kind");
    assert_string_equal(ikt_affinity_section.keys[0].choices, names);
    some.kind = IKT_AFFINITY_ADAPTIVE;
    ikt_affinity_describe(&some, text, sizeof text);
    assert_string_equal(text, "adaptive neighbours 5");
    some.kind = IKT_AFFINITY_KNN;
    ikt_affinity_describe(&some, text, sizeof text);
    assert_string_equal(text, "knn");
    some.kind = IKT_AFFINITY_LAPLACIAN;
    ikt_affinity_describe(&some, text, sizeof text);
    assert_string_equal(text, "laplacian perplexity 5");
}

static void automatic_neighbours_are_those_of_the_kind(void **state) {
    ikt_context *ctx = *state;
    ikt_affinity_settings s = {.kind = IKT_AFFINITY_KNN, .neighbours = IKT_AUTO_INT};
    int64_t k;
    assert_int_equal(ikt_affinity_resolve(ctx, &s, 1000, &k), IKT_OK);
    assert_int_equal(k, 30);
    assert_int_equal(ikt_affinity_resolve(ctx, &s, 20, &k), IKT_OK);
    assert_int_equal(k, 19);
    s.kind = IKT_AFFINITY_LAPLACIAN;
    s.gaussian.perplexity = 12.5;
    assert_int_equal(ikt_affinity_resolve(ctx, &s, 1000, &k), IKT_OK);
    assert_int_equal(k, 38);
    s.kind = IKT_AFFINITY_ADAPTIVE;
    s.adaptive.neighbours = 7;
    assert_int_equal(ikt_affinity_resolve(ctx, &s, 1000, &k), IKT_OK);
    assert_int_equal(k, 30);
    s.adaptive.neighbours = 20;
    assert_int_equal(ikt_affinity_resolve(ctx, &s, 1000, &k), IKT_OK);
    assert_int_equal(k, 60);
    ikt_affinity_shrink(&s, 12);
    assert_int_equal(s.adaptive.neighbours, 11);
    assert_int_equal(ikt_affinity_resolve(ctx, &s, 12, &k), IKT_OK);
}

static void contradicting_settings_are_refused(void **state) {
    ikt_context *ctx = *state;
    ikt_affinity_settings s = {.kind = IKT_AFFINITY_ADAPTIVE, .neighbours = 10, .adaptive = {11}};
    int64_t k;
    assert_int_equal(ikt_affinity_resolve(ctx, &s, 1000, &k), IKT_ERR_USAGE);
    assert_non_null(strstr(ikt_message(ctx), "adaptive.neighbours = 11"));
    assert_non_null(strstr(ikt_message(ctx), "10"));
    ikt_clear(ctx);
    s.support = IKT_SUPPORT_DENSE; /* all rows are looked at */
    assert_int_equal(ikt_affinity_resolve(ctx, &s, 1000, &k), IKT_OK);
    assert_int_equal(ikt_affinity_resolve(ctx, &s, 11, &k), IKT_ERR_USAGE);
    ikt_clear(ctx);
    s.kind = IKT_AFFINITY_KNN;
    assert_int_equal(ikt_affinity_resolve(ctx, &s, 10, &k), IKT_ERR_USAGE);
    assert_non_null(strstr(ikt_message(ctx), "affinity.neighbours = 10"));
    ikt_clear(ctx);
}

IKT_MPI_TESTS(ikt_test(weights_of_lists_are_those_of_the_kernels),
              ikt_test(a_dense_p_is_that_of_the_kernels),
              ikt_test(laplacian_weights_have_the_perplexity),
              ikt_test(a_dense_laplacian_p_is_that_of_all_rows),
              ikt_test(bits_do_not_depend_on_ranks_or_threads),
              ikt_test(a_lone_row_beside_heaps_is_counted_and_tied_to_its_nearest),
              ikt_test(similarities_too_small_for_a_number_are_normalised_all_the_same),
              ikt_test(every_kind_stands_in_the_table_under_its_key),
              ikt_test(automatic_neighbours_are_those_of_the_kind),
              ikt_test(contradicting_settings_are_refused))
