/* Sorting of plain numbers, by the C library's sort, and the k least of many values. See sort.h.
 *
 * Method: what is not above the worst of the k least known so far goes into a buffer of 4 k pairs;
 * when it is full, quickselect keeps the k least of it. Advantage: one comparison for most values,
 * and a few operations for each of the others, where a heap moves log k pairs. Disadvantage: memory
 * for 4 k pairs. The order of pairs is total: the order of offers does not matter. */
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* The same functions for each type. */
#define SORT_OF(suffix, type)                                                                      \
    static int ascending_##suffix(const void *a, const void *b) {                                  \
        return IKT_COMPARE(*(const type *)a, *(const type *)b);                                    \
    }                                                                                              \
    void ikt_sort_##suffix(type *value, int64_t count) {                                           \
        if (count > 1) qsort(value, (size_t)count, sizeof *value, ascending_##suffix);             \
    }

#define DISTINCT_OF(suffix, type)                                                                  \
    int64_t ikt_sort_distinct_##suffix(type *value, int64_t count) {                               \
        int64_t kept = 0;                                                                          \
        ikt_sort_##suffix(value, count);                                                           \
        for (int64_t e = 0; e < count; e++)                                                        \
            if (kept == 0 || value[kept - 1] != value[e]) value[kept++] = value[e];                \
        return kept;                                                                               \
    }

SORT_OF(i64, int64_t)
SORT_OF(u32, uint32_t)
SORT_OF(i32, int32_t)
SORT_OF(f64, double)
DISTINCT_OF(i64, int64_t)
DISTINCT_OF(u32, uint32_t)
DISTINCT_OF(i32, int32_t)

enum {
    DIGIT_BITS = 11,
    DIGITS = 1 << DIGIT_BITS,
    FEW = DIGITS / 2 /* numbers for which counting digits does not pay */
};

void ikt_sort_below(int64_t *number, int64_t count, int64_t end, int64_t *scratch) {
    int64_t *from = number, *to = scratch;
    if (count <= FEW) {
        ikt_sort_i64(number, count);
        return;
    }
    for (int shift = 0; (end - 1) >> shift > 0; shift += DIGIT_BITS) {
        int64_t start[DIGITS + 1] = {0};
        for (int64_t i = 0; i < count; i++)
            start[((from[i] >> shift) & (DIGITS - 1)) + 1]++;
        for (int64_t digit = 0; digit < DIGITS; digit++)
            start[digit + 1] += start[digit];
        for (int64_t i = 0; i < count; i++)
            to[start[(from[i] >> shift) & (DIGITS - 1)]++] = from[i];
        int64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != number) memcpy(number, from, (size_t)count * sizeof *number);
}

void ikt_order_by_group(const uint32_t *group, int64_t count, int64_t groups, int64_t *first,
                        uint32_t *order) {
    memset(first, 0, (size_t)(groups + 1) * sizeof *first);
    for (int64_t i = 0; i < count; i++)
        first[group[i] + 1]++;
    for (int64_t g = 0; g < groups; g++)
        first[g + 1] += first[g];
    for (int64_t i = 0; i < count; i++)
        order[first[group[i]]++] = (uint32_t)i;
    for (int64_t g = groups; g > 0; g--)
        first[g] = first[g - 1]; /* the loop before has moved them on */
    first[0] = 0;
}

/* --- the k least ------------------------------------------------------------------------------ */

enum { STEP = 16 }; /* values that are compared at once */

/* Floats are ordered as their bits where positive, and reversed where negative. */
ikt_pair ikt_pair_make(float value, uint32_t number) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (ikt_pair)(bits >> 31 ? ~bits : bits | UINT32_C(1) << 31) << 32 | number;
}

float ikt_pair_value(ikt_pair pair) {
    uint32_t key = (uint32_t)(pair >> 32), bits = key >> 31 ? key & ~(UINT32_C(1) << 31) : ~key;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A pair of pair[low .. high] of about the rank k among them: of a sample, sorted, the one there.
 */
static ikt_pair pivot_of(const ikt_pair *pair, int64_t low, int64_t high, int64_t k) {
    enum { SAMPLE = 15 };
    ikt_pair sample[SAMPLE];
    const int64_t count = high - low + 1;
    for (int64_t i = 0; i < SAMPLE; i++) {
        const ikt_pair here = pair[low + (2 * i + 1) * count / (2 * SAMPLE)];
        int64_t to = i;
        for (; to > 0 && sample[to - 1] > here; to--)
            sample[to] = sample[to - 1];
        sample[to] = here;
    }
    return sample[k * SAMPLE / count];
}

/* Pairs below the pivot come first; without branches that depend on them, which no processor could
 * foretell. */
void ikt_pairs_part(ikt_pair *pair, int64_t count, int64_t k) {
    int64_t low = 0, high = count - 1;
    while (low < high && k > low && k <= high) {
        const ikt_pair pivot = pivot_of(pair, low, high, k - low);
        int64_t below = low;
        for (int64_t i = low; i <= high; i++) {
            const ikt_pair here = pair[i];
            pair[i] = pair[below];
            pair[below] = here;
            below += here < pivot;
        }
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

void ikt_select_tighten(ikt_select *s, int64_t count) {
    if (s->count <= count) return;
    ikt_pairs_part(s->pair, s->count, count);
    s->count = count;
    s->limit = s->pair[0];
    for (int64_t e = 1; e < count; e++)
        if (s->pair[e] > s->limit) s->limit = s->pair[e];
}

void ikt_select_begin(ikt_select *s, ikt_isa isa, int64_t k, ikt_pair *pair) {
    *s = (ikt_select){k, 0, UINT64_MAX, isa >= IKT_ISA_AVX512, pair};
}

static void add(ikt_select *s, ikt_pair pair) {
    if (pair > s->limit) return;
    s->pair[s->count++] = pair;
    if (s->count == IKT_SELECT_CAPACITY * s->k) ikt_select_tighten(s, s->k);
}

/* Bit l of a mask says that value l of sixteen is not above the limit. */
static uint32_t none_beyond(uint32_t mask, int64_t left) {
    return left < STEP ? mask & ((UINT32_C(1) << left) - 1) : mask;
}

static void add_floats(ikt_select *s, uint32_t mask, int64_t except, int64_t first,
                       const float *value) {
    for (; mask; mask &= mask - 1) {
        int l = __builtin_ctz(mask);
        if (first + l != except) add(s, ikt_pair_make(value[l], (uint32_t)(first + l)));
    }
}

static void add_ints(ikt_select *s, uint32_t mask, int64_t first, const int32_t *value) {
    for (; mask; mask &= mask - 1) {
        int l = __builtin_ctz(mask);
        const uint32_t key = (uint32_t)value[l] ^ UINT32_C(1) << 31;
        add(s, (ikt_pair)key << 32 | (uint32_t)(first + l));
    }
}

static float float_limit(const ikt_select *s) {
    return s->limit == UINT64_MAX ? INFINITY : ikt_pair_value(s->limit);
}

static int32_t int_limit(const ikt_select *s) {
    return s->limit == UINT64_MAX ? INT32_MAX
                                  : (int32_t)((uint32_t)(s->limit >> 32) ^ UINT32_C(1) << 31);
}

#if defined(__x86_64__)
#define WIDE __attribute__((target("avx512f")))

static WIDE void select_floats_wide(ikt_select *s, int64_t except, int64_t first, int64_t count,
                                    const float *value) {
    __m512 limit = _mm512_set1_ps(float_limit(s));
    for (int64_t at = 0; at < count; at += STEP) {
        uint32_t mask = _mm512_cmp_ps_mask(_mm512_loadu_ps(value + at), limit, _CMP_LE_OQ);
        if (!mask) continue;
        add_floats(s, none_beyond(mask, count - at), except, first + at, value + at);
        limit = _mm512_set1_ps(float_limit(s));
    }
}

static WIDE void select_ints_wide(ikt_select *s, int64_t first, int64_t count,
                                  const int32_t *value) {
    __m512i limit = _mm512_set1_epi32(int_limit(s));
    for (int64_t at = 0; at < count; at += STEP) {
        uint32_t mask = _mm512_cmple_epi32_mask(_mm512_loadu_si512(value + at), limit);
        if (!mask) continue;
        add_ints(s, none_beyond(mask, count - at), first + at, value + at);
        limit = _mm512_set1_epi32(int_limit(s));
    }
}
#endif

void ikt_select_floats(ikt_select *s, int64_t except, int64_t first, int64_t count,
                       const float *value) {
#if defined(__x86_64__)
    if (s->wide) {
        select_floats_wide(s, except, first, count, value);
        return;
    }
#endif
    for (int64_t at = 0; at < count; at += STEP) {
        const float limit = float_limit(s);
        uint32_t mask = 0;
        for (int l = 0; l < STEP; l++)
            mask |= (uint32_t)(value[at + l] <= limit) << l;
        if (mask) add_floats(s, none_beyond(mask, count - at), except, first + at, value + at);
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

float ikt_select_limit(const ikt_select *s) {
    return float_limit(s);
}

void ikt_select_ints(ikt_select *s, int64_t first, int64_t count, const int32_t *value) {
#if defined(__x86_64__)
    if (s->wide) {
        select_ints_wide(s, first, count, value);
        return;
    }
#endif
    for (int64_t at = 0; at < count; at += STEP) {
        const int32_t limit = int_limit(s);
        uint32_t mask = 0;
        for (int l = 0; l < STEP; l++)
            mask |= (uint32_t)(value[at + l] <= limit) << l;
        if (mask) add_ints(s, none_beyond(mask, count - at), first + at, value + at);
    }
}

void ikt_select_end(ikt_select *s) {
    ikt_select_tighten(s, s->k);
}

/* Shell sort: no calls and no memory of its own. */
void ikt_pairs_sort(ikt_pair *pair, int64_t count) {
    int64_t gap = 1;
    while (gap < count / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (int64_t i = gap; i < count; i++) {
            ikt_pair moved = pair[i];
            int64_t to = i;
            for (; to >= gap && pair[to - gap] > moved; to -= gap)
                pair[to] = pair[to - gap];
            pair[to] = moved;
        }
}

/* Bytes of the upper halves in which any two pairs differ, and whether they are out of order. */
static uint64_t differing(const uint64_t *pair, int64_t count, bool *is_sorted) {
    uint64_t bits = 0;
    *is_sorted = true;
    for (int64_t i = 1; i < count; i++) {
        bits |= pair[i] ^ pair[0];
        *is_sorted = *is_sorted && pair[i - 1] >> 32 <= pair[i] >> 32;
    }
    return bits;
}

/* One stable pass by a byte. */
static void sort_by_byte(const uint64_t *from, uint64_t *to, int64_t count, int shift) {
    int64_t place[256] = {0}, sum = 0;
    for (int64_t i = 0; i < count; i++)
        place[from[i] >> shift & 255]++;
    for (int b = 0; b < 256; b++) {
        const int64_t own = place[b];
        place[b] = sum;
        sum += own;
    }
    for (int64_t i = 0; i < count; i++)
        to[place[from[i] >> shift & 255]++] = from[i];
}

void ikt_pairs_sort_by_upper(uint64_t *pair, uint64_t *work, int64_t count) {
    bool is_sorted;
    const uint64_t bits = differing(pair, count, &is_sorted);
    uint64_t *from = pair, *to = work;
    if (is_sorted) return;
    for (int shift = 32; shift < 64; shift += 8) {
        if ((bits >> shift & 255) == 0) continue;
        sort_by_byte(from, to, count, shift);
        uint64_t *const sorted = to;
        to = from;
        from = sorted;
    }
    if (from != pair) memcpy(pair, from, (size_t)count * sizeof *pair);
}
