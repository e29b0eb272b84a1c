/* From data to positions: the coarse cells, and the rows brought into their order. */
#ifndef IKT_PIPELINE_ROWS_ORDER_H
#define IKT_PIPELINE_ROWS_ORDER_H

#include "data/dataset.h"
#include "dist/order.h"
#include "neighbours/cells.h"

/* COLLECTIVE. Draws the centres of the coarse cells, finds the cell of every row and plans the
 * exchange that orders rows by cell.
 *   map   of the rows
 * Errors: IKT_ERR_RESOURCE, those of reading; both empty then. */
ikt_status ikt_rows_order(ikt_context *ctx, ikt_dataset *data, const ikt_row_map *map,
                          uint64_t seed, ikt_cells *cells, ikt_order *order);

#endif
