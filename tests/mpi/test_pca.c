/* Column statistics, covariance and principal components: against plain formulas, and
 * bit for bit against one rank with one thread. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "linalg/blocks.h"
#include "linalg/column_stats.h"
#include "linalg/covariance_few.h"
#include "linalg/covariance_leading.h"
#include "linalg/eigen.h"
#include "linalg/pca.h"

/* Rows in memory on every rank. */
typedef struct {
    double *x;
    int64_t n, d;
} table;

static ikt_status table_read(void *self, int64_t first, int64_t count, double *rows) {
    const table *t = self;
    memcpy(rows, t->x + first * t->d, (size_t)(count * t->d) * sizeof(double));
    return IKT_OK;
}

static ikt_row_reader reader_of(table *t) {
    return (ikt_row_reader){table_read, t, t->n, t->d, "table"};
}

/* Correlated columns: x_c = offset + z_c / (c+1) + z_0, in units that differ by powers of ten. */
static table table_make(int64_t n, int64_t d, double offset) {
    table t = {malloc((size_t)(n * d) * sizeof(double)), n, d};
    assert_non_null(t.x);
    for (int64_t i = 0; i < n; i++) {
        double common = ikt_rng_normal(1, IKT_RNG_TEST, i, 0);
        for (int64_t c = 0; c < d; c++) {
            double own = ikt_rng_normal(1, IKT_RNG_TEST, i, (uint64_t)c + 1) / (double)(c + 1);
            t.x[i * d + c] = (offset + own + common) * pow(10, (double)(c % 3 - 1));
        }
    }
    return t;
}

/* Runs `check` with 1 and 2 threads. */
static void with_threads(ikt_context *ctx, void (*check)(ikt_context *, table *), table *t) {
    for (int threads = 1; threads <= 2; threads++) {
        ikt_context_set_threads(ctx, threads);
        check(ctx, t);
    }
    free(t->x);
}

static void blocks_cover_all_rows(void **state) {
    ikt_context *ctx = *state;
    const int64_t sizes[] = {0, 1, 511, 512, 513, 5000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int64_t next = 0;
        for (int rank = 0; rank < ikt_size(ctx); rank++) {
            ikt_row_range r = ikt_blocks_of_rank(sizes[s], ikt_size(ctx), rank);
            assert_int_equal(r.first, next);
            assert_true(r.first % IKT_BLOCK_ROWS == 0 || r.count == 0);
            next += r.count;
        }
        assert_int_equal(next, sizes[s]);
        ikt_row_range mine = ikt_blocks_of_rank(sizes[s], ikt_size(ctx), ikt_rank(ctx));
        int64_t steps = ikt_stream_steps(ctx, mine.count, 100), seen = 0;
        for (int64_t step = 0; step < steps; step++) {
            ikt_row_range at = ikt_stream_step(mine, 100, step);
            assert_int_equal(at.first, mine.first + seen);
            assert_true(at.count >= 0 && at.count <= 100);
            seen += at.count;
        }
        assert_int_equal(seen, mine.count);
    }
    assert_int_equal(ikt_stream_rows(1, 8), 32 * IKT_BLOCK_ROWS);
    assert_int_equal(ikt_stream_rows(784, 8), 4 * IKT_BLOCK_ROWS);
    assert_int_equal(ikt_stream_rows(100000000, 8), 1);
}

/* Statistics of one column by the formulas, in extended precision. Sums within a block are plain,
 * of values relative to row 0: each of its additions may round by 2^-53 of the sum. */
static void check_column(const table *t, const ikt_column_stats *stats, int64_t c) {
    long double mean = 0, variance = 0, distance = 0;
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < t->n; i++) {
        double value = t->x[i * t->d + c];
        mean += (long double)value / (long double)t->n;
        distance += fabsl((long double)value - (long double)t->x[c]) / (long double)t->n;
        least = fmin(least, value);
        most = fmax(most, value);
    }
    for (int64_t i = 0; i < t->n; i++) {
        long double difference = (long double)t->x[i * t->d + c] - mean;
        variance += difference * difference / (long double)t->n;
    }
    assert_true(stats->least[c] == least && stats->most[c] == most);
    long double bound = IKT_BLOCK_ROWS * 0x1p-53L * distance + 0x1p-51L * fabsl(mean);
    assert_true(fabsl((long double)stats->mean[c] - mean) <= bound);
    assert_true(fabsl((long double)stats->variance[c] - variance) <= 1e-9L * variance);
}

static void check_stats(ikt_context *ctx, table *t) {
    ikt_context *alone = ikt_test_alone();
    ikt_row_reader reader = reader_of(t);
    ikt_column_stats stats, expected;
    assert_int_equal(ikt_column_stats_compute(ctx, &reader, &stats), IKT_OK);
    assert_int_equal(ikt_column_stats_compute(alone, &reader, &expected), IKT_OK);
    assert_memory_equal(stats.least, expected.least, (size_t)(4 * t->d) * sizeof(double));
    for (int64_t c = 0; c < t->d; c++)
        check_column(t, &stats, c);
    ikt_column_stats_free(&stats);
    ikt_column_stats_free(&expected);
    ikt_context_destroy(&alone);
}

static void stats_are_right_and_reproducible(void **state) {
    /* The wide one is read in less than a block at a time, the others in several. */
    table few = table_make(3, 5, 0), many = table_make(5000, 131, 1e6),
          wide = table_make(520, 5000, 0);
    with_threads(*state, check_stats, &few);
    with_threads(*state, check_stats, &many);
    with_threads(*state, check_stats, &wide);
}

static void stats_name_the_first_defect(void **state) {
    ikt_context *ctx = *state;
    table t = table_make(4000, 7, 0);
    ikt_row_reader reader = reader_of(&t);
    ikt_column_stats stats;
    t.x[3900 * 7 + 1] = NAN;
    t.x[1717 * 7 + 3] = INFINITY;
    t.x[1717 * 7 + 5] = NAN;
    assert_int_equal(ikt_column_stats_compute(ctx, &reader, &stats), IKT_ERR_DATA);
    assert_non_null(strstr(ikt_message(ctx), "table, row 1717, column 3 "));
    assert_non_null(strstr(ikt_message(ctx), "infinite"));
    ikt_column_stats_free(&stats);
    ikt_clear(ctx);
    t.x[0] = NAN; /* row 0 is the origin of all sums */
    assert_int_equal(ikt_column_stats_compute(ctx, &reader, &stats), IKT_ERR_DATA);
    assert_non_null(strstr(ikt_message(ctx), "table, row 0, column 0 "));
    assert_non_null(strstr(ikt_message(ctx), "NaN"));
    ikt_column_stats_free(&stats);
    free(t.x);
}

static void check_covariance(ikt_context *ctx, table *t) {
    ikt_context *alone = ikt_test_alone();
    ikt_row_reader reader = reader_of(t);
    ikt_column_stats stats;
    double *upper, *expected;
    int64_t d = t->d;
    assert_int_equal(ikt_column_stats_compute(ctx, &reader, &stats), IKT_OK);
    assert_int_equal(ikt_covariance_compute(ctx, &reader, &stats, &upper), IKT_OK);
    assert_int_equal(ikt_covariance_compute(alone, &reader, &stats, &expected), IKT_OK);
    assert_memory_equal(upper, expected, (size_t)ikt_upper_entries(d) * sizeof(double));
    for (int64_t i = 0; i < d; i++) {
        for (int64_t j = i; j < d; j++) {
            double sum = 0;
            for (int64_t row = 0; row < t->n; row++)
                sum += (t->x[row * d + i] - stats.mean[i]) * (t->x[row * d + j] - stats.mean[j]);
            sum /= t->n > 1 ? (double)(t->n - 1) : 1;
            double bound = 1e-13 * sqrt(stats.variance[i] * stats.variance[j]);
            assert_true(fabs(upper[ikt_upper_index(d, i, j)] - sum) <= bound);
        }
    }
    ikt_free(&upper);
    ikt_free(&expected);
    ikt_column_stats_free(&stats);
    ikt_context_destroy(&alone);
}

static void covariance_is_right_and_reproducible(void **state) {
    table one = table_make(1, 3, 0), few = table_make(5, 20, 0), many = table_make(2700, 35, 100);
    with_threads(*state, check_covariance, &one);
    with_threads(*state, check_covariance, &few);
    with_threads(*state, check_covariance, &many);
}

static void check_pca(ikt_context *ctx, table *t) {
    enum { K = 4 };
    ikt_context *alone = ikt_test_alone();
    ikt_row_reader reader = reader_of(t);
    ikt_pca *pca, *expected;
    int64_t n = t->n, d = t->d;
    assert_int_equal(ikt_pca_fit(ctx, &reader, K, &pca), IKT_OK);
    assert_int_equal(ikt_pca_fit(alone, &reader, K, &expected), IKT_OK);
    assert_memory_equal(pca->components, expected->components, (size_t)(K * d) * sizeof(double));
    assert_memory_equal(pca->variance, expected->variance, K * sizeof(double));
    double *scores = malloc((size_t)(n * K) * sizeof(double));
    double *again = malloc((size_t)(n * K) * sizeof(double));
    /* Each rank asks for another part; the first for all. */
    int64_t first = ikt_rank(ctx) % n;
    assert_int_equal(ikt_pca_scores(ctx, pca, &reader, first, n - first, scores + first * K),
                     IKT_OK);
    assert_int_equal(ikt_pca_scores(alone, expected, &reader, 0, n, again), IKT_OK);
    assert_memory_equal(scores + first * K, again + first * K,
                        (size_t)((n - first) * K) * sizeof(double));
    for (int64_t m = 0; m < K; m++) {
        double mean = 0, variance = 0;
        for (int64_t i = 0; i < n; i++)
            mean += again[i * K + m] / (double)n;
        for (int64_t i = 0; i < n; i++)
            variance += pow(again[i * K + m] - mean, 2) / (n > 1 ? (double)(n - 1) : 1);
        assert_true(fabs(mean) <= 1e-10 * sqrt(pca->total_variance));
        assert_true(fabs(variance - pca->variance[m]) <= 1e-10 * pca->total_variance);
        if (m >= pca->rank) assert_true(variance == 0 && pca->variance[m] == 0);
    }
    free(scores);
    free(again);
    ikt_pca_destroy(&pca);
    ikt_pca_destroy(&expected);
    ikt_context_destroy(&alone);
}

static void pca_scores_have_the_variances(void **state) {
    table one = table_make(1, 3, 5), few = table_make(3, 6, 0), narrow = table_make(1300, 2, 1),
          many = table_make(2000, 70, 10);
    with_threads(*state, check_pca, &one);
    with_threads(*state, check_pca, &few);
    with_threads(*state, check_pca, &narrow);
    with_threads(*state, check_pca, &many);
}

/* The axes of wide rows, in the way that few of them take, or in that of many. */
static void find_axes(ikt_context *ctx, const ikt_row_reader *reader, bool are_few, int64_t k,
                      double *variance, double *components) {
    ikt_column_stats stats;
    double total = 0;
    assert_int_equal(ikt_column_stats_compute(ctx, reader, &stats), IKT_OK);
    for (int64_t c = 0; c < reader->d; c++)
        total += stats.variance[c] * (double)reader->n / (double)(reader->n - 1);
    assert_int_equal(
        are_few ? ikt_covariance_of_few(ctx, reader, &stats, k, variance, components)
                : ikt_covariance_leading(ctx, reader, &stats, total, k, variance, components),
        IKT_OK);
    ikt_column_stats_free(&stats);
}

/* The same bits on one rank and thread. */
static void check_alone(ikt_context *alone, const table *t, bool are_few, int64_t k,
                        const double *variance, const double *components) {
    table of = *t;
    double *others = malloc((size_t)(k * (t->d + 1)) * sizeof *others);
    assert_true(others);
    ikt_row_reader reader = reader_of(&of);
    reader.self = &of;
    find_axes(alone, &reader, are_few, k, others, others + k);
    assert_memory_equal(others, variance, (size_t)k * sizeof *others);
    assert_memory_equal(others + k, components, (size_t)(k * t->d) * sizeof *others);
    free(others);
}

/* Wide rows, whose axes come without a matrix of d x d, against those that the products of every
 * two rows give. The first has up to a million times the variance of the last. */
static void check_wide(ikt_context *ctx, table *t, bool are_few) {
    enum { K = 4 };
    const int64_t n = t->n, d = t->d, upper = ikt_upper_entries(n);
    ikt_context *alone = ikt_test_alone();
    const ikt_row_reader reader = reader_of(t);
    double variance[K], *components = malloc((size_t)(K * d) * sizeof *components);
    double *x = malloc((size_t)(n * d) * sizeof *x), *gram = malloc((size_t)upper * sizeof *gram);
    double values[K], *vectors = malloc((size_t)(K * n) * sizeof *vectors);
    assert_true(x && gram && vectors && components);
    assert_true(ikt_covariance_is_wide(d, K) && ikt_covariance_is_of_few(n, d));
    find_axes(ctx, &reader, are_few, K, variance, components);
    check_alone(alone, t, are_few, K, variance, components);
    for (int64_t c = 0; c < d; c++) {
        double mean = 0;
        for (int64_t i = 0; i < n; i++)
            mean += t->x[i * d + c] / (double)n;
        for (int64_t i = 0; i < n; i++)
            x[i * d + c] = t->x[i * d + c] - mean;
    }
    for (int64_t i = 0, at = 0; i < n; i++)
        for (int64_t j = i; j < n; j++, at++) {
            gram[at] = 0;
            for (int64_t c = 0; c < d; c++)
                gram[at] += x[i * d + c] * x[j * d + c];
        }
    assert_int_equal(ikt_eigen_leading(alone, gram, n, K, n, values, vectors), IKT_OK);
    for (int64_t m = 0; m < K; m++) {
        const double *axis = components + m * d, size = sqrt(values[m]);
        double same = 0, square = 0, largest = 0;
        assert_true(fabs(variance[m] * (double)(n - 1) - values[m]) <= 1e-10 * values[0]);
        for (int64_t c = 0; c < d; c++) {
            double expected = 0;
            for (int64_t i = 0; i < n; i++)
                expected += vectors[m * n + i] * x[i * d + c] / size;
            same += expected * axis[c];
            square += axis[c] * axis[c];
            if (fabs(axis[c]) > fabs(largest)) largest = axis[c];
        }
        assert_true(fabs(fabs(same) - 1) <= 1e-8 && fabs(square - 1) <= 1e-12 && largest > 0);
    }
    ikt_context_destroy(&alone);
    free(x);
    free(gram);
    free(vectors);
    free(components);
}

/* What fitting takes, in either way. */
static void check_room(ikt_context *ctx, int64_t n, int64_t d) {
    enum { K = 4 };
    table t = table_make(n, d, 1);
    const ikt_row_reader reader = reader_of(&t);
    ikt_pca *pca;
    assert_int_equal(ikt_pca_fit(ctx, &reader, K, &pca), IKT_OK);
    assert_true(ikt_memory_peak(ctx) <= ikt_pca_bytes(n, d, K, ikt_size(ctx), ikt_threads(ctx)));
    ikt_pca_destroy(&pca);
    free(t.x);
}

static void pca_of_wide_rows(void **state) {
    /* Two blocks, of which ranks have one or none; rows that come eight at a time; fewer rows than
     * vectors. */
    table two = table_make(600, 2100, 0), wide = table_make(20, 140000, 1),
          few = table_make(3, 2050, 1e3), one = table_make(1, 3000, 0);
    check_room(*state, 20, 140000);
    for (int are_few = 0; are_few < 2; are_few++) {
        check_wide(*state, &wide, are_few);
        check_wide(*state, &two, are_few);
    }
    with_threads(*state, check_pca, &few);
    with_threads(*state, check_pca, &one);
    with_threads(*state, check_pca, &two);
    free(wide.x);
}

/* Five rows that are three, fewer than there are ranks and than components that are asked for: two
 * directions, and zeros; the same bits on one rank. */
static void pca_of_few_rows_that_are_equal(void **state) {
    enum { N = 5, D = 1100, K = 6 };
    ikt_context *on[] = {*state, ikt_test_alone()};
    table t = table_make(N, D, 0);
    const ikt_row_reader reader = reader_of(&t);
    ikt_pca *pca[2];
    memcpy(t.x + D, t.x, D * sizeof *t.x);
    memcpy(t.x + 3 * D, t.x + 2 * D, D * sizeof *t.x);
    assert_true(ikt_covariance_is_of_few(N, D));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ikt_pca_fit(on[i], &reader, K, &pca[i]), IKT_OK);
        assert_int_equal(pca[i]->rank, 2);
        for (int64_t e = 2 * D; e < K * D; e++)
            assert_true(pca[i]->components[e] == 0 && pca[i]->variance[e / D] == 0);
    }
    assert_memory_equal(pca[0]->components, pca[1]->components, K * D * sizeof(double));
    assert_memory_equal(pca[0]->variance, pca[1]->variance, K * sizeof(double));
    ikt_pca_destroy(&pca[0]);
    ikt_pca_destroy(&pca[1]);
    ikt_context_destroy(&on[1]);
    free(t.x);
}

/* Points on a line in three dimensions, with a constant column. */
static void pca_of_a_line(void **state) {
    ikt_context *ctx = *state;
    enum { N = 700 };
    double x[N * 3];
    table t = {x, N, 3};
    ikt_row_reader reader = reader_of(&t);
    ikt_pca *pca;
    for (int i = 0; i < N; i++) {
        x[3 * i] = 3.0 * i;
        x[3 * i + 1] = 7;
        x[3 * i + 2] = -4.0 * i;
    }
    assert_int_equal(ikt_pca_fit(ctx, &reader, 2, &pca), IKT_OK);
    assert_int_equal(pca->rank, 1);
    assert_true(fabs(pca->components[0] + 0.6) < 1e-14);
    assert_true(pca->components[1] == 0 || fabs(pca->components[1]) < 1e-14);
    assert_true(fabs(pca->components[2] - 0.8) < 1e-14);
    assert_true(fabs(pca->variance[0] / pca->total_variance - 1) < 1e-13);
    assert_true(pca->components[3] == 0 && pca->components[4] == 0 && pca->components[5] == 0);
    ikt_pca_destroy(&pca);
    assert_null(pca);
    /* The account also holds messages' memory of no size: everything was given back. */
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static ikt_status failing_read(void *self, int64_t first, int64_t count, double *rows) {
    (void)first;
    memset(rows, 0, (size_t)count * 2 * sizeof(double));
    return ikt_agree(self, ikt_rank(self) == ikt_size(self) - 1
                               ? ikt_fail(self, IKT_ERR_FILE, "disk on fire")
                               : IKT_OK);
}

static void pca_passes_on_the_readers_failure(void **state) {
    ikt_context *ctx = *state;
    ikt_row_reader reader = {failing_read, ctx, 100, 2, "broken"};
    ikt_pca *pca;
    assert_int_equal(ikt_pca_fit(ctx, &reader, 2, &pca), IKT_ERR_FILE);
    assert_string_equal(ikt_message(ctx), "disk on fire");
    assert_null(pca);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void pca_refuses_too_many_columns(void **state) {
    ikt_context *ctx = *state;
    ikt_row_reader reader = {failing_read, ctx, 100, 2000000000, "wide"};
    ikt_pca *pca;
    assert_int_equal(ikt_pca_fit(ctx, &reader, 2, &pca), IKT_ERR_RESOURCE);
    assert_non_null(strstr(ikt_message(ctx), "2000000000 columns"));
    assert_null(pca);
}

IKT_MPI_TESTS(ikt_test(blocks_cover_all_rows), ikt_test(stats_are_right_and_reproducible),
              ikt_test(stats_name_the_first_defect), ikt_test(covariance_is_right_and_reproducible),
              ikt_test(pca_scores_have_the_variances), ikt_test(pca_of_wide_rows),
              ikt_test(pca_of_few_rows_that_are_equal), ikt_test(pca_of_a_line),
              ikt_test(pca_passes_on_the_readers_failure), ikt_test(pca_refuses_too_many_columns))
