/* Forces on both ends of edges: what each row gets from the edges that end at it, against plain
 * sums, with rows of several blocks and edges that are cut. */
#include "support/ikt_test.h"

#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "sampled/near_edges.h"

enum { N = 6007, M = 7 };

/* Near row b of row i: half of them are some rows on, the others anywhere; row 5 is everybody's. */
static int64_t near_row(int64_t i, int b) {
    const uint64_t draw = ikt_rng_u64(1, IKT_RNG_TEST, i, (uint64_t)b);
    if (b == 0 && i != 5) return 5;
    return b % 2 == 0 ? (i + 1 + b) % N : (i + 1 + (int64_t)(draw % (N - 1))) % N;
}

/* A force that single precision adds up without rounding: multiples of 1/8 below 8. */
static float force_of(int64_t i, int b, int c) {
    return (float)(int)(ikt_rng_u64(2, IKT_RNG_TEST, i, (uint64_t)(4 * b + c)) % 128) / 8 - 8;
}

static ikt_near_edges make(ikt_context *ctx, const ikt_rows *rows, int q) {
    ikt_neighbours lists;
    ikt_near_edges edges;
    assert_int_equal(ikt_neighbours_create(ctx, rows, M, &lists), IKT_OK);
    for (int64_t x = 0; x < rows->count * M; x++) {
        lists.row[x] = (uint32_t)near_row(rows->first + x / M, (int)(x % M));
        lists.score[x] = (float)(10 * (rows->first + x / M) + x % M);
    }
    assert_int_equal(ikt_near_edges_create(ctx, rows, q, &lists, &edges), IKT_OK);
    ikt_neighbours_destroy(&lists);
    return edges;
}

/* Every tile leaves its forces, also in lanes without own rows, as the kernels do. */
static void keep_all(const ikt_near_edges *e, int q) {
    float force[M * IKT_TILE * 3];
    for (int64_t tile = 0; tile < e->tiles; tile++) {
        const int64_t row = (e->rows.first / IKT_TILE + tile) * IKT_TILE;
        for (int b = 0; b < M; b++)
            for (int l = 0; l < IKT_TILE; l++)
                for (int c = 0; c < q; c++)
                    force[(b * IKT_TILE + l) * q + c] = force_of(row + l, b, c);
        ikt_near_edges_keep(e, tile, force);
    }
}

static void rows_get_the_forces_of_all_edges_that_end_there(void **state) {
    ikt_context *ctx = *state;
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    for (int q = 1; q <= 3; q++) {
        static double wanted[N * 3];
        float *found = NULL;
        ikt_near_edges edges = make(ctx, &rows, q);
        assert_int_equal(ikt_alloc(ctx, &found, rows.count * q, sizeof *found, "test"), IKT_OK);
        memset(wanted, 0, sizeof wanted);
        for (int64_t i = 0; i < N; i++)
            for (int b = 0; b < M; b++)
                for (int c = 0; c < q; c++)
                    wanted[q * near_row(i, b) + c] -= (double)force_of(i, b, c);
        for (int again = 0; again < 2; again++) { /* what lanes without rows leave is not added */
            keep_all(&edges, q);
            ikt_near_edges_exchange(ctx, &edges);
            ikt_near_edges_end(ctx, &edges, found);
            for (int64_t e = 0; e < rows.count * q; e++)
                if ((double)found[e] != wanted[q * rows.first + e])
                    fail_msg("row %lld: %.9g is not %.9g", (long long)(rows.first + e / q),
                             (double)found[e], wanted[q * rows.first + e]);
        }
        ikt_free(&found);
        ikt_near_edges_destroy(&edges);
    }
}

static void tiles_have_the_near_rows_of_their_lanes(void **state) {
    ikt_context *ctx = *state;
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    ikt_near_edges edges = make(ctx, &rows, 2);
    for (int64_t i = 0; i < rows.count; i++)
        for (int b = 0; b < M; b++) {
            const int64_t at = ikt_near_edges_place(&edges, i, b), number = edges.near[at];
            const int64_t row =
                number < rows.count ? rows.first + number : edges.ghost_row[number - rows.count];
            assert_int_equal(row, near_row(rows.first + i, b));
            assert_true(edges.d[at] == (float)(10 * (rows.first + i) + b));
        }
    ikt_near_edges_destroy(&edges);
}

IKT_MPI_TESTS(ikt_test(rows_get_the_forces_of_all_edges_that_end_there),
              ikt_test(tiles_have_the_near_rows_of_their_lanes))
