/* Cells of many points at once: the first step of spreading and of gathering.
 *
 * Method: a piece of points is brought into arrays by axis, in loops that a compiler turns into
 * vectors; what follows then has no conversions and no branches. Sizes are such that a piece stays
 * in the first-level cache. */
#ifndef IKT_KERNELSUM_PLACES_H
#define IKT_KERNELSUM_PLACES_H

#include "kernelsum/grid.h"

enum {
    IKT_PIECE = 256,   /* points of a piece */
    IKT_PIECE_STEP = 4 /* points that may be computed at a time: pieces are filled up to that */
};

/* Cells and places of a piece of points: u - 1/2, see window.h. */
typedef struct {
    double v[2][IKT_PIECE];
    int32_t cell[2][IKT_PIECE];
} ikt_places;

/* LOCAL. Cells of the coordinates y[2 * i + axis]; as ikt_grid_cell. */
static inline __attribute__((always_inline)) void ikt_places_along(const ikt_grid *grid, int axis,
                                                                   const float *y, int count,
                                                                   int32_t *cell, double *v) {
    const double origin = grid->origin[axis], inverse = grid->inverse;
    const int32_t last = (int32_t)(grid->cells[axis] - 1);
    for (int i = 0; i < count; i++) {
        double at = ((double)y[2 * i + axis] - origin) * inverse;
        int32_t k = (int32_t)at;
        k = k < 0 ? 0 : k;
        k = k > last ? last : k;
        cell[i] = k;
        v[i] = at - (double)k - 0.5;
    }
}

/* LOCAL. Both axes; the last point is repeated up to a multiple of IKT_PIECE_STEP. */
static inline __attribute__((always_inline)) void
ikt_places_find(const ikt_grid *grid, const float *y, int count, ikt_places *out) {
    for (int axis = 0; axis < 2; axis++) {
        ikt_places_along(grid, axis, y, count, out->cell[axis], out->v[axis]);
        for (int i = count; i % IKT_PIECE_STEP != 0; i++) {
            out->cell[axis][i] = out->cell[axis][count - 1];
            out->v[axis][i] = out->v[axis][count - 1];
        }
    }
}

#endif
