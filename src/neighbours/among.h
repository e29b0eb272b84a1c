/* The most similar of a few rows that every rank holds. */
#ifndef IKT_NEIGHBOURS_AMONG_H
#define IKT_NEIGHBOURS_AMONG_H

#include "neighbours/neighbours.h"

/* LOCAL. For each own row of the scorer the lists->k most similar of `few` rows.
 *   packed   the few rows, packed by a scorer of this kind
 *   lists    of scorer->rows.count rows; receives numbers below `few` in place of global rows, by
 *            ascending (score, number). What they held before is forgotten.
 * Errors: IKT_ERR_RESOURCE. Cost: rows.count * few scores over the threads. */
ikt_status ikt_neighbours_among(ikt_context *ctx, const ikt_scorer *scorer, const void *packed,
                                int64_t few, ikt_neighbours *lists);

/* LOCAL. Offers a block of rows to lists that may hold some already: blocks in any order, and
 * ikt_neighbours_sort at the end, give the lists of all of them.
 *   packed   [few] rows with the numbers first .. first + few - 1
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_neighbours_offer_block(ikt_context *ctx, const ikt_scorer *scorer,
                                      const void *packed, int64_t first, int64_t few,
                                      ikt_neighbours *lists);

#endif
