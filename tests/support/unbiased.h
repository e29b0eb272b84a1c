/* Whether draws have the mean that they should have, for tests. */
#ifndef IKT_TEST_UNBIASED_H
#define IKT_TEST_UNBIASED_H

#include "support/ikt_test.h"

#include <math.h>

/* Sums over draws, for each of some numbers. */
typedef struct {
    int64_t draws;
    double *sum, *squares;
} moments;

static inline void moments_add(moments *m, const double *draw, int64_t count) {
    m->draws++;
    for (int64_t e = 0; e < count; e++) {
        m->sum[e] += draw[e];
        m->squares[e] += draw[e] * draw[e];
    }
}

/* Means in units of their own standard error are as normal numbers are: none is farther from what
 * is expected than `farthest`, and their mean square is about 1. */
static inline void check_unbiased(const moments *m, const double *expected, int64_t count,
                                  double farthest) {
    const double draws = (double)m->draws;
    double worst = 0, chi = 0;
    for (int64_t e = 0; e < count; e++) {
        const double mean = m->sum[e] / draws;
        const double variance = (m->squares[e] / draws - mean * mean) / draws;
        assert_true(variance > 0);
        const double z = (mean - expected[e]) / sqrt(variance);
        worst = fmax(worst, fabs(z));
        chi += z * z;
    }
    if (!(worst < farthest)) fail_msg("a mean is %.2f standard errors off", worst);
    assert_true(count == 0 || chi / (double)count < 2.5);
}

#endif
