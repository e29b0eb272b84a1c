/* The lowest floor: agreement, collectives in small pieces, exact sums, partition-free hashes. */
#define _POSIX_C_SOURCE 200809L
#include "support/expect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/arrays.h"
#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/context.h"
#include "base/exact_sum.h"
#include "base/rng.h"
#include "base/row_hash.h"
#include "base/status.h"
#include "base/timer.h"
#include "dist/rows.h"

/* Files are quoted in messages; they must neither break the line nor steer a terminal. */
static void a_message_is_one_printable_line(void **state) {
    ikt_context *ctx = *state;
    assert_int_equal(ikt_fail(ctx, IKT_ERR_DATA, "row 3: 'a\n%s\x7f'", "\x1b[2J"), IKT_ERR_DATA);
    assert_string_equal(ikt_message(ctx), "row 3: 'a??[2J?'");
    ikt_clear(ctx);
}

static void agree_shares_the_lowest_ranks_message(void **state) {
    ikt_context *ctx = *state;
    int size = ikt_size(ctx);
    const int failing[] = {0, size / 2, size - 1};
    assert_int_equal(ikt_agree(ctx, IKT_OK), IKT_OK);
    for (int f = 0; f < 3; f++) {
        ikt_status st = IKT_OK;
        if (ikt_rank(ctx) >= failing[f])
            st = ikt_fail(ctx, IKT_ERR_DATA, "row %d is bad", ikt_rank(ctx));
        assert_int_equal(ikt_agree(ctx, st), IKT_ERR_DATA);
        char expected[64];
        snprintf(expected, sizeof expected, "row %d is bad", failing[f]);
        assert_string_equal(ikt_message(ctx), expected);
        ikt_clear(ctx);
    }
}

static void reductions_work_in_small_pieces(void **state) {
    ikt_context *ctx = *state;
    int64_t size = ikt_size(ctx), rank = ikt_rank(ctx), values[100];
    ikt_set_piece_bytes(ctx, 24);
    for (int i = 0; i < 100; i++)
        values[i] = rank + i;
    ikt_sum_i64(ctx, values, 100);
    for (int i = 0; i < 100; i++)
        assert_int_equal(values[i], size * (size - 1) / 2 + size * i);
    assert_int_equal(ikt_sum_before(ctx, rank), rank * (rank - 1) / 2);
    assert_int_equal(ikt_max_one(ctx, -rank), 0);
}

static void allgather_and_exchange_move_every_element(void **state) {
    ikt_context *ctx = *state;
    int size = ikt_size(ctx), rank = ikt_rank(ctx);
    ikt_set_piece_bytes(ctx, 40);
    /* Rank r holds 7 r elements and sends 3 r + s of them to rank s: some parts are empty. */
    int64_t mine = 7 * rank, *counts, *all, *part, total = 0;
    assert_int_equal(ikt_alloc(ctx, &counts, size, sizeof *counts, "test"), IKT_OK);
    ikt_gather_counts(ctx, mine, counts);
    for (int r = 0; r < size; r++)
        total += counts[r];
    assert_int_equal(total, 7 * size * (size - 1) / 2);
    ikt_alloc(ctx, &all, total, sizeof *all, "test");
    ikt_alloc(ctx, &part, mine, sizeof *part, "test");
    for (int64_t i = 0; i < mine; i++)
        part[i] = 1000 * rank + i;
    ikt_allgather(ctx, part, mine, sizeof *part, all, counts);
    for (int64_t r = 0, at = 0; r < size; r++)
        for (int64_t i = 0; i < counts[r]; i++)
            assert_int_equal(all[at++], 1000 * r + i);

    int64_t *out, *in, *sends, *receives, n_out = 0, n_in = 0;
    ikt_alloc(ctx, &sends, size, sizeof *sends, "test");
    ikt_alloc(ctx, &receives, size, sizeof *receives, "test");
    for (int s = 0; s < size; s++)
        n_out += sends[s] = 3 * rank + s;
    ikt_exchange_counts(ctx, sends, receives);
    for (int s = 0; s < size; s++) {
        assert_int_equal(receives[s], 3 * s + rank);
        n_in += receives[s];
    }
    ikt_alloc(ctx, &out, n_out, sizeof *out, "test");
    ikt_alloc(ctx, &in, n_in, sizeof *in, "test");
    for (int64_t s = 0, at = 0; s < size; s++)
        for (int64_t i = 0; i < sends[s]; i++)
            out[at++] = 10000 * rank + 100 * s + i;
    ikt_exchange(ctx, out, sends, in, receives, sizeof *out);
    for (int64_t s = 0, at = 0; s < size; s++)
        for (int64_t i = 0; i < receives[s]; i++)
            assert_int_equal(in[at++], 10000 * s + 100 * rank + i);
    ikt_free(&counts), ikt_free(&all), ikt_free(&part), ikt_free(&out), ikt_free(&in);
    ikt_free(&sends), ikt_free(&receives);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void exact_sums_ignore_order_and_cancel_exactly(void **state) {
    ikt_context *ctx = *state;
    enum { N = 1000 };
    double values[N];
    for (int i = 0; i < N; i++)
        values[i] = ldexp(ikt_rng_normal(3, IKT_RNG_TEST, i, 0),
                          (int)ikt_rng_below(3, IKT_RNG_TEST, i, 1, 600) - 300);
    ikt_exact_sum forward = {{0}, 0, 0}, backward = {{0}, 0, 0};
    for (int i = 0; i < N; i++)
        ikt_exact_sum_add(&forward, values[i]);
    for (int i = N - 1; i >= 0; i--)
        ikt_exact_sum_add(&backward, values[i]);
    double expected = ikt_exact_sum_value(&forward);
    assert_true(expected == ikt_exact_sum_value(&backward));
    ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    assert_true(ikt_exact_total(ctx, values + rows.first, rows.count) == expected);

    for (int i = 0; i < N; i++)
        ikt_exact_sum_add(&forward, -values[i]);
    assert_true(ikt_exact_sum_value(&forward) == 0);
    ikt_exact_sum_add(&forward, 1e300);
    ikt_exact_sum_add(&forward, 1);
    ikt_exact_sum_add(&forward, -1e300);
    assert_true(ikt_exact_sum_value(&forward) == 1);
    ikt_exact_sum_add(&forward, 0x1p-53); /* a tie, to even */
    assert_true(ikt_exact_sum_value(&forward) == 1);
    ikt_exact_sum_add(&forward, 0x1p-1074); /* just above the tie */
    assert_true(ikt_exact_sum_value(&forward) == 1 + 0x1p-52);
    ikt_exact_sum_add(&forward, -3);
    assert_true(ikt_exact_sum_value(&forward) == -2 + 0x1p-52); /* above the tie at -2 + 2^-53 */
    ikt_exact_sum_add(&forward, INFINITY);
    assert_true(isnan(ikt_exact_sum_value(&forward)));
}

static void hash_does_not_depend_on_the_partition(void **state) {
    ikt_context *ctx = *state;
    enum { N = 101 };
    float rows[N][3];
    for (int i = 0; i < N; i++)
        for (int c = 0; c < 3; c++)
            rows[i][c] = (float)ikt_rng_uniform(5, IKT_RNG_TEST, i, (uint64_t)c);
    ikt_context *alone = ikt_test_alone();
    uint64_t whole = ikt_row_hash(alone, rows, 0, N, sizeof *rows);
    ikt_rows distribution = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    assert_true(ikt_row_hash(ctx, rows + distribution.first, distribution.first, distribution.count,
                             sizeof *rows) == whole);
    rows[50][1] = nextafterf(rows[50][1], 2);
    assert_true(ikt_row_hash(alone, rows, 0, N, sizeof *rows) != whole);
    ikt_context_destroy(&alone);
}

static void row_map_covers_every_row_once(void **state) {
    (void)state;
    const int64_t sizes[] = {0, 1, 2, 5, 7, 1250, 8100000, (int64_t)1 << 40};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int ranks = 1; ranks <= 9; ranks++) {
            int64_t next = 0;
            for (int r = 0; r < ranks; r++) {
                ikt_rows rows = ikt_rows_make(sizes[s], ranks, r);
                assert_int_equal(rows.first, next);
                next += rows.count;
                if (rows.count == 0) continue;
                assert_int_equal(ikt_rows_owner(&rows, rows.first), r);
                assert_int_equal(ikt_rows_owner(&rows, next - 1), r);
            }
            assert_int_equal(next, sizes[s]);
        }
}

static void a_failed_write_leaves_the_previous_file(void **state) {
    ikt_context *ctx = *state;
    char temporary[IKT_PATH_MAX], path[64];
    snprintf(path, sizeof path, "atomic-%d.txt", ikt_size(ctx));
    for (int round = 0; round < 2; round++) { /* the first succeeds, the second fails on one rank */
        assert_int_equal(ikt_atomic_begin(ctx, path, true, temporary), IKT_OK);
        ikt_status st = IKT_OK;
        if (ikt_rank(ctx) == 0) {
            FILE *file = fopen(temporary, "w");
            assert_non_null(file);
            fprintf(file, "round %d", round);
            fclose(file);
        }
        if (round == 1 && ikt_rank(ctx) == ikt_size(ctx) - 1)
            st = ikt_fail(ctx, IKT_ERR_FILE, "disk full");
        assert_int_equal(ikt_atomic_end(ctx, path, temporary, st), round ? IKT_ERR_FILE : IKT_OK);
    }
    ikt_clear(ctx);
    if (ikt_rank(ctx) == 0) {
        char text[32] = "";
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        assert_non_null(fgets(text, sizeof text, file));
        fclose(file);
        assert_string_equal(text, "round 0");
        assert_null(fopen(temporary, "r"));
    }
    assert_int_equal(ikt_atomic_begin(ctx, path, false, temporary), IKT_ERR_FILE);
    ikt_clear(ctx);
    assert_int_equal(ikt_atomic_begin(ctx, "/nowhere/at/all.h5", true, temporary), IKT_ERR_FILE);
    assert_non_null(strstr(ikt_message(ctx), "/nowhere/at/all.h5"));
    ikt_barrier(ctx);
    if (ikt_rank(ctx) == 0) assert_int_equal(remove(path), 0);
}

static void draws_have_the_right_moments(void **state) {
    (void)state;
    enum { N = 200000 };
    double mean = 0, square = 0, uniform = 0;
    int64_t counts[7] = {0};
    for (int i = 0; i < N; i++) {
        double x = ikt_rng_normal(11, IKT_RNG_TEST, i, 5);
        mean += x / N;
        square += x * x / N;
        uniform += ikt_rng_uniform(11, IKT_RNG_TEST, i, 6) / N;
        counts[ikt_rng_below(11, IKT_RNG_TEST, i, 7, 7)]++;
    }
    assert_true(fabs(mean) < 0.01 && fabs(square - 1) < 0.02 && fabs(uniform - 0.5) < 0.005);
    for (int c = 0; c < 7; c++)
        assert_true(llabs(counts[c] - N / 7) < 700); /* 4.5 deviations */
    /* Seed, purpose, row and draw each change the draw. */
    uint64_t base = ikt_rng_u64(1, IKT_RNG_TEST, 2, 3);
    assert_true(base != ikt_rng_u64(2, IKT_RNG_TEST, 2, 3));
    assert_true(base != ikt_rng_u64(1, IKT_RNG_MODEL, 2, 3));
    assert_true(base != ikt_rng_u64(1, IKT_RNG_TEST, 3, 3));
    assert_true(base != ikt_rng_u64(1, IKT_RNG_TEST, 2, 3 + ((uint64_t)1 << 32)));
}

/* Whether the C library moves pages in place of copying them. */
static bool moves_pages(void) {
#if defined(IKT_SANITIZED) || !defined(__GLIBC__)
    return false;
#else
    return true;
#endif
}

/* Large blocks are not held twice while their size changes: neither in our account nor in memory.
 */
static void large_memory_moves_and_keeps_what_it_holds(void **state) {
    ikt_context *ctx = *state;
    const int64_t sizes[] = {1000, 17 << 20, 24 << 20, 18 << 20, 10};
    int64_t held = 0, large = 0;
    int32_t *a = NULL;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const int64_t before = held, resident = ikt_memory_resident_peak();
        held = sizes[k];
        assert_int_equal(ikt_resize(ctx, &a, held, sizeof *a, "numbers"), IKT_OK);
        if (moves_pages() && before >= 17 << 20)
            assert_true(ikt_memory_resident_peak() - resident <
                        4 * (held > before ? held - before : 0) + (16 << 20));
        assert_int_equal((uintptr_t)a % 64, 0);
        assert_int_equal(ikt_memory_now(ctx), 4 * held);
        for (int64_t i = 0; i < held; i++)
            assert_true(a[i] == (i < before ? i : 0));
        for (int64_t i = before; i < held; i++)
            a[i] = (int32_t)i;
        if (held > large) large = held;
    }
    assert_true(ikt_memory_peak(ctx) < 4 * large + (64 << 20));
    assert_int_equal(ikt_resize(ctx, &a, INT64_MAX / 2, sizeof *a, "numbers"), IKT_ERR_RESOURCE);
    assert_true(a[9] == 9);
    ikt_clear(ctx);
    ikt_free(&a);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void memory_is_accounted_and_bounded(void **state) {
    ikt_context *ctx = *state;
    double *a = NULL;
    assert_int_equal(ikt_alloc(ctx, &a, 100, sizeof *a, "doubles"), IKT_OK);
    assert_int_equal((uintptr_t)a % 64, 0);
    assert_int_equal(ikt_memory_now(ctx), 800);
    a[99] = 3;
    assert_int_equal(ikt_resize(ctx, &a, 200, sizeof *a, "doubles"), IKT_OK);
    assert_true(a[99] == 3 && a[199] == 0);
    assert_int_equal(ikt_memory_now(ctx), 1600);
    assert_int_equal(ikt_memory_peak(ctx), 2400);
    double *before = a;
    assert_int_equal(ikt_reserve(ctx, &a, 150, sizeof *a, "doubles"), IKT_OK);
    assert_true(a == before && a[99] == 3);
    assert_int_equal(ikt_reserve(ctx, &a, 201, sizeof *a, "doubles"), IKT_OK);
    assert_true(a[99] == 0 && a[200] == 0);
    assert_int_equal(ikt_memory_now(ctx), 1608);
    assert_int_equal(ikt_memory_peak(ctx), 2400);
    ikt_free(&a);
    assert_null(a);
    assert_int_equal(ikt_memory_now(ctx), 0);
    assert_int_equal(ikt_alloc(ctx, &a, INT64_MAX / 2, sizeof *a, "doubles"), IKT_ERR_RESOURCE);
    assert_null(a);
    ikt_clear(ctx);
    assert_int_equal(ikt_alloc(ctx, &a, (int64_t)1 << 50, 1, "doubles"), IKT_ERR_RESOURCE);
    assert_true(ikt_memory_available(ctx) > 0);
}

/* COLLECTIVE. Claims 3 arrays; the second one is too large on the rank `failing`. */
static ikt_status claim_three(ikt_context *ctx, int failing, int64_t *bytes) {
    IKT_ARRAYS(held, ctx, "doubles");
    double *given = NULL;
    double *a = ikt_claim(&held, 100, sizeof *a);
    double *b = ikt_claim(&held, ikt_rank(ctx) == failing ? INT64_MAX / 2 : 50, sizeof *b);
    double *c = ikt_claim(&held, 25, sizeof *c);
    if (ikt_alloc(ctx, &given, 10, sizeof *given, "doubles") == IKT_OK)
        ikt_arrays_take(&held, given);
    *bytes = ikt_memory_now(ctx);
    assert_true(a && (b != NULL) == (c != NULL));
    if (c) c[24] = a[99] + b[49];
    IKT_TRY(ikt_arrays_agree(&held));
    ikt_arrays_free(&held);
    assert_int_equal(ikt_memory_now(ctx), 0);
    assert_non_null(ikt_claim(&held, 1, 1));
    return held.status;
}

static void arrays_that_are_claimed_together_are_freed_together(void **state) {
    ikt_context *ctx = *state;
    int64_t bytes = 0;
    assert_int_equal(claim_three(ctx, -1, &bytes), IKT_OK);
    assert_int_equal(bytes, 1400 + 80);
    assert_int_equal(ikt_memory_now(ctx), 0);
    for (int failing = 0; failing < ikt_size(ctx); failing++) {
        refuse(ctx, claim_three(ctx, failing, &bytes), IKT_ERR_RESOURCE, "cannot allocate");
        if (ikt_rank(ctx) == failing) assert_true(bytes < 1400);
        assert_int_equal(ikt_memory_now(ctx), 0);
    }
}

/* Memory that has been written before comes back zeroed, to the last byte, by any number of
 * threads; also a block that is no multiple of what the threads divide. */
static void memory_is_cleared_by_any_number_of_threads(void **state) {
    ikt_context *ctx = *state;
    const int threads = ikt_threads(ctx);
    for (int t = 1; t <= 5; t++) {
        ikt_context_set_threads(ctx, t);
        for (int64_t bytes = (1 << 20) - 70; bytes < (1 << 20) + 400; bytes += 67) {
            unsigned char *block = NULL, or = 0;
            assert_int_equal(ikt_alloc(ctx, &block, bytes, 1, "bytes"), IKT_OK);
            for (int64_t i = 0; i < bytes; i++)
                or |= block[i];
            assert_int_equal(or, 0);
            memset(block, 0xA5, (size_t)bytes);
            ikt_free(&block);
        }
    }
    ikt_context_set_threads(ctx, threads);
}

enum { RANKS_MOST = 16 };

/* Processor time of this rank while it waits for the last one, which comes a quarter of a second
 * later, in a reduction or for its message; in seconds. */
static double time_of_waiting(ikt_context *ctx, bool for_message) {
    const struct timespec late = {0, 250000000};
    const int last = ikt_size(ctx) - 1, rank = ikt_rank(ctx);
    int64_t sent[RANKS_MOST] = {0}, received[RANKS_MOST] = {0};
    int32_t item = rank, got[RANKS_MOST] = {0}, items[RANKS_MOST];
    ikt_transfer *transfer;
    for (int r = 0; r < last; r++) {
        if (rank == last) sent[r] = 1;
        items[r] = item;
    }
    if (rank != last) received[last] = 1;
    assert_int_equal(ikt_transfer_create(ctx, sizeof item, &transfer), IKT_OK);
    ikt_barrier(ctx);
    if (rank == last) nanosleep(&late, NULL);
    const clock_t from = clock();
    if (for_message) {
        ikt_transfer_begin(transfer, items, sent, got, received);
        ikt_transfer_end(transfer);
        if (rank != last) assert_int_equal(got[0], last);
    } else {
        assert_int_equal(ikt_sum_one(ctx, 1), ikt_size(ctx));
    }
    const double used = (double)(clock() - from) / CLOCKS_PER_SEC;
    ikt_transfer_destroy(&transfer);
    return used;
}

/* Ranks that are more than processors sleep while they wait: with the same values. */
static void ranks_may_sleep_while_they_wait(void **state) {
    ikt_context *ctx = *state;
    ikt_context *part;
    ctx->is_crowded = true;
    for (int for_message = 0; for_message < 2; for_message++)
        assert_true(time_of_waiting(ctx, for_message) < .1);
    reductions_work_in_small_pieces(state);
    allgather_and_exchange_move_every_element(state);
    exact_sums_ignore_order_and_cancel_exactly(state);
    agree_shares_the_lowest_ranks_message(state);
    assert_int_equal(ikt_context_split(ctx, 0, &part), IKT_OK);
    assert_true(part->is_crowded);
    ikt_context_destroy(&part);
}

static void stages_are_collected_over_ranks(void **state) {
    ikt_context *ctx = *state;
    ikt_stage_begin(ctx, IKT_STAGE_CODES);
    double until = ikt_now() + 0.002 * (1 + ikt_rank(ctx));
    while (ikt_now() < until) {
    }
    ikt_stage_end(ctx, IKT_STAGE_CODES);
    ikt_stage_times times[IKT_STAGE_COUNT];
    ikt_stage_collect(ctx, times);
    assert_int_equal(times[IKT_STAGE_CODES].count, 1);
    assert_true(times[IKT_STAGE_CODES].least >= 0.002);
    assert_true(times[IKT_STAGE_CODES].most >= 0.002 * ikt_size(ctx));
    assert_in_range(times[IKT_STAGE_CODES].slowest, 0, ikt_size(ctx) - 1);
    assert_int_equal(times[IKT_STAGE_FFT].count, 0);
}

IKT_MPI_TESTS(
    ikt_test(a_message_is_one_printable_line), ikt_test(agree_shares_the_lowest_ranks_message),
    ikt_test(reductions_work_in_small_pieces), ikt_test(allgather_and_exchange_move_every_element),
    ikt_test(exact_sums_ignore_order_and_cancel_exactly),
    ikt_test(hash_does_not_depend_on_the_partition), ikt_test(row_map_covers_every_row_once),
    ikt_test(a_failed_write_leaves_the_previous_file), ikt_test(draws_have_the_right_moments),
    ikt_test(memory_is_accounted_and_bounded), ikt_test(large_memory_moves_and_keeps_what_it_holds),
    ikt_test(memory_is_cleared_by_any_number_of_threads),
    ikt_test(arrays_that_are_claimed_together_are_freed_together),
    ikt_test(ranks_may_sleep_while_they_wait), ikt_test(stages_are_collected_over_ranks))
