/* Sorting of plain numbers, by the C library's sort, and of pairs. See sort.h. */
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

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

/* --- pairs --------------------------------------------------------------------------------- */

float ikt_pair_value(ikt_pair pair) {
    uint32_t key = (uint32_t)(pair >> 32), bits = key >> 31 ? key & ~(UINT32_C(1) << 31) : ~key;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
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
