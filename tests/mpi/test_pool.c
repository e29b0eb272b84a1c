/* The pool of sampled objectives: the same rows on any ranks, drawn fairly and anew; what is
 * gathered of them; far rows of tiles, each place equally often. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "sampled/pool.h"

static ikt_rows rows_of(const ikt_context *ctx, int64_t n) {
    return ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
}

static ikt_pool make(ikt_context *ctx, int64_t n, int64_t size, int64_t redraw) {
    const ikt_rows rows = rows_of(ctx, n);
    const int64_t before = ikt_memory_now(ctx);
    ikt_pool pool;
    assert_int_equal(ikt_pool_create(ctx, &rows, size, redraw, 11, IKT_RNG_SAMPLED, &pool), IKT_OK);
    assert_int_equal(ikt_memory_now(ctx) - before, ikt_pool_memory(size, rows.ranks));
    return pool;
}

/* Distinct and ascending, and those of one rank, which are known from elsewhere: the subset of the
 * same draw. */
static void an_epoch_has_one_pool_on_any_ranks(void **state) {
    ikt_context *ctx = *state;
    const int64_t n[] = {1, 5, 100, 1000, 70000}, size[] = {1, 3, 64, 1000, 4096};
    for (int c = 0; c < 5; c++) {
        ikt_pool pool = make(ctx, n[c], size[c], 3);
        int64_t number[4096], slot[8192];
        for (int64_t iteration = 0; iteration < 9; iteration++) {
            const bool is_new = ikt_pool_draw(&pool, iteration);
            const bool has_all = size[c] == n[c];
            assert_int_equal(is_new, has_all ? iteration == 0 : iteration % 3 == 0);
            assert_int_equal(pool.epoch, iteration / 3);
            ikt_draw_subset(11, IKT_RNG_SAMPLED, iteration / 3, n[c], size[c], slot,
                            ikt_draw_slots(size[c]), number);
            assert_memory_equal(number, pool.row, (size_t)size[c] * sizeof *number);
            assert_int_equal(ikt_sum_one(ctx, pool.count), size[c]);
            assert_int_equal(ikt_sum_before(ctx, pool.count), pool.first);
            for (int64_t a = pool.first; a < pool.first + pool.count; a++)
                assert_int_equal(ikt_rows_owner(&pool.rows, pool.row[a]), ikt_rank(ctx));
        }
        /* A run that goes on begins with the pool that the others have. */
        ikt_pool again = make(ctx, n[c], size[c], 3);
        ikt_pool_draw(&again, 8);
        assert_memory_equal(again.row, pool.row, (size_t)size[c] * sizeof *pool.row);
        ikt_pool_destroy(&again);
        ikt_pool_destroy(&pool);
    }
}

/* Chi-square over the rows of many epochs: mean n, variance about 2 n (1 - S/n). */
static void every_row_is_drawn_equally_often(void **state) {
    ikt_context *ctx = *state;
    enum { N = 200, SIZE = 20, EPOCHS = 4000 };
    ikt_pool pool = make(ctx, N, SIZE, 1);
    int64_t seen[N] = {0}, stays = 0;
    for (int64_t e = 0; e < EPOCHS; e++) {
        int64_t before[SIZE];
        memcpy(before, pool.row, sizeof before);
        assert_true(ikt_pool_draw(&pool, e));
        stays += memcmp(before, pool.row, sizeof before) == 0;
        for (int a = 0; a < SIZE; a++)
            seen[pool.row[a]]++;
    }
    const double share = (double)SIZE / N, expected = EPOCHS * share;
    double chi = 0;
    for (int i = 0; i < N; i++)
        chi += ((double)seen[i] - expected) * ((double)seen[i] - expected) / expected / (1 - share);
    assert_true(fabs(chi - N) < 4 * sqrt(2.0 * N));
    assert_int_equal(stays, 0);
    ikt_pool_destroy(&pool);
}

/* Payloads of 12 bytes with a gap behind each, of 1 byte, and such as their owners compute. */
static void payloads_reach_all_ranks(void **state) {
    ikt_context *ctx = *state;
    enum { N = 301, SIZE = 40 };
    const ikt_rows rows = rows_of(ctx, N);
    ikt_pool pool = make(ctx, N, SIZE, 1);
    float value[4 * N], all[3 * SIZE];
    uint8_t byte[N], all_bytes[SIZE];
    int64_t computed[SIZE];
    for (int64_t i = 0; i < rows.count; i++) {
        for (int c = 0; c < 4; c++)
            value[4 * i + c] = (float)(10 * (rows.first + i) + c);
        byte[i] = (uint8_t)(7 * (rows.first + i));
    }
    for (int64_t e = 0; e < 5; e++) {
        ikt_pool_draw(&pool, e);
        ikt_pool_gather_rows(&pool, value, 4 * sizeof *value, 3 * sizeof *value, all);
        ikt_pool_gather_rows(&pool, byte, 1, 1, all_bytes);
        memset(computed, -1, sizeof computed);
        for (int64_t a = pool.first; a < pool.first + pool.count; a++)
            computed[a] = pool.row[a] * pool.row[a];
        ikt_pool_gather(&pool, sizeof *computed, computed);
        for (int a = 0; a < SIZE; a++) {
            for (int c = 0; c < 3; c++)
                assert_true(all[3 * a + c] == (float)(10 * pool.row[a] + c));
            assert_int_equal(all_bytes[a], (uint8_t)(7 * pool.row[a]));
            assert_int_equal(computed[a], pool.row[a] * pool.row[a]);
        }
    }
    ikt_pool_destroy(&pool);
}

/* Every row is in one tile of one rank; a tile that is cut by ranks is the same tile on both. */
static void tiles_are_global(void **state) {
    ikt_context *ctx = *state;
    for (int64_t n = 1; n < 100; n += 7) {
        const ikt_rows rows = rows_of(ctx, n);
        const ikt_tiles_span tiles = ikt_pool_tiles(&rows);
        int64_t seen = 0;
        for (int64_t tile = tiles.first; tile < tiles.last; tile++) {
            int64_t begin, end;
            ikt_pool_tile_rows(&rows, tile, &begin, &end);
            assert_int_equal(begin, seen);
            assert_true(end > begin && end <= rows.count);
            for (int64_t i = begin; i < end; i++)
                assert_int_equal((rows.first + i) / IKT_TILE, tile);
            seen = end;
        }
        assert_int_equal(seen, rows.count);
    }
}

/* Distinct; all of them for f = S; and each place f / S of the time, also where f does not divide
 * S, and also as the q-th one. */
static void far_rows_are_drawn_fairly(void **state) {
    ikt_context *ctx = *state;
    enum { SIZE = 30, TILES = 20000 };
    const int64_t counts[] = {1, 4, 7, SIZE};
    ikt_pool pool = make(ctx, 100, SIZE, 1);
    ikt_pool_draw(&pool, 5);
    for (int k = 0; k < 4; k++) {
        const int64_t f = counts[k];
        int64_t seen[SIZE] = {0}, last[SIZE] = {0};
        int32_t place[SIZE];
        for (int64_t tile = 0; tile < TILES; tile++) {
            bool is_taken[SIZE] = {false};
            ikt_pool_far(&pool, tile, f, place);
            for (int64_t q = 0; q < f; q++) {
                assert_true(place[q] >= 0 && place[q] < SIZE && !is_taken[place[q]]);
                is_taken[place[q]] = true;
                seen[place[q]]++;
            }
            last[place[f - 1]]++;
        }
        double chi = 0, chi_last = 0;
        const double expected = (double)f * TILES / SIZE, each = (double)TILES / SIZE;
        for (int a = 0; a < SIZE; a++) {
            chi += pow((double)seen[a] - expected, 2) / expected;
            chi_last += pow((double)last[a] - each, 2) / each;
        }
        assert_true(chi < SIZE + 4 * sqrt(2.0 * SIZE));
        assert_true(chi_last < SIZE + 4 * sqrt(2.0 * SIZE));
    }
    ikt_pool_destroy(&pool);
}

/* Another epoch, and another tile, has other far rows, also of a pool of all rows. */
static void far_rows_change_with_epoch_and_tile(void **state) {
    ikt_context *ctx = *state;
    ikt_pool pool = make(ctx, 64, 64, 2);
    int32_t place[4][4];
    ikt_pool_draw(&pool, 0);
    ikt_pool_far(&pool, 3, 4, place[0]);
    ikt_pool_far(&pool, 4, 4, place[1]);
    assert_false(ikt_pool_draw(&pool, 1));
    ikt_pool_far(&pool, 3, 4, place[2]);
    ikt_pool_draw(&pool, 2);
    ikt_pool_far(&pool, 3, 4, place[3]);
    assert_memory_equal(place[0], place[2], sizeof place[0]);
    assert_memory_not_equal(place[0], place[1], sizeof place[0]);
    assert_memory_not_equal(place[0], place[3], sizeof place[0]);
    ikt_pool_destroy(&pool);
}

IKT_MPI_TESTS(ikt_test(an_epoch_has_one_pool_on_any_ranks),
              ikt_test(every_row_is_drawn_equally_often), ikt_test(payloads_reach_all_ranks),
              ikt_test(tiles_are_global), ikt_test(far_rows_are_drawn_fairly),
              ikt_test(far_rows_change_with_epoch_and_tile))
