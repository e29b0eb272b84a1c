/* Ten digit-like glyphs, each row written by another hand.
 *
 * Method: a row draws a digit, a way of writing it (glyph_draw.h), a slant, a turn, a width, a
 * smooth distortion of the plane (deform_field.h) and a pen; the distorted path is scaled to 20
 * pixels and centred by its ink in 28 x 28 pixels, as the MNIST digits are, and drawn
 * (glyph_draw.h). Advantage: an endless data set of MNIST8M's shape, type and kind from some dozen
 * numbers a shape, at tens of thousands of images a second and core. Disadvantage: ten times three
 * styles are a smaller variety than that of real hands. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

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

/* --- shapes and drawing ----------------------------------------------------------------------- */

enum { STROKE_POINTS_MAX = 14 };

typedef struct {
    int n;
    int8_t at[STROKE_POINTS_MAX][2]; /* x, y */
} stroke;

/* Strokes are separated by semicolons; points are x,y. */
static const struct {
    int digit;
    const char *strokes;
} shapes_table[] = {
    /* 0: oval; narrow, closed past its beginning; wide, ending inside */
    {0, "0,-50 -22,-38 -32,-8 -28,25 -8,48 14,44 30,20 32,-12 20,-40 0,-50"},
    {0, "10,-44 -4,-50 -20,-20 -20,25 -2,50 16,30 22,-10 12,-42 -6,-46"},
    {0, "8,-48 -24,-40 -38,0 -26,38 4,50 32,32 38,-4 26,-38 2,-46 -10,-34"},
    /* 1: bar; with an upstroke; with upstroke and foot */
    {1, "3,-50 0,0 -2,50"},
    {1, "-20,-26 -6,-38 4,-50; 4,-50 2,50"},
    {1, "-16,-32 2,-50; 2,-50 0,50; -22,50 22,49"},
    /* 2: straight foot; with a loop; with a wavy foot */
    {2, "-28,-28 -18,-45 4,-50 24,-36 20,-10 -2,16 -30,48; -30,48 32,46"},
    {2, "-26,-34 -6,-50 18,-42 22,-18 6,14 -16,40 -30,44 -32,30 -16,26 8,42 36,42"},
    {2, "-26,-40 2,-50 26,-34 18,-8 -6,18 -32,40; -32,40 -8,34 12,46 34,38"},
    /* 3: two bowls; flat top; with a small loop in the middle */
    {3, "-26,-40 -4,-50 22,-40 20,-14 -6,-4; -6,-4 24,4 30,28 8,50 -28,40"},
    {3, "-26,-48 26,-48; 26,-48 -4,-10; -4,-10 24,0 30,26 8,50 -26,42"},
    {3, "-24,-40 0,-50 20,-36 10,-12 -10,-2 -10,-12 6,-8 26,14 12,46 -28,40"},
    /* 4: open; closed at the top; with a round basin */
    {4, "-20,-48 -32,6; -32,6 34,0; 18,-44 12,50"},
    {4, "12,-50 -34,14; -34,14 36,12; 12,-50 12,50"},
    {4, "-26,-46 -30,-14 -16,2 8,0 22,-10; 26,-48 20,0 14,50"},
    /* 5: with corners; one smooth stroke; with a wide bowl and its bar apart */
    {5, "26,-48 -18,-47; -18,-47 -24,-8; -24,-8 6,-14 28,6 24,36 -2,50 -30,40"},
    {5, "30,-46 2,-50 -20,-38 -18,-14 6,-4 24,14 18,40 -6,50 -30,42"},
    {5, "-16,-46 34,-50; -16,-46 -18,-4; -18,-4 14,-6 28,16 12,44 -28,48"},
    /* 6: curved; with a straight stem; leaning with a small loop */
    {6, "20,-50 -6,-36 -24,0 -26,30 -6,50 18,40 24,20 8,2 -14,10 -25,26"},
    {6, "-4,-50 -20,-12 -26,24 -10,48 14,47 26,26 12,6 -14,14 -25,28"},
    {6, "16,-50 -8,-20 -22,14 -16,42 6,49 20,34 10,18 -10,24 -19,36"},
    /* 7: plain; crossed; with a serif and a curved stem */
    {7, "-28,-46 30,-47; 30,-47 6,4 -6,50"},
    {7, "-28,-46 30,-47; 30,-47 -8,50; -16,2 24,0"},
    {7, "-32,-28 -28,-46; -28,-46 0,-44 30,-49; 30,-49 12,-12 4,18 4,50"},
    /* 8: one stroke; two rings; open at the top */
    {8, "18,-38 0,-50 -20,-38 -14,-16 12,4 26,28 0,50 -26,30 -12,4 14,-16 18,-38"},
    {8, "0,-50 -20,-28 0,-6 20,-28 0,-50; 0,-6 -27,22 0,50 27,22 0,-6"},
    {8, "28,-46 2,-49 -18,-34 2,-6 20,18 8,48 -18,38 -10,8 14,-14 28,-40"},
    /* 9: straight stem; curved tail; leaning */
    {9, "22,-34 4,-50 -20,-38 -22,-12 0,-2 18,-18 22,-34; 22,-34 19,10 16,50"},
    {9, "24,-32 6,-50 -18,-40 -20,-14 2,-4 20,-18 24,-32; 24,-32 24,10 18,38 0,50 -22,40"},
    {9, "20,-44 -6,-48 -24,-28 -12,-8 10,-18 20,-44; 20,-44 10,0 -6,50"},
};
enum { SHAPES = sizeof shapes_table / sizeof *shapes_table };

/* Longest segment, in hundredths of the height: about one and a half pixels. */
static const float longest = 7.5f;

/* Coordinate c of the stroke's point i, where i may lie one beyond either end. */
static float point(const stroke *s, bool closed, int i, int c) {
    int last = s->n - 1;
    if (i < 0) return closed ? s->at[last - 1][c] : (float)(2 * s->at[0][c] - s->at[1][c]);
    if (i > last) return closed ? s->at[1][c] : (float)(2 * s->at[last][c] - s->at[last - 1][c]);
    return s->at[i][c];
}

/* The Catmull-Rom spline between the points i and i + 1, at the fraction f. */
static float spline(const stroke *s, bool closed, int i, int c, float f) {
    float a = point(s, closed, i - 1, c), b = point(s, closed, i, c);
    float d = point(s, closed, i + 1, c), e = point(s, closed, i + 2, c);
    float linear = d - a, square = 2 * a - 5 * b + 4 * d - e, cube = -a + 3 * b - 3 * d + e;
    return b + 0.5f * f * (linear + f * (square + f * cube));
}

static bool add(ikt_glyph_path *path, float x, float y, bool begins) {
    if (path->n == IKT_GLYPH_POINTS_MAX) return false;
    path->x[path->n] = x;
    path->y[path->n] = y;
    path->begins[path->n++] = begins;
    return true;
}

static bool add_stroke(ikt_glyph_path *path, const stroke *s) {
    int last = s->n - 1;
    bool closed = s->at[0][0] == s->at[last][0] && s->at[0][1] == s->at[last][1];
    bool fits = add(path, s->at[0][0], s->at[0][1], true);
    for (int i = 0; i < last; i++) {
        float length =
            hypotf((float)(s->at[i + 1][0] - s->at[i][0]), (float)(s->at[i + 1][1] - s->at[i][1]));
        int pieces = (int)ceilf(length / longest);
        for (int p = 1; p <= pieces; p++) {
            float f = (float)p / (float)pieces;
            fits = fits && add(path, spline(s, closed, i, 0, f), spline(s, closed, i, 1, f), false);
        }
    }
    return fits;
}

/* Adds the strokes of a shape; false where they do not fit or are no strokes. */
static bool add_shape(ikt_glyph_path *path, const char *strokes) {
    bool fits = true;
    for (const char *at = strokes; *at && fits; at += *at == ';') {
        stroke s = {.n = 0};
        for (int x, y, used; s.n < STROKE_POINTS_MAX && sscanf(at, "%d,%d%n", &x, &y, &used) == 2;
             at += used) {
            s.at[s.n][0] = (int8_t)x;
            s.at[s.n++][1] = (int8_t)y;
        }
        fits = s.n >= 2 && add_stroke(path, &s);
    }
    return fits;
}

ikt_status ikt_glyph_shapes_make(ikt_context *ctx, ikt_glyph_shapes *shapes) {
    *shapes = (ikt_glyph_shapes){0};
    for (int i = 0; i < SHAPES; i++) {
        const int digit = shapes_table[i].digit, style = shapes->styles[digit]++;
        if (style >= IKT_GLYPH_STYLES_MAX ||
            !add_shape(&shapes->path[digit][style], shapes_table[i].strokes))
            return ikt_fail(ctx, IKT_ERR_INTERNAL, "shape %d of the glyphs has too many points", i);
    }
    return IKT_OK;
}

/* --- drawing ---------------------------------------------------------------------------------- */

enum { SIDE = IKT_GLYPH_SIDE, LANES = 4 }; /* the side is a multiple of the lanes */

/* First and last + 1 pixel whose centre is within reach of the interval a .. b, or none. */
static void pixel_range(float a, float b, float reach, int *first, int *past) {
    float low = (a < b ? a : b) - reach, high = (a < b ? b : a) + reach;
    low = low < 0 ? 0 : low > SIDE ? SIDE : low;
    high = high < -1 ? -1 : high > SIDE - 1 ? SIDE - 1 : high;
    *first = (int)low; /* one more than needed is harmless */
    *past = (int)(high + 1);
}

/* square[y][x] = min(itself, squared distance of (x, y) to the segment) near the segment. */
static void approach(float square[SIDE][SIDE], float x0, float y0, float x1, float y1,
                     float reach) {
    int left, right, top, bottom;
    pixel_range(x0, x1, reach, &left, &right);
    pixel_range(y0, y1, reach, &top, &bottom);
    float dx = x1 - x0, dy = y1 - y0, length = dx * dx + dy * dy;
    float inverse = length > 1e-12f ? 1 / length : 0, tx = dx * inverse, ty = dy * inverse;
    left -= left % LANES; /* whole groups of lanes; their excess is measured correctly too */
    for (int y = top; y < bottom; y++) {
        float py = (float)y - y0, t0 = py * ty;
        for (int group = left; group < right; group += LANES)
            for (int lane = 0; lane < LANES; lane++) {
                float px = (float)(group + lane) - x0, t = t0 + px * tx;
                t = t < 0 ? 0 : t;
                t = t > 1 ? 1 : t;
                float ex = px - t * dx, ey = py - t * dy, d = ex * ex + ey * ey;
                float *near = &square[y][group + lane];
                *near = d < *near ? d : *near;
            }
    }
}

void ikt_glyph_draw(const ikt_glyph_path *path, ikt_glyph_pen pen, uint8_t *pixels) {
    float square[SIDE][SIDE], reach = pen.radius + 0.5f * pen.edge, slope = pen.ink / pen.edge;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            square[y][x] = reach * reach;
    for (int i = 1; i < path->n; i++)
        if (!path->begins[i])
            approach(square, path->x[i - 1], path->y[i - 1], path->x[i], path->y[i], reach);
    const float *s = &square[0][0];
    for (int p = 0; p < IKT_GLYPH_PIXELS; p++) {
        float grey = slope * (reach - sqrtf(s[p]));
        grey = grey < pen.ink ? grey : pen.ink;
        pixels[p] = (uint8_t)(int)(grey + 0.5f);
    }
}
