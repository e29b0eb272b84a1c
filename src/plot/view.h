/* Which part of the plane is shown, and where a point falls in the picture.
 *
 * Positions are in steps of 1 / IKT_VIEW_PHASES pixel, integers, so that everything after them is
 * integer arithmetic and does not depend on ranks or threads. An eighth of a pixel is finer than
 * the eye can tell and coarse enough for a table of discs at every position.
 */
#ifndef IKT_PLOT_VIEW_H
#define IKT_PLOT_VIEW_H

#include <math.h>
#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"

enum { IKT_VIEW_PHASES = 8 };

typedef struct {
    double centre_x, centre_y; /* of the view, embedding coordinates */
    double scale;              /* steps per unit of the embedding, equal for both axes */
    int64_t side;              /* pixels; the view is square */
} ikt_view;

/* COLLECTIVE. Centres the range of all points in a square with equal scales.
 *   y        [rows->count * 2] float32, x and y of this rank's points
 *   side     pixels of the square
 *   margin   pixels kept free at each border (less than side / 2)
 *   view     receives the view, the same on every rank
 * All points equal, or none: a view of side 2 around them. Errors: IKT_ERR_DATA naming the first
 * row whose coordinates are not finite. */
ikt_status ikt_view_fit(ikt_context *ctx, const ikt_rows *rows, const float *y, int64_t side,
                        double margin, ikt_view *view);

/* LOCAL. Steps rounded down to an integer; positions far outside are cut to +-2^40, so that the
 * conversion is defined for every finite coordinate. */
static inline int64_t ikt_view_step(double steps) {
    double limit = 0x1p40;
    return (int64_t)floor(steps < -limit ? -limit : steps > limit ? limit : steps);
}

/* LOCAL. Position of a coordinate in steps from the left border. The pixel is the position divided
 * by IKT_VIEW_PHASES, rounded down; the remainder is the place within the pixel. */
static inline int64_t ikt_view_x(const ikt_view *view, float x) {
    double half = 0.5 * IKT_VIEW_PHASES * (double)view->side;
    return ikt_view_step(((double)x - view->centre_x) * view->scale + half);
}

/* LOCAL. The same from the top border: rows of a picture grow downwards, coordinates upwards. */
static inline int64_t ikt_view_y(const ikt_view *view, float y) {
    double half = 0.5 * IKT_VIEW_PHASES * (double)view->side;
    return ikt_view_step((view->centre_y - (double)y) * view->scale + half);
}

#endif
