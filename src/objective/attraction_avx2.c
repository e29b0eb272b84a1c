/* The attraction kernels on AVX2. */
#include "objective/attraction_kernel.h"
#include "objective/lanes.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))

/* Positions of four columns, each one load of eight bytes: the instruction that gathers takes twice
 * as long. */
IKT_LANES_INLINE TARGET __m256 four(const double *y, int32_t a, int32_t b, int32_t c, int32_t d) {
    const __m256d low = _mm256_blend_pd(_mm256_broadcast_sd(y + a), _mm256_broadcast_sd(y + b), 2);
    const __m256d high = _mm256_blend_pd(_mm256_broadcast_sd(y + c), _mm256_broadcast_sd(y + d), 8);
    return _mm256_castpd_ps(_mm256_blend_pd(low, high, 12));
}

/* Shuffles work within 128 bits: entries 0, 1, 4, 5 and 2, 3, 6, 7 fall into place. */
IKT_LANES_INLINE TARGET void gather_positions(const int32_t *column, const float *y,
                                              ikt_lanes *x_out, ikt_lanes *y_out) {
    const double *pair = (const void *)y;
    for (int half = 0; half < 2; half++) {
        const int32_t *c = column + 8 * half;
        const __m256 a = four(pair, c[0], c[1], c[4], c[5]), b = four(pair, c[2], c[3], c[6], c[7]);
        const __m256 x = _mm256_shuffle_ps(a, b, 0x88), z = _mm256_shuffle_ps(a, b, 0xDD);
        memcpy((char *)x_out + 32 * half, &x, sizeof x);
        memcpy((char *)y_out + 32 * half, &z, sizeof z);
    }
}

#include "objective/attraction_body.h"

const ikt_attraction_kernel ikt_attraction_avx2 = {sparse, dense};
#endif
