/* The order of points along the Z-curve, and the points in it as bytes.
 *
 * Method: the curve is cut into 65,536 tiles, whose counts all ranks know; each rank takes a run of
 * tiles with about as many points as the others, receives the codes of them, sorts them by a radix
 * sort of bytes, and answers with places. Codes come in the order of their rows, so a stable sort
 * breaks ties by row without knowing it.
 * Advantage: linear, two exchanges, and the same order on any number of ranks. Disadvantage: a tile
 * is never divided, so points that are all in one tile are sorted by one rank. */
#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "dist/shuffle.h"
#include "viewer/parts.h"

enum { TILE_BITS = 16, TILES = 1 << TILE_BITS, CODE_BITS = 2 * IKT_CURVE_BITS, BYTES = 256 };

static const char purpose[] = "points of the page";

ikt_status ikt_curve_fit(ikt_context *ctx, const ikt_rows *rows, int q, const float *y,
                         ikt_curve_box *box) {
    double limits[6] = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
    double middle[3] = {0, 0, 0};
    ikt_status st = IKT_OK;
    *box = (ikt_curve_box){{0, 0, 0}, 0};
    for (int64_t e = 0; e < rows->count * q && st == IKT_OK; e++) {
        const double at = (double)y[e];
        limits[e % q] = fmin(limits[e % q], at);
        limits[3 + e % q] = fmin(limits[3 + e % q], -at);
        if (!isfinite(at))
            st = ikt_fail(ctx, IKT_ERR_DATA,
                          "the embedding has a coordinate that is not finite in row %lld (%g), so "
                          "it cannot be drawn; run it again with a smaller learning rate",
                          (long long)(rows->first + e / q), at);
    }
    IKT_TRY(ikt_agree(ctx, st));
    ikt_min_f64(ctx, limits, 6);
    for (int axis = 0; axis < q && rows->n > 0; axis++) {
        middle[axis] = 0.5 * (limits[axis] - limits[3 + axis]);
        box->side = fmax(box->side, -limits[3 + axis] - limits[axis]);
    }
    if (box->side <= 0) box->side = 2;
    for (int axis = 0; axis < 3; axis++)
        box->corner[axis] = middle[axis] - 0.5 * box->side;
    return IKT_OK;
}

uint32_t ikt_curve_step(const ikt_curve_box *box, int axis, double coordinate) {
    const double most = (1 << IKT_CURVE_BITS) - 1;
    double at = floor((coordinate - box->corner[axis]) / box->side * (1 << IKT_CURVE_BITS));
    return (uint32_t)(at < 0 ? 0 : at > most ? most : at);
}

/* Bit b of the value to bit 2 b. */
static uint64_t spread(uint64_t value) {
    value = (value | value << 16) & 0x0000ffff0000ffffu;
    value = (value | value << 8) & 0x00ff00ff00ff00ffu;
    value = (value | value << 4) & 0x0f0f0f0f0f0f0f0fu;
    value = (value | value << 2) & 0x3333333333333333u;
    return (value | value << 1) & 0x5555555555555555u;
}

uint64_t ikt_curve_code(uint32_t x, uint32_t y) {
    return spread(x) | spread(y) << 1;
}

/* Numbers to sums of all before them. */
static void sum_before(int64_t *value, int64_t count) {
    int64_t sum = 0;
    for (int64_t b = 0; b < count; b++) {
        const int64_t own = value[b];
        value[b] = sum;
        sum += own;
    }
}

/* Sorts item[count] by the lowest 8 * digits bits of key[item]; equal keys keep their order.
 *   work   [count] */
static void sort_by_key(const uint64_t *key, int64_t count, int digits, uint32_t *item,
                        uint32_t *work) {
    uint32_t *from = item, *to = work;
    for (int shift = 0; shift < 8 * digits; shift += 8) {
        int64_t place[BYTES] = {0};
        for (int64_t i = 0; i < count; i++)
            place[key[i] >> shift & (BYTES - 1)]++;
        sum_before(place, BYTES);
        for (int64_t i = 0; i < count; i++)
            to[place[key[from[i]] >> shift & (BYTES - 1)]++] = from[i];
        uint32_t *other = from;
        from = to;
        to = other;
    }
    if (from != item) memcpy(item, from, (size_t)count * sizeof *item);
}

/* The rank that would own the first point of the code's tile if points were rows.
 *   tile   [TILES] points before each, over all ranks */
static int owner_of(const ikt_rows *rows, const int64_t *tile, uint64_t code) {
    return ikt_rows_owner(rows, tile[code >> (CODE_BITS - TILE_BITS)]);
}

ikt_status ikt_curve_places(ikt_context *ctx, const ikt_rows *rows, const uint64_t *code,
                            uint32_t *place) {
    const int64_t count = rows->count;
    ikt_shuffle shuffle IKT_AT_END(ikt_shuffle_destroy) = {0};
    IKT_ARRAYS(held, ctx, purpose);
    int64_t *tile = ikt_claim(&held, TILES, sizeof *tile);
    if (held.status == IKT_OK) held.status = ikt_shuffle_create(ctx, purpose, &shuffle);
    uint32_t *slot = ikt_claim(&held, count, sizeof *slot); /* of a row's code among those sent */
    uint64_t *sent = ikt_claim(&held, count, sizeof *sent); /* codes by owner */
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t i = 0; i < count; i++)
        tile[code[i] >> (CODE_BITS - TILE_BITS)]++;
    ikt_sum_i64(ctx, tile, TILES);
    sum_before(tile, TILES);
    for (int64_t i = 0; i < count; i++)
        ikt_shuffle_count(&shuffle, owner_of(rows, tile, code[i]));
    ikt_shuffle_group(ctx, &shuffle);
    for (int64_t i = 0; i < count; i++) {
        slot[i] = (uint32_t)ikt_shuffle_next(&shuffle, owner_of(rows, tile, code[i]));
        sent[slot[i]] = code[i];
    }
    ikt_shuffle_meet(ctx, &shuffle);
    const int64_t coming = shuffle.received;
    uint64_t *received = ikt_claim(&held, coming, sizeof *received); /* of this rank's tiles */
    uint32_t *item = ikt_claim(&held, coming, sizeof *item);
    uint32_t *found = ikt_claim(&held, coming, sizeof *found); /* their places */
    uint32_t *answer = ikt_claim(&held, count, sizeof *answer);
    IKT_TRY(ikt_arrays_agree(&held));
    ikt_shuffle_send(ctx, &shuffle, sent, received, sizeof *received);
    for (int64_t i = 0; i < coming; i++)
        item[i] = (uint32_t)i;
    sort_by_key(received, coming, CODE_BITS / 8, item, found);
    const int64_t first = ikt_sum_before(ctx, coming);
    for (int64_t k = 0; k < coming; k++)
        found[item[k]] = (uint32_t)(first + k);
    ikt_shuffle_answer(ctx, &shuffle, found, answer, sizeof *answer);
    for (int64_t i = 0; i < count; i++)
        place[i] = answer[slot[i]];
    return IKT_OK;
}

/* COLLECTIVE. The rows of this rank (own, from 0) in the order of their places (ordered). */
static ikt_status curve_order(ikt_context *ctx, const ikt_rows *rows, const uint64_t *code,
                              uint32_t *own, uint32_t *ordered) {
    IKT_ARRAYS(held, ctx, purpose);
    uint32_t *place = ikt_claim(&held, rows->count, sizeof *place);
    uint64_t *key = ikt_claim(&held, rows->count, sizeof *key);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_curve_places(ctx, rows, code, place));
    for (int64_t i = 0; i < rows->count; i++) {
        own[i] = (uint32_t)i;
        key[i] = place[i];
    }
    sort_by_key(key, rows->count, (int)sizeof *place, own, ordered);
    for (int64_t i = 0; i < rows->count; i++)
        ordered[i] = place[own[i]];
    return IKT_OK;
}

/* --- the points of a map as bytes ------------------------------------------------------------- */

enum { CODE_BYTES = 6, HALF_BYTES = 3, ROW_BYTES = 4, Z_BYTES = 3 };

/* A map in one dimension is a band a quarter as high as long, in which points stand at random. */
#define BAND 0.25

static ikt_status order_points(ikt_context *ctx, ikt_viewer_points *p) {
    const ikt_rows *rows = p->rows;
    IKT_TRY(ikt_curve_fit(ctx, rows, p->map.q, p->map.y, &p->box));
    IKT_ARRAYS(held, ctx, purpose);
    p->code = ikt_claim_kept(&held, rows->count, sizeof *p->code);
    p->row = ikt_claim_kept(&held, rows->count, sizeof *p->row);
    p->place = ikt_claim_kept(&held, rows->count, sizeof *p->place);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t i = 0; i < rows->count; i++) {
        const float *y = p->map.y + i * p->map.q;
        double up;
        if (p->map.q > 1)
            up = (double)y[1];
        else
            up = (ikt_rng_uniform(0, IKT_RNG_PLOT, rows->first + i, 0) - 0.5) * BAND * p->box.side;
        p->code[i] = ikt_curve_code(ikt_curve_step(&p->box, 0, (double)y[0]),
                                    ikt_curve_step(&p->box, 1, up));
    }
    return curve_order(ctx, rows, p->code, p->row, p->place);
}

ikt_status ikt_viewer_points_create(ikt_context *ctx, const ikt_rows *rows,
                                    const ikt_viewer_map *map, ikt_viewer_points *out) {
    *out = (ikt_viewer_points){.rows = rows, .map = *map};
    ikt_status st = order_points(ctx, out);
    if (st != IKT_OK) ikt_viewer_points_destroy(out);
    return st;
}

void ikt_viewer_points_destroy(ikt_viewer_points *points) {
    ikt_free_all(&points->code, &points->row, &points->place);
}

static void fill_point(const void *self, int64_t k, uint8_t *out) {
    const ikt_viewer_points *p = self;
    const int64_t i = p->row[k];
    out = ikt_put_number(out, p->code[i], CODE_BYTES);
    out = ikt_put_number(out, (uint64_t)(p->rows->first + i), ROW_BYTES);
    if (p->map.q == 3)
        ikt_put_number(out, ikt_curve_step(&p->box, 2, (double)p->map.y[3 * i + 2]), Z_BYTES);
}

static void arrange_points(const uint8_t *items, int64_t count, int64_t bytes, uint8_t *block) {
    uint32_t before = 0;
    for (int64_t i = 0; i < count; i++) {
        const uint8_t *record = items + i * bytes;
        const uint32_t upper = record[3] | (uint32_t)record[4] << 8 | (uint32_t)record[5] << 16;
        const uint32_t step = upper - before;
        before = upper;
        for (int b = 0; b < HALF_BYTES; b++) {
            block[b * count + i] = (uint8_t)(step >> 8 * (HALF_BYTES - 1 - b));
            block[(HALF_BYTES + b) * count + i] = record[HALF_BYTES - 1 - b];
        }
    }
    ikt_arrange_planes(items + CODE_BYTES, count, bytes, bytes - CODE_BYTES,
                       block + CODE_BYTES * count);
}

ikt_block_items ikt_viewer_points_items(const ikt_viewer_points *points, const char *name) {
    return (ikt_block_items){.n = points->rows->n,
                             .count = points->rows->count,
                             .place = points->place,
                             .bytes = CODE_BYTES + ROW_BYTES + (points->map.q == 3 ? Z_BYTES : 0),
                             .per_block = IKT_POINTS_PER_BLOCK,
                             .name = name,
                             .fill = fill_point,
                             .arrange = arrange_points,
                             .self = points};
}
