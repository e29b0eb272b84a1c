/* Searches by distance among near cells that follow each other, each with cells of its own.
 *
 * Method: each pass draws other rows as the centres of its cells, brings the rows into the order of
 * these, and searches (search.h); the lists of all passes are joined. The cells of the first draw
 * are those of the last pass, whose slots are the run's; so a search of one pass is the plain one.
 * Advantage: in many columns a row has near neighbours in many directions, and cells cut some of
 * them off, wherever they lie; those that two passes miss are hardly the same, so that the share
 * that is missed falls with every pass, where more candidates of one find ever less (as with the
 * trees of Dasgupta and Freund, STOC 2008, of which several are joined).
 * Disadvantage: the rows are read and brought into order once a pass (as bytes there and back), and
 * once more where a run goes on that was stopped within it.
 */
#ifndef IKT_NEIGHBOURS_PASSES_H
#define IKT_NEIGHBOURS_PASSES_H

#include "cells/cells.h"
#include "data/dataset.h"
#include "neighbours/neighbours.h"
#include "neighbours/tiles.h"

/* What is searched; all of it is borrowed. */
typedef struct {
    ikt_dataset *data;
    const ikt_rows *rows;       /* of the data */
    uint64_t seed;              /* of the cells */
    const ikt_byte_rows *bytes; /* rows are compared as these, and moved while they are; NULL: as
                                   they are */
} ikt_pass_rows;

/* COLLECTIVE. The cells of a draw, and the order of the rows by them.
 *   draw    0: of the last pass
 *   cells   free with ikt_cells_destroy
 *   order   free with ikt_order_destroy
 * Errors: IKT_ERR_RESOURCE, those of reading; both are empty then. */
ikt_status ikt_pass_order(ikt_context *ctx, const ikt_pass_rows *rows, int64_t draw,
                          ikt_cells *cells, ikt_order *order);

/* COLLECTIVE. The rows as tiles, as they are compared.
 *   out   empty, or tiles of the same rows, whose memory serves again
 * Errors: IKT_ERR_RESOURCE, those of reading; empty then. */
ikt_status ikt_pass_tiles(ikt_context *ctx, const ikt_pass_rows *rows, const ikt_cells *cells,
                          const ikt_order *order, ikt_tiles *out);

/* COLLECTIVE. A pass before the last one: the k best of the lists and of what it finds.
 *   order        whose slots the lists are of
 *   candidates   of each row, more than k
 *   tiles        empty, or those of the pass before, whose memory serves again; free it after all
 *   course       its round is the pass, from 0 on; its lists are improved in place, at the end of
 *                the pass and before a checkpoint within it; what it notes as done are slots of the
 *                pass
 * Errors: IKT_ERR_RESOURCE, IKT_STOPPED, those of reading. Memory: the tiles, which stay; cells,
 * order and lists of its own. */
ikt_status ikt_pass_search(ikt_context *ctx, const ikt_pass_rows *rows, const ikt_order *order,
                           int64_t candidates, ikt_tiles *tiles, ikt_list_course *course);

#endif
