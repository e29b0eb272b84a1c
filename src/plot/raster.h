/* Points to per-pixel integer sums.
 *
 * Every point is an anti-aliased disc. What it covers of a pixel is an integer (255 = all of it),
 * and sums of coverage and of coverage times colour are integers too, so the order in which points,
 * threads and ranks add does not change a bit of the picture.
 */
#ifndef IKT_PLOT_RASTER_H
#define IKT_PLOT_RASTER_H

#include "plot/view.h"

enum { IKT_COVER_FULL = 255 };

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

/* A colour in linear light, in which colours may be averaged. */
typedef struct {
    uint16_t r, g, b;
} ikt_linear;

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

#endif
