/* The map scaled to [0, 1] along each axis, as the Isolation kernel paper does before it looks at
 * clusters (section 5.1). An axis without extent becomes 0. */
#ifndef IKT_EVALUATE_UNIT_BOX_H
#define IKT_EVALUATE_UNIT_BOX_H

#include <stdint.h>

#include "evaluate/tree.h"

typedef struct {
    int64_t q;
    double low[IKT_AXES_MOST], scale[IKT_AXES_MOST]; /* position -> (position - low) * scale */
} ikt_unit_box;

/* LOCAL. The box of y[n * q]. */
ikt_unit_box ikt_unit_box_of(const float *y, int64_t n, int64_t q);

/* LOCAL. One position, in double precision. */
static inline void ikt_unit_box_scale(const ikt_unit_box *box, const float *y, double *out) {
    for (int64_t c = 0; c < box->q; c++)
        out[c] = ((double)y[c] - box->low[c]) * box->scale[c];
}

#endif
