/* Rows in tiles. See tiles.h. */
#include "neighbours/tiles.h"

#include <string.h>

#include "base/comm.h"
#include "base/memory.h"

int64_t ikt_stretch_begin(const ikt_cells *cells, int64_t slot) {
    const int64_t begin = cells->first[ikt_cells_find(cells, slot)];
    return begin + (slot - begin) / IKT_TILE_ROWS * IKT_TILE_ROWS;
}

int64_t ikt_tile_at(const ikt_cells *cells, const ikt_rows *rows, int64_t slot, int64_t *end) {
    const int64_t cell = ikt_cells_find(cells, slot);
    const int64_t begin = cells->first[cell], cell_end = cells->first[cell + 1];
    const int owner = ikt_rows_owner(rows, slot);
    const int64_t own_low = ikt_rows_first(rows, owner), own_high = ikt_rows_first(rows, owner + 1);
    const int64_t low = begin + (slot - begin) / IKT_TILE_ROWS * IKT_TILE_ROWS;
    const int64_t high = low + IKT_TILE_ROWS < cell_end ? low + IKT_TILE_ROWS : cell_end;
    *end = high < own_high ? high : own_high;
    return low > own_low ? low : own_low;
}

/* Lists the own tiles of slots that are scored by out->scorer. */
static ikt_status create(ikt_context *ctx, const ikt_cells *cells, ikt_tiles *out) {
    const ikt_scorer *scorer = &out->scorer;
    const int64_t end = scorer->rows.first + scorer->rows.count;
    for (int pass = 0; pass < 2; pass++) { /* counts, then writes */
        if (pass == 1)
            IKT_TRY(ikt_alloc(ctx, &out->first, out->count + 1, sizeof *out->first, "blocks"));
        out->count = 0;
        for (int64_t at = scorer->rows.first, next; at < end; at = next, out->count++) {
            ikt_tile_at(cells, &scorer->rows, at, &next);
            if (pass == 1) out->first[out->count] = at;
        }
    }
    out->first[out->count] = end;
    IKT_TRY(ikt_alloc(ctx, &out->offset, out->count + 1, sizeof *out->offset, "blocks"));
    for (int64_t t = 0; t < out->count; t++)
        out->offset[t + 1] =
            out->offset[t] + scorer->packed_bytes(scorer, out->first[t + 1] - out->first[t]);
    return IKT_OK;
}

ikt_status ikt_tiles_codes(ikt_context *ctx, const ikt_cells *cells, const ikt_rows *rows,
                           const ikt_codes *codes, ikt_tiles *out) {
    *out = (ikt_tiles){.scorer = ikt_scorer_codes(codes, rows), .data = codes->code};
    const ikt_status st = create(ctx, cells, out);
    if (st != IKT_OK) ikt_tiles_destroy(out);
    return st;
}

ikt_status ikt_tiles_data(ikt_context *ctx, const ikt_cells *cells, const ikt_order *order,
                          ikt_dataset *data, ikt_tiles *out) {
    const int64_t d = ikt_dataset_columns(data), row = d * (int64_t)sizeof(float);
    const ikt_rows *rows = &order->rows;
    float *x = NULL;
    *out = (ikt_tiles){.scorer = ikt_scorer_rows(ikt_metric_of(data), NULL, d, rows)};
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &x, rows->count * d, sizeof *x, "rows"));
    if (st == IKT_OK) st = ikt_scorer_read(ctx, data, rows, x);
    if (st == IKT_OK) st = ikt_order_apply(ctx, order, x, row, x, row, row);
    if (st == IKT_OK) {
        st = create(ctx, cells, out);
        if (st == IKT_OK) st = ikt_alloc(ctx, &out->owned, out->offset[out->count], 1, "rows");
        if (st == IKT_OK) st = ikt_alloc(ctx, &out->scratch, IKT_TILE_ROWS * row, 1, "rows");
        st = ikt_agree(ctx, st);
    }
    if (st == IKT_OK) {
#pragma omp parallel for schedule(dynamic, 16) num_threads(ikt_threads(ctx))
        for (int64_t t = 0; t < out->count; t++)
            out->scorer.pack(&out->scorer, x + (out->first[t] - rows->first) * d,
                             out->first[t + 1] - out->first[t],
                             (char *)out->owned + out->offset[t]);
        out->data = out->owned;
    }
    ikt_free(&x);
    if (st != IKT_OK) ikt_tiles_destroy(out);
    return st;
}

const char *ikt_tile_plain(const ikt_tiles *tiles, int64_t tile, void *scratch) {
    const ikt_scorer *scorer = &tiles->scorer;
    const char *packed = tiles->data + tiles->offset[tile];
    if (!scorer->unpack) return packed;
    scorer->unpack(scorer, packed, tiles->first[tile + 1] - tiles->first[tile], scratch);
    return scratch;
}

int64_t ikt_tiles_scratch_bytes(const ikt_tiles *tiles) {
    return tiles->scorer.unpack ? IKT_TILE_ROWS * tiles->scorer.row_bytes : 0;
}

/* Where the plain rows of a tile stand among all plain rows, and their bytes. */
static char *plain_place(const ikt_tiles *tiles, int64_t tile, int64_t *bytes) {
    const int64_t row = tiles->scorer.row_bytes;
    *bytes = (tiles->first[tile + 1] - tiles->first[tile]) * row;
    return (char *)tiles->owned + (tiles->first[tile] - tiles->scorer.rows.first) * row;
}

/* A packed tile is never shorter than its plain rows, so each can move to where its rows belong,
 * from the front; and back from the end. */
void ikt_tiles_flatten(ikt_tiles *tiles) {
    int64_t bytes;
    for (int64_t t = 0; tiles->scorer.unpack && t < tiles->count; t++) {
        ikt_tile_plain(tiles, t, tiles->scratch);
        char *to = plain_place(tiles, t, &bytes);
        memcpy(to, tiles->scratch, (size_t)bytes);
    }
}

void ikt_tiles_pack(ikt_tiles *tiles) {
    int64_t bytes;
    for (int64_t t = tiles->count - 1; tiles->scorer.pack && t >= 0; t--) {
        const char *from = plain_place(tiles, t, &bytes);
        memcpy(tiles->scratch, from, (size_t)bytes);
        tiles->scorer.pack(&tiles->scorer, tiles->scratch, tiles->first[t + 1] - tiles->first[t],
                           (char *)tiles->owned + tiles->offset[t]);
    }
}

void ikt_tiles_destroy(ikt_tiles *tiles) {
    ikt_free(&tiles->first);
    ikt_free(&tiles->offset);
    ikt_free(&tiles->owned);
    ikt_free(&tiles->scratch);
    tiles->data = NULL;
    tiles->count = 0;
}
