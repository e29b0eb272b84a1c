/* Which blocks of rows a block is scored against. */
#ifndef IKT_NEIGHBOURS_PROBE_H
#define IKT_NEIGHBOURS_PROBE_H

#include "neighbours/cells.h"
#include "neighbours/tiles.h"

/* A run of positions within one block. */
typedef struct {
    uint32_t first, end;
} ikt_probe;

/* The probes of a run of own blocks. */
typedef struct {
    int64_t first_block, count; /* own blocks first_block .. first_block + count - 1 */
    int64_t room;               /* probes that each may have */
    int64_t *probes;            /* [count] probes of each */
    ikt_probe *probe;           /* [count * room], nearest cell first */
} ikt_probe_lists;

/* LOCAL. Chooses the probes of own blocks: their own cell's, then those of the nearest cells, until
 * they hold `candidates` rows; of the last cell, its first rows. Of an own cell larger than that
 * only the part around the block is taken, so that equal rows in any number cost no more than
 * others. What is chosen depends on cells and positions alone.
 *   lists   first_block and count are set and room is `candidates`; probes are received
 * Errors: IKT_ERR_RESOURCE. Cost: a distance to every centre for every block. */
ikt_status ikt_probe_choose(ikt_context *ctx, const ikt_cells *cells, const ikt_tiles *tiles,
                            int64_t candidates, ikt_probe_lists *lists);

/* LOCAL. Bytes that choosing takes. */
int64_t ikt_probe_memory(int64_t cells, int threads);

#endif
