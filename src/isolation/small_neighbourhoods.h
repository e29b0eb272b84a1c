/* Whether rows have small neighbourhoods, for which cells have to be small, too. */
#ifndef IKT_ISOLATION_SMALL_NEIGHBOURHOODS_H
#define IKT_ISOLATION_SMALL_NEIGHBOURHOODS_H

#include <stdint.h>

#include "data/dataset.h"

/* Rows beyond which psi is bounded by time, so that nothing follows from neighbourhoods. */
enum { IKT_NEIGHBOURHOODS_ROWS_MOST = 524288 };

/* COLLECTIVE. Rows that a cell should hold, as the distances of up to 256 rows to their nearest
 * rows tell.
 *   data        dense rows, 64 at least; fewer than 2^32
 *   cell_rows   receives 2 or 4 where neighbourhoods are small, otherwise 0: the usual size will
 *               do. The same on any number of ranks
 *   growth      receives the local dimension beyond the 8 nearest rows over that among them
 * Errors: IKT_ERR_RESOURCE; those of reading. Cost: 256 n d multiply-adds over the ranks, one pass
 * over the rows. */
ikt_status ikt_small_neighbourhoods_find(ikt_context *ctx, ikt_dataset *data, int64_t *cell_rows,
                                         double *growth);

#endif
