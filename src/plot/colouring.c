/* Colours of classes and of numbers, and which of them each point has.
 *
 * The sets of 10 and 24 were found by a search over the sRGB cube (lightness 32 to 74, chroma 32
 * to 82: visible on white, not glaring) that maximises the least CIE-Lab distance of all pairs as
 * seen with normal vision (weight 0.55), protanopia and deuteranopia.
 * The colours of numbers follow a path from blue (lightness 18) over teal to yellow (88) in equal
 * CIE-Lab steps, with linear interpolation between 17 anchors.
 * Classes of a rank are found as a sorted list, and the lists of all ranks are then joined; labels
 * may be any integers. Advantage over counting: no assumption on their range. Disadvantage:
 * inserting shifts the list, which is why the number of classes is limited. */
#include "plot/colouring.h"

#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/sort.h"
#include "evaluate/measure.h"

enum { LEVELS = 1024 }; /* colours of numbers; one more is for missing ones */

static const uint32_t okabe_ito[8] = {0x0072b2, 0xe69f00, 0x009e73, 0xd55e00,
                                      0x56b4e9, 0xcc79a7, 0x000000, 0xf0e442};

static const uint32_t ten[10] = {0x5a87ff, 0xa55a00, 0x1e8769, 0x960fa5, 0x96c300,
                                 0xa5002d, 0x1ec3ff, 0x693c69, 0xff96b4, 0xc3b478};

static const uint32_t twenty_four[IKT_PALETTE_DISTINCT] = {
    0x2d87b4, 0xd2b400, 0xa5000f, 0x5a2db4, 0x87c387, 0x693c69, 0xf0a55a, 0x4bc3c3,
    0x872d3c, 0x5a5ab4, 0xe11e69, 0xb478ff, 0x96b4ff, 0xf078a5, 0x870f87, 0x005a0f,
    0xa5965a, 0x3c961e, 0xf05a2d, 0x008769, 0xe169d2, 0x965a3c, 0x0069f0, 0xe10f96};

static const uint32_t anchors[17] = {0x2d1e6b, 0x00307e, 0x003979, 0x004479, 0x00517b, 0x006182,
                                     0x00758a, 0x01878f, 0x009691, 0x00a28e, 0x00ad89, 0x2bb680,
                                     0x61c078, 0x89c971, 0xaed06f, 0xd2d771, 0xf4dd78};

static ikt_rgb rgb_of(uint32_t colour) {
    return (ikt_rgb){(uint8_t)(colour >> 16), (uint8_t)(colour >> 8), (uint8_t)colour};
}

static const ikt_rgb white = {255, 255, 255}, black_ink = {0, 0, 0};

ikt_theme ikt_theme_get(bool black) {
    if (black)
        return (ikt_theme){
            {0, 0, 0}, {235, 235, 235}, {120, 120, 120}, {86, 180, 233}, {150, 150, 150}};
    return (ikt_theme){
        {255, 255, 255}, {25, 25, 25}, {150, 150, 150}, {0, 72, 130}, {165, 165, 165}};
}

static uint8_t mix_channel(uint8_t under, uint8_t over, double opacity) {
    return (uint8_t)lround(under + (over - under) * opacity);
}

ikt_rgb ikt_rgb_mix(ikt_rgb under, ikt_rgb over, double opacity) {
    return (ikt_rgb){mix_channel(under.r, over.r, opacity), mix_channel(under.g, over.g, opacity),
                     mix_channel(under.b, over.b, opacity)};
}

ikt_rgb ikt_palette_class(int64_t index, int64_t count, bool black) {
    if (count > 10) {
        /* Class 24 and on: the cycle darker, then lighter, then all of it again. The two mixtures
         * are those that keep the 72 colours furthest apart. */
        const ikt_rgb base = rgb_of(twenty_four[index % IKT_PALETTE_DISTINCT]);
        const int64_t round = index / IKT_PALETTE_DISTINCT % 3;
        return round == 0   ? base
               : round == 1 ? ikt_rgb_mix(base, black_ink, 0.25)
                            : ikt_rgb_mix(base, white, 0.575);
    }
    /* The darkest of the ten would drown in black; lifting the 24 would merge some of them. */
    if (count > 8) return ikt_rgb_mix(rgb_of(ten[index]), white, black ? 0.15 : 0);
    const ikt_rgb colour = rgb_of(okabe_ito[index]);
    bool unseen = black && colour.r + colour.g + colour.b == 0;
    return unseen ? (ikt_rgb){0xdd, 0xdd, 0xdd} : colour;
}

ikt_rgb ikt_palette_value(double position, bool black) {
    enum { PIECES = sizeof anchors / sizeof *anchors - 1 };
    double least = black ? 0.2 : 0;
    double at = (least + (1 - least) * fmin(fmax(position, 0), 1)) * PIECES;
    int piece = (int)at < PIECES ? (int)at : PIECES - 1;
    return ikt_rgb_mix(rgb_of(anchors[piece]), rgb_of(anchors[piece + 1]), at - piece);
}

static uint16_t linear_of(uint8_t value) {
    double s = value / 255.0;
    double l = s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
    return (uint16_t)lround(l * UINT16_MAX);
}

ikt_linear ikt_linear_of(ikt_rgb colour) {
    return (ikt_linear){linear_of(colour.r), linear_of(colour.g), linear_of(colour.b)};
}

/* --- colours of points ------------------------------------------------------------------------ */

static ikt_status allocate(ikt_context *ctx, ikt_colouring *out, int64_t n, int64_t colours,
                           int64_t classes) {
    IKT_ARRAYS(held, ctx, "picture");
    out->n_colours = colours;
    out->n_classes = classes;
    out->colour = ikt_claim_kept(&held, colours, sizeof *out->colour);
    out->linear = ikt_claim_kept(&held, colours, sizeof *out->linear);
    out->classes = ikt_claim_kept(&held, classes, sizeof *out->classes);
    if (n >= 0) out->index = ikt_claim_kept(&held, n, sizeof *out->index);
    return ikt_arrays_agree(&held);
}

static ikt_status too_many(ikt_context *ctx, const ikt_plot_points *points) {
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s has more than %d different classes; colour by it as a number instead",
                    points->column ? points->column : "the column of labels", IKT_CLASSES_MAX);
}

static ikt_status by_class(ikt_context *ctx, const ikt_plot_points *points, bool black,
                           ikt_colouring *out) {
    const int64_t n_local = points->rows->count;
    int64_t label[IKT_CLASSES_MAX], count[IKT_CLASSES_MAX] = {0}, own = 0, at;
    ikt_classes all IKT_AT_END(ikt_classes_destroy) = {0, NULL};
    ikt_status st = IKT_OK;
    for (int64_t i = 0; i < n_local && st == IKT_OK; i++) {
        IKT_FIND_FIRST(at, 0, own, label[at] >= points->labels[i]);
        if (at < own && label[at] == points->labels[i]) continue;
        if (own == IKT_CLASSES_MAX) {
            st = too_many(ctx, points);
            continue;
        }
        memmove(&label[at + 1], &label[at], (size_t)(own - at) * sizeof *label);
        label[at] = points->labels[i];
        own++;
    }
    IKT_TRY(ikt_agree(ctx, st));
    IKT_TRY(ikt_classes_find(ctx, label, own, &all));
    if (all.count > IKT_CLASSES_MAX) return too_many(ctx, points);
    IKT_TRY(allocate(ctx, out, n_local, ikt_larger(all.count, 1), all.count));
    for (int64_t i = 0; i < n_local; i++) {
        at = ikt_classes_number(&all, points->labels[i]);
        out->index[i] = (uint16_t)at;
        count[at]++;
    }
    ikt_sum_i64(ctx, count, all.count);
    for (int64_t c = 0; c < all.count; c++) {
        out->classes[c] = (ikt_class){all.label[c], count[c]};
        at = all.label[c];
        const bool is_given = at >= 0 && at < points->n_colours && points->colours[at] >= 0;
        out->colour[c] = is_given ? rgb_of((uint32_t)points->colours[at])
                                  : ikt_palette_class(c, all.count, black);
    }
    return IKT_OK;
}

ikt_number_range ikt_number_range_of(ikt_context *ctx, const double *value, int64_t count) {
    double limits[3] = {INFINITY, INFINITY, INFINITY}; /* the second of the numbers negated */
    int64_t missing = 0;
    for (int64_t i = 0; i < count; i++) {
        missing += !isfinite(value[i]);
        if (!isfinite(value[i])) continue;
        limits[0] = fmin(limits[0], value[i]);
        limits[1] = fmin(limits[1], -value[i]);
        if (value[i] > 0) limits[2] = fmin(limits[2], value[i]);
    }
    ikt_min_f64(ctx, limits, 3);
    const bool any = isfinite(limits[0]);
    /* Adding zero makes -0 a plain 0, whichever rank it came from. */
    return (ikt_number_range){.least = any ? limits[0] + 0.0 : NAN,
                              .largest = any ? 0.0 - limits[1] : NAN,
                              .least_above_zero = isfinite(limits[2]) ? limits[2] : NAN,
                              .missing = ikt_sum_one(ctx, missing)};
}

static ikt_status by_value(ikt_context *ctx, const ikt_plot_points *points, ikt_rgb missing,
                           bool black, ikt_colouring *out) {
    IKT_TRY(allocate(ctx, out, points->rows->count, LEVELS + 1, 0));
    const ikt_number_range range = ikt_number_range_of(ctx, points->values, points->rows->count);
    out->missing = range.missing;
    out->least = range.least;
    out->largest = range.largest;
    for (int level = 0; level < LEVELS; level++)
        out->colour[level] = ikt_palette_value((double)level / (LEVELS - 1), black);
    out->colour[LEVELS] = missing;
    /* Halves first: the span of two doubles may not be a double. */
    const double span = out->largest / 2 - out->least / 2;
    for (int64_t i = 0; i < points->rows->count; i++) {
        const double value = points->values[i];
        const double at = span > 0 ? (value / 2 - out->least / 2) / span : 0.5;
        out->index[i] = isfinite(value) ? (uint16_t)lround(at * (LEVELS - 1)) : LEVELS;
    }
    return IKT_OK;
}

ikt_status ikt_colouring_create(ikt_context *ctx, const ikt_plot_points *points,
                                const ikt_theme *theme, bool black, ikt_colouring *out) {
    *out = (ikt_colouring){.kind = points->labels   ? IKT_COLOUR_CLASSES
                                   : points->values ? IKT_COLOUR_VALUES
                                                    : IKT_COLOUR_PLAIN,
                           .black = black,
                           .least = NAN,
                           .largest = NAN};
    ikt_status st = out->kind == IKT_COLOUR_CLASSES ? by_class(ctx, points, black, out)
                    : out->kind == IKT_COLOUR_VALUES
                        ? by_value(ctx, points, theme->missing, black, out)
                        : allocate(ctx, out, -1, 1, 0);
    if (st != IKT_OK) {
        ikt_colouring_destroy(out);
        return st;
    }
    if (out->kind == IKT_COLOUR_PLAIN) out->colour[0] = theme->plain;
    for (int64_t c = 0; c < out->n_colours; c++)
        out->linear[c] = ikt_linear_of(out->colour[c]);
    return IKT_OK;
}

void ikt_colouring_destroy(ikt_colouring *colouring) {
    ikt_free_all(&colouring->index, &colouring->colour, &colouring->linear, &colouring->classes);
}
