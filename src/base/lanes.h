/* Vectors of lanes, the same names on every instruction set, so that the text of a kernel is
 * written once and compiled for each of them.
 *
 * Included by the files NAME.kernel.c, which the build compiles once for each instruction set
 * (cmake/IktKernels.cmake): IKT_ISA is its name, LANE_WIDTH the lanes of a register: 16 (AVX-512),
 * 8 (AVX2 with FMA) or 4 (plain C, with SSE2 or Neon where they are). With LANES_VNNI the products
 * of integers are those of AVX-512 VNNI. What such a file defines for others is named
 * IKT_KERNEL(name) there, and declared with IKT_KERNELS (base/cpu.h). Another file defines
 * LANE_WIDTH and LANES_GENERIC, and gets what needs no instruction of its own: vectors and their
 * elementary functions.
 *
 * Sums along a row are kept in sixteen lanes: term e goes to lane e % 16 and the lanes are added
 * pairwise in the end, so that the bits do not depend on the width of a register. The elementary
 * functions are made of multiplications, additions and moves of bits alone: the same bits on every
 * instruction set. */
#ifndef IKT_BASE_LANES_H
#define IKT_BASE_LANES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { LANES = 16, VECTORS = LANES / LANE_WIDTH };

typedef float vector __attribute__((vector_size(LANE_WIDTH * sizeof(float))));
typedef int32_t vector_bits __attribute__((vector_size(LANE_WIDTH * sizeof(int32_t))));

#define LANES_INLINE static inline __attribute__((always_inline))

#define IKT_KERNEL(name)           IKT_KERNEL_ON(name, IKT_ISA)
#define IKT_KERNEL_ON(name, isa)   IKT_KERNEL_JOIN(name, isa)
#define IKT_KERNEL_JOIN(name, isa) name##_##isa

/* Unrolls the loop that follows, in either compiler's words. */
#if defined(__clang__)
#define LANES_UNROLL _Pragma("unroll")
#else
#define LANES_UNROLL _Pragma("GCC unroll 16")
#endif

#if LANE_WIDTH == 16 && !defined(LANES_GENERIC)
#include <immintrin.h>

#define vector_fused         _mm512_fmadd_ps
#define vector_minus_product _mm512_fnmadd_ps
#define vector_min           _mm512_min_ps
#define vector_max           _mm512_max_ps
#define vector_root          _mm512_sqrt_ps
#elif LANE_WIDTH == 8 && !defined(LANES_GENERIC)
#include <immintrin.h>

#define vector_fused         _mm256_fmadd_ps
#define vector_minus_product _mm256_fnmadd_ps
#define vector_min           _mm256_min_ps
#define vector_max           _mm256_max_ps
#define vector_root          _mm256_sqrt_ps
#elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(LANES_GENERIC)
#include <arm_neon.h>
#define LANES_NEON
#elif defined(__SSE2__) && !defined(LANES_GENERIC)
#include <immintrin.h>
#endif

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
#if defined(vector_min)
    *value = vector_min(*value, limit);
#else
    const vector_bits is_below = *value < limit;
    vector_select(&is_below, value, &limit, value);
#endif
}

/* LOCAL. Raises each lane to at least `least`. */
LANES_INLINE void vector_floor(vector *value, float least) {
    const vector limit = (vector){0} + least;
#if defined(vector_max)
    *value = vector_max(*value, limit);
#else
    const vector_bits is_above = *value > limit;
    vector_select(&is_above, value, &limit, value);
#endif
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

#if !defined(LANES_GENERIC)

/* --- one register: what each instruction set has of its own ----------------------------------- */

/* Fused: a * b + c, rounded once on every instruction set. Root: the square root. Minus product: c
 * - a * b, rounded once or twice, for sums that are certified with a bound. Select: yes where a <
 * b, elsewhere no. At most: bit l is set where lane l <= b. Least: the least of lanes that are
 * numbers. Halves, products: sum + products of the two 16-bit halves of each lane. Gaps: sum +
 * absolute differences of the four bytes of each lane.
 */
#if LANE_WIDTH == 16

LANES_INLINE vector_bits vector_select_less(vector a, vector b, vector_bits yes, vector_bits no) {
    const __mmask16 less = _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
    return (vector_bits)_mm512_mask_mov_epi32((__m512i)no, less, (__m512i)yes);
}
LANES_INLINE uint32_t vector_at_most(vector a, float b) {
    return _mm512_cmp_ps_mask(a, _mm512_set1_ps(b), _CMP_LE_OQ);
}
LANES_INLINE float vector_least(vector a) {
    return _mm512_reduce_min_ps(a);
}
LANES_INLINE vector_bits bits_min(vector_bits a, vector_bits b) {
    return (vector_bits)_mm512_min_epi32((__m512i)a, (__m512i)b);
}
LANES_INLINE vector_bits bits_select_less(vector_bits a, vector_bits b, vector_bits yes,
                                          vector_bits no) {
    const __mmask16 less = _mm512_cmplt_epi32_mask((__m512i)a, (__m512i)b);
    return (vector_bits)_mm512_mask_mov_epi32((__m512i)no, less, (__m512i)yes);
}
LANES_INLINE uint32_t bits_at_most(vector_bits a, int32_t b) {
    return _mm512_cmple_epi32_mask((__m512i)a, _mm512_set1_epi32(b));
}
LANES_INLINE int32_t bits_least(vector_bits a) {
    return _mm512_reduce_min_epi32((__m512i)a);
}
#if defined(LANES_VNNI)
/* Written as assembly because GCC 12 takes the intrinsics for calls that could look at memory, and
 * stores all sums at every step: half the rate. Products: four of unsigned by signed bytes. */
LANES_INLINE vector_bits bits_add_products(vector_bits sum, vector_bits a, vector_bits b) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}
LANES_INLINE vector_bits bits_add_halves(vector_bits sum, vector_bits a, vector_bits b) {
    __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}
#else
LANES_INLINE vector_bits bits_add_products(vector_bits sum, vector_bits a, vector_bits b) {
    return sum + (vector_bits)_mm512_madd_epi16((__m512i)a, (__m512i)b);
}
#define bits_add_halves bits_add_products
#endif
LANES_INLINE vector_bits bits_add_gaps(vector_bits sum, vector_bits a, vector_bits b) {
    const __m512i above = _mm512_subs_epu8((__m512i)a, (__m512i)b);
    const __m512i gap = _mm512_or_si512(above, _mm512_subs_epu8((__m512i)b, (__m512i)a));
    const __m512i one = _mm512_set1_epi8(1);
#if defined(LANES_VNNI)
    return bits_add_products(sum, (vector_bits)gap, (vector_bits)one);
#else
    const __m512i pairs = _mm512_maddubs_epi16(gap, one);
    return sum + (vector_bits)_mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
#endif
}

#elif LANE_WIDTH == 8

LANES_INLINE vector_bits vector_select_less(vector a, vector b, vector_bits yes, vector_bits no) {
    const __m256i less = _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_LT_OQ));
    return (vector_bits)_mm256_blendv_epi8((__m256i)no, (__m256i)yes, less);
}
LANES_INLINE uint32_t vector_at_most(vector a, float b) {
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, _mm256_set1_ps(b), _CMP_LE_OQ));
}
LANES_INLINE float vector_least(vector a) {
    const __m128 four = _mm_min_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 two = _mm_min_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_min_ss(two, _mm_movehdup_ps(two)));
}
LANES_INLINE vector_bits bits_min(vector_bits a, vector_bits b) {
    return (vector_bits)_mm256_min_epi32((__m256i)a, (__m256i)b);
}
LANES_INLINE vector_bits bits_select_less(vector_bits a, vector_bits b, vector_bits yes,
                                          vector_bits no) {
    const __m256i less = _mm256_cmpgt_epi32((__m256i)b, (__m256i)a);
    return (vector_bits)_mm256_blendv_epi8((__m256i)no, (__m256i)yes, less);
}
LANES_INLINE uint32_t bits_at_most(vector_bits a, int32_t b) {
    const __m256i above = _mm256_cmpgt_epi32((__m256i)a, _mm256_set1_epi32(b));
    return ~(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(above)) & 0xFFu;
}
LANES_INLINE int32_t bits_least(vector_bits a) {
    const __m128i four =
        _mm_min_epi32(_mm256_castsi256_si128((__m256i)a), _mm256_extracti128_si256((__m256i)a, 1));
    const __m128i two = _mm_min_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    return _mm_cvtsi128_si32(_mm_min_epi32(two, _mm_shuffle_epi32(two, 0xB1)));
}
LANES_INLINE vector_bits bits_add_products(vector_bits sum, vector_bits a, vector_bits b) {
    return sum + (vector_bits)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}
#define bits_add_halves bits_add_products
LANES_INLINE vector_bits bits_add_gaps(vector_bits sum, vector_bits a, vector_bits b) {
    const __m256i above = _mm256_subs_epu8((__m256i)a, (__m256i)b);
    const __m256i gap = _mm256_or_si256(above, _mm256_subs_epu8((__m256i)b, (__m256i)a));
    const __m256i pairs = _mm256_maddubs_epi16(gap, _mm256_set1_epi8(1));
    return sum + (vector_bits)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

#else

#define EACH_LANE for (int l = 0; l < LANE_WIDTH; l++)

#if defined(LANES_NEON)
LANES_INLINE vector vector_fused(vector a, vector b, vector c) {
    return (vector)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
LANES_INLINE vector vector_minus_product(vector a, vector b, vector c) {
    return (vector)vfmsq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
LANES_INLINE vector vector_root(vector a) {
    return (vector)vsqrtq_f32((float32x4_t)a);
}
/* A bit for each lane of a mask of ones. */
LANES_INLINE uint32_t lanes_of(vector_bits mask) {
    const uint32x4_t bit = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32((uint32x4_t)mask, bit));
}
LANES_INLINE float vector_least(vector a) {
    return vminvq_f32((float32x4_t)a);
}
LANES_INLINE int32_t bits_least(vector_bits a) {
    return vminvq_s32((int32x4_t)a);
}
LANES_INLINE vector_bits bits_add_products(vector_bits sum, vector_bits a, vector_bits b) {
    const int16x8_t x = (int16x8_t)a, y = (int16x8_t)b;
    const int32x4_t low = vmull_s16(vget_low_s16(x), vget_low_s16(y)), high = vmull_high_s16(x, y);
    return sum + (vector_bits)vpaddq_s32(low, high);
}
LANES_INLINE vector_bits bits_add_gaps(vector_bits sum, vector_bits a, vector_bits b) {
    const uint8x16_t gap = vabdq_u8((uint8x16_t)a, (uint8x16_t)b);
    return (vector_bits)vpadalq_u16((uint32x4_t)sum, vpaddlq_u8(gap));
}
#else
LANES_INLINE vector vector_fused(vector a, vector b, vector c) {
    EACH_LANE c[l] = fmaf(a[l], b[l], c[l]);
    return c;
}
LANES_INLINE vector vector_minus_product(vector a, vector b, vector c) {
    return c - a * b;
}
LANES_INLINE vector vector_root(vector a) {
    EACH_LANE a[l] = sqrtf(a[l]);
    return a;
}
LANES_INLINE uint32_t lanes_of(vector_bits mask) {
#if defined(__SSE2__)
    return (uint32_t)_mm_movemask_ps((__m128)mask);
#else
    uint32_t bits = 0;
    EACH_LANE bits |= (uint32_t)mask[l] & UINT32_C(1) << l;
    return bits;
#endif
}
LANES_INLINE float vector_least(vector a) {
    float least = a[0];
    EACH_LANE least = a[l] < least ? a[l] : least;
    return least;
}
LANES_INLINE int32_t bits_least(vector_bits a) {
    int32_t least = a[0];
    EACH_LANE least = a[l] < least ? a[l] : least;
    return least;
}
LANES_INLINE vector_bits bits_add_products(vector_bits sum, vector_bits a, vector_bits b) {
#if defined(__SSE2__)
    return sum + (vector_bits)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
    EACH_LANE sum[l] += (int16_t)a[l] * (int16_t)b[l] + (a[l] >> 16) * (b[l] >> 16);
    return sum;
#endif
}
LANES_INLINE vector_bits bits_add_gaps(vector_bits sum, vector_bits a, vector_bits b) {
    for (int byte = 0; byte < 32; byte += 8) {
        const vector_bits gap = (a >> byte & 255) - (b >> byte & 255), sign = gap >> 31;
        sum += (gap ^ sign) - sign;
    }
    return sum;
}
#endif
LANES_INLINE vector vector_min(vector a, vector b) {
    const vector_bits less = a < b;
    vector_select(&less, &a, &b, &a);
    return a;
}
LANES_INLINE vector vector_max(vector a, vector b) {
    const vector_bits more = a > b;
    vector_select(&more, &a, &b, &a);
    return a;
}
LANES_INLINE vector_bits vector_select_less(vector a, vector b, vector_bits yes, vector_bits no) {
    const vector_bits less = a < b;
    return (yes & less) | (no & ~less);
}
LANES_INLINE uint32_t vector_at_most(vector a, float b) {
    return lanes_of(a <= (vector){0} + b);
}
LANES_INLINE vector_bits bits_select_less(vector_bits a, vector_bits b, vector_bits yes,
                                          vector_bits no) {
    const vector_bits less = a < b;
    return (yes & less) | (no & ~less);
}
LANES_INLINE vector_bits bits_min(vector_bits a, vector_bits b) {
    return bits_select_less(a, b, a, b);
}
LANES_INLINE uint32_t bits_at_most(vector_bits a, int32_t b) {
    return lanes_of(a <= (vector_bits){0} + b);
}
#define bits_add_halves bits_add_products
#endif

/* --- sixteen lanes ---------------------------------------------------------------------------- */

typedef struct {
    vector part[VECTORS];
} floats;

typedef struct {
    vector_bits part[VECTORS];
} ints;

#define EACH_PART LANES_UNROLL for (int p = 0; p < VECTORS; p++)

LANES_INLINE floats floats_load(const float *from) {
    floats a;
    EACH_PART memcpy(&a.part[p], from + p * LANE_WIDTH, sizeof a.part[p]);
    return a;
}
LANES_INLINE void floats_store(float *to, floats a) {
    EACH_PART memcpy(to + p * LANE_WIDTH, &a.part[p], sizeof a.part[p]);
}
LANES_INLINE floats floats_set(float value) {
    floats a;
    EACH_PART a.part[p] = value - (vector){0};
    return a;
}
LANES_INLINE floats floats_add(floats a, floats b) {
    EACH_PART a.part[p] += b.part[p];
    return a;
}
LANES_INLINE floats floats_sub(floats a, floats b) {
    EACH_PART a.part[p] -= b.part[p];
    return a;
}
LANES_INLINE floats floats_mul(floats a, floats b) {
    EACH_PART a.part[p] *= b.part[p];
    return a;
}
LANES_INLINE floats floats_div(floats a, floats b) {
    EACH_PART a.part[p] /= b.part[p];
    return a;
}
LANES_INLINE floats floats_root(floats a) {
    EACH_PART a.part[p] = vector_root(a.part[p]);
    return a;
}
LANES_INLINE floats floats_min(floats a, floats b) {
    EACH_PART a.part[p] = vector_min(a.part[p], b.part[p]);
    return a;
}
LANES_INLINE floats floats_max(floats a, floats b) {
    EACH_PART a.part[p] = vector_max(a.part[p], b.part[p]);
    return a;
}
LANES_INLINE floats floats_fused(floats a, floats b, floats c) {
    EACH_PART c.part[p] = vector_fused(a.part[p], b.part[p], c.part[p]);
    return c;
}
LANES_INLINE floats floats_minus_product(floats a, floats b, floats c) {
    EACH_PART c.part[p] = vector_minus_product(a.part[p], b.part[p], c.part[p]);
    return c;
}
LANES_INLINE ints floats_select_less(floats a, floats b, ints yes, ints no) {
    EACH_PART no.part[p] = vector_select_less(a.part[p], b.part[p], yes.part[p], no.part[p]);
    return no;
}
LANES_INLINE uint32_t floats_at_most(floats a, float b) {
    uint32_t mask = 0;
    EACH_PART mask |= vector_at_most(a.part[p], b) << (p * LANE_WIDTH);
    return mask;
}
LANES_INLINE float floats_least(floats a) {
    EACH_PART a.part[0] = vector_min(a.part[0], a.part[p]);
    return vector_least(a.part[0]);
}

/* LOCAL. The square root of normal numbers above 0, to 2.6e-5 of itself. Method: half of the bits
 * from a constant is a first guess y of 1 / sqrt(a); a y is then a root but for a factor whose
 * square is 1 - e, |e| < 0.069, and of which a parabola in e is the inverse. In place of the square
 * root of the hardware, which takes as long as some twenty multiplications. */
LANES_INLINE floats floats_quick_root(floats a) {
    EACH_PART {
        const vector one = (vector){0} + 1.0f, first = (vector){0} + 0.50109494f;
        const vector second = (vector){0} + 0.3756769f;
        vector_bits bits;
        vector y;
        memcpy(&bits, &a.part[p], sizeof bits);
        bits = 0x5f375600 - (bits >> 1);
        memcpy(&y, &bits, sizeof y);
        const vector root = a.part[p] * y, e = vector_fused(-root, y, one);
        a.part[p] = vector_fused(root * e, vector_fused(e, second, first), root);
    }
    return a;
}

/* LOCAL. 1 / a of numbers above 0 whose inverse is normal, to 3.5e-6 of itself. Method: the bits
 * from a constant are a first guess y, and a y = 1 - e, |e| < 0.051, whose inverse is (1 + e) (1 +
 * e^2) but for a term that the constant halves. In place of a division. */
LANES_INLINE floats floats_quick_inverse(floats a) {
    EACH_PART {
        const vector one = (vector){0} + 1.0f, rest = (vector){0} + 3.2656267e-6f;
        vector_bits bits;
        vector y;
        memcpy(&bits, &a.part[p], sizeof bits);
        bits = 0x7ef31000 - bits;
        memcpy(&y, &bits, sizeof y);
        const vector e = vector_fused(-a.part[p], y, one), nearer = vector_fused(y, e, y);
        a.part[p] = vector_fused(nearer, vector_fused(e, e, rest), nearer);
    }
    return a;
}

LANES_INLINE ints ints_load(const int32_t *from) {
    ints a;
    EACH_PART memcpy(&a.part[p], from + p * LANE_WIDTH, sizeof a.part[p]);
    return a;
}
LANES_INLINE void ints_store(int32_t *to, ints a) {
    EACH_PART memcpy(to + p * LANE_WIDTH, &a.part[p], sizeof a.part[p]);
}
LANES_INLINE ints ints_set(int32_t value) {
    ints a;
    EACH_PART a.part[p] = value + (vector_bits){0};
    return a;
}
LANES_INLINE ints ints_and(ints a, ints b) {
    EACH_PART a.part[p] &= b.part[p];
    return a;
}
/* All lanes together; the sum must fit. */
LANES_INLINE int32_t ints_total(ints a) {
    int32_t lane[LANES], total = 0;
    ints_store(lane, a);
    for (int l = 0; l < LANES; l++)
        total += lane[l];
    return total;
}
LANES_INLINE ints ints_min(ints a, ints b) {
    EACH_PART a.part[p] = bits_min(a.part[p], b.part[p]);
    return a;
}
LANES_INLINE ints ints_sub(ints a, ints b) {
    EACH_PART a.part[p] -= b.part[p];
    return a;
}
/* a - 2 b */
LANES_INLINE ints ints_minus_twice(ints a, ints b) {
    EACH_PART a.part[p] -= b.part[p] << 1;
    return a;
}
LANES_INLINE ints ints_select_less(ints a, ints b, ints yes, ints no) {
    EACH_PART no.part[p] = bits_select_less(a.part[p], b.part[p], yes.part[p], no.part[p]);
    return no;
}
LANES_INLINE uint32_t ints_at_most(ints a, int32_t b) {
    uint32_t mask = 0;
    EACH_PART mask |= bits_at_most(a.part[p], b) << (p * LANE_WIDTH);
    return mask;
}
LANES_INLINE int32_t ints_least(ints a) {
    EACH_PART a.part[0] = bits_min(a.part[0], a.part[p]);
    return bits_least(a.part[0]);
}
LANES_INLINE ints ints_add_products(ints sum, ints a, ints b) {
    EACH_PART sum.part[p] = bits_add_products(sum.part[p], a.part[p], b.part[p]);
    return sum;
}
/* The products of two 16-bit halves a lane, on every instruction set. */
LANES_INLINE ints ints_add_halves(ints sum, ints a, ints b) {
    EACH_PART sum.part[p] = bits_add_halves(sum.part[p], a.part[p], b.part[p]);
    return sum;
}
LANES_INLINE ints ints_add_gaps(ints sum, ints a, ints b) {
    EACH_PART sum.part[p] = bits_add_gaps(sum.part[p], a.part[p], b.part[p]);
    return sum;
}
/* c + |a - b|, rounded once to the difference and once to the sum */
LANES_INLINE floats floats_add_gap(floats a, floats b, floats c) {
    EACH_PART {
        const vector gap = a.part[p] - b.part[p];
        vector_bits bits;
        memcpy(&bits, &gap, sizeof bits);
        bits &= INT32_MAX;
        vector size;
        memcpy(&size, &bits, sizeof size);
        c.part[p] += size;
    }
    return c;
}

#endif

#endif
