/* Neighbour search that looks at near cells only. */
#ifndef IKT_NEIGHBOURS_SEARCH_H
#define IKT_NEIGHBOURS_SEARCH_H

#include "neighbours/cells.h"
#include "neighbours/neighbours.h"
#include "neighbours/tiles.h"

/* COLLECTIVE. For every row the k most similar among about `candidates` rows: those of its own cell
 * and of the cells whose centres are nearest to its cell's centre. The result does not depend on
 * ranks or threads; ties go to the lower slot.
 *   tiles        the rows in the own slots
 *   candidates   more than k; with candidates >= n every pair is looked at
 *   out          lists of slots, unsorted (ikt_neighbours_sort); empty on failure
 * Errors: IKT_ERR_RESOURCE. Cost: n_local candidates scores and count^2 / ranks distances of
 * centres with `count` cells. Memory beside the lists: tiles of other ranks, at most
 * ikt_search_memory. */
ikt_status ikt_neighbours_search(ikt_context *ctx, const ikt_cells *cells, const ikt_tiles *tiles,
                                 int64_t k, int64_t candidates, ikt_neighbours *out);

/* COLLECTIVE. The same into lists that are there, of which some may be done: round 0 of a course.
 * Errors: IKT_STOPPED as well. */
ikt_status ikt_neighbours_search_kept(ikt_context *ctx, const ikt_cells *cells,
                                      const ikt_tiles *tiles, int64_t candidates,
                                      ikt_list_course *course);

/* LOCAL. Most bytes that a search takes beside tiles and lists. */
int64_t ikt_search_memory(int64_t cells, int64_t candidates, int64_t row_bytes, int threads);

#endif
