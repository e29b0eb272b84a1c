/* From data to positions: the coarse cells, and the rows brought into their order. */
#ifndef IKT_NEIGHBOURS_ROWS_ORDER_H
#define IKT_NEIGHBOURS_ROWS_ORDER_H

#include "data/dataset.h"
#include "dist/order.h"
#include "isolation/model.h"
#include "neighbours/cells.h"

/* COLLECTIVE. Plans the exchange that orders rows by cell.
 *   rows     of the rows
 *   model   whose coarse partition gives the cells
 *   cell    [rows->count] coarse cell of each own row, or NULL where they are to be found
 * Errors: IKT_ERR_RESOURCE, those of reading; both empty then. */
ikt_status ikt_rows_order(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows,
                          const ikt_model *model, const uint16_t *cell, ikt_cells *cells,
                          ikt_order *order);

#endif
