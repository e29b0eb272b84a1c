/* What tests of measures share: labelled sets with a map, and computing their measures. */
#ifndef IKT_TEST_MEASURE_SET_H
#define IKT_TEST_MEASURE_SET_H

#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "evaluate/measure.h"
#include "support/measure_ref.h"

enum { N_MAX = 400, D = 6, Q_MAX = 3 };

static inline void assert_near(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not within %g of %.17g", value, tolerance, expected);
}

typedef struct {
    float x[N_MAX * D], y[N_MAX * Q_MAX];
    int64_t labels[N_MAX];
    ikt_ref_set set;
} sample_set;

/* `classes` clusters, a map of q columns; grid > 0 rounds to multiples of 1 / grid, which makes
 * ties and duplicates. */
static inline void make_in(sample_set *s, int64_t n, int64_t classes, double grid, int64_t q) {
    for (int64_t i = 0; i < n; i++) {
        s->labels[i] = i % classes;
        for (int64_t c = 0; c < D + q; c++) {
            double centre = 2 * ikt_rng_normal(1, IKT_RNG_SHAPE, i % classes, (uint64_t)c);
            double value = centre + ikt_rng_normal(1, IKT_RNG_TEST, i, (uint64_t)c);
            if (grid > 0) value = floor(grid * value) / grid;
            if (c < D)
                s->x[i * D + c] = (float)value;
            else
                s->y[i * q + c - D] = (float)value;
        }
    }
    s->set = (ikt_ref_set){n, D, q, s->x, s->y, s->labels};
}

/* Measured rows of this rank. */
static inline ikt_measured measured(ikt_context *ctx, const ikt_ref_set *set, ikt_dataset *data) {
    ikt_rows rows = ikt_rows_make(set->n, ikt_size(ctx), ikt_rank(ctx));
    return (ikt_measured){.rows = rows,
                          .y = set->y + set->q * rows.first,
                          .q = set->q,
                          .labels = set->labels ? set->labels + rows.first : NULL,
                          .has_labels = set->labels != NULL,
                          .data = data};
}

typedef struct {
    ikt_source *source;
    ikt_dataset *data;
} input;

/* The rows as they are; nothing where x is NULL. */
static inline input input_open(ikt_context *ctx, const ikt_ref_set *set) {
    input in = {NULL, NULL};
    ikt_preprocess_settings none = {.normalise = IKT_NORMALISE_NONE, .pca = 0};
    if (!set->x) return in;
    assert_int_equal(ikt_source_from_memory(ctx, set->x, set->n, set->d, IKT_TYPE_F32, &in.source),
                     IKT_OK);
    assert_int_equal(ikt_dataset_create(ctx, in.source, &none, &in.data), IKT_OK);
    return in;
}

static inline void input_close(input *in) {
    ikt_dataset_destroy(&in->data);
    ikt_source_close(&in->source);
}

/* The measures of a set on the ranks of ctx; x NULL: no input. */
static inline ikt_status compute(ikt_context *ctx, const ikt_ref_set *set,
                                 const ikt_measure_settings *settings, ikt_measures *out) {
    input in = input_open(ctx, set);
    const ikt_measured what = measured(ctx, set, in.data);
    memset(out, 0, sizeof *out);
    ikt_status st = ikt_measures_compute(ctx, settings, &what, out);
    input_close(&in);
    return st;
}

static inline double value_of(const ikt_measures *measures, const char *name) {
    for (int64_t m = 0; m < measures->count; m++)
        if (strcmp(measures->list[m].name, name) == 0) return measures->list[m].value;
    fail_msg("there is no measure '%s'", name);
    return NAN;
}

/* One value of one family. */
static inline double measure_one(ikt_context *ctx, const ikt_ref_set *set,
                                 const ikt_measure_settings *settings, const char *family,
                                 const char *name) {
    ikt_measure_settings only = *settings;
    ikt_measures found;
    only.only = family;
    assert_int_equal(compute(ctx, set, &only, &found), IKT_OK);
    double value = value_of(&found, name);
    ikt_measures_destroy(&found);
    return value;
}

#endif
