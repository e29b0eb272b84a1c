/* The attraction kernels in plain C. */
#include "objective/attraction_kernel.h"
#include "objective/lanes.h"

#define TARGET

IKT_LANES_INLINE void gather_positions(const int32_t *column, const float *y, ikt_lanes *x_out,
                                       ikt_lanes *y_out) {
    for (int l = 0; l < IKT_LANES; l++) {
        (*x_out)[l] = y[2 * (int64_t)column[l]];
        (*y_out)[l] = y[2 * (int64_t)column[l] + 1];
    }
}

#include "objective/attraction_body.h"

const ikt_attraction_kernel ikt_attraction_portable = {sparse, dense};
