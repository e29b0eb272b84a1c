/* The most similar of a few rows that every rank holds. */
#ifndef IKT_NEIGHBOURS_AMONG_H
#define IKT_NEIGHBOURS_AMONG_H

#include "neighbours/neighbours.h"

/* LOCAL. For each own row of the scorer the lists->k most similar of `few` rows.
 *   packed   the few rows, packed by a scorer of this kind
 *   lists    of scorer->map.count rows; receives numbers below `few` in place of global rows, by
 *            ascending (score, number). What they held before is forgotten.
 * Errors: IKT_ERR_RESOURCE. Cost: map.count * few scores over the threads. */
ikt_status ikt_neighbours_among(ikt_context *ctx, const ikt_scorer *scorer, const void *packed,
                                int64_t few, ikt_neighbours *lists);

#endif
