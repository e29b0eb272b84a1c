/* The rows of this rank in tiles, as a search among near cells compares them and sends them to
 * other ranks.
 *
 * A cell is cut into stretches of IKT_TILE_ROWS slots; what one rank owns of a stretch is a tile.
 * Every rank knows without asking which slots make a tile.
 */
#ifndef IKT_NEIGHBOURS_TILES_H
#define IKT_NEIGHBOURS_TILES_H

#include "base/sort.h"
#include "cells/cells.h"
#include "dist/order.h"
#include "metric/near_bytes.h"
#include "metric/quantise.h"
#include "neighbours/scorer.h"

enum { IKT_TILE_ROWS = 256 };

typedef struct {
    ikt_scorer scorer; /* how rows are compared; its rows are the slots */
    int64_t count;     /* tiles of this rank */
    int64_t *first;    /* [count + 1] first slot of each, and the end */
    const char *data;  /* the own rows, plain, by slots */
    void *owned;       /* memory behind `data` that belongs to the tiles, or NULL */
    /* What a filter of candidates works on (metric/quantise.h); the unit is 0 where there is none.
     */
    ikt_quantiser quantiser;
    int32_t *packed; /* the own rows, packed for the filter, or for a scorer that keeps them so;
                        NULL where neither does */
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

/* LOCAL. The plain rows of an own tile. */
static inline const char *ikt_tile_plain(const ikt_tiles *tiles, int64_t tile) {
    return tiles->data + (tiles->first[tile] - tiles->scorer.rows.first) * tiles->scorer.row_bytes;
}

/* LOCAL. Tiles of slots whose rows are held elsewhere: `scorer` has their distribution and nothing
 * else. Errors: IKT_ERR_RESOURCE; empty then. */
ikt_status ikt_tiles_bare(ikt_context *ctx, const ikt_cells *cells, const ikt_rows *rows,
                          ikt_tiles *out);

/* LOCAL. Codes as tiles: scores are numbers of differing cells, t (1 - K).
 *   rows    distribution of the slots
 *   codes   of the rows in the own slots; borrowed as long as the tiles live.
 * Errors: IKT_ERR_RESOURCE; empty then. */
ikt_status ikt_tiles_codes(ikt_context *ctx, const ikt_cells *cells, const ikt_rows *rows,
                           const ikt_codes *codes, ikt_tiles *out);

/* COLLECTIVE. Coordinates as tiles: scores are distances of preprocessed rows. Reads the own rows
 * of `data`, brings them to their slots and, where the metric is the Euclidean one, quantises them:
 * 4 d bytes a row, and 2 d + 6. It is timed as reading.
 *   out   empty, or tiles of before: if they hold the same rows alike, their memory serves again,
 *         and the system need not clear it in every pass
 * Errors: IKT_ERR_RESOURCE, those of reading; empty then. */
ikt_status ikt_tiles_data(ikt_context *ctx, const ikt_cells *cells, const ikt_order *order,
                          ikt_dataset *data, ikt_tiles *out);

/* COLLECTIVE. The same rows in their slots, to be scored one by one (ikt_scorer): there are no
 * tiles, and nothing is packed.
 *   is_half   they are held in half precision, which has all of their numbers: 2 d bytes a row
 *   out       empty
 * Errors: IKT_ERR_RESOURCE, those of reading; empty then. */
ikt_status ikt_tiles_rows(ikt_context *ctx, const ikt_order *order, ikt_dataset *data, bool is_half,
                          ikt_tiles *out);

/* COLLECTIVE. Rows as bytes as tiles (ikt_scorer_bytes), plain and packed: the packed ones are a
 * copy, d bytes a row; the plain ones are those of `bytes`, which are brought to their slots there,
 * and are borrowed. ikt_order_restore brings them back.
 *   bytes   the own rows in the order of rows
 *   d       columns
 *   out     as in ikt_tiles_data
 * Errors: IKT_ERR_RESOURCE; empty then. */
ikt_status ikt_tiles_bytes(ikt_context *ctx, const ikt_cells *cells, const ikt_order *order,
                           const ikt_byte_rows *bytes, int64_t d, ikt_tiles *out);

void ikt_tiles_destroy(ikt_tiles *tiles);

/* LOCAL, pure. Integers that `count` rows take packed, where tiles->packed is there. */
int64_t ikt_tiles_packed_size(const ikt_tiles *tiles, int64_t count);

/* LOCAL. Packs plain rows, by all threads.
 *   packed   [ikt_tiles_packed_size(tiles, count)] */
void ikt_tiles_pack(ikt_context *ctx, const ikt_tiles *tiles, const char *plain, int64_t count,
                    int32_t *packed);

#endif
