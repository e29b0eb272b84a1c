/* What automatic settings take from the rows themselves: preprocess.normalise: auto, and psi for
 * rows with small neighbourhoods. The same choice on any number of ranks, for data whose answer is
 * known. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "data/normalise.h"
#include "isolation/settings.h"

enum { N = 1300, D = 12 };

static double normal(int64_t row, int64_t column) {
    return ikt_rng_normal(7, IKT_RNG_TEST, row, (uint64_t)column);
}

/* --- normalisation ---------------------------------------------------------------------------- */

typedef double value_function(int64_t row, int64_t column);

static void expect_choice(ikt_context *ctx, value_function *value, ikt_normalise wanted) {
    double *x = malloc((size_t)N * D * sizeof *x);
    ikt_source *source;
    ikt_normalise mode = IKT_NORMALISE_AUTO;
    ikt_normaliser map;
    assert_non_null(x);
    for (int64_t i = 0; i < N * D; i++)
        x[i] = value(i / D, i % D);
    assert_int_equal(ikt_source_from_memory(ctx, x, N, D, IKT_TYPE_F64, &source), IKT_OK);
    assert_int_equal(ikt_normalise_choose(ctx, source, &mode), IKT_OK);
    assert_int_equal(mode, wanted);
    assert_int_equal(
        ikt_normaliser_create(ctx, source, IKT_NORMALISE_AUTO, IKT_METRIC_EUCLIDEAN, &map), IKT_OK);
    assert_int_equal(map.mode, wanted);
    ikt_normaliser_free(&map);
    ikt_source_close(&source);
    free(x);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static double several_units(int64_t row, int64_t column) {
    return 5 + normal(row, column) * (column == 3 ? 40 : 1);
}

/* Eleven columns of spread 1 and one of 2 (1 +- 3 %): just inside, and just outside. */
static double spread_19(int64_t row, int64_t column) {
    return 5 + normal(row, column) * (column == 3 ? 1.85 : 1);
}
static double spread_22(int64_t row, int64_t column) {
    return 5 + normal(row, column) * (column == 3 ? 2.2 : 1);
}

static double components(int64_t row, int64_t column) {
    return normal(row, column) * 30 / (double)(1 + column);
}

/* The same spreads of columns that are not centred, and of centred ones that rise. */
static double falling_alone(int64_t row, int64_t column) {
    return (4 + normal(row, column)) * 30 / (double)(1 + column);
}
static double rising(int64_t row, int64_t column) {
    return components(row, D - 1 - column);
}

/* In mixed order: the first is the largest, seven of the other eleven are below the one before. */
static double up_and_down(int64_t row, int64_t column) {
    return components(row, column * 5 % D);
}

/* Pixels: all begin at 0 and most reach 255, the rims hardly vary. */
static double pixels(int64_t row, int64_t column) {
    if (column == 0) return row == 5 ? 3 : 0;
    const double ink = 255 * ikt_rng_uniform(8, IKT_RNG_TEST, row, (uint64_t)column);
    return column < 8 ? (ink > 245 ? ink : 0) : floor(ink);
}

/* Counts of one unit and one of seconds, all from 0 on. */
static double counts_and_seconds(int64_t row, int64_t column) {
    const double one = ikt_rng_uniform(8, IKT_RNG_TEST, row, (uint64_t)column);
    return floor((column == 5 ? 900 : 9) * one);
}

static double one_length(int64_t row, int64_t column) {
    double square = 0;
    for (int64_t k = 0; k < D; k++)
        square += several_units(row, k) * several_units(row, k);
    return several_units(row, column) / sqrt(square);
}

/* Lengths that are the same to a thousandth because one column, or each of two, is far from zero:
 * an id, seconds, a pressure that hardly varies. */
static double far_id(int64_t row, int64_t column) {
    return column == 3 ? 1e6 + (double)(row * 7 % N) : normal(row, column);
}
static double far_seconds(int64_t row, int64_t column) {
    return column == 3 || column == 4 ? 1.7e9 + 600 * (double)(row * (column - 2) * 7 % N)
                                      : normal(row, column);
}
static double far_pressure(int64_t row, int64_t column) {
    return column == 3 ? 1e6 + .01 * normal(row, column)
                       : normal(row, column) * (column == 5 ? 9 : 1);
}

/* The same length as float16 leaves it, with a mean that is most of it. */
static double one_length_rounded(int64_t row, int64_t column) {
    double square = 0;
    for (int64_t k = 0; k < D; k++)
        square += (2 + normal(row, k) * (k == 3 ? 3 : 1)) * (2 + normal(row, k) * (k == 3 ? 3 : 1));
    const double value = (2 + normal(row, column) * (column == 3 ? 3 : 1)) / sqrt(square);
    return ldexp(rint(ldexp(value, 12)), -12);
}

static double one_value(int64_t row, int64_t column) {
    (void)row;
    return (double)column;
}

static double few_not_finite(int64_t row, int64_t column) {
    return row == 11 && column == 2 ? NAN : several_units(row, column);
}

static void chooses_by_the_rows(void **state) {
    ikt_context *ctx = *state;
    expect_choice(ctx, several_units, IKT_NORMALISE_MINMAX);
    expect_choice(ctx, spread_19, IKT_NORMALISE_NONE);
    expect_choice(ctx, spread_22, IKT_NORMALISE_MINMAX);
    expect_choice(ctx, components, IKT_NORMALISE_NONE);
    expect_choice(ctx, falling_alone, IKT_NORMALISE_MINMAX);
    expect_choice(ctx, rising, IKT_NORMALISE_MINMAX);
    expect_choice(ctx, up_and_down, IKT_NORMALISE_MINMAX);
    expect_choice(ctx, pixels, IKT_NORMALISE_NONE);
    expect_choice(ctx, counts_and_seconds, IKT_NORMALISE_MINMAX);
    expect_choice(ctx, one_length, IKT_NORMALISE_NONE);
    expect_choice(ctx, one_length_rounded, IKT_NORMALISE_NONE);
    expect_choice(ctx, far_id, IKT_NORMALISE_MINMAX);
    expect_choice(ctx, far_seconds, IKT_NORMALISE_MINMAX);
    expect_choice(ctx, far_pressure, IKT_NORMALISE_MINMAX);
    expect_choice(ctx, one_value, IKT_NORMALISE_NONE);
}

/* The choice does not fall over them; the pass over all rows names the place. */
static void leaves_values_that_are_not_finite_to_the_pass(void **state) {
    ikt_context *ctx = *state;
    double *x = malloc((size_t)N * D * sizeof *x);
    ikt_source *source;
    ikt_normaliser map;
    assert_non_null(x);
    for (int64_t i = 0; i < N * D; i++)
        x[i] = few_not_finite(i / D, i % D);
    assert_int_equal(ikt_source_from_memory(ctx, x, N, D, IKT_TYPE_F64, &source), IKT_OK);
    assert_int_equal(
        ikt_normaliser_create(ctx, source, IKT_NORMALISE_AUTO, IKT_METRIC_EUCLIDEAN, &map),
        IKT_ERR_DATA);
    assert_non_null(strstr(ikt_message(ctx), "row 11, column 2"));
    ikt_normaliser_free(&map);
    ikt_source_close(&source);
    free(x);
}

/* --- small neighbourhoods
 * ----------------------------------------------------------------------------- */

enum { POINTS = 1100, COORDINATES = 24 };

/* Points of normal groups of `size`, whose spread is `spread` where the groups' centres have 1, in
 * the first `dimensions` coordinates; the others are 0. */
static float *groups(int64_t dimensions, int64_t size, double spread) {
    float *x = malloc((size_t)POINTS * COORDINATES * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < POINTS * COORDINATES; i++) {
        const int64_t row = i / COORDINATES, k = i % COORDINATES;
        const double centre = normal(100000 + row / size, k);
        x[i] = k < dimensions ? (float)(centre + spread * normal(row, k)) : 0;
    }
    return x;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The growth of the local dimension by its definition, in double precision. */
static double plain_growth(const float *x, int64_t n) {
    enum { SAMPLE = 256 };
    double inner[SAMPLE], outer[SAMPLE], *d = malloc((size_t)n * sizeof *d);
    assert_non_null(d);
    for (int64_t q = 0; q < SAMPLE; q++) {
        const int64_t row = q * n / SAMPLE;
        for (int64_t j = 0; j < n; j++) {
            d[j] = 0;
            for (int64_t k = 0; k < COORDINATES; k++) {
                const double e = (double)x[row * COORDINATES + k] - (double)x[j * COORDINATES + k];
                d[j] += e * e;
            }
            d[j] = j == row ? INFINITY : sqrt(d[j]);
        }
        qsort(d, (size_t)n, sizeof *d, ascending);
        inner[q] = d[1] / d[7];
        outer[q] = d[7] / d[31];
    }
    qsort(inner, SAMPLE, sizeof *inner, ascending);
    qsort(outer, SAMPLE, sizeof *outer, ascending);
    free(d);
    const double m = inner[(SAMPLE - 1) / 2], l = outer[(SAMPLE - 1) / 2];
    return (log(4) / -log(l)) / (log(4) / -log(m));
}

static void expect_groups(ikt_context *ctx, const float *x, int64_t n, int64_t wanted,
                          double growth_wanted) {
    const ikt_preprocess_settings as_they_are = {.normalise = IKT_NORMALISE_NONE};
    ikt_source *source;
    ikt_dataset *data;
    int64_t cell_rows = -1;
    double growth = -1;
    assert_int_equal(ikt_source_from_memory(ctx, x, n, COORDINATES, IKT_TYPE_F32, &source), IKT_OK);
    assert_int_equal(ikt_dataset_create(ctx, source, &as_they_are, &data), IKT_OK);
    assert_int_equal(ikt_small_neighbourhoods_find(ctx, data, &cell_rows, &growth), IKT_OK);
    assert_int_equal(cell_rows, wanted);
    assert_true(fabs(growth - growth_wanted) <= 1e-5 * growth_wanted);
    ikt_dataset_destroy(&data);
    ikt_source_close(&source);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* The same of the matrix of their distances. */
static void expect_groups_of_distances(ikt_context *ctx, const float *x, int64_t n, int64_t wanted,
                                       double growth_wanted) {
    const ikt_preprocess_settings as_distances = {.metric = IKT_METRIC_PRECOMPUTED};
    double *matrix = malloc((size_t)(n * n) * sizeof *matrix), growth = -1;
    ikt_source *source;
    ikt_dataset *data;
    int64_t cell_rows = -1;
    assert_non_null(matrix);
    for (int64_t e = 0; e < n * n; e++) {
        double square = 0;
        for (int64_t k = 0; k < COORDINATES; k++) {
            const double gap =
                (double)x[e / n * COORDINATES + k] - (double)x[e % n * COORDINATES + k];
            square += gap * gap;
        }
        matrix[e] = sqrt(square);
    }
    assert_int_equal(ikt_source_from_memory(ctx, matrix, n, n, IKT_TYPE_F64, &source), IKT_OK);
    assert_int_equal(ikt_dataset_create(ctx, source, &as_distances, &data), IKT_OK);
    assert_int_equal(ikt_small_neighbourhoods_find(ctx, data, &cell_rows, &growth), IKT_OK);
    assert_int_equal(cell_rows, wanted);
    assert_true(fabs(growth - growth_wanted) <= 1e-5 * growth_wanted);
    ikt_dataset_destroy(&data);
    ikt_source_close(&source);
    free(matrix);
}

static void sees_small_neighbourhoods(void **state) {
    ikt_context *ctx = *state;
    /* Of groups of six in six coordinates the next ones are far, but not equally far; wide groups
     * in 24 have a growth of 1.3, though all rows are about equally far. */
    static const struct {
        int64_t dimensions, size;
        double spread;
        int64_t cell_rows;
    } sets[] = {{24, 6, .15, 2}, {6, 6, .15, 4}, {6, 6, .35, 4}, {6, POINTS, 1, 0},
                {6, 200, .1, 0}, {6, 12, .1, 0}, {24, 6, .8, 0}};
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        float *x = groups(sets[s].dimensions, sets[s].size, sets[s].spread);
        expect_groups(ctx, x, POINTS, sets[s].cell_rows, plain_growth(x, POINTS));
        expect_groups_of_distances(ctx, x, POINTS, sets[s].cell_rows, plain_growth(x, POINTS));
        free(x);
    }
}

/* Copies have no dimension, and of fewer than 64 rows nothing is said. */
static void says_nothing_of_copies_and_of_few_rows(void **state) {
    ikt_context *ctx = *state;
    float *copies = groups(6, 10, 0), *few = groups(6, 6, .15);
    expect_groups(ctx, copies, POINTS, 0, 1);
    expect_groups(ctx, few, 63, 0, 1);
    free(copies);
    free(few);
}

IKT_MPI_TESTS(ikt_test(chooses_by_the_rows),
              ikt_test(leaves_values_that_are_not_finite_to_the_pass),
              ikt_test(sees_small_neighbourhoods), ikt_test(says_nothing_of_copies_and_of_few_rows))
