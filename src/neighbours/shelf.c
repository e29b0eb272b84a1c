/* Blocks of rows. See shelf.h. */
#include "neighbours/shelf.h"

#include "base/memory.h"
#include "neighbours/shelf_parts.h"

int64_t ikt_stretch_begin(const ikt_cells *cells, int64_t position) {
    int64_t begin = cells->first[ikt_cells_find(cells, position)];
    return begin + (position - begin) / IKT_SHELF_ROWS * IKT_SHELF_ROWS;
}

int64_t ikt_block_at(const ikt_cells *cells, const ikt_row_map *map, int64_t position,
                     int64_t *end) {
    int64_t cell = ikt_cells_find(cells, position), cell_end = cells->first[cell + 1];
    int owner = ikt_row_map_owner(map, position);
    int64_t own_low = ikt_row_map_first(map, owner), own_high = ikt_row_map_first(map, owner + 1);
    int64_t low =
        cells->first[cell] + (position - cells->first[cell]) / IKT_SHELF_ROWS * IKT_SHELF_ROWS;
    int64_t high = low + IKT_SHELF_ROWS < cell_end ? low + IKT_SHELF_ROWS : cell_end;
    *end = high < own_high ? high : own_high;
    return low > own_low ? low : own_low;
}

static int64_t count_blocks(const ikt_cells *cells, const ikt_row_map *map, int64_t *first) {
    int64_t blocks = 0, end = map->first;
    for (int64_t at = map->first; at < map->first + map->count; at = end, blocks++) {
        ikt_block_at(cells, map, at, &end);
        if (first) first[blocks] = at;
    }
    if (first) first[blocks] = map->first + map->count;
    return blocks;
}

ikt_status ikt_shelf_blocks(ikt_context *ctx, const ikt_cells *cells, ikt_shelf *shelf) {
    shelf->blocks = count_blocks(cells, &shelf->map, NULL);
    IKT_TRY(ikt_alloc(ctx, &shelf->first, shelf->blocks + 1, sizeof *shelf->first, "blocks"));
    IKT_TRY(ikt_alloc(ctx, &shelf->offset, shelf->blocks + 1, sizeof *shelf->offset, "blocks"));
    count_blocks(cells, &shelf->map, shelf->first);
    for (int64_t b = 0; b < shelf->blocks; b++)
        shelf->offset[b + 1] =
            shelf->offset[b] + shelf->bytes(shelf, shelf->first[b + 1] - shelf->first[b]);
    return IKT_OK;
}

void ikt_shelf_destroy(ikt_shelf *shelf) {
    ikt_free(&shelf->first);
    ikt_free(&shelf->offset);
    ikt_free(&shelf->owned);
    ikt_free(&shelf->space);
    shelf->data = NULL;
    shelf->blocks = 0;
}
