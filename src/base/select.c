/* The k least of many values. See select.h. */
#include "base/select.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define WIDE __attribute__((target("avx512f")))
#define AVX2 __attribute__((target("avx2")))
#endif

enum {
    STEP = 16,  /* values that are compared at once */
    LANES = 8,  /* pairs of a vector */
    SAMPLE = 16 /* pairs that a pivot is chosen from */
};

/* --- parting pairs ---------------------------------------------------------------------------- */

/* A pair of about the rank k: of a sample the one that would stand there if it were sorted. */
static IKT_WIDEST_VECTORS ikt_pair pivot_of(const ikt_pair *pair, int64_t count, int64_t k) {
    ikt_pair sample[SAMPLE], pivot = 0;
    int64_t below[SAMPLE] = {0};
    for (int64_t i = 0; i < SAMPLE; i++)
        sample[i] = pair[(2 * i + 1) * count / (2 * SAMPLE)];
    for (int j = 0; j < SAMPLE; j++)
        for (int i = 0; i < SAMPLE; i++)
            below[i] += sample[j] < sample[i];
    for (int i = 0; i < SAMPLE; i++)
        if (below[i] <= k * SAMPLE / count && sample[i] > pivot) pivot = sample[i];
    return pivot;
}

/* Brings the pairs of first .. end - 1 that are below the pivot to where `below` is, which is not
 * behind `first`; returns the place behind them. Without branches that depend on the pairs, which
 * no processor could foretell. */
static int64_t part_one_by_one(ikt_pair *pair, int64_t first, int64_t end, int64_t below,
                               ikt_pair pivot) {
    for (int64_t i = first; i < end; i++) {
        const ikt_pair here = pair[i];
        pair[i] = pair[below];
        pair[below] = here;
        below += here < pivot;
    }
    return below;
}

#if defined(__x86_64__)

/* The same without sorting: the greatest of the sample that has no more than these below it. */
static WIDE ikt_pair pivot_wide(const ikt_pair *pair, int64_t count, int64_t k) {
    ikt_pair sample[SAMPLE], pivot = 0;
    const int64_t wanted = k * SAMPLE / count;
    for (int64_t i = 0; i < SAMPLE; i++)
        sample[i] = pair[(2 * i + 1) * count / (2 * SAMPLE)];
    const __m512i low = _mm512_loadu_si512(sample), high = _mm512_loadu_si512(sample + LANES);
    for (int i = 0; i < SAMPLE; i++) {
        const __m512i here = _mm512_set1_epi64((long long)sample[i]);
        const int below = __builtin_popcount(_mm512_cmplt_epu64_mask(low, here)) +
                          __builtin_popcount(_mm512_cmplt_epu64_mask(high, here));
        if (below <= wanted && sample[i] > pivot) pivot = sample[i];
    }
    return pivot;
}

/* Two free stretches of an array: pairs below the pivot go to the beginning of the first, the
 * others to the end of the second. */
typedef struct {
    ikt_pair *low, *high;
} free_places;

static inline WIDE free_places deal(free_places to, __m512i pairs, __m512i pivot) {
    const __mmask8 below = _mm512_cmplt_epu64_mask(pairs, pivot);
    const int count = __builtin_popcount(below);
    const uint32_t some = (UINT32_C(1) << count) - 1, others = (UINT32_C(1) << (LANES - count)) - 1;
    to.high -= LANES - count;
    _mm512_mask_storeu_epi64(to.low, (__mmask8)some, _mm512_maskz_compress_epi64(below, pairs));
    _mm512_mask_storeu_epi64(to.high, (__mmask8)others,
                             _mm512_maskz_compress_epi64((__mmask8)~below, pairs));
    to.low += count;
    return to;
}

/* Brings the pairs below the pivot to the front; returns how many. The first and the last vector
 * are held back, so that there is room to deal to at both ends; the next is always taken from the
 * end that has less room. */
static WIDE int64_t part_wide(ikt_pair *pair, int64_t count, ikt_pair pivot) {
    const int64_t whole = count / LANES * LANES;
    const __m512i limit = _mm512_set1_epi64((long long)pivot);
    if (whole < 2 * LANES) return part_one_by_one(pair, 0, count, 0, pivot);
    ikt_pair *left = pair + LANES, *right = pair + whole - LANES;
    const __m512i first = _mm512_loadu_si512(pair), last = _mm512_loadu_si512(right);
    free_places to = {pair, pair + whole};
    while (left < right) {
        const bool from_left = left - to.low <= to.high - right;
        if (!from_left) right -= LANES;
        const __m512i next = _mm512_loadu_si512(from_left ? left : right);
        if (from_left) left += LANES;
        to = deal(to, next, limit);
    }
    to = deal(deal(to, first, limit), last, limit);
    return part_one_by_one(pair, whole, count, to.low - pair, pivot);
}

static WIDE ikt_pair greatest_wide(const ikt_pair *pair, int64_t count) {
    __m512i most = _mm512_setzero_si512();
    for (int64_t at = 0; at < count; at += LANES) {
        const int64_t left = count - at < LANES ? count - at : LANES;
        const __mmask8 some = (__mmask8)((UINT32_C(1) << left) - 1);
        most = _mm512_max_epu64(most, _mm512_maskz_loadu_epi64(some, pair + at));
    }
    return _mm512_reduce_max_epu64(most);
}

#endif

/* Brings the pairs below a pivot, which is one of them of about the rank k, to the front; returns
 * how many. */
static int64_t part_about(bool is_wide, ikt_pair *pair, int64_t count, int64_t k, ikt_pair *pivot) {
#if defined(__x86_64__)
    if (is_wide) {
        *pivot = pivot_wide(pair, count, k);
        return part_wide(pair, count, *pivot);
    }
#else
    (void)is_wide;
#endif
    *pivot = pivot_of(pair, count, k);
    return part_one_by_one(pair, 0, count, 0, *pivot);
}

static ikt_pair greatest(bool is_wide, const ikt_pair *pair, int64_t count) {
    ikt_pair most = 0;
#if defined(__x86_64__)
    if (is_wide) return greatest_wide(pair, count);
#else
    (void)is_wide;
#endif
    for (int64_t e = 0; e < count; e++)
        if (pair[e] > most) most = pair[e];
    return most;
}

static void part(bool is_wide, ikt_pair *pair, int64_t count, int64_t k) {
    int64_t low = 0, high = count - 1;
    while (low < high && k > low && k <= high) {
        ikt_pair pivot;
        const int64_t below =
            low + part_about(is_wide, pair + low, high - low + 1, k - low, &pivot);
        if (k <= below)
            high = below - 1;
        else if (below > low)
            low = below;
        else { /* the pivot is the least: to the front with it */
            for (int64_t i = low; i <= high; i++)
                if (pair[i] == pivot) {
                    pair[i] = pair[low];
                    pair[low++] = pivot;
                    break;
                }
        }
    }
}

ikt_pair ikt_pairs_greatest(ikt_isa isa, const ikt_pair *pair, int64_t count) {
    return greatest(isa >= IKT_ISA_AVX512, pair, count);
}

void ikt_pairs_part(ikt_isa isa, ikt_pair *pair, int64_t count, int64_t k) {
    part(isa >= IKT_ISA_AVX512, pair, count, k);
}

/* --- selecting -------------------------------------------------------------------------------- */

void ikt_select_begin(ikt_select *s, ikt_isa isa, int64_t k, ikt_pair *pair) {
    *s = (ikt_select){k, 0, UINT64_MAX, isa, pair};
}

void ikt_select_tighten(ikt_select *s, int64_t count) {
    if (s->count <= count) return;
    part(s->isa >= IKT_ISA_AVX512, s->pair, s->count, count);
    s->count = count;
    s->limit = greatest(s->isa >= IKT_ISA_AVX512, s->pair, count);
}

void ikt_select_end(ikt_select *s) {
    ikt_select_tighten(s, s->k);
}

static void add(ikt_select *s, ikt_pair pair) {
    if (pair > s->limit) return;
    s->pair[s->count++] = pair;
    if (s->count == IKT_SELECT_CAPACITY * s->k) ikt_select_tighten(s, s->k);
}

static ikt_pair pair_of_int(int32_t value, uint32_t number) {
    return (ikt_pair)((uint32_t)value ^ UINT32_C(1) << 31) << 32 | number;
}

static float float_limit(const ikt_select *s) {
    return s->limit == UINT64_MAX ? INFINITY : ikt_pair_value(s->limit);
}

static int32_t int_limit(const ikt_select *s) {
    return s->limit == UINT64_MAX ? INT32_MAX
                                  : (int32_t)((uint32_t)(s->limit >> 32) ^ UINT32_C(1) << 31);
}

float ikt_select_limit(const ikt_select *s) {
    return float_limit(s);
}

/* Bits of the first `left` of sixteen values. */
static uint32_t first_of(int64_t left) {
    return left < STEP ? (UINT32_C(1) << left) - 1 : UINT32_C(0xffff);
}

/* All but the value with the number `except`, where it is one of sixteen from `first` on. */
static uint32_t all_except(int64_t except, int64_t first) {
    return except >= first && except < first + STEP ? ~(UINT32_C(1) << (except - first))
                                                    : UINT32_MAX;
}

static void add_floats(ikt_select *s, uint32_t mask, int64_t first, const float *value) {
    for (; mask; mask &= mask - 1) {
        const int l = __builtin_ctz(mask);
        add(s, ikt_pair_make(value[l], (uint32_t)(first + l)));
    }
}

static void add_ints(ikt_select *s, uint32_t mask, int64_t first, const int32_t *value) {
    for (; mask; mask &= mask - 1) {
        const int l = __builtin_ctz(mask);
        add(s, pair_of_int(value[l], (uint32_t)(first + l)));
    }
}

#if defined(__x86_64__)

static inline WIDE void append(ikt_select *s, __mmask8 mask, __m512i pairs) {
    const __mmask8 kept =
        _mm512_mask_cmple_epu64_mask(mask, pairs, _mm512_set1_epi64((long long)s->limit));
    const int count = __builtin_popcount(kept);
    _mm512_mask_storeu_epi64(s->pair + s->count, (__mmask8)((UINT32_C(1) << count) - 1),
                             _mm512_maskz_compress_epi64(kept, pairs));
    s->count += count;
}

/* Adds the pairs of sixteen keys, whose order is that of their values, with the numbers from
 * `first` on; false where the buffer might become full. */
static inline WIDE bool append_keys(ikt_select *s, uint32_t mask, int64_t first, __m512i keys) {
    const __m512i places = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    const __m512i low = _mm512_add_epi64(_mm512_set1_epi64(first), places);
    const __m512i high = _mm512_add_epi64(low, _mm512_set1_epi64(LANES));
    if (s->count + STEP >= IKT_SELECT_CAPACITY * s->k) return false;
    const __m512i first_keys = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(keys));
    const __m512i last_keys = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(keys, 1));
    append(s, (__mmask8)mask, _mm512_or_epi64(_mm512_slli_epi64(first_keys, 32), low));
    append(s, (__mmask8)(mask >> LANES), _mm512_or_epi64(_mm512_slli_epi64(last_keys, 32), high));
    return true;
}

static WIDE void select_floats_wide(ikt_select *s, int64_t except, int64_t first, int64_t count,
                                    const float *value) {
    const __m512i sign = _mm512_set1_epi32(INT32_MIN);
    __m512 limit = _mm512_set1_ps(float_limit(s));
    for (int64_t at = 0; at < count; at += STEP) {
        const __m512 values = _mm512_loadu_ps(value + at);
        uint32_t mask = _mm512_cmp_ps_mask(values, limit, _CMP_LE_OQ);
        if (!mask) continue;
        mask &= first_of(count - at) & all_except(except, first + at);
        const __m512i bits = _mm512_castps_si512(values);
        const __m512i flipped = _mm512_or_epi32(_mm512_srai_epi32(bits, 31), sign);
        if (append_keys(s, mask, first + at, _mm512_xor_epi32(bits, flipped))) continue;
        add_floats(s, mask, first + at, value + at);
        limit = _mm512_set1_ps(float_limit(s));
    }
}

static WIDE void select_ints_wide(ikt_select *s, int64_t first, int64_t count,
                                  const int32_t *value) {
    const __m512i sign = _mm512_set1_epi32(INT32_MIN);
    __m512i limit = _mm512_set1_epi32(int_limit(s));
    for (int64_t at = 0; at < count; at += STEP) {
        const __m512i values = _mm512_loadu_si512(value + at);
        uint32_t mask = _mm512_cmple_epi32_mask(values, limit) & first_of(count - at);
        if (!mask) continue;
        if (append_keys(s, mask, first + at, _mm512_xor_epi32(values, sign))) continue;
        add_ints(s, mask, first + at, value + at);
        limit = _mm512_set1_epi32(int_limit(s));
    }
}

/* Places of 32-bit halves: those of the pairs that a mask of four names, one behind the other. */
static const uint64_t front[] = {
    0x0000000000000000, 0x0000000000000100, 0x0000000000000302, 0x0000000003020100,
    0x0000000000000504, 0x0000000005040100, 0x0000000005040302, 0x0000050403020100,
    0x0000000000000706, 0x0000000007060100, 0x0000000007060302, 0x0000070603020100,
    0x0000000007060504, 0x0000070605040100, 0x0000070605040302, 0x0706050403020100};

/* Appends the pairs of four keys and the numbers from `first` on that the mask names and the limit
 * lets in. */
static inline AVX2 void append_four(ikt_select *s, uint32_t mask, __m128i keys, int64_t first) {
    const __m256i numbers =
        _mm256_add_epi64(_mm256_set1_epi64x(first), _mm256_setr_epi64x(0, 1, 2, 3));
    const __m256i pairs =
        _mm256_or_si256(_mm256_slli_epi64(_mm256_cvtepu32_epi64(keys), 32), numbers);
    const __m256i sign = _mm256_set1_epi64x(INT64_MIN); /* there are comparisons of signed ones */
    const __m256i limit = _mm256_set1_epi64x((int64_t)s->limit);
    const __m256i above =
        _mm256_cmpgt_epi64(_mm256_xor_si256(pairs, sign), _mm256_xor_si256(limit, sign));
    mask &= 15 & ~(uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(above));
    const __m256i order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)front[mask]));
    _mm256_storeu_si256((void *)(s->pair + s->count), _mm256_permutevar8x32_epi32(pairs, order));
    s->count += __builtin_popcount(mask);
}

/* Floats or integers. */
static inline AVX2 __attribute__((always_inline)) void select_eights(ikt_select *s, int64_t except,
                                                                     int64_t first, int64_t count,
                                                                     const void *values,
                                                                     const bool are_floats) {
    const __m256i sign = _mm256_set1_epi32(INT32_MIN);
    __m256 limit = _mm256_set1_ps(float_limit(s));
    __m256i int_limits = _mm256_set1_epi32(int_limit(s));
    for (int64_t at = 0; at < count; at += LANES) {
        const int32_t *value = (const int32_t *)values + at;
        const __m256i bits = _mm256_loadu_si256((const void *)value);
        const __m256 above = are_floats
                                 ? _mm256_cmp_ps(_mm256_castsi256_ps(bits), limit, _CMP_NLE_UQ)
                                 : _mm256_castsi256_ps(_mm256_cmpgt_epi32(bits, int_limits));
        uint32_t mask = 255 & ~(uint32_t)_mm256_movemask_ps(above);
        if (!mask) continue;
        mask &= first_of(count - at) & all_except(except, first + at);
        if (s->count + LANES < IKT_SELECT_CAPACITY * s->k) {
            const __m256i ones = are_floats ? _mm256_srai_epi32(bits, 31) : sign;
            const __m256i keys = _mm256_xor_si256(bits, _mm256_or_si256(ones, sign));
            append_four(s, mask & 15, _mm256_castsi256_si128(keys), first + at);
            append_four(s, mask >> 4, _mm256_extracti128_si256(keys, 1), first + at + LANES / 2);
        } else if (are_floats) {
            add_floats(s, mask, first + at, (const float *)values + at);
            limit = _mm256_set1_ps(float_limit(s));
        } else {
            add_ints(s, mask, first + at, value);
            int_limits = _mm256_set1_epi32(int_limit(s));
        }
    }
}

static AVX2 void select_floats_avx2(ikt_select *s, int64_t except, int64_t first, int64_t count,
                                    const float *value) {
    select_eights(s, except, first, count, value, true);
}

static AVX2 void select_ints_avx2(ikt_select *s, int64_t first, int64_t count,
                                  const int32_t *value) {
    select_eights(s, -1, first, count, value, false);
}

#endif

void ikt_select_floats(ikt_select *s, int64_t except, int64_t first, int64_t count,
                       const float *value) {
#if defined(__x86_64__)
    if (s->isa >= IKT_ISA_AVX512) {
        select_floats_wide(s, except, first, count, value);
        return;
    }
    if (s->isa == IKT_ISA_AVX2) {
        select_floats_avx2(s, except, first, count, value);
        return;
    }
#endif
    for (int64_t at = 0; at < count; at += STEP) {
        const float limit = float_limit(s);
        uint32_t mask = 0;
        for (int l = 0; l < STEP; l++)
            mask |= (uint32_t)(value[at + l] <= limit) << l;
        if (!mask) continue;
        mask &= first_of(count - at) & all_except(except, first + at);
        add_floats(s, mask, first + at, value + at);
    }
}

void ikt_select_ints(ikt_select *s, int64_t first, int64_t count, const int32_t *value) {
#if defined(__x86_64__)
    if (s->isa >= IKT_ISA_AVX512) {
        select_ints_wide(s, first, count, value);
        return;
    }
    if (s->isa == IKT_ISA_AVX2) {
        select_ints_avx2(s, first, count, value);
        return;
    }
#endif
    for (int64_t at = 0; at < count; at += STEP) {
        const int32_t limit = int_limit(s);
        uint32_t mask = 0;
        for (int l = 0; l < STEP; l++)
            mask |= (uint32_t)(value[at + l] <= limit) << l;
        if (mask) add_ints(s, mask & first_of(count - at), first + at, value + at);
    }
}

void ikt_select_numbered(ikt_select *s, int64_t except, const uint32_t *number, int64_t count,
                         const float *value) {
    for (int64_t at = 0; at < count; at += STEP) {
        const float limit = float_limit(s);
        int any = 0;
        for (int l = 0; l < STEP; l++)
            any |= value[at + l] <= limit;
        const int64_t end = at + STEP < count ? at + STEP : count;
        for (int64_t e = at; any && e < end; e++)
            if (value[e] <= limit && (int64_t)number[e] != except)
                add(s, ikt_pair_make(value[e], number[e]));
    }
}
