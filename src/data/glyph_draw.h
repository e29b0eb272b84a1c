/* Drawing a pen path into a small grey image.
 *
 * Method: each pixel gets its distance to the nearest segment, taken only near segments, and from
 * it a grey value that falls off linearly over the pen's soft edge. Advantage: exact anti-aliasing
 * of round pens at joints and ends, no overdraw. Disadvantage: a pixel near several segments is
 * measured several times.
 */
#ifndef IKT_DATA_GLYPH_DRAW_H
#define IKT_DATA_GLYPH_DRAW_H

#include <stdint.h>

#include "data/glyph_shape.h"

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
