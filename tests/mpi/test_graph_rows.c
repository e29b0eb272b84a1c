/* Rows of differing length: their P, their symmetry, their way from order to order; over ranks. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "dist/order.h"
#include "graph/graph.h"

enum { N = 173, HUB = 41 };

/* Weight of an edge, as a pure function that every rank knows; 0: there is none. Row HUB knows all,
 * and one row in seven only the row after it. */
static double weight(int64_t row, int64_t column) {
    if (row == column) return 0;
    const double draw = ikt_rng_uniform(11, IKT_RNG_TEST, row, (uint64_t)column);
    if (row == HUB) return 1 / (double)(N - 1);
    if (row % 7 == 0) return column == (row + 1) % N ? 1 : 0;
    return draw < 0.06 || column == (row + 2) % N ? draw + 0.01 : 0;
}

/* Columns in no order that would suit anyone. N is prime, so that each comes once. */
static int64_t column_at(int64_t step) {
    return step * 61 % N;
}

static ikt_directed make_rows(ikt_context *ctx, const ikt_rows *distribution,
                              double (*of)(int64_t row, int64_t column)) {
    ikt_directed rows = {.n_local = distribution->count};
    int64_t used = 0;
    assert_int_equal(ikt_alloc(ctx, &rows.start, distribution->count + 1, sizeof *rows.start, "t"),
                     IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &rows.column, distribution->count * N, sizeof(uint32_t), "t"),
                     IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &rows.value, distribution->count * N, sizeof(float), "t"),
                     IKT_OK);
    for (int64_t i = 0; i < distribution->count; i++) {
        for (int64_t step = 0; step < N; step++) {
            const int64_t j = column_at(step);
            if (!(of(distribution->first + i, j) > 0)) continue;
            rows.column[used] = (uint32_t)j;
            rows.value[used++] = (float)of(distribution->first + i, j);
        }
        rows.start[i + 1] = used;
    }
    return rows;
}

static double row_sum(int64_t row) {
    double sum = 0;
    for (int64_t j = 0; j < N; j++)
        sum += weight(row, j);
    return sum;
}

static double conditional(int64_t row, int64_t column) {
    return weight(row, column) / row_sum(row);
}

static double value_of_p(const ikt_graph *graph, int64_t i, int64_t column) {
    const ikt_csr *parts[] = {&graph->forward, &graph->reverse};
    double sum = 0;
    for (int part = 0; part < 2; part++)
        for (int64_t e = parts[part]->start[i]; e < parts[part]->start[i + 1]; e++)
            if (ikt_graph_global(graph, parts[part]->column[e]) == column)
                sum += (double)ikt_csr_value(parts[part], e);
    return sum;
}

static void p_of_rows_with_hubs_is_the_half_sum(void **state) {
    ikt_context *ctx = *state;
    const ikt_rows distribution = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    ikt_directed rows = make_rows(ctx, &distribution, conditional);
    ikt_graph graph;
    assert_int_equal(ikt_graph_from_directed(ctx, &distribution, &rows, &graph), IKT_OK);
    assert_int_equal(ikt_graph_check(ctx, &graph), IKT_OK);
    for (int64_t i = 0; i < distribution.count; i++)
        for (int64_t j = 0; j < N; j++) {
            const double wanted =
                (conditional(distribution.first + i, j) + conditional(j, distribution.first + i)) /
                (2.0 * N);
            assert_true(fabs(value_of_p(&graph, i, j) - wanted) <= 2e-7 * wanted);
        }
    ikt_graph_destroy(&graph);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* --- symmetry --------------------------------------------------------------------------------- */

static double symmetric(int64_t row, int64_t column) {
    return weight(row, column) + weight(column, row);
}

static double without_one(int64_t row, int64_t column) {
    return row == 60 && column == HUB ? 0 : symmetric(row, column);
}

static double with_another(int64_t row, int64_t column) {
    return symmetric(row, column) * (row == HUB && column == 100 ? 1.001 : 1);
}

static ikt_status check(ikt_context *ctx, double (*of)(int64_t row, int64_t column)) {
    const ikt_rows distribution = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    ikt_directed rows = make_rows(ctx, &distribution, of);
    assert_int_equal(ikt_directed_sort(ctx, &rows), IKT_OK);
    ikt_status st = ikt_directed_check_symmetric(ctx, &distribution, &rows, 1e-4, 1, "graph");
    ikt_directed_destroy(&rows);
    assert_int_equal(ikt_memory_now(ctx), 0);
    return st;
}

static void pairs_that_differ_are_named_by_the_first_row(void **state) {
    ikt_context *ctx = *state;
    assert_int_equal(check(ctx, symmetric), IKT_OK);
    assert_int_equal(check(ctx, without_one), IKT_ERR_DATA);
    assert_non_null(strstr(ikt_message(ctx), "row 60, column 41 holds 0"));
    ikt_clear(ctx);
    assert_int_equal(check(ctx, with_another), IKT_ERR_DATA);
    assert_non_null(strstr(ikt_message(ctx), "row 41, column 100"));
    ikt_clear(ctx);
    assert_int_equal(check(ctx, conditional), IKT_ERR_DATA);
    ikt_clear(ctx);
}

/* --- orders ----------------------------------------------------------------------------------- */

static uint32_t position_of(int64_t row) {
    return (uint32_t)(row * 100 % N); /* N is prime */
}

static void own_positions(const ikt_rows *rows, uint32_t *position) {
    for (int64_t i = 0; i < rows->count; i++)
        position[i] = position_of(rows->first + i);
}

static void rows_of_any_length_travel_and_come_back(void **state) {
    ikt_context *ctx = *state;
    const ikt_rows distribution = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    uint32_t position[N], *moved, *back;
    int64_t to[N + 1], again[N + 1];
    ikt_order order;
    own_positions(&distribution, position);
    ikt_directed rows = make_rows(ctx, &distribution, weight);
    assert_int_equal(ikt_order_create(ctx, &distribution, position, &order), IKT_OK);
    assert_int_equal(ikt_redistribute_starts(ctx, &order, IKT_TO_SLOTS, rows.start, to), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &moved, to[distribution.count], 4, "t"), IKT_OK);
    assert_int_equal(
        ikt_redistribute_entries(ctx, &order, IKT_TO_SLOTS, rows.start, rows.column, to, moved),
        IKT_OK);
    for (int64_t i = 0; i < distribution.count; i++) {
        int64_t e = to[i];
        for (int64_t step = 0; step < N; step++)
            if (weight(order.row[i], column_at(step)) > 0)
                assert_int_equal(moved[e++], column_at(step));
        assert_int_equal(e, to[i + 1]);
    }
    assert_int_equal(ikt_redistribute_starts(ctx, &order, IKT_TO_ROWS, to, again), IKT_OK);
    assert_memory_equal(again, rows.start, (size_t)(distribution.count + 1) * sizeof *again);
    assert_int_equal(ikt_alloc(ctx, &back, again[distribution.count], 4, "t"), IKT_OK);
    assert_int_equal(ikt_redistribute_entries(ctx, &order, IKT_TO_ROWS, to, moved, again, back),
                     IKT_OK);
    assert_memory_equal(back, rows.column, (size_t)again[distribution.count] * 4);
    ikt_free(&moved);
    ikt_free(&back);
    ikt_order_destroy(&order);
    ikt_directed_destroy(&rows);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void numbers_get_new_names(void **state) {
    ikt_context *ctx = *state;
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    uint32_t position[N], number[3 * N];
    own_positions(&rows, position);
    for (int64_t e = 0; e < 3 * N; e++)
        number[e] = (uint32_t)(e * e % N);
    assert_int_equal(ikt_translate_indices(ctx, &rows, position, number, 3 * N), IKT_OK);
    for (int64_t e = 0; e < 3 * N; e++)
        assert_int_equal(number[e], position_of(e * e % N));
    assert_int_equal(ikt_translate_indices(ctx, &rows, position, number, 0), IKT_OK);
}

static void only_permutations_are_permutations(void **state) {
    ikt_context *ctx = *state;
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    const bool is_mine = rows.first <= 99 && 99 < rows.first + rows.count;
    const uint32_t wrong[] = {position_of(3), N, UINT32_MAX};
    uint32_t position[N];
    bool is_one;
    own_positions(&rows, position);
    assert_int_equal(ikt_permutation_check(ctx, &rows, position, &is_one), IKT_OK);
    assert_true(is_one);
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        if (is_mine) position[99 - rows.first] = wrong[w];
        assert_int_equal(ikt_permutation_check(ctx, &rows, position, &is_one), IKT_OK);
        assert_false(is_one);
    }
}

IKT_MPI_TESTS(ikt_test(p_of_rows_with_hubs_is_the_half_sum),
              ikt_test(pairs_that_differ_are_named_by_the_first_row),
              ikt_test(rows_of_any_length_travel_and_come_back), ikt_test(numbers_get_new_names),
              ikt_test(only_permutations_are_permutations))
