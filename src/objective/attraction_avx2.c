/* The attraction kernels on AVX2. */
#define LANE_WIDTH 8
#define TARGET     __attribute__((target("avx2")))
#include "objective/attraction_kernel.h"
#include "objective/lanes.h"

#if defined(__x86_64__)
#include <immintrin.h>

/* Positions of four columns, each one load of eight bytes: the instruction that gathers takes twice
 * as long. Broadcasts load, and blends do without the one port that shuffles. */
LANES_INLINE TARGET __m256 four(const double *y, int32_t a, int32_t b, int32_t c, int32_t d) {
    const __m256d low = _mm256_blend_pd(_mm256_broadcast_sd(y + a), _mm256_broadcast_sd(y + b), 2);
    const __m256d high = _mm256_blend_pd(_mm256_broadcast_sd(y + c), _mm256_broadcast_sd(y + d), 8);
    return _mm256_castpd_ps(_mm256_blend_pd(low, high, 12));
}

/* Shuffles work within 128 bits: entries 0, 1, 4, 5 and 2, 3, 6, 7 fall into place. */
LANES_INLINE TARGET void gather_positions(const int32_t *column, const float *y, vector *x_out,
                                          vector *y_out) {
    const double *pair = (const void *)y;
    const __m256 a = four(pair, column[0], column[1], column[4], column[5]);
    const __m256 b = four(pair, column[2], column[3], column[6], column[7]);
    *x_out = _mm256_shuffle_ps(a, b, 0x88);
    *y_out = _mm256_shuffle_ps(a, b, 0xDD);
}

#include "objective/attraction_body.h"

const ikt_attraction_kernel ikt_attraction_avx2 = {sparse, dense};
#endif
