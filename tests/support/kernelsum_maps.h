/* Maps as they occur in a run of t-SNE, a pure function of kind, n and row, and the sums at them.
 */
#ifndef IKT_TEST_KERNELSUM_MAPS_H
#define IKT_TEST_KERNELSUM_MAPS_H

#include "support/ikt_test.h"

#include <math.h>
#include <stdbool.h>

#include "base/memory.h"
#include "base/rng.h"
#include "kernelsum/kernelsum.h"

typedef enum {
    MAP_LATE,     /* a disc of even density, of span 1.1 sqrt(n): 156 for 20,000 points */
    MAP_SPAN_ONE, /* a square of side 1 */
    MAP_EARLY,    /* everything within 1e-4 */
    MAP_CLUSTERS, /* nine clusters and a point far outside */
    MAP_LINE,     /* all on one horizontal line */
    MAP_PLACE,    /* all in one place */
    MAPS
} map_kind;

static inline double map_coordinate(map_kind kind, int64_t n, int64_t row, int axis) {
    uint64_t draw = (uint64_t)axis;
    double angle = 6.283185307179586 * ikt_rng_uniform(1, IKT_RNG_TEST, row, 2);
    double radius = 0.55 * sqrt((double)n) * sqrt(ikt_rng_uniform(1, IKT_RNG_TEST, row, 3));
    switch (kind) {
    case MAP_LATE:
        return radius * (axis ? sin(angle) : cos(angle));
    case MAP_SPAN_ONE:
        return ikt_rng_uniform(1, IKT_RNG_TEST, row, draw) - 7;
    case MAP_EARLY:
        return 1e-4 * ikt_rng_normal(1, IKT_RNG_TEST, row, draw);
    case MAP_CLUSTERS:
        if (row == 5) return 150 * (axis + 1);
        return 20 * ikt_rng_normal(1, IKT_RNG_SHAPE, row % 9, draw) +
               ikt_rng_normal(1, IKT_RNG_TEST, row, draw);
    case MAP_LINE:
        return axis ? -3.5 : 100 * ikt_rng_uniform(1, IKT_RNG_TEST, row, 4);
    default:
        return 3.25;
    }
}

/* Points of rows first .. first + count - 1, with room for their sums; freed by map_free. */
typedef struct {
    int64_t count;
    float *y, *gradient;
    double *phi;
} map_points;

static inline map_points map_make(ikt_context *ctx, map_kind kind, int64_t n, int64_t first,
                                  int64_t count) {
    map_points p = {.count = count};
    assert_int_equal(ikt_alloc(ctx, &p.y, 2 * count, sizeof *p.y, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &p.gradient, 2 * count, sizeof *p.gradient, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &p.phi, count, sizeof *p.phi, "test"), IKT_OK);
    for (int64_t e = 0; e < 2 * count; e++)
        p.y[e] = (float)map_coordinate(kind, n, first + e / 2, (int)(e % 2));
    return p;
}

static inline void map_free(map_points *p) {
    ikt_free(&p->y);
    ikt_free(&p->gradient);
    ikt_free(&p->phi);
}

/* Sums by FFT, or exact where `fft` is NULL. */
static inline ikt_kernelsum *map_sums(ikt_context *ctx, const ikt_rows *rows,
                                      const ikt_fft_settings *fft) {
    ikt_kernelsum *sums = NULL;
    assert_int_equal(fft ? ikt_kernelsum_create_fft(ctx, rows, ikt_student, fft, &sums)
                         : ikt_kernelsum_create_exact(ctx, rows, 2, ikt_student, &sums),
                     IKT_OK);
    return sums;
}

/* Sums of unit charges at the points themselves. */
static inline void sum_units(ikt_kernelsum *sums, const float *y, double *phi, float *gradient) {
    const ikt_kernelsum_request request = {.y = y, .value = phi, .gradient = gradient};
    assert_int_equal(ikt_kernelsum_evaluate(sums, &request), IKT_OK);
}

#endif
