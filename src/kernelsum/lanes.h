/* Sums along a row in sixteen lanes: term e goes to lane e % 16 and the lanes are added pairwise in
 * the end, so that the bits do not depend on how many lanes a vector of the processor has. And the
 * elementary functions that kernels and divergences are made of, from multiplications, additions
 * and moves of bits alone: the same bits on every instruction set.
 *
 * Included by the files that compile loops over lanes, after LANE_WIDTH, the lanes of a vector. */
#ifndef IKT_KERNELSUM_LANES_H
#define IKT_KERNELSUM_LANES_H

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

/* LOCAL. Of each lane of two vectors that of `yes` where the mask has ones, else that of `no`. */
LANES_INLINE void vector_select(const vector_bits *mask, const vector *yes, const vector *no,
                                vector *out) {
    vector_bits a, b;
    memcpy(&a, yes, sizeof a);
    memcpy(&b, no, sizeof b);
    a = (a & *mask) | (b & ~*mask);
    memcpy(out, &a, sizeof a);
}

/* LOCAL. Cuts each lane to at most `most`. */
LANES_INLINE void vector_cap(vector *value, float most) {
    const vector limit = (vector){0} + most;
    const vector_bits is_below = *value < limit;
    vector_select(&is_below, value, &limit, value);
}

/* LOCAL. Raises each lane to at least `least`. */
LANES_INLINE void vector_floor(vector *value, float least) {
    const vector limit = (vector){0} + least;
    const vector_bits is_above = *value > limit;
    vector_select(&is_above, value, &limit, value);
}

/* LOCAL. Replaces each lane x, 0 <= x < 1e37, by log(1 + x), to 1e-7 of itself. Method: what is
 * lost in u = 1 + x is made up for by x / (u - 1) (Kahan). */
LANES_INLINE void vector_log1p(vector *value) {
    const vector x = *value, u = 1.0f + x, rest = u - 1.0f;
    const vector_bits is_small = rest == 0.0f;
    const vector one = (vector){0} + 1.0f;
    vector l = u, divisor;
    vector_log(&l);
    vector_select(&is_small, &one, &rest, &divisor);
    l = l * (x / divisor);
    vector_select(&is_small, &x, &l, value);
}

/* LOCAL. Replaces each lane x <= 0 by exp(x), to 1e-7 of itself; 0 below -87, where floats lose
 * their digits. Method: 2^n exp(f), |f| <= log(2) / 2, log 2 in two parts (Cody & Waite 1980), the
 * series of exp(f) up to f^7. */
LANES_INLINE void vector_exp(vector *value) {
    const float least = -87, log2_head = 0.693359375f, log2_rest = -2.12194440e-4f;
    const float magic = 12582912.0f; /* 3 * 2^22: adding it rounds to an integer */
    const vector_bits is_inside = *value > least;
    vector x = *value;
    vector_floor(&x, least);
    const vector n = (x * 1.44269504f + magic) - magic;
    const vector f = (x - n * log2_head) - n * log2_rest, f2 = f * f;
    const vector low = 1.0f + f + f2 * (0.5f + f * (1.0f / 6));
    const vector high = (1.0f / 24) + f * (1.0f / 120) + f2 * ((1.0f / 720) + f * (1.0f / 5040));
    const vector mantissa = low + high * (f2 * f2);
    vector_bits power = (__builtin_convertvector(n, vector_bits) + 127) << 23;
    vector scale;
    memcpy(&scale, &power, sizeof scale);
    const vector found = mantissa * scale, zero = (vector){0};
    vector_select(&is_inside, &found, &zero, value);
}

#endif
