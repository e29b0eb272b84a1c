/* The candidates of a search among near cells: which slots each tile is scored against, and the
 * tiles of other ranks among them.
 */
#ifndef IKT_NEIGHBOURS_CANDIDATES_H
#define IKT_NEIGHBOURS_CANDIDATES_H

#include "neighbours/cells.h"
#include "neighbours/tiles.h"

/* A run of slots within one tile. */
typedef struct {
    uint32_t first, end;
} ikt_probe;

/* The probes of some own tiles, one after the other. */
typedef struct {
    int64_t first_tile, count; /* own tiles first_tile .. first_tile + count - 1 */
    int64_t capacity;          /* probes that each may have */
    int64_t *probes;           /* [count] probes of each */
    ikt_probe *probe;          /* [count * capacity], nearest cell first */
} ikt_probe_lists;

/* LOCAL. Chooses the probes of own tiles: their own cell's, then those of the nearest cells, until
 * they hold `candidates` rows; of the last cell, its first rows. Of an own cell larger than that
 * only the part around the tile is taken, so that equal rows in any number cost no more than
 * others. What is chosen depends on cells and slots alone.
 *   lists   first_tile and count are set and capacity is `candidates`; probes are received
 * Errors: IKT_ERR_RESOURCE. Cost: a distance to every centre for every tile. */
ikt_status ikt_probe_choose(ikt_context *ctx, const ikt_cells *cells, const ikt_tiles *tiles,
                            int64_t candidates, ikt_probe_lists *lists);

/* LOCAL. Bytes that choosing takes. */
int64_t ikt_probe_memory(int64_t cells, int threads);

/* Tiles of other ranks. */
typedef struct {
    int64_t count;
    uint32_t *first; /* [count] their first slots, ascending */
    int64_t *offset; /* [count + 1] bytes into data */
    char *data;      /* the packed tiles */
} ikt_foreign;

/* COLLECTIVE. Fetches every tile of another rank that is among the probes, once each: the first
 * slots, sorted, go to the ranks that own them, which send the tiles back in the same order; sizes
 * follow from the slots. Advantage: two exchanges, whatever is wanted. Disadvantage: what is wanted
 * again in the next batch travels again.
 * Errors: IKT_ERR_RESOURCE; empty then. */
ikt_status ikt_foreign_fetch(ikt_context *ctx, const ikt_cells *cells, const ikt_tiles *tiles,
                             const ikt_probe_lists *lists, ikt_foreign *out);
void ikt_foreign_destroy(ikt_foreign *foreign);

/* LOCAL. The packed tile that begins at the slot, own or fetched. */
const char *ikt_foreign_tile(const ikt_tiles *tiles, const ikt_foreign *foreign, int64_t slot);

#endif
