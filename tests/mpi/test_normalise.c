/* Normalisation: each mode against its formula, for each type; what is refused, and how it is said.
 */
#include "support/ikt_test.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "data/normalise.h"

enum { N = 1200, D = 5, CONSTANT = 3, ZERO_ROW = 700 };

/* Small integers, so that the three types hold the same values; one column constant, one row of a
 * single value. */
static double value_at(int64_t row, int64_t column) {
    if (column == CONSTANT) return 9;
    return (double)ikt_rng_below(1, IKT_RNG_TEST, row, (uint64_t)column, 200);
}

static void fill(ikt_type type, int64_t at, double value, void *data) {
    if (type == IKT_TYPE_U8) ((uint8_t *)data)[at] = (uint8_t)value;
    if (type == IKT_TYPE_F32) ((float *)data)[at] = (float)value;
    if (type == IKT_TYPE_F64) ((double *)data)[at] = value;
}

static void *integers(ikt_type type) {
    void *data = malloc((size_t)N * D * ikt_type_size(type));
    assert_non_null(data);
    for (int64_t i = 0; i < N * D; i++)
        fill(type, i, value_at(i / D, i % D), data);
    return data;
}

static double *normal_doubles(double offset, double scale) {
    double *x = malloc((size_t)N * D * sizeof(double));
    assert_non_null(x);
    for (int64_t i = 0; i < N * D; i++)
        x[i] = offset + scale * ikt_rng_normal(2, IKT_RNG_TEST, i / D, (uint64_t)(i % D));
    return x;
}

/* Mapped rows of the whole array, double precision. */
static double *mapped(ikt_context *ctx, const void *data, ikt_type type, ikt_normalise mode,
                      ikt_normaliser *map) {
    ikt_source *source;
    double *out = malloc((size_t)N * D * sizeof(double));
    assert_non_null(out);
    assert_int_equal(ikt_source_from_memory(ctx, data, N, D, type, &source), IKT_OK);
    assert_int_equal(ikt_normaliser_create(ctx, source, mode, IKT_METRIC_EUCLIDEAN, map), IKT_OK);
    for (int64_t row = 0; row < N; row++)
        ikt_normaliser_row(map, type, (const char *)data + (size_t)row * D * ikt_type_size(type),
                           out + row * D);
    ikt_source_close(&source);
    return out;
}

static void expect_refusal(ikt_context *ctx, const void *data, ikt_type type, ikt_normalise mode,
                           const char *text) {
    ikt_source *source;
    ikt_normaliser map;
    ikt_clear(ctx);
    assert_int_equal(ikt_source_from_memory(ctx, data, N, D, type, &source), IKT_OK);
    assert_int_equal(ikt_normaliser_create(ctx, source, mode, IKT_METRIC_EUCLIDEAN, &map),
                     IKT_ERR_DATA);
    assert_non_null(strstr(ikt_message(ctx), text));
    ikt_normaliser_free(&map);
    ikt_source_close(&source);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void none_leaves_values_near_zero(void **state) {
    ikt_context *ctx = *state;
    for (ikt_type type = IKT_TYPE_U8; type <= IKT_TYPE_F64; type++) {
        ikt_normaliser map;
        void *data = integers(type);
        double *rows = mapped(ctx, data, type, IKT_NORMALISE_NONE, &map);
        for (int64_t i = 0; i < N * D; i++) {
            int removed = type != IKT_TYPE_U8 && i % D == CONSTANT;
            assert_true(rows[i] == (removed ? 0 : value_at(i / D, i % D)));
        }
        ikt_normaliser_free(&map);
        free(rows);
        free(data);
    }
}

/* An offset that float32 could not carry vanishes; differences stay to the last bit of a double. */
static void none_removes_large_offsets(void **state) {
    ikt_context *ctx = *state;
    ikt_normaliser map;
    double *x = normal_doubles(-3e9, 1);
    double *rows = mapped(ctx, x, IKT_TYPE_F64, IKT_NORMALISE_NONE, &map);
    for (int64_t i = D; i < N * D; i++) {
        assert_true(fabs(rows[i]) < 20);
        assert_true(rows[i] - rows[i % D] == x[i] - x[i % D]);
    }
    ikt_normaliser_free(&map);
    free(rows);
    free(x);
}

static void minmax_fills_the_unit_interval(void **state) {
    ikt_context *ctx = *state;
    for (ikt_type type = IKT_TYPE_U8; type <= IKT_TYPE_F64; type++) {
        ikt_normaliser map;
        void *data = integers(type);
        double *rows = mapped(ctx, data, type, IKT_NORMALISE_MINMAX, &map);
        assert_int_equal(map.constant, 1);
        for (int64_t k = 0; k < D; k++) {
            double least = INFINITY, most = -INFINITY;
            for (int64_t row = 0; row < N; row++) {
                least = fmin(least, value_at(row, k));
                most = fmax(most, value_at(row, k));
            }
            for (int64_t row = 0; row < N; row++) {
                double expected = k == CONSTANT ? 0 : (value_at(row, k) - least) / (most - least);
                assert_true(fabs(rows[row * D + k] - expected) <= 4e-16);
            }
        }
        ikt_normaliser_free(&map);
        free(rows);
        free(data);
    }
}

static void zscore_has_mean_0_and_variance_1(void **state) {
    ikt_context *ctx = *state;
    ikt_normaliser map;
    double *x = normal_doubles(1e5, 0.01);
    for (int64_t row = 0; row < N; row++)
        x[row * D + CONSTANT] = 0.1;
    double *rows = mapped(ctx, x, IKT_TYPE_F64, IKT_NORMALISE_ZSCORE, &map);
    assert_int_equal(map.constant, 1);
    for (int64_t k = 0; k < D; k++) {
        double mean = 0, square = 0;
        for (int64_t row = 0; row < N; row++) {
            mean += rows[row * D + k] / N;
            square += rows[row * D + k] * rows[row * D + k] / N;
        }
        assert_true(fabs(mean) < 1e-9);
        assert_true(fabs(square - (k == CONSTANT ? 0 : 1)) < 1e-9);
    }
    ikt_normaliser_free(&map);
    free(rows);
    free(x);
}

static void unit_rows_have_length_1(void **state) {
    ikt_context *ctx = *state;
    ikt_normaliser map;
    double *x = normal_doubles(0, 1);
    for (int64_t k = 0; k < D; k++) {
        x[k] *= 1e-200; /* squares would vanish */
        x[5 * D + k] *= 1e200;
        x[ZERO_ROW * D + k] = 0;
        x[(N - 1) * D + k] = 0;
    }
    double *rows = mapped(ctx, x, IKT_TYPE_F64, IKT_NORMALISE_UNIT, &map);
    assert_int_equal(map.zero_rows, 2);
    for (int64_t row = 0; row < N; row++) {
        double square = 0, product = 0;
        for (int64_t k = 0; k < D; k++) {
            square += rows[row * D + k] * rows[row * D + k];
            product += rows[row * D + k] * (x[row * D + k] * (row == 5 ? 1e-200 : 1));
        }
        int zero = row == ZERO_ROW || row == N - 1;
        assert_true(fabs(square - (zero ? 0 : 1)) < 1e-15 * D);
        assert_true(zero ? product == 0 : product > 0);
    }
    ikt_normaliser_free(&map);
    free(rows);
    free(x);
}

static void same_map_as_one_rank(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    ikt_context_set_log(alone, IKT_LOG_ERROR);
    double *x = normal_doubles(1e3, 1);
    for (int mode = IKT_NORMALISE_NONE; mode <= IKT_NORMALISE_UNIT; mode++) {
        ikt_normaliser map, expected;
        double *rows = mapped(ctx, x, IKT_TYPE_F64, (ikt_normalise)mode, &map);
        double *again = mapped(alone, x, IKT_TYPE_F64, (ikt_normalise)mode, &expected);
        assert_memory_equal(rows, again, (size_t)N * D * sizeof(double));
        ikt_normaliser_free(&map);
        ikt_normaliser_free(&expected);
        free(rows);
        free(again);
    }
    free(x);
    ikt_context_destroy(&alone);
}

static void refuses_values_that_are_not_finite(void **state) {
    ikt_context *ctx = *state;
    for (int mode = IKT_NORMALISE_NONE; mode <= IKT_NORMALISE_UNIT; mode++) {
        double *x = normal_doubles(0, 1);
        float *y = malloc((size_t)N * D * sizeof(float));
        x[1100 * D + 1] = NAN;
        x[17 * D + 3] = NAN;
        for (int64_t i = 0; i < N * D; i++)
            y[i] = (float)x[i];
        expect_refusal(ctx, x, IKT_TYPE_F64, (ikt_normalise)mode, ", row 17, column 3 ");
        expect_refusal(ctx, y, IKT_TYPE_F32, (ikt_normalise)mode, "NaN");
        y[3 * D] = -INFINITY;
        expect_refusal(ctx, y, IKT_TYPE_F32, (ikt_normalise)mode, "infinite");
        free(x);
        free(y);
    }
}

static void refuses_what_single_precision_cannot_hold(void **state) {
    ikt_context *ctx = *state;
    double *x = normal_doubles(0, 1e25);
    expect_refusal(ctx, x, IKT_TYPE_F64, IKT_NORMALISE_NONE, "single precision");
    free(x);
    x = normal_doubles(0, 1e-25);
    expect_refusal(ctx, x, IKT_TYPE_F64, IKT_NORMALISE_NONE, "single precision");
    free(x);
    x = normal_doubles(0, 1);
    x[2] = 1e200;
    expect_refusal(ctx, x, IKT_TYPE_F64, IKT_NORMALISE_ZSCORE, "column 2");
    x[2] = DBL_MAX;
    x[7] = -DBL_MAX;
    expect_refusal(ctx, x, IKT_TYPE_F64, IKT_NORMALISE_MINMAX, "column 2");
    free(x);
}

static void refuses_no_rows(void **state) {
    ikt_context *ctx = *state;
    ikt_source *source;
    ikt_normaliser map;
    double x = 0;
    assert_int_equal(ikt_source_from_memory(ctx, &x, 0, 1, IKT_TYPE_F64, &source), IKT_OK);
    assert_int_equal(
        ikt_normaliser_create(ctx, source, IKT_NORMALISE_MINMAX, IKT_METRIC_EUCLIDEAN, &map),
        IKT_ERR_DATA);
    assert_non_null(strstr(ikt_message(ctx), "0 rows"));
    ikt_normaliser_free(&map);
    ikt_source_close(&source);
}

IKT_MPI_TESTS(ikt_test(none_leaves_values_near_zero), ikt_test(none_removes_large_offsets),
              ikt_test(minmax_fills_the_unit_interval), ikt_test(zscore_has_mean_0_and_variance_1),
              ikt_test(unit_rows_have_length_1), ikt_test(same_map_as_one_rank),
              ikt_test(refuses_values_that_are_not_finite),
              ikt_test(refuses_what_single_precision_cannot_hold), ikt_test(refuses_no_rows))
