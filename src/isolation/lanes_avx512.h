/* Sixteen lanes on AVX-512: one register. See codes_kernel.h for what the lanes are used for.
 *
 * The three lanes_*.h define the same names, so that a kernel's text is written once
 * (kernel_f32_body.h, kernel_u8_body.h) and compiled once for each instruction set; a file includes
 * exactly one of them. */
#ifndef IKT_ISOLATION_LANES_H
#define IKT_ISOLATION_LANES_H

#include <immintrin.h>
#include <stdint.h>

#define TARGET       __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define LANES_INLINE static inline __attribute__((always_inline)) TARGET

/* Register block: 24 sums, three centre vectors and a broadcast row fit 32 registers, and a step
 * loads 11 operands for 24 multiply-adds: the two multipliers are the limit, not the loads. */
enum { BLOCK_ROWS = 8, BLOCK_VECTORS = 3 };

typedef __m512 floats;
typedef __m512i ints;

LANES_INLINE floats floats_load(const float *from) {
    return _mm512_loadu_ps(from);
}
LANES_INLINE void floats_store(float *to, floats a) {
    _mm512_storeu_ps(to, a);
}
LANES_INLINE floats floats_set(float a) {
    return _mm512_set1_ps(a);
}
LANES_INLINE floats floats_add(floats a, floats b) {
    return _mm512_add_ps(a, b);
}
LANES_INLINE floats floats_sub(floats a, floats b) {
    return _mm512_sub_ps(a, b);
}
LANES_INLINE floats floats_min(floats a, floats b) {
    return _mm512_min_ps(a, b);
}
LANES_INLINE floats floats_max(floats a, floats b) {
    return _mm512_max_ps(a, b);
}
/* a * b + c, rounded once on every instruction set. */
LANES_INLINE floats floats_fma(floats a, floats b, floats c) {
    return _mm512_fmadd_ps(a, b, c);
}
/* c - a * b, rounded once or twice: for sums that are certified with a bound. */
LANES_INLINE floats floats_minus_product(floats a, floats b, floats c) {
    return _mm512_fnmadd_ps(a, b, c);
}
/* Where a < b: yes, elsewhere no. */
LANES_INLINE ints floats_select_less(floats a, floats b, ints yes, ints no) {
    return _mm512_mask_mov_epi32(no, _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), yes);
}
/* Bit l is set where lane l <= b. */
LANES_INLINE uint32_t floats_at_most(floats a, float b) {
    return _mm512_cmp_ps_mask(a, _mm512_set1_ps(b), _CMP_LE_OQ);
}
LANES_INLINE float floats_least(floats a) {
    return _mm512_reduce_min_ps(a);
}

LANES_INLINE ints ints_load(const int32_t *from) {
    return _mm512_loadu_si512(from);
}
LANES_INLINE void ints_store(int32_t *to, ints a) {
    _mm512_storeu_si512(to, a);
}
LANES_INLINE ints ints_set(int32_t a) {
    return _mm512_set1_epi32(a);
}
LANES_INLINE ints ints_min(ints a, ints b) {
    return _mm512_min_epi32(a, b);
}
/* a - 2 b */
LANES_INLINE ints ints_minus_twice(ints a, ints b) {
    return _mm512_sub_epi32(a, _mm512_slli_epi32(b, 1));
}
LANES_INLINE ints ints_select_less(ints a, ints b, ints yes, ints no) {
    return _mm512_mask_mov_epi32(no, _mm512_cmplt_epi32_mask(a, b), yes);
}
LANES_INLINE uint32_t ints_at_most(ints a, int32_t b) {
    return _mm512_cmple_epi32_mask(a, _mm512_set1_epi32(b));
}
LANES_INLINE int32_t ints_least(ints a) {
    return _mm512_reduce_min_epi32(a);
}
/* sum + products of the two 16-bit halves of each lane. */
LANES_INLINE ints ints_dot2(ints sum, ints a, ints b) {
    return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
}

#endif
