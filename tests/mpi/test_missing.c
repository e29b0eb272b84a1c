/* Rows without missing values: means, medians and rows that are left, against plain loops; the same
 * on any ranks. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "data/missing.h"
#include "dist/rows.h"

enum { N = 1400, D = 5, FULL = 2 }; /* column FULL lacks nothing */

static const int64_t edge[] = {0, 511, 512, N - 1}; /* rows that lack a value in any case */

static bool is_missing(int64_t row, int64_t column) {
    if (column == FULL) return false;
    for (size_t e = 0; e < sizeof edge / sizeof *edge; e++)
        if (row == edge[e] && column == (int64_t)(e % 2)) return true;
    return ikt_rng_below(3, IKT_RNG_TEST, row, (uint64_t)column, 50) == 0;
}

/* Of both signs and many magnitudes; column 4 has few values, zeros of both signs among them. */
static double value_at(int64_t row, int64_t column) {
    const double x = ikt_rng_normal(4, IKT_RNG_TEST, row, (uint64_t)column);
    if (column == 4) return row % 3 == 0 ? -0.0 : row % 3 == 1 ? 0.0 : -1.5;
    return column == 3 ? exp(8 * x) : x;
}

static void *table(ikt_type type) {
    void *x = malloc((size_t)N * D * ikt_type_size(type));
    assert_non_null(x);
    for (int64_t i = 0; i < N * D; i++) {
        const double value = is_missing(i / D, i % D) ? NAN : value_at(i / D, i % D);
        if (type == IKT_TYPE_F32) ((float *)x)[i] = (float)value;
        if (type == IKT_TYPE_F64) ((double *)x)[i] = value;
    }
    return x;
}

static double number(ikt_type type, const void *x, int64_t i) {
    return type == IKT_TYPE_F32 ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void plain_fill(ikt_type type, const void *x, int64_t column, double *mean, double *median) {
    double there[N], sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < N; i++) {
        const double value = number(type, x, i * D + column);
        if (isnan(value)) continue;
        there[count++] = value;
        sum += value;
    }
    qsort(there, (size_t)count, sizeof *there, ascending);
    *mean = sum / (double)count;
    *median = (there[(count - 1) / 2] + there[count / 2]) / 2;
}

static void fills_by_column(ikt_context *ctx, ikt_type type, ikt_missing how) {
    void *x = table(type), *read = malloc((size_t)N * D * ikt_type_size(type));
    ikt_source *from, *to;
    assert_non_null(read);
    assert_int_equal(ikt_source_from_memory(ctx, x, N, D, type, &from), IKT_OK);
    assert_int_equal(ikt_missing_open(ctx, from, true, how, NULL, &to), IKT_OK);
    assert_int_equal(ikt_source_rows(to), N);
    assert_false(ikt_missing_drops(to));
    const double *fill = ikt_missing_fill(to);
    for (int64_t k = 0; k < D; k++) {
        double mean, median;
        plain_fill(type, x, k, &mean, &median);
        if (how == IKT_MISSING_MEAN)
            assert_true(fabs(fill[k] - mean) <= 1e-12 * (1 + fabs(mean)));
        else if (k != FULL)
            assert_true(fill[k] == median);
    }
    assert_int_equal(ikt_source_read(to, 0, N, read), IKT_OK);
    for (int64_t i = 0; i < N * D; i++) {
        const double before = number(type, x, i), now = number(type, read, i);
        const double put = type == IKT_TYPE_F32 ? (double)(float)fill[i % D] : fill[i % D];
        assert_true(isnan(before) ? now == put : now == before);
    }
    ikt_source_close(&to); /* and the other with it */
    free(read);
    free(x);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void fills_by_means_and_medians(void **state) {
    for (ikt_type type = IKT_TYPE_F32; type <= IKT_TYPE_F64; type++) {
        fills_by_column(*state, type, IKT_MISSING_MEAN);
        fills_by_column(*state, type, IKT_MISSING_MEDIAN);
    }
}

static void fills_by_given_values(void **state) {
    ikt_context *ctx = *state;
    const double given[D] = {10, 20, 30, 40, 50};
    double *x = table(IKT_TYPE_F64), row[D];
    ikt_source *from, *to;
    assert_int_equal(ikt_source_from_memory(ctx, x, N, D, IKT_TYPE_F64, &from), IKT_OK);
    assert_int_equal(ikt_missing_open(ctx, from, false, IKT_MISSING_MEAN, given, &to), IKT_OK);
    assert_int_equal(ikt_source_read(to, 0, 1, row), IKT_OK);
    assert_true(row[0] == 10);
    ikt_source_close(&to);
    ikt_source_close(&from); /* borrowed: still there */
    free(x);
}

/* Ranks read ranges of their own, some of them none. */
static void leaves_rows_out(void **state) {
    ikt_context *ctx = *state;
    double *x = table(IKT_TYPE_F64), *read = malloc((size_t)N * D * sizeof *read);
    int64_t left[N], count = 0;
    int64_t *labels = malloc(N * sizeof *labels);
    ikt_source *from, *to;
    bool present = false;
    assert_non_null(read);
    assert_non_null(labels);
    const ikt_rows own = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    for (int64_t i = 0; i < N; i++) {
        bool any = false;
        labels[i] = 3 * i;
        for (int64_t k = 0; k < D; k++)
            any |= is_missing(i, k);
        if (!any) left[count++] = i;
    }
    assert_int_equal(ikt_source_from_rows(ctx, x + own.first * D, labels + own.first, own.count, D,
                                          IKT_TYPE_F64, &from),
                     IKT_OK);
    assert_int_equal(ikt_missing_open(ctx, from, true, IKT_MISSING_DROP, NULL, &to), IKT_OK);
    assert_int_equal(ikt_source_rows(to), count);
    assert_true(ikt_missing_drops(to));
    const ikt_rows rows = ikt_rows_make(count, ikt_size(ctx), ikt_rank(ctx));
    const int64_t some = ikt_rank(ctx) == 1 ? 0 : rows.count;
    int64_t *found = malloc((size_t)(some + 1) * sizeof *found);
    assert_int_equal(ikt_source_read(to, rows.first, some, read), IKT_OK);
    assert_int_equal(ikt_source_read_labels(to, "labels", rows.first, some, found, &present),
                     IKT_OK);
    assert_true(present);
    for (int64_t i = 0; i < some; i++) {
        const int64_t original = left[rows.first + i];
        assert_int_equal(ikt_missing_original(to, rows.first + i), original);
        assert_int_equal(found[i], 3 * original);
        assert_memory_equal(read + i * D, x + original * D, D * sizeof *x);
    }
    ikt_source_close(&to);
    free(found);
    free(labels);
    free(read);
    free(x);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void expect_refusal(ikt_context *ctx, const double *x, ikt_missing how, const char *text) {
    ikt_source *from, *to;
    ikt_clear(ctx);
    assert_int_equal(ikt_source_from_memory(ctx, x, 3, 2, IKT_TYPE_F64, &from), IKT_OK);
    assert_int_equal(ikt_missing_open(ctx, from, true, how, NULL, &to), IKT_ERR_DATA);
    assert_null(to);
    assert_non_null(strstr(ikt_message(ctx), text));
    ikt_source_close(&from); /* a failure leaves it */
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void refuses_what_cannot_be_filled(void **state) {
    const double column[] = {1, NAN, 2, NAN, 3, NAN}, rows[] = {NAN, 1, 2, NAN, NAN, 3};
    expect_refusal(*state, column, IKT_MISSING_MEAN, "column 1");
    expect_refusal(*state, rows, IKT_MISSING_DROP, "every row");
}

static void needs_nothing_where_nothing_is_missing(void **state) {
    ikt_context *ctx = *state;
    const double x[] = {1, 2, 3, 4};
    const uint8_t bytes[] = {1, 2, 3, 4};
    ikt_source *from, *to;
    assert_int_equal(ikt_source_from_memory(ctx, x, 2, 2, IKT_TYPE_F64, &from), IKT_OK);
    assert_int_equal(ikt_missing_open(ctx, from, true, IKT_MISSING_DROP, NULL, &to), IKT_OK);
    assert_null(to);
    ikt_source_close(&from);
    assert_int_equal(ikt_source_from_memory(ctx, bytes, 2, 2, IKT_TYPE_U8, &from), IKT_OK);
    assert_int_equal(ikt_missing_open(ctx, from, true, IKT_MISSING_MEAN, NULL, &to), IKT_OK);
    assert_null(to);
    ikt_source_close(&from);
}

IKT_MPI_TESTS(ikt_test(fills_by_means_and_medians), ikt_test(fills_by_given_values),
              ikt_test(leaves_rows_out), ikt_test(refuses_what_cannot_be_filled),
              ikt_test(needs_nothing_where_nothing_is_missing))
