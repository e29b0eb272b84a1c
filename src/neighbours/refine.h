/* Neighbours of neighbours: what a search among cells has missed. */
#ifndef IKT_NEIGHBOURS_REFINE_H
#define IKT_NEIGHBOURS_REFINE_H

#include "neighbours/neighbours.h"
#include "neighbours/tiles.h"

/* COLLECTIVE. One round: each row is scored against the nearest neighbours of its nearest
 * neighbours, as the lists were before the round, and keeps the k best of both. The result does not
 * depend on ranks or threads. (Dong, Moses, Li, WWW 2011, with a round for all rows at once.)
 *   tiles   the rows in the own slots; the same again afterwards
 *   lists   of a search on these tiles, in any order; improved in place, unsorted
 * Errors: IKT_ERR_RESOURCE; the lists are valid but not all improved then. Cost: at most
 * IKT_REFINE_NEAR^2 scores a row. Memory: 4 IKT_REFINE_NEAR bytes a row, and rows and numbers of
 * other ranks of a batch, at most ikt_refine_memory. */
ikt_status ikt_neighbours_refine(ikt_context *ctx, ikt_tiles *tiles, ikt_neighbours *lists);

/* COLLECTIVE. The same on the lists of a course, round course->progress.round of it, which may have
 * been begun. Errors: IKT_STOPPED as well. */
ikt_status ikt_neighbours_refine_kept(ikt_context *ctx, ikt_tiles *tiles, ikt_list_course *course);

/* Nearest neighbours that are followed, and theirs that are looked at. */
enum { IKT_REFINE_NEAR = 16 };

/* LOCAL, pure. Most bytes that a round takes. */
int64_t ikt_refine_memory(int64_t n_local, int64_t k, int64_t row_bytes, int ranks, int threads);

#endif
