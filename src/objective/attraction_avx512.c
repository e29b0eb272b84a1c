/* The attraction kernels on AVX-512. */
#include "objective/attraction.h"

#if defined(__x86_64__)
#define LANE_WIDTH 16
#include "base/lanes.h"
#include "objective/gather_four.h"

/* Positions of columns 0, 1, 4, 5, 8, 9, 12 and 13. Without masks, which each row would set anew.
 */
LANES_INLINE TARGET __m512 gather_eight(const double *pair, const int32_t *c) {
    const __m256d low = gather_four(pair, c[0], c[1], c[4], c[5]);
    const __m256d high = gather_four(pair, c[8], c[9], c[12], c[13]);
    return _mm512_castpd_ps(_mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1));
}

/* Shuffles work within 128 bits: entries 0, 1, 4, 5, ... and 2, 3, 6, 7, ... fall into place. */
LANES_INLINE TARGET void gather_pairs(const int32_t *column, const float *y, vector *x_out,
                                      vector *y_out) {
    const double *pair = (const void *)y;
    const __m512 a = gather_eight(pair, column), b = gather_eight(pair, column + 2);
    *x_out = _mm512_shuffle_ps(a, b, 0x88);
    *y_out = _mm512_shuffle_ps(a, b, 0xDD);
}

/* Without optimisation the intrinsic is a macro of the compiler's own header, which converts a mask
 * in a way that it warns of itself. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
LANES_INLINE TARGET void gather_one(const int32_t *column, const float *y, int q, vector *out) {
    const __m512i at = _mm512_loadu_si512(column);
    *out = _mm512_i32gather_ps(_mm512_mullo_epi32(at, _mm512_set1_epi32(q)), y, 4);
}
#pragma GCC diagnostic pop

#include "objective/attraction_body.h"

const ikt_attraction_kernel ikt_attraction_avx512 = {sparse, dense};
#endif
