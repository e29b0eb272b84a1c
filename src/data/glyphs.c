/* Ten digit-like glyphs, each row written by another hand.
 *
 * Method: a row draws a digit, a way of writing it (glyph_draw.h), a slant, a turn, a width, a
 * smooth distortion of the plane (deform_field.h) and a pen; the distorted path is scaled to 20
 * pixels and centred by its ink in 28 x 28 pixels, as the MNIST digits are, and drawn
 * (glyph_draw.h). Advantage: an endless data set of MNIST8M's shape, type and kind from some dozen
 * numbers a shape, at tens of thousands of images a second and core. Disadvantage: ten times three
 * styles are a smaller variety than that of real hands. */
#include <math.h>

#include "base/memory.h"
#include "data/deform_field.h"
#include "data/generate.h"
#include "data/glyph_draw.h"

/* Draw numbers of a row. */
enum {
    DRAW_DIGIT,
    DRAW_STYLE,
    DRAW_SLANT,
    DRAW_TURN,
    DRAW_WIDTH,
    DRAW_SIZE,
    DRAW_SHIFT_X,
    DRAW_SHIFT_Y,
    DRAW_RADIUS,
    DRAW_EDGE,
    DRAW_INK,
    DRAW_FIELD
};

static const double slant_mean = 0.25, slant_sd = 0.20; /* to the right, like most hands */
static const double turn_sd = 0.10;                     /* radians */
static const double width_sd = 0.14;                    /* of the logarithm of the width */
static const double distortion_sd = 4.5;                /* hundredths of the height */
static const double size_sd = 0.03, shift_sd = 0.5;     /* of the logarithm; pixels */
static const float target = 20; /* pixels: the longer side of the ink's box */

static ikt_status prepare(ikt_generation *g) {
    ikt_glyph_shapes *shapes = NULL;
    g->columns = IKT_GLYPH_PIXELS;
    ikt_status st = ikt_alloc(g->ctx, &shapes, 1, sizeof *shapes, "generation");
    g->state = shapes;
    if (st == IKT_OK) st = ikt_glyph_shapes_make(g->ctx, shapes);
    return ikt_agree(g->ctx, st);
}

/* Displaces the points by a smooth field, then by the linear map of slant, turn and width. */
static void distort(const ikt_generation *g, int64_t row, ikt_glyph_path *path) {
    double s = g->settings.strength;
    ikt_deform_field field;
    ikt_deform_field_draw(&field, s * distortion_sd, g->seed, IKT_RNG_GENERATE, row, DRAW_FIELD);
    double slant = slant_mean + s * slant_sd * ikt_generate_normal(g, row, DRAW_SLANT);
    double width = exp(s * width_sd * ikt_generate_normal(g, row, DRAW_WIDTH));
    double turn = s * turn_sd * ikt_generate_normal(g, row, DRAW_TURN);
    float xx = (float)(width * cos(turn)), xy = (float)(-sin(turn) - slant * cos(turn));
    float yx = (float)(width * sin(turn)), yy = (float)(cos(turn) - slant * sin(turn));
    for (int i = 0; i < path->n; i++) {
        float dx, dy, x = path->x[i], y = path->y[i];
        ikt_deform_field_at(&field, x * 0.01f + 0.5f, y * 0.01f + 0.5f, &dx, &dy);
        path->x[i] = xx * (x + dx) + xy * (y + dy);
        path->y[i] = yx * (x + dx) + yy * (y + dy);
    }
}

typedef struct {
    float low[2], high[2], centre[2]; /* corners of the path's box; centre of its ink; x, y */
} extent;

static extent measure(const ikt_glyph_path *path) {
    extent e = {{path->x[0], path->y[0]}, {path->x[0], path->y[0]}, {0, 0}};
    float total = 0;
    for (int i = 1; i < path->n; i++) {
        const float dx = path->x[i] - path->x[i - 1], dy = path->y[i] - path->y[i - 1];
        const float length = path->begins[i] ? 0 : sqrtf(dx * dx + dy * dy); /* 0: the pen is up */
        total += length;
        e.centre[0] += length * 0.5f * (path->x[i] + path->x[i - 1]);
        e.centre[1] += length * 0.5f * (path->y[i] + path->y[i - 1]);
        e.low[0] = fminf(e.low[0], path->x[i]), e.high[0] = fmaxf(e.high[0], path->x[i]);
        e.low[1] = fminf(e.low[1], path->y[i]), e.high[1] = fmaxf(e.high[1], path->y[i]);
    }
    e.centre[0] /= total;
    e.centre[1] /= total;
    return e;
}

/* Where the path's zero comes to lie in the image: its ink in the middle but for a random shift,
 * or as near to it as the pen stays inside. */
static float offset(const ikt_generation *g, int64_t row, const extent *e, int axis, float scale,
                    float reach) {
    float last = IKT_GLYPH_SIDE - 1;
    double shift = g->settings.strength * shift_sd *
                   ikt_generate_normal(g, row, axis == 0 ? DRAW_SHIFT_X : DRAW_SHIFT_Y);
    float at = 0.5f * last + (float)shift - scale * e->centre[axis];
    at = fminf(at, last - reach - scale * e->high[axis]);
    return fmaxf(at, reach - scale * e->low[axis]);
}

/* Scales the path to its size in pixels and moves it to its place. */
static void place(const ikt_generation *g, int64_t row, const ikt_glyph_pen *pen,
                  ikt_glyph_path *path) {
    extent e = measure(path);
    float box = fmaxf(e.high[0] - e.low[0], e.high[1] - e.low[1]);
    double s = g->settings.strength * size_sd * ikt_generate_normal(g, row, DRAW_SIZE);
    float scale = fmaxf(target * (float)exp(s) - 2 * pen->radius, 1) / box;
    float reach = pen->radius + 0.5f * pen->edge;
    float x = offset(g, row, &e, 0, scale, reach), y = offset(g, row, &e, 1, scale, reach);
    for (int i = 0; i < path->n; i++) {
        path->x[i] = x + scale * path->x[i];
        path->y[i] = y + scale * path->y[i];
    }
}

static ikt_glyph_pen choose_pen(const ikt_generation *g, int64_t row) {
    double s = g->settings.strength;
    double radius = 1.3 * exp(s * 0.22 * ikt_generate_normal(g, row, DRAW_RADIUS));
    double edge = 1.3 + s * 0.4 * (ikt_generate_uniform(g, row, DRAW_EDGE) - 0.5);
    double ink = 255 - fmin(40, s * 12 * fabs(ikt_generate_normal(g, row, DRAW_INK)));
    return (ikt_glyph_pen){(float)fmin(radius, 2.5), (float)fmax(edge, 0.5), (float)ink};
}

static void row_glyph(const ikt_generation *g, int64_t row, void *out, int32_t *label) {
    const ikt_glyph_shapes *shapes = g->state;
    int64_t digit = ikt_rng_below(g->seed, IKT_RNG_GENERATE, row, DRAW_DIGIT, IKT_GLYPH_CLASSES);
    int64_t style =
        ikt_rng_below(g->seed, IKT_RNG_GENERATE, row, DRAW_STYLE, shapes->styles[digit]);
    ikt_glyph_path path = shapes->path[digit][style];
    distort(g, row, &path);
    ikt_glyph_pen pen = choose_pen(g, row);
    place(g, row, &pen, &path);
    ikt_glyph_draw(&path, pen, out);
    *label = (int32_t)digit;
}

const ikt_generator ikt_generator_glyphs = {.name = "glyphs",
                                            .help =
                                                "28 x 28 images of hand-drawn digits, shaped like "
                                                "MNIST and MNIST8M; the label is the digit",
                                            .uses = {{"points", "70000"}, {"strength", "1"}},
                                            .type = IKT_TYPE_U8,
                                            .labels = true,
                                            .prepare = prepare,
                                            .row = row_glyph};
