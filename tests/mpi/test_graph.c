/* Neighbours, affinities and P against plain double references, over ranks. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "affinity/affinity.h"
#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "graph/graph.h"
#include "support/graph_hash.h"
#include "support/neighbour_lists.h"
#include "support/symmetrise.h"

enum { N = 150, T = 12, PSI = 6, K = 7 };

/* A scorer on plain code arrays: every rank can make every code. */
static int cell(int64_t row, int64_t partitioning) {
    return (int)ikt_rng_below(9, IKT_RNG_TEST, row, (uint64_t)partitioning, PSI);
}

static int differing(int64_t a, int64_t b) {
    int sum = 0;
    for (int p = 0; p < T; p++)
        sum += cell(a, p) != cell(b, p);
    return sum;
}

/* Rows that are their own numbers. */
static int64_t packed_bytes(const ikt_scorer *scorer, int64_t count) {
    return count * scorer->row_bytes;
}

static void score(const ikt_scorer *scorer, const void *plain, int64_t na, const void *packed,
                  int64_t nb, float *out) {
    (void)scorer;
    for (int64_t a = 0; a < na; a++)
        for (int64_t b = 0; b < nb; b++)
            out[a * ikt_score_stride(nb) + b] =
                (float)differing(((const int64_t *)plain)[a], ((const int64_t *)packed)[b]);
}

static ikt_scorer test_scorer(const ikt_rows *rows) {
    static int64_t number[N];
    for (int64_t i = 0; i < rows->count; i++)
        number[i] = rows->first + i;
    return (ikt_scorer){.rows = *rows,
                        .plain = number,
                        .row_bytes = sizeof *number,
                        .packed_bytes = packed_bytes,
                        .score = score};
}

/* The reference: all pairs sorted by (score, row). */
static void reference_lists(int64_t n, int64_t row, int64_t *best) {
    int8_t taken[N] = {0};
    taken[row] = 1;
    for (int e = 0; e < K; e++) {
        int64_t least = -1;
        for (int64_t j = 0; j < n; j++)
            if (!taken[j] && (least < 0 || differing(row, j) < differing(row, least))) least = j;
        taken[least] = 1;
        best[e] = least;
    }
}

static void brute_force_finds_the_k_best_with_ties_by_row(void **state) {
    ikt_context *ctx = *state;
    ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    ikt_scorer scorer = test_scorer(&rows);
    ikt_neighbours lists;
    assert_int_equal(exact_lists(ctx, &scorer, K, &lists), IKT_OK);
    for (int64_t i = 0; i < rows.count; i++) {
        int64_t best[K];
        reference_lists(N, rows.first + i, best);
        for (int e = 0; e < K; e++) {
            assert_int_equal(lists.row[i * K + e], best[e]);
            assert_true(lists.score[i * K + e] == (float)differing(rows.first + i, best[e]));
        }
    }
    ikt_neighbours_destroy(&lists);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static int64_t row_length(const ikt_graph *graph, int64_t i) {
    return graph->forward.start[i + 1] - graph->forward.start[i] + graph->reverse.start[i + 1] -
           graph->reverse.start[i];
}

/* Global column and value of the e-th entry of a row, forward ones first. */
static int64_t entry_of(const ikt_graph *graph, int64_t i, int64_t e, float *value) {
    const ikt_csr *part = &graph->forward;
    int64_t forward = part->start[i + 1] - part->start[i];
    if (e >= forward) {
        part = &graph->reverse;
        e -= forward;
    }
    *value = ikt_csr_value(part, part->start[i] + e);
    return ikt_graph_global(graph, part->column[part->start[i] + e]);
}

static void p_is_symmetric_and_sums_to_one(void **state) {
    ikt_context *ctx = *state;
    ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    ikt_scorer scorer = test_scorer(&rows);
    ikt_neighbours lists;
    ikt_graph graph;
    assert_int_equal(exact_lists(ctx, &scorer, K, &lists), IKT_OK);
    assert_int_equal(ikt_isolation_weights(ctx, &lists, T, lists.score), 0);
    assert_int_equal(ikt_test_symmetrise(ctx, &rows, &lists, &graph), IKT_OK);
    assert_int_equal(ikt_graph_check(ctx, &graph), IKT_OK);

    /* p_ij = (p_j|i + p_i|j) / 2n, from the reference lists of both rows. */
    for (int64_t i = 0; i < rows.count; i++) {
        int64_t row = rows.first + i;
        for (int64_t e = 0; e < row_length(&graph, i); e++) {
            float value;
            int64_t ends[2] = {row, entry_of(&graph, i, e, &value)};
            double expected = 0;
            for (int side = 0; side < 2; side++) {
                int64_t best[K], total = 0, similar = 0;
                reference_lists(N, ends[side], best);
                for (int b = 0; b < K; b++) {
                    total += T - differing(ends[side], best[b]);
                    if (best[b] == ends[1 - side]) similar = T - differing(ends[0], ends[1]);
                }
                expected += (double)similar / (double)total / (2.0 * N);
            }
            assert_true(fabs((double)value - expected) < 1e-6 * expected);
        }
    }
    ikt_graph_destroy(&graph);
    ikt_neighbours_destroy(&lists);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* Builds P on the ranks of a context and returns its checksum. */
static uint64_t hash_of_p(ikt_context *ctx, int64_t n) {
    ikt_rows rows = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    ikt_scorer scorer = test_scorer(&rows);
    ikt_neighbours lists;
    ikt_graph graph;
    int64_t k = n - 1 < K ? n - 1 : K;
    assert_int_equal(exact_lists(ctx, &scorer, k, &lists), IKT_OK);
    ikt_isolation_weights(ctx, &lists, T, lists.score);
    assert_int_equal(ikt_test_symmetrise(ctx, &rows, &lists, &graph), IKT_OK);
    uint64_t hash = ikt_test_graph_hash(ctx, &graph);
    ikt_graph_destroy(&graph);
    ikt_neighbours_destroy(&lists);
    return hash;
}

static void p_does_not_depend_on_the_ranks(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    const int64_t sizes[] = {3, 5, 40, N}; /* fewer rows than ranks, too */
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        assert_true(hash_of_p(ctx, sizes[s]) == hash_of_p(alone, sizes[s]));
    ikt_context_destroy(&alone);
}

/* p_j|i of squared distances by bisection with the C library's exponential. */
static void weigh_plainly(const float *squared, int count, double perplexity, double *weight) {
    double low = 0, high = 1e3, least = INFINITY, total = 0;
    for (int e = 0; e < count; e++)
        least = fmin(least, (double)squared[e]);
    for (int step = 0; step < 200; step++) {
        const double beta = (low + high) / 2;
        double mean = 0;
        total = 0;
        for (int e = 0; e < count; e++) {
            weight[e] = exp(-beta * ((double)squared[e] - least));
            total += weight[e];
            mean += weight[e] * ((double)squared[e] - least);
        }
        if (log(total) + beta * mean / total > log(perplexity))
            low = beta;
        else
            high = beta;
    }
    for (int e = 0; e < count; e++)
        weight[e] /= total;
}

static void gaussian_rows_have_the_wanted_perplexity(void **state) {
    ikt_context *ctx = *state;
    enum { ROWS = 4, M = 60 };
    float score[ROWS * M], weight[ROWS * M];
    uint32_t row[ROWS * M];
    for (int e = 0; e < ROWS * M; e++) {
        row[e] = (uint32_t)e;
        score[e] = (float)(pow(10, 3 * (e / M)) *
                           (1 + ikt_rng_uniform(4, IKT_RNG_TEST, e, 0))); /* scales 1 .. 10^9 */
    }
    ikt_neighbours lists = {ROWS, M, row, score};
    ikt_gaussian_weights(ctx, &lists, 20, weight);
    for (int i = 0; i < ROWS; i++) {
        double total = 0, entropy = 0;
        for (int e = i * M; e < (i + 1) * M; e++) {
            total += (double)weight[e];
            if (weight[e] > 0) entropy -= (double)weight[e] * log((double)weight[e]);
        }
        assert_true(fabs(total - 1) < 1e-5);
        assert_true(fabs(exp(entropy) - 20) < 1e-3);
        double plain[M];
        weigh_plainly(score + i * M, M, 20, plain);
        for (int e = 0; e < M; e++)
            assert_true(fabs((double)weight[i * M + e] - plain[e]) < 1e-5 * plain[e] + 1e-9);
    }
    for (int e = 0; e < M; e++)
        score[e] = 3; /* all equally far */
    ikt_gaussian_weights(ctx, &lists, 20, weight);
    for (int e = 0; e < M; e++)
        assert_true(fabs((double)weight[e] - 1.0 / M) < 1e-7);
}

static void impossible_settings_are_refused(void **state) {
    ikt_context *ctx = *state;
    ikt_affinity_settings settings = {
        .kind = IKT_AFFINITY_ISOLATION, .neighbours = 100, .support = IKT_SUPPORT_SPARSE};
    settings.gaussian.perplexity = 30;
    int64_t k;
    assert_int_equal(ikt_affinity_resolve(ctx, &settings, 100, &k), IKT_ERR_USAGE);
    assert_non_null(strstr(ikt_message(ctx), "affinity.neighbours = 100"));
    ikt_clear(ctx);
    settings.neighbours = IKT_AUTO_INT;
    assert_int_equal(ikt_affinity_resolve(ctx, &settings, 20, &k), IKT_OK);
    assert_int_equal(k, 19);
    settings.kind = IKT_AFFINITY_GAUSSIAN;
    assert_int_equal(ikt_affinity_resolve(ctx, &settings, 1000, &k), IKT_OK);
    assert_int_equal(k, 90);
    settings.gaussian.perplexity = 25;
    assert_int_equal(ikt_affinity_resolve(ctx, &settings, 20, &k), IKT_ERR_USAGE);
    assert_non_null(strstr(ikt_message(ctx), "perplexity"));
    ikt_clear(ctx);
    assert_int_equal(ikt_affinity_resolve(ctx, &settings, 1, &k), IKT_ERR_DATA);
}

IKT_MPI_TESTS(ikt_test(brute_force_finds_the_k_best_with_ties_by_row),
              ikt_test(p_is_symmetric_and_sums_to_one), ikt_test(p_does_not_depend_on_the_ranks),
              ikt_test(gaussian_rows_have_the_wanted_perplexity),
              ikt_test(impossible_settings_are_refused))
