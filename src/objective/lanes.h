/* Sums along a row in sixteen lanes: term e goes to lane e % 16 and the lanes are added pairwise in
 * the end, so that the bits do not depend on how many lanes a vector of the processor has.
 *
 * Included by the files that compile attraction_body.h, after LANE_WIDTH, the lanes of a vector. */
#ifndef IKT_OBJECTIVE_LANES_H
#define IKT_OBJECTIVE_LANES_H

#include <stdint.h>
#include <string.h>

enum { LANES = 16, VECTORS = LANES / LANE_WIDTH };

typedef float vector __attribute__((vector_size(LANE_WIDTH * sizeof(float))));
typedef int32_t vector_bits __attribute__((vector_size(LANE_WIDTH * sizeof(int32_t))));

#define LANES_INLINE static inline __attribute__((always_inline))

/* LOCAL. Adds the lanes pairwise: l and l + 8, then l and l + 4, ... */
LANES_INLINE float lanes_total(const vector lanes[VECTORS]) {
    typedef float quad __attribute__((vector_size(4 * sizeof(float))));
    quad four[4];
    memcpy(four, lanes, sizeof four);
    const quad sums = (four[0] + four[2]) + (four[1] + four[3]);
    return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

/* LOCAL. Keeps the first `count` lanes and makes the rest zero. */
LANES_INLINE void vector_keep(vector *value, int64_t count) {
    static const int32_t keep[2 * LANES] = {-1, -1, -1, -1, -1, -1, -1, -1,
                                            -1, -1, -1, -1, -1, -1, -1, -1};
    vector_bits bits, mask;
    memcpy(&bits, value, sizeof bits);
    memcpy(&mask, keep + LANES - count, sizeof mask);
    bits &= mask;
    memcpy(value, &bits, sizeof bits);
}

/* LOCAL. Replaces each lane, a normal number, by its logarithm, to 5e-8 and the rounding of the
 * result. Method: 2^e m with m in [sqrt(1/2), sqrt(2)); a polynomial in m - 1; e log 2 in two parts
 * of which the first has no rounding error (Cody & Waite 1980). */
LANES_INLINE void vector_log(vector *value) {
    /* Of (log(1 + f) - f + f^2 / 2) / f^3, interpolated in Chebyshev nodes. */
    static const float p[] = {0.333334148f, -0.250007033f, 0.199842229f, -0.166027188f,
                              0.147038996f, -0.140308917f, 0.0904878452f};
    const int32_t sqrt_half = 0x3f3504f3, exponent_mask = (int32_t)0xff800000u;
    const float log2_head = 0.693359375f, log2_rest = -2.12194440e-4f;
    vector_bits bits, above, m_bits;
    vector m;
    memcpy(&bits, value, sizeof bits);
    above = bits - sqrt_half;
    m_bits = bits - (above & exponent_mask);
    memcpy(&m, &m_bits, sizeof m);
    const vector e = __builtin_convertvector(above >> 23, vector), f = m - 1.0f, f2 = f * f;
    /* In pairs rather than one after the other: there is little else to do meanwhile. */
    const vector low = (p[1] * f + p[0]) + (p[3] * f + p[2]) * f2;
    const vector high = (p[5] * f + p[4]) + p[6] * f2;
    const vector series = high * (f2 * f2) + low;
    *value = (f2 * (f * series - 0.5f) + e * log2_rest) + f + e * log2_head;
}

#endif
