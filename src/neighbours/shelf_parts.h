/* What the kinds of shelves share. */
#ifndef IKT_NEIGHBOURS_SHELF_PARTS_H
#define IKT_NEIGHBOURS_SHELF_PARTS_H

#include "neighbours/shelf.h"

/* LOCAL. Lists the own blocks of a shelf whose map and `bytes` are set. Errors: IKT_ERR_RESOURCE.
 */
ikt_status ikt_shelf_blocks(ikt_context *ctx, const ikt_cells *cells, ikt_shelf *shelf);

#endif
