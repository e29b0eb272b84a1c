/* The ideal shapes of the digits 0 to 9 as pen paths, several ways of writing each, and drawing a
 * path into a small grey image.
 *
 * A shape is a few strokes, each a smooth curve through a handful of points (a Catmull-Rom spline,
 * closed where the last point is the first), flattened to short segments. Strokes that begin where
 * another ends make corners and stay joined under every continuous deformation of the plane.
 *
 * Drawing: each pixel gets its distance to the nearest segment, taken only near segments, and from
 * it a grey value that falls off linearly over the pen's soft edge. Advantage: exact anti-aliasing
 * of round pens at joints and ends, no overdraw. Disadvantage: a pixel near several segments is
 * measured several times.
 */
#ifndef IKT_DATA_GLYPH_DRAW_H
#define IKT_DATA_GLYPH_DRAW_H

#include <stdint.h>

#include "base/status.h"

enum { IKT_GLYPH_CLASSES = 10, IKT_GLYPH_POINTS_MAX = 80, IKT_GLYPH_STYLES_MAX = 4 };

/* A flattened pen path. Units: hundredths of the glyph's height, x to the right and y downwards,
 * both within -50 .. 50. */
typedef struct {
    int n;
    float x[IKT_GLYPH_POINTS_MAX], y[IKT_GLYPH_POINTS_MAX];
    uint8_t begins[IKT_GLYPH_POINTS_MAX]; /* 1: the pen moves to this point without drawing */
} ikt_glyph_path;

/* The ways of writing each digit. */
typedef struct {
    int styles[IKT_GLYPH_CLASSES];
    ikt_glyph_path path[IKT_GLYPH_CLASSES][IKT_GLYPH_STYLES_MAX];
} ikt_glyph_shapes;

/* LOCAL, pure. Flattens all shapes. Errors: IKT_ERR_INTERNAL for a shape that does not fit. */
ikt_status ikt_glyph_shapes_make(ikt_context *ctx, ikt_glyph_shapes *shapes);

enum { IKT_GLYPH_SIDE = 28, IKT_GLYPH_PIXELS = IKT_GLYPH_SIDE * IKT_GLYPH_SIDE };

typedef struct {
    float radius; /* pixels, to the middle of the soft edge */
    float edge;   /* pixels, width of the soft edge; positive */
    float ink;    /* grey value inside, 0 to 255 */
} ikt_glyph_pen;

/* LOCAL, pure. Draws the path, whose points are in pixels (the centre of pixel (0, 0) is (0, 0)),
 * into pixels[IKT_GLYPH_PIXELS], row by row from the top; 0 is the background. */
void ikt_glyph_draw(const ikt_glyph_path *path, ikt_glyph_pen pen, uint8_t *pixels);

#endif
