/* Principal components of real images (digits, usps) against a plain double-precision analysis by
 * Jacobi rotations, and bit for bit against one rank. */
#include "support/ikt_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/row_hash.h"
#include "data/dataset.h"
#include "dist/rows.h"

enum { SKIPPED = 77, K = 10 };

typedef struct {
    double *x; /* normalised to [0, 1] by columns, then centred */
    int64_t n, d;
} table;

static void path_of(const char *file, char *path, size_t size) {
    const char *folder = getenv("IKT_TEST_DATA");
    assert_true(snprintf(path, size, "%s/%s", folder ? folder : ".", file) < (int)size);
}

static ikt_source *open_file(ikt_context *ctx, const char *file) {
    char path[4096];
    ikt_source *source;
    path_of(file, path, sizeof path);
    assert_int_equal(ikt_source_open(ctx, path, "X", 0, &source), IKT_OK);
    return source;
}

static ikt_dataset *reduced(ikt_context *ctx, ikt_source *source, int64_t k) {
    ikt_preprocess_settings settings = {.normalise = IKT_NORMALISE_MINMAX, .pca = k};
    ikt_dataset *set;
    assert_int_equal(ikt_dataset_create(ctx, source, &settings, &set), IKT_OK);
    return set;
}

/* The formulas, column by column. */
static table table_read(ikt_source *source) {
    table t = {NULL, ikt_source_rows(source), ikt_source_columns(source)};
    size_t count = (size_t)(t.n * t.d);
    uint8_t *raw = malloc(count);
    t.x = malloc(count * sizeof(double));
    assert_true(raw && t.x && ikt_source_type(source) == IKT_TYPE_U8);
    assert_int_equal(ikt_source_read(source, 0, t.n, raw), IKT_OK);
    for (int64_t k = 0; k < t.d; k++) {
        double least = INFINITY, most = -INFINITY, mean = 0;
        for (int64_t i = 0; i < t.n; i++) {
            least = fmin(least, (double)raw[i * t.d + k]);
            most = fmax(most, (double)raw[i * t.d + k]);
        }
        for (int64_t i = 0; i < t.n; i++) {
            double *value = &t.x[i * t.d + k];
            *value = most > least ? ((double)raw[i * t.d + k] - least) / (most - least) : 0;
            mean += *value / (double)t.n;
        }
        for (int64_t i = 0; i < t.n; i++)
            t.x[i * t.d + k] -= mean;
    }
    free(raw);
    return t;
}

/* One Jacobi rotation that makes a[p][q] zero; v collects the rotations in its columns. */
static void rotate(double *a, double *v, int64_t d, int64_t p, int64_t q) {
    double apq = a[p * d + q];
    if (apq == 0) return;
    double theta = (a[q * d + q] - a[p * d + p]) / (2 * apq);
    double t = copysign(1, theta) / (fabs(theta) + hypot(theta, 1));
    double c = 1 / hypot(t, 1), s = t * c;
    for (int64_t i = 0; i < d; i++) {
        double ip = a[i * d + p], iq = a[i * d + q];
        a[i * d + p] = c * ip - s * iq;
        a[i * d + q] = s * ip + c * iq;
    }
    for (int64_t i = 0; i < d; i++) {
        double pi = a[p * d + i], qi = a[q * d + i], vp = v[i * d + p], vq = v[i * d + q];
        a[p * d + i] = c * pi - s * qi;
        a[q * d + i] = s * pi + c * qi;
        v[i * d + p] = c * vp - s * vq;
        v[i * d + q] = s * vp + c * vq;
    }
}

/* Eigenvalues on the diagonal of a, eigenvectors in the columns of v. */
static void jacobi(double *a, double *v, int64_t d) {
    for (int64_t i = 0; i < d * d; i++)
        v[i] = i % (d + 1) == 0;
    for (int sweep = 0; sweep < 15; sweep++)
        for (int64_t p = 0; p < d; p++)
            for (int64_t q = p + 1; q < d; q++)
                rotate(a, v, d, p, q);
}

static double *covariance_of(const table *t) {
    double *a = calloc((size_t)(t->d * t->d), sizeof(double));
    assert_non_null(a);
    for (int64_t i = 0; i < t->n; i++)
        for (int64_t p = 0; p < t->d; p++)
            for (int64_t q = 0; q < t->d; q++)
                a[p * t->d + q] += t->x[i * t->d + p] * t->x[i * t->d + q] / (double)(t->n - 1);
    return a;
}

/* Scores of all rows along eigenvector `column`, its largest entry made positive. */
static void reference_scores(const table *t, const double *v, int64_t column, double *scores) {
    double largest = 0;
    for (int64_t k = 0; k < t->d; k++)
        if (fabs(v[k * t->d + column]) > fabs(largest)) largest = v[k * t->d + column];
    for (int64_t i = 0; i < t->n; i++) {
        scores[i] = 0;
        for (int64_t k = 0; k < t->d; k++)
            scores[i] += t->x[i * t->d + k] * v[k * t->d + column] * copysign(1, largest);
    }
}

/* Index of the largest diagonal entry, which is then taken out. */
static int64_t take_largest(double *a, int64_t d) {
    int64_t best = 0;
    for (int64_t k = 1; k < d; k++)
        if (a[k * d + k] > a[best * d + best]) best = k;
    a[best * d + best] = -INFINITY;
    return best;
}

static void digits_match_jacobi(void **state) {
    ikt_context *ctx = *state;
    ikt_source *source = open_file(ctx, "digits.h5");
    ikt_dataset *set = reduced(ctx, source, K);
    table t = table_read(source);
    double *a = covariance_of(&t), *v = malloc((size_t)(t.d * t.d) * sizeof(double));
    double *scores = malloc((size_t)t.n * sizeof(double));
    float *rows = malloc((size_t)(t.n * K) * sizeof(float));
    assert_true(v && scores && rows);
    assert_int_equal(ikt_dataset_read(set, 0, t.n, rows), IKT_OK);
    jacobi(a, v, t.d);
    for (int64_t m = 0; m < K; m++) {
        reference_scores(&t, v, take_largest(a, t.d), scores);
        for (int64_t i = 0; i < t.n; i++)
            assert_true(fabs((double)rows[i * K + m] - scores[i]) < 1e-6);
    }
    free(t.x);
    free(a);
    free(v);
    free(scores);
    free(rows);
    ikt_dataset_destroy(&set);
    ikt_source_close(&source);
}

/* Hash of all mapped rows, each rank reading those it owns. */
static uint64_t hash_of(ikt_context *ctx, int64_t k) {
    ikt_source *source = open_file(ctx, "usps.h5");
    ikt_dataset *set = reduced(ctx, source, k);
    int64_t columns = ikt_dataset_columns(set);
    ikt_rows distribution = ikt_rows_make(ikt_dataset_rows(set), ikt_size(ctx), ikt_rank(ctx));
    float *rows = malloc((size_t)(distribution.count * columns + 1) * sizeof(float));
    assert_non_null(rows);
    assert_int_equal(ikt_dataset_read(set, distribution.first, distribution.count, rows), IKT_OK);
    uint64_t hash = ikt_row_hash(ctx, rows, distribution.first, distribution.count,
                                 (size_t)columns * sizeof(float));
    free(rows);
    ikt_dataset_destroy(&set);
    ikt_source_close(&source);
    return hash;
}

static void usps_has_the_bits_of_one_rank(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    ikt_context_set_log(alone, IKT_LOG_ERROR);
    ikt_context_set_threads(ctx, 1);
    assert_true(hash_of(ctx, 0) == hash_of(alone, 0));
    uint64_t expected = hash_of(alone, 50);
    assert_true(hash_of(ctx, 50) == expected);
    ikt_context_set_threads(ctx, 2);
    assert_true(hash_of(ctx, 50) == expected);
    ikt_context_destroy(&alone);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {ikt_test(digits_match_jacobi),
                                       ikt_test(usps_has_the_bits_of_one_rank)};
    char path[4096];
    path_of("digits.h5", path, sizeof path);
    FILE *file = fopen(path, "rb");
    if (!file) {
        printf("skipped: no %s; set IKT_TEST_DATA to the folder of the test data\n", path);
        return SKIPPED;
    }
    fclose(file);
    return ikt_test_run(argc, argv, tests, sizeof tests / sizeof *tests);
}
