/* Distances along lines, from what the kernels find at their points. See segment.h. */
#include "metric/segment.h"

#include <math.h>

double ikt_segment_chord_of(double length) {
    const double pi = 3.14159265358979323846;
    if (!(length < pi)) return INFINITY;
    const double half = sin(length / 4);
    return 4 * half * half;
}

int64_t ikt_segment_scratch(const ikt_class_lanes *shape, int points) {
    return (int64_t)points * shape->wide;
}

/* Speeds at the points, by the weights of the rule. */
static float sum_speeds(const ikt_segment_job *job, const float *low, const float *high) {
    const int pieces = job->points + 1;
    double length = 0;
    for (int q = 0; q <= pieces; q++) {
        const bool is_end = q == 0 || q == pieces;
        if (job->rule == IKT_RULE_OUTER && 2 * q == pieces) continue;
        const double v = sqrt(job->kernel->speed(&job->shape, low, high, (float)q / (float)pieces));
        length += job->rule == IKT_RULE_TRAPEZOID && is_end ? v / 2 : v;
    }
    return (float)(length / pieces);
}

float ikt_segment_distance(const ikt_segment_job *job, const float *low, const float *high,
                           const float *root_low, const float *root_high, float limit,
                           float *scratch) {
    if (job->rule != IKT_RULE_ARC) return sum_speeds(job, low, high);
    return job->kernel->arcs(&job->shape, job->points, low, high, root_low, root_high, limit,
                             scratch);
}
