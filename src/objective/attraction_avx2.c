/* The attraction kernels on AVX2. */
#include "objective/attraction.h"

#if defined(__x86_64__)
#define LANE_WIDTH 8
#include "base/lanes.h"
#include "objective/gather_four.h"

/* Shuffles work within 128 bits: entries 0, 1, 4, 5 and 2, 3, 6, 7 fall into place. */
LANES_INLINE TARGET void gather_pairs(const int32_t *c, const float *y, vector *x_out,
                                      vector *y_out) {
    const double *pair = (const void *)y;
    const __m256 a = _mm256_castpd_ps(gather_four(pair, c[0], c[1], c[4], c[5]));
    const __m256 b = _mm256_castpd_ps(gather_four(pair, c[2], c[3], c[6], c[7]));
    *x_out = _mm256_shuffle_ps(a, b, 0x88);
    *y_out = _mm256_shuffle_ps(a, b, 0xDD);
}

LANES_INLINE TARGET void gather_one(const int32_t *column, const float *y, int q, vector *out) {
    const __m256i at = _mm256_loadu_si256((const void *)column);
    *out = _mm256_i32gather_ps(y, _mm256_mullo_epi32(at, _mm256_set1_epi32(q)), 4);
}

#include "objective/attraction_body.h"

const ikt_attraction_kernel ikt_attraction_avx2 = {sparse, dense};
#endif
