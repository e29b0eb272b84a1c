/* Mini-batches: the rows that a step moves are those drawn and their nearest by P, found plainly;
 * the same on any ranks, of a sparse and of a dense P. */
#include "support/ikt_test.h"

#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "objective/batch.h"
#include "optimiser/optimiser.h"
#include "support/random_p.h"

enum { N = 300, K = 9, COUNT = 20, NEAR = 5, SEED = 4 };

static int64_t some_row(int64_t row, int64_t e, int64_t n) {
    return (row + 1 + e * e) % n;
}

/* P as a matrix: from the graph of one rank, whose columns are rows. */
static void fill(const ikt_graph *graph, float *p) {
    memset(p, 0, N * N * sizeof *p);
    for (int part = 0; part < 2; part++) {
        const ikt_csr *csr = part == 0 ? &graph->forward : &graph->reverse;
        for (int64_t i = 0; i < N; i++)
            for (int64_t e = csr->start[i]; e < csr->start[i + 1]; e++)
                p[i * N + csr->column[e]] = ikt_csr_value(csr, e);
    }
}

/* What an iteration moves, by the definition. */
static void expect(const float *p, int64_t iteration, uint8_t *moves) {
    int64_t drawn[COUNT], slot[1024];
    memset(moves, 0, N);
    ikt_draw_subset(SEED, IKT_RNG_BATCH, iteration, N, COUNT, slot, 1024, drawn);
    for (int d = 0; d < COUNT; d++) {
        const float *row = p + drawn[d] * N;
        moves[drawn[d]] = 1;
        for (int64_t j = 0; j < N; j++) {
            int before = 0;
            for (int64_t o = 0; o < N; o++)
                before += row[o] > row[j] || (row[o] == row[j] && o < j);
            if (row[j] > 0 && before < NEAR) moves[j] = 1;
        }
    }
}

/* Every entry of P becomes the same number, so that its column alone tells which is nearer. */
static void make_equal(ikt_graph *graph) {
    for (int part = 0; part < 2; part++) {
        ikt_csr *csr = part == 0 ? &graph->forward : &graph->reverse;
        for (int64_t e = 0; e < csr->start[graph->rows.count]; e++)
            if (csr->value) csr->value[e] = 0.5F;
        if (csr->value) continue;
        csr->once = 0.5F; /* few entries may be alike */
        memset(csr->twice, 0, (size_t)csr->start[graph->rows.count] / 8 + IKT_TWICE_SPARE);
    }
}

static void check_batches(void **state, bool are_equal) {
    static float p[N * N];
    uint8_t wanted[N];
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    const ikt_rows all = ikt_rows_make(N, 1, 0);
    const ikt_batch_settings settings = {.count = COUNT, .neighbours = NEAR, .seed = SEED};
    ikt_graph graph, whole;
    ikt_dense dense;
    ikt_batch *sparse, *matrix;
    make_random_p(ctx, &rows, K, some_row, 1, &graph);
    make_random_p(alone, &all, K, some_row, 1, &whole);
    if (are_equal) {
        make_equal(&graph);
        make_equal(&whole);
    }
    fill(&whole, p);
    assert_int_equal(ikt_dense_create(ctx, &rows, &dense), IKT_OK);
    for (int64_t i = 0; i < rows.count; i++)
        memcpy(dense.value + i * dense.stride, p + (rows.first + i) * N, N * sizeof *p);
    assert_int_equal(ikt_batch_create(ctx, &settings, &graph, NULL, &sparse), IKT_OK);
    assert_int_equal(ikt_batch_create(ctx, &settings, NULL, &dense, &matrix), IKT_OK);
    for (int64_t iteration = 0; iteration < 12; iteration++) {
        expect(p, iteration, wanted);
        assert_memory_equal(ikt_batch_draw(sparse, iteration), wanted + rows.first,
                            (size_t)rows.count);
        assert_memory_equal(ikt_batch_draw(matrix, iteration), wanted + rows.first,
                            (size_t)rows.count);
    }
    ikt_batch_destroy(&sparse);
    ikt_batch_destroy(&matrix);
    ikt_dense_destroy(&dense);
    ikt_graph_destroy(&graph);
    ikt_graph_destroy(&whole);
    ikt_context_destroy(&alone);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void rows_drawn_and_their_nearest_move(void **state) {
    check_batches(state, false);
}

static void of_equally_near_rows_the_lower_move(void **state) {
    check_batches(state, true);
}

static void too_many_neighbours_are_refused(void **state) {
    ikt_context *ctx = *state;
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    const ikt_batch_settings settings = {.count = COUNT, .neighbours = 200, .seed = SEED};
    ikt_graph graph;
    ikt_batch *batch;
    make_random_p(ctx, &rows, K, some_row, 1, &graph);
    assert_int_equal(ikt_batch_create(ctx, &settings, &graph, NULL, &batch), IKT_ERR_USAGE);
    assert_null(batch);
    assert_non_null(strstr(ikt_message(ctx), "layout.batch_neighbours = 200"));
    ikt_clear(ctx);
    ikt_graph_destroy(&graph);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* Rows that stay keep their bits, and what is remembered of them; the others step as without. */
static void rows_that_stay_keep_their_bits(void **state) {
    enum { ROWS = 40, Q = 2, E = ROWS * Q };
    ikt_context *ctx = *state;
    float slope[E], nothing[E] = {0}, y[2][E];
    uint8_t moves[ROWS];
    ikt_optimiser optimiser[2];
    for (int s = 0; s < 2; s++)
        assert_int_equal(ikt_optimiser_create(ctx, &ikt_optimiser_momentum, E, &optimiser[s]),
                         IKT_OK);
    for (int e = 0; e < E; e++) {
        slope[e] = (float)ikt_rng_normal(SEED, IKT_RNG_TEST, e, 0);
        y[0][e] = y[1][e] = (float)ikt_rng_normal(SEED, IKT_RNG_TEST, e, 1);
        moves[e / Q] = e / Q % 3 == 1;
    }
    const ikt_gradient gradient = {slope, nothing, 1, 1};
    const ikt_optimiser_step step = {.momentum = 0.5, .rate = 0.1};
    for (int k = 0; k < 3; k++) {
        float before[E];
        memcpy(before, y[1], sizeof before);
        assert_true(ikt_optimiser_take_step(ctx, &optimiser[0], &step, &gradient, Q, NULL, y[0]));
        assert_true(ikt_optimiser_take_step(ctx, &optimiser[1], &step, &gradient, Q, moves, y[1]));
        for (int e = 0; e < E; e++)
            assert_true(y[1][e] == (moves[e / Q] ? y[0][e] : before[e]));
    }
    for (int e = 0; e < E; e++)
        assert_true(moves[e / Q] || optimiser[1].array[0][e] == 0);
    ikt_optimiser_destroy(&optimiser[0]);
    ikt_optimiser_destroy(&optimiser[1]);
}

IKT_MPI_TESTS(ikt_test(rows_drawn_and_their_nearest_move),
              ikt_test(of_equally_near_rows_the_lower_move),
              ikt_test(too_many_neighbours_are_refused), ikt_test(rows_that_stay_keep_their_bits))
