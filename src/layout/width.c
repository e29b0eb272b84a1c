/* How wide a map is. */
#include <math.h>

#include "base/comm.h"
#include "kernelsum/replica.h"
#include "layout/layout.h"

double ikt_layout_width(ikt_context *ctx, const float *y, int64_t q, int64_t n_local) {
    double most[2 * IKT_DIMENSIONS_MOST]; /* of each axis, and minus the least */
    double width = 0;
    for (int64_t c = 0; c < 2 * q; c++)
        most[c] = -INFINITY;
    for (int64_t e = 0; e < q * n_local; e++) {
        const double at = (double)y[e];
        most[2 * (e % q)] = fmax(most[2 * (e % q)], at);
        most[2 * (e % q) + 1] = fmax(most[2 * (e % q) + 1], -at);
    }
    ikt_max_f64(ctx, most, 2 * q);
    for (int64_t c = 0; c < q; c++)
        width = fmax(width, most[2 * c] + most[2 * c + 1]);
    return width;
}
