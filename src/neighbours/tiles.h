/* The rows of this rank in tiles, the form in which a search among near cells scores them and sends
 * them to other ranks.
 *
 * A cell is cut into stretches of IKT_TILE_ROWS slots; what one rank owns of a stretch is a tile.
 * Every rank knows without asking which slots make a tile.
 */
#ifndef IKT_NEIGHBOURS_TILES_H
#define IKT_NEIGHBOURS_TILES_H

#include "base/sort.h"
#include "cells/cells.h"
#include "dist/order.h"
#include "neighbours/scorer.h"

enum { IKT_TILE_ROWS = 256 };

typedef struct {
    ikt_scorer scorer; /* how rows are compared; its rows are the slots */
    int64_t count;     /* tiles of this rank */
    int64_t *first;    /* [count + 1] first slot of each, and the end */
    int64_t *offset;   /* [count + 1] bytes into data */
    const char *data;  /* the packed tiles */
    void *owned;       /* memory behind `data` that belongs to the tiles, or NULL */
    char *scratch;     /* a plain tile, for flatten and pack; NULL for codes */
} ikt_tiles;

/* LOCAL. Where the stretch of the slot begins; it does not depend on the ranks. */
int64_t ikt_stretch_begin(const ikt_cells *cells, int64_t slot);

/* LOCAL. The tile that contains the slot, of whichever rank: its first slot, and its end in *end.
 */
int64_t ikt_tile_at(const ikt_cells *cells, const ikt_rows *rows, int64_t slot, int64_t *end);

/* LOCAL. Number of the own tile that contains an own slot. */
static inline int64_t ikt_tile_of(const ikt_tiles *tiles, int64_t slot) {
    return ikt_find_block(tiles->first, tiles->count, slot);
}

/* LOCAL. Bytes of an own tile. */
static inline int64_t ikt_tile_bytes(const ikt_tiles *tiles, int64_t tile) {
    return tiles->offset[tile + 1] - tiles->offset[tile];
}

/* LOCAL. The plain rows of an own tile; they are in `scratch` (ikt_tiles_scratch_bytes) where they
 * have to be unpacked. */
const char *ikt_tile_plain(const ikt_tiles *tiles, int64_t tile, void *scratch);
int64_t ikt_tiles_scratch_bytes(const ikt_tiles *tiles);

/* LOCAL. Lays the own rows side by side, plain, and packs them into tiles again. In between only
 * the scorer's `score_some` may be used, and row i begins at data + i * scorer.row_bytes. */
void ikt_tiles_flatten(ikt_tiles *tiles);
void ikt_tiles_pack(ikt_tiles *tiles);

/* LOCAL. Codes as tiles: scores are numbers of differing cells, t (1 - K). They are packed as they
 * are.
 *   rows    distribution of the slots
 *   codes   of the rows in the own slots; lent as long as the tiles live.
 * Errors: IKT_ERR_RESOURCE; empty then. */
ikt_status ikt_tiles_codes(ikt_context *ctx, const ikt_cells *cells, const ikt_rows *rows,
                           const ikt_codes *codes, ikt_tiles *out);

/* COLLECTIVE. Coordinates as tiles: scores are squared Euclidean distances of preprocessed rows.
 * Reads the own rows of `data` and brings them to their slots. 4 d bytes a row, twice that while
 * they are packed. Errors: IKT_ERR_RESOURCE, those of reading; empty then. */
ikt_status ikt_tiles_data(ikt_context *ctx, const ikt_cells *cells, const ikt_order *order,
                          ikt_dataset *data, ikt_tiles *out);

void ikt_tiles_destroy(ikt_tiles *tiles);

#endif
