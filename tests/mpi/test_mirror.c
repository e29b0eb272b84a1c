/* Entries between own rows: those of a pair meet, and all others are collected where they lead. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/sort.h"
#include "graph/transpose.h"

/* At one rank more entries than there are in one piece. */
enum { N = 61000, K = 40 };

/* Sorted rows of up to K entries each; row N / 2 is a hub that many rows lead to. */
static void make_rows(ikt_context *ctx, const ikt_rows *own, ikt_directed *out) {
    memset(out, 0, sizeof *out);
    out->n_local = own->count;
    assert_int_equal(ikt_alloc(ctx, &out->start, own->count + 1, sizeof *out->start, "test"), 0);
    assert_int_equal(ikt_alloc(ctx, &out->column, own->count * K, sizeof *out->column, "test"), 0);
    assert_int_equal(ikt_alloc(ctx, &out->value, own->count * K, sizeof *out->value, "test"), 0);
    int64_t at = 0;
    for (int64_t i = 0; i < own->count; i++) {
        const int64_t row = own->first + i;
        uint32_t column[K];
        for (int64_t e = 0; e < K; e++)
            column[e] = (uint32_t)ikt_rng_below(4, IKT_RNG_TEST, row, (uint64_t)e, N);
        if (row % 3 == 0) column[0] = N / 2;
        const int64_t count = row % 100 == 7 ? 0 : ikt_sort_distinct_u32(column, K);
        for (int64_t e = 0; e < count; e++) {
            if (column[e] == row) continue;
            out->column[at] = column[e];
            out->value[at++] = (float)(1000 * (row % 977 + 1) + column[e] % 977);
        }
        out->start[i + 1] = at;
    }
}

/* Where an own row has a column; -1 where it has not. */
static int64_t find(const ikt_rows *own, const ikt_directed *rows, uint32_t row, uint32_t column) {
    const int64_t begin = rows->start[row - own->first];
    const int64_t count = rows->start[row - own->first + 1] - begin;
    const int64_t at = ikt_find_u32(rows->column + begin, count, column);
    return at < 0 ? -1 : begin + at;
}

static bool is_own(const ikt_rows *own, uint32_t row) {
    return row >= own->first && row < own->first + own->count;
}

/* The difference of a number that says which entry it is and that of its mirror image, once. */
static float difference(const void *self, float own, float from) {
    (void)self;
    return from < 0 ? from : -fabsf(own - from);
}

/* Row i has room for i % 3 more entries. */
static void every_pair_meets_and_all_others_are_collected(void **state) {
    ikt_context *ctx = *state;
    const ikt_rows own = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    ikt_directed rows, plain, single = {.n_local = own.count};
    int64_t *next, wrong = 0, collected = 0, expected = 0;
    make_rows(ctx, &own, &rows);
    make_rows(ctx, &own, &plain);
    assert_int_equal(ikt_alloc(ctx, &single.start, own.count + 1, sizeof *single.start, "test"), 0);
    assert_int_equal(ikt_alloc(ctx, &next, own.count, sizeof *next, "test"), 0);
    for (int64_t i = 0; i < own.count; i++)
        single.start[i + 1] = i % 3;
    assert_int_equal(ikt_mirror_join(ctx, &own, &rows, difference, NULL, &single, next), IKT_OK);
    for (int64_t i = 0; i < own.count; i++) {
        const uint32_t row = (uint32_t)(own.first + i);
        for (int64_t e = plain.start[i]; e < plain.start[i + 1]; e++) {
            const uint32_t column = plain.column[e];
            const int64_t mirror = is_own(&own, column) ? find(&own, &plain, column, row) : -1;
            const float value = plain.value[e];
            expected += is_own(&own, column) && mirror < 0;
            wrong += rows.value[e] != (mirror < 0 ? value : -fabsf(value - plain.value[mirror]));
        }
        wrong += single.start[i + 1] - next[i] != i % 3;
        for (int64_t e = single.start[i]; e < next[i]; e++) {
            const int64_t at = find(&own, &plain, single.column[e], row);
            wrong += at < 0 || plain.value[at] != single.value[e];
            wrong += find(&own, &plain, row, single.column[e]) >= 0;
            wrong += e > single.start[i] && single.column[e] <= single.column[e - 1];
            collected++;
        }
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(collected, expected);
    ikt_directed_destroy(&rows);
    ikt_directed_destroy(&plain);
    ikt_directed_destroy(&single);
    ikt_free(&next);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* Pairs of two pieces: what one end has become already is taken by the other. */
static void p_of_several_pieces_is_symmetric_and_sums_to_one(void **state) {
    ikt_context *ctx = *state;
    const ikt_rows own = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    ikt_directed rows;
    ikt_graph graph;
    make_rows(ctx, &own, &rows);
    for (int64_t i = 0; i < own.count; i++) {
        double sum = 0;
        for (int64_t e = rows.start[i]; e < rows.start[i + 1]; e++)
            sum += rows.value[e] = (float)(1 + (own.first + i + 7 * rows.column[e]) % 11);
        for (int64_t e = rows.start[i]; e < rows.start[i + 1]; e++)
            rows.value[e] = (float)(rows.value[e] / sum * N / (N - 610));
    }
    assert_int_equal(ikt_graph_from_directed(ctx, &own, &rows, &graph), IKT_OK);
    if (ikt_graph_check(ctx, &graph) != IKT_OK) fail_msg("%s", ikt_message(ctx));
    ikt_graph_destroy(&graph);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void no_rows_and_no_entries_are_fine(void **state) {
    ikt_context *ctx = *state;
    for (int64_t count = 0; count < 3; count++) {
        const ikt_rows own = {.n = 5, .first = 0, .count = count};
        int64_t start[4] = {0}, next[3] = {0};
        const ikt_directed rows = {.n_local = count, .start = start};
        ikt_directed single = {.n_local = count};
        assert_int_equal(ikt_alloc(ctx, &single.start, count + 1, sizeof *single.start, "test"), 0);
        assert_int_equal(ikt_mirror_join(ctx, &own, &rows, difference, NULL, &single, next),
                         IKT_OK);
        assert_int_equal(single.start[count], 0);
        ikt_directed_destroy(&single);
    }
}

IKT_MPI_TESTS(ikt_test(every_pair_meets_and_all_others_are_collected),
              ikt_test(p_of_several_pieces_is_symmetric_and_sums_to_one),
              ikt_test(no_rows_and_no_entries_are_fine))
