/* UMAP's weights and their union: against umap-learn's numbers, against a plain double reference,
 * and over ranks.
 *
 * Rows have small integers as coordinates: squared distances are exact, many are equal, and some
 * rows coincide. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "affinity/affinity.h"
#include "base/memory.h"
#include "base/rng.h"
#include "graph/graph.h"
#include "support/graph_hash.h"
#include "support/neighbour_lists.h"

enum { N = 90, D = 3, K = 12 };

/* --- rho and sigma of a row ------------------------------------------------------------------- */

/* What umap-learn 0.5.12 finds: smooth_knn_dist(distances, k), the row itself at distance 0 before
 * the roots of these. */
static const struct {
    float squared[8];
    double rho, sigma;
} rows_of_umap_learn[] = {
    {{1, 2, 2, 3, 5, 8, 9, 12}, 1, 0.785186768},
    {{0, 0, 0, 1, 4, 9, 16, 25}, 1, 0.00166666671},
    {{4, 4, 4, 4, 4, 4, 4, 4}, 2, 0.0017777778},
    {{7, 7, 7, 7, 7, 7, 8, 50}, 2.64575124, 0.00286377803},
    {{0.01f, 100, 100, 101, 102, 103, 104, 105}, 0.1, 7.98687744},
    {{1, 1.0001f, 1.0002f, 1.0003f, 1.0004f, 1.0005f, 1.0006f, 1.0007f}, 1, 0.00088904443}};

static void rows_are_fitted_as_umap_learn_does(void **state) {
    (void)state;
    for (size_t r = 0; r < sizeof rows_of_umap_learn / sizeof *rows_of_umap_learn; r++) {
        const ikt_fuzzy_row row = ikt_fuzzy_fit(rows_of_umap_learn[r].squared, 8, log2(8));
        assert_true(fabs(row.rho - rows_of_umap_learn[r].rho) <= 1e-6 * row.rho);
        assert_true(fabs(row.sigma - rows_of_umap_learn[r].sigma) <= 2e-5 * row.sigma);
    }
    const float same[4] = {0, 0, 0, 0};
    const ikt_fuzzy_row row = ikt_fuzzy_fit(same, 4, 2);
    assert_true(row.rho == 0 && row.sigma > 0);
}

/* --- P, against a plain reference ------------------------------------------------------------- */

static int coordinate(int64_t row, int64_t c) {
    return (int)ikt_rng_below(9, IKT_RNG_TEST, row / 2 * 2, (uint64_t)c, 8) + (c == 0 && row % 3);
}

static double squared(int64_t a, int64_t b) {
    int sum = 0;
    for (int64_t c = 0; c < D; c++)
        sum += (coordinate(a, c) - coordinate(b, c)) * (coordinate(a, c) - coordinate(b, c));
    return sum;
}

/* The K nearest rows, ties to the lower one. */
static void nearest(int64_t i, int64_t row[K]) {
    bool taken[N] = {false};
    taken[i] = true;
    for (int e = 0; e < K; e++) {
        int64_t least = -1;
        for (int64_t j = 0; j < N; j++)
            if (!taken[j] && (least < 0 || squared(i, j) < squared(i, least))) least = j;
        taken[least] = true;
        row[e] = least;
    }
}

/* sigma by halving the interval in which the sum of the weights crosses log2(K), to the last bit.
 */
static void weigh_plainly(int64_t i, double weight[N]) {
    int64_t row[K];
    double rho = 1e9, mean = 0, low = 1e-12, high = 1e6;
    nearest(i, row);
    for (int e = 0; e < K; e++) {
        const double d = sqrt(squared(i, row[e]));
        if (d > 0 && d < rho) rho = d;
        mean += d / (K + 1);
    }
    for (int step = 0; step < 500; step++) {
        const double sigma = sqrt(low * high);
        double sum = 0;
        for (int e = 0; e < K; e++) {
            const double above = sqrt(squared(i, row[e])) - rho;
            sum += above > 0 ? exp(-above / sigma) : 1;
        }
        if (sum > log(K) / log(2))
            high = sigma;
        else
            low = sigma;
    }
    const double sigma = low > 1e-3 * mean ? low : 1e-3 * mean;
    for (int64_t j = 0; j < N; j++)
        weight[j] = 0;
    for (int e = 0; e < K; e++) {
        const double above = sqrt(squared(i, row[e])) - rho;
        weight[row[e]] = above > 0 ? exp(-above / sigma) : 1;
    }
}

static double weight[N][N], united[N][N];

static double unite_plainly(void) {
    double total = 0;
    for (int64_t i = 0; i < N; i++)
        weigh_plainly(i, weight[i]);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            united[i][j] = 1 - (1 - weight[i][j]) * (1 - weight[j][i]);
            total += united[i][j];
        }
    return total;
}

typedef struct {
    ikt_rows rows;
    float *x;
    ikt_graph graph;
} made;

static void make(ikt_context *ctx, made *m) {
    const ikt_affinity_settings settings = {.kind = IKT_AFFINITY_FUZZY};
    ikt_neighbours lists;
    ikt_directed directed;
    int64_t orphans = -1;
    memset(m, 0, sizeof *m);
    m->rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    assert_int_equal(ikt_alloc(ctx, &m->x, m->rows.count * D, sizeof *m->x, "test"), IKT_OK);
    for (int64_t e = 0; e < m->rows.count * D; e++)
        m->x[e] = (float)coordinate(m->rows.first + e / D, e % D);
    const ikt_scorer scorer = ikt_scorer_rows(&ikt_metric_euclidean, m->x, D, &m->rows);
    const ikt_affinity_job job = {.settings = &settings, .k = K, .rows = &m->rows};
    assert_int_equal(exact_lists(ctx, &scorer, K, &lists), IKT_OK);
    assert_int_equal(ikt_affinity_fuzzy.weigh(ctx, &job, &lists, &orphans), IKT_OK);
    assert_int_equal(orphans, 0);
    assert_int_equal(ikt_directed_from_lists(ctx, &lists, &directed), IKT_OK);
    directed.symmetry = ikt_affinity_fuzzy.symmetry;
    assert_int_equal(ikt_graph_from_directed(ctx, &m->rows, &directed, &m->graph), IKT_OK);
    assert_int_equal(ikt_graph_check(ctx, &m->graph), IKT_OK);
}

static void unmake(made *m) {
    ikt_graph_destroy(&m->graph);
    ikt_free(&m->x);
}

static void p_is_the_union_of_both_directions_divided_by_its_total(void **state) {
    ikt_context *ctx = *state;
    const double total = unite_plainly();
    made m;
    make(ctx, &m);
    const ikt_csr *const parts[] = {&m.graph.forward, &m.graph.reverse};
    for (int64_t i = 0; i < m.rows.count; i++) {
        const int64_t row = m.rows.first + i;
        double left[N];
        memcpy(left, united[row], sizeof left);
        for (int p = 0; p < 2; p++)
            for (int64_t e = parts[p]->start[i]; e < parts[p]->start[i + 1]; e++) {
                const int64_t j = ikt_graph_global(&m.graph, parts[p]->column[e]);
                const double expected = left[j] / total;
                /* sigma is found to 1e-5 of the sum: small weights have lost a digit more */
                assert_true(fabs((double)ikt_csr_value(parts[p], e) - expected) <= 5e-5 / total);
                assert_true(fabs((double)ikt_csr_value(parts[p], e) - expected) <= 1e-2 * expected);
                left[j] = 0;
            }
        for (int64_t j = 0; j < N; j++) /* what is not there is nothing that a float could hold */
            assert_true(left[j] < 1e-30);
    }
    unmake(&m);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void bits_do_not_depend_on_ranks_or_threads(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    made m;
    make(alone, &m);
    const uint64_t hash = ikt_test_graph_hash(alone, &m.graph);
    unmake(&m);
    for (int threads = 1; threads <= 2; threads++) {
        ikt_context_set_threads(ctx, threads);
        make(ctx, &m);
        assert_true(ikt_test_graph_hash(ctx, &m.graph) == hash);
        unmake(&m);
    }
    ikt_context_destroy(&alone);
}

/* --- settings --------------------------------------------------------------------------------- */

static void what_makes_no_sense_is_refused_with_the_reason(void **state) {
    ikt_context *ctx = *state;
    ikt_affinity_settings s = {.kind = IKT_AFFINITY_FUZZY, .neighbours = IKT_AUTO_INT};
    int64_t k = 0;
    assert_int_equal(ikt_affinity_resolve(ctx, &s, N, &k), IKT_OK);
    assert_int_equal(k, 15);
    s.neighbours = 1;
    assert_int_equal(ikt_affinity_resolve(ctx, &s, N, &k), IKT_ERR_USAGE);
    assert_non_null(strstr(ikt_message(ctx), "log2(neighbours)"));
    ikt_clear(ctx);
}

IKT_MPI_TESTS(ikt_test(rows_are_fitted_as_umap_learn_does),
              ikt_test(p_is_the_union_of_both_directions_divided_by_its_total),
              ikt_test(bits_do_not_depend_on_ranks_or_threads),
              ikt_test(what_makes_no_sense_is_refused_with_the_reason))
