/* What is known of the rows, column by column: classes, numbers, texts; as bytes in the order of
 * the points, and what the legends say of them.
 *
 * Each column has blocks of its own, which the page unpacks when the column is asked for.
 * Advantage: a page with a hundred genes opens as fast as one with none. Disadvantage: the first
 * look at a column of ten million rows takes some tenths of a second. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "viewer/parts.h"

/* Up to these a float and a double hold every whole number. */
#define FLOAT_WHOLE  16777216.0
#define DOUBLE_WHOLE 9007199254740992.0

/* A block of texts holds about TEXT_BYTES of them, so that one text is soon there. */
enum { TEXT_BYTES = 1 << 18, TEXTS_LEAST = 16, TEXTS_MOST = 1 << 16 };

/* COLLECTIVE. Range of the numbers, which are floats; but numbers of things, such as ids, that a
 * float would round are doubles. */
static void learn_values(ikt_context *ctx, const ikt_rows *rows, const double *value,
                         ikt_viewer_legend *out) {
    out->range = ikt_number_range_of(ctx, value, rows->count);
    int64_t is_broken = 0;
    for (int64_t i = 0; i < rows->count; i++)
        is_broken |= isfinite(value[i]) && value[i] != floor(value[i]);
    const double most = fmax(fabs(out->range.least), fabs(out->range.largest));
    const bool is_rounded = most > FLOAT_WHOLE && most <= DOUBLE_WHOLE;
    out->bytes =
        ikt_max_one(ctx, is_broken) == 0 && is_rounded ? (int)sizeof(double) : (int)sizeof(float);
    out->per_block = IKT_POINTS_PER_BLOCK;
}

/* COLLECTIVE. How many texts a block has, and how many rows have one. */
static void learn_texts(ikt_context *ctx, const ikt_rows *rows, const char *const *text,
                        ikt_viewer_legend *out) {
    int64_t sums[2] = {0, 0};
    for (int64_t i = 0; i < rows->count; i++) {
        sums[0] += (int64_t)strlen(text[i]) + 1;
        sums[1] += text[i][0] == '\0';
    }
    ikt_sum_i64(ctx, sums, 2);
    out->range.missing = sums[1];
    out->per_block = TEXTS_MOST;
    while (out->per_block > TEXTS_LEAST && sums[0] / TEXT_BYTES * out->per_block > rows->n)
        out->per_block /= 2;
}

/* COLLECTIVE. The classes, their colours and where they stand. */
static ikt_status learn_classes(ikt_context *ctx, const ikt_rows *rows, const ikt_viewer_map *map,
                                const ikt_viewer_column *column, ikt_viewer_legend *out) {
    const ikt_theme theme = ikt_theme_get(false);
    const ikt_plot_points points = {.rows = rows, .labels = column->labels, .column = column->name};
    ikt_colouring *classes = &out->colouring;
    IKT_TRY(ikt_colouring_create(ctx, &points, &theme, false, classes));
    out->bytes = classes->n_classes <= 256 ? 1 : 2;
    out->per_block = IKT_POINTS_PER_BLOCK;
    const ikt_rows_points where = {.rows = rows, .q = map->q, .y = map->y};
    IKT_ARRAYS(held, ctx, "colours");
    out->colour = ikt_claim_kept(&held, classes->n_classes, sizeof *out->colour);
    out->place = ikt_claim_kept(&held, 2 * classes->n_classes, sizeof *out->place);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_class_places(ctx, &where, classes->index, classes->n_classes, out->place));
    return ikt_agree(ctx, ikt_palette_spread(ctx, out->place, classes->n_classes, out->colour));
}

ikt_status ikt_viewer_legend_learn(ikt_context *ctx, const ikt_rows *rows,
                                   const ikt_viewer_map *map, const ikt_viewer_column *column,
                                   ikt_viewer_legend *out) {
    *out = (ikt_viewer_legend){.range = {NAN, NAN, NAN, 0}};
    if (column->values)
        learn_values(ctx, rows, column->values, out);
    else if (column->texts)
        learn_texts(ctx, rows, column->texts, out);
    else
        return learn_classes(ctx, rows, map, column, out);
    return IKT_OK;
}

void ikt_viewer_legend_free(ikt_viewer_legend *legend) {
    ikt_colouring_destroy(&legend->colouring);
    ikt_free_all(&legend->colour, &legend->place);
}

/* --- bytes ------------------------------------------------------------------------------------ */

uint8_t *ikt_put_number(uint8_t *out, uint64_t number, int bytes) {
    for (int b = 0; b < bytes; b++)
        *out++ = (uint8_t)(number >> 8 * b);
    return out;
}

void ikt_arrange_planes(const uint8_t *items, int64_t count, int64_t stride, int64_t bytes,
                        uint8_t *block) {
    for (int64_t b = 0; b < bytes; b++)
        for (int64_t i = 0; i < count; i++)
            block[b * count + i] = items[i * stride + b];
}

static void arrange(const uint8_t *items, int64_t count, int64_t bytes, uint8_t *block) {
    ikt_arrange_planes(items, count, bytes, bytes, block);
}

/* A number that is too large for a float becomes the largest float, so that it stays a number. */
static void fill_value(const void *self, int64_t k, uint8_t *out) {
    const ikt_viewer_column_part *part = self;
    const double most = FLT_MAX, value = part->column->values[part->row[k]];
    const float single = isfinite(value) ? (float)fmin(fmax(value, -most), most) : NAN;
    uint32_t bits;
    uint64_t wide;
    memcpy(&bits, &single, sizeof bits);
    memcpy(&wide, &value, sizeof wide);
    const bool is_double = part->legend->bytes == (int)sizeof wide;
    ikt_put_number(out, is_double ? wide : bits, part->legend->bytes);
}

static void fill_class(const void *self, int64_t k, uint8_t *out) {
    const ikt_viewer_column_part *part = self;
    ikt_put_number(out, part->legend->colouring.index[part->row[k]], part->legend->bytes);
}

static int64_t text_length(const void *self, int64_t k) {
    const ikt_viewer_column_part *part = self;
    return (int64_t)strlen(part->column->texts[part->row[k]]) + 1;
}

static void fill_text(const void *self, int64_t k, uint8_t *out) {
    const ikt_viewer_column_part *part = self;
    const char *text = part->column->texts[part->row[k]];
    memcpy(out, text, strlen(text) + 1);
}

ikt_block_items ikt_viewer_column_items(const ikt_viewer_column_part *part,
                                        const ikt_viewer_points *points, const char *name) {
    const ikt_viewer_column *column = part->column;
    return (ikt_block_items){.n = points->rows->n,
                             .count = points->rows->count,
                             .place = points->place,
                             .bytes = part->legend->bytes,
                             .per_block = part->legend->per_block,
                             .name = name,
                             .length = column->texts ? text_length : NULL,
                             .fill = column->values  ? fill_value
                                     : column->texts ? fill_text
                                                     : fill_class,
                             .arrange = column->texts ? NULL : arrange,
                             .self = part};
}
