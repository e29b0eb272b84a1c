/* Test data: clusters of normal points, each a pure function of (seed, row). */
#ifndef IKT_TEST_BLOBS_H
#define IKT_TEST_BLOBS_H

#include <stdint.h>

#include "base/rng.h"

/* Fills x[n*d]; row i belongs to cluster i % clusters, whose centre is drawn from N(0, spread^2).
 */
static inline void ikt_test_blobs(uint64_t seed, int64_t n, int64_t d, int64_t clusters,
                                  double spread, float *x) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < d; c++) {
            double centre = spread * ikt_rng_normal(seed, IKT_RNG_SHAPE, i % clusters, (uint64_t)c);
            x[i * d + c] = (float)(centre + ikt_rng_normal(seed, IKT_RNG_TEST, i, (uint64_t)c));
        }
}

#endif
