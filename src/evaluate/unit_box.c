/* The map scaled to the unit box. */
#include "evaluate/unit_box.h"

#include <math.h>

ikt_unit_box ikt_unit_box_of(const float *y, int64_t n, int64_t q) {
    ikt_unit_box box = {.q = q};
    for (int64_t c = 0; c < q; c++) {
        float low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < n; i++) {
            float value = y[q * i + c];
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        double width = (double)high - (double)low;
        box.low[c] = (double)low;
        box.scale[c] = width > 0 ? 1 / width : 0;
    }
    return box;
}
