/* What the kinds of tiles share. */
#ifndef IKT_NEIGHBOURS_TILES_PARTS_H
#define IKT_NEIGHBOURS_TILES_PARTS_H

#include "neighbours/tiles.h"

/* LOCAL. Lists the own blocks of a tiles whose map and `bytes` are set. Errors: IKT_ERR_RESOURCE.
 */
ikt_status ikt_tiles_blocks(ikt_context *ctx, const ikt_cells *cells, ikt_tiles *tiles);

#endif
