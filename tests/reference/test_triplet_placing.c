/* New points of TriMap: the loss of their triplets is that of the definition, its gradient that of
 * central differences, and places are minima of it that depend on no other point. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "objective/triplet_placing.h"

enum { N = 300, M = 7, FAR = 61, NEW = 40, MOST = 3 };

/* Old points in six clusters; new points whose near rows come mostly from one of them. */
typedef struct {
    float y[N * MOST];
    int64_t far[FAR];
    ikt_placed_triplets old;
    ikt_neighbours near;
    float far_d[NEW * FAR];
} scene;

static void make_scene(ikt_context *ctx, int q, const ikt_triplet_settings *settings, scene *s) {
    const ikt_rows rows = {NEW, 1, 0, NEW};
    memset(s, 0, sizeof *s);
    for (int64_t e = 0; e < N * q; e++)
        s->y[e] = (float)(12 * ikt_rng_normal(1, IKT_RNG_SHAPE, e / q % 6, (uint64_t)(e % q)) +
                          2 * ikt_rng_normal(1, IKT_RNG_TEST, e / q, (uint64_t)(e % q)));
    for (int64_t k = 0; k < FAR; k++)
        s->far[k] = 4 * k + 1;
    s->old = (ikt_placed_triplets){.y = s->y,
                                   .q = q,
                                   .settings = *settings,
                                   .most = 2.5,
                                   .seed = 3,
                                   .n_far = FAR,
                                   .far = s->far};
    assert_int_equal(ikt_neighbours_create(ctx, &rows, M + 2, &s->near), IKT_OK);
    for (int64_t i = 0; i < NEW; i++) {
        for (int64_t e = 0; e < M + 2; e++) {
            const bool is_stray = e == 3 && i % 4 == 0;
            const int64_t member = ikt_rng_below(1, IKT_RNG_SAMPLE, i, (uint64_t)e, N / 6);
            s->near.row[i * (M + 2) + e] = (uint32_t)(6 * member + (i + is_stray) % 6);
            s->near.score[i * (M + 2) + e] = 0.1f * (float)(e + 1);
        }
        for (int64_t k = 0; k < FAR; k++) /* some are nearer than near rows */
            s->far_d[i * FAR + k] =
                (float)(0.4 + 3 * ikt_rng_uniform(1, IKT_RNG_JITTER, i, (uint64_t)k));
    }
}

/* Where near row b of point i is. */
static const float *near_at(const scene *s, int64_t i, int64_t b) {
    return s->y + (int64_t)s->near.row[i * (M + 2) + b] * s->old.q;
}

static double square(int q, const float *a, const double *b) {
    double sum = 0;
    for (int c = 0; c < q; c++)
        sum += ((double)a[c] - b[c]) * ((double)a[c] - b[c]);
    return sum;
}

/* log_t(1 + q_ik / q_ij) by the formulas of the paper. */
static double paper_loss(double t, double t_prime, double u, double v) {
    const double a = t_prime - 1;
    const double near = a == 0 ? exp(-u) : pow(1 + a * u, -1 / a);
    const double far = a == 0 ? exp(-v) : pow(1 + a * v, -1 / a);
    const double z = 1 + far / near;
    return t == 1 ? log(z) : (pow(z, 1 - t) - 1) / (1 - t);
}

static bool is_logarithmic(const ikt_triplet_settings *s) {
    return s->weights == IKT_TRIPLET_LOG || s->weights == IKT_TRIPLET_NEAR;
}

/* near   the similarity of the near pair */
static double paper_weight(const ikt_triplet_settings *s, double near, double l, double most) {
    if (!(l > 0)) return 0;
    if (s->weights == IKT_TRIPLET_UNIT) return 1;
    if (s->weights == IKT_TRIPLET_RATIO) return exp(fmin(l, most) - most) + 0.001;
    return (s->weights == IKT_TRIPLET_NEAR ? near : 1) * 2 * (sqrt(1 + l) - 1);
}

/* E of point i by its definition, as a mean over triplets; receives the pairs. */
static double definition(const scene *s, int64_t i, const ikt_point_triplets *t, const double *at) {
    const ikt_triplet_settings *set = &s->old.settings;
    const float *d = s->far_d + i * FAR;
    const int q = s->old.q;
    double near = 0, random = 0;
    for (int64_t b = 0; b < M; b++)
        for (int64_t k = 0; k < FAR; k++) {
            const int64_t j = s->near.row[i * (M + 2) + b];
            const double l = (double)d[k] - (double)s->near.score[i * (M + 2) + b];
            near +=
                paper_weight(set, exp(-(double)s->near.score[i * (M + 2) + b]), l, s->old.most) *
                paper_loss(set->t, set->t_prime, square(q, s->y + q * j, at),
                           square(q, s->y + q * s->far[k], at)) /
                FAR;
        }
    for (int64_t p = 0; p < t->pairs; p++) {
        const int32_t a = t->pair[2 * p], b = t->pair[2 * p + 1];
        const int32_t j = d[a] <= d[b] ? a : b, k = d[a] <= d[b] ? b : a;
        const double l = ((double)d[k] - (double)d[j]) * (is_logarithmic(set) ? 0.1 : 1);
        random += paper_weight(set, 1, l, s->old.most) *
                  paper_loss(set->t, set->t_prime, square(q, s->y + q * s->far[j], at),
                             square(q, s->y + q * s->far[k], at)) /
                  (double)t->pairs;
    }
    return ((double)set->outliers * near + (double)set->random * random) /
           (double)(M * set->outliers + set->random);
}

static void set_point(const scene *s, int64_t i, ikt_point_triplets *t) {
    ikt_point_triplets_set(t, s->near.row + i * (M + 2), s->near.score + i * (M + 2),
                           s->far_d + i * FAR);
}

/* Places are floats, so that differences are taken over steps that floats hold exactly. */
static void check_loss(ikt_context *ctx, int q, const ikt_triplet_settings *settings) {
    const float step = 0x1p-7f;
    const double triplets = (double)(M * settings->outliers + settings->random);
    scene s;
    ikt_point_triplets t;
    make_scene(ctx, q, settings, &s);
    assert_int_equal(ikt_point_triplets_create(ctx, &s.old, &t), IKT_OK);
    for (int64_t p = 0; p < t.pairs; p++)
        assert_true(t.pair[2 * p] != t.pair[2 * p + 1] && t.pair[2 * p] < FAR &&
                    t.pair[2 * p + 1] < FAR);
    for (int64_t i = 0; i < 5; i++) {
        float y[MOST];
        double at[MOST], gradient[MOST], other[MOST], curvature, length = 0, error = 0;
        set_point(&s, i, &t);
        for (int c = 0; c < q; c++) {
            y[c] = roundf(64 * near_at(&s, i, 0)[c]) / 64 + 0.5f * (float)(c + 1);
            at[c] = (double)y[c];
        }
        const double loss = ikt_point_triplets_loss(&t, y, gradient, &curvature);
        const double expected = definition(&s, i, &t, at);
        assert_true(curvature > 0);
        if (!(fabs(loss * t.total / triplets - expected) <= 1e-6 * fabs(expected)))
            fail_msg("q %d, t %g, t' %g: %.9g in place of %.9g", q, settings->t, settings->t_prime,
                     loss * t.total / triplets, expected);
        for (int c = 0; c < q; c++) {
            double difference = 0; /* of fourth order, of the same loss */
            for (int side = -2; side <= 2; side++) {
                static const double share[] = {1.0 / 12, -8.0 / 12, 0, 8.0 / 12, -1.0 / 12};
                const float before = y[c];
                y[c] += step * (float)side;
                difference += share[side + 2] * ikt_point_triplets_loss(&t, y, other, &curvature);
                y[c] = before;
            }
            difference /= (double)step;
            length += gradient[c] * gradient[c];
            error += (difference - gradient[c]) * (difference - gradient[c]);
        }
        if (!(sqrt(error) <= 1e-6 * sqrt(length) + 1e-12))
            fail_msg("q %d, t %g, t' %g: gradient %.9g, error %.3g", q, settings->t,
                     settings->t_prime, sqrt(length), sqrt(error));
    }
    ikt_point_triplets_destroy(&t);
    ikt_neighbours_destroy(&s.near);
}

static const ikt_triplet_settings usual = {
    .neighbours = M, .outliers = 4, .random = 3, .weights = IKT_TRIPLET_LOG, .t = 2, .t_prime = 2};

static void the_loss_is_that_of_the_definition(void **state) {
    const double ts[] = {0, 1, 1.5, 2, 3}, primes[] = {1.5, 2, 3};
    for (int q = 1; q <= MOST; q++)
        for (int a = 0; a < 5; a++)
            for (int b = 0; b < 3; b++) {
                ikt_triplet_settings settings = usual;
                settings.t = ts[a];
                settings.t_prime = primes[b];
                check_loss(*state, q, &settings);
            }
    for (int weights = IKT_TRIPLET_LOG; weights <= IKT_TRIPLET_NEAR; weights++) {
        ikt_triplet_settings settings = usual;
        settings.weights = weights;
        check_loss(*state, 2, &settings);
        settings.random = 0;
        check_loss(*state, 2, &settings);
    }
}

/* Nothing near a place has a lower loss, and none ends above the mean of its near rows. */
static void places_are_minima(void **state) {
    ikt_context *ctx = *state;
    for (int q = 1; q <= MOST; q++) {
        scene s;
        ikt_point_triplets t;
        float y[NEW * MOST];
        double cost[NEW];
        int64_t unsettled = 0;
        make_scene(ctx, q, &usual, &s);
        assert_int_equal(ikt_point_triplets_create(ctx, &s.old, &t), IKT_OK);
        assert_int_equal(
            ikt_triplets_place(ctx, &s.old, &s.near, s.far_d, 500, y, cost, &unsettled), IKT_OK);
        assert_int_equal(unsettled, 0);
        for (int64_t i = 0; i < NEW; i++) {
            double at[MOST] = {0}, mean[MOST] = {0};
            set_point(&s, i, &t);
            for (int c = 0; c < q; c++) {
                at[c] = (double)y[i * q + c];
                for (int64_t b = 0; b < M; b++)
                    mean[c] += (double)near_at(&s, i, b)[c] / M;
            }
            const double here = definition(&s, i, &t, at);
            assert_true(fabs(here - cost[i]) <= 1e-6 * here);
            assert_true(here <= definition(&s, i, &t, mean) + 1e-6);
            for (int64_t b = 0; b < M; b++) {
                double near[MOST] = {0};
                for (int c = 0; c < q; c++)
                    near[c] = (double)near_at(&s, i, b)[c];
                assert_true(here <= definition(&s, i, &t, near) + 1e-6);
            }
            for (int c = 0; c < q; c++)
                for (int side = -1; side <= 1; side += 2) {
                    at[c] += 0.1 * side;
                    assert_true(here <= definition(&s, i, &t, at) + 1e-7);
                    at[c] -= 0.1 * side;
                }
        }
        ikt_point_triplets_destroy(&t);
        ikt_neighbours_destroy(&s.near);
    }
}

/* Alone, from the last to the first: the same bits; and the limit of trials is kept. */
static void a_place_does_not_depend_on_the_others(void **state) {
    ikt_context *ctx = *state;
    scene s;
    float y[NEW * 2], one[2];
    double cost[NEW], alone;
    int64_t unsettled = 0;
    make_scene(ctx, 2, &usual, &s);
    assert_int_equal(ikt_triplets_place(ctx, &s.old, &s.near, s.far_d, 200, y, cost, &unsettled),
                     IKT_OK);
    for (int64_t i = NEW - 1; i >= 0; i--) {
        const ikt_neighbours list = {1, M + 2, s.near.row + i * (M + 2),
                                     s.near.score + i * (M + 2)};
        assert_int_equal(
            ikt_triplets_place(ctx, &s.old, &list, s.far_d + i * FAR, 200, one, &alone, &unsettled),
            IKT_OK);
        assert_memory_equal(one, y + 2 * i, sizeof one);
        assert_memory_equal(&alone, &cost[i], sizeof alone);
    }
    double few[NEW];
    assert_int_equal(ikt_triplets_place(ctx, &s.old, &s.near, s.far_d, 9, y, few, &unsettled),
                     IKT_OK);
    assert_true(unsettled > NEW / 2);
    for (int64_t i = 0; i < NEW; i++)
        assert_true(cost[i] <= few[i]);
    ikt_neighbours_destroy(&s.near);
}

/* A point as far from all far rows as from its near ones has no triplet: the mean of these. */
static void a_point_without_triplets_goes_to_the_mean(void **state) {
    ikt_context *ctx = *state;
    scene s;
    float y[2];
    double cost = -1;
    int64_t unsettled = 0;
    make_scene(ctx, 2, &usual, &s);
    for (int64_t e = 0; e < M + 2; e++)
        s.near.score[e] = 4;
    for (int64_t k = 0; k < FAR; k++)
        s.far_d[k] = 4;
    const ikt_neighbours list = {1, M + 2, s.near.row, s.near.score};
    assert_int_equal(ikt_triplets_place(ctx, &s.old, &list, s.far_d, 200, y, &cost, &unsettled),
                     IKT_OK);
    assert_true(cost == 0 && unsettled == 0);
    for (int c = 0; c < 2; c++) {
        double mean = 0;
        for (int64_t b = 0; b < M; b++)
            mean += (double)near_at(&s, 0, b)[c] / M;
        assert_true(fabs(mean - (double)y[c]) < 1e-5);
    }
    ikt_neighbours_destroy(&s.near);
}

IKT_MPI_TESTS(ikt_test(the_loss_is_that_of_the_definition), ikt_test(places_are_minima),
              ikt_test(a_place_does_not_depend_on_the_others),
              ikt_test(a_point_without_triplets_goes_to_the_mean))
