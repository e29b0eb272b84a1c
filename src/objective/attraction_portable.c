/* The attraction kernels in plain C. */
#define LANE_WIDTH 4
#include "base/lanes.h"
#include "objective/attraction.h"

LANES_INLINE void gather_pairs(const int32_t *column, const float *y, vector *x_out,
                               vector *y_out) {
    const float *a = y + 2 * (int64_t)column[0], *b = y + 2 * (int64_t)column[1];
    const float *c = y + 2 * (int64_t)column[2], *d = y + 2 * (int64_t)column[3];
    *x_out = (vector){a[0], b[0], c[0], d[0]};
    *y_out = (vector){a[1], b[1], c[1], d[1]};
}

LANES_INLINE void gather_one(const int32_t *column, const float *y, int q, vector *out) {
    *out = (vector){y[q * column[0]], y[q * column[1]], y[q * column[2]], y[q * column[3]]};
}

#include "objective/attraction_body.h"

const ikt_attraction_kernel ikt_attraction_portable = {sparse, dense};
