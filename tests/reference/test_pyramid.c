/* A near centre of any row, found from the top of a pyramid: as near as the nearest, or nearly. */
#include "support/ikt_test.h"

#include <math.h>

#include "base/arrays.h"
#include "base/rng.h"
#include "cells/cells.h"

enum { CENTRES = 1500, ROWS = 600, GROUPS = 40 };

/* Rows in groups around points of [0, 1]^d; or, by two columns, on a circle of that radius. */
static void fill(float *x, int64_t count, int64_t d, int64_t seed, double radius) {
    for (int64_t i = 0; i < count; i++) {
        const double angle = 6.3 * ikt_rng_uniform(9, IKT_RNG_TEST, seed + i, 0);
        const int64_t group = ikt_rng_below(9, IKT_RNG_TEST, seed + i, 0, GROUPS);
        for (int64_t k = 0; k < d; k++) {
            const double middle = ikt_rng_uniform(9, IKT_RNG_TEST, 7000 + group, (uint64_t)k);
            const double gap = .2 * ikt_rng_normal(9, IKT_RNG_TEST, seed + i, 1 + (uint64_t)k);
            x[i * d + k] = (float)(middle + gap + 5);
        }
        if (radius > 0) {
            x[i * d] = (float)(radius * sin(angle));
            x[i * d + 1] = (float)(radius * cos(angle));
        }
    }
}

/* Squared distance of the nearest centre to a row. */
static double least_of(const float *row, const ikt_cells *cells) {
    double least = INFINITY;
    for (int64_t c = 0; c < cells->count; c++)
        least = fmin(least, cells->metric->exact(row, cells->centre + c * cells->d, cells->d));
    return least;
}

/* Distances of the centres that are found, over those of the nearest ones; and how many are these.
 */
static double check(ikt_context *ctx, int64_t d, double radius, const ikt_metric *metric,
                    int64_t *right) {
    ikt_pyramid *pyramid;
    ikt_cells cells = {.metric = metric, .count = CENTRES, .d = d};
    IKT_ARRAYS(held, ctx, "test");
    float *drawn = ikt_claim(&held, CENTRES * d, sizeof *drawn);
    float *rows = ikt_claim(&held, ROWS * d, sizeof *rows);
    uint32_t *order = ikt_claim(&held, CENTRES, sizeof *order);
    uint32_t *found = ikt_claim(&held, ROWS, sizeof *found);
    cells.centre = ikt_claim(&held, CENTRES * d, sizeof *cells.centre);
    cells.packed = ikt_claim(&held, ikt_packed_floats(CENTRES, d), sizeof *cells.packed);
    assert_int_equal(held.status, IKT_OK);
    fill(drawn, CENTRES, d, 10000, radius);
    fill(rows, ROWS, d, 20000, radius);
    assert_int_equal(ikt_locality_order(ctx, drawn, NULL, CENTRES, d, order), IKT_OK);
    for (int64_t c = 0; c < CENTRES; c++)
        for (int64_t k = 0; k < d; k++)
            cells.centre[c * d + k] = drawn[order[c] * d + k];
    ikt_pack_rows(cells.centre, CENTRES, d, cells.packed);
    assert_int_equal(ikt_pyramid_create(ctx, &cells, NULL, &pyramid), IKT_OK);
    ikt_pyramid_find(pyramid, rows, NULL, ROWS, found);
    double sum[2] = {0, 0};
    *right = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        const float *row = rows + i * d;
        const double least = least_of(row, &cells);
        const double distance = metric->exact(row, cells.centre + found[i] * d, d);
        assert_in_range(found[i], 0, CENTRES - 1);
        *right += distance <= least * (1 + 1e-5);
        sum[0] += sqrt(distance);
        sum[1] += sqrt(least);
    }
    ikt_pyramid_destroy(&pyramid);
    return sum[0] / sum[1];
}

static void centres_are_nearly_the_nearest(void **state) {
    static const int64_t columns[] = {20, 256, 257, 400};
    for (size_t q = 0; q < sizeof columns / sizeof *columns; q++) {
        int64_t right;
        const double farther = check(*state, columns[q], 0, &ikt_metric_euclidean, &right);
        if (farther > 1.01 || right < ROWS * 6 / 10)
            fail_msg("%lld columns: %.4f times as far, %lld of %d are the nearest",
                     (long long)columns[q], farther, (long long)right, ROWS);
    }
}

/* Bytes of rows on a circle tell too few places from each other: floats are used. */
static void rows_on_a_circle_find_theirs(void **state) {
    int64_t right;
    const double farther = check(*state, 300, 1e4, &ikt_metric_euclidean, &right);
    if (farther > 1.2 || right < ROWS * 9 / 10)
        fail_msg("%.4f times as far, %lld are the nearest", farther, (long long)right);
}

static void manhattan_distances_find_theirs(void **state) {
    int64_t right;
    assert_true(check(*state, 300, 0, &ikt_metric_manhattan, &right) < 1.01);
}

IKT_MPI_TESTS(ikt_test(centres_are_nearly_the_nearest), ikt_test(rows_on_a_circle_find_theirs),
              ikt_test(manhattan_distances_find_theirs))
