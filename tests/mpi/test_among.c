/* The most similar of a few rows: those that a plain search in double precision finds, ties to the
 * lower number, the same on any ranks. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/rng.h"
#include "metric/metric.h"
#include "neighbours/exact.h"

enum { N = 300, D = 7, FEW = 290, K = 5 }; /* more than one block of the few, more than one tile */

/* Small integers: distances are exact and many are equal. */
static float coordinate(int64_t row, int64_t c) {
    return (float)ikt_rng_below(6, IKT_RNG_TEST, row, (uint64_t)c, 4);
}

/* Rank of row b among the few by (distance to row a, number). */
static int64_t rank_of(const float *x, const float *few, int64_t a, int64_t b) {
    int64_t before = 0;
    double own = ikt_metric_euclidean.exact(x + a * D, few + b * D, D);
    for (int64_t j = 0; j < FEW; j++) {
        double d = ikt_metric_euclidean.exact(x + a * D, few + j * D, D);
        before += d < own || (d == own && j < b);
    }
    return before;
}

static void nearest_are_found(void **state) {
    ikt_context *ctx = *state;
    const ikt_rows distribution = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    float *x, *few, *packed;
    ikt_neighbours lists;
    assert_int_equal(ikt_alloc(ctx, &x, N * D, sizeof *x, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &few, FEW * D, sizeof *few, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &packed, ikt_packed_floats(FEW, D), sizeof(float), "test"),
                     IKT_OK);
    for (int64_t e = 0; e < distribution.count * D; e++)
        x[e] = coordinate(distribution.first + e / D, e % D);
    for (int64_t e = 0; e < FEW * D; e++)
        few[e] = coordinate(N + e / D, e % D);
    ikt_pack_rows(few, FEW, D, packed);
    const ikt_scorer scorer = ikt_scorer_rows(&ikt_metric_euclidean, x, D, &distribution);
    assert_int_equal(ikt_neighbours_create(ctx, &distribution, K, &lists), IKT_OK);
    for (int again = 0; again < 2; again++) { /* what lists held before is forgotten */
        assert_int_equal(ikt_neighbours_among(ctx, &scorer, packed, FEW, &lists), IKT_OK);
        for (int64_t i = 0; i < distribution.count; i++)
            for (int64_t e = 0; e < K; e++) {
                int64_t found = lists.row[i * K + e];
                assert_int_equal(rank_of(x, few, i, found), e);
                assert_float_equal(lists.score[i * K + e],
                                   ikt_metric_euclidean.exact(x + i * D, few + found * D, D), 0);
            }
    }
    ikt_neighbours_destroy(&lists);
    ikt_free(&packed);
    ikt_free(&few);
    ikt_free(&x);
}

static void fewer_than_asked_for_leave_places_empty(void **state) {
    ikt_context *ctx = *state;
    const ikt_rows distribution = ikt_rows_make(3, ikt_size(ctx), ikt_rank(ctx));
    uint8_t few_codes[2 * 64] = {1, 1, 1};
    uint8_t own_codes[3 * 64] = {1, 1, 2, 0};
    const ikt_codes own = {
        .n_local = distribution.count, .t = 3, .stride = 64, .width = 1, .code = own_codes};
    const ikt_scorer scorer = ikt_scorer_codes(&own, &distribution);
    ikt_neighbours lists;
    few_codes[64] = few_codes[65] = few_codes[66] = 9;
    assert_int_equal(ikt_neighbours_create(ctx, &distribution, 3, &lists), IKT_OK);
    assert_int_equal(ikt_neighbours_among(ctx, &scorer, few_codes, 2, &lists), IKT_OK);
    if (distribution.count > 0) { /* the first own row: two entries of three equal, none, nobody */
        assert_int_equal(lists.row[0], 0);
        assert_float_equal(lists.score[0], 1, 0);
        assert_int_equal(lists.row[1], 1);
        assert_float_equal(lists.score[1], 3, 0);
        assert_true(isinf(lists.score[2]));
    }
    ikt_neighbours_destroy(&lists);
}

/* Codes of some rows that nobody holds: many are equal. */
enum { STREAMED = 1048576 + 77, STRIDE = 64, ENTRIES = 20 }; /* more than two blocks */

static ikt_status read_rows(void *self, int64_t first, int64_t count, void *packed) {
    (void)self;
    memset(packed, 0, (size_t)(count * STRIDE));
    for (int64_t i = 0; i < count; i++)
        for (int64_t p = 0; p < ENTRIES; p++)
            ((uint8_t *)packed)[i * STRIDE + p] = (uint8_t)((first + i) * (p + 3) / 7 % 50);
    return IKT_OK;
}

/* Blocks that pass by give the lists of all rows at once. */
static void a_stream_gives_the_lists_of_all(void **state) {
    ikt_context *ctx = *state;
    const ikt_rows distribution = ikt_rows_make(5, ikt_size(ctx), ikt_rank(ctx));
    uint8_t own_codes[5 * STRIDE];
    const ikt_codes own = {.n_local = distribution.count,
                           .t = ENTRIES,
                           .stride = STRIDE,
                           .width = 1,
                           .code = own_codes};
    const ikt_scorer scorer = ikt_scorer_codes(&own, &distribution);
    const ikt_row_stream stream = {NULL, STREAMED, STRIDE, read_rows};
    ikt_neighbours lists, expected;
    uint8_t *all = malloc((size_t)STREAMED * STRIDE);
    assert_non_null(all);
    for (int64_t i = 0; i < distribution.count; i++)
        read_rows(NULL, 300000 * (distribution.first + i) / 3, 1, own_codes + i * STRIDE);
    read_rows(NULL, 0, STREAMED, all);
    assert_int_equal(ikt_neighbours_create(ctx, &distribution, K, &lists), IKT_OK);
    assert_int_equal(ikt_neighbours_create(ctx, &distribution, K, &expected), IKT_OK);
    assert_int_equal(ikt_neighbours_stream(ctx, &scorer, &stream, &lists), IKT_OK);
    assert_int_equal(ikt_neighbours_among(ctx, &scorer, all, STREAMED, &expected), IKT_OK);
    const size_t entries = (size_t)(distribution.count * K);
    assert_memory_equal(lists.row, expected.row, entries * sizeof *lists.row);
    assert_memory_equal(lists.score, expected.score, entries * sizeof *lists.score);
    for (int64_t i = 0; i < distribution.count; i++)
        assert_true(lists.score[i * K] == 0);
    ikt_neighbours_destroy(&lists);
    ikt_neighbours_destroy(&expected);
    free(all);
}

IKT_MPI_TESTS(ikt_test(nearest_are_found), ikt_test(fewer_than_asked_for_leave_places_empty),
              ikt_test(a_stream_gives_the_lists_of_all))
