/* A picture in memory and the few shapes that figures are made of.
 *
 * Coordinates are in pixels, x to the right and y downwards; the centre of pixel (0, 0) is
 * (0.5, 0.5). Everything is clipped at the borders, so callers need not care.
 */
#ifndef IKT_PLOT_IMAGE_H
#define IKT_PLOT_IMAGE_H

#include <stdint.h>

#include "base/status.h"

typedef struct {
    uint8_t r, g, b; /* sRGB */
} ikt_rgb;

typedef struct {
    int64_t width, height; /* pixels */
    ikt_rgb *pixel;        /* [height * width], row-major, top row first; owned */
} ikt_image;

/* A straight piece of a line, in pixels. */
typedef struct {
    double x0, y0, x1, y1;
} ikt_segment;

/* LOCAL. A picture of one colour.
 *   width, height   pixels, at least 1
 *   out             owned by the caller; pixel is NULL on failure
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_image_create(ikt_context *ctx, int64_t width, int64_t height, ikt_rgb colour,
                            ikt_image *out);
/* LOCAL. Frees the pixels; accepts a picture that has none. */
void ikt_image_destroy(ikt_image *image);

/* LOCAL. `over` laid over `under` with opacity 0..1, mixed in sRGB, which is even to the eye. */
ikt_rgb ikt_rgb_mix(ikt_rgb under, ikt_rgb over, double opacity);

/* LOCAL. Fills the pixels x .. x + width - 1, y .. y + height - 1. */
void ikt_image_fill(ikt_image *image, int64_t x, int64_t y, int64_t width, int64_t height,
                    ikt_rgb colour);

/* LOCAL. Draws the outline of such a rectangle: one pixel wide, within it, not blended. A frame
 * around something therefore begins one pixel before it. */
void ikt_image_frame(ikt_image *image, int64_t x, int64_t y, int64_t width, int64_t height,
                     ikt_rgb colour);

/* LOCAL. Draws connected or loose segments as one anti-aliased stroke of the given width (pixels)
 * with round ends; where segments cross the stroke is not darker. A segment of length zero is a
 * dot, so a disc of radius r is a dot of width 2 r. */
void ikt_image_stroke(ikt_image *image, const ikt_segment *segments, int count, double width,
                      ikt_rgb colour);

#endif
