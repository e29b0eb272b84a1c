/* The cell of one coordinate, plainly: what places of many points are compared with. */
#ifndef IKT_TEST_GRID_CELL_H
#define IKT_TEST_GRID_CELL_H

#include "kernelsum/grid.h"

/* Cell of a coordinate along an axis, and the place within it in *u, in [0, 1). */
static inline int64_t grid_cell(const ikt_grid *grid, int axis, float y, double *u) {
    const double at = ((double)y - grid->origin[axis]) * grid->inverse;
    int64_t cell = (int64_t)at, last = grid->cells[axis] - 1;
    cell = cell < 0 ? 0 : cell > last ? last : cell; /* against rounding at the edges */
    *u = at - (double)cell;
    return cell;
}

#endif
