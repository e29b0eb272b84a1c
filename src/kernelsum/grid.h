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

/* --- cells of many points at once: the first step of spreading and of gathering --------------- */

/* A piece of points is brought into arrays by axis, in loops that a compiler turns into vectors;
 * what follows then has no conversions and no branches. A piece stays in the first-level cache. */
enum {
    IKT_PIECE = 256,   /* points of a piece */
    IKT_PIECE_STEP = 4 /* points that may be computed at a time: pieces are filled up to that */
};

/* Cells and places of a piece of points: u - 1/2, see spread.h. */
typedef struct {
    double v[2][IKT_PIECE];
    int32_t cell[2][IKT_PIECE];
} ikt_places;

/* LOCAL. Cells of the coordinates y[2 * i + axis], and their places in them. Any finite coordinate
 * gets a cell of the grid. */
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
