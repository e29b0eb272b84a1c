/* Products of four bytes a lane, summed, the same on every instruction set: one more operation for
 * the vectors of lanes.h. */
#ifndef IKT_BASE_LANES_BYTES_H
#define IKT_BASE_LANES_BYTES_H

#include "base/lanes.h"

/* sum + the products of the four bytes of each lane: of `a` from 0 to 127, of `b` from -127 to 127,
 * so that two products fit 16 bits. */
#if LANE_WIDTH == 16 && defined(LANES_VNNI)
#define bits_add_bytes bits_add_products
#elif LANE_WIDTH == 16
LANES_INLINE vector_bits bits_add_bytes(vector_bits sum, vector_bits a, vector_bits b) {
    const __m512i pairs = _mm512_maddubs_epi16((__m512i)a, (__m512i)b);
    return sum + (vector_bits)_mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
}
#elif LANE_WIDTH == 8
LANES_INLINE vector_bits bits_add_bytes(vector_bits sum, vector_bits a, vector_bits b) {
    const __m256i pairs = _mm256_maddubs_epi16((__m256i)a, (__m256i)b);
    return sum + (vector_bits)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}
#elif defined(LANES_NEON)
LANES_INLINE vector_bits bits_add_bytes(vector_bits sum, vector_bits a, vector_bits b) {
    const int8x16_t x = (int8x16_t)a, y = (int8x16_t)b;
#if defined(__ARM_FEATURE_DOTPROD)
    return (vector_bits)vdotq_s32((int32x4_t)sum, x, y);
#else
    const int32x4_t low = vpaddlq_s16(vmull_s8(vget_low_s8(x), vget_low_s8(y)));
    const int32x4_t high = vpaddlq_s16(vmull_high_s8(x, y));
    return sum + (vector_bits)vpaddq_s32(low, high);
#endif
}
#elif defined(__SSE2__) && !defined(LANES_GENERIC)
LANES_INLINE vector_bits bits_add_bytes(vector_bits sum, vector_bits a, vector_bits b) {
    const __m128i x = (__m128i)a, y = (__m128i)b;
    const __m128i even = _mm_madd_epi16(_mm_and_si128(x, _mm_set1_epi16(255)),
                                        _mm_srai_epi16(_mm_slli_epi16(y, 8), 8));
    const __m128i odd = _mm_madd_epi16(_mm_srli_epi16(x, 8), _mm_srai_epi16(y, 8));
    return sum + (vector_bits)even + (vector_bits)odd;
}
#else
LANES_INLINE vector_bits bits_add_bytes(vector_bits sum, vector_bits a, vector_bits b) {
    for (int byte = 0; byte < 32; byte += 8)
        sum += (a >> byte & 127) * (b << (24 - byte) >> 24);
    return sum;
}
#endif

LANES_INLINE ints ints_add_bytes(ints sum, ints a, ints b) {
    EACH_PART sum.part[p] = bits_add_bytes(sum.part[p], a.part[p], b.part[p]);
    return sum;
}

LANES_INLINE floats ints_as_floats(ints a) {
    floats out;
    EACH_PART out.part[p] = __builtin_convertvector(a.part[p], vector);
    return out;
}

#endif
