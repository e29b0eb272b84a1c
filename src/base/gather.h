/* Positions of rows in any order, for kernels with one row a lane.
 *
 * Included after lanes.h; for each width
 *   gather_pairs(row, y, &x, &y)    both coordinates y[2 row], y[2 row + 1] of LANE_WIDTH rows
 *   gather_one(row, y, q, &x)       the numbers y[q row] of LANE_WIDTH rows
 *   store_pairs(x, y, to)           x[l], y[l] to to[2 l], to[2 l + 1] */
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

LANES_INLINE void store_pairs(vector x, vector y, float *to) {
    const vector low = {x[0], y[0], x[1], y[1]}, high = {x[2], y[2], x[3], y[3]};
    memcpy(to, &low, sizeof low);
    memcpy(to + LANE_WIDTH, &high, sizeof high);
}

#else

/* The pairs of rows a, b, c, d, each by a load of eight bytes: the instruction that gathers takes
 * twice as long. Broadcasts load, and blends do without the one port that shuffles. */
LANES_INLINE __m256d gather_four(const double *pair, int32_t a, int32_t b, int32_t c, int32_t d) {
    const __m256d low =
        _mm256_blend_pd(_mm256_broadcast_sd(pair + a), _mm256_broadcast_sd(pair + b), 2);
    const __m256d high =
        _mm256_blend_pd(_mm256_broadcast_sd(pair + c), _mm256_broadcast_sd(pair + d), 8);
    return _mm256_blend_pd(low, high, 12);
}

#if LANE_WIDTH == 8

/* Shuffles work within 128 bits: entries 0, 1, 4, 5 and 2, 3, 6, 7 fall into place. */
LANES_INLINE void gather_pairs(const int32_t *r, const float *y, vector *x_out, vector *y_out) {
    const double *pair = (const void *)y;
    const __m256 a = _mm256_castpd_ps(gather_four(pair, r[0], r[1], r[4], r[5]));
    const __m256 b = _mm256_castpd_ps(gather_four(pair, r[2], r[3], r[6], r[7]));
    *x_out = _mm256_shuffle_ps(a, b, 0x88);
    *y_out = _mm256_shuffle_ps(a, b, 0xDD);
}

LANES_INLINE void gather_one(const int32_t *row, const float *y, int q, vector *out) {
    const __m256i at = _mm256_loadu_si256((const void *)row);
    *out = _mm256_i32gather_ps(y, _mm256_mullo_epi32(at, _mm256_set1_epi32(q)), 4);
}

LANES_INLINE void store_pairs(vector x, vector y, float *to) {
    const __m256 even = _mm256_unpacklo_ps(x, y), odd = _mm256_unpackhi_ps(x, y);
    _mm256_storeu_ps(to, _mm256_permute2f128_ps(even, odd, 0x20));
    _mm256_storeu_ps(to + LANE_WIDTH, _mm256_permute2f128_ps(even, odd, 0x31));
}

#else

/* Positions of rows 0, 1, 4, 5, 8, 9, 12 and 13. Without masks, which each row would set anew. */
LANES_INLINE __m512 gather_eight(const double *pair, const int32_t *r) {
    const __m256d low = gather_four(pair, r[0], r[1], r[4], r[5]);
    const __m256d high = gather_four(pair, r[8], r[9], r[12], r[13]);
    return _mm512_castpd_ps(_mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1));
}

/* Shuffles work within 128 bits: entries 0, 1, 4, 5, ... and 2, 3, 6, 7, ... fall into place. */
LANES_INLINE void gather_pairs(const int32_t *row, const float *y, vector *x_out, vector *y_out) {
    const double *pair = (const void *)y;
    const __m512 a = gather_eight(pair, row), b = gather_eight(pair, row + 2);
    *x_out = _mm512_shuffle_ps(a, b, 0x88);
    *y_out = _mm512_shuffle_ps(a, b, 0xDD);
}

/* Without optimisation the intrinsic is a macro of the compiler's own header, which converts a mask
 * in a way that it warns of itself. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
LANES_INLINE void gather_one(const int32_t *row, const float *y, int q, vector *out) {
    const __m512i at = _mm512_loadu_si512(row);
    *out = _mm512_i32gather_ps(_mm512_mullo_epi32(at, _mm512_set1_epi32(q)), y, 4);
}

LANES_INLINE void store_pairs(vector x, vector y, float *to) {
    const __m512i low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const __m512i high =
        _mm512_set_epi32(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8);
    _mm512_storeu_ps(to, _mm512_permutex2var_ps(x, low, y));
    _mm512_storeu_ps(to + LANE_WIDTH, _mm512_permutex2var_ps(x, high, y));
}
#pragma GCC diagnostic pop

#endif
#endif
#endif
