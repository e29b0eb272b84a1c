/* What a search in the Fisher metric among near cells has missed: neighbours of neighbours. */
#ifndef IKT_NEIGHBOURS_FISHER_REFINE_H
#define IKT_NEIGHBOURS_FISHER_REFINE_H

#include "dist/order.h"
#include "neighbours/fisher_search.h"

/* COLLECTIVE. One round: each row is compared with the IKT_REFINE_NEAR nearest neighbours of its
 * IKT_REFINE_NEAR nearest neighbours, as the lists were before the round, and keeps the k best of
 * both. (Dong, Moses, Li, WWW 2011, with a round for all rows at once, as in search.h.)
 *   rows     held by slots
 *   order    of rows and slots
 *   course   in round course->progress.round, which may have been begun: its lists, by slots, of
 *            numbers of rows, in any order, are improved in place, unsorted
 *   lengths  the pairs whose distance was computed on this rank are added to it
 * Errors: IKT_ERR_RESOURCE, IKT_STOPPED. Cost: at most IKT_REFINE_NEAR^2 bounds a row, and few
 * distances. */
ikt_status ikt_fisher_refine(ikt_context *ctx, const ikt_fisher_rows *rows, const ikt_order *order,
                             ikt_list_course *course, int64_t *lengths);

/* LOCAL, pure. Bytes that a round takes at most.
 *   n_local   of the rank that has the most */
int64_t ikt_fisher_refine_memory(int64_t n_local, int64_t k, int64_t lanes, int64_t wide, int64_t d,
                                 int ranks, int threads);

#endif
