/* What of the plane a picture shows: the range of the points, without a few that lie far out. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "plot/density.h"

enum { N = 200000, SIDE = 1000 };

#define MARGIN 20.0

static float y[2 * N];

/* Points in the square from -3 to 5, of which `far` lie at distances of 100, 200, ... from it,
 * in turn to the right, the left, above and below. */
static void make_points(int64_t far) {
    for (int64_t i = 0; i < N; i++)
        for (int a = 0; a < 2; a++)
            y[2 * i + a] = (float)(8 * ikt_rng_uniform(1, IKT_RNG_TEST, i, (uint64_t)a) - 3);
    for (int64_t f = 0; f < far; f++) {
        float *at = y + 2 * (f * (N / (far + 1)) + 7) + f % 4 / 2;
        *at = (float)((f % 2 ? -100.0 : 100.0) * (double)(f + 1));
    }
}

static ikt_view fit(ikt_context *ctx, int64_t n_marked, bool has_all, int64_t *outside) {
    static const int64_t marked[] = {7};
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    const ikt_view_points points = {.rows = &rows,
                                    .y = y + 2 * rows.first,
                                    .marked = marked,
                                    .n_marked = n_marked,
                                    .has_all = has_all};
    ikt_view view;
    assert_int_equal(ikt_view_fit(ctx, &points, SIDE, MARGIN, &view), IKT_OK);
    *outside = ikt_view_outside(ctx, &view, &rows, points.y);
    return view;
}

/* Units that the pixels between the margins show. */
static double shown(const ikt_view *view) {
    return IKT_VIEW_PHASES * (SIDE - 2 * MARGIN) / view->scale;
}

static void a_few_far_points_are_left_out(void **state) {
    int64_t outside;
    make_points(0);
    const ikt_view plain = fit(*state, 0, false, &outside);
    assert_int_equal(outside, 0);
    assert_true(fabs(shown(&plain) - 8) < 1e-3);
    for (int64_t far = 1; far <= 10; far += 3) {
        make_points(far);
        const ikt_view view = fit(*state, 0, false, &outside);
        assert_int_equal(outside, far);
        assert_true(fabs(shown(&view) - 8) < 1e-3);
        assert_true(fabs(view.centre_x - 1) < 1e-3 && fabs(view.centre_y - 1) < 1e-3);
    }
}

static void points_at_any_distance_are_left_out(void **state) {
    int64_t outside;
    make_points(0);
    y[6] = 1e30f;
    y[7] = -1e-30f;
    y[11] = -1e9f;
    const ikt_view view = fit(*state, 0, false, &outside);
    assert_int_equal(outside, 2);
    assert_true(fabs(shown(&view) - 8) < 1e-3);
}

/* Up to a quarter of the others' range away from them. */
static void a_few_near_points_are_shown(void **state) {
    int64_t outside;
    make_points(3);
    y[4] = 6.5f;
    y[9] = -4.4f;
    const ikt_view view = fit(*state, 0, false, &outside);
    assert_int_equal(outside, 3);
    assert_true(fabs(shown(&view) - 9.5) < 1e-3);
    assert_true(fabs(view.centre_x - 1.75) < 1e-3 && fabs(view.centre_y - 0.3) < 1e-3);
}

static void all_are_shown_where_many_lie_apart(void **state) {
    int64_t outside;
    make_points(400);
    const ikt_view view = fit(*state, 0, false, &outside);
    assert_int_equal(outside, 0);
    assert_true(fabs(shown(&view) - 79900) < 1);
}

static void all_are_shown_where_they_have_half_of_the_square(void **state) {
    int64_t outside;
    make_points(0);
    y[4] = 12.9f; /* 15.9 of 8: less than twice */
    fit(*state, 0, false, &outside);
    assert_int_equal(outside, 0);
    y[4] = 13.1f;
    fit(*state, 0, false, &outside);
    assert_int_equal(outside, 1);
}

static void what_must_be_seen_is_seen(void **state) {
    int64_t outside;
    make_points(3);
    fit(*state, 0, true, &outside);
    assert_int_equal(outside, 0);
    /* Row 7 lies 100 to the right; the others 200 to the left and 300 above. */
    const ikt_view view = fit(*state, 1, false, &outside);
    assert_int_equal(outside, 2);
    assert_true(fabs(shown(&view) - 103) < 1e-3);
}

static void the_view_does_not_depend_on_ranks(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    int64_t outside, outside_alone;
    make_points(5);
    const ikt_view view = fit(ctx, 0, false, &outside);
    const ikt_view one = fit(alone, 0, false, &outside_alone);
    assert_memory_equal(&view, &one, sizeof view);
    assert_int_equal(outside, outside_alone);
    ikt_context_destroy(&alone);
}

IKT_MPI_TESTS(ikt_test(a_few_far_points_are_left_out),
              ikt_test(points_at_any_distance_are_left_out), ikt_test(a_few_near_points_are_shown),
              ikt_test(all_are_shown_where_many_lie_apart),
              ikt_test(all_are_shown_where_they_have_half_of_the_square),
              ikt_test(what_must_be_seen_is_seen), ikt_test(the_view_does_not_depend_on_ranks))
