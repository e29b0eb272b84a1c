/* TriMap's gradient against plain sums in double precision, with all far rows and on average over
 * pools; that of fixed triplets against their value by differences; what the objective takes. */
#include "support/trimap_world.h"

#include "base/comm.h"
#include "base/memory.h"
#include "objective/trimap.h"
#include "sampled/pool.h"
#include "sampled/triplet.h"
#include "support/unbiased.h"

/* Standard errors that a mean may be off. */
static const double farthest = 4.2;

/* --- in plain sums ---------------------------------------------------------------------------- */

/* The gradient of sum_i sum_b m' mean over k != i of the loss of (i, j_b, k), in plain sums. */
static void plain_gradient(const world *w, int q, const ikt_triplet_settings *s, double most,
                           double g[N * 3]) {
    const ikt_triplet_rule rule = {s->t, s->t_prime};
    const ikt_triplet_weighing weighing = (ikt_triplet_weighing)s->weights;
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
                    ikt_triplet_weight(weighing, ikt_triplet_near(weighing, (double)w->d[i][j]), l,
                                       most) *
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
    } rules[] = {{2, 2, IKT_TRIPLET_LOG},   {2, 2, IKT_TRIPLET_UNIT},  {1, 2, IKT_TRIPLET_UNIT},
                 {1, 1, IKT_TRIPLET_UNIT},  {0, 2, IKT_TRIPLET_LOG},   {0.5, 1.5, IKT_TRIPLET_LOG},
                 {3, 1.5, IKT_TRIPLET_LOG}, {1.5, 3, IKT_TRIPLET_LOG}, {2, 2, IKT_TRIPLET_NEAR},
                 {1, 2, IKT_TRIPLET_NEAR}};
    make_world(ctx, &w);
    for (int q = 1; q <= 3; q++)
        for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
            ikt_triplet_settings s = usual(N, N);
            double size = 0;
            s.t = rules[k].t;
            s.t_prime = rules[k].t_prime;
            s.weights = (int)rules[k].weights;
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
    ikt_triplet_settings s = usual(N, N);
    make_world(ctx, &w);
    s.weights = IKT_TRIPLET_RATIO;
    ikt_objective objective = make_objective(ctx, &w, 2, &s);
    gradient_of(ctx, &objective, 0, false, w.rows.count, found);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            l[i * N + k] = k == i ? 0 : (double)(w.d[i][k] - w.d[i][w.near[i][0]]);
    qsort(l, N * N, sizeof *l, descending);
    int matching = 0;
    for (int e = 0; e < GREATEST && matching == 0; e++) {
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

/* Some epochs have the bits that they have on one rank: what is so there on average is so here. */
static void expect_bits_of_one_rank(ikt_context *ctx, const ikt_triplet_settings *s) {
    enum { EPOCHS = 30 };
    ikt_context *alone = ikt_test_alone();
    static world w, whole;
    static double found[N * 3], wanted[N * 3];
    make_world(ctx, &w);
    make_world(alone, &whole);
    ikt_objective here = make_objective(ctx, &w, 2, s);
    ikt_objective there = make_objective(alone, &whole, 2, s);
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        gradient_of(ctx, &here, epoch, false, w.rows.count, found);
        gradient_of(alone, &there, epoch, false, N, wanted);
        assert_memory_equal(found, wanted + 2 * w.rows.first,
                            (size_t)(2 * w.rows.count) * sizeof *found);
    }
    ikt_objective_destroy(&here);
    ikt_objective_destroy(&there);
    destroy_world(&w);
    destroy_world(&whole);
    ikt_context_destroy(&alone);
}

/* The mean over many epochs, in units of its own standard error: as normal numbers are. One rank
 * looks at that, and several at having its bits: thousands of epochs are ten thousands of messages.
 */
static void a_pool_is_unbiased(void **state) {
    ikt_context *ctx = *state;
    enum { EPOCHS = 800 };
    static world w;
    static double plain[N * 3], found[N * 3], sum[N * 3], squares[N * 3];
    make_world(ctx, &w);
    const int64_t pools[] = {N, 13}, fars[] = {3, 2};
    for (int k = 0; k < 2; k++) {
        const ikt_triplet_settings s = usual(pools[k], fars[k]);
        if (ikt_size(ctx) > 1) {
            expect_bits_of_one_rank(ctx, &s);
            continue;
        }
        ikt_objective objective = make_objective(ctx, &w, 2, &s);
        moments drawn = {0, sum, squares};
        memset(sum, 0, sizeof sum);
        memset(squares, 0, sizeof squares);
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
            gradient_of(ctx, &objective, epoch, false, w.rows.count, found);
            moments_add(&drawn, found, 2 * w.rows.count);
        }
        plain_gradient(&w, 2, &s, 0, plain);
        check_unbiased(&drawn, plain + 2 * w.rows.first, 2 * w.rows.count, farthest);
        ikt_objective_destroy(&objective);
    }
    destroy_world(&w);
}

/* Adds what the random triplet of row i and two others does to i, whose weight is `share` of its
 * own; nothing where j is the less similar one. */
static void add_random(const world *w, const ikt_triplet_settings *s, int i, int j, int k,
                       double share, double g[N * 3]) {
    const ikt_triplet_rule rule = {s->t, s->t_prime};
    const double l = 0.1 * (double)(w->d[i][k] - w->d[i][j]);
    double u[2], v[2];
    if (j == i || k == i || !(l > 0)) return;
    for (int c = 0; c < 2; c++) {
        u[c] = (double)place_of(i, c) - (double)place_of(j, c);
        v[c] = (double)place_of(i, c) - (double)place_of(k, c);
    }
    const ikt_triplet_terms terms =
        ikt_triplet(&rule, u[0] * u[0] + u[1] * u[1], v[0] * v[0] + v[1] * v[1]);
    const double weight = share * ikt_triplet_weight(IKT_TRIPLET_LOG, 1, l, 0);
    for (int c = 0; c < 2; c++)
        g[2 * i + c] += weight * (terms.c_j * u[c] - terms.c_k * v[c]);
}

/* The gradient of s times the mean over pairs of other rows, j being the one that is more like i,
 * without what it does to j and k. */
static void plain_random(const world *w, const ikt_triplet_settings *s, double g[N * 3]) {
    memset(g, 0, N * 3 * sizeof *g);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                add_random(w, s, i, j, k, (double)s->random * 2 / ((N - 1) * (N - 2)), g);
}

/* The same mean over the pairs that the far rows of an epoch are: one by one, of a pair in n / 2
 * of which the row itself is a part. */
static void plain_random_of_pool(ikt_context *ctx, const world *w, const ikt_triplet_settings *s,
                                 int64_t epoch, double g[N * 3]) {
    const int64_t pairs = s->far_rows / 2;
    ikt_pool pool;
    int32_t far[N];
    memset(g, 0, N * 3 * sizeof *g);
    succeed(ctx, ikt_pool_create(ctx, &w->rows, s->pool_rows, 1, 9, IKT_RNG_SAMPLED, &pool));
    ikt_pool_draw(&pool, epoch);
    for (int i = 0; i < N; i++) {
        ikt_pool_far(&pool, i / IKT_TILE, s->far_rows, far);
        for (int64_t p = 0; p < pairs; p++) {
            const int a = (int)pool.row[far[2 * p]], b = (int)pool.row[far[2 * p + 1]];
            const double share = (double)s->random / (double)pairs * N / (N - 2);
            add_random(w, s, i, a, b, share, g);
            add_random(w, s, i, b, a, share, g);
        }
    }
    ikt_pool_destroy(&pool);
}

/* Pools of two rows are uniform pairs; what random triplets add is the difference of two gradients
 * with the same draws. */
static void random_triplets_are_unbiased(void **state) {
    ikt_context *ctx = *state;
    enum { EPOCHS = 1500 };
    static world w;
    static double plain[N * 3], with[N * 3], without[N * 3], sum[N * 3], squares[N * 3];
    make_world(ctx, &w);
    ikt_triplet_settings s = usual(2, 2);
    if (ikt_size(ctx) > 1) {
        s.random = 3;
        expect_bits_of_one_rank(ctx, &s);
        destroy_world(&w);
        return;
    }
    ikt_objective bare = make_objective(ctx, &w, 2, &s);
    s.random = 3;
    ikt_objective full = make_objective(ctx, &w, 2, &s);
    moments drawn = {0, sum, squares};
    memset(sum, 0, sizeof sum);
    memset(squares, 0, sizeof squares);
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        gradient_of(ctx, &full, epoch, false, w.rows.count, with);
        gradient_of(ctx, &bare, epoch, false, w.rows.count, without);
        for (int64_t e = 0; e < 2 * w.rows.count; e++)
            with[e] -= without[e];
        moments_add(&drawn, with, 2 * w.rows.count);
    }
    plain_random(&w, &s, plain);
    check_unbiased(&drawn, plain + 2 * w.rows.first, 2 * w.rows.count, farthest);
    ikt_objective_destroy(&bare);
    ikt_objective_destroy(&full);
    destroy_world(&w);
}

/* Triplets of a row and each pair of far rows of its tile, to a part in ten thousand. */
static void random_triplets_are_those_of_the_far_rows(void **state) {
    ikt_context *ctx = *state;
    static world w;
    static double plain[N * 3], with[N * 3], without[N * 3];
    make_world(ctx, &w);
    ikt_triplet_settings s = usual(N, N);
    ikt_objective bare = make_objective(ctx, &w, 2, &s);
    s.random = 3;
    ikt_objective full = make_objective(ctx, &w, 2, &s);
    for (int epoch = 0; epoch < 9; epoch += 4) {
        double size = 0;
        gradient_of(ctx, &full, epoch, false, w.rows.count, with);
        gradient_of(ctx, &bare, epoch, false, w.rows.count, without);
        plain_random_of_pool(ctx, &w, &s, epoch, plain);
        for (int e = 0; e < 2 * N; e++)
            size = fmax(size, fabs(plain[e]));
        for (int64_t e = 0; e < 2 * w.rows.count; e++) {
            const double found = with[e] - without[e], wanted = plain[2 * w.rows.first + e];
            if (fabs(found - wanted) > 1e-4 * size)
                fail_msg("epoch %d: %g is not %g of %g", epoch, found, wanted, size);
        }
    }
    ikt_objective_destroy(&bare);
    ikt_objective_destroy(&full);
    destroy_world(&w);
}

/* Steps of a pool fall in a line over the last 150 of 400 iterations, to a fiftieth, which stays
 * where a run goes on. */
static void steps_fall_to_a_fiftieth(void **state) {
    static const struct {
        int64_t iteration;
        double step;
    } known[] = {{0, 1},      {100, 1},     {250, 1},    {265, 0.902},
                 {325, 0.51}, {370, 0.216}, {400, 0.02}, {500, 0.02}};
    ikt_context *ctx = *state;
    static world w;
    make_world(ctx, &w);
    const ikt_triplet_settings s = usual(N, 4);
    ikt_objective objective = make_objective(ctx, &w, 2, &s);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        ikt_gradient ignored;
        ikt_objective_terms terms;
        succeed(ctx,
                objective.kind->evaluate(&objective, known[k].iteration, false, &ignored, &terms));
        if (!(fabs(terms.step - known[k].step) < 1e-12))
            fail_msg("iteration %d: %g is not %g", (int)known[k].iteration, terms.step,
                     known[k].step);
    }
    ikt_objective_destroy(&objective);
    destroy_world(&w);
}

static bool is_of_weights; /* the mean of weights is wanted in place of that of losses */

/* The weighted loss of a triplet of known rows; 0 where it has no weight. */
static double loss_of(const ikt_triplet_settings *s, int i, int j, int k, double near, double l,
                      double most) {
    const ikt_triplet_rule rule = {s->t, s->t_prime};
    double u = 0, v = 0;
    for (int c = 0; c < 2; c++) {
        u += pow((double)place_of(i, c) - (double)place_of(j, c), 2);
        v += pow((double)place_of(i, c) - (double)place_of(k, c), 2);
    }
    return ikt_triplet_weight((ikt_triplet_weighing)s->weights, near, l, most) *
           (is_of_weights ? 1 : ikt_triplet(&rule, u, v).loss);
}

/* The mean loss over the triplets of a sample, which so few rows are all in. */
static double plain_value(ikt_context *ctx, const world *w, const ikt_triplet_settings *s) {
    enum { FAR = IKT_TRIMAP_VALUE_FAR, PAIRS = FAR / 2 };
    const double share = s->weights == IKT_TRIPLET_LOG || s->weights == IKT_TRIPLET_NEAR ? 0.1 : 1;
    double near = 0, random = 0, most = 0;
    ikt_pool pool;
    int32_t far[N][FAR];
    succeed(ctx, ikt_pool_create(ctx, &w->rows, N, 1, 9, IKT_RNG_VALUE, &pool));
    ikt_pool_draw(&pool, 0);
    for (int i = 0; i < N; i++) {
        ikt_pool_far(&pool, i, FAR, far[i]);
        for (int e = 0; e < FAR; e++)
            if (far[i][e] != i)
                most = fmax(most, (double)(w->d[i][far[i][e]] - w->d[i][w->near[i][0]]));
    }
    ikt_pool_destroy(&pool);
    for (int i = 0; i < N; i++) {
        for (int e = 0; e < FAR; e++)
            for (int b = 0; b < M && far[i][e] != i; b++) {
                const int j = w->near[i][b], k = far[i][e];
                const double factor = s->weights == IKT_TRIPLET_NEAR ? exp(-(double)w->d[i][j]) : 1;
                near += loss_of(s, i, j, k, factor, (double)(w->d[i][k] - w->d[i][j]), most);
            }
        for (int p = 0; p < PAIRS; p++) {
            const int a = far[i][2 * p], b = far[i][2 * p + 1];
            const int j = w->d[i][a] < w->d[i][b] ? a : b, k = a + b - j;
            if (a == i || b == i) continue;
            random += loss_of(s, i, j, k, 1, share * (double)(w->d[i][k] - w->d[i][j]), most);
        }
    }
    const double of_near = M * (double)s->outliers, of_random = (double)s->random;
    return (of_near * near / (N * FAR * M) + of_random * random / (N * PAIRS)) /
           (of_near + of_random);
}

/* Whatever the pool is: values of different iterations can be compared. */
static void the_value_is_that_of_its_sample(void **state) {
    static const ikt_triplet_weighing weighings[] = {IKT_TRIPLET_LOG, IKT_TRIPLET_UNIT,
                                                     IKT_TRIPLET_RATIO, IKT_TRIPLET_NEAR};
    ikt_context *ctx = *state;
    static world w;
    static double ignored[N * 3];
    make_world(ctx, &w);
    for (int k = 0; k < 4; k++) {
        ikt_triplet_settings s = usual(13, 4);
        s.random = 3;
        s.weights = (int)weighings[k];
        ikt_objective objective = make_objective(ctx, &w, 2, &s);
        const double wanted = plain_value(ctx, &w, &s);
        const double found = gradient_of(ctx, &objective, 0, true, w.rows.count, ignored);
        if (!(fabs(found - wanted) <= 1e-5 * wanted)) fail_msg("%.9g is not %.9g", found, wanted);
        assert_true(gradient_of(ctx, &objective, 5, true, w.rows.count, ignored) == found);
        is_of_weights = true; /* the loop divides by their mean */
        const double mean = plain_value(ctx, &w, &s);
        is_of_weights = false;
        ikt_gradient g;
        ikt_objective_terms terms;
        succeed(ctx, objective.kind->evaluate(&objective, 0, false, &g, &terms));
        assert_true(fabs((double)g.attraction_scale * mean - 1) < 1e-5);
        assert_true(g.attraction_scale == g.repulsion_scale);
        assert_true(isnan(gradient_of(ctx, &objective, 6, false, w.rows.count, ignored)));
        ikt_objective_destroy(&objective);
    }
    destroy_world(&w);
}

/* --- fixed triplets, and both ----------------------------------------------------------------- */

/* The value is a mean over the triplets, the gradient that of their sum: by differences. */
static void the_fixed_gradient_is_that_of_the_value(void **state) {
    ikt_context *ctx = *state;
    static world w;
    static double found[N * 3], ignored[N * 3];
    make_world(ctx, &w);
    for (int q = 1; q <= 3; q++) {
        ikt_triplet_settings s = usual(N, 4);
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
        ikt_triplet_settings s = usual(N, 4);
        s.triplets = way == 0 ? IKT_TRIPLETS_FIXED : IKT_TRIPLETS_POOL;
        s.random = 3;
        const int64_t before = ikt_memory_now(ctx);
        ikt_objective objective = make_objective(ctx, &w, 2, &s);
        const int64_t taken = ikt_memory_now(ctx) - before;
        const ikt_objective_shape shape = {.rows = w.rows,
                                           .q = 2,
                                           .options = {.own.triplet = s},
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

/* All in one place: nothing would ever move. */
static void rows_in_one_place_are_refused(void **state) {
    ikt_context *ctx = *state;
    static world w;
    make_world(ctx, &w);
    for (int way = 0; way < 2; way++) {
        ikt_triplet_settings settings = usual(N, 4);
        settings.triplets = way == 0 ? IKT_TRIPLETS_FIXED : IKT_TRIPLETS_POOL;
        ikt_objective objective = make_objective(ctx, &w, 2, &settings);
        ikt_gradient g;
        ikt_objective_terms terms;
        for (int64_t e = 0; e < 2 * w.rows.count; e++)
            objective.y[e] = 0.5f;
        refuse(ctx, objective.kind->evaluate(&objective, 0, false, &g, &terms), IKT_ERR_DATA,
               "all rows start in one place");
        ikt_objective_destroy(&objective);
    }
    destroy_world(&w);
}

IKT_MPI_TESTS(ikt_test(all_far_rows_give_the_gradient_itself),
              ikt_test(weights_by_ratios_are_those_of_the_sample), ikt_test(a_pool_is_unbiased),
              ikt_test(random_triplets_are_unbiased),
              ikt_test(random_triplets_are_those_of_the_far_rows),
              ikt_test(steps_fall_to_a_fiftieth), ikt_test(the_value_is_that_of_its_sample),
              ikt_test(the_fixed_gradient_is_that_of_the_value), ikt_test(memory_is_as_planned),
              ikt_test(rows_in_one_place_are_refused))
