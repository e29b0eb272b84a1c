/* Sets derived from a given one, and what tells whether a map keeps their structure. */
#include "support/ikt_test.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "data/generate.h"
#include "evaluate/measure.h"
#include "io/sources/source.h"

enum { ROWS = 200, COLUMNS = 5 };

static double normal(int64_t row, uint64_t draw) {
    return ikt_rng_normal(1, IKT_RNG_TEST, row, draw);
}

/* --- derived sets ----------------------------------------------------------------------------- */

static ikt_generate_settings defaults(ikt_context *ctx) {
    ikt_generate_settings s;
    assert_int_equal(ikt_generate_defaults(ctx, &s), IKT_OK);
    return s;
}

/* A mixture of four clusters as a file, and all of it. */
typedef struct {
    char path[64];
    float x[ROWS * COLUMNS];
    int32_t label[ROWS];
} origin;

static void make_source(ikt_context *ctx, origin *o) {
    ikt_generate_settings s = defaults(ctx);
    ikt_generation *g = NULL;
    snprintf(o->path, sizeof o->path, "structure-%d.h5", ikt_size(ctx));
    s.points = ROWS;
    s.dimensions = COLUMNS;
    s.clusters = 4;
    assert_int_equal(ikt_generation_open(ctx, "gaussian-mixture", &s, 3, &g), IKT_OK);
    assert_int_equal(ikt_generation_write(g, o->path, true), IKT_OK);
    ikt_generation_fill(g, 0, ROWS, o->x, o->label);
    ikt_generation_close(&g);
}

static ikt_generation *derive(ikt_context *ctx, const char *name, ikt_generate_settings *s,
                              const origin *o) {
    ikt_generation *g = NULL;
    snprintf(s->source, sizeof s->source, "%s", o->path);
    assert_int_equal(ikt_generation_open(ctx, name, s, 7, &g), IKT_OK);
    assert_int_equal(g->columns, COLUMNS);
    assert_true(g->has_labels);
    return g;
}

/* Source row that a derived row is, by its bits; -1: none. */
static int64_t row_of(const origin *o, const float *row) {
    for (int64_t i = 0; i < ROWS; i++)
        if (memcmp(o->x + i * COLUMNS, row, COLUMNS * sizeof *row) == 0) return i;
    return -1;
}

static void a_subset_is_rows_of_the_source_in_their_order(ikt_context *ctx, const origin *o) {
    ikt_generate_settings s = defaults(ctx);
    float x[ROWS * COLUMNS];
    int32_t label[ROWS];
    s.share = 0.25;
    ikt_generation *g = derive(ctx, "subset", &s, o);
    assert_int_equal(g->settings.points, ROWS / 4);
    ikt_generation_fill(g, 0, ROWS / 4, x, label);
    int64_t last = -1;
    for (int64_t i = 0; i < ROWS / 4; i++) {
        const int64_t from = row_of(o, x + i * COLUMNS);
        assert_true(from > last);
        assert_int_equal(label[i], o->label[from]);
        last = from;
    }
    ikt_generation_close(&g);
    s = defaults(ctx);
    snprintf(s.classes, sizeof s.classes, "1,3");
    g = derive(ctx, "subset", &s, o);
    int64_t wanted = 0;
    for (int64_t i = 0; i < ROWS; i++)
        wanted += o->label[i] == 1 || o->label[i] == 3;
    assert_int_equal(g->settings.points, wanted);
    ikt_generation_fill(g, 0, wanted, x, label);
    for (int64_t i = 0; i < wanted; i++)
        assert_true(label[i] == 1 || label[i] == 3);
    ikt_generation_close(&g);
}

/* Root mean square distance of the source's rows from their mean. */
static double spread(const origin *o) {
    double sum = 0;
    for (int64_t c = 0; c < COLUMNS; c++) {
        double mean = 0;
        for (int64_t i = 0; i < ROWS; i++)
            mean += (double)o->x[i * COLUMNS + c] / ROWS;
        for (int64_t i = 0; i < ROWS; i++)
            sum += ((double)o->x[i * COLUMNS + c] - mean) * ((double)o->x[i * COLUMNS + c] - mean);
    }
    return sqrt(sum / ROWS);
}

static double distance(const float *a, const float *b) {
    double sum = 0;
    for (int64_t c = 0; c < COLUMNS; c++)
        sum += ((double)a[c] - (double)b[c]) * ((double)a[c] - (double)b[c]);
    return sqrt(sum);
}

static void an_outlier_is_one_shifted_row(ikt_context *ctx, const origin *o) {
    ikt_generate_settings s = defaults(ctx);
    float x[ROWS * COLUMNS];
    int64_t shifted = 0;
    s.separation = 20;
    ikt_generation *g = derive(ctx, "outlier", &s, o);
    assert_true(g->origin >= 0 && g->origin < ROWS);
    ikt_generation_fill(g, 0, ROWS, x, NULL);
    for (int64_t i = 0; i < ROWS; i++) {
        const double by = distance(x + i * COLUMNS, o->x + i * COLUMNS);
        shifted += by > 0;
        if (i == g->origin) assert_true(fabs(by / spread(o) - 20) < 1e-4);
    }
    assert_int_equal(shifted, 1);
    ikt_generation_close(&g);
}

static void copies_are_the_source_twice_one_shifted(ikt_context *ctx, const origin *o) {
    ikt_generate_settings s = defaults(ctx);
    float x[2 * ROWS * COLUMNS];
    int32_t label[2 * ROWS];
    ikt_generation *g = derive(ctx, "copies", &s, o);
    assert_int_equal(g->settings.points, 2 * ROWS);
    ikt_generation_fill(g, 0, 2 * ROWS, x, label);
    assert_memory_equal(x, o->x, sizeof o->x);
    for (int64_t i = 0; i < ROWS; i++) {
        assert_int_equal(label[ROWS + i], o->label[i]);
        const double by = distance(x + (ROWS + i) * COLUMNS, o->x + i * COLUMNS);
        assert_true(fabs(by / spread(o) - 10) < 1e-4);
    }
    ikt_generation_close(&g);
}

static void derived_sets_are_what_they_say(void **state) {
    ikt_context *ctx = *state;
    static origin o;
    make_source(ctx, &o);
    a_subset_is_rows_of_the_source_in_their_order(ctx, &o);
    an_outlier_is_one_shifted_row(ctx, &o);
    copies_are_the_source_twice_one_shifted(ctx, &o);
    ikt_barrier(ctx);
    if (ikt_rank(ctx) == 0) assert_int_equal(remove(o.path), 0);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* --- arrangement ------------------------------------------------------------------------------ */

static void what_procrustes_can_undo_costs_nothing(void **state) {
    (void)state;
    enum { POINTS = 12 };
    for (int64_t q = 1; q <= 3; q++) {
        double a[POINTS * 3], b[POINTS * 3];
        for (int64_t i = 0; i < POINTS; i++) {
            double p[3] = {normal(i, 0), normal(i, 1), normal(i, 2)};
            for (int64_t c = 0; c < q; c++)
                a[i * q + c] = p[c];
            /* Turned in the first two axes, mirrored in the last, scaled and shifted. */
            const double x = p[0], y = p[1];
            if (q > 1) p[0] = 0.6 * x - 0.8 * y, p[1] = 0.8 * x + 0.6 * y;
            p[q - 1] = -p[q - 1];
            for (int64_t c = 0; c < q; c++)
                b[i * q + c] = 7 * p[c] + 3;
        }
        assert_true(ikt_procrustes_error(a, b, POINTS, q) < 1e-12);
        b[0] += 1;
        assert_true(ikt_procrustes_error(a, b, POINTS, q) > 1e-6);
    }
    const double along[] = {1, -1, 1, -1}, across[] = {1, 1, -1, -1}, one[] = {2, 2, 2, 2};
    assert_true(fabs(ikt_procrustes_error(along, across, 4, 1) - 1) < 1e-12);
    assert_true(isnan(ikt_procrustes_error(along, one, 4, 1)));
    /* A square against a rectangle twice as long: (1 - (3)^2 / (2 * 5)) by hand. */
    const double square[] = {1, 1, 1, -1, -1, 1, -1, -1}, flat[] = {2, 1, 2, -1, -2, 1, -2, -1};
    assert_true(fabs(ikt_procrustes_error(square, flat, 4, 2) - 0.1) < 1e-12);
}

/* Own rows of a map of `rows` rows. */
typedef struct {
    ikt_rows rows;
    float y[4 * ROWS];
    int64_t label[2 * ROWS];
    ikt_measured what;
} part;

static void make_part(ikt_context *ctx, int64_t rows, void (*place)(int64_t row, float *at),
                      part *p) {
    p->rows = ikt_rows_make(rows, ikt_size(ctx), ikt_rank(ctx));
    for (int64_t i = 0; i < p->rows.count; i++) {
        place(p->rows.first + i, p->y + 2 * i);
        p->label[i] = (p->rows.first + i) % ROWS % 4;
    }
    p->what =
        (ikt_measured){.rows = p->rows, .y = p->y, .q = 2, .labels = p->label, .has_labels = true};
}

/* Four classes at the corners of a kite. */
static void kite(int64_t row, float *at) {
    static const float corner[4][2] = {{0, 3}, {1, 0}, {0, -1}, {-1, 0}};
    const int64_t c = row % ROWS % 4;
    for (int a = 0; a < 2; a++)
        at[a] = corner[c][a] * 10 + (float)(0.1 * normal(row % ROWS, (uint64_t)a));
}

static void kite_turned(int64_t row, float *at) {
    float straight[2];
    kite(row, straight);
    at[0] = 2 * straight[1] + 100;
    at[1] = 2 * straight[0];
}

/* The second copy far away, with two corners exchanged. */
static void two_kites(int64_t row, float *at) {
    kite(row, at);
    if (row < ROWS) return;
    if (row % ROWS % 4 == 0) kite(row + 1, at);
    if (row % ROWS % 4 == 1) kite(row - 1, at);
    at[0] += 1000;
}

static void mixed_kites(int64_t row, float *at) {
    kite(row, at);
}

static double value_of(const ikt_measures *m, const char *name) {
    for (int64_t i = 0; i < m->count; i++)
        if (strcmp(m->list[i].name, name) == 0) return m->list[i].value;
    return NAN;
}

/* Measures of a map against the kite; also computed by one rank alone, with the same bits. */
static ikt_measures compare(ikt_context *ctx, int64_t rows, void (*place)(int64_t, float *)) {
    static part map, reference;
    ikt_measures together = {0}, alone = {0};
    ikt_context *single = ikt_test_alone();
    make_part(single, rows, place, &map);
    make_part(single, ROWS, kite, &reference);
    assert_int_equal(ikt_measure_arrangement(single, &map.what, &reference.what, 5, &alone),
                     IKT_OK);
    make_part(ctx, rows, place, &map);
    make_part(ctx, ROWS, kite, &reference);
    assert_int_equal(ikt_measure_arrangement(ctx, &map.what, &reference.what, 5, &together),
                     IKT_OK);
    assert_int_equal(together.count, alone.count);
    for (int64_t i = 0; i < alone.count; i++)
        assert_true(together.list[i].value == alone.list[i].value);
    ikt_measures_destroy(&alone);
    ikt_context_destroy(&single);
    return together;
}

static void an_arrangement_is_the_same_however_it_is_turned(void **state) {
    ikt_context *ctx = *state;
    ikt_measures m = compare(ctx, ROWS, kite_turned);
    assert_int_equal(m.count, 1);
    assert_true(value_of(&m, "arrangement error") < 1e-10);
    ikt_measures_destroy(&m);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void copies_are_told_apart_or_not(void **state) {
    ikt_context *ctx = *state;
    ikt_measures m = compare(ctx, 2 * ROWS, two_kites);
    assert_true(value_of(&m, "arrangement error") < 1e-10);
    assert_true(value_of(&m, "arrangement error, second copy") > 0.1);
    assert_true(value_of(&m, "copies apart") == 1);
    ikt_measures_destroy(&m);
    m = compare(ctx, 2 * ROWS, mixed_kites);
    assert_true(fabs(value_of(&m, "copies apart") - 0.5) < 0.04);
    ikt_measures_destroy(&m);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void maps_that_cannot_be_compared_are_refused(void **state) {
    ikt_context *ctx = *state;
    static part map, reference;
    ikt_measures m = {0};
    make_part(ctx, ROWS, kite, &map);
    make_part(ctx, ROWS, kite, &reference);
    reference.what.has_labels = false;
    assert_int_equal(ikt_measure_arrangement(ctx, &map.what, &reference.what, 5, &m), IKT_OK);
    assert_int_equal(m.count, 0);
    reference.what.q = 1;
    assert_int_equal(ikt_measure_arrangement(ctx, &map.what, &reference.what, 5, &m),
                     IKT_ERR_USAGE);
    ikt_clear(ctx);
}

static void uneven(int64_t row, float *at) {
    at[0] = (float)normal(row, 0);
    at[1] = (float)normal(row, 1);
    if (row == 17) at[0] = 1e4f;
}

static void a_row_far_away_stands_apart(void **state) {
    ikt_context *ctx = *state;
    static part map;
    const int64_t marked[] = {17, 40};
    ikt_measures m = {0};
    make_part(ctx, ROWS, uneven, &map);
    assert_int_equal(ikt_measure_apart(ctx, &map.what, marked, 1, &m), IKT_OK);
    assert_true(m.count == 1 && value_of(&m, "marked rows apart") > 1e4);
    ikt_measures_destroy(&m);
    assert_int_equal(ikt_measure_apart(ctx, &map.what, marked, 2, &m), IKT_OK);
    const double least = value_of(&m, "marked rows apart"); /* row 40 is like others */
    assert_true(least > 0.2 && least < 8);
    ikt_measures_destroy(&m);
    assert_int_equal(ikt_measure_apart(ctx, &map.what, marked, 0, &m), IKT_OK);
    assert_int_equal(m.count, 0);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

IKT_MPI_TESTS(ikt_test(derived_sets_are_what_they_say),
              ikt_test(what_procrustes_can_undo_costs_nothing),
              ikt_test(an_arrangement_is_the_same_however_it_is_turned),
              ikt_test(copies_are_told_apart_or_not),
              ikt_test(maps_that_cannot_be_compared_are_refused),
              ikt_test(a_row_far_away_stands_apart))
