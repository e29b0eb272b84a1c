/* Fine cells: where each row lies among the centres of the Isolation kernel, and the search for
 * similar rows that this makes cheap.
 *
 * The fine cell of a row is that of its nearest centre, whatever the partitioning; fine cells are
 * numbered along coarse ones (isolation/near_centres.h). Rows are numbered by fine cell, so that
 * the rows of a fine cell have consecutive slots, and rows near each other have near ones.
 */
#ifndef IKT_NEIGHBOURS_FINE_H
#define IKT_NEIGHBOURS_FINE_H

#include "cells/cells.h"
#include "isolation/codes.h"
#include "neighbours/neighbours.h"
#include "neighbours/tiles.h"

typedef struct {
    int64_t cells;  /* fine ones */
    int64_t *first; /* [cells + 1] first slot of each; the same on all ranks */
    const uint32_t
        *list;    /* [n_local * near] fine cells near to each own row, nearest first; borrowed */
    int64_t near; /* entries of a row, at least 1 */
} ikt_fine_cells;

/* COLLECTIVE. Gives every row its slot: by fine cell, then by row.
 *   rows     of the rows
 *   places   of the own rows (isolation/codes.h); its lists are brought to the slots
 *   cells    receives the coarse cells by slots, without centres: for tiles. Free with
 *            ikt_cells_destroy
 *   order    receives the exchange that brings rows to their slots
 *   out      free with ikt_fine_cells_destroy; it borrows the lists of `places`
 * Errors: IKT_ERR_RESOURCE; all are empty then. Memory: 24 bytes a fine cell. */
ikt_status ikt_fine_cells_create(ikt_context *ctx, const ikt_rows *rows, ikt_code_places *places,
                                 ikt_cells *cells, ikt_order *order, ikt_fine_cells *out);
void ikt_fine_cells_destroy(ikt_fine_cells *fine);

/* COLLECTIVE. For every row the k most similar among about `candidates` rows: those of the fine
 * cells near to it, nearest first.
 *   tiles        the rows in the own slots, codes
 *   candidates   more than k
 *   course       in round 0: its lists, some of which may be done, receive slots, unsorted
 * Errors: IKT_ERR_RESOURCE, IKT_STOPPED. Cost: n_local candidates scores of single rows. */
ikt_status ikt_neighbours_fine(ikt_context *ctx, const ikt_fine_cells *fine, const ikt_tiles *tiles,
                               int64_t candidates, ikt_list_course *course);

/* LOCAL, pure. Most bytes that the search takes beside tiles, lists and fine cells; of fine cells.
 */
int64_t ikt_fine_search_memory(int64_t n_local, int64_t candidates, int64_t row_bytes, int ranks,
                               int threads);
int64_t ikt_fine_cells_memory(int64_t cells);

#endif
