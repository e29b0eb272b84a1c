/* What TriMap draws by: similarities of single pairs and of tiles against their definition, and
 * fixed triplets against theirs. */
#include "support/trimap_world.h"

#include "base/comm.h"
#include "sampled/far_similarity.h"
#include "sampled/fixed_triplets.h"
#include "sampled/pool.h"

/* --- similarities ----------------------------------------------------------------------------- */

/* D of a tile has the bits of D of single pairs, and both are the definition. */
static void expect_similarities(const ikt_rows *rows, const ikt_similarity *s,
                                double plain(const void *of, int64_t i, int64_t j),
                                const void *of) {
    enum { MOST = 8 };
    const size_t stride = s->bytes;
    const int64_t count = rows->count < MOST ? rows->count : MOST;
    char *payload = calloc((size_t)count + 1, stride), *row = malloc(stride);
    void *scratch = aligned_alloc(64, 1 << 16), *some = aligned_alloc(64, 1 << 16);
    int32_t place[MOST];
    for (int64_t a = 0; a < count; a++) {
        s->kind->put(s, count - 1 - a, payload + (size_t)a * stride);
        place[a] = (int32_t)a;
    }
    const ikt_tiles_span tiles = ikt_pool_tiles(rows);
    assert_true(s->scorer.scratch_bytes <= 1 << 16);
    for (int64_t tile = tiles.first; tile < tiles.last; tile++) {
        _Alignas(64) float d[MOST * IKT_TILE];
        float one;
        int64_t begin, end;
        ikt_pool_tile_rows(rows, tile, &begin, &end);
        ikt_similarity_tile(s, tile, payload, stride, place, count, scratch, d);
        for (int64_t i = begin; i < end; i++) {
            s->kind->put(s, i, row);
            for (int64_t a = 0; a < count; a++) {
                const char *other = payload + (size_t)a * stride;
                const float found = d[a * IKT_TILE + (rows->first + i) % IKT_TILE];
                const double wanted = plain(of, rows->first + i, rows->first + count - 1 - a);
                s->kind->some(s, row, &other, 1, some, &one);
                assert_true(found == one);
                assert_true(fabs((double)found - wanted) <= 1e-5 * (1 + wanted));
            }
        }
    }
    free(payload);
    free(row);
    free(scratch);
    free(some);
}

static double plain_of_rows(const void *of, int64_t i, int64_t j) {
    const world *w = of;
    return (double)w->d[i][j];
}

enum { CODES = 41 };

static int code_of(int64_t i, int64_t p) {
    return (int)ikt_rng_below(4, IKT_RNG_TEST, i, (uint64_t)p, 3);
}

static double plain_of_codes(const void *of, int64_t i, int64_t j) {
    int shared = 0;
    (void)of;
    for (int p = 0; p < CODES; p++)
        shared += code_of(i, p) == code_of(j, p);
    return -log((1.0 + shared) / (1.0 + CODES));
}

/* Codes of the own rows; free(codes.code). */
static ikt_codes make_codes(const ikt_rows *rows, int width) {
    ikt_codes codes = {.n_local = rows->count, .t = CODES, .stride = 192, .width = width};
    const size_t bytes = (size_t)(192 * (rows->count + 1));
    codes.code = aligned_alloc(64, bytes);
    memset(codes.code, 0, bytes);
    for (int64_t i = 0; i < rows->count; i++)
        for (int p = 0; p < CODES; p++)
            ikt_code_set(&codes, i, p, (uint32_t)code_of(rows->first + i, p));
    return codes;
}

static void similarities_are_those_of_the_definition(void **state) {
    ikt_context *ctx = *state;
    static world w;
    ikt_similarity s;
    make_world(ctx, &w);
    succeed(ctx, ikt_similarity_of_rows(ctx, &w.rows, &w.lists, &w.features, 3, 5, &s));
    expect_similarities(&w.rows, &s, plain_of_rows, &w);
    ikt_similarity_destroy(&s);
    /* The same distances as a matrix. */
    ikt_features matrix;
    succeed(ctx, ikt_features_create(ctx, &w.rows, N, NULL, &matrix));
    for (int64_t i = 0; i < w.rows.count; i++)
        for (int64_t j = 0; j < N; j++)
            ikt_features_rows(&matrix)[i * N + j] =
                square_between(w.x + (w.rows.first + i) * D, w.x + j * D);
    succeed(ctx, ikt_features_turn(ctx, &matrix));
    succeed(ctx, ikt_similarity_of_matrix(ctx, &w.rows, &w.lists, &matrix, 3, 5, &s));
    expect_similarities(&w.rows, &s, plain_of_rows, &w);
    ikt_similarity_destroy(&s);
    ikt_features_destroy(&matrix);
    const int widths[] = {1, 2, 4};
    for (int k = 0; k < 3; k++) {
        ikt_codes codes = make_codes(&w.rows, widths[k]);
        succeed(ctx, ikt_similarity_of_codes(ctx, &w.rows, &codes, &s));
        expect_similarities(&w.rows, &s, plain_of_codes, NULL);
        ikt_similarity_destroy(&s);
        free(codes.code);
    }
    destroy_world(&w);
}

/* How many codes of two rows differ. */
static float differing(int64_t i, int64_t j) {
    int count = 0;
    for (int p = 0; p < CODES; p++)
        count += code_of(i, p) != code_of(j, p);
    return (float)count;
}

/* Among the rows of a list, in whichever order it is, by D; the lower one of two that are as near,
 * of which few codes make many. */
static void the_lower_row_of_two_as_near_comes_first(void **state) {
    ikt_context *ctx = *state;
    static world w;
    ikt_similarity s;
    ikt_neighbours near;
    int64_t ties = 0;
    make_world(ctx, &w);
    ikt_codes codes = make_codes(&w.rows, 1);
    for (int64_t i = 0; i < w.rows.count; i++)
        for (int64_t e = 0; e < LIST; e++) {
            const int64_t row = w.rows.first + i, other = (row + 5 * (LIST - e)) % N;
            w.lists.row[i * LIST + e] = (uint32_t)other;
            w.lists.score[i * LIST + e] = differing(row, other);
        }
    succeed(ctx, ikt_similarity_of_codes(ctx, &w.rows, &codes, &s));
    succeed(ctx, ikt_similarity_nearest(ctx, &s, &w.lists, M, &near));
    for (int64_t i = 0; i < w.rows.count; i++) {
        const int64_t row = w.rows.first + i;
        float among[N];
        uint32_t wanted[M];
        for (int j = 0; j < N; j++)
            among[j] = INFINITY;
        for (int64_t e = 0; e < LIST; e++)
            among[w.lists.row[i * LIST + e]] = w.lists.score[i * LIST + e];
        sort_row(among, (int)row, M, wanted);
        assert_memory_equal(near.row + i * M, wanted, sizeof wanted);
        for (int b = 1; b < M; b++)
            ties += among[wanted[b]] == among[wanted[b - 1]];
    }
    assert_true(ikt_sum_one(ctx, ties) > N / 2);
    ikt_neighbours_destroy(&near);
    ikt_similarity_destroy(&s);
    free(codes.code);
    destroy_world(&w);
}

/* --- fixed triplets --------------------------------------------------------------------------- */

enum { SEEDS = 12, PLACES = 120, RANDOM = 2 };

/* Each triplet is there once in each of its three roles. */
static void expect_three_roles(ikt_context *ctx, const world *w,
                               const ikt_triplet_list as[IKT_TRIPLET_ROLES]) {
    int64_t count[IKT_TRIPLET_ROLES];
    for (int role = 0; role < IKT_TRIPLET_ROLES; role++)
        count[role] = as[role].start[w->rows.count];
    ikt_sum_i64(ctx, count, IKT_TRIPLET_ROLES);
    assert_int_equal(count[IKT_AS_ANCHOR], count[IKT_AS_NEAR]);
    assert_int_equal(count[IKT_AS_ANCHOR], count[IKT_AS_FAR]);
}

/* The first row is the nearer one; where it is the nearest of all, counts the second one. */
static void expect_anchored(const world *w, const ikt_triplet_list *list, int64_t i,
                            int64_t seen[N][N]) {
    const int64_t row = w->rows.first + i;
    for (int64_t e = list->start[i]; e < list->start[i + 1]; e++) {
        const ikt_triplet_entry *t = &list->entry[e];
        assert_true(t->first != t->second && (int64_t)t->second != row);
        assert_true(w->d[row][t->first] < 1.00001f * w->d[row][t->second]);
        assert_true(t->weight == 1);
        if ((int)t->first == w->near[row][0]) seen[row][t->second]++;
    }
}

/* Ascending by the anchor, and never the row itself. */
static void expect_ascending(const world *w, const ikt_triplet_list *list, int64_t i) {
    const int64_t row = w->rows.first + i;
    for (int64_t e = list->start[i]; e < list->start[i + 1]; e++) {
        const ikt_triplet_entry *t = &list->entry[e];
        assert_true((int64_t)t->first != row && (int64_t)t->second != row);
        assert_true(e == list->start[i] || t->first >= t[-1].first);
    }
}

/* All rows but i and its nearest one are farther than that, and equally likely. */
static void expect_uniform(const world *w, int64_t seen[N][N]) {
    const double expected = (double)SEEDS * PLACES / (N - 2);
    double chi = 0, cells = 0;
    for (int64_t i = w->rows.first; i < w->rows.first + w->rows.count; i++)
        for (int k = 0; k < N; k++) {
            if (k == i || k == w->near[i][0]) continue;
            chi += pow((double)seen[i][k] - expected, 2) / expected;
            cells++;
        }
    assert_true(cells == 0 || fabs(chi - cells) < 5 * sqrt(2 * cells) + 0.05 * cells);
}

static void fixed_triplets_are_what_they_should_be(void **state) {
    ikt_context *ctx = *state;
    static world w;
    static int64_t seen[N][N];
    make_world(ctx, &w);
    memset(seen, 0, sizeof seen);
    ikt_triplet_settings s = usual(N, 4);
    s.neighbours = 1;
    s.outliers = PLACES;
    s.random = RANDOM;
    s.weights = IKT_TRIPLET_UNIT;
    ikt_similarity similarity;
    ikt_neighbours near;
    succeed(ctx, ikt_similarity_of_rows(ctx, &w.rows, &w.lists, &w.features, 3, 5, &similarity));
    succeed(ctx, ikt_similarity_nearest(ctx, &similarity, &w.lists, 1, &near));
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        ikt_fixed_triplets triplets;
        succeed(ctx, ikt_fixed_triplets_draw(ctx, &similarity, &near, &s, seed, &triplets));
        assert_int_equal(triplets.drawn, N * (PLACES + RANDOM));
        expect_three_roles(ctx, &w, triplets.as);
        for (int64_t i = 0; i < w.rows.count; i++) {
            expect_anchored(&w, &triplets.as[IKT_AS_ANCHOR], i, seen);
            expect_ascending(&w, &triplets.as[IKT_AS_NEAR], i);
            expect_ascending(&w, &triplets.as[IKT_AS_FAR], i);
        }
        ikt_fixed_triplets_destroy(&triplets);
    }
    expect_uniform(&w, seen);
    ikt_neighbours_destroy(&near);
    ikt_similarity_destroy(&similarity);
    destroy_world(&w);
}

static bool is_weight(const ikt_triplet_entry *t, double l) {
    return fabs((double)t->weight - 2 * (sqrt(1 + l) - 1)) < 1e-5;
}

/* The logarithm of L + 1 to the base of TriMap, and of a tenth of L where both rows are random:
 * each triplet has one of the two, and all have a weight, as L is above 0 for each. */
static void fixed_triplets_have_their_weights(void **state) {
    enum { NEAR = 3, OUTLIERS = 2, OF_RANDOM = 20 };
    ikt_context *ctx = *state;
    static world w;
    make_world(ctx, &w);
    ikt_triplet_settings s = usual(N, 4);
    s.neighbours = NEAR;
    s.outliers = OUTLIERS;
    s.random = OF_RANDOM;
    ikt_similarity similarity;
    ikt_neighbours near;
    ikt_fixed_triplets triplets;
    int64_t count[2] = {0, 0}; /* near ones, random ones */
    succeed(ctx, ikt_similarity_of_rows(ctx, &w.rows, &w.lists, &w.features, 3, 5, &similarity));
    succeed(ctx, ikt_similarity_nearest(ctx, &similarity, &w.lists, NEAR, &near));
    succeed(ctx, ikt_fixed_triplets_draw(ctx, &similarity, &near, &s, 3, &triplets));
    const ikt_triplet_list *list = &triplets.as[IKT_AS_ANCHOR];
    for (int64_t i = 0; i < w.rows.count; i++)
        for (int64_t e = list->start[i]; e < list->start[i + 1]; e++) {
            const int64_t row = w.rows.first + i;
            const ikt_triplet_entry *t = &list->entry[e];
            const double l = (double)(w.d[row][t->second] - w.d[row][t->first]);
            const bool is_random = is_weight(t, 0.1 * l);
            bool is_near = false;
            for (int b = 0; b < NEAR; b++)
                is_near |= (int)t->first == w.near[row][b];
            assert_true(is_random || (is_near && is_weight(t, l)));
            count[is_random]++;
        }
    ikt_sum_i64(ctx, count, 2);
    assert_int_equal(count[0], N * NEAR * OUTLIERS);
    assert_int_equal(count[1], N * OF_RANDOM);
    ikt_fixed_triplets_destroy(&triplets);
    ikt_neighbours_destroy(&near);
    ikt_similarity_destroy(&similarity);
    destroy_world(&w);
}

IKT_MPI_TESTS(ikt_test(similarities_are_those_of_the_definition),
              ikt_test(the_lower_row_of_two_as_near_comes_first),
              ikt_test(fixed_triplets_are_what_they_should_be),
              ikt_test(fixed_triplets_have_their_weights))
