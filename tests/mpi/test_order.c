/* Renumbering: what leaves comes to its position, and comes back. */
#include "support/ikt_test.h"

#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "dist/order.h"

enum { ODD_BYTES = 150, STRIDE = 192 };

/* A permutation that every rank knows: the rows ranked by a keyed draw. */
static void draw_positions(int64_t n, uint32_t *position) {
    for (int64_t i = 0; i < n; i++) {
        uint64_t own = ikt_rng_u64(5, IKT_RNG_TEST, i, 0);
        position[i] = 0;
        for (int64_t k = 0; k < n; k++)
            position[i] += ikt_rng_u64(5, IKT_RNG_TEST, k, 0) < own;
    }
}

static unsigned char byte_of(int64_t row, int64_t b) {
    return (unsigned char)(row * 31 + b * 7);
}

static void make_order(ikt_context *ctx, int64_t n, uint32_t **all, ikt_order *order) {
    ikt_rows rows = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    assert_int_equal(ikt_alloc(ctx, all, n, sizeof **all, "test"), IKT_OK);
    draw_positions(n, *all);
    assert_int_equal(ikt_order_create(ctx, &rows, *all + rows.first, order), IKT_OK);
}

static const int64_t sizes[] = {1, 2, 5, 64, 333};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void rows_are_known_at_their_positions(void **state) {
    for (int s = 0; s < SIZES; s++) {
        uint32_t *position;
        ikt_order order;
        make_order(*state, sizes[s], &position, &order);
        for (int64_t i = 0; i < order.rows.count; i++)
            assert_int_equal(position[order.row[i]], order.rows.first + i);
        ikt_order_destroy(&order);
        ikt_free(&position);
        assert_int_equal(ikt_memory_now(*state), 0);
    }
}

/* Rows longer than a slice, in place, with bytes behind them that must not be touched. */
static void long_rows_travel_in_place_and_back(void **state) {
    for (int s = 0; s < SIZES; s++) {
        uint32_t *position;
        unsigned char *rows;
        ikt_order order;
        make_order(*state, sizes[s], &position, &order);
        int64_t count = order.rows.count, first = order.rows.first;
        assert_int_equal(ikt_alloc(*state, &rows, count * STRIDE, 1, "test"), IKT_OK);
        for (int64_t i = 0; i < count; i++)
            for (int64_t b = 0; b < STRIDE; b++)
                rows[i * STRIDE + b] = b < ODD_BYTES ? byte_of(first + i, b) : 0xEE;
        assert_int_equal(ikt_order_apply(*state, &order, rows, STRIDE, rows, STRIDE, ODD_BYTES),
                         IKT_OK);
        for (int64_t i = 0; i < count; i++)
            for (int64_t b = 0; b < STRIDE; b++)
                assert_int_equal(rows[i * STRIDE + b],
                                 b < ODD_BYTES ? byte_of(order.row[i], b) : 0xEE);
        assert_int_equal(ikt_order_restore(*state, &order, rows, STRIDE, rows, STRIDE, ODD_BYTES),
                         IKT_OK);
        for (int64_t i = 0; i < count; i++)
            for (int64_t b = 0; b < ODD_BYTES; b++)
                assert_int_equal(rows[i * STRIDE + b], byte_of(first + i, b));
        ikt_free(&rows);
        ikt_order_destroy(&order);
        ikt_free(&position);
    }
}

static void positions_of_a_few_rows_are_found_on_every_rank(void **state) {
    const int64_t n = 333, wanted[] = {0, 1, 77, 200, 332};
    int64_t found[5];
    uint32_t *position;
    ikt_order order;
    make_order(*state, n, &position, &order);
    ikt_order_find(*state, &order, wanted, 5, found);
    for (int e = 0; e < 5; e++)
        assert_int_equal(found[e], position[wanted[e]]);
    ikt_order_find(*state, &order, NULL, 0, NULL);
    ikt_order_destroy(&order);
    ikt_free(&position);
}

IKT_MPI_TESTS(ikt_test(rows_are_known_at_their_positions),
              ikt_test(long_rows_travel_in_place_and_back),
              ikt_test(positions_of_a_few_rows_are_found_on_every_rank))
