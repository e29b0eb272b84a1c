/* Pairs of rows that a graph joins, for TriMap: both directions as one number, D of joined and of
 * other pairs against plain sums, near rows where there are too few. */
#include "support/ikt_test.h"

#include <math.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "sampled/far_similarity.h"
#include "sampled/pool.h"

static void succeed(ikt_context *ctx, ikt_status st) {
    if (st != IKT_OK) fail_msg("%s", ikt_message(ctx));
}

/* --- a graph of known numbers ----------------------------------------------------------------- */

enum { N = 70, DEGREE = 9, M = 6 };

typedef struct {
    double value[N][N];  /* as given: of row i with row j; NAN without an entry */
    double united[N][N]; /* of pairs */
} numbers;

static double random_of(int i, int j) {
    return ikt_rng_uniform(5, IKT_RNG_TEST, i * N + j, 0);
}

/* Rows of differing length, the last one with an entry of others alone, the first one a hub;
 * neighbours that do not name each other, and some that do with other numbers. */
static void make_numbers(numbers *x, bool takes_larger) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            x->value[i][j] = NAN;
    for (int i = 0; i < N - 1; i++)
        for (int e = 0; e < 1 + i % DEGREE; e++) {
            const int j = (i + 1 + 7 * e * e) % N;
            if (j != i) x->value[i][j] = 0.01 + random_of(i, j);
        }
    for (int j = 1; j < N; j += 3)
        x->value[0][j] = 0.02 + random_of(0, j);
    x->value[5][N - 1] = 0.5;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const double a = x->value[i][j], b = x->value[j][i];
            x->united[i][j] = takes_larger ? fmax(a, b) : fmin(a, b); /* the number, not NAN */
        }
}

/* The own rows of the graph, columns in disorder. */
static ikt_directed make_rows(ikt_context *ctx, const ikt_rows *rows, const numbers *x) {
    ikt_directed out = {.n_local = rows->count};
    succeed(ctx, ikt_alloc(ctx, &out.start, rows->count + 1, sizeof *out.start, "test"));
    succeed(ctx, ikt_alloc(ctx, &out.column, rows->count * N, sizeof *out.column, "test"));
    succeed(ctx, ikt_alloc(ctx, &out.value, rows->count * N, sizeof *out.value, "test"));
    for (int64_t i = 0; i < rows->count; i++) {
        int64_t at = out.start[i];
        for (int j = N - 1; j >= 0; j--) {
            const double value = x->value[rows->first + i][j];
            if (isnan(value)) continue;
            out.column[at] = (uint32_t)j;
            out.value[at++] = (float)value;
        }
        out.start[i + 1] = at;
    }
    return out;
}

static void both_directions_become_one_number(void **state) {
    ikt_context *ctx = *state;
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    static numbers x;
    for (int larger = 0; larger < 2; larger++)
        for (int threads = 1; threads <= 2; threads++) {
            ikt_context_set_threads(ctx, threads);
            make_numbers(&x, larger);
            ikt_directed pairs = make_rows(ctx, &rows, &x);
            succeed(ctx, ikt_directed_unite(ctx, &rows, larger, &pairs));
            for (int64_t i = 0; i < rows.count; i++) {
                int64_t at = pairs.start[i];
                for (int j = 0; j < N; j++) {
                    const double wanted = x.united[rows.first + i][j];
                    if (isnan(wanted)) continue;
                    assert_int_equal(pairs.column[at], j);
                    assert_true(pairs.value[at++] == (float)wanted);
                }
                assert_int_equal(at, pairs.start[i + 1]);
            }
            ikt_directed_destroy(&pairs);
        }
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* --- D ---------------------------------------------------------------------------------------- */

/* D of all pairs by the definition. */
static void plain_d(const numbers *x, bool are_distances, double d[N][N]) {
    double scale[N], mean = 0, largest = 0, most = 0;
    for (int i = 0; i < N; i++) {
        double sorted[N], sum = 0;
        int count = 0, taken = 0;
        for (int j = 0; j < N; j++) {
            if (isnan(x->united[i][j])) continue;
            int at = count++;
            for (; at > 0 && sorted[at - 1] > x->united[i][j]; at--)
                sorted[at] = sorted[at - 1];
            sorted[at] = x->united[i][j];
            largest = fmax(largest, x->united[i][j]);
        }
        for (int e = 2; e < 5 && e < count; e++, taken++) /* the third to the fifth */
            sum += sorted[e];
        scale[i] = taken > 0 ? sum / taken : sorted[count - 1];
        mean += scale[i] / N;
    }
    for (int i = 0; i < N; i++)
        scale[i] = fmax(scale[i], 1e-3 * mean);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const double u = x->united[i][j];
            d[i][j] = are_distances ? u * u / (scale[i] * scale[j]) : -log(u / largest);
            if (!isnan(u)) most = fmax(most, d[i][j]);
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            if (isnan(x->united[i][j])) d[i][j] = most;
}

static ikt_similarity make_similarity(ikt_context *ctx, const ikt_rows *rows, const numbers *x,
                                      bool are_distances) {
    ikt_similarity s;
    double largest = 0;
    ikt_joined joined = {.pairs = make_rows(ctx, rows, x), .are_distances = are_distances};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            largest = fmax(largest, x->value[i][j]);
    for (int64_t e = 0; e < joined.pairs.start[rows->count]; e++) {
        float *value = &joined.pairs.value[e];
        *value = are_distances ? *value * *value : (float)((double)*value / largest);
    }
    succeed(ctx, ikt_directed_unite(ctx, rows, !are_distances, &joined.pairs));
    succeed(ctx, ikt_similarity_of_graph(ctx, rows, &joined, 3, 5, &s));
    assert_null(joined.pairs.start);
    return s;
}

/* Every own row with every row, by tiles and one by one. */
static void expect_d(const ikt_rows *rows, const ikt_similarity *s, double d[N][N]) {
    const ikt_tiles_span tiles = ikt_pool_tiles(rows);
    uint32_t payload[N];
    int32_t place[N];
    assert_int_equal(s->bytes, sizeof *payload);
    for (int j = 0; j < N; j++) {
        payload[j] = (uint32_t)(N - 1 - j);
        place[j] = N - 1 - j; /* row j */
    }
    for (int64_t tile = tiles.first; tile < tiles.last; tile++) {
        float found[N * IKT_TILE], one;
        int64_t begin, end;
        ikt_pool_tile_rows(rows, tile, &begin, &end);
        ikt_similarity_tile(s, tile, (const char *)payload, sizeof *payload, place, N, NULL, found);
        for (int64_t i = begin; i < end; i++)
            for (int j = 0; j < N; j++) {
                const int64_t row = rows->first + i;
                const char *other = (const char *)&payload[place[j]];
                uint32_t own;
                s->kind->put(s, i, &own);
                assert_int_equal(own, row);
                s->kind->some(s, (const char *)&own, &other, 1, NULL, &one);
                assert_true(one == found[j * IKT_TILE + row % IKT_TILE]);
                if (j != row && fabs((double)one - d[row][j]) > 2e-6 * (1 + d[row][j]))
                    fail_msg("D of rows %d and %d: %g, not %g", (int)row, j, (double)one,
                             d[row][j]);
            }
    }
}

static void pairs_have_the_d_of_the_definition(void **state) {
    ikt_context *ctx = *state;
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    static numbers x;
    static double d[N][N];
    for (int k = 0; k < 2; k++) {
        const bool are_distances = k == 0;
        make_numbers(&x, !are_distances);
        plain_d(&x, are_distances, d);
        ikt_similarity s = make_similarity(ctx, &rows, &x, are_distances);
        expect_d(&rows, &s, d);
        /* The near rows; where there are fewer, the nearest one again, as far as any other. */
        ikt_neighbours near;
        succeed(ctx, ikt_similarity_nearest(ctx, &s, NULL, M, &near));
        int64_t padded = 0;
        for (int64_t i = 0; i < rows.count; i++) {
            const int64_t row = rows.first + i;
            bool is_taken[N] = {false};
            for (int b = 0; b < M; b++) {
                int best = -1;
                for (int j = 0; j < N; j++)
                    if (!is_taken[j] && !isnan(x.united[row][j]) &&
                        (best < 0 || d[row][j] < d[row][best]))
                        best = j;
                padded += best < 0;
                assert_int_equal(near.row[i * M + b], best < 0 ? (int)near.row[i * M] : best);
                assert_true(best >= 0 || near.score[i * M + b] == s.joined.apart);
                if (best >= 0) is_taken[best] = true;
            }
        }
        assert_true(ikt_sum_one(ctx, padded) > 0);
        ikt_neighbours_destroy(&near);
        ikt_similarity_destroy(&s);
    }
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* A graph whose pairs are all alike tells joined rows from others all the same. */
static void equal_numbers_leave_others_farther(void **state) {
    ikt_context *ctx = *state;
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    static numbers x;
    make_numbers(&x, true);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            if (!isnan(x.value[i][j])) x.value[i][j] = 0.7;
    for (int k = 0; k < 2; k++) {
        ikt_similarity s = make_similarity(ctx, &rows, &x, k == 0);
        const double joined = k == 0 ? 1 : 0;
        for (int64_t e = 0; e < s.joined.pairs.start[rows.count]; e++)
            assert_true(fabs((double)s.joined.pairs.value[e] - joined) < 1e-6);
        assert_true(fabs((double)s.joined.apart - joined - 1) < 1e-6);
        ikt_similarity_destroy(&s);
    }
}

IKT_MPI_TESTS(ikt_test(both_directions_become_one_number),
              ikt_test(pairs_have_the_d_of_the_definition),
              ikt_test(equal_numbers_leave_others_farther))
