/* Pictures of rows.
 *
 * Method: every rank reads its rows in blocks and keeps those that were chosen.
 * Advantage: one pass over the file in its own order, however the chosen rows lie. Disadvantage:
 * all of the file is read, also for a few pictures. */
#include "viewer/parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/sort.h"
#include "io/sources/source.h"

enum { READ_BYTES = 16 << 20, BLOCK_BYTES = 1 << 20 };

static const char purpose[] = "pictures";

/* Everything that reading needs beside the result; freed as one. */
typedef struct {
    const ikt_picture_settings *settings;
    const ikt_rows *distribution;
    ikt_source *source;
    int32_t *slot; /* [distribution->count] of a row among the own pictures; -1: not chosen */
    float *real;   /* [count * size] where the data are floating numbers */
    void *rows;    /* a block of rows as they are in the file */
} reading;

static void reading_end(reading *r) {
    ikt_source_close(&r->source);
    ikt_free_all(&r->slot, &r->real, &r->rows);
}

/* Checks the shape and gives the chosen rows slots in the order of their places. */
static ikt_status begin(ikt_context *ctx, reading *r, const uint32_t *row, const uint32_t *place,
                        ikt_pictures *out) {
    const ikt_picture_settings *s = r->settings;
    const int64_t n = r->distribution->n, count = r->distribution->count;
    if (ikt_source_rows(r->source) != n)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "--images: %s has %" PRId64 " rows, but the embedding has %" PRId64,
                        ikt_source_name(r->source), ikt_source_rows(r->source), n);
    if (s->height * s->width * s->channels != ikt_source_columns(r->source))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "--image-shape: %" PRId64 "x%" PRId64 "x%" PRId64 " are %" PRId64
                        " numbers, but rows of %s have %" PRId64,
                        s->height, s->width, s->channels, s->height * s->width * s->channels,
                        ikt_source_name(r->source), ikt_source_columns(r->source));
    *out = (ikt_pictures){.n = ikt_smaller(s->most, n),
                          .height = (s->height + s->shrink - 1) / s->shrink,
                          .width = (s->width + s->shrink - 1) / s->shrink,
                          .channels = s->channels,
                          .is_scaled = ikt_source_type(r->source) != IKT_TYPE_U8};
    out->size = out->height * out->width * out->channels;
    out->per_block = ikt_larger(BLOCK_BYTES / out->size, 1);
    IKT_TRY(ikt_alloc(ctx, &r->slot, count, sizeof *r->slot, purpose));
    IKT_TRY(ikt_alloc(ctx, &out->place, count, sizeof *out->place, purpose));
    for (int64_t i = 0; i < count; i++) {
        const int64_t k = (place[i] * out->n + n - 1) / n; /* the row's picture, if it has one */
        const bool is_chosen = k * n < ((int64_t)place[i] + 1) * out->n;
        r->slot[row[i]] = is_chosen ? (int32_t)out->count : -1;
        if (is_chosen) out->place[out->count++] = (uint32_t)k;
    }
    IKT_TRY(ikt_resize(ctx, &out->place, out->count, sizeof *out->place, purpose));
    IKT_TRY(ikt_alloc(ctx, &out->pixel, out->count, (size_t)out->size, purpose));
    if (!out->is_scaled) return IKT_OK;
    return ikt_alloc(ctx, &r->real, out->count, (size_t)out->size * sizeof *r->real, purpose);
}

static double element(const reading *r, int64_t at) {
    switch (ikt_source_type(r->source)) {
    case IKT_TYPE_U8:
        return ((const uint8_t *)r->rows)[at];
    case IKT_TYPE_F32:
        return (double)((const float *)r->rows)[at];
    default:
        return ((const double *)r->rows)[at];
    }
}

/* Mean of a square of the picture that begins at element `first` of the block. */
static double shrunk(const reading *r, int64_t first, int64_t y, int64_t x, int64_t channel) {
    const ikt_picture_settings *s = r->settings;
    double sum = 0;
    int64_t count = 0;
    for (int64_t v = y * s->shrink; v < (y + 1) * s->shrink && v < s->height; v++)
        for (int64_t u = x * s->shrink; u < (x + 1) * s->shrink && u < s->width; u++, count++)
            sum += element(r, first + (v * s->width + u) * s->channels + channel);
    return sum / (double)count;
}

/* The picture of a row of the block to its slot. */
static void take(const reading *r, int64_t row, int64_t slot, ikt_pictures *out) {
    const int64_t first = row * ikt_source_columns(r->source);
    int64_t at = slot * out->size;
    for (int64_t y = 0; y < out->height; y++)
        for (int64_t x = 0; x < out->width; x++)
            for (int64_t c = 0; c < out->channels; c++, at++) {
                double value = shrunk(r, first, y, x, c);
                if (r->real)
                    r->real[at] = (float)value;
                else
                    out->pixel[at] = (uint8_t)lround(value);
            }
}

/* COLLECTIVE. All ranks read as many blocks as the one with the most. */
static ikt_status read_all(ikt_context *ctx, reading *r, ikt_pictures *out) {
    const int64_t bytes =
        ikt_source_columns(r->source) * (int64_t)ikt_type_size(ikt_source_type(r->source));
    const int64_t step = ikt_larger(READ_BYTES / bytes, 1);
    const int64_t most = ikt_rows_count(r->distribution, 0);
    IKT_TRY(ikt_alloc_all(ctx, &r->rows, step, (size_t)bytes, purpose));
    for (int64_t at = 0; at < most; at += step) {
        const int64_t count = ikt_larger(ikt_smaller(r->distribution->count - at, step), 0);
        IKT_TRY(ikt_source_read(r->source, r->distribution->first + (count > 0 ? at : 0), count,
                                r->rows));
        for (int64_t i = 0; i < count; i++)
            if (r->slot[at + i] >= 0) take(r, i, r->slot[at + i], out);
    }
    return IKT_OK;
}

/* COLLECTIVE. Floating numbers to bytes. */
static void scale(ikt_context *ctx, const reading *r, ikt_pictures *out) {
    double limits[2] = {INFINITY, INFINITY};
    for (int64_t e = 0; e < out->count * out->size; e++) {
        double value = (double)r->real[e];
        if (!isfinite(value)) continue;
        limits[0] = fmin(limits[0], value);
        limits[1] = fmin(limits[1], -value);
    }
    ikt_min_f64(ctx, limits, 2);
    out->least = isfinite(limits[0]) ? limits[0] + 0.0 : 0;
    out->largest = isfinite(limits[1]) ? 0.0 - limits[1] : 0;
    double span = out->largest > out->least ? out->largest - out->least : 1;
    for (int64_t e = 0; e < out->count * out->size; e++) {
        double value = (double)r->real[e];
        out->pixel[e] = isfinite(value) ? (uint8_t)lround((value - out->least) / span * 255) : 0;
    }
}

ikt_status ikt_pictures_read(ikt_context *ctx, const ikt_picture_settings *settings,
                             const ikt_rows *distribution, const uint32_t *row,
                             const uint32_t *place, ikt_pictures *out) {
    reading r IKT_AT_END(reading_end) = {.settings = settings, .distribution = distribution};
    ikt_pictures made IKT_AT_END(ikt_pictures_destroy) = {.n = 0};
    *out = made;
    IKT_TRY(ikt_source_open(ctx, settings->path, settings->dataset, 0, &r.source));
    IKT_TRY(ikt_agree(ctx, begin(ctx, &r, row, place, &made)));
    IKT_TRY(read_all(ctx, &r, &made));
    if (made.is_scaled) scale(ctx, &r, &made);
    return ikt_give(out, made);
}

void ikt_pictures_destroy(ikt_pictures *pictures) {
    ikt_free_all(&pictures->place, &pictures->pixel);
}

static void fill_picture(const void *self, int64_t i, uint8_t *item) {
    const ikt_pictures *pictures = self;
    memcpy(item, pictures->pixel + i * pictures->size, (size_t)pictures->size);
}

ikt_block_items ikt_pictures_items(const ikt_pictures *pictures) {
    return (ikt_block_items){.n = pictures->n,
                             .count = pictures->count,
                             .place = pictures->place,
                             .bytes = pictures->size,
                             .per_block = pictures->per_block,
                             .name = "pictures",
                             .fill = fill_picture,
                             .self = pictures};
}
