/* The nearest rows of a few rows, the queries, which every rank holds.
 *
 * Method: each rank compares all queries with its own rows and keeps the k best of each; the
 * queries are dealt to the ranks, and the lists of all ranks are joined where their query belongs.
 * Advantage: exact and the same whatever the ranks, queries travel once, and no rank holds lists of
 * all ranks. Disadvantage: every rank holds all queries: for some thousands.
 */
#ifndef IKT_NEIGHBOURS_QUERY_H
#define IKT_NEIGHBOURS_QUERY_H

#include "neighbours/neighbours.h"

/* COLLECTIVE. Joins the lists of queries among the rows of each rank to those among all rows.
 *   lists    of all queries, in any order within a list, the same k on all ranks; the first
 *            counts[rank] receive the joined lists of this rank's queries, ascending
 *   counts   [ranks] how many of the queries are dealt to each rank, side by side in their order
 * Errors: IKT_ERR_RESOURCE. Memory: 8 k bytes for each rank and own query. */
ikt_status ikt_query_join(ikt_context *ctx, ikt_neighbours *lists, const int64_t *counts);

#endif
