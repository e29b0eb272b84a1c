/* Sixteen lanes on AVX2 with FMA: two registers. Same names as lanes_avx512.h, which says why. */
#ifndef IKT_ISOLATION_LANES_H
#define IKT_ISOLATION_LANES_H

#include <immintrin.h>
#include <stdint.h>

#define TARGET       __attribute__((target("avx2,fma")))
#define LANES_INLINE static inline __attribute__((always_inline)) TARGET

/* Twelve sums, two halves of a centre vector and a broadcast row: 15 of 16 registers. */
enum { BLOCK_ROWS = 6, BLOCK_VECTORS = 1 };

typedef struct {
    __m256 low, high;
} floats;

typedef struct {
    __m256i low, high;
} ints;

LANES_INLINE floats floats_load(const float *from) {
    return (floats){_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)};
}
LANES_INLINE void floats_store(float *to, floats a) {
    _mm256_storeu_ps(to, a.low);
    _mm256_storeu_ps(to + 8, a.high);
}
LANES_INLINE floats floats_set(float a) {
    return (floats){_mm256_set1_ps(a), _mm256_set1_ps(a)};
}
LANES_INLINE floats floats_add(floats a, floats b) {
    return (floats){_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}
LANES_INLINE floats floats_sub(floats a, floats b) {
    return (floats){_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
}
LANES_INLINE floats floats_min(floats a, floats b) {
    return (floats){_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)};
}
LANES_INLINE floats floats_max(floats a, floats b) {
    return (floats){_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)};
}
LANES_INLINE floats floats_fma(floats a, floats b, floats c) {
    return (floats){_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
LANES_INLINE floats floats_minus_product(floats a, floats b, floats c) {
    return (floats){_mm256_fnmadd_ps(a.low, b.low, c.low),
                    _mm256_fnmadd_ps(a.high, b.high, c.high)};
}
LANES_INLINE __m256i half_select(__m256 less, __m256i yes, __m256i no) {
    return _mm256_blendv_epi8(no, yes, _mm256_castps_si256(less));
}
LANES_INLINE ints floats_select_less(floats a, floats b, ints yes, ints no) {
    return (ints){half_select(_mm256_cmp_ps(a.low, b.low, _CMP_LT_OQ), yes.low, no.low),
                  half_select(_mm256_cmp_ps(a.high, b.high, _CMP_LT_OQ), yes.high, no.high)};
}
LANES_INLINE uint32_t floats_at_most(floats a, float b) {
    __m256 all = _mm256_set1_ps(b);
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a.low, all, _CMP_LE_OQ)) |
           (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a.high, all, _CMP_LE_OQ)) << 8;
}
LANES_INLINE float floats_least(floats a) {
    __m256 eight = _mm256_min_ps(a.low, a.high);
    __m128 four = _mm_min_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_min_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_min_ss(two, _mm_movehdup_ps(two)));
}

LANES_INLINE ints ints_load(const int32_t *from) {
    const __m256i *half = (const void *)from;
    return (ints){_mm256_loadu_si256(half), _mm256_loadu_si256(half + 1)};
}
LANES_INLINE void ints_store(int32_t *to, ints a) {
    __m256i *half = (void *)to;
    _mm256_storeu_si256(half, a.low);
    _mm256_storeu_si256(half + 1, a.high);
}
LANES_INLINE ints ints_set(int32_t a) {
    return (ints){_mm256_set1_epi32(a), _mm256_set1_epi32(a)};
}
LANES_INLINE ints ints_min(ints a, ints b) {
    return (ints){_mm256_min_epi32(a.low, b.low), _mm256_min_epi32(a.high, b.high)};
}
LANES_INLINE ints ints_minus_twice(ints a, ints b) {
    return (ints){_mm256_sub_epi32(a.low, _mm256_slli_epi32(b.low, 1)),
                  _mm256_sub_epi32(a.high, _mm256_slli_epi32(b.high, 1))};
}
LANES_INLINE ints ints_select_less(ints a, ints b, ints yes, ints no) {
    return (ints){_mm256_blendv_epi8(no.low, yes.low, _mm256_cmpgt_epi32(b.low, a.low)),
                  _mm256_blendv_epi8(no.high, yes.high, _mm256_cmpgt_epi32(b.high, a.high))};
}
LANES_INLINE uint32_t half_above(__m256i a, __m256i b) {
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(a, b)));
}
LANES_INLINE uint32_t ints_at_most(ints a, int32_t b) {
    __m256i all = _mm256_set1_epi32(b);
    return ~(half_above(a.low, all) | half_above(a.high, all) << 8) & 0xFFFFu;
}
LANES_INLINE int32_t ints_least(ints a) {
    __m256i eight = _mm256_min_epi32(a.low, a.high);
    __m128i four = _mm_min_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    __m128i two = _mm_min_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    return _mm_cvtsi128_si32(_mm_min_epi32(two, _mm_shuffle_epi32(two, 0xB1)));
}
LANES_INLINE ints ints_dot2(ints sum, ints a, ints b) {
    return (ints){_mm256_add_epi32(sum.low, _mm256_madd_epi16(a.low, b.low)),
                  _mm256_add_epi32(sum.high, _mm256_madd_epi16(a.high, b.high))};
}

#endif
