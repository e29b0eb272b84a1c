/* Sorting and searching of plain numbers, and sorting of pairs.
 *
 * Every array here has its count as int64_t, and every search is by halving. What orders more than
 * one number a row brings a comparator of its own to qsort and writes it with IKT_COMPARE.
 */
#ifndef IKT_BASE_SORT_H
#define IKT_BASE_SORT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Three-way comparison of two numbers: -1, 0 or 1. */
#define IKT_COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Sets `at`, an int64_t, to the first number in from .. end - 1 for which the expression `holds`,
 * in which `at` stands for the number, is true, or to `end` where there is none. Once true,
 * `holds` must stay true for all larger numbers. */
#define IKT_FIND_FIRST(at, from, end, holds)                                                       \
    do {                                                                                           \
        int64_t ikt_low = (from), ikt_high = (end);                                                \
        while (ikt_low < ikt_high) {                                                               \
            (at) = ikt_low + (ikt_high - ikt_low) / 2;                                             \
            if (holds)                                                                             \
                ikt_high = (at);                                                                   \
            else                                                                                   \
                ikt_low = (at) + 1;                                                                \
        }                                                                                          \
        (at) = ikt_low;                                                                            \
    } while (0)

/* LOCAL. Sorts ascending, in place; f64: none is NaN. */
void ikt_sort_i64(int64_t *value, int64_t count);
void ikt_sort_u32(uint32_t *value, int64_t count);
void ikt_sort_i32(int32_t *value, int64_t count);
void ikt_sort_f64(double *value, int64_t count);

/* LOCAL. Sorts ascending and keeps each value once. Returns how many are left, at the front. */
int64_t ikt_sort_distinct_i64(int64_t *value, int64_t count);
int64_t ikt_sort_distinct_u32(uint32_t *value, int64_t count);
int64_t ikt_sort_distinct_i32(int32_t *value, int64_t count);

/* LOCAL, pure. Where `wanted` stands among ascending values; -1 where it is not among them. */
static inline int64_t ikt_find_i64(const int64_t *value, int64_t count, int64_t wanted) {
    int64_t at;
    IKT_FIND_FIRST(at, 0, count, value[at] >= wanted);
    return at < count && value[at] == wanted ? at : -1;
}

static inline int64_t ikt_find_u32(const uint32_t *value, int64_t count, uint32_t wanted) {
    int64_t at;
    IKT_FIND_FIRST(at, 0, count, value[at] >= wanted);
    return at < count && value[at] == wanted ? at : -1;
}

/* LOCAL, pure. The block that holds an item.
 *   first   [blocks] the first item of each block, ascending; equal where a block is empty
 * Returns the last block that begins at or before the item; 0 where none does. */
static inline int64_t ikt_find_block(const int64_t *first, int64_t blocks, int64_t item) {
    int64_t at;
    IKT_FIND_FIRST(at, 1, blocks, first[at] > item);
    return at - 1;
}

/* Sorts numbers from 0 to below `end`, ascending. Many of them are dealt digit by digit.
 *   scratch   [count] */
void ikt_sort_below(int64_t *number, int64_t count, int64_t end, int64_t *scratch);

/* Orders numbers 0 .. count - 1 by their groups, and within a group by number.
 *   group   [count] below `groups`
 *   first   [groups + 1], receives where each group begins
 *   order   [count], receives the numbers */
void ikt_order_by_group(const uint32_t *group, int64_t count, int64_t groups, int64_t *first,
                        uint32_t *order);

/* A pair (value, number) as one integer whose order is that of the pairs: the value, mapped so that
 * its order is that of an unsigned integer, in the upper half. */
typedef uint64_t ikt_pair;

/* Floats are ordered as their bits where positive, and reversed where negative. */
static inline ikt_pair ikt_pair_make(float value, uint32_t number) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (ikt_pair)(bits >> 31 ? ~bits : bits | UINT32_C(1) << 31) << 32 | number;
}

/* Parts of a pair. */
float ikt_pair_value(ikt_pair pair);
static inline uint32_t ikt_pair_number(ikt_pair pair) {
    return (uint32_t)pair;
}

/* Sorts pairs, ascending. For some hundreds of them. */
void ikt_pairs_sort(ikt_pair *pair, int64_t count);

/* Sorts numbers by their upper 32 bits, ascending; equal ones keep their order. From some dozens on
 * faster than ikt_pairs_sort.
 *   work   [count] */
void ikt_pairs_sort_by_upper(uint64_t *pair, uint64_t *work, int64_t count);

/* The larger and the smaller of two whole numbers. */

static inline int64_t ikt_larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* The quotient, rounded up; value >= 0, by > 0. */
static inline int64_t ikt_divide_up(int64_t value, int64_t by) {
    return (value + by - 1) / by;
}

static inline int64_t ikt_smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

#endif
