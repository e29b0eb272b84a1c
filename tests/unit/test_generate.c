/* Generated sets without images: what they are, that rows are pure, and what is refused. */
#include "support/ikt_test.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "data/generate.h"

/* Whether a set is made from another one. */
static bool needs_source(const ikt_generator *generator) {
    for (const ikt_generate_use *use = generator->uses; use->key; use++)
        if (strcmp(use->key, "source") == 0) return true;
    return false;
}

static ikt_generate_settings defaults(ikt_context *ctx) {
    ikt_generate_settings s;
    assert_int_equal(ikt_generate_defaults(ctx, &s), IKT_OK);
    return s;
}

/* A whole set of floats with its labels. */
typedef struct {
    ikt_generation *g;
    int64_t n, d;
    float *x;
    int32_t *labels;
} table;

static table make(ikt_context *ctx, const char *name, const ikt_generate_settings *settings) {
    table t = {0};
    assert_int_equal(ikt_generation_open(ctx, name, settings, 7, &t.g), IKT_OK);
    t.n = t.g->settings.points;
    t.d = t.g->columns;
    assert_int_equal(t.g->generator->type, IKT_TYPE_F32);
    assert_int_equal(ikt_alloc(ctx, &t.x, t.n * t.d, sizeof *t.x, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &t.labels, t.n, sizeof *t.labels, "test"), IKT_OK);
    ikt_generation_fill(t.g, 0, t.n, t.x, t.labels);
    return t;
}

static void drop(ikt_context *ctx, table *t) {
    ikt_free(&t->x);
    ikt_free(&t->labels);
    ikt_generation_close(&t->g);
    assert_null(t->g);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* Rows of `label` (but the origin): asserts mean and sd in dimensions from..past-1, zero outside;
 * tolerances in standard errors. Returns the number of rows. */
static int64_t check_cluster(const table *t, int label, int64_t from, int64_t past, double mean,
                             double sd) {
    int64_t rows = 0;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < t->n; i++) {
        if (t->labels[i] != label || i == t->g->origin) continue;
        rows++;
        for (int64_t c = 0; c < t->d; c++) {
            double x = t->x[i * t->d + c];
            if (c < from || c >= past) {
                assert_true(x == 0);
                continue;
            }
            assert_true(x != 0);
            sum += (x - mean) / sd;
            squares += (x - mean) / sd * ((x - mean) / sd);
        }
    }
    double values = (double)(rows * (past - from));
    assert_true(fabs(sum / values) < 4 / sqrt(values));
    assert_true(fabs(squares / values - 1) < 4 * sqrt(2 / values));
    return rows;
}

static void assert_origin(const table *t, int label) {
    assert_int_equal(t->g->origin, 0);
    assert_int_equal(t->labels[0], label);
    for (int64_t c = 0; c < t->d; c++)
        assert_true(t->x[c] == 0);
}

static void five_subspace_is_the_papers(void **state) {
    ikt_context *ctx = *state;
    static const double mean[] = {0, 0, 0, 400, 500}, power[] = {1, 16, 81, 256, 625};
    for (int scale = IKT_SCALE_AUTO; scale <= IKT_SCALE_VARIANCE; scale++) {
        ikt_generate_settings s = defaults(ctx);
        s.scale = scale;
        table t = make(ctx, "five-subspace", &s);
        assert_int_equal(t.n, 1250);
        assert_int_equal(t.d, 50);
        assert_origin(&t, 1);
        for (int k = 0; k < 5; k++) {
            double sd = scale == IKT_SCALE_VARIANCE ? sqrt(power[k]) : power[k];
            int64_t rows = check_cluster(&t, k + 1, 10 * k, 10 * k + 10, mean[k], sd);
            assert_int_equal(rows, k == 0 ? 249 : 250);
        }
        drop(ctx, &t);
    }
}

static void two_subspace_is_the_papers(void **state) {
    ikt_context *ctx = *state;
    ikt_generate_settings s = defaults(ctx);
    table t = make(ctx, "two-subspace", &s);
    assert_int_equal(t.n, 1001);
    assert_int_equal(t.d, 200);
    assert_origin(&t, 1);
    assert_int_equal(check_cluster(&t, 1, 0, 100, 0, 1), 500);
    assert_int_equal(check_cluster(&t, 2, 100, 200, 0, 1), 500);
    drop(ctx, &t);
}

static void shared_subspace_is_the_papers(void **state) {
    ikt_context *ctx = *state;
    ikt_generate_settings s = defaults(ctx);
    table t = make(ctx, "shared-subspace", &s);
    assert_int_equal(t.n, 1021);
    assert_int_equal(t.d, 100);
    assert_origin(&t, 3);
    assert_int_equal(check_cluster(&t, 1, 0, 51, 0, 1), 500);
    assert_int_equal(check_cluster(&t, 2, 49, 100, 0, 1), 500);
    assert_int_equal(check_cluster(&t, 3, 49, 51, 0, 1), 20);
    drop(ctx, &t);
    s.points = 52;
    t = make(ctx, "shared-subspace", &s);
    assert_int_equal(t.labels[51], 3);
    drop(ctx, &t);
}

static void mixture_has_its_separation_and_unit_clusters(void **state) {
    ikt_context *ctx = *state;
    enum { K = 40, D = 30 };
    ikt_generate_settings s = defaults(ctx);
    s.points = 20000, s.clusters = K, s.dimensions = D, s.separation = 12;
    table t = make(ctx, "gaussian-mixture", &s);
    double centre[K][D] = {{0}}, squares = 0, distance = 0;
    int64_t rows[K] = {0};
    for (int64_t i = 0; i < t.n; i++) {
        assert_in_range(t.labels[i], 1, K);
        int k = t.labels[i] - 1;
        rows[k]++;
        for (int c = 0; c < D; c++)
            centre[k][c] += t.x[i * D + c];
    }
    for (int k = 0; k < K; k++) {
        assert_in_range(rows[k], 500 - 110, 500 + 110); /* 5 deviations */
        for (int c = 0; c < D; c++)
            centre[k][c] /= (double)rows[k];
    }
    for (int64_t i = 0; i < t.n; i++)
        for (int c = 0; c < D; c++)
            squares += pow(t.x[i * D + c] - centre[t.labels[i] - 1][c], 2);
    assert_true(fabs(squares / (double)((t.n - K) * D) - 1) < 0.01);
    for (int k = 0; k < K; k++)
        for (int l = 0; l < k; l++)
            for (int c = 0; c < D; c++)
                distance += pow(centre[k][c] - centre[l][c], 2);
    assert_true(fabs(sqrt(distance / (K * (K - 1) / 2)) / 12 - 1) < 0.05);
    drop(ctx, &t);
}

static void uniform_fills_the_square_and_has_no_labels(void **state) {
    ikt_context *ctx = *state;
    ikt_generate_settings s = defaults(ctx);
    table t = make(ctx, "uniform-2d", &s);
    assert_int_equal(t.d, 2);
    assert_false(t.g->has_labels);
    int64_t cells[4][4] = {{0}};
    for (int64_t i = 0; i < t.n; i++) {
        float x = t.x[2 * i], y = t.x[2 * i + 1];
        assert_true(x >= 0 && x < 1 && y >= 0 && y < 1);
        cells[(int)(4 * x)][(int)(4 * y)]++;
        assert_int_equal(t.labels[i], 0);
    }
    for (int i = 0; i < 16; i++)
        assert_in_range(cells[i / 4][i % 4], 625 - 120, 625 + 120); /* 5 deviations */
    drop(ctx, &t);
}

/* How far a point is from the surface, with the parameter u (0 to 1) that puts it there. */
static double swiss_roll_error(const float *x, double *u) {
    double t = hypot(x[0], x[2]), pi = acos(-1);
    *u = (t / (1.5 * pi) - 1) / 2;
    assert_true(x[1] >= 0 && x[1] <= 21);
    return fabs(t * cos(t) - x[0]) + fabs(t * sin(t) - x[2]);
}

static double s_curve_error(const float *x, double *u) {
    /* Upper arc (x[2] < 0): centre (0, -1); lower arc: centre (0, 1). */
    double side = x[2] < 0 ? 1 : -1, pi = acos(-1);
    double t = side * atan2(side * x[0], 1 + side * x[2]);
    if (side * t < 0) t += side * 2 * pi;
    *u = t / (3 * pi) + 0.5;
    assert_true(x[1] >= 0 && x[1] <= 2);
    return fabs(hypot(x[0], x[2] + side) - 1);
}

static double sphere_error(const float *x, double *u) {
    *u = (x[2] + 1.0) / 2;
    return fabs(sqrt((double)x[0] * x[0] + (double)x[1] * x[1] + (double)x[2] * x[2]) - 1);
}

static void surfaces_hold_their_points(void **state) {
    ikt_context *ctx = *state;
    static const struct {
        const char *name;
        double (*error)(const float *x, double *u);
    } sets[] = {
        {"swiss-roll", swiss_roll_error}, {"s-curve", s_curve_error}, {"sphere", sphere_error}};
    for (int k = 0; k < 3; k++) {
        ikt_generate_settings s = defaults(ctx);
        s.points = 5000;
        table flat = make(ctx, sets[k].name, &s);
        s.noise = 0.5;
        table noisy = make(ctx, sets[k].name, &s);
        int64_t bands[10] = {0};
        double squares = 0;
        for (int64_t i = 0; i < flat.n; i++) {
            double u, error = sets[k].error(flat.x + 3 * i, &u);
            assert_true(error < 2e-5);
            assert_in_range(flat.labels[i], 0, 9);
            assert_true(fabs(10 * u - flat.labels[i] - 0.5) < 0.5 + 1e-4);
            bands[flat.labels[i]]++;
            assert_int_equal(flat.labels[i], noisy.labels[i]);
            for (int c = 0; c < 3; c++)
                squares += pow(noisy.x[3 * i + c] - flat.x[3 * i + c], 2);
        }
        for (int b = 0; b < 10; b++)
            assert_in_range(bands[b], 500 - 106, 500 + 106); /* 5 deviations */
        assert_true(fabs(squares / (double)(3 * flat.n) / 0.25 - 1) < 0.05);
        ikt_free(&noisy.x), ikt_free(&noisy.labels);
        ikt_generation_close(&noisy.g);
        drop(ctx, &flat);
    }
}

/* Any block of rows, by any number of threads, holds the bits that the rows have alone. */
static void rows_are_pure_functions_of_their_number(void **state) {
    ikt_context *ctx = *state;
    enum { N = 300 };
    static char block[N * 784 * 4], alone[784 * 4];
    int32_t labels[N], label;
    const ikt_generator *generator;
    for (int k = 0; (generator = ikt_generator_at(k)) != NULL; k++) {
        if (needs_source(generator)) continue; /* have tests of their own */
        ikt_generate_settings s = defaults(ctx);
        ikt_generation *g, *other;
        s.points = N;
        assert_int_equal(ikt_generation_open(ctx, generator->name, &s, 3, &g), IKT_OK);
        assert_int_equal(ikt_generation_open(ctx, generator->name, &s, 4, &other), IKT_OK);
        size_t bytes = (size_t)g->columns * ikt_type_size(generator->type);
        ikt_context_set_threads(ctx, 2);
        ikt_generation_fill(g, 0, N, block, labels);
        ikt_context_set_threads(ctx, 1);
        for (int i = 0; i < N; i++) {
            ikt_generation_fill(g, i, 1, alone, &label);
            assert_memory_equal(alone, block + (size_t)i * bytes, bytes);
            if (g->has_labels) assert_int_equal(label, labels[i]);
        }
        assert_true(memcmp(block, block + (N / 2) * bytes, bytes) != 0);
        ikt_generation_fill(other, N - 1, 1, alone, NULL);
        assert_memory_not_equal(alone, block + (N - 1) * bytes, bytes);
        ikt_generation_close(&g);
        ikt_generation_close(&other);
    }
}

/* Rows beyond 2^31 are as good as any other. */
static void row_numbers_are_64_bits_wide(void **state) {
    ikt_context *ctx = *state;
    ikt_generate_settings s = defaults(ctx);
    ikt_generation *g;
    s.points = 1000000000000;
    static const char *const names[] = {"five-subspace", "shared-subspace", "sphere"};
    for (int k = 0; k < 3; k++) {
        float first[100], last[100];
        int32_t label;
        assert_int_equal(ikt_generation_open(ctx, names[k], &s, 3, &g), IKT_OK);
        ikt_generation_fill(g, s.points - 1, 1, last, &label);
        if (g->origin == 0) assert_int_equal(label, k == 0 ? 5 : 3);
        ikt_generation_fill(g, (s.points - 1) % ((int64_t)1 << 32), 1, first, &label);
        assert_memory_not_equal(first, last, (size_t)g->columns * sizeof *last);
        ikt_generation_close(&g);
    }
}

static void assert_refused(ikt_context *ctx, const char *name, const ikt_generate_settings *s,
                           const char *message) {
    ikt_generation *g;
    assert_int_equal(ikt_generation_open(ctx, name, s, 1, &g), IKT_ERR_USAGE);
    assert_null(g);
    assert_non_null(strstr(ikt_message(ctx), message));
    ikt_clear(ctx);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void settings_that_do_not_apply_are_refused(void **state) {
    ikt_context *ctx = *state;
    ikt_generate_settings none = defaults(ctx), s = none;
    assert_refused(ctx, "swiss-rol", &s, "did you mean 'swiss-roll'");
    s.clusters = 3;
    assert_refused(ctx, "sphere", &s, "no setting 'clusters'; it has: points, noise");
    s = none, s.separation = 1;
    assert_refused(ctx, "five-subspace", &s, "'separation'");
    s = none, s.scale = IKT_SCALE_SD;
    assert_refused(ctx, "two-subspace", &s, "'scale'");
    s = none, s.dimensions = 100;
    assert_refused(ctx, "shared-subspace", &s, "'dimensions'");
    s = none, s.keep_originals = IKT_ORIGINALS_YES;
    assert_refused(ctx, "glyphs", &s, "'keep-originals'");
    s = none, strcpy(s.source, "digits.h5");
    assert_refused(ctx, "glyphs", &s, "'source'");
    s = none, s.noise = 0;
    assert_refused(ctx, "uniform-2d", &s, "'noise'");
    s = none, s.points = 10;
    assert_refused(ctx, "deform", &s, "needs the setting 'source'");
}

static void settings_out_of_range_are_refused(void **state) {
    ikt_context *ctx = *state;
    ikt_generate_settings none = defaults(ctx), s = none;
    s.points = 0;
    assert_refused(ctx, "sphere", &s, "sphere: points");
    s.points = 4;
    assert_refused(ctx, "five-subspace", &s, "at least 5 points, not 4");
    s.points = 51;
    assert_refused(ctx, "shared-subspace", &s, "at least 52 points");
    s = none, s.dimensions = 52;
    assert_refused(ctx, "five-subspace", &s, "52 is not a multiple");
    s = none, s.separation = -1;
    assert_refused(ctx, "gaussian-mixture", &s, "separation");
    s = none, s.noise = NAN;
    assert_refused(ctx, "s-curve", &s, "noise");
    s = none, s.strength = 11;
    assert_refused(ctx, "glyphs", &s, "strength");
}

IKT_MPI_TESTS(
    ikt_test(five_subspace_is_the_papers), ikt_test(two_subspace_is_the_papers),
    ikt_test(shared_subspace_is_the_papers), ikt_test(mixture_has_its_separation_and_unit_clusters),
    ikt_test(uniform_fills_the_square_and_has_no_labels), ikt_test(surfaces_hold_their_points),
    ikt_test(rows_are_pure_functions_of_their_number), ikt_test(row_numbers_are_64_bits_wide),
    ikt_test(settings_that_do_not_apply_are_refused), ikt_test(settings_out_of_range_are_refused))
