/* Known transfers give known counts, by stage, on any number of ranks. */
#define _POSIX_C_SOURCE 200809L
#include "support/ikt_test.h"

#include <math.h>
#include <time.h>

#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/memory.h"
#include "base/timer.h"
#include "dist/halo.h"

static void expect(const ikt_context *ctx, ikt_stage stage, ikt_traffic_kind kind, int64_t count) {
    assert_int_equal(ikt_traffic_count(ctx, stage, kind), count);
}

static void expect_all(const ikt_context *ctx, ikt_stage stage, const int64_t counts[5]) {
    for (int kind = 0; kind < IKT_TRAFFIC_KINDS; kind++)
        expect(ctx, stage, (ikt_traffic_kind)kind, counts[kind]);
}

static void collectives_count_their_payload(void **state) {
    ikt_context *ctx = *state;
    int64_t others = ikt_size(ctx) - 1, travels = others > 0;
    int64_t values[10] = {0}, all[16];
    double real = 0;
    ikt_exact_sum sum = {{0}, 0, 0};
    ikt_stage_begin(ctx, IKT_STAGE_CODES);
    ikt_sum_i64(ctx, values, 10); /* 80 bytes there and back */
    ikt_min_f64(ctx, &real, 1);
    ikt_exact_sum_reduce(ctx, &sum, 1); /* 70 numbers */
    ikt_barrier(ctx);
    ikt_stage_end(ctx, IKT_STAGE_CODES);
    int64_t reduced = travels * (80 + 8 + 560);
    expect_all(ctx, IKT_STAGE_CODES, (int64_t[]){reduced, reduced, 0, 0, 4});

    ikt_stage_begin(ctx, IKT_STAGE_AFFINITY);
    ikt_broadcast(ctx, values, 24, 0); /* the root sends, the others receive */
    ikt_gather_counts(ctx, 5, all);
    ikt_stage_end(ctx, IKT_STAGE_AFFINITY);
    int64_t is_root = ikt_rank(ctx) == 0;
    expect_all(
        ctx, IKT_STAGE_AFFINITY,
        (int64_t[]){travels * (24 * is_root + 8), travels * (24 * !is_root) + 8 * others, 0, 0, 2});
    expect(ctx, IKT_STAGE_GRAPH, IKT_TRAFFIC_COLLECTIVES, 0);
    expect(ctx, IKT_STAGE_TOTAL, IKT_TRAFFIC_COLLECTIVES, 6);
}

/* Rank r has r + 1 numbers; whole, and in pieces too small for them. */
static void concatenation_counts_the_others_parts(void **state) {
    ikt_context *ctx = *state;
    int64_t size = ikt_size(ctx), rank = ikt_rank(ctx), total = size * (size + 1) / 2;
    int64_t counts[16], part[16], all[200];
    for (int64_t r = 0; r < size; r++)
        counts[r] = r + 1;
    for (int64_t i = 0; i <= rank; i++)
        part[i] = 100 * rank + i;
    const ikt_stage stages[] = {IKT_STAGE_READ, IKT_STAGE_PICTURE};
    for (int way = 0; way < 2; way++) {
        if (way == 1) ikt_set_piece_bytes(ctx, 8);
        ikt_stage_begin(ctx, stages[way]);
        ikt_allgather(ctx, part, rank + 1, sizeof *part, all, counts);
        ikt_stage_end(ctx, stages[way]);
        for (int64_t r = 0, at = 0; r < size; r++)
            for (int64_t i = 0; i <= r; i++)
                assert_int_equal(all[at++], 100 * r + i);
        int64_t sent = size > 1 ? 8 * (rank + 1) : 0, received = 8 * (total - rank - 1);
        int64_t calls = way == 1 && total > 1 ? total : 1;
        expect_all(ctx, stages[way], (int64_t[]){sent, received, 0, 0, calls});
    }
}

static void exchanges_count_messages_to_other_ranks(void **state) {
    ikt_context *ctx = *state;
    int64_t size = ikt_size(ctx), rank = ikt_rank(ctx), sends[16], receives[16], in[400], out[400];
    int64_t bytes_sent = 0, bytes_received = 0, sent = 0, received = 0, n_out = 0;
    for (int64_t r = 0; r < size; r++) { /* rank r sends (r + 2 s) % 5 numbers to rank s */
        sends[r] = (rank + 2 * r) % 5;
        receives[r] = (r + 2 * rank) % 5;
        for (int64_t i = 0; i < sends[r]; i++)
            out[n_out++] = 1000 * rank + 10 * r + i;
        if (r == rank) continue;
        bytes_sent += 8 * sends[r];
        bytes_received += 8 * receives[r];
        sent += sends[r] > 0;
        received += receives[r] > 0;
    }
    ikt_stage_begin(ctx, IKT_STAGE_GRAPH);
    ikt_exchange(ctx, out, sends, in, receives, sizeof *out);
    ikt_stage_end(ctx, IKT_STAGE_GRAPH);
    for (int64_t r = 0, at = 0; r < size; r++)
        for (int64_t i = 0; i < receives[r]; i++)
            assert_int_equal(in[at++], 1000 * r + 10 * rank + i);
    expect_all(ctx, IKT_STAGE_GRAPH, (int64_t[]){bytes_sent, bytes_received, sent, received, 0});
}

/* Ten rows a rank; each needs the first row of every other rank: 8 bytes to and from each. */
static void the_halo_counts_every_exchange(void **state) {
    ikt_context *ctx = *state;
    int64_t size = ikt_size(ctx), rank = ikt_rank(ctx), others = size - 1, n_ghost = 0;
    int64_t ghost_row[16];
    float own[20] = {0}, ghost[32];
    ikt_rows rows = ikt_rows_make(10 * size, (int)size, (int)rank);
    for (int64_t r = 0; r < size; r++)
        if (r != rank) ghost_row[n_ghost++] = 10 * r;
    ikt_halo *halo = NULL;
    assert_int_equal(ikt_halo_create(ctx, &rows, ghost_row, n_ghost, 2, &halo), IKT_OK);
    own[0] = (float)rank;
    ikt_stage_begin(ctx, IKT_STAGE_LAYOUT);
    for (int i = 0; i < 3; i++) {
        ikt_halo_begin(halo, own, ghost);
        ikt_stage_begin(ctx, IKT_STAGE_HALO);
        ikt_halo_end(halo);
        ikt_stage_end(ctx, IKT_STAGE_HALO);
    }
    ikt_max_one(ctx, 1);
    ikt_stage_end(ctx, IKT_STAGE_LAYOUT);
    int64_t bytes = 3 * 8 * others, reduced = others > 0 ? 8 : 0;
    expect_all(ctx, IKT_STAGE_HALO, (int64_t[]){bytes, bytes, 3 * others, 3 * others, 0});
    expect_all(ctx, IKT_STAGE_LAYOUT, /* with the stages below it */
               (int64_t[]){bytes + reduced, bytes + reduced, 3 * others, 3 * others, 1});
    expect(ctx, IKT_STAGE_REPULSION, IKT_TRAFFIC_BYTES_SENT, 0);
    for (int64_t g = 0; g < n_ghost; g++)
        assert_true(ghost[2 * g] == (float)(ghost_row[g] / 10));
    ikt_halo_destroy(&halo);
}

static void a_stage_left_by_a_failure_is_closed_with_its_parent(void **state) {
    ikt_context *ctx = *state;
    assert_int_equal(ikt_stage_innermost(ctx), IKT_STAGE_TOTAL);
    ikt_stage_begin(ctx, IKT_STAGE_LAYOUT);
    ikt_stage_begin(ctx, IKT_STAGE_REPULSION);
    ikt_stage_begin(ctx, IKT_STAGE_FFT);
    assert_int_equal(ikt_stage_innermost(ctx), IKT_STAGE_FFT);
    ikt_stage_end(ctx, IKT_STAGE_REPULSION);
    assert_int_equal(ikt_stage_innermost(ctx), IKT_STAGE_LAYOUT);
    ikt_stage_end(ctx, IKT_STAGE_LAYOUT);
    assert_int_equal(ikt_stage_innermost(ctx), IKT_STAGE_TOTAL);
}

static void ranges_are_over_the_ranks(void **state) {
    ikt_context *ctx = *state;
    int64_t size = ikt_size(ctx), rank = ikt_rank(ctx);
    ikt_traffic traffic[IKT_STAGE_COUNT];
    ikt_stage_begin(ctx, IKT_STAGE_SPREAD);
    ikt_traffic_messages(ctx, rank, 100 * rank, 1, 7);
    ikt_stage_end(ctx, IKT_STAGE_SPREAD);
    ikt_traffic_collect(ctx, traffic);
    const ikt_stage within[] = {IKT_STAGE_SPREAD, IKT_STAGE_REPULSION, IKT_STAGE_LAYOUT};
    for (int s = 0; s < 3; s++) {
        ikt_traffic_range sent = traffic[within[s]].of[IKT_TRAFFIC_BYTES_SENT];
        assert_int_equal(sent.least, 0);
        assert_int_equal(sent.most, 100 * (size - 1));
        assert_true(sent.mean == 50 * (double)(size - 1));
        assert_int_equal(traffic[within[s]].of[IKT_TRAFFIC_MESSAGES_RECEIVED].least, 1);
    }
    assert_int_equal(traffic[IKT_STAGE_GATHER].of[IKT_TRAFFIC_BYTES_SENT].most, 0);
}

/* Rank 0 comes late to a barrier: the others are in it at least until then, and no rank longer than
 * from its call to its return, by a clock that the ranks of a machine share. */
static void waiting_for_others_is_counted(void **state) {
    ikt_context *ctx = *state;
    const struct timespec pause = {0, 20000000};
    ikt_traffic traffic[IKT_STAGE_COUNT];
    ikt_barrier(ctx);
    const double before = ikt_wait_seconds(ctx, IKT_STAGE_TOTAL);
    ikt_stage_begin(ctx, IKT_STAGE_LAYOUT);
    ikt_stage_begin(ctx, IKT_STAGE_STEP);
    if (ikt_rank(ctx) == 0) nanosleep(&pause, NULL);
    const double called = ikt_now();
    ikt_barrier(ctx);
    const double returned = ikt_now();
    ikt_stage_end(ctx, IKT_STAGE_STEP);
    const double waited = ikt_wait_seconds(ctx, IKT_STAGE_STEP);
    assert_true(ikt_wait_longest(ctx, IKT_STAGE_STEP) == waited); /* one call */
    ikt_wait_add(ctx, 3);                                         /* of the loop itself */
    ikt_wait_add(ctx, 2);
    ikt_stage_end(ctx, IKT_STAGE_LAYOUT);
    double late = called;
    ikt_broadcast(ctx, &late, (int64_t)sizeof late, 0);
    assert_true(waited <= returned - called && waited >= (ikt_size(ctx) > 1 ? late - called : 0));
    assert_true(fabs(ikt_wait_seconds(ctx, IKT_STAGE_LAYOUT) - waited - 5) < 1e-9);
    assert_true(ikt_wait_longest(ctx, IKT_STAGE_LAYOUT) == fmax(3, waited));
    assert_true(ikt_wait_seconds(ctx, IKT_STAGE_TOTAL) >= before + waited + 5 - 1e-9);
    assert_true(ikt_wait_seconds(ctx, IKT_STAGE_HALO) == 0);
    ikt_traffic_collect(ctx, traffic);
    const ikt_traffic *step = &traffic[IKT_STAGE_STEP], *loop = &traffic[IKT_STAGE_LAYOUT];
    assert_true(step->wait_most >= waited && step->wait_mean <= step->wait_most + 1e-9);
    assert_true(step->wait_mean * ikt_size(ctx) >= step->wait_most - 1e-6);
    assert_true(step->wait_longest == step->wait_most);
    assert_true(loop->wait_longest >= 3 && fabs(loop->wait_mean - step->wait_mean - 5) < 1e-6);
}

IKT_MPI_TESTS(ikt_test(collectives_count_their_payload),
              ikt_test(concatenation_counts_the_others_parts),
              ikt_test(exchanges_count_messages_to_other_ranks),
              ikt_test(the_halo_counts_every_exchange),
              ikt_test(a_stage_left_by_a_failure_is_closed_with_its_parent),
              ikt_test(ranges_are_over_the_ranks), ikt_test(waiting_for_others_is_counted))
