/* Per-pixel sums to colours: the mean colour of the points, more opaque where there are more.
 *
 * The opacity of a pixel covered c times is o * c for c <= 1 (the edges of single points) and
 * o + (1 - o) * log(c) / log(high) beyond, where o is the opacity of a single point and `high` the
 * coverage that 99 % of the covered pixels do not exceed. Single points stay visible and dense
 * regions do not all look alike, over any range of densities.
 */
#ifndef IKT_PLOT_SHADE_H
#define IKT_PLOT_SHADE_H

#include "plot/image.h"
#include "plot/raster.h"

/* What rank 0 keeps of a pixel of the whole plot until all bands are summed. */
typedef struct {
    int64_t cover; /* as in ikt_pixel_sum */
    ikt_rgb mean;  /* mean colour, sRGB */
} ikt_shaded;

/* LOCAL. Linear light of an sRGB colour. */
ikt_linear ikt_linear_of(ikt_rgb colour);

/* LOCAL. Tables for the way back: [65536], sRGB value of a linear one. */
void ikt_linear_table(uint8_t *table);

/* LOCAL. Mean colours of `count` pixels. `table` from ikt_linear_table. */
void ikt_shade_mean(const ikt_pixel_sum *sums, int64_t count, const uint8_t *table,
                    ikt_shaded *out);

/* LOCAL. Draws the pixels (side x side) into the picture with the top left corner at (x, y).
 *   opacity   of a single point, 0 < opacity <= 1; IKT_AUTO_REAL: from the overlap, 0.85 where
 *             points hardly overlap down to 0.3 where thousands do */
void ikt_shade_draw(ikt_image *image, const ikt_shaded *pixels, int64_t side, double opacity,
                    int64_t x, int64_t y);

#endif
