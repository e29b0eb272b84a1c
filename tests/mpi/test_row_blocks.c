/* Rows in blocks of any sizes: every rank reads any range, whatever the others read. */
#include "support/ikt_test.h"

#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "dist/row_blocks.h"

enum { WIDTH = 3 };

/* Blocks of 0 to 9 rows; none at all on every third rank, and on all but one for `lone`. */
static int64_t rows_of(int rank, int round, int lone) {
    if (lone >= 0) return rank == lone ? 37 : 0;
    return (rank + round) % 3 == 2 ? 0 : (int64_t)(7 * rank + 5 * round) % 10;
}

static void fill(int32_t *rows, int64_t first, int64_t count) {
    for (int64_t e = 0; e < count * WIDTH; e++)
        rows[e] = (int32_t)(first * WIDTH + e);
}

static void read_and_compare(ikt_context *ctx, ikt_row_blocks *blocks, const int32_t *own,
                             int64_t first, int64_t count) {
    int32_t *rows = NULL;
    assert_int_equal(ikt_alloc(ctx, &rows, count * WIDTH, sizeof *rows, "test"), IKT_OK);
    assert_int_equal(ikt_row_blocks_read(ctx, blocks, own, WIDTH * sizeof *own, first, count, rows),
                     IKT_OK);
    for (int64_t e = 0; e < count * WIDTH; e++)
        assert_int_equal(rows[e], first * WIDTH + e);
    ikt_free(&rows);
}

/* A range that differs from rank to rank and from time to time; empty ones among them. */
static void any_range(const ikt_row_blocks *blocks, int rank, int time, int64_t *first,
                      int64_t *count) {
    *first = ikt_rng_below(1, IKT_RNG_TEST, rank, 2 * (uint64_t)time, blocks->n + 1);
    *count = ikt_rng_below(1, IKT_RNG_TEST, rank, 2 * (uint64_t)time + 1, blocks->n - *first + 1);
}

static void try_blocks(ikt_context *ctx, int round, int lone, int64_t round_bytes) {
    const int64_t count = rows_of(ikt_rank(ctx), round, lone);
    ikt_row_blocks blocks;
    int32_t *own = NULL;
    assert_int_equal(ikt_row_blocks_create(ctx, count, &blocks), IKT_OK);
    assert_int_equal(blocks.n, ikt_sum_one(ctx, count));
    const int64_t before = ikt_sum_before(ctx, count);
    assert_int_equal(blocks.first[ikt_rank(ctx)], before);
    if (round_bytes > 0) blocks.round_bytes = round_bytes;
    assert_int_equal(ikt_alloc(ctx, &own, count * WIDTH, sizeof *own, "test"), IKT_OK);
    fill(own, before, count);
    read_and_compare(ctx, &blocks, own, 0, blocks.n);   /* all of it everywhere */
    read_and_compare(ctx, &blocks, own, before, count); /* at home */
    read_and_compare(ctx, &blocks, own, 0, 0);          /* nothing */
    for (int time = 0; time < 20; time++) {
        int64_t first, wanted;
        any_range(&blocks, ikt_rank(ctx), time, &first, &wanted);
        read_and_compare(ctx, &blocks, own, first, wanted);
    }
    ikt_free(&own);
    ikt_row_blocks_destroy(&blocks);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void any_range_of_any_blocks(void **state) {
    for (int round = 0; round < 4; round++)
        try_blocks(*state, round, -1, 0);
}

static void all_rows_on_one_rank(void **state) {
    for (int lone = 0; lone < ikt_size(*state); lone++)
        try_blocks(*state, 0, lone, 0);
}

/* Less than a row in a round: one row at a time. */
static void few_rows_in_a_round(void **state) {
    try_blocks(*state, 1, -1, 1);
    try_blocks(*state, 1, ikt_size(*state) - 1, 100);
}

/* What a rank asked by all holds ready stays small. */
static void rounds_bound_the_memory(void **state) {
    ikt_context *ctx = *state;
    enum { ROWS = 4000 };
    const int64_t count = ikt_rank(ctx) == 0 ? ROWS : 0, bytes = WIDTH * (int64_t)sizeof(int32_t);
    ikt_row_blocks blocks;
    int32_t *own = NULL, *rows = NULL;
    assert_int_equal(ikt_row_blocks_create(ctx, count, &blocks), IKT_OK);
    blocks.round_bytes = 100 * bytes;
    assert_int_equal(ikt_alloc(ctx, &own, count * WIDTH, sizeof *own, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &rows, ROWS * WIDTH, sizeof *rows, "test"), IKT_OK);
    fill(own, 0, count);
    const int64_t held = ikt_memory_now(ctx);
    assert_int_equal(ikt_row_blocks_read(ctx, &blocks, own, (size_t)bytes, 0, ROWS, rows), IKT_OK);
    assert_int_equal(rows[ROWS * WIDTH - 1], ROWS * WIDTH - 1);
    if (ikt_size(ctx) > 1) assert_in_range(ikt_memory_peak(ctx) - held, 0, 100 * bytes);
    ikt_free(&own);
    ikt_free(&rows);
    ikt_row_blocks_destroy(&blocks);
}

IKT_MPI_TESTS(ikt_test(any_range_of_any_blocks), ikt_test(all_rows_on_one_rank),
              ikt_test(few_rows_in_a_round), ikt_test(rounds_bound_the_memory))
