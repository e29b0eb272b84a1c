/* The points in the order of the curve, as bytes. */
#include "viewer/parts.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"

enum { CODE_BYTES = 6, HALF_BYTES = 3, ROW_BYTES = 4, Z_BYTES = 3, PER_BLOCK = 1 << 18 };

/* A map in one dimension is a band a quarter as high as long, in which points stand at random. */
#define BAND 0.25

static const char purpose[] = "points of the page";

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
    if (st == IKT_OK) ikt_curve_sort(key, rows->count, (int)sizeof *place, p->row, p->place);
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
