/* Positions of rows in any order, for kernels with one row a lane.
 *
 * Included after lanes.h; for each width
 *   gather_pairs(row, y, &x, &y)    both coordinates y[2 row], y[2 row + 1] of LANE_WIDTH rows
 *   gather_one(row, y, q, &x)       the numbers y[q row] of LANE_WIDTH rows */
#ifndef IKT_BASE_GATHER_H
#define IKT_BASE_GATHER_H

#include "base/lanes.h"

#if LANE_WIDTH == 4

LANES_INLINE void gather_pairs(const int32_t *row, const float *y, vector *x_out, vector *y_out) {
    const float *a = y + 2 * (int64_t)row[0], *b = y + 2 * (int64_t)row[1];
    const float *c = y + 2 * (int64_t)row[2], *d = y + 2 * (int64_t)row[3];
    *x_out = (vector){a[0], b[0], c[0], d[0]};
    *y_out = (vector){a[1], b[1], c[1], d[1]};
}

LANES_INLINE void gather_one(const int32_t *row, const float *y, int q, vector *out) {
    *out = (vector){y[q * row[0]], y[q * row[1]], y[q * row[2]], y[q * row[3]]};
}

#else

/* The pairs of rows a, b, c, d, each by a load of eight bytes: the instruction that gathers takes
 * twice as long. Broadcasts load, and blends do without the one port that shuffles. */
LANES_INLINE __attribute__((target("avx2"))) __m256d gather_four(const double *pair, int32_t a,
                                                                 int32_t b, int32_t c, int32_t d) {
    const __m256d low =
        _mm256_blend_pd(_mm256_broadcast_sd(pair + a), _mm256_broadcast_sd(pair + b), 2);
    const __m256d high =
        _mm256_blend_pd(_mm256_broadcast_sd(pair + c), _mm256_broadcast_sd(pair + d), 8);
    return _mm256_blend_pd(low, high, 12);
}

#if LANE_WIDTH == 8

/* Shuffles work within 128 bits: entries 0, 1, 4, 5 and 2, 3, 6, 7 fall into place. */
LANES_INLINE TARGET void gather_pairs(const int32_t *r, const float *y, vector *x_out,
                                      vector *y_out) {
    const double *pair = (const void *)y;
    const __m256 a = _mm256_castpd_ps(gather_four(pair, r[0], r[1], r[4], r[5]));
    const __m256 b = _mm256_castpd_ps(gather_four(pair, r[2], r[3], r[6], r[7]));
    *x_out = _mm256_shuffle_ps(a, b, 0x88);
    *y_out = _mm256_shuffle_ps(a, b, 0xDD);
}

LANES_INLINE TARGET void gather_one(const int32_t *row, const float *y, int q, vector *out) {
    const __m256i at = _mm256_loadu_si256((const void *)row);
    *out = _mm256_i32gather_ps(y, _mm256_mullo_epi32(at, _mm256_set1_epi32(q)), 4);
}

#else

/* Positions of rows 0, 1, 4, 5, 8, 9, 12 and 13. Without masks, which each row would set anew. */
LANES_INLINE TARGET __m512 gather_eight(const double *pair, const int32_t *r) {
    const __m256d low = gather_four(pair, r[0], r[1], r[4], r[5]);
    const __m256d high = gather_four(pair, r[8], r[9], r[12], r[13]);
    return _mm512_castpd_ps(_mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1));
}

/* Shuffles work within 128 bits: entries 0, 1, 4, 5, ... and 2, 3, 6, 7, ... fall into place. */
LANES_INLINE TARGET void gather_pairs(const int32_t *row, const float *y, vector *x_out,
                                      vector *y_out) {
    const double *pair = (const void *)y;
    const __m512 a = gather_eight(pair, row), b = gather_eight(pair, row + 2);
    *x_out = _mm512_shuffle_ps(a, b, 0x88);
    *y_out = _mm512_shuffle_ps(a, b, 0xDD);
}

/* Without optimisation the intrinsic is a macro of the compiler's own header, which converts a mask
 * in a way that it warns of itself. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
LANES_INLINE TARGET void gather_one(const int32_t *row, const float *y, int q, vector *out) {
    const __m512i at = _mm512_loadu_si512(row);
    *out = _mm512_i32gather_ps(_mm512_mullo_epi32(at, _mm512_set1_epi32(q)), y, 4);
}
#pragma GCC diagnostic pop

#endif
#endif
#endif
