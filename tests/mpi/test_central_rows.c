/* Rows that stand for all: those of a plain k-means in double precision from the same start, the
 * lowest row of each place where rows coincide, the same on any ranks. */
#include "support/ikt_test.h"

#include <math.h>
#include <stdlib.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "neighbours/central_rows.h"

enum { N = 9001, D = 5, K = 40 }; /* N: more than one block of rows that a rank reads */

/* Clusters of normal noise, far from the origin of some columns. */
static double coordinate(int64_t row, int64_t c) {
    return 3 * ikt_rng_normal(5, IKT_RNG_TEST, row % 11, (uint64_t)c) +
           ikt_rng_normal(6, IKT_RNG_TEST, row, (uint64_t)c) + (c == 2 ? 50 : 0);
}

/* Rows 0, 1, 2, 0, 1, 2, ... */
static double three_places(int64_t row, int64_t c) {
    return (double)(row % 3) * (c == 1 ? -2.5 : 1);
}

static double all_zero(int64_t row, int64_t c) {
    (void)row, (void)c;
    return 0;
}

/* What is found among n rows of these coordinates, as float64. */
static ikt_central_rows find(ikt_context *ctx, double (*value)(int64_t, int64_t), int64_t n,
                             int64_t count, int64_t steps) {
    const ikt_preprocess_settings raw = {.normalise = IKT_NORMALISE_NONE};
    const ikt_central_settings settings = {count, steps, 17};
    double *x = malloc((size_t)(n * D) * sizeof *x);
    ikt_source *source;
    ikt_dataset *data;
    ikt_central_rows found;
    assert_non_null(x);
    for (int64_t e = 0; e < n * D; e++)
        x[e] = value(e / D, e % D);
    assert_int_equal(ikt_source_from_memory(ctx, x, n, D, IKT_TYPE_F64, &source), IKT_OK);
    assert_int_equal(ikt_dataset_create(ctx, source, &raw, &data), IKT_OK);
    assert_int_equal(ikt_central_rows_find(ctx, data, &settings, &found), IKT_OK);
    ikt_dataset_destroy(&data);
    ikt_source_close(&source);
    free(x);
    return found;
}

static void draw(int64_t n, int64_t count, int64_t *row) {
    int64_t slots = ikt_draw_slots(count), *slot = malloc((size_t)slots * sizeof *slot);
    ikt_draw_subset(17, IKT_RNG_CENTRES, 0, n, count, slot, slots, row);
    free(slot);
}

static double squared(const double *a, const double *b) {
    double sum = 0;
    for (int c = 0; c < D; c++)
        sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sum;
}

/* k-means as it is written in books, and the nearest row of each cluster; returns the mean squared
 * distance. */
static double plain(const double *x, int64_t steps, int64_t *row) {
    double centre[K][D], spread = 0;
    int *cluster = malloc(N * sizeof *cluster);
    draw(N, K, row);
    for (int k = 0; k < K; k++)
        for (int c = 0; c < D; c++)
            centre[k][c] = x[row[k] * D + c];
    for (int64_t step = 0; step <= steps; step++) {
        double sum[K][D] = {{0}}, least[K];
        int64_t size[K] = {0};
        spread = 0;
        for (int k = 0; k < K; k++)
            least[k] = INFINITY;
        for (int64_t i = 0; i < N; i++) {
            cluster[i] = 0;
            for (int k = 1; k < K; k++)
                if (squared(x + i * D, centre[k]) < squared(x + i * D, centre[cluster[i]]))
                    cluster[i] = k;
            const double apart = squared(x + i * D, centre[cluster[i]]);
            spread += apart / N;
            if (apart < least[cluster[i]]) {
                least[cluster[i]] = apart;
                row[cluster[i]] = i;
            }
            size[cluster[i]]++;
            for (int c = 0; c < D; c++)
                sum[cluster[i]][c] += x[i * D + c];
        }
        for (int k = 0; k < K && step < steps; k++)
            for (int c = 0; c < D; c++)
                centre[k][c] = sum[k][c] / (double)size[k];
    }
    free(cluster);
    return spread;
}

static int ascending(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void plain_k_means_finds_the_same(void **state) {
    ikt_context *ctx = *state;
    double *x = malloc((size_t)N * D * sizeof *x), before = INFINITY;
    int64_t row[K];
    for (int64_t e = 0; e < (int64_t)N * D; e++)
        x[e] = coordinate(e / D, e % D);
    for (int64_t steps = 0; steps < 9; steps += 4) {
        ikt_central_rows found = find(ctx, coordinate, N, K, steps);
        const double spread = plain(x, steps, row);
        qsort(row, K, sizeof *row, ascending);
        assert_int_equal(found.count, K);
        assert_int_equal(found.steps, steps);
        assert_false(found.has_converged);
        for (int k = 0; k < K; k++)
            assert_int_equal(found.row[k], row[k]);
        assert_true(fabs(found.spread - spread) < 1e-5 * spread);
        assert_true(found.spread < before);
        if (steps == 0) assert_true(found.spread == found.drawn);
        before = found.spread;
        ikt_central_rows_destroy(&found);
    }
    free(x);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void rows_drawn_are_their_own_landmarks(void **state) {
    ikt_context *ctx = *state;
    int64_t row[7];
    ikt_central_rows found = find(ctx, coordinate, 50, 7, 0);
    draw(50, 7, row);
    assert_int_equal(found.count, 7);
    for (int k = 0; k < 7; k++)
        assert_int_equal(found.row[k], row[k]);
    ikt_central_rows_destroy(&found);
}

static void k_means_ends_when_nothing_changes(void **state) {
    ikt_context *ctx = *state;
    ikt_central_rows settled = find(ctx, coordinate, 300, 12, 1000);
    ikt_central_rows more = find(ctx, coordinate, 300, 12, settled.steps + 5);
    assert_true(settled.has_converged && settled.steps > 1 && settled.steps < 1000);
    assert_int_equal(more.steps, settled.steps);
    assert_true(more.spread == settled.spread);
    ikt_central_rows_destroy(&more);
    ikt_central_rows_destroy(&settled);
}

/* Of rows in fewer places than there are centres each place gives its lowest row. */
static void places_give_one_row_each(void **state) {
    ikt_context *ctx = *state;
    ikt_central_rows found = find(ctx, three_places, 60, 25, 10);
    assert_int_equal(found.count, 3);
    for (int k = 0; k < 3; k++)
        assert_int_equal(found.row[k], k);
    assert_true(found.spread == 0 && found.has_converged);
    ikt_central_rows_destroy(&found);
    found = find(ctx, all_zero, 20, 4, 3);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.row[0], 0);
    ikt_central_rows_destroy(&found);
}

/* 0 where a row is one of the first centres, 1 elsewhere. */
static double drawn_apart(int64_t row, int64_t c) {
    int64_t first[3];
    bool is_first = false;
    draw(40, 3, first);
    for (int k = 0; k < 3; k++)
        is_first |= row == first[k];
    return c == 0 && !is_first;
}

/* All centres begin in one place, and one of them has all rows. When it has moved away to the mean,
 * another, which stayed there without rows, has those of the place again. */
static void a_centre_without_rows_stays(void **state) {
    ikt_context *ctx = *state;
    ikt_central_rows found = find(ctx, drawn_apart, 40, 3, 10);
    assert_int_equal(found.count, 2);
    assert_true(found.row[0] == 0 && found.row[1] > 0 && found.spread < 1e-12);
    ikt_central_rows_destroy(&found);
}

/* Every bit is that of one rank. */
static void ranks_do_not_matter(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    ikt_context_set_log(alone, IKT_LOG_ERROR);
    ikt_central_rows here = find(ctx, coordinate, 2000, 300, 6);
    ikt_central_rows there = find(alone, coordinate, 2000, 300, 6);
    assert_int_equal(here.count, there.count);
    for (int64_t k = 0; k < here.count; k++)
        assert_int_equal(here.row[k], there.row[k]);
    assert_true(here.spread == there.spread && here.drawn == there.drawn);
    ikt_central_rows_destroy(&here);
    ikt_central_rows_destroy(&there);
    ikt_context_destroy(&alone);
}

IKT_MPI_TESTS(ikt_test(plain_k_means_finds_the_same), ikt_test(rows_drawn_are_their_own_landmarks),
              ikt_test(k_means_ends_when_nothing_changes), ikt_test(places_give_one_row_each),
              ikt_test(a_centre_without_rows_stays), ikt_test(ranks_do_not_matter))
