/* Blocks of rows. See tiles.h. */
#include "neighbours/tiles.h"

#include "base/memory.h"
#include "neighbours/tiles_parts.h"

int64_t ikt_stretch_begin(const ikt_cells *cells, int64_t position) {
    int64_t begin = cells->first[ikt_cells_find(cells, position)];
    return begin + (position - begin) / IKT_SHELF_ROWS * IKT_SHELF_ROWS;
}

int64_t ikt_block_at(const ikt_cells *cells, const ikt_rows *rows, int64_t position, int64_t *end) {
    int64_t cell = ikt_cells_find(cells, position), cell_end = cells->first[cell + 1];
    int owner = ikt_rows_owner(rows, position);
    int64_t own_low = ikt_rows_first(rows, owner), own_high = ikt_rows_first(rows, owner + 1);
    int64_t low =
        cells->first[cell] + (position - cells->first[cell]) / IKT_SHELF_ROWS * IKT_SHELF_ROWS;
    int64_t high = low + IKT_SHELF_ROWS < cell_end ? low + IKT_SHELF_ROWS : cell_end;
    *end = high < own_high ? high : own_high;
    return low > own_low ? low : own_low;
}

static int64_t count_blocks(const ikt_cells *cells, const ikt_rows *rows, int64_t *first) {
    int64_t blocks = 0, end = rows->first;
    for (int64_t at = rows->first; at < rows->first + rows->count; at = end, blocks++) {
        ikt_block_at(cells, rows, at, &end);
        if (first) first[blocks] = at;
    }
    if (first) first[blocks] = rows->first + rows->count;
    return blocks;
}

ikt_status ikt_tiles_blocks(ikt_context *ctx, const ikt_cells *cells, ikt_tiles *tiles) {
    tiles->blocks = count_blocks(cells, &tiles->rows, NULL);
    IKT_TRY(ikt_alloc(ctx, &tiles->first, tiles->blocks + 1, sizeof *tiles->first, "blocks"));
    IKT_TRY(ikt_alloc(ctx, &tiles->offset, tiles->blocks + 1, sizeof *tiles->offset, "blocks"));
    count_blocks(cells, &tiles->rows, tiles->first);
    for (int64_t b = 0; b < tiles->blocks; b++)
        tiles->offset[b + 1] =
            tiles->offset[b] + tiles->bytes(tiles, tiles->first[b + 1] - tiles->first[b]);
    return IKT_OK;
}

void ikt_tiles_destroy(ikt_tiles *tiles) {
    ikt_free(&tiles->first);
    ikt_free(&tiles->offset);
    ikt_free(&tiles->owned);
    ikt_free(&tiles->space);
    tiles->data = NULL;
    tiles->blocks = 0;
}
