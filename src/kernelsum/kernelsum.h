/* Sums of the Student kernel over all points: phi(y) = sum_j 1 / (1 + |y - y_j|^2), and grad phi.
 *
 * The sum includes the point itself, whose term is 1. From phi follow the normalisation
 * Z = sum_i (phi(y_i) - 1) and the repulsion of t-SNE, -1/2 grad phi (methods, section 3).
 * A way of summing is one file with one struct of functions.
 */
#ifndef IKT_KERNELSUM_KERNELSUM_H
#define IKT_KERNELSUM_KERNELSUM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "dist/row_map.h"

typedef struct ikt_kernelsum ikt_kernelsum;

/* Settings of the grid. */
typedef struct {
    int order;          /* of the B-splines: 4 (cubic) or 6 (quintic) */
    double spacing;     /* of the grid, in units of the map */
    int64_t grid_limit; /* most nodes a side before the spacing grows */
} ikt_fft_settings;

/* Named accuracies, chosen by measurement; docs/accuracy.md has the table. Errors are those of the
 * force (root mean square, relative to the force) and of Z (relative), on late maps. */
typedef enum {
    IKT_FFT_DEFAULT, /* force 1e-2, Z 1e-3 */
    IKT_FFT_TIGHT    /* force 1e-4, Z 1e-5 */
} ikt_fft_accuracy;

/* LOCAL. */
ikt_fft_settings ikt_fft_preset(ikt_fft_accuracy accuracy);

/* COLLECTIVE. Exact sums over all pairs. Positions are replicated: 8 n bytes a rank; an evaluation
 * costs n_local * n kernel values. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_kernelsum_create_exact(ikt_context *ctx, const ikt_row_map *map,
                                      ikt_kernelsum **out);

/* COLLECTIVE. Sums by a particle-mesh method; see fft.c. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_kernelsum_create_fft(ikt_context *ctx, const ikt_row_map *map,
                                    const ikt_fft_settings *settings, ikt_kernelsum **out);

/* LOCAL. Frees and sets to NULL; accepts NULL. */
void ikt_kernelsum_destroy(ikt_kernelsum **sums);

/* COLLECTIVE. Sums at the own rows.
 *   y         [map.count * 2] positions
 *   phi       [map.count], receives the sums, self included
 *   gradient  [map.count * 2], receives grad phi
 * The bits do not depend on ranks and threads. Where a position of any rank is not finite, every
 * phi is NaN. Cannot fail otherwise: memory that grows with the map is claimed on the way, and
 * running out of it makes every phi NaN with the message in the context. */
void ikt_kernelsum_evaluate(ikt_kernelsum *sums, const float *y, double *phi, float *gradient);

/* LOCAL. Bytes a rank will hold, for the plan of a run. The grid is taken at the size it has for a
 * map whose side is 4 sqrt(n)/3, as late maps have. */
int64_t ikt_kernelsum_memory(bool exact, const ikt_row_map *map);

#endif
