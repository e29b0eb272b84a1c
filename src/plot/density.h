/* Points to pixels: how much the points cover of each pixel of a view, and which colour that gives.
 *
 * Our own code, and not cairo's, because millions of points of all ranks must add up to the same
 * pixels in any order. Every point is an anti-aliased disc; what it covers of a pixel is an
 * integer, and sums of coverage and of coverage times colour are integers too, so the order in
 * which points, threads and ranks add does not change a bit of the picture.
 */
#ifndef IKT_PLOT_DENSITY_H
#define IKT_PLOT_DENSITY_H

#include "plot/colouring.h"
#include "plot/view.h"

/* --- sums of coverage ------------------------------------------------------------------------- */

enum { IKT_COVER_FULL = 255 }; /* all of a pixel */

/* The disc at each of the IKT_VIEW_PHASES^2 places it can have within a pixel. */
typedef struct {
    double radius;  /* pixels */
    int64_t reach;  /* pixels to either side of the centre's that can be touched */
    int64_t size;   /* 2 * reach + 1 */
    uint8_t *cover; /* [PHASES (y) * PHASES (x) * size * size], 0 .. 255; owned */
} ikt_stamp;

/* LOCAL. Computes the discs; 0 < radius <= 100. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_stamp_create(ikt_context *ctx, double radius, ikt_stamp *out);
void ikt_stamp_destroy(ikt_stamp *stamp);

/* Sums of a pixel over the points that cover it. */
typedef struct {
    int64_t cover;   /* sum of coverage */
    int64_t r, g, b; /* sums of coverage * linear colour */
} ikt_pixel_sum;

/* The points of one rank. */
typedef struct {
    int64_t n;
    const float *y;          /* [n * 2] */
    const uint16_t *colour;  /* [n], index into table; NULL: all have table[0] */
    const ikt_linear *table; /* colours */
} ikt_raster_points;

/* LOCAL. Adds the points to the rows first_row .. first_row + rows - 1 of the view.
 *   sums   [rows * view->side]; the caller clears them
 * Threads share out the rows of the band and each looks at all points: nothing is shared, and a
 * look costs a nanosecond. Time: n * bands looks + covered pixels of the band. */
void ikt_raster_band(const ikt_context *ctx, const ikt_view *view, const ikt_stamp *stamp,
                     const ikt_raster_points *points, int64_t first_row, int64_t rows,
                     ikt_pixel_sum *sums);

/* --- colours of pixels ------------------------------------------------------------------------ */

/* A pixel of the whole plot, which rank 0 keeps until all bands are summed. */
typedef struct {
    int64_t cover; /* as in ikt_pixel_sum */
    ikt_rgb mean;  /* mean colour, sRGB */
} ikt_shaded;

/* LOCAL. Tables for the way back from linear light: [65536], sRGB value of a linear one. */
void ikt_linear_table(uint8_t *table);

/* LOCAL. Mean colours of `count` pixels. `table` from ikt_linear_table. */
void ikt_shade_mean(const ikt_pixel_sum *sums, int64_t count, const uint8_t *table,
                    ikt_shaded *out);

/* LOCAL. Colours of `count` pixels over the background, as a picture of canvas.h holds them.
 * The opacity of a pixel covered c times is o * c for c <= 1 (the edges of single points) and
 * o + (1 - o) * log(c) / log(high) beyond, where o is the opacity of a single point and `high` the
 * coverage that 99 % of the covered pixels do not exceed. Single points stay visible and dense
 * regions do not all look alike, over any range of densities.
 *   opacity   of a single point, 0 < opacity <= 1; IKT_AUTO_REAL: from the overlap, 0.85 where
 *             points hardly overlap down to 0.3 where thousands do
 *   out       [count] 0x00RRGGBB */
void ikt_shade(const ikt_shaded *pixels, int64_t count, double opacity, ikt_rgb background,
               uint32_t *out);

#endif
