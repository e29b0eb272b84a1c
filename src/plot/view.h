/* The part of the plane that a picture shows.
 *
 * Places are integers, in steps of 1 / IKT_VIEW_PHASES pixel: finer than the eye can tell, and
 * coarse enough for a table of discs at every place (density.h).
 */
#ifndef IKT_PLOT_VIEW_H
#define IKT_PLOT_VIEW_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"

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

#endif
