/* The k best of many scores, kept in a buffer that is thinned out when it is full. */
#ifndef IKT_NEIGHBOURS_SELECT_H
#define IKT_NEIGHBOURS_SELECT_H

#include <stdint.h>

/* A pair (score, row) as one number whose order is that of the pairs; scores are not negative. */
typedef uint64_t ikt_pair;

enum { IKT_SELECT_ROOM = 4 }; /* times k: pairs that a buffer holds */

typedef struct {
    int64_t k, count;
    ikt_pair limit; /* pairs above it cannot be among the k best */
    ikt_pair *pair; /* [IKT_SELECT_ROOM * k], lent */
} ikt_select;

/* LOCAL. Empties the buffer. */
void ikt_select_begin(ikt_select *s, int64_t k, ikt_pair *pair);

/* LOCAL. Offers the scores of one row against the rows first .. first + nb - 1, but not itself.
 *   score   [nb rounded up to 16], entries from nb on may hold anything */
void ikt_select_offer(ikt_select *s, int64_t own, int64_t first, int64_t nb, const float *score);

/* LOCAL. The k best, in no order; where fewer were offered, the rest of the list stays untouched.
 */
void ikt_select_end(ikt_select *s, float *score, uint32_t *row);

#endif
