/* Sums along a row in a fixed number of lanes: term e goes to lane e % IKT_LANES and the lanes are
 * added pairwise in the end. A kernel may use vectors of any width without changing a bit. */
#ifndef IKT_OBJECTIVE_LANES_H
#define IKT_OBJECTIVE_LANES_H

#include <stdint.h>
#include <string.h>

enum { IKT_LANES = 16 };

/* As vectors of the compiler, which splits them into those of the processor. */
typedef float ikt_lanes __attribute__((vector_size(IKT_LANES * sizeof(float))));
typedef int32_t ikt_lane_bits __attribute__((vector_size(IKT_LANES * sizeof(int32_t))));

#define IKT_LANES_INLINE static inline __attribute__((always_inline))

/* LOCAL. Adds the lanes pairwise: l and l + 8, then l and l + 4, ... */
IKT_LANES_INLINE float ikt_lanes_total(const ikt_lanes *lanes) {
    typedef float octet __attribute__((vector_size(8 * sizeof(float))));
    typedef float quad __attribute__((vector_size(4 * sizeof(float))));
    octet eight[2], eight_sums;
    memcpy(eight, lanes, sizeof eight);
    eight_sums = eight[0] + eight[1];
    quad four[2], sums;
    memcpy(four, &eight_sums, sizeof four);
    sums = four[0] + four[1];
    return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

/* LOCAL. Replaces each lane, a normal number, by its logarithm, to 5e-8 and the rounding of the
 * result. Method: 2^e m with m in [sqrt(1/2), sqrt(2)); a polynomial in m - 1; e log 2 in two parts
 * of which the first has no rounding error (Cody & Waite 1980). */
IKT_LANES_INLINE void ikt_lanes_log(ikt_lanes *value) {
    /* Of (log(1 + f) - f + f^2 / 2) / f^3, interpolated in Chebyshev nodes. */
    static const float p[] = {0.333334148f, -0.250007033f, 0.199842229f, -0.166027188f,
                              0.147038996f, -0.140308917f, 0.0904878452f};
    const int32_t sqrt_half = 0x3f3504f3, exponent_mask = (int32_t)0xff800000u;
    const float log2_head = 0.693359375f, log2_rest = -2.12194440e-4f;
    ikt_lane_bits bits, above, m_bits;
    ikt_lanes m;
    memcpy(&bits, value, sizeof bits);
    above = bits - sqrt_half;
    m_bits = bits - (above & exponent_mask);
    memcpy(&m, &m_bits, sizeof m);
    const ikt_lanes e = __builtin_convertvector(above >> 23, ikt_lanes), f = m - 1.0f;
    ikt_lanes series = p[6] * f + p[5];
    for (int c = 4; c >= 0; c--)
        series = series * f + p[c];
    *value = (f * f * (f * series - 0.5f) + e * log2_rest) + f + e * log2_head;
}

#endif
