/* Points of a line on AVX-512. */
#include "metric/segment.h"

#if defined(__x86_64__)
#define LANE_WIDTH 16
#include "metric/segment_body.h"

static TARGET void roots(const ikt_class_lanes *shape, const float *low, const float *high, float t,
                         float *root) {
    find_roots(shape, low, high, t, root);
}

static TARGET double speed(const ikt_class_lanes *shape, const float *low, const float *high,
                           float t) {
    return find_speed(shape, low, high, t);
}

static TARGET void halves(const float *weight, int64_t lanes, float *half) {
    find_halves(weight, lanes, half);
}

static TARGET float middle(const ikt_class_lanes *shape, const float *half, const float *other,
                           float *root) {
    return find_middle(shape, half, other, root);
}

static TARGET float chord(const float *a, const float *b, int wide) {
    return find_chord(a, b, wide);
}

static TARGET float arcs(const ikt_class_lanes *shape, int points, const float *low,
                         const float *high, const float *root_low, const float *root_high,
                         float limit, float *root) {
    return sum_arcs(shape, points, low, high, root_low, root_high, limit, root);
}

const ikt_segment_kernel ikt_segment_avx512 = {roots, speed, halves, middle, chord, arcs};
#endif
