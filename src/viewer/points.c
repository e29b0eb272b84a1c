/* The points in the order of the Z-curve, as bytes.
 *
 * Method: the curve is cut into 65,536 tiles, whose counts all ranks know; each rank takes a run of
 * tiles with about as many points as the others, receives the codes of them, sorts them by a radix
 * sort of bytes, and answers with places. Codes come in the order of their rows, so a stable sort
 * breaks ties by row without knowing it.
 * Advantage: linear, two exchanges, and the same order on any number of ranks. Disadvantage: a tile
 * is never divided, so points that are all in one tile are sorted by one rank. */
#include "viewer/parts.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "dist/shuffle.h"

enum { TILE_BITS = 16, TILES = 1 << TILE_BITS, CODE_BITS = 2 * IKT_CURVE_BITS, BYTES = 256 };
enum { CODE_BYTES = 6, HALF_BYTES = 3, ROW_BYTES = 4, Z_BYTES = 3, PER_BLOCK = 1 << 18 };

/* A map in one dimension is a band a quarter as high as long, in which points stand at random. */
#define BAND 0.25

static const char purpose[] = "points of the page";

/* --- the order of the points ------------------------------------------------------------------ */

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

/* Codes on their way to the ranks that own their tiles; freed as one. */
typedef struct {
    int64_t *tile; /* [TILES] points in each, then points before it, over all ranks */
    ikt_shuffle shuffle;
    uint32_t *slot;                  /* [count] of a row's code among those that leave */
    uint64_t *sent, *received;       /* codes by owner; [received] codes of this rank's tiles */
    uint32_t *item, *place, *answer; /* [received]; [received]; [count] */
} exchange;

/* The rank that would own the first point of the code's tile if points were rows. */
static int owner_of(const ikt_rows *rows, const exchange *t, uint64_t code) {
    return ikt_rows_owner(rows, t->tile[code >> (CODE_BITS - TILE_BITS)]);
}

static ikt_status exchange_codes(ikt_context *ctx, const ikt_rows *rows, const uint64_t *code,
                                 exchange *t, uint32_t *place) {
    const int64_t count = rows->count;
    ikt_shuffle *shuffle = &t->shuffle;
    ikt_status st = ikt_alloc(ctx, &t->tile, TILES, sizeof *t->tile, purpose);
    if (st == IKT_OK) st = ikt_shuffle_create(ctx, purpose, shuffle);
    if (st == IKT_OK) st = ikt_alloc(ctx, &t->slot, count, sizeof *t->slot, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &t->sent, count, sizeof *t->sent, purpose);
    IKT_TRY(ikt_agree(ctx, st));
    for (int64_t i = 0; i < count; i++)
        t->tile[code[i] >> (CODE_BITS - TILE_BITS)]++;
    ikt_sum_i64(ctx, t->tile, TILES);
    sum_before(t->tile, TILES);
    for (int64_t i = 0; i < count; i++)
        ikt_shuffle_count(shuffle, owner_of(rows, t, code[i]));
    ikt_shuffle_group(ctx, shuffle);
    for (int64_t i = 0; i < count; i++) {
        t->slot[i] = (uint32_t)ikt_shuffle_next(shuffle, owner_of(rows, t, code[i]));
        t->sent[t->slot[i]] = code[i];
    }
    ikt_shuffle_meet(ctx, shuffle);
    const int64_t received = shuffle->received;
    st = ikt_alloc(ctx, &t->received, received, sizeof *t->received, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &t->item, received, sizeof *t->item, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &t->place, received, sizeof *t->place, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &t->answer, count, sizeof *t->answer, purpose);
    IKT_TRY(ikt_agree(ctx, st));
    ikt_shuffle_send(ctx, shuffle, t->sent, t->received, sizeof *t->received);
    for (int64_t i = 0; i < received; i++)
        t->item[i] = (uint32_t)i;
    sort_by_key(t->received, received, CODE_BITS / 8, t->item, t->place);
    const int64_t first = ikt_sum_before(ctx, received);
    for (int64_t k = 0; k < received; k++)
        t->place[t->item[k]] = (uint32_t)(first + k);
    ikt_shuffle_answer(ctx, shuffle, t->place, t->answer, sizeof *t->answer);
    for (int64_t i = 0; i < count; i++)
        place[i] = t->answer[t->slot[i]];
    return IKT_OK;
}

ikt_status ikt_curve_places(ikt_context *ctx, const ikt_rows *rows, const uint64_t *code,
                            uint32_t *place) {
    exchange t = {0};
    ikt_status st = exchange_codes(ctx, rows, code, &t, place);
    ikt_free(&t.tile);
    ikt_shuffle_destroy(&t.shuffle);
    ikt_free(&t.slot);
    ikt_free(&t.sent);
    ikt_free(&t.received);
    ikt_free(&t.item);
    ikt_free(&t.place);
    ikt_free(&t.answer);
    return st;
}

/* --- the points as bytes ---------------------------------------------------------------------- */

/* COLLECTIVE. Range of the numbers. */
static void learn_values(ikt_context *ctx, const ikt_rows *rows, const double *value,
                         ikt_viewer_legend *out) {
    double limits[3] = {INFINITY, INFINITY, INFINITY};
    int64_t missing = 0;
    for (int64_t i = 0; i < rows->count; i++) {
        missing += !isfinite(value[i]);
        if (!isfinite(value[i])) continue;
        limits[0] = fmin(limits[0], value[i]);
        limits[1] = fmin(limits[1], -value[i]);
        if (value[i] > 0) limits[2] = fmin(limits[2], value[i]);
    }
    ikt_min_f64(ctx, limits, 3);
    out->missing = ikt_sum_one(ctx, missing);
    /* Adding zero makes -0 a plain 0, whichever rank it came from. */
    out->least = isfinite(limits[0]) ? limits[0] + 0.0 : NAN;
    out->largest = isfinite(limits[1]) ? 0.0 - limits[1] : NAN;
    out->least_above_zero = isfinite(limits[2]) ? limits[2] : NAN;
    out->bytes = (int)sizeof(float);
}

/* COLLECTIVE. The own rows in the order of the curve, and their places. */
static ikt_status order(ikt_context *ctx, ikt_viewer_points *p) {
    const ikt_rows *rows = p->content->rows;
    uint32_t *place = NULL;
    uint64_t *key = NULL;
    ikt_status st = ikt_alloc(ctx, &place, rows->count, sizeof *place, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &key, rows->count, sizeof *key, purpose);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = ikt_curve_places(ctx, rows, p->code, place);
    for (int64_t i = 0; i < rows->count && st == IKT_OK; i++) {
        p->row[i] = (uint32_t)i;
        key[i] = place[i];
    }
    if (st == IKT_OK) sort_by_key(key, rows->count, (int)sizeof *place, p->row, p->place);
    for (int64_t i = 0; i < rows->count && st == IKT_OK; i++)
        p->place[i] = place[p->row[i]];
    ikt_free(&place);
    ikt_free(&key);
    return st;
}

static ikt_status create(ikt_context *ctx, ikt_viewer_points *p) {
    const ikt_viewer_content *content = p->content;
    const ikt_rows *rows = content->rows;
    const ikt_theme theme = ikt_theme_get(false);
    IKT_TRY(ikt_curve_fit(ctx, rows, content->q, content->y, &p->box));
    ikt_status st = ikt_alloc(ctx, &p->code, rows->count, sizeof *p->code, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &p->row, rows->count, sizeof *p->row, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &p->place, rows->count, sizeof *p->place, purpose);
    IKT_TRY(ikt_agree(ctx, st));
    for (int64_t i = 0; i < rows->count; i++) {
        const float *y = content->y + i * content->q;
        double up;
        if (content->q > 1)
            up = (double)y[1];
        else
            up = (ikt_rng_uniform(0, IKT_RNG_PLOT, rows->first + i, 0) - 0.5) * BAND * p->box.side;
        p->code[i] = ikt_curve_code(ikt_curve_step(&p->box, 0, (double)y[0]),
                                    ikt_curve_step(&p->box, 1, up));
    }
    IKT_TRY(order(ctx, p));
    for (int c = 0; c < content->n_columns; c++) {
        const ikt_viewer_column *column = &content->column[c];
        const ikt_plot_points points = {
            .rows = rows, .labels = column->labels, .column = column->name};
        ikt_viewer_legend *legend = &p->legend[c];
        if (column->values) {
            learn_values(ctx, rows, column->values, legend);
            continue;
        }
        IKT_TRY(ikt_colouring_create(ctx, &points, &theme, false, &legend->colouring));
        legend->bytes = legend->colouring.n_classes <= 256 ? 1 : 2;
    }
    return IKT_OK;
}

ikt_status ikt_viewer_points_create(ikt_context *ctx, const ikt_viewer_content *content,
                                    ikt_viewer_points *out) {
    *out = (ikt_viewer_points){.content = content};
    ikt_status st = create(ctx, out);
    if (st != IKT_OK) ikt_viewer_points_destroy(out);
    return st;
}

void ikt_viewer_points_destroy(ikt_viewer_points *points) {
    ikt_free(&points->code);
    ikt_free(&points->row);
    ikt_free(&points->place);
    for (int c = 0; c < IKT_VIEWER_COLUMNS_MOST; c++)
        ikt_colouring_destroy(&points->legend[c].colouring);
}

static uint8_t *put_number(uint8_t *out, uint64_t number, int bytes) {
    for (int b = 0; b < bytes; b++)
        *out++ = (uint8_t)(number >> 8 * b);
    return out;
}

/* A number that is too large for a float becomes the largest float, so that it stays a number. */
static uint8_t *put_float(uint8_t *out, double value) {
    const double most = FLT_MAX;
    float single = isfinite(value) ? (float)fmin(fmax(value, -most), most) : NAN;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return put_number(out, bits, (int)sizeof bits);
}

static void fill(const void *self, int64_t k, uint8_t *out) {
    const ikt_viewer_points *p = self;
    const ikt_viewer_content *content = p->content;
    const int64_t i = p->row[k];
    out = put_number(out, p->code[i], CODE_BYTES);
    out = put_number(out, (uint64_t)(content->rows->first + i), ROW_BYTES);
    if (content->q == 3)
        out = put_number(out, ikt_curve_step(&p->box, 2, (double)content->y[3 * i + 2]), Z_BYTES);
    for (int c = 0; c < content->n_columns; c++)
        out = content->column[c].values
                  ? put_float(out, content->column[c].values[i])
                  : put_number(out, p->legend[c].colouring.index[i], p->legend[c].bytes);
}

static void arrange(const uint8_t *items, int64_t count, int64_t bytes, uint8_t *block) {
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
        for (int64_t b = CODE_BYTES; b < bytes; b++)
            block[b * count + i] = record[b];
    }
}

ikt_block_items ikt_viewer_points_items(const ikt_viewer_points *points) {
    const ikt_viewer_content *content = points->content;
    int64_t bytes = CODE_BYTES + ROW_BYTES + (content->q == 3 ? Z_BYTES : 0);
    for (int c = 0; c < content->n_columns; c++)
        bytes += points->legend[c].bytes;
    return (ikt_block_items){.n = content->rows->n,
                             .count = content->rows->count,
                             .place = points->place,
                             .bytes = bytes,
                             .per_block = PER_BLOCK,
                             .name = "points",
                             .fill = fill,
                             .arrange = arrange,
                             .self = points};
}
