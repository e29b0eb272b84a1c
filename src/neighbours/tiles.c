/* Rows in tiles. See tiles.h. */
#include "neighbours/tiles.h"

#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/timer.h"

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
    return IKT_OK;
}

ikt_status ikt_tiles_bare(ikt_context *ctx, const ikt_cells *cells, const ikt_rows *rows,
                          ikt_tiles *out) {
    *out = (ikt_tiles){.scorer = {.rows = *rows}};
    const ikt_status st = create(ctx, cells, out);
    if (st != IKT_OK) ikt_tiles_destroy(out);
    return st;
}

ikt_status ikt_tiles_codes(ikt_context *ctx, const ikt_cells *cells, const ikt_rows *rows,
                           const ikt_codes *codes, ikt_tiles *out) {
    *out = (ikt_tiles){.scorer = ikt_scorer_codes(codes, rows), .data = codes->code};
    const ikt_status st = create(ctx, cells, out);
    if (st != IKT_OK) ikt_tiles_destroy(out);
    return st;
}

int64_t ikt_tiles_packed_size(const ikt_tiles *tiles, int64_t count) {
    const ikt_scorer *scorer = &tiles->scorer;
    if (scorer->keeps_packed) return scorer->packed_bytes(scorer, count) / (int64_t)sizeof(int32_t);
    return ikt_quantised_size(scorer->d, count);
}

void ikt_tiles_pack(ikt_context *ctx, const ikt_tiles *tiles, const char *plain, int64_t count,
                    int32_t *packed) {
    const ikt_scorer *scorer = &tiles->scorer;
    if (scorer->keeps_packed)
        ikt_scorer_pack(ctx, scorer, plain, count, packed);
    else
        ikt_quantise_all(ctx, &tiles->quantiser, (const float *)(const void *)plain, count, packed);
}

/* LOCAL. The arrays of tiles of the same rows, held alike, serve once more. */
static void take_room(ikt_tiles *out, ikt_tiles *made) {
    const ikt_scorer *then = &out->scorer, *now = &made->scorer;
    if (then->rows.n == now->rows.n && then->row_bytes == now->row_bytes &&
        then->keeps_packed == now->keeps_packed) {
        made->owned = out->owned;
        made->packed = out->packed;
        out->owned = out->packed = NULL;
    }
    ikt_tiles_destroy(out);
}

/* COLLECTIVE. Room for plain rows. What decides whether there is some is the same on all ranks. */
static ikt_status make_room(ikt_context *ctx, ikt_tiles *out, ikt_tiles *made) {
    take_room(out, made);
    if (!made->owned)
        IKT_TRY(ikt_alloc_all(ctx, &made->owned, made->scorer.rows.count,
                              (size_t)made->scorer.row_bytes, "rows"));
    made->data = made->owned;
    return IKT_OK;
}

/* LOCAL. */
static ikt_status pack_own(ikt_context *ctx, ikt_tiles *out) {
    const int64_t own = out->scorer.rows.count;
    if (!out->packed)
        IKT_TRY(ikt_alloc(ctx, &out->packed, ikt_tiles_packed_size(out, own), sizeof *out->packed,
                          "quantised rows"));
    ikt_tiles_pack(ctx, out, out->data, own, out->packed);
    return IKT_OK;
}

/* COLLECTIVE. The rows of a data set in their slots. */
static ikt_status read_rows(ikt_context *ctx, const ikt_order *order, ikt_dataset *data,
                            ikt_tiles *out, ikt_tiles *made) {
    const int64_t row = made->scorer.row_bytes;
    IKT_TRY(make_room(ctx, out, made));
    IKT_TRY(made->scorer.widen ? ikt_scorer_read_halves(ctx, data, &order->rows, made->owned)
                               : ikt_scorer_read(ctx, data, &order->rows, made->owned));
    return ikt_order_apply(ctx, order, made->owned, row, made->owned, row, row);
}

ikt_status ikt_tiles_rows(ikt_context *ctx, const ikt_order *order, ikt_dataset *data, bool is_half,
                          ikt_tiles *out) {
    const ikt_metric *metric = ikt_metric_of(data);
    const int64_t d = ikt_dataset_columns(data);
    ikt_tiles made IKT_AT_END(ikt_tiles_destroy) = {
        .scorer = is_half ? ikt_scorer_halves(metric, NULL, d, &order->rows)
                          : ikt_scorer_rows(metric, NULL, d, &order->rows)};
    IKT_IN_STAGE(ctx, IKT_STAGE_READ);
    IKT_TRY(read_rows(ctx, order, data, out, &made));
    return ikt_give(out, made);
}

ikt_status ikt_tiles_data(ikt_context *ctx, const ikt_cells *cells, const ikt_order *order,
                          ikt_dataset *data, ikt_tiles *out) {
    const int64_t d = ikt_dataset_columns(data);
    ikt_tiles made IKT_AT_END(ikt_tiles_destroy) = {
        .scorer = ikt_scorer_rows(ikt_metric_of(data), NULL, d, &order->rows)};
    IKT_IN_STAGE(ctx, IKT_STAGE_READ);
    IKT_TRY(read_rows(ctx, order, data, out, &made));
    IKT_TRY(ikt_agree(ctx, create(ctx, cells, &made)));
    if (made.scorer.metric == &ikt_metric_euclidean)
        IKT_TRY(ikt_quantiser_create(ctx, &order->rows, made.owned, d, &made.quantiser));
    if (made.quantiser.unit > 0)
        IKT_TRY(ikt_agree(ctx, pack_own(ctx, &made)));
    else
        ikt_free(&made.packed);
    return ikt_give(out, made);
}

ikt_status ikt_tiles_bytes(ikt_context *ctx, const ikt_cells *cells, const ikt_order *order,
                           const ikt_byte_rows *bytes, int64_t d, ikt_tiles *out) {
    ikt_tiles made IKT_AT_END(ikt_tiles_destroy) = {.scorer =
                                                        ikt_scorer_bytes(NULL, d, &order->rows)};
    const int64_t row = made.scorer.row_bytes;
    IKT_IN_STAGE(ctx, IKT_STAGE_ORDER);
    take_room(out, &made);
    made.data = (const char *)bytes->word;
    IKT_TRY(ikt_order_apply(ctx, order, bytes->word, row, bytes->word, row, row));
    IKT_TRY(ikt_agree(ctx, create(ctx, cells, &made)));
    IKT_TRY(ikt_agree(ctx, pack_own(ctx, &made)));
    return ikt_give(out, made);
}

void ikt_tiles_destroy(ikt_tiles *tiles) {
    ikt_free_all(&tiles->first, &tiles->owned);
    ikt_quantiser_destroy(&tiles->quantiser);
    ikt_free(&tiles->packed);
    tiles->data = NULL;
    tiles->count = 0;
}
