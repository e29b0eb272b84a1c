/* Points of a line on AVX2. */
#include "metric/segment.h"

#if defined(__x86_64__)
#define LANE_WIDTH 8
#include "metric/segment_body.h"

static TARGET void roots(const ikt_class_lanes *shape, const float *low, const float *high,
                         float start, float end, float *root) {
    find_roots(shape, low, high, start, end, root);
}

static TARGET double speed(const ikt_class_lanes *shape, const float *low, const float *high,
                           float start, float end) {
    return find_speed(shape, low, high, start, end);
}

const ikt_segment_kernel ikt_segment_avx2 = {roots, speed};
#endif
