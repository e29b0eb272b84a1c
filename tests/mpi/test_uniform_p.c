/* P of uniform weights: bits in place of values, and the same numbers, over ranks. */
#include "support/ikt_test.h"

#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "objective/attraction.h"
#include "support/graph_hash.h"
#include "support/symmetrise.h"

enum { N = 211, K = 9, DIMENSIONS = 2 };

/* The e-th of the K other rows in the list of a row: some have each other, others not. */
static int64_t listed(int64_t row, int64_t e) {
    return (row + (e < 4 ? e + 1 : e < 7 ? N - e + 3 : 17 * e + row % 5)) % N;
}

static bool has(int64_t row, int64_t other) {
    for (int64_t e = 0; e < K; e++)
        if (listed(row, e) == other) return true;
    return false;
}

/* COLLECTIVE. P of lists with the weight 1 / K, but for one entry of the last row. */
static void make(ikt_context *ctx, float of_last, ikt_rows *rows, ikt_graph *graph) {
    ikt_neighbours lists;
    *rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    assert_int_equal(ikt_neighbours_create(ctx, rows, K, &lists), IKT_OK);
    for (int64_t i = 0; i < rows->count; i++)
        for (int64_t e = 0; e < K; e++) {
            const bool is_last = rows->first + i == N - 1 && e == 2;
            lists.row[i * K + e] = (uint32_t)listed(rows->first + i, e);
            lists.score[i * K + e] = is_last ? of_last : 1 / (float)K;
        }
    assert_int_equal(ikt_test_symmetrise(ctx, rows, &lists, graph), IKT_OK);
}

/* Every entry is 1 / (2 N K), or twice that of two rows that have each other. */
static void uniform_weights_need_no_values(void **state) {
    ikt_context *ctx = *state;
    const float once = (float)((double)(1 / (float)K) / (2.0 * N));
    ikt_rows rows;
    ikt_graph graph;
    int64_t twice = 0, entries = 0;
    make(ctx, 1 / (float)K, &rows, &graph);
    const ikt_csr *const parts[] = {&graph.forward, &graph.reverse};
    for (int p = 0; p < 2; p++) {
        assert_null(parts[p]->value);
        for (int64_t i = 0; i < rows.count; i++)
            for (int64_t e = parts[p]->start[i]; e < parts[p]->start[i + 1]; e++) {
                const int64_t row = rows.first + i;
                const int64_t other = ikt_graph_global(&graph, parts[p]->column[e]);
                const bool are_mutual = has(row, other) && has(other, row);
                assert_true(has(row, other) || has(other, row));
                assert_true(ikt_csr_value(parts[p], e) == (are_mutual ? 2 * once : once));
                twice += are_mutual;
                entries++;
            }
    }
    assert_int_equal(ikt_graph_check(ctx, &graph), IKT_OK);
    twice = ikt_sum_one(ctx, twice);
    entries = ikt_sum_one(ctx, entries);
    assert_int_equal(entries + twice, 2 * N * K); /* each listed row counts at both ends */
    assert_in_range(twice, N, N * K);
    ikt_graph_destroy(&graph);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* Rows of the first third have each other in pairs, all others one before them: where there are
 * several ranks, some hold nothing but what is twice the least value of others. */
static void ranks_differ_in_their_least_value(void **state) {
    enum { PAIRED = 70 };
    ikt_context *ctx = *state;
    const float once = (float)(1.0 / (2.0 * N));
    ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    ikt_neighbours lists;
    ikt_graph graph;
    assert_int_equal(ikt_neighbours_create(ctx, &rows, 1, &lists), IKT_OK);
    for (int64_t i = 0; i < rows.count; i++) {
        const int64_t row = rows.first + i;
        lists.row[i] = (uint32_t)(row < PAIRED ? row ^ 1 : row == PAIRED ? N - 1 : row - 1);
        lists.score[i] = 1;
    }
    assert_int_equal(ikt_test_symmetrise(ctx, &rows, &lists, &graph), IKT_OK);
    for (int64_t i = 0; i < rows.count; i++)
        for (int64_t e = graph.forward.start[i]; e < graph.forward.start[i + 1]; e++)
            assert_true(ikt_csr_value(&graph.forward, e) ==
                        (rows.first + i < PAIRED ? 2 * once : once));
    assert_int_equal(ikt_graph_check(ctx, &graph), IKT_OK);
    ikt_graph_destroy(&graph);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* One entry, of rows 2 and N - 1, which have each other, is enough in the parts that hold it. */
static void other_weights_keep_their_values(void **state) {
    ikt_context *ctx = *state;
    const float others[] = {0.5F / (float)K, 1.0001F / (float)K, 4 / (float)K};
    for (size_t o = 0; o < sizeof others / sizeof *others; o++) {
        ikt_rows rows;
        ikt_graph graph;
        make(ctx, others[o], &rows, &graph);
        const bool has_other = ikt_is_own(&rows, 2) || ikt_is_own(&rows, N - 1);
        assert_int_equal(graph.forward.value != NULL, has_other);
        assert_int_equal(graph.forward.twice == NULL, has_other);
        assert_null(graph.reverse.value);
        ikt_graph_destroy(&graph);
        assert_int_equal(ikt_memory_now(ctx), 0);
    }
}

/* LOCAL. Values in place of the bits of a part. */
static void keep_values(ikt_context *ctx, ikt_csr *part, int64_t entries) {
    float *value;
    assert_int_equal(ikt_alloc(ctx, &value, entries, sizeof *value, "graph"), IKT_OK);
    for (int64_t e = 0; e < entries; e++)
        value[e] = ikt_csr_value(part, e);
    part->value = value;
    ikt_free(&part->twice);
}

/* Attraction along P, with its value: own rows and ghosts stand where their numbers say. */
static double attract(ikt_context *ctx, const ikt_graph *graph, const ikt_pair_weight *pair,
                      float *force) {
    const int64_t all = graph->rows.count + graph->n_ghost;
    ikt_pair_totals totals = {{{0}, 0, 0}, {{0}, 0, 0}};
    float *y;
    assert_int_equal(ikt_alloc(ctx, &y, DIMENSIONS * all, sizeof *y, "test"), IKT_OK);
    for (int64_t i = 0; i < all; i++)
        for (int c = 0; c < DIMENSIONS; c++)
            y[DIMENSIONS * i + c] = (float)ikt_rng_uniform(
                3, IKT_RNG_TEST, ikt_graph_global(graph, (int32_t)i), (uint64_t)c);
    ikt_attraction(ctx, graph, DIMENSIONS, pair, y, force, &totals);
    ikt_free(&y);
    ikt_exact_sum_reduce(ctx, &totals.value, 1);
    return ikt_exact_sum_value(&totals.value);
}

static void values_and_bits_give_the_same_map(void **state) {
    static const ikt_pair_weight pairs[] = {{IKT_PAIR_TSNE, 0, 0, 0},
                                            {IKT_PAIR_JSE, 3e3F, 0, 9e3F},
                                            {IKT_PAIR_CURVE, 0.4555F, 0.8951F, 4}};
    static float without[DIMENSIONS * N], with[DIMENSIONS * N];
    ikt_context *ctx = *state;
    ikt_rows rows;
    ikt_graph bits, values;
    make(ctx, 1 / (float)K, &rows, &bits);
    make(ctx, 1 / (float)K, &rows, &values);
    keep_values(ctx, &values.forward, values.forward.start[rows.count]);
    keep_values(ctx, &values.reverse, values.reverse.start[rows.count]);
    assert_true(ikt_test_graph_hash(ctx, &bits) == ikt_test_graph_hash(ctx, &values));
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        const double a = attract(ctx, &bits, &pairs[k], without);
        const double b = attract(ctx, &values, &pairs[k], with);
        assert_true(a == b);
        assert_memory_equal(without, with, (size_t)(DIMENSIONS * rows.count) * sizeof *with);
    }
    ikt_graph_destroy(&bits);
    ikt_graph_destroy(&values);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* One number and twice that, and what lies below, between and above. */
static void only_a_number_and_twice_that_lose_their_values(void **state) {
    static const struct {
        float value[3];
        bool is_dropped;
    } parts[] = {{{1, 2, 1}, true},     {{2, 1, 2}, true},  {{3, 3, 3}, true},
                 {{1, 1.5f, 2}, false}, {{1, 3, 1}, false}, {{1, 3, 2}, false}};
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        ikt_csr part = {.value = NULL};
        assert_int_equal(ikt_alloc(*state, &part.value, 3, sizeof *part.value, "graph"), IKT_OK);
        memcpy(part.value, parts[p].value, sizeof parts[p].value);
        assert_int_equal(ikt_csr_drop_values(*state, &part, 3), IKT_OK);
        assert_int_equal(part.value == NULL, parts[p].is_dropped);
        for (int64_t e = 0; e < 3; e++)
            assert_true(ikt_csr_value(&part, e) == parts[p].value[e]);
        ikt_free_all(&part.value, &part.twice);
    }
}

IKT_MPI_TESTS(ikt_test(uniform_weights_need_no_values),
              ikt_test(only_a_number_and_twice_that_lose_their_values),
              ikt_test(other_weights_keep_their_values),
              ikt_test(ranks_differ_in_their_least_value),
              ikt_test(values_and_bits_give_the_same_map))
