/* Places of new points: the divergence is that of the definition, no point ends above its start,
 * and what is found is a minimum; in one, two and three dimensions. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "objective/out_of_sample.h"

enum { K = 12, NEW = 90, MOST = IKT_FIELD_DIMENSIONS_MOST };

/* Old points in nine clusters, and lists whose neighbours come mostly from one cluster. */
typedef struct {
    int64_t n;
    int q;
    double degrees; /* of freedom */
    float *y;
    ikt_neighbours lists;
    ikt_field *field;
} scene;

static void make_scene(ikt_context *ctx, int64_t n, int q, double degrees, scene *s) {
    const ikt_rows rows = {NEW, 1, 0, NEW};
    const double width = degrees > 2 ? 0.1 : 1; /* the lighter the tail, the smaller the map */
    *s = (scene){.n = n, .q = q, .degrees = degrees};
    s->y = malloc((size_t)(n * q) * sizeof *s->y);
    assert_non_null(s->y);
    for (int64_t e = 0; e < n * q; e++)
        s->y[e] =
            (float)(width * (25 * ikt_rng_normal(1, IKT_RNG_SHAPE, e / q % 9, (uint64_t)(e % q)) +
                             4 * ikt_rng_normal(1, IKT_RNG_TEST, e / q, (uint64_t)(e % q))));
    assert_int_equal(ikt_neighbours_create(ctx, &rows, K, &s->lists), IKT_OK);
    for (int64_t i = 0; i < NEW; i++) {
        double total = 0;
        for (int64_t e = 0; e < K; e++) {
            uint64_t draw = (uint64_t)(2 * e);
            int64_t stray = ikt_rng_below(1, IKT_RNG_SAMPLE, i, draw, 5) == 0 ? e : i;
            int64_t member = ikt_rng_below(1, IKT_RNG_SAMPLE, i, draw + 1, n / 9);
            s->lists.row[i * K + e] = (uint32_t)(member * 9 + stray % 9);
            s->lists.score[i * K + e] = e == 5 ? 0 : 1 / (float)(1 + e); /* one has no weight */
            total += (double)s->lists.score[i * K + e];
        }
        for (int64_t e = 0; e < K; e++)
            s->lists.score[i * K + e] = (float)((double)s->lists.score[i * K + e] / total);
    }
    assert_int_equal(
        ikt_field_create(ctx, s->y, n, q, ikt_kernel_of_degrees(degrees), false, &s->field),
        IKT_OK);
}

static void free_scene(scene *s) {
    ikt_field_destroy(&s->field);
    ikt_neighbours_destroy(&s->lists);
    free(s->y);
}

static double weight(const scene *s, const double *at, int64_t j) {
    double r2 = 0;
    for (int a = 0; a < s->q; a++)
        r2 += pow(at[a] - (double)s->y[j * s->q + a], 2);
    return isinf(s->degrees) ? exp(-r2) : pow(1 + r2 / s->degrees, -s->degrees);
}

/* KL_i by the definition: the sum of q_j over all old points is 1. */
static double divergence(const scene *s, int64_t i, const double *at) {
    double phi = 0, sum = 0;
    for (int64_t j = 0; j < s->n; j++)
        phi += weight(s, at, j);
    for (int64_t e = i * K; e < (i + 1) * K; e++) {
        double p = (double)s->lists.score[e];
        if (p > 0) sum += p * log(p / (weight(s, at, s->lists.row[e]) / phi));
    }
    return sum;
}

static void mean(const scene *s, int64_t i, double *at) {
    for (int a = 0; a < s->q; a++) {
        at[a] = 0;
        for (int64_t e = i * K; e < (i + 1) * K; e++)
            at[a] += (double)s->lists.score[e] * (double)s->y[(int64_t)s->lists.row[e] * s->q + a];
    }
}

/* Lowest divergence a small step away. */
static double around(const scene *s, int64_t i, const double *at) {
    double least = INFINITY;
    for (int a = 0; a < s->q; a++)
        for (int side = -1; side <= 1; side += 2) {
            double near[MOST];
            memcpy(near, at, sizeof near);
            near[a] += 0.05 * side;
            least = fmin(least, divergence(s, i, near));
        }
    return least;
}

static void check(ikt_context *ctx, int64_t n, int q, double degrees, double tolerance) {
    scene s;
    float y[NEW * MOST];
    double found[NEW], fallen = 0;
    int64_t unsettled = -1;
    make_scene(ctx, n, q, degrees, &s);
    const ikt_placed old = {s.field, s.y, q, ikt_kernel_of_degrees(degrees)};
    assert_int_equal(ikt_out_of_sample_place(ctx, &old, &s.lists, 1000, y, found, &unsettled),
                     IKT_OK);
    if (unsettled)
        print_message("alpha %g, q %d, n %d: %d unsettled\n", degrees, q, (int)n, (int)unsettled);
    assert_int_equal(unsettled, 0);
    for (int64_t i = 0; i < NEW; i++) {
        double at[MOST] = {0}, start[MOST] = {0};
        for (int a = 0; a < q; a++)
            at[a] = (double)y[i * q + a];
        mean(&s, i, start);
        double here = divergence(&s, i, at), before = divergence(&s, i, start);
        if (!(fabs(here - found[i]) < tolerance)) /* a field that is too low would be one cause */
            fail_msg("alpha %g, q %d, n %d: %.9g instead of %.9g", degrees, q, (int)n, found[i],
                     here);
        assert_true(here <= before + tolerance);
        assert_true(here <= around(&s, i, at) + tolerance);
        fallen += before - here;
    }
    assert_true(fallen / NEW > 0.01); /* the start is not the answer */
    free_scene(&s);
}

static void places_are_minima(void **state) {
    for (int q = 1; q <= MOST; q++)
        check(*state, 900, q, 1, 1e-5);
    check(*state, 9000, 2, 1, 1e-4); /* with a mesh */
}

static void places_are_minima_with_other_tails(void **state) {
    const double degrees[] = {0.5, 2, 8, INFINITY};
    for (int d = 0; d < 4; d++) {
        for (int q = 1; q <= MOST; q++)
            check(*state, 900, q, degrees[d], d == 2 ? 1e-4 : 1e-5); /* phi is a power of floats */
        check(*state, 9000, 2, degrees[d], 1e-4);
    }
}

/* Any other company, any order, one trial at a time: the same bits. */
static void a_place_does_not_depend_on_the_others(void **state) {
    ikt_context *ctx = *state;
    for (int64_t n = 900; n <= 9000; n *= 10) {
        scene s;
        float y[2 * NEW], one[2];
        double found[NEW], alone;
        make_scene(ctx, n, 2, 1, &s);
        const ikt_placed old = {s.field, s.y, 2, ikt_student};
        assert_int_equal(ikt_out_of_sample_place(ctx, &old, &s.lists, 200, y, found, NULL), IKT_OK);
        for (int64_t i = NEW - 1; i >= 0; i--) {
            const ikt_neighbours list = {1, K, s.lists.row + i * K, s.lists.score + i * K};
            assert_int_equal(ikt_out_of_sample_place(ctx, &old, &list, 200, one, &alone, NULL),
                             IKT_OK);
            assert_memory_equal(one, y + 2 * i, sizeof one);
            assert_memory_equal(&alone, &found[i], sizeof alone);
        }
        free_scene(&s);
    }
}

/* More trials never make it worse, and the limit is kept. */
static void more_trials_never_hurt(void **state) {
    ikt_context *ctx = *state;
    scene s;
    float y[2 * NEW];
    double before[NEW], found[NEW];
    int64_t unsettled;
    make_scene(ctx, 900, 2, 1, &s);
    const ikt_placed old = {s.field, s.y, 2, ikt_student};
    assert_int_equal(ikt_out_of_sample_place(ctx, &old, &s.lists, 2, y, before, &unsettled),
                     IKT_OK);
    assert_true(unsettled > NEW / 2);
    for (int64_t trials = 3; trials < 60; trials += 7) {
        assert_int_equal(ikt_out_of_sample_place(ctx, &old, &s.lists, trials, y, found, NULL),
                         IKT_OK);
        for (int64_t i = 0; i < NEW; i++)
            assert_true(found[i] <= before[i]);
        memcpy(before, found, sizeof before);
    }
    free_scene(&s);
}

/* All weight on one old point that stands alone: it is the place. */
static void a_twin_of_a_lone_point_lands_on_it(void **state) {
    ikt_context *ctx = *state;
    const float y[] = {0, 0, 100, 0, 0, 100};
    uint32_t row[] = {1, 0};
    float p[] = {1, 0}, at[2];
    double found;
    ikt_field *field;
    const ikt_neighbours list = {1, 2, row, p};
    assert_int_equal(ikt_field_create(ctx, y, 3, 2, ikt_student, false, &field), IKT_OK);
    const ikt_placed old = {field, y, 2, ikt_student};
    assert_int_equal(ikt_out_of_sample_place(ctx, &old, &list, 200, at, &found, NULL), IKT_OK);
    assert_true(hypot((double)at[0] - 100, (double)at[1]) < 0.01 && found < 1e-3);
    ikt_field_destroy(&field);
}

IKT_MPI_TESTS(ikt_test(places_are_minima), ikt_test(places_are_minima_with_other_tails),
              ikt_test(a_place_does_not_depend_on_the_others), ikt_test(more_trials_never_hurt),
              ikt_test(a_twin_of_a_lone_point_lands_on_it))
