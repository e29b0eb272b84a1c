/* Points of a line in plain C. */
#include "metric/segment.h"

#define LANE_WIDTH 4
#include "metric/segment_body.h"

static void roots(const ikt_class_lanes *shape, const float *low, const float *high, float start,
                  float end, float *root) {
    find_roots(shape, low, high, start, end, root);
}

static double speed(const ikt_class_lanes *shape, const float *low, const float *high, float start,
                    float end) {
    return find_speed(shape, low, high, start, end);
}

const ikt_segment_kernel ikt_segment_portable = {roots, speed};
