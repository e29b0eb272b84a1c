/* What the grid multiplies each coefficient by, and what a point then feels of itself.
 *
 * Method: a Student kernel (w, or w log w) less its value at 0, sampled at the nodes of the padded
 * grid, is transformed (it is even in both directions: a cosine transform of a quarter) and divided
 * by the windows' transforms, so that the potential of a charge in a node is exact in all nodes.
 * The mean of the kernel is left out of the table and added by the caller, n times: so a potential
 * that is the same everywhere but for a millionth, as early maps have, loses no digits, even in
 * single precision. The grid's own error in the term of a point with itself is known: it depends
 * only on the place of the point in its cell. It is tabulated and taken off. At the density of late
 * maps that is half of the whole error.
 */
#ifndef IKT_KERNELSUM_INFLUENCE_H
#define IKT_KERNELSUM_INFLUENCE_H

#include <stdint.h>

#include "base/status.h"
#include "kernelsum/grid.h"
#include "kernelsum/window.h"

enum { IKT_SELF_PLACES = 32 }; /* of the table of self-terms, along each axis of a cell */

typedef struct {
    double mean; /* of the kernel over the padded grid */
    /* [padded[1] / 2 + 1][padded[0] / 2 + 1], real transform of the kernel over that of the
     * windows, with the normalisation of the FFT; zero for the constant coefficient */
    double *table;
    /* [IKT_SELF_PLACES (y)][IKT_SELF_PLACES (x)][4]: phi, its derivatives by x and y, 0 */
    float *self;
} ikt_influence;

/* LOCAL. For the grid's spacing and padded size; of the Student kernel, or of one of both. Errors:
 * IKT_ERR_RESOURCE. */
ikt_status ikt_influence_make(ikt_context *ctx, const ikt_grid *grid, const ikt_window *window,
                              ikt_influence *out);
ikt_status ikt_influence_make_of(ikt_context *ctx, ikt_kernel kernel, const ikt_grid *grid,
                                 const ikt_window *window, ikt_influence *out);
void ikt_influence_release(ikt_influence *influence);

#endif
