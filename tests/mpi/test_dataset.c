/* Data sets: the same bits for every way to read a row, on any ranks and threads; gathering;
 * reduction as a rotation; errors. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "data/dataset.h"

enum { N = 1500, D = 21 };

static void *table_make(ikt_type type) {
    void *data = malloc((size_t)N * D * ikt_type_size(type));
    assert_non_null(data);
    for (int64_t i = 0; i < N * D; i++) {
        double own = ikt_rng_normal(1, IKT_RNG_TEST, i / D, (uint64_t)(i % D));
        double common = ikt_rng_normal(1, IKT_RNG_TEST, i / D, 100 + (uint64_t)(i % 3));
        double value = fmin(fmax(100 + 10 * own + 20 * common, 0), 255);
        if (type == IKT_TYPE_U8) ((uint8_t *)data)[i] = (uint8_t)value;
        if (type == IKT_TYPE_F32) ((float *)data)[i] = (float)value;
        if (type == IKT_TYPE_F64) ((double *)data)[i] = value;
    }
    return data;
}

typedef struct {
    void *data;
    ikt_source *source;
    ikt_dataset *set;
} opened;

static opened open_set(ikt_context *ctx, ikt_type type, int64_t n, int normalise, int64_t pca) {
    opened o = {table_make(type), NULL, NULL};
    ikt_preprocess_settings settings = {.normalise = normalise, .pca = pca};
    assert_int_equal(ikt_source_from_memory(ctx, o.data, n, D, type, &o.source), IKT_OK);
    assert_int_equal(ikt_dataset_create(ctx, o.source, &settings, &o.set), IKT_OK);
    assert_int_equal(ikt_dataset_rows(o.set), n);
    assert_int_equal(ikt_dataset_columns(o.set), pca ? pca : D);
    return o;
}

static void close_set(opened *o) {
    ikt_dataset_destroy(&o->set);
    assert_null(o->set);
    ikt_source_close(&o->source);
    free(o->data);
}

/* All rows, read by this rank alone. */
static float *rows_alone(ikt_type type, int64_t n, int normalise, int64_t pca) {
    ikt_context *alone = ikt_test_alone();
    ikt_context_set_log(alone, IKT_LOG_ERROR);
    opened o = open_set(alone, type, n, normalise, pca);
    float *rows = malloc((size_t)(n * ikt_dataset_columns(o.set)) * sizeof(float));
    assert_non_null(rows);
    assert_int_equal(ikt_dataset_read(o.set, 0, n, rows), IKT_OK);
    close_set(&o);
    ikt_context_destroy(&alone);
    return rows;
}

/* Ranges of all sizes, another on each rank, none on some. */
static void check_ranges(ikt_context *ctx, opened *o, const float *expected) {
    int64_t n = ikt_dataset_rows(o->set), columns = ikt_dataset_columns(o->set);
    float *rows = malloc((size_t)(n * columns) * sizeof(float));
    double *wide = malloc((size_t)(n * columns) * sizeof(double));
    assert_true(rows && wide);
    for (int trial = 0; trial < 6; trial++) {
        int64_t first = ikt_rng_below(3, IKT_RNG_TEST, trial, (uint64_t)ikt_rank(ctx), n);
        int64_t count = trial == ikt_rank(ctx) ? 0 : (n - first) / (trial % 3 + 1);
        ikt_row_reader reader = ikt_dataset_reader(o->set);
        assert_int_equal(ikt_dataset_read(o->set, first, count, rows), IKT_OK);
        assert_memory_equal(rows, expected + first * columns,
                            (size_t)(count * columns) * sizeof(float));
        assert_int_equal(reader.read(reader.self, first, count, wide), IKT_OK);
        for (int64_t i = 0; i < count * columns; i++)
            assert_true(wide[i] == (double)rows[i]);
    }
    free(rows);
    free(wide);
}

static void check_gather(ikt_context *ctx, opened *o, const float *expected) {
    int64_t n = ikt_dataset_rows(o->set), columns = ikt_dataset_columns(o->set), count = 0;
    const int64_t strides[] = {1, 7, 400, 100000};
    int64_t *wanted = malloc((size_t)n * sizeof *wanted);
    float *rows = malloc((size_t)(n * columns) * sizeof(float));
    const uint8_t *bytes = (const uint8_t *)rows;
    assert_true(rows && wanted);
    assert_int_equal(ikt_dataset_gather(o->set, wanted, 0, rows), IKT_OK);
    for (size_t s = 0; s < sizeof strides / sizeof *strides; s++) {
        count = 0;
        for (int64_t row = n - 1 < 3 ? n - 1 : 3; row < n; row += strides[s])
            wanted[count++] = row;
        assert_int_equal(ikt_dataset_gather(o->set, wanted, count, rows), IKT_OK);
        for (int64_t i = 0; i < count * columns; i++) {
            float got = ikt_dataset_is_u8(o->set) ? (float)bytes[i] : rows[i];
            assert_true(got == expected[wanted[i / columns] * columns + i % columns]);
        }
    }
    (void)ctx;
    free(wanted);
    free(rows);
}

static void check_reads(ikt_context *ctx, ikt_type type, int mode, int64_t pca) {
    float *expected = rows_alone(type, N, mode, pca);
    opened o = open_set(ctx, type, N, mode, pca);
    check_ranges(ctx, &o, expected);
    check_gather(ctx, &o, expected);
    close_set(&o);
    free(expected);
}

/* All types and modes, by turns with one and two threads, and by turns reduced. */
static void every_read_gives_the_same_bits(void **state) {
    ikt_context *ctx = *state;
    for (ikt_type type = IKT_TYPE_U8; type <= IKT_TYPE_F64; type++) {
        for (int mode = IKT_NORMALISE_NONE; mode <= IKT_NORMALISE_UNIT; mode++) {
            ikt_context_set_threads(ctx, 1 + mode % 2);
            check_reads(ctx, type, mode, ((int)type + mode) % 2 ? 17 : 0);
        }
    }
    ikt_context_set_threads(ctx, 2);
    check_reads(ctx, IKT_TYPE_F64, IKT_NORMALISE_NONE, 0);
    check_reads(ctx, IKT_TYPE_F64, IKT_NORMALISE_MINMAX, 17);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void fewer_rows_than_ranks(void **state) {
    ikt_context *ctx = *state;
    for (int64_t n = 1; n <= 3; n++) {
        for (int64_t pca = 0; pca <= 2; pca += 2) {
            float *expected = rows_alone(IKT_TYPE_F32, n, IKT_NORMALISE_MINMAX, pca);
            opened o = open_set(ctx, IKT_TYPE_F32, n, IKT_NORMALISE_MINMAX, pca);
            check_ranges(ctx, &o, expected);
            check_gather(ctx, &o, expected);
            close_set(&o);
            free(expected);
        }
    }
}

static void bytes_stay_bytes(void **state) {
    ikt_context *ctx = *state;
    opened o = open_set(ctx, IKT_TYPE_U8, N, IKT_NORMALISE_NONE, 0);
    uint8_t *rows = malloc((size_t)N * D);
    assert_non_null(rows);
    assert_true(ikt_dataset_is_u8(o.set));
    assert_int_equal(ikt_dataset_read_u8(o.set, 10, N - 10, rows), IKT_OK);
    assert_memory_equal(rows, (uint8_t *)o.data + (ptrdiff_t)10 * D, (size_t)(N - 10) * D);
    free(rows);
    close_set(&o);
    o = open_set(ctx, IKT_TYPE_U8, N, IKT_NORMALISE_NONE, 3);
    assert_false(ikt_dataset_is_u8(o.set));
    close_set(&o);
    o = open_set(ctx, IKT_TYPE_U8, N, IKT_NORMALISE_MINMAX, 0);
    assert_false(ikt_dataset_is_u8(o.set));
    close_set(&o);
    o = open_set(ctx, IKT_TYPE_F32, N, IKT_NORMALISE_NONE, 0);
    assert_false(ikt_dataset_is_u8(o.set));
    close_set(&o);
}

static double distance(const float *x, const float *y, int64_t d) {
    double sum = 0;
    for (int64_t k = 0; k < d; k++)
        sum += pow((double)x[k] - (double)y[k], 2);
    return sum;
}

/* All components keep the distances; fewer keep the largest variances, and columns uncorrelated. */
static void reduction_is_a_rotation(void **state) {
    (void)state;
    enum { K = 6 };
    float *rows = rows_alone(IKT_TYPE_F64, N, IKT_NORMALISE_ZSCORE, 0);
    float *all = rows_alone(IKT_TYPE_F64, N, IKT_NORMALISE_ZSCORE, D);
    float *few = rows_alone(IKT_TYPE_F64, N, IKT_NORMALISE_ZSCORE, K);
    for (int64_t i = 0; i + 1 < N; i++) {
        double expected = distance(rows + i * D, rows + (i + 1) * D, D);
        assert_true(fabs(distance(all + i * D, all + (i + 1) * D, D) - expected) < 1e-4);
        assert_true(distance(few + i * K, few + (i + 1) * K, K) < expected + 1e-4);
        for (int64_t m = 0; m < K; m++)
            assert_true(few[i * K + m] == all[i * D + m]);
    }
    double variance[D] = {0};
    for (int64_t m = 0; m < D; m++) {
        for (int64_t other = 0; other <= m; other++) {
            double product = 0;
            for (int64_t i = 0; i < N; i++)
                product += (double)all[i * D + m] * (double)all[i * D + other] / N;
            if (other < m)
                assert_true(fabs(product) < 1e-6);
            else
                variance[m] = product;
        }
        if (m > 0) assert_true(variance[m] <= variance[m - 1]);
    }
    free(rows);
    free(all);
    free(few);
}

/* Components of `n` rows by this rank alone, [k*D]. */
static double *components_alone(int64_t n, int64_t k) {
    ikt_context *alone = ikt_test_alone();
    ikt_context_set_log(alone, IKT_LOG_ERROR);
    opened o = open_set(alone, IKT_TYPE_F64, n, IKT_NORMALISE_NONE, k);
    double *components = malloc((size_t)(k * D) * sizeof(double));
    assert_non_null(components);
    memcpy(components, ikt_dataset_map(o.set).pca->components, (size_t)(k * D) * sizeof(double));
    close_set(&o);
    ikt_context_destroy(&alone);
    return components;
}

/* Where not all rows are asked for, whole blocks of 512 rows are taken, here the first one or two:
 * components are those of a table that holds nothing else, up to the rounding of other means. */
static void components_are_found_of_the_rows_asked_for(void **state) {
    ikt_context *ctx = *state;
    enum { K = 4 };
    static const struct {
        int64_t asked, most, rows;
    } cases[] = {{0, N, N},          {IKT_AUTO_INT, N, N}, {N, N, N},
                 {1100, 1100, 1024}, {512, 512, 512},      {3, 512, 512}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double *expected = components_alone(cases[i].rows, K);
        ikt_preprocess_settings settings = {
            .normalise = IKT_NORMALISE_NONE, .pca = K, .pca_rows = cases[i].asked};
        opened o = {table_make(IKT_TYPE_F64), NULL, NULL};
        assert_int_equal(ikt_pca_rows(&settings, N), cases[i].most);
        assert_int_equal(ikt_source_from_memory(ctx, o.data, N, D, IKT_TYPE_F64, &o.source),
                         IKT_OK);
        assert_int_equal(ikt_dataset_create(ctx, o.source, &settings, &o.set), IKT_OK);
        assert_int_equal(ikt_dataset_rows(o.set), N);
        const double *found = ikt_dataset_map(o.set).pca->components;
        for (int64_t e = 0; e < K * D; e++)
            assert_true(fabs(found[e] - expected[e]) < 1e-9);
        close_set(&o);
        free(expected);
    }
    const ikt_preprocess_settings usual = {.pca_rows = IKT_AUTO_INT};
    assert_int_equal(ikt_pca_rows(&usual, 8100000), 1 << 20);
    assert_int_equal(ikt_pca_rows(&usual, 100), 100);
}

static void refuses_more_components_than_columns(void **state) {
    ikt_context *ctx = *state;
    void *data = table_make(IKT_TYPE_F32);
    ikt_preprocess_settings settings = {.normalise = IKT_NORMALISE_MINMAX, .pca = D + 1};
    ikt_source *source;
    ikt_dataset *set;
    assert_int_equal(ikt_source_from_memory(ctx, data, N, D, IKT_TYPE_F32, &source), IKT_OK);
    assert_int_equal(ikt_dataset_create(ctx, source, &settings, &set), IKT_ERR_USAGE);
    assert_null(set);
    assert_non_null(strstr(ikt_message(ctx), "preprocess.pca = 22"));
    assert_non_null(strstr(ikt_message(ctx), "21 columns"));
    ikt_source_close(&source);
    assert_int_equal(ikt_memory_now(ctx), 0);
    free(data);
}

/* Under the map of another data set rows have the bits that they have in it. */
static void a_lent_map_gives_the_same_bits(void **state) {
    ikt_context *ctx = *state;
    for (int mode = IKT_NORMALISE_NONE; mode <= IKT_NORMALISE_UNIT; mode++)
        for (int64_t pca = 0; pca <= 17; pca += 17) {
            const ikt_type type = mode % 2 ? IKT_TYPE_F64 : IKT_TYPE_F32;
            float *expected = rows_alone(type, N, mode, pca);
            opened o = open_set(ctx, type, N, mode, pca), mapped = {o.data, o.source, NULL};
            const ikt_data_map map = ikt_dataset_map(o.set);
            assert_int_equal(ikt_dataset_create_mapped(ctx, o.source, &map, &mapped.set), IKT_OK);
            assert_int_equal(ikt_dataset_columns(mapped.set), pca ? pca : D);
            check_ranges(ctx, &mapped, expected);
            check_gather(ctx, &mapped, expected);
            ikt_dataset_destroy(&mapped.set);
            close_set(&o);
            free(expected);
        }
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* The leading columns of reduced rows, bit for bit, whatever the number of columns. */
static void leading_components_are_read_alone(void **state) {
    enum { K = 19 };
    ikt_context *ctx = *state;
    float *expected = rows_alone(IKT_TYPE_F64, N, IKT_NORMALISE_ZSCORE, K);
    opened plain = open_set(ctx, IKT_TYPE_F64, N, IKT_NORMALISE_ZSCORE, 0);
    opened o = open_set(ctx, IKT_TYPE_F64, N, IKT_NORMALISE_ZSCORE, K);
    assert_true(!ikt_dataset_has_components(plain.set, 1));
    assert_true(ikt_dataset_has_components(o.set, K) && !ikt_dataset_has_components(o.set, K + 1));
    for (int64_t q = 1; q <= 3; q++) {
        const int64_t first = 100 * ikt_rank(ctx), count = 700 - 90 * ikt_rank(ctx);
        double scores[3 * 700];
        assert_int_equal(ikt_dataset_read_components(ctx, o.set, q, first, count, scores), IKT_OK);
        for (int64_t e = 0; e < q * count; e++)
            assert_true(scores[e] == (double)expected[(first + e / q) * K + e % q]);
    }
    assert_int_equal(ikt_dataset_columns(o.set), K);
    check_ranges(ctx, &o, expected);
    close_set(&o);
    close_set(&plain);
    free(expected);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void expect_refusal(ikt_context *ctx, ikt_dataset *set, const char *text) {
    const int64_t wanted[] = {3, 900, N - 1};
    float *rows = malloc((size_t)N * D * sizeof *rows);
    assert_non_null(rows);
    for (int gather = 0; gather < 2; gather++) {
        assert_int_equal(gather ? ikt_dataset_gather(set, wanted, 3, rows)
                                : ikt_dataset_read(set, 0, N, rows),
                         IKT_ERR_DATA);
        if (!strstr(ikt_message(ctx), text)) fail_msg("%s", ikt_message(ctx));
        ikt_clear(ctx);
    }
    free(rows);
}

/* Rows that no statistic has seen are looked at when they are read. */
static void rows_that_cannot_be_used_are_named(void **state) {
    ikt_context *ctx = *state;
    opened good = open_set(ctx, IKT_TYPE_F64, N, IKT_NORMALISE_MINMAX, 0);
    const ikt_data_map map = ikt_dataset_map(good.set);
    const double bad[] = {NAN, INFINITY, 1e300, -1e25};
    static const char *const said[] = {"row 900, column 4 (counted from 0): value is NaN",
                                       "row 900, column 4 (counted from 0): value is infinite",
                                       "row 900 lies too far from the data",
                                       "row 900 lies too far from the data"};
    for (int b = 0; b < 4; b++) {
        ikt_dataset *set;
        double *value = (double *)good.data + (ptrdiff_t)900 * D + 4, kept = *value;
        *value = bad[b];
        assert_int_equal(ikt_dataset_create_mapped(ctx, good.source, &map, &set), IKT_OK);
        expect_refusal(ctx, set, said[b]);
        ikt_dataset_destroy(&set);
        *value = kept;
    }
    close_set(&good);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* Centres come from the data set taken, which goes with the rows; bytes where both are bytes. */
static void a_model_can_be_another_data_set(void **state) {
    ikt_context *ctx = *state;
    for (ikt_type type = IKT_TYPE_U8; type <= IKT_TYPE_F32; type++) {
        opened rows = open_set(ctx, IKT_TYPE_U8, 40, IKT_NORMALISE_NONE, 0);
        opened other = open_set(ctx, type, N, IKT_NORMALISE_NONE, 0);
        ikt_dataset *model = other.set;
        assert_ptr_equal(ikt_dataset_model(rows.set), rows.set);
        assert_true(ikt_dataset_is_u8(rows.set));
        ikt_dataset_take_model(rows.set, &other.source, &other.set);
        assert_true(!other.source && !other.set);
        assert_ptr_equal(ikt_dataset_model(rows.set), model);
        assert_int_equal(ikt_dataset_rows(ikt_dataset_model(rows.set)), N);
        assert_int_equal(ikt_dataset_is_u8(rows.set), type == IKT_TYPE_U8);
        assert_int_equal(ikt_dataset_is_u8(model), type == IKT_TYPE_U8);
        close_set(&rows);
        free(other.data);
        assert_int_equal(ikt_memory_now(ctx), 0);
    }
}

IKT_MPI_TESTS(ikt_test(every_read_gives_the_same_bits), ikt_test(leading_components_are_read_alone),
              ikt_test(fewer_rows_than_ranks), ikt_test(bytes_stay_bytes),
              ikt_test(reduction_is_a_rotation),
              ikt_test(components_are_found_of_the_rows_asked_for),
              ikt_test(refuses_more_components_than_columns),
              ikt_test(a_lent_map_gives_the_same_bits),
              ikt_test(rows_that_cannot_be_used_are_named),
              ikt_test(a_model_can_be_another_data_set))
