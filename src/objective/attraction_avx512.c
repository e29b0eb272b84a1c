/* The attraction kernels on AVX-512. */
#define LANE_WIDTH 16
#define TARGET     __attribute__((target("avx512f,avx512dq,avx512vl")))
#include "objective/attraction_kernel.h"
#include "objective/lanes.h"

#if defined(__x86_64__)
#include <immintrin.h>

/* Positions of columns 0, 1, 4, 5, 8, 9, 12 and 13, each one load of eight bytes: the instruction
 * that gathers takes twice as long. Masked broadcasts load and merge without the one port that
 * shuffles. */
LANES_INLINE TARGET __m512 eight(const double *y, const int32_t *c) {
    __m512d a = _mm512_set1_pd(y[c[0]]), b = _mm512_set1_pd(y[c[8]]);
    a = _mm512_mask_broadcastsd_pd(a, 0x02, _mm_load_sd(y + c[1]));
    b = _mm512_mask_broadcastsd_pd(b, 0x20, _mm_load_sd(y + c[9]));
    a = _mm512_mask_broadcastsd_pd(a, 0x04, _mm_load_sd(y + c[4]));
    b = _mm512_mask_broadcastsd_pd(b, 0x40, _mm_load_sd(y + c[12]));
    a = _mm512_mask_broadcastsd_pd(a, 0x08, _mm_load_sd(y + c[5]));
    b = _mm512_mask_broadcastsd_pd(b, 0x80, _mm_load_sd(y + c[13]));
    return _mm512_castpd_ps(_mm512_mask_blend_pd(0xF0, a, b));
}

/* Shuffles work within 128 bits: entries 0, 1, 4, 5, ... and 2, 3, 6, 7, ... fall into place. */
LANES_INLINE TARGET void gather_positions(const int32_t *column, const float *y, vector *x_out,
                                          vector *y_out) {
    const double *pair = (const void *)y;
    const __m512 a = eight(pair, column), b = eight(pair, column + 2);
    *x_out = _mm512_shuffle_ps(a, b, 0x88);
    *y_out = _mm512_shuffle_ps(a, b, 0xDD);
}

#include "objective/attraction_body.h"

const ikt_attraction_kernel ikt_attraction_avx512 = {sparse, dense};
#endif
