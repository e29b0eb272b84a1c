/* The k least of many values.
 *
 * Method: what is not above the worst of the k least known so far goes into a buffer of 4 k pairs;
 * when it is full, quickselect keeps the k least of it. Advantage: one comparison for most values,
 * and a few operations for each of the others, where a heap moves log k pairs. Disadvantage: memory
 * for 4 k pairs. The order of pairs is total: neither the order of offers nor the instruction set
 * changes which are kept. */
#ifndef IKT_BASE_SELECT_H
#define IKT_BASE_SELECT_H

#include <stdbool.h>

#include "base/cpu.h"
#include "base/sort.h"

enum {
    IKT_SELECT_CAPACITY = 4, /* times k: pairs that a buffer holds */
    IKT_SELECT_BEYOND = 8    /* pairs that may be written behind those that it holds so far */
};

/* The k least of many values, with what they belong to, in a buffer that is thinned when full. */
typedef struct {
    int64_t k, count;
    ikt_pair limit; /* pairs above it cannot be among the k least */
    ikt_isa isa;    /* to compute with */
    ikt_pair *pair; /* borrowed */
} ikt_select;

/* LOCAL, all of the following. Empties the buffer.
 *   pair   [IKT_SELECT_CAPACITY * k], or, where that is less, as many as will be offered in all and
 *          IKT_SELECT_BEYOND more */
void ikt_select_begin(ikt_select *s, ikt_isa isa, int64_t k, ikt_pair *pair);

/* Offers value[e] with the number first + e, 0 <= e < count, but not the number `except` (-1: all).
 *   value   [count rounded up to 16], entries from count on may hold anything */
void ikt_select_floats(ikt_select *s, int64_t except, int64_t first, int64_t count,
                       const float *value);
void ikt_select_ints(ikt_select *s, int64_t first, int64_t count, const int32_t *value);

/* The same with the number[e] of value[e]. */
void ikt_select_numbered(ikt_select *s, int64_t except, const uint32_t *number, int64_t count,
                         const float *value);

/* The value that no pair above can be among the k least; infinite where any can. */
float ikt_select_limit(const ikt_select *s);

/* Keeps the `count` least, at least 1, and takes nothing above them from now on: for callers who
 * know from a sample of the values that more are not needed. What is kept in the end is then all
 * that is not above s->limit, and may be fewer than k. */
void ikt_select_tighten(ikt_select *s, int64_t count);

/* The k least, or all where fewer were offered, in no order: s->pair[s->count]. */
void ikt_select_end(ikt_select *s);

/* The greatest of some pairs; 0 where there are none. */
ikt_pair ikt_pairs_greatest(ikt_isa isa, const ikt_pair *pair, int64_t count);

/* Brings the k least of some distinct pairs to the front, in no order. */
void ikt_pairs_part(ikt_isa isa, ikt_pair *pair, int64_t count, int64_t k);

#endif
