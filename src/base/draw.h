/* Random subsets without replacement, as pure functions of a seed.
 *
 * Method: Floyd's algorithm (Bentley & Floyd, CACM 30(9), 1987). For j = n - count .. n - 1 draw r
 * uniformly from 0 .. j and take r, or j if r was taken before. Every subset is equally likely and
 * exactly `count` draws are made, for count = n as well. What is taken is kept in an
 * open-addressing table.
 */
#ifndef IKT_BASE_DRAW_H
#define IKT_BASE_DRAW_H

#include <stdint.h>

#include "base/rng.h"

/* LOCAL, pure. Slots that a table for `count` draws needs at least: a power of two. */
int64_t ikt_draw_slots(int64_t count);

/* LOCAL, from several threads with tables of their own. Draws `count` distinct numbers below n.
 *   seed, what, which   key the draws (rng.h)
 *   slot                [slots] work space; slots a power of two, at least ikt_draw_slots(count).
 *                       The result does not depend on it
 *   number              [count], receives them in ascending order */
void ikt_draw_subset(uint64_t seed, ikt_rng_purpose what, int64_t which, int64_t n, int64_t count,
                     int64_t *slot, int64_t slots, int64_t *number);

#endif
