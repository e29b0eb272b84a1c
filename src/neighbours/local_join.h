/* A round in which the neighbours of each row are compared with each other.
 *
 * Method (the local join of NN-descent: Dong, Moses, Li, WWW 2011, sections 2.2 and 2.3): of each
 * row its near rows are set aside, half of them of its own list and half rows that have it in
 * theirs, the farthest first. The row and these are compared, all pairs of them, each for both
 * ends, but for pairs that were together in the join before. Rows of other ranks are fetched for a
 * batch of own rows, and what is found for them is sent to their owners. Lists are the best of what
 * they were and of all that is offered, so that no order matters.
 * Advantage: a row that is read once is compared with as many others as there are near rows, where
 * in a round over neighbours of neighbours (second_neighbours.h) it is compared with one; other
 * ranks are asked for near rows alone; and the more is found, the less is left to do.
 * Disadvantage: a pair is compared as often as both are near one row. */
#ifndef IKT_NEIGHBOURS_LOCAL_JOIN_H
#define IKT_NEIGHBOURS_LOCAL_JOIN_H

#include "neighbours/neighbours.h"
#include "neighbours/second_neighbours.h"
#include "neighbours/tiles.h"

/* LOCAL, pure. Whether it is quicker than a round over neighbours of neighbours: rows have a kernel
 * for all pairs (ikt_scorer), and lists of k are not much longer than what is set aside of them,
 * since most rows that are met again and again are known by that. */
static inline bool ikt_local_join_suits(bool has_pairs, int64_t k) {
    return has_pairs && k <= 2 * IKT_REFINE_NEAR;
}

/* COLLECTIVE. Improves lists of slots, for tiles whose scorer has score_pairs. Lists come out in no
 * order that is of use.
 *   tiles    whose packed rows are freed
 *   course   of the lists; rows that it says are through the round are left out
 * Errors: IKT_ERR_RESOURCE, IKT_STOPPED. */
ikt_status ikt_local_join(ikt_context *ctx, ikt_tiles *tiles, ikt_list_course *course);

/* LOCAL, pure. Most bytes that it takes, but for lists and tiles, and with what usually is found
 * for rows of others. */
int64_t ikt_local_join_memory(int64_t n_local, int64_t row_bytes, int64_t d, int ranks,
                              int threads);

#endif
