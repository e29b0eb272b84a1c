/* Points to pixels: how much the points cover of each pixel of a view, and which colour that gives.
 *
 * Our own code, and not cairo's, because millions of points of all ranks must add up to the same
 * pixels in any order. Every point is an anti-aliased disc; what it covers of a pixel is an
 * integer, and sums of coverage and of coverage times colour are integers too, so the order in
 * which points, threads and ranks add does not change a bit of the picture.
 */
#ifndef IKT_PLOT_DENSITY_H
#define IKT_PLOT_DENSITY_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"
#include "plot/colouring.h"

/* --- the part of the plane that a picture shows ----------------------------------------------- */

/* Places are integers, in steps of 1 / IKT_VIEW_PHASES pixel: finer than the eye can tell, and
 * coarse enough for a table of discs at every place. */

enum { IKT_VIEW_PHASES = 8 };

typedef struct {
    double centre_x, centre_y; /* of the view, embedding coordinates */
    double scale;              /* steps per unit of the embedding, equal for both axes */
    int64_t side;              /* pixels; the view is square */
} ikt_view;

/* What a view has to show. */
typedef struct {
    const ikt_rows *rows;
    const float *y;      /* [rows->count * 2] x and y of this rank's points */
    const float *behind; /* [n_behind * 2] further points of this rank; NULL with 0: none */
    int64_t n_behind;
    const int64_t *marked; /* [n_marked] rows that must be seen, the same on all ranks */
    int64_t n_marked;
    bool has_all; /* no point may be left out */
} ikt_view_points;

/* COLLECTIVE. Centres the range of the points in a square with equal scales. Where at most one
 * point in ten thousand lies so far out that the others would have less than half of the square,
 * the view leaves it out: of millions of rows there are always a few that nothing holds.
 *   side     pixels of the square
 *   margin   pixels kept free at each border (less than side / 2)
 *   view     receives the view, the same on every rank
 * All points equal, or none: a view of side 2 around them. Errors: IKT_ERR_DATA naming the first
 * row whose coordinates are not finite. */
ikt_status ikt_view_fit(ikt_context *ctx, const ikt_view_points *points, int64_t side,
                        double margin, ikt_view *view);

/* COLLECTIVE. Rows over all ranks whose centres lie outside of the view. */
int64_t ikt_view_outside(ikt_context *ctx, const ikt_view *view, const ikt_rows *rows,
                         const float *y);

/* LOCAL. Steps rounded down to an integer; places far outside are cut to +-2^40, so that the
 * conversion is defined for every finite coordinate. */
static inline int64_t ikt_view_step(double steps) {
    const double limit = 0x1p40;
    return (int64_t)floor(steps < -limit ? -limit : steps > limit ? limit : steps);
}

/* LOCAL. Place of a coordinate in steps from the left border. The pixel is the place divided by
 * IKT_VIEW_PHASES, rounded down; the remainder is the place within the pixel. */
static inline int64_t ikt_view_x(const ikt_view *view, float x) {
    const double half = 0.5 * IKT_VIEW_PHASES * (double)view->side;
    return ikt_view_step(((double)x - view->centre_x) * view->scale + half);
}

/* LOCAL. The same from the top border: rows of a picture grow downwards, coordinates upwards. */
static inline int64_t ikt_view_y(const ikt_view *view, float y) {
    const double half = 0.5 * IKT_VIEW_PHASES * (double)view->side;
    return ikt_view_step((view->centre_y - (double)y) * view->scale + half);
}

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
