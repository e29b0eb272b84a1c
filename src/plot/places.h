/* Where classes stand on a map: the densest place of each, for its name, and colours that tell near
 * classes apart.
 */
#ifndef IKT_PLOT_PLACES_H
#define IKT_PLOT_PLACES_H

#include "base/status.h"
#include "dist/rows.h"

/* Points of this rank's rows. */
typedef struct {
    const ikt_rows *rows;
    int q;          /* coordinates of a point; the first two are looked at */
    const float *y; /* [rows->count * q] */
} ikt_rows_points;

/* COLLECTIVE. The densest place of each class.
 *   index       [rows->count] class of each row, below n_classes
 *   n_classes   at most 4096
 *   place       [n_classes * 2], receives x and y (0 where q is 1); NaN for a class without points
 * Method: points are counted in a grid that has about as many cells a side as the square root of
 * the points of a class (8 to 64; 32 at most from 257 classes on), the counts smoothed by 1 2 1
 * along both axes; the place is the mean of the points in the densest cell and the eight round it.
 * Counts and sums are integers, so it is the same on any number of ranks. Errors: IKT_ERR_RESOURCE.
 * Memory: 32 MiB at most. */
ikt_status ikt_class_places(ikt_context *ctx, const ikt_rows_points *points, const uint16_t *index,
                            int64_t n_classes, double *place);

/* LOCAL. Gives classes the colours of ikt_palette_class in such an order that classes which stand
 * near each other differ most. Up to 12 classes, and from 257 on, each keeps its own.
 *   place    [n_classes * 2] as above
 *   colour   [n_classes], receives a permutation of 0 .. n_classes - 1
 * Method: the sum over pairs of likeness of colours (CIE-Lab) over squared distance is made less by
 * exchanging two colours for as long as some exchange does so. Advantage: never worse than the
 * order of the classes. Disadvantage: a class has another colour on another map.
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_palette_spread(ikt_context *ctx, const double *place, int64_t n_classes,
                              int64_t *colour);

#endif
