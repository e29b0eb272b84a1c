/* Coordinates as blocks, packed for the distance kernel. */
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "linalg/blocks.h"
#include "linalg/distance.h"
#include "neighbours/tiles.h"
#include "neighbours/tiles_parts.h"

enum { READ_ROWS = 4096 };

static int64_t bytes(const void *self, int64_t count) {
    const ikt_tiles *tiles = self;
    return ikt_packed_floats(count, tiles->d) * (int64_t)sizeof(float);
}

/* The rows of a packed block side by side again. */
static const void *prepare(const void *self, const char *block, int64_t count, void *scratch) {
    const ikt_tiles *tiles = self;
    const float *packed = (const float *)(const void *)block;
    float *rows = scratch;
    for (int64_t i = 0; i < count; i++)
        for (int64_t c = 0; c < tiles->d; c++)
            rows[i * tiles->d + c] =
                packed[(i / IKT_PACK_ROWS * tiles->d + c) * IKT_PACK_ROWS + i % IKT_PACK_ROWS];
    return rows;
}

static void score(const void *self, const void *left, int64_t na, const char *block, int64_t nb,
                  float *out) {
    const ikt_tiles *tiles = self;
    ikt_distance_block(tiles->isa, left, na, (const float *)(const void *)block, nb, tiles->d, out);
}

/* A block is never shorter than its rows, so each can move to where its rows belong, from the
 * front; and back from the end. */
static void flatten(ikt_tiles *tiles) {
    char *data = tiles->owned;
    for (int64_t b = 0; b < tiles->blocks; b++) {
        int64_t count = tiles->first[b + 1] - tiles->first[b];
        prepare(tiles, data + tiles->offset[b], count, tiles->space);
        memcpy(data + (tiles->first[b] - tiles->rows.first) * tiles->left_bytes, tiles->space,
               (size_t)(count * tiles->left_bytes));
    }
}

static void pack(ikt_tiles *tiles) {
    char *data = tiles->owned;
    for (int64_t b = tiles->blocks - 1; b >= 0; b--) {
        int64_t count = tiles->first[b + 1] - tiles->first[b];
        memcpy(tiles->space, data + (tiles->first[b] - tiles->rows.first) * tiles->left_bytes,
               (size_t)(count * tiles->left_bytes));
        ikt_pack_rows((const float *)(const void *)tiles->space, count, tiles->d,
                      (float *)(void *)(data + tiles->offset[b]));
    }
}

enum { SOME = 64 }; /* rows gathered at a time; a multiple of IKT_PACK_ROWS */

/* Rows from anywhere, packed for the distance kernel. */
static void gather(const char *const *other, int64_t count, int64_t d, float *packed) {
    for (int64_t i = 0; i < count; i++) {
        const float *row = (const float *)(const void *)other[i];
        float *to = packed + i / IKT_PACK_ROWS * d * IKT_PACK_ROWS + i % IKT_PACK_ROWS;
        for (int64_t c = 0; c < d; c++)
            to[c * IKT_PACK_ROWS] = row[c];
    }
}

static void score_some(const ikt_tiles *tiles, const char *row, const char *const *other,
                       int64_t count, void *scratch, float *out) {
    float distance[SOME];
    for (int64_t done = 0; done < count; done += SOME) {
        int64_t now = count - done < SOME ? count - done : SOME;
        gather(other + done, now, tiles->d, scratch);
        ikt_distance_block(tiles->isa, (const float *)(const void *)row, 1, scratch, now, tiles->d,
                           distance);
        memcpy(out + done, distance, (size_t)now * sizeof *out);
    }
}

/* COLLECTIVE. */
static ikt_status read_rows(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows, float *x) {
    const ikt_row_range own = {rows->first, rows->count};
    const int64_t steps = ikt_stream_steps(ctx, own.count, READ_ROWS);
    for (int64_t step = 0; step < steps; step++) {
        ikt_row_range at = ikt_stream_step(own, READ_ROWS, step);
        IKT_TRY(ikt_dataset_read(data, at.first, at.count,
                                 x + (at.first - own.first) * ikt_dataset_columns(data)));
    }
    return IKT_OK;
}

static void pack_blocks(ikt_context *ctx, const ikt_tiles *tiles, const float *x) {
    char *data = tiles->owned;
#pragma omp parallel for schedule(dynamic, 16) num_threads(ikt_threads(ctx))
    for (int64_t b = 0; b < tiles->blocks; b++)
        ikt_pack_rows(x + (tiles->first[b] - tiles->rows.first) * tiles->d,
                      tiles->first[b + 1] - tiles->first[b], tiles->d,
                      (float *)(void *)(data + tiles->offset[b]));
}

ikt_status ikt_tiles_euclidean(ikt_context *ctx, const ikt_cells *cells, const ikt_order *order,
                               ikt_dataset *data, ikt_tiles *out) {
    const int64_t d = ikt_dataset_columns(data), row = d * (int64_t)sizeof(float);
    float *x = NULL;
    *out = (ikt_tiles){.rows = order->rows,
                       .isa = ikt_cpu_isa(),
                       .d = d,
                       .row_bytes = row,
                       .left_bytes = row,
                       .scratch_bytes = IKT_SHELF_ROWS * row,
                       .bytes = bytes,
                       .prepare = prepare,
                       .score = score,
                       .some_bytes = SOME * row,
                       .flatten = flatten,
                       .pack = pack,
                       .score_some = score_some};
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &x, order->rows.count * d, sizeof *x, "rows"));
    if (st == IKT_OK) st = read_rows(ctx, data, &order->rows, x);
    if (st == IKT_OK) st = ikt_order_apply(ctx, order, x, row, x, row, row);
    if (st == IKT_OK) {
        st = ikt_tiles_blocks(ctx, cells, out);
        if (st == IKT_OK) st = ikt_alloc(ctx, &out->owned, out->offset[out->blocks], 1, "rows");
        if (st == IKT_OK) st = ikt_alloc(ctx, &out->space, IKT_SHELF_ROWS * row, 1, "rows");
        st = ikt_agree(ctx, st);
    }
    if (st == IKT_OK) {
        pack_blocks(ctx, out, x);
        out->data = out->owned;
    }
    ikt_free(&x);
    if (st != IKT_OK) ikt_tiles_destroy(out);
    return st;
}
