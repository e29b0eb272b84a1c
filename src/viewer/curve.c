/* The order of the points along the Z-curve.
 *
 * Method: the curve is cut into 65,536 tiles, whose counts all ranks know; each rank takes a run of
 * tiles with about as many points as the others, receives the codes of them, sorts them by a radix
 * sort of bytes, and answers with places. Codes come in the order of their rows, so a stable sort
 * breaks ties by row without knowing it.
 * Advantage: linear, two exchanges, and the same order on any number of ranks. Disadvantage: a tile
 * is never divided, so points that are all in one tile are sorted by one rank. */
#include "viewer/parts.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "dist/shuffle.h"

enum { TILE_BITS = 16, TILES = 1 << TILE_BITS, CODE_BITS = 2 * IKT_CURVE_BITS, BYTES = 256 };

static ikt_status local_limits(ikt_context *ctx, const ikt_rows *rows, int q, const float *y,
                               double *limits) {
    for (int l = 0; l < 6; l++)
        limits[l] = INFINITY;
    for (int64_t i = 0; i < rows->count; i++)
        for (int axis = 0; axis < q; axis++) {
            double at = (double)y[i * q + axis];
            if (!isfinite(at))
                return ikt_fail(ctx, IKT_ERR_DATA,
                                "the embedding has a coordinate that is not finite in row %lld "
                                "(%g), so it cannot be drawn; run it again with a smaller "
                                "learning rate",
                                (long long)(rows->first + i), at);
            limits[axis] = fmin(limits[axis], at);
            limits[3 + axis] = fmin(limits[3 + axis], -at);
        }
    return IKT_OK;
}

ikt_status ikt_curve_fit(ikt_context *ctx, const ikt_rows *rows, int q, const float *y,
                         ikt_curve_box *box) {
    double limits[6], middle[3] = {0, 0, 0};
    *box = (ikt_curve_box){{0, 0, 0}, 0};
    IKT_TRY(ikt_agree(ctx, local_limits(ctx, rows, q, y, limits)));
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

static void sort_pass(const uint64_t *key, int64_t count, int shift, const uint32_t *from,
                      uint32_t *to) {
    int64_t place[BYTES] = {0}, sum = 0;
    for (int64_t i = 0; i < count; i++)
        place[key[i] >> shift & (BYTES - 1)]++;
    for (int b = 0; b < BYTES; b++) {
        int64_t here = place[b];
        place[b] = sum;
        sum += here;
    }
    for (int64_t i = 0; i < count; i++)
        to[place[key[from[i]] >> shift & (BYTES - 1)]++] = from[i];
}

void ikt_curve_sort(const uint64_t *key, int64_t count, int digits, uint32_t *item,
                    uint32_t *work) {
    uint32_t *from = item, *to = work;
    for (int digit = 0; digit < digits; digit++) {
        sort_pass(key, count, 8 * digit, from, to);
        uint32_t *other = from;
        from = to;
        to = other;
    }
    if (from != item) memcpy(item, from, (size_t)count * sizeof *item);
}

/* What travels; freed as one. */
typedef struct {
    int64_t *tile;         /* [TILES] points in each, then points before it, over all ranks */
    ikt_shuffle shuffle;   /* of codes to the ranks that own their tiles */
    uint32_t *slot;        /* [count] where a row's code stands among those that leave */
    uint64_t *sent, *received; /* codes by owner; [received] codes of this rank's tiles */
    uint32_t *item, *place, *answer; /* [received]; [received]; [count] */
} exchange;

static void exchange_free(exchange *t) {
    ikt_free(&t->tile);
    ikt_shuffle_destroy(&t->shuffle);
    ikt_free(&t->slot);
    ikt_free(&t->sent);
    ikt_free(&t->received);
    ikt_free(&t->item);
    ikt_free(&t->place);
    ikt_free(&t->answer);
}

static ikt_status exchange_begin(ikt_context *ctx, const ikt_rows *rows, exchange *t) {
    const char *what = "order of the points";
    IKT_TRY(ikt_alloc(ctx, &t->tile, TILES, sizeof *t->tile, what));
    IKT_TRY(ikt_shuffle_create(ctx, what, &t->shuffle));
    IKT_TRY(ikt_alloc(ctx, &t->slot, rows->count, sizeof *t->slot, what));
    return ikt_alloc(ctx, &t->sent, rows->count, sizeof *t->sent, what);
}

static int64_t tile_of(uint64_t code) {
    return (int64_t)(code >> (CODE_BITS - TILE_BITS));
}

/* COLLECTIVE. Points before each tile. */
static void count_tiles(ikt_context *ctx, const ikt_rows *rows, const uint64_t *code, exchange *t) {
    int64_t sum = 0;
    for (int64_t i = 0; i < rows->count; i++)
        t->tile[tile_of(code[i])]++;
    ikt_sum_i64(ctx, t->tile, TILES);
    for (int64_t b = 0; b < TILES; b++) {
        int64_t here = t->tile[b];
        t->tile[b] = sum;
        sum += here;
    }
}

/* The rank that would own the tile's first point if points were rows. */
static int owner_of(const ikt_rows *rows, const exchange *t, uint64_t code) {
    return ikt_rows_owner(rows, t->tile[tile_of(code)]);
}

/* Codes by owner, in the order of the rows within each. */
static void group(ikt_context *ctx, const ikt_rows *rows, const uint64_t *code, exchange *t) {
    for (int64_t i = 0; i < rows->count; i++)
        ikt_shuffle_count(&t->shuffle, owner_of(rows, t, code[i]));
    ikt_shuffle_group(ctx, &t->shuffle);
    for (int64_t i = 0; i < rows->count; i++) {
        int64_t slot = ikt_shuffle_next(&t->shuffle, owner_of(rows, t, code[i]));
        t->slot[i] = (uint32_t)slot;
        t->sent[slot] = code[i];
    }
}

static ikt_status allocate_received(ikt_context *ctx, const ikt_rows *rows, exchange *t) {
    const char *what = "order of the points";
    IKT_TRY(ikt_alloc(ctx, &t->received, t->shuffle.received, sizeof *t->received, what));
    IKT_TRY(ikt_alloc(ctx, &t->item, t->shuffle.received, sizeof *t->item, what));
    IKT_TRY(ikt_alloc(ctx, &t->place, t->shuffle.received, sizeof *t->place, what));
    return ikt_alloc(ctx, &t->answer, rows->count, sizeof *t->answer, what);
}

/* Places of the codes that have arrived, the first of which is `first`. */
static void rank_codes(exchange *t, int64_t first) {
    for (int64_t i = 0; i < t->shuffle.received; i++)
        t->item[i] = (uint32_t)i;
    ikt_curve_sort(t->received, t->shuffle.received, CODE_BITS / 8, t->item, t->place);
    for (int64_t k = 0; k < t->shuffle.received; k++)
        t->place[t->item[k]] = (uint32_t)(first + k);
}

static ikt_status exchange_codes(ikt_context *ctx, const ikt_rows *rows, const uint64_t *code,
                                 exchange *t) {
    count_tiles(ctx, rows, code, t);
    group(ctx, rows, code, t);
    ikt_shuffle_meet(ctx, &t->shuffle);
    IKT_TRY(ikt_agree(ctx, allocate_received(ctx, rows, t)));
    ikt_shuffle_send(ctx, &t->shuffle, t->sent, t->received, sizeof *t->received);
    rank_codes(t, ikt_sum_before(ctx, t->shuffle.received));
    ikt_shuffle_answer(ctx, &t->shuffle, t->place, t->answer, sizeof *t->answer);
    return IKT_OK;
}

ikt_status ikt_curve_places(ikt_context *ctx, const ikt_rows *rows, const uint64_t *code,
                            uint32_t *place) {
    exchange t = {0};
    ikt_status st = ikt_agree(ctx, exchange_begin(ctx, rows, &t));
    if (st == IKT_OK) st = exchange_codes(ctx, rows, code, &t);
    for (int64_t i = 0; i < rows->count && st == IKT_OK; i++)
        place[i] = t.answer[t.slot[i]];
    exchange_free(&t);
    return st;
}
