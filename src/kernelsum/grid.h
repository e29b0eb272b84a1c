/* The grid of the particle-mesh method, and the transform on it.
 *
 * The grid has side x side nodes of even spacing that cover the map; the transform is padded to
 * twice that and more, so that the periodic images of the FFT do not touch.
 */
#ifndef IKT_KERNELSUM_GRID_H
#define IKT_KERNELSUM_GRID_H

#include <fftw3.h>
#include <stdint.h>

#include "base/status.h"
#include "kernelsum/kernelsum.h"

/* Where the grid lies. */
typedef struct {
    double origin[2]; /* position of node (0, 0) */
    double spacing;
    int64_t side;   /* nodes a side that points touch */
    int64_t padded; /* nodes a side of the transform */
} ikt_grid_shape;

/* LOCAL. The grid for a map that lies between low and high (per axis), a pure function of its
 * arguments. */
ikt_grid_shape ikt_grid_fit(const ikt_fft_settings *settings, const double *low,
                            const double *high);

/* LOCAL. Bytes of transform and sums for a square map of that side. */
int64_t ikt_grid_memory(const ikt_fft_settings *settings, double side);

/* The convolution with the kernel on a padded grid. */
typedef struct ikt_transform ikt_transform;

/* LOCAL. Plans and the kernel's transform, divided by the windows' (smooth particle-mesh Ewald:
 * interpolation at source and target then reproduces the kernel at the nodes).
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_transform_create(ikt_context *ctx, int order, const ikt_grid_shape *shape,
                                ikt_transform **out);
void ikt_transform_destroy(ikt_transform **transform);

/* LOCAL. What the transform was made for. */
int64_t ikt_transform_padded(const ikt_transform *transform);
double ikt_transform_spacing(const ikt_transform *transform);

/* LOCAL. The grid to fill and to read: rows of `stride` doubles, the first `side` rows and columns
 * of charges in, of potentials out. Charges beyond them must be zero. */
double *ikt_transform_grid(ikt_transform *transform, int64_t *stride);

/* LOCAL. Replaces charges by potentials: grid = kernel * grid, in the first `side` rows and
 * columns. One forward and one inverse real transform; the bits do not depend on the threads. */
void ikt_transform_convolve(ikt_transform *transform, int64_t side);

#endif
