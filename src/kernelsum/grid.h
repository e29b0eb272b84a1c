/* Where the grid of the particle-mesh method lies, and the cell of a point.
 *
 * The grid covers the map's bounding box; axis 0 (x) runs along rows of the arrays, axis 1 (y)
 * counts them. A transform is padded to twice the box, so that the periodic images of the FFT do
 * not touch.
 */
#ifndef IKT_KERNELSUM_GRID_H
#define IKT_KERNELSUM_GRID_H

#include <stdint.h>

#include "base/status.h"
#include "kernelsum/kernelsum.h"

typedef struct {
    double low[2], high[2]; /* least and greatest coordinate of any point, per axis */
} ikt_bounds;

typedef struct {
    double origin[2]; /* corner of the first cell, a multiple of the spacing */
    double spacing;
    double inverse;    /* 1 / spacing */
    int64_t cells[2];  /* that points can lie in */
    int64_t nodes[2];  /* that points touch: cells + order - 1 */
    int64_t padded[2]; /* nodes of the transform */
} ikt_grid;

/* COLLECTIVE. Bounds over all ranks of the points y[n_local * 2] and of the targets
 * target[targets * 2]; false when a coordinate of any rank is not finite or there is no point at
 * all. */
bool ikt_bounds_find(ikt_context *ctx, const float *y, int64_t n_local, const float *target,
                     int64_t targets, ikt_bounds *bounds);

/* LOCAL. The grid for these bounds: a pure function of its arguments. */
ikt_grid ikt_grid_fit(const ikt_fft_settings *settings, const ikt_bounds *bounds);

/* LOCAL. Cell of a coordinate along an axis, and the place within it in *u, in [0, 1). Any finite
 * coordinate gets a cell of the grid. */
static inline int64_t ikt_grid_cell(const ikt_grid *grid, int axis, float y, double *u) {
    double at = ((double)y - grid->origin[axis]) * grid->inverse;
    int64_t cell = (int64_t)at, last = grid->cells[axis] - 1;
    cell = cell < 0 ? 0 : cell > last ? last : cell; /* against rounding at the edges */
    *u = at - (double)cell;
    return cell;
}

#endif
