/* Positions of four columns in a register: what the AVX2 and AVX-512 kernels gather with. */
#ifndef IKT_OBJECTIVE_GATHER_FOUR_H
#define IKT_OBJECTIVE_GATHER_FOUR_H

#include <immintrin.h>

#include "base/lanes.h"

/* LOCAL. The pairs (x, y) of columns a, b, c, d, each by a load of eight bytes: the instruction
 * that gathers takes twice as long. Broadcasts load, and blends do without the one port that
 * shuffles. */
LANES_INLINE __attribute__((target("avx2"))) __m256d gather_four(const double *pair, int32_t a,
                                                                 int32_t b, int32_t c, int32_t d) {
    const __m256d low =
        _mm256_blend_pd(_mm256_broadcast_sd(pair + a), _mm256_broadcast_sd(pair + b), 2);
    const __m256d high =
        _mm256_blend_pd(_mm256_broadcast_sd(pair + c), _mm256_broadcast_sd(pair + d), 8);
    return _mm256_blend_pd(low, high, 12);
}

#endif
