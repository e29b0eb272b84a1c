/* The k least of many values, with what they belong to, kept in a buffer that is thinned out when
 * it is full. */
#ifndef IKT_BASE_SELECT_H
#define IKT_BASE_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"

/* A pair (value, number) as one integer whose order is that of the pairs: the value, mapped so that
 * its order is that of an unsigned integer, in the upper half. */
typedef uint64_t ikt_pair;

enum { IKT_SELECT_ROOM = 4 }; /* times k: pairs that a buffer holds */

typedef struct {
    int64_t k, count;
    ikt_pair limit; /* pairs above it cannot be among the k least */
    bool wide;      /* the processor compares sixteen values at once */
    ikt_pair *pair; /* [IKT_SELECT_ROOM * k], lent */
} ikt_select;

/* LOCAL, all of the following. Empties the buffer. */
void ikt_select_begin(ikt_select *s, ikt_isa isa, int64_t k, ikt_pair *pair);

/* Offers value[e] with the number first + e, 0 <= e < count, but not the number `except` (-1: all).
 *   value   [count rounded up to 16], entries from count on may hold anything */
void ikt_select_floats(ikt_select *s, int64_t except, int64_t first, int64_t count,
                       const float *value);
void ikt_select_ints(ikt_select *s, int64_t first, int64_t count, const int32_t *value);

/* Keeps the `count` least, at least 1, and takes nothing above them from now on: for callers who
 * know from a sample of the values that more are not needed. What is kept in the end is then all
 * that is not above s->limit, and may be fewer than k. */
void ikt_select_tighten(ikt_select *s, int64_t count);

/* The k least, or all where fewer were offered, in no order: s->pair[s->count]. */
void ikt_select_end(ikt_select *s);

/* Parts of a pair. */
ikt_pair ikt_pair_make(float value, uint32_t number);
float ikt_pair_value(ikt_pair pair);
static inline uint32_t ikt_pair_number(ikt_pair pair) {
    return (uint32_t)pair;
}

/* Sorts pairs, ascending. For some hundreds of them. */
void ikt_pairs_sort(ikt_pair *pair, int64_t count);

#endif
