/* Points of a line in plain C. */
#include "metric/segment.h"

#define LANE_WIDTH 4
#include "metric/segment_body.h"

static void roots(const ikt_class_lanes *shape, const float *low, const float *high, float t,
                  float *root) {
    find_roots(shape, low, high, t, root);
}

static double speed(const ikt_class_lanes *shape, const float *low, const float *high, float t) {
    return find_speed(shape, low, high, t);
}

static void halves(const float *weight, int64_t lanes, float *half) {
    find_halves(weight, lanes, half);
}

static float middle(const ikt_class_lanes *shape, const float *half, const float *other,
                    float *root) {
    return find_middle(shape, half, other, root);
}

static float chord(const float *a, const float *b, int wide) {
    return find_chord(a, b, wide);
}

static float arcs(const ikt_class_lanes *shape, int points, const float *low, const float *high,
                  const float *root_low, const float *root_high, float limit, float *root) {
    return sum_arcs(shape, points, low, high, root_low, root_high, limit, root);
}

const ikt_segment_kernel ikt_segment_portable = {roots, speed, halves, middle, chord, arcs};
