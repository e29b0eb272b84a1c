/* Rows that have a row among their nearest.
 *
 * Being near is not mutual: a row at the edge of a cluster, or one whose search was cut short, is
 * in few lists of others, and its own list leads to few of those that it is in. A round over
 * neighbours of neighbours (second_neighbours.h) that follows both kinds finds most of what one
 * that follows lists alone never comes to (Dong, Moses, Li, WWW 2011, section 2.3).
 */
#ifndef IKT_NEIGHBOURS_REVERSE_NEIGHBOURS_H
#define IKT_NEIGHBOURS_REVERSE_NEIGHBOURS_H

#include <stdbool.h>

#include "neighbours/neighbours.h"

/* COLLECTIVE. Of what is set aside for a round, the last ones make room for rows that have this
 * row: as many as there are up to half, but none that is in the row's own first half, and none
 * twice. Which ones: those that have it in their first half, the best by (score, slot); or, where
 * is_far_first, those that have it anywhere, the farthest, ties to the lower slot. The latter is
 * for a local join (local_join.h), where a row that is in few lists is met nowhere else.
 *   lists     of the own slots, sorted: their scores are those of what is set aside
 *   near      entries that are set aside of each list
 *   nearest   [n_local * near] slots, changed in place; the entries of lists themselves may be
 *             numbers of rows
 * Errors: IKT_ERR_RESOURCE. The same on any ranks and threads. */
ikt_status ikt_reverse_neighbours_add(ikt_context *ctx, const ikt_rows *rows,
                                      const ikt_neighbours *lists, int64_t near, bool is_far_first,
                                      uint32_t *nearest);

/* LOCAL, pure. Most bytes that it takes meanwhile. */
int64_t ikt_reverse_neighbours_memory(int64_t n_local, int64_t near, int ranks);

#endif
