/* The cell of every row: a nearest centre, found from the top of a pyramid.
 *
 * Method: centres stand in an order in which near ones are near (cells.h). The means of 16
 * consecutive ones make a level above them, and so on up to some 64 means. A row is compared with
 * those of the top, then with the 16 below each of the best few, level by level down to the
 * centres. Advantage: about 250 distances a row at a million rows, and log(cells) more, where all
 * centres would be 16,384. Disadvantage: the centre found is near but not always the nearest: right
 * for cells that give candidates and an order, not for those of the Isolation kernel.
 */
#ifndef IKT_NEIGHBOURS_NEAREST_CELL_H
#define IKT_NEIGHBOURS_NEAREST_CELL_H

#include <stdint.h>

#include "base/status.h"
#include "data/dataset.h"
#include "dist/rows.h"

/* COLLECTIVE. Reads the own rows and finds their cells: a function of row and centres alone; ties
 * go to the lower cell.
 *   centre   [count * d] in their order, packed by ikt_pack_rows
 *   cell     [rows->count], receives numbers below count
 * Errors: IKT_ERR_RESOURCE, those of reading. */
ikt_status ikt_nearest_cells(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows,
                             const float *centre, int64_t count, uint16_t *cell);

/* LOCAL, pure. Centres and means that a row is compared with, at most. */
int64_t ikt_nearest_cell_compared(int64_t count);

#endif
