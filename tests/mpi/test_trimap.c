/* TriMap: its gradient against plain sums in double precision, with all far rows and on average
 * over pools; fixed triplets against their definition; the same bits on any ranks and threads;
 * stopping in the middle of an epoch; what is refused. */
#include "io/io_files.h"

#include <math.h>
#include <signal.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/watch.h"
#include "io/convert/table_writer.h"
#include "objective/objective.h"
#include "pipeline/outcome.h"
#include "sampled/far_similarity.h"
#include "sampled/fixed_triplets.h"
#include "sampled/pool.h"
#include "support/equal_cells.h"

static void succeed(ikt_context *ctx, ikt_status st) {
    if (st != IKT_OK) fail_msg("%s", ikt_message(ctx));
}

/* --- a small world of known rows -------------------------------------------------------------- */

enum { N = 70, D = 4, M = 5, LIST = 12 };

typedef struct {
    ikt_rows rows;
    ikt_features features;
    ikt_neighbours lists;
    float x[N * D], d[N][N]; /* D_ij of all pairs, */
    int near[N][M];          /* and the near rows by it */
} world;

static float square_between(const float *a, const float *b) {
    float sum = 0;
    for (int c = 0; c < D; c++) {
        const float gap = a[c] - b[c];
        sum = fmaf(gap, gap, sum);
    }
    return sum;
}

/* The k nearest others of row i by (key, row), by selection. */
static void sort_row(const float *key, int i, int k, uint32_t *row) {
    bool is_taken[N] = {false};
    for (int e = 0; e < k; e++) {
        int best = -1;
        for (int j = 0; j < N; j++)
            if (j != i && !is_taken[j] && (best < 0 || key[j] < key[best])) best = j;
        is_taken[best] = true;
        row[e] = (uint32_t)best;
    }
}

static void make_world(ikt_context *ctx, world *w) {
    static float square[N][N];
    double scale[N];
    uint32_t row[LIST];
    *w = (world){.rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx))};
    for (int e = 0; e < N * D; e++)
        w->x[e] = (float)ikt_rng_normal(3, IKT_RNG_TEST, e, 0);
    succeed(ctx, ikt_neighbours_create(ctx, &w->rows, LIST, &w->lists));
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++)
            square[i][j] = square_between(w->x + i * D, w->x + j * D);
        sort_row(square[i], i, LIST, row);
        scale[i] = 0;
        for (int e = 2; e < 5; e++)
            scale[i] += sqrt((double)square[i][row[e]]) / 3;
        const int64_t own = i - w->rows.first;
        for (int e = 0; e < LIST && own >= 0 && own < w->rows.count; e++) {
            w->lists.row[own * LIST + e] = row[e];
            w->lists.score[own * LIST + e] = square[i][row[e]];
        }
    }
    for (int i = 0; i < N; i++) {
        float among[N];
        for (int j = 0; j < N; j++) {
            w->d[i][j] = square[i][j] / ((float)scale[i] * (float)scale[j]);
            among[j] = INFINITY;
        }
        sort_row(square[i], i, LIST, row);
        for (int e = 0; e < LIST; e++)
            among[row[e]] = w->d[i][row[e]];
        sort_row(among, i, M, row);
        for (int b = 0; b < M; b++)
            w->near[i][b] = (int)row[b];
    }
    succeed(ctx, ikt_features_create(ctx, &w->rows, D, &ikt_metric_euclidean, &w->features));
    memcpy(ikt_features_rows(&w->features), w->x + w->rows.first * D,
           (size_t)(w->rows.count * D) * sizeof *w->x);
    succeed(ctx, ikt_features_turn(ctx, &w->features));
}

static void destroy_world(world *w) {
    ikt_features_destroy(&w->features);
    ikt_neighbours_destroy(&w->lists);
}

static ikt_trimap_settings usual(int64_t pool, int64_t far) {
    return (ikt_trimap_settings){.triplets = IKT_TRIPLETS_POOL,
                                 .neighbours = M,
                                 .outliers = 3,
                                 .random = 0,
                                 .weights = IKT_TRIPLET_LOG,
                                 .t = 2,
                                 .t_prime = 2,
                                 .scale_from = 3,
                                 .scale_to = 5,
                                 .pool_rows = pool,
                                 .redraw = 1,
                                 .far_rows = far};
}

static float place_of(int i, int c) {
    return (float)(0.7 * ikt_rng_normal(5, IKT_RNG_TEST, i, (uint64_t)c));
}

static ikt_objective make_objective(ikt_context *ctx, const world *w, int q,
                                    const ikt_trimap_settings *s) {
    const ikt_objective_inputs inputs = {.rows = w->rows,
                                         .q = q,
                                         .options = {.seed = 9, .trimap = *s},
                                         .iterations = 400,
                                         .neighbours = &w->lists,
                                         .features = &w->features};
    ikt_objective objective;
    succeed(ctx, ikt_objective_create(ctx, &ikt_objective_trimap, &inputs, &objective));
    for (int64_t i = 0; i < w->rows.count; i++)
        for (int c = 0; c < q; c++)
            objective.y[q * i + c] = place_of((int)(w->rows.first + i), c);
    return objective;
}

/* The whole gradient of all own rows at an iteration. */
static double gradient_of(ikt_context *ctx, ikt_objective *objective, int64_t iteration,
                          bool want_value, int64_t n_local, double *out) {
    ikt_gradient g;
    ikt_objective_terms terms;
    succeed(ctx, objective->kind->evaluate(objective, iteration, want_value, &g, &terms));
    for (int64_t e = 0; e < objective->q * n_local; e++)
        out[e] = (double)g.attraction_scale * (double)g.attraction[e] +
                 (double)g.repulsion_scale * (double)g.repulsion[e];
    return terms.value;
}

/* The gradient of sum_i sum_b m' mean over k != i of the loss of (i, j_b, k), in plain sums. */
static void plain_gradient(const world *w, int q, const ikt_trimap_settings *s, double most,
                           double g[N * 3]) {
    const ikt_triplet_rule rule = {s->t, s->t_prime};
    memset(g, 0, N * 3 * sizeof *g);
    for (int i = 0; i < N; i++)
        for (int b = 0; b < M; b++)
            for (int k = 0; k < N; k++) {
                const int j = w->near[i][b];
                const double l = (double)(w->d[i][k] - w->d[i][j]);
                double u[3], v[3], u_square = 0, v_square = 0;
                if (k == i || k == j || !(l > 0)) continue;
                for (int c = 0; c < q; c++) {
                    u[c] = (double)place_of(i, c) - (double)place_of(j, c);
                    v[c] = (double)place_of(i, c) - (double)place_of(k, c);
                    u_square += u[c] * u[c];
                    v_square += v[c] * v[c];
                }
                const ikt_triplet_terms terms = ikt_triplet(&rule, u_square, v_square);
                const double weight =
                    ikt_triplet_weight((ikt_triplet_weighing)s->weights, l, most) *
                    (double)s->outliers / (N - 1);
                for (int c = 0; c < q; c++) {
                    g[q * i + c] += weight * (terms.c_j * u[c] - terms.c_k * v[c]);
                    g[q * j + c] -= weight * terms.c_j * u[c];
                    g[q * k + c] += weight * terms.c_k * v[c];
                }
            }
}

/* --- the pool --------------------------------------------------------------------------------- */

/* A pool of all rows, all of which each tile looks at: nothing is left to chance. */
static void all_far_rows_give_the_gradient_itself(void **state) {
    ikt_context *ctx = *state;
    static world w;
    static double plain[N * 3], found[N * 3];
    const struct {
        double t, t_prime;
        ikt_triplet_weighing weights;
    } rules[] = {{2, 2, IKT_TRIPLET_LOG},   {2, 2, IKT_TRIPLET_UNIT}, {1, 2, IKT_TRIPLET_UNIT},
                 {1, 1, IKT_TRIPLET_UNIT},  {0, 2, IKT_TRIPLET_LOG},  {0.5, 1.5, IKT_TRIPLET_LOG},
                 {3, 1.5, IKT_TRIPLET_LOG}, {1.5, 3, IKT_TRIPLET_LOG}};
    make_world(ctx, &w);
    for (int q = 1; q <= 3; q++)
        for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
            ikt_trimap_settings s = usual(N, N);
            double size = 0;
            s.t = rules[k].t;
            s.t_prime = rules[k].t_prime;
            s.weights = rules[k].weights;
            ikt_objective objective = make_objective(ctx, &w, q, &s);
            gradient_of(ctx, &objective, 3, false, w.rows.count, found);
            plain_gradient(&w, q, &s, 0, plain);
            for (int e = 0; e < N * q; e++)
                size = fmax(size, fabs(plain[e]));
            for (int64_t e = 0; e < q * w.rows.count; e++) {
                const double wanted = plain[q * w.rows.first + e];
                if (fabs(found[e] - wanted) > 2e-5 * size)
                    fail_msg("q %d, t %g, t' %g: %g is not %g", q, s.t, s.t_prime, found[e],
                             wanted);
            }
            ikt_objective_destroy(&objective);
        }
    destroy_world(&w);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static int descending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Ratios are divided by the greatest of a sample of all triplets: it is that of one of them, and
 * one of the greatest. */
static void weights_by_ratios_are_those_of_the_sample(void **state) {
    enum { GREATEST = 200 };
    ikt_context *ctx = *state;
    static world w;
    static double plain[N * 3], found[N * 3], l[N * N];
    ikt_trimap_settings s = usual(N, N);
    make_world(ctx, &w);
    s.weights = IKT_TRIPLET_RATIO;
    ikt_objective objective = make_objective(ctx, &w, 2, &s);
    gradient_of(ctx, &objective, 0, false, w.rows.count, found);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            l[i * N + k] = k == i ? 0 : (double)(w.d[i][k] - w.d[i][w.near[i][0]]);
    qsort(l, N * N, sizeof *l, descending);
    int matching = 0;
    for (int e = 0; e < GREATEST; e++) {
        double off = 0, size = 0;
        plain_gradient(&w, 2, &s, l[e], plain);
        for (int c = 0; c < 2 * N; c++)
            size = fmax(size, fabs(plain[c]));
        for (int64_t c = 0; c < 2 * w.rows.count; c++)
            off = fmax(off, fabs(found[c] - plain[2 * w.rows.first + c]));
        ikt_max_f64(ctx, &off, 1);
        matching += off < 1e-4 * size;
    }
    assert_true(matching >= 1);
    ikt_objective_destroy(&objective);
    destroy_world(&w);
}

/* The mean over many epochs, in units of its own standard error: as normal numbers are. */
static void a_pool_is_unbiased(void **state) {
    ikt_context *ctx = *state;
    enum { EPOCHS = 800 };
    static world w;
    static double plain[N * 3], found[N * 3], sum[N * 3], squares[N * 3];
    make_world(ctx, &w);
    const int64_t pools[] = {N, 13}, fars[] = {3, 2};
    for (int k = 0; k < 2; k++) {
        const ikt_trimap_settings s = usual(pools[k], fars[k]);
        ikt_objective objective = make_objective(ctx, &w, 2, &s);
        double worst = 0, chi = 0;
        memset(sum, 0, sizeof sum);
        memset(squares, 0, sizeof squares);
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
            gradient_of(ctx, &objective, epoch, false, w.rows.count, found);
            for (int64_t e = 0; e < 2 * w.rows.count; e++) {
                sum[e] += found[e];
                squares[e] += found[e] * found[e];
            }
        }
        plain_gradient(&w, 2, &s, 0, plain);
        for (int64_t e = 0; e < 2 * w.rows.count; e++) {
            const double mean = sum[e] / EPOCHS;
            const double variance = (squares[e] / EPOCHS - mean * mean) / EPOCHS;
            const double z = (mean - plain[2 * w.rows.first + e]) / sqrt(variance);
            worst = fmax(worst, fabs(z));
            chi += z * z;
        }
        assert_true(worst < 4.2);
        assert_true(w.rows.count == 0 || chi / (2 * (double)w.rows.count) < 2.5);
        ikt_objective_destroy(&objective);
    }
    destroy_world(&w);
}

/* The gradient of s times the mean over pairs of other rows, j being the one that is more like i,
 * without what it does to j and k. */
static void plain_random(const world *w, const ikt_trimap_settings *s, double g[N * 3]) {
    const ikt_triplet_rule rule = {s->t, s->t_prime};
    memset(g, 0, N * 3 * sizeof *g);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++) {
                const double l = 0.1 * (double)(w->d[i][k] - w->d[i][j]);
                double u[2], v[2];
                if (j == i || k == i || !(l > 0)) continue;
                for (int c = 0; c < 2; c++) {
                    u[c] = (double)place_of(i, c) - (double)place_of(j, c);
                    v[c] = (double)place_of(i, c) - (double)place_of(k, c);
                }
                const ikt_triplet_terms terms =
                    ikt_triplet(&rule, u[0] * u[0] + u[1] * u[1], v[0] * v[0] + v[1] * v[1]);
                const double weight = ikt_triplet_weight(IKT_TRIPLET_LOG, l, 0) *
                                      (double)s->random * 2 / ((N - 1) * (N - 2));
                for (int c = 0; c < 2; c++)
                    g[2 * i + c] += weight * (terms.c_j * u[c] - terms.c_k * v[c]);
            }
}

/* Pools of two rows are uniform pairs; what random triplets add is the difference of two gradients
 * with the same draws. */
static void random_triplets_are_unbiased(void **state) {
    ikt_context *ctx = *state;
    enum { EPOCHS = 1500 };
    static world w;
    static double plain[N * 3], with[N * 3], without[N * 3], sum[N * 3], squares[N * 3];
    make_world(ctx, &w);
    ikt_trimap_settings s = usual(2, 2);
    ikt_objective bare = make_objective(ctx, &w, 2, &s);
    s.random = 3;
    ikt_objective full = make_objective(ctx, &w, 2, &s);
    memset(sum, 0, sizeof sum);
    memset(squares, 0, sizeof squares);
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        gradient_of(ctx, &full, epoch, false, w.rows.count, with);
        gradient_of(ctx, &bare, epoch, false, w.rows.count, without);
        for (int64_t e = 0; e < 2 * w.rows.count; e++) {
            const double added = with[e] - without[e];
            sum[e] += added;
            squares[e] += added * added;
        }
    }
    plain_random(&w, &s, plain);
    double worst = 0, chi = 0;
    for (int64_t e = 0; e < 2 * w.rows.count; e++) {
        const double mean = sum[e] / EPOCHS;
        const double variance = (squares[e] / EPOCHS - mean * mean) / EPOCHS;
        const double z = (mean - plain[2 * w.rows.first + e]) / sqrt(variance);
        worst = fmax(worst, fabs(z));
        chi += z * z;
    }
    assert_true(worst < 4.2);
    assert_true(w.rows.count == 0 || chi / (2 * (double)w.rows.count) < 2.5);
    ikt_objective_destroy(&bare);
    ikt_objective_destroy(&full);
    destroy_world(&w);
}

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
        ikt_similarity_payload(s, count - 1 - a, payload + (size_t)a * stride);
        place[a] = (int32_t)a;
    }
    const ikt_tiles_span tiles = ikt_pool_tiles(rows);
    assert_true(ikt_similarity_scratch(s) <= 1 << 16);
    for (int64_t tile = tiles.first; tile < tiles.last; tile++) {
        _Alignas(64) float d[MOST * IKT_TILE];
        float one;
        int64_t begin, end;
        ikt_pool_tile_rows(rows, tile, &begin, &end);
        ikt_similarity_tile(s, tile, payload, stride, place, count, scratch, d);
        for (int64_t i = begin; i < end; i++) {
            ikt_similarity_payload(s, i, row);
            for (int64_t a = 0; a < count; a++) {
                const char *other = payload + (size_t)a * stride;
                const float found = d[a * IKT_TILE + (rows->first + i) % IKT_TILE];
                const double wanted = plain(of, rows->first + i, rows->first + count - 1 - a);
                ikt_similarity_some(s, row, &other, 1, some, &one);
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

static void similarities_are_those_of_the_definition(void **state) {
    ikt_context *ctx = *state;
    static world w;
    ikt_similarity s;
    make_world(ctx, &w);
    succeed(ctx, ikt_similarity_create(ctx, &w.rows, &w.lists, &w.features, NULL, 3, 5, &s));
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
    succeed(ctx, ikt_similarity_create(ctx, &w.rows, &w.lists, &matrix, NULL, 3, 5, &s));
    expect_similarities(&w.rows, &s, plain_of_rows, &w);
    ikt_similarity_destroy(&s);
    ikt_features_destroy(&matrix);
    const int widths[] = {1, 2, 4};
    for (int k = 0; k < 3; k++) {
        ikt_codes codes = {.n_local = w.rows.count, .t = CODES, .stride = 192, .width = widths[k]};
        const size_t bytes = (size_t)(192 * (w.rows.count + 1));
        codes.code = aligned_alloc(64, bytes);
        memset(codes.code, 0, bytes);
        for (int64_t i = 0; i < w.rows.count; i++)
            for (int p = 0; p < CODES; p++)
                ikt_code_set(&codes, i, p, (uint32_t)code_of(w.rows.first + i, p));
        succeed(ctx, ikt_similarity_create(ctx, &w.rows, &w.lists, NULL, &codes, 3, 5, &s));
        expect_similarities(&w.rows, &s, plain_of_codes, NULL);
        ikt_similarity_destroy(&s);
        free(codes.code);
    }
    destroy_world(&w);
}

/* --- fixed triplets --------------------------------------------------------------------------- */

static void fixed_triplets_are_what_they_should_be(void **state) {
    ikt_context *ctx = *state;
    enum { SEEDS = 12, PLACES = 120 };
    static world w;
    static int64_t seen[N][N];
    make_world(ctx, &w);
    memset(seen, 0, sizeof seen);
    ikt_trimap_settings s = usual(N, 4);
    s.neighbours = 1;
    s.outliers = PLACES;
    s.random = 2;
    s.weights = IKT_TRIPLET_UNIT;
    ikt_similarity similarity;
    ikt_neighbours near;
    succeed(ctx,
            ikt_similarity_create(ctx, &w.rows, &w.lists, &w.features, NULL, 3, 5, &similarity));
    succeed(ctx, ikt_similarity_nearest(ctx, &similarity, &w.lists, 1, &near));
    for (int seed = 0; seed < SEEDS; seed++) {
        ikt_fixed_triplets triplets;
        succeed(ctx,
                ikt_fixed_triplets_draw(ctx, &similarity, &near, &s, (uint64_t)seed, &triplets));
        assert_int_equal(triplets.drawn, N * (PLACES + 2));
        const ikt_triplet_list *as = triplets.as;
        int64_t count[IKT_TRIPLET_ROLES];
        for (int role = 0; role < IKT_TRIPLET_ROLES; role++)
            count[role] = as[role].start[w.rows.count];
        ikt_sum_i64(ctx, count, IKT_TRIPLET_ROLES);
        assert_int_equal(count[IKT_AS_ANCHOR], count[IKT_AS_NEAR]);
        assert_int_equal(count[IKT_AS_ANCHOR], count[IKT_AS_FAR]);
        for (int64_t i = 0; i < w.rows.count; i++) {
            const int64_t row = w.rows.first + i;
            for (int64_t e = as[0].start[i]; e < as[0].start[i + 1]; e++) {
                const ikt_triplet_entry *t = &as[0].entry[e];
                assert_true(t->first != t->second && (int64_t)t->second != row);
                assert_true(w.d[row][t->first] < 1.00001f * w.d[row][t->second]);
                assert_true(t->weight == 1);
                if ((int)t->first == w.near[row][0]) seen[row][t->second]++;
            }
            /* Ascending by i, and never the row itself. */
            for (int role = IKT_AS_NEAR; role <= IKT_AS_FAR; role++)
                for (int64_t e = as[role].start[i]; e < as[role].start[i + 1]; e++) {
                    const ikt_triplet_entry *t = &as[role].entry[e];
                    assert_true((int64_t)t->first != row && (int64_t)t->second != row);
                    assert_true(e == as[role].start[i] || t->first >= t[-1].first);
                }
        }
        ikt_fixed_triplets_destroy(&triplets);
    }
    /* All rows but i and its nearest one are farther than that, and equally likely. */
    double chi = 0, cells = 0;
    for (int64_t i = w.rows.first; i < w.rows.first + w.rows.count; i++)
        for (int k = 0; k < N; k++) {
            const double expected = (double)SEEDS * PLACES / (N - 2);
            if (k == i || k == w.near[i][0]) continue;
            chi += pow((double)seen[i][k] - expected, 2) / expected;
            cells++;
        }
    assert_true(cells == 0 || fabs(chi - cells) < 5 * sqrt(2 * cells) + 0.05 * cells);
    ikt_neighbours_destroy(&near);
    ikt_similarity_destroy(&similarity);
    destroy_world(&w);
}

/* The value is a mean over the triplets, the gradient that of their sum: by differences. */
static void the_fixed_gradient_is_that_of_the_value(void **state) {
    ikt_context *ctx = *state;
    static world w;
    static double found[N * 3], ignored[N * 3];
    make_world(ctx, &w);
    for (int q = 1; q <= 3; q++) {
        ikt_trimap_settings s = usual(N, 4);
        s.triplets = IKT_TRIPLETS_FIXED;
        s.random = 3;
        s.t = q == 1 ? 2 : q == 2 ? 1.5 : 1;
        const double drawn = (double)(N * (M * s.outliers + s.random)), step = 0x1p-7;
        ikt_objective objective = make_objective(ctx, &w, q, &s);
        gradient_of(ctx, &objective, 0, false, w.rows.count, found);
        for (int row = 0; row < N; row += 9)
            for (int c = 0; c < q; c++) {
                const int64_t own = row - w.rows.first;
                const bool is_own = own >= 0 && own < w.rows.count;
                float *at = is_own ? &objective.y[q * own + c] : NULL;
                const float was = is_own ? *at : 0;
                const double offset[] = {-2, -1, 1, 2};
                double value[4], difference = 0, moved[4] = {0};
                for (int k = 0; k < 4; k++) {
                    if (is_own) *at = was + (float)(offset[k] * step);
                    if (is_own) moved[k] = (double)*at - (double)was;
                    value[k] = drawn * gradient_of(ctx, &objective, 1, true, w.rows.count, ignored);
                }
                if (!is_own) continue;
                *at = was;
                difference = 4.0 / 3 * (value[2] - value[1]) / (moved[2] - moved[1]) -
                             1.0 / 3 * (value[3] - value[0]) / (moved[3] - moved[0]);
                assert_true(fabs(difference - found[q * own + c]) < 1e-4);
            }
        ikt_objective_destroy(&objective);
    }
    destroy_world(&w);
}

/* What the plan says of an objective is what it takes, where every other row is a boundary row and
 * every edge is cut; and not twice as much. */
static void memory_is_as_planned(void **state) {
    ikt_context *ctx = *state;
    static world w;
    make_world(ctx, &w);
    const bool is_alone = ikt_size(ctx) == 1;
    const int64_t slack = 1 << 14; /* structs, and arrays of ranks */
    for (int way = 0; way < 2; way++) {
        ikt_trimap_settings s = usual(N, 4);
        s.triplets = way == 0 ? IKT_TRIPLETS_FIXED : IKT_TRIPLETS_POOL;
        s.random = 3;
        const int64_t before = ikt_memory_now(ctx);
        ikt_objective objective = make_objective(ctx, &w, 2, &s);
        const int64_t taken = ikt_memory_now(ctx) - before;
        const ikt_objective_shape shape = {.rows = w.rows,
                                           .q = 2,
                                           .options = {.trimap = s},
                                           .cut = is_alone ? 0 : 1,
                                           .boundary = N - w.rows.count,
                                           .threads = ikt_threads(ctx),
                                           .columns = D};
        const int64_t planned = ikt_objective_trimap.memory(&ikt_objective_trimap, &shape);
        if (taken > planned + slack || (is_alone && way == 1 && planned > 2 * taken))
            fail_msg("way %d: %lld bytes were planned, %lld taken", way, (long long)planned,
                     (long long)taken);
        ikt_objective_destroy(&objective);
    }
    destroy_world(&w);
}

/* --- runs ------------------------------------------------------------------------------------- */

enum { ROWS = 333, COLUMNS = 6, CLASSES = 4, ITERATIONS = 45, STOP_AT = 17 };

static int64_t stop_at = -1;

/* TriMap that asks to be stopped on the way. */
static ikt_status evaluate_and_stop(ikt_objective *objective, int64_t iteration, bool want_value,
                                    ikt_gradient *gradient, ikt_objective_terms *terms) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (iteration == stop_at && rank == 0) raise(SIGTERM);
    return ikt_objective_trimap.evaluate(objective, iteration, want_value, gradient, terms);
}

static void set(ikt_context *ctx, ikt_settings *settings, const char *text) {
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    ikt_settings_parts(settings, parts);
    succeed(ctx, ikt_config_override(ctx, parts, IKT_SETTINGS_PARTS, text));
}

typedef struct {
    char input[IO_NAME_MAX], output[IO_NAME_MAX], folder[IO_NAME_MAX];
    ikt_settings settings;
} setting;

/* copies   how many times each row is there */
static setting make_setting(ikt_context *ctx, int copies) {
    static float rows[ROWS * COLUMNS];
    int32_t labels[ROWS];
    char text[IO_NAME_MAX + 32];
    setting s;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    ikt_table_writer *table;
    for (int64_t e = 0; e < ROWS * COLUMNS; e++) {
        const int64_t of = e / COLUMNS / copies;
        rows[e] = (float)(ikt_rng_normal(7, IKT_RNG_TEST, of, (uint64_t)(e % COLUMNS)) +
                          4 * (double)(of % CLASSES == e % COLUMNS));
    }
    for (int i = 0; i < ROWS; i++)
        labels[i] = i / copies % CLASSES;
    io_name(ctx, "rows.h5", s.input);
    io_name(ctx, "run.h5", s.output);
    io_name(ctx, "checkpoint", s.folder);
    succeed(ctx, ikt_table_create(ctx, s.input, true, ROWS, COLUMNS, IKT_TYPE_F32, true, &table));
    succeed(ctx, ikt_table_write(table, 0, ikt_rank(ctx) == 0 ? ROWS : 0, rows, labels));
    succeed(ctx, ikt_table_close(&table, IKT_OK));
    memset(&s.settings, 0, sizeof s.settings);
    ikt_settings_parts(&s.settings, parts);
    succeed(ctx, ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS));
    snprintf(text, sizeof text, "input.file=%s", s.input);
    set(ctx, &s.settings, text);
    snprintf(text, sizeof text, "output.file=%s", s.output);
    set(ctx, &s.settings, text);
    snprintf(text, sizeof text, "layout.iterations=%d", ITERATIONS);
    set(ctx, &s.settings, text);
    set(ctx, &s.settings, "layout.objective=trimap");
    set(ctx, &s.settings, "layout.report_every=10");
    set(ctx, &s.settings, "run.checkpoint=none");
    set(ctx, &s.settings, "output.state=no");
    set(ctx, &s.settings, "output.overwrite=yes");
    return s;
}

static uint64_t embed(ikt_context *ctx, const ikt_settings *settings, double *value) {
    ikt_run run;
    succeed(ctx, ikt_pipeline_run(ctx, settings, NULL, &run));
    const ikt_trace *trace = &run.embedding.trace;
    const uint64_t hash = run.hash;
    assert_true(trace->point[trace->count - 1].value < trace->point[0].value);
    if (value) *value = trace->point[trace->count - 1].value;
    ikt_run_finish(ctx, &run);
    ikt_run_destroy(&run);
    return hash;
}

/* Rows in the order of the input and in that of cells; 333 rows are no whole tiles, and fewer than
 * a usual pool; epochs of one and of seven iterations. */
static const char *const variants[][4] = {
    {"trimap.triplets=fixed", "affinity.kind=knn", "affinity.search=exact", "layout.dimensions=2"},
    {"trimap.triplets=fixed", "affinity.kind=isolation", "affinity.search=approximate",
     "layout.dimensions=3"},
    {"trimap.triplets=pool", "affinity.kind=knn", "affinity.search=approximate", "trimap.redraw=7"},
    {"trimap.triplets=pool", "affinity.kind=knn", "trimap.pool_rows=50", "layout.dimensions=1"},
    {"trimap.triplets=pool", "affinity.kind=isolation", "affinity.search=exact",
     "trimap.pool_rows=64"},
    {"trimap.triplets=pool", "affinity.kind=isolation", "affinity.search=approximate",
     "layout.dimensions=3"},
    {"trimap.triplets=pool", "affinity.kind=gaussian", "trimap.weights=ratio", "trimap.t=1.5"},
    {"trimap.triplets=pool", "preprocess.metric=manhattan", "affinity.kind=knn",
     "trimap.t_prime=1"}};
enum { VARIANTS = sizeof variants / sizeof *variants };

static setting make_variant(ikt_context *ctx, int v) {
    setting s = make_setting(ctx, 1);
    for (int k = 0; k < 4; k++)
        set(ctx, &s.settings, variants[v][k]);
    return s;
}

static void it_gives_the_same_bits_on_any_ranks_and_threads(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    ikt_context_set_log(alone, IKT_LOG_ERROR);
    for (int v = 0; v < VARIANTS; v++) {
        const setting s = make_variant(ctx, v);
        double here, there;
        ikt_context_set_threads(alone, 1);
        const uint64_t hash = embed(alone, &s.settings, &there);
        if (embed(ctx, &s.settings, &here) != hash)
            fail_msg("%s, %s", variants[v][0], variants[v][1]);
        assert_true(here == there);
        io_remove(ctx, s.input);
    }
    ikt_context_destroy(&alone);
}

static void it_is_stopped_in_an_epoch_and_goes_on(void **state) {
    ikt_context *ctx = *state;
    ikt_objective_kind stopping = ikt_objective_trimap;
    stopping.evaluate = evaluate_and_stop;
    for (int v = 0; v < 3; v++) {
        setting s = make_variant(ctx, v);
        char text[IO_NAME_MAX + 32];
        ikt_run run;
        s.settings.layout.custom = &stopping;
        stop_at = -1;
        const uint64_t whole = embed(ctx, &s.settings, NULL);
        snprintf(text, sizeof text, "run.checkpoint=%s", s.folder);
        set(ctx, &s.settings, text);
        stop_at = STOP_AT;
        assert_int_equal(ikt_pipeline_run(ctx, &s.settings, NULL, &run), IKT_STOPPED);
        ikt_watch_signals_end();
        stop_at = -1;
        assert_true(embed(ctx, &s.settings, NULL) == whole);
        ikt_watch_signals_end();
        io_remove(ctx, s.input);
    }
}

/* Every row fourteen times, more copies than near rows: a map of finite size. */
static void copies_do_no_harm(void **state) {
    ikt_context *ctx = *state;
    setting s = make_setting(ctx, 14);
    ikt_run run;
    set(ctx, &s.settings, "affinity.kind=knn");
    set(ctx, &s.settings, "layout.iterations=200");
    for (int way = 0; way < 2; way++) {
        set(ctx, &s.settings, way == 0 ? "trimap.triplets=fixed" : "trimap.triplets=pool");
        succeed(ctx, ikt_pipeline_run(ctx, &s.settings, NULL, &run));
        const double last = run.embedding.trace.point[run.embedding.trace.count - 1].value;
        assert_true(last >= 0 && last < run.embedding.trace.point[0].value);
        for (int64_t e = 0; e < 2 * run.rows.count; e++)
            assert_true(fabsf(run.embedding.y[e]) < 1e4f);
        ikt_run_destroy(&run);
    }
    io_remove(ctx, s.input);
}

/* --- what is refused -------------------------------------------------------------------------- */

static void settings_that_make_no_sense_are_refused(void **state) {
    ikt_context *ctx = *state;
    static const struct {
        const char *set[3], *says;
    } bad[] = {{{"trimap.neighbours=332"}, "choose at most 331"},
               {{"trimap.scale_from=6"}, "name no rows"},
               {{"trimap.triplets=pool", "trimap.pool_rows=400"}, "there are 333 rows"},
               {{"trimap.triplets=pool", "trimap.pool_rows=3", "trimap.far_rows=5"},
                "the pool has 3 rows"},
               {{"trimap.triplets=pool", "trimap.far_rows=1"}, "needs pairs of far rows"},
               {{"layout.repulsion=exact"}, "sum over all pairs"},
               {{"layout.trade_off=0.5"}, "nothing to trade off"},
               {{"affinity.neighbours=7"}, "chooses among them"},
               {{"affinity.support=dense"}, "lists of neighbours"},
               {{"layout.final_exaggeration=4"}, "no attraction that could be exaggerated"},
               {{"layout.exaggeration=4"}, "would have no effect"},
               {{"layout.degrees_of_freedom=2"}, "would have no effect"},
               {{"gaussian.perplexity=20", "affinity.kind=gaussian"}, "would have no effect"},
               {{"trimap.scale_to=20"}, "would have no effect"}, /* of the Isolation kernel */
               {{"trimap.triplets=fixed", "trimap.redraw=2"}, "would have no effect"},
               {{"layout.objective=tsne", "trimap.t=3"}, "would have no effect"},
               {{"layout.objective=umap", "output.model=model.h5"}, "or by triplets"},
               {{"output.graph=graph.h5"}, "does not make"}};
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
        setting s = make_setting(ctx, 1);
        ikt_run run;
        if (strstr(bad[b].set[0], "scale_from")) set(ctx, &s.settings, "affinity.kind=knn");
        for (int k = 0; k < 3 && bad[b].set[k]; k++)
            set(ctx, &s.settings, bad[b].set[k]);
        const ikt_status st = ikt_pipeline_run(ctx, &s.settings, NULL, &run);
        if (st != IKT_ERR_USAGE) fail_msg("%s: %d %s", bad[b].set[0], st, ikt_message(ctx));
        io_expect(ctx, bad[b].says);
        assert_int_equal(ikt_memory_now(ctx), 0);
        io_remove(ctx, s.input);
    }
}

static void rows_that_make_no_map_are_refused(void **state) {
    ikt_context *ctx = *state;
    setting s = make_setting(ctx, ROWS);
    ikt_run run;
    static const char *const kinds[] = {"affinity.kind=knn", "affinity.kind=isolation"};
    static const char *const ways[] = {"trimap.triplets=fixed", "trimap.triplets=pool"};
    for (int k = 0; k < 4; k++) {
        set(ctx, &s.settings, kinds[k % 2]);
        set(ctx, &s.settings, ways[k / 2]);
        assert_int_equal(ikt_pipeline_run(ctx, &s.settings, NULL, &run), IKT_ERR_DATA);
        io_expect(ctx, k % 2 == 0 ? "remove copies" : "are all rows equal");
        assert_int_equal(ikt_memory_now(ctx), 0);
    }
    io_remove(ctx, s.input);
    /* All in one place: nothing would ever move. */
    static world w;
    make_world(ctx, &w);
    for (int way = 0; way < 2; way++) {
        ikt_trimap_settings settings = usual(N, 4);
        settings.triplets = way == 0 ? IKT_TRIPLETS_FIXED : IKT_TRIPLETS_POOL;
        ikt_objective objective = make_objective(ctx, &w, 2, &settings);
        ikt_gradient g;
        ikt_objective_terms terms;
        for (int64_t e = 0; e < 2 * w.rows.count; e++)
            objective.y[e] = 0.5f;
        assert_int_equal(objective.kind->evaluate(&objective, 0, false, &g, &terms), IKT_ERR_DATA);
        io_expect(ctx, "all rows start in one place");
        ikt_objective_destroy(&objective);
    }
    destroy_world(&w);
}

IKT_MPI_TESTS(ikt_test(all_far_rows_give_the_gradient_itself),
              ikt_test(weights_by_ratios_are_those_of_the_sample), ikt_test(a_pool_is_unbiased),
              ikt_test(random_triplets_are_unbiased),
              ikt_test(similarities_are_those_of_the_definition),
              ikt_test(fixed_triplets_are_what_they_should_be),
              ikt_test(the_fixed_gradient_is_that_of_the_value), ikt_test(memory_is_as_planned),
              ikt_test(it_gives_the_same_bits_on_any_ranks_and_threads),
              ikt_test(it_is_stopped_in_an_epoch_and_goes_on), ikt_test(copies_do_no_harm),
              ikt_test(settings_that_make_no_sense_are_refused),
              ikt_test(rows_that_make_no_map_are_refused))
