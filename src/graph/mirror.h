/* Entries of the own rows that lead to own rows, transposed and joined with the entries that the
 * rows have: what graph/transpose.h is for entries that lead to other ranks. */
#ifndef IKT_GRAPH_MIRROR_H
#define IKT_GRAPH_MIRROR_H

#include "graph/graph.h"

/* LOCAL, pure. What an entry that has a mirror image becomes.
 *   own    its value
 *   from   the value of its mirror image, before or after that has become what it becomes */
typedef float ikt_mirror_meet(const void *self, float own, float from);

/* LOCAL. Meets all pairs of entries between own rows, and collects those without a mirror image as
 * entries of the rows that they lead to.
 *   rows     sorted; values change
 *   single   entries without a mirror image, ascending by column in each row. Before: only `start`,
 *            [n_local + 1], start[0] is 0 and start[i + 1] the number of entries of row i for which
 *            there shall be room behind these. Afterwards: all of it, `start` as that of any rows
 *   next     [n_local] receives where that room begins
 * Errors: IKT_ERR_RESOURCE; free `single` in any case. Memory beside `single`: about a sixteenth of
 * it, so that it seldom grows; 4 bytes a row; 8 for each of 2^21 entries, or of the 16th part of
 * them, or of the longest column; 8 for each row of a piece and thread. Cost: entries are read
 * twice and written once, and rows looked at once for each of up to 16 pieces. */
ikt_status ikt_mirror_join(ikt_context *ctx, const ikt_rows *distribution, const ikt_directed *rows,
                           ikt_mirror_meet *meet, const void *self, ikt_directed *single,
                           int64_t *next);

#endif
