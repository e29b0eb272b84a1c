/* Distances along lines, from what the kernels find at their points. See segment.h. */
#include "metric/segment.h"

#include <math.h>

extern const ikt_segment_kernel ikt_segment_portable;
#if defined(__x86_64__)
extern const ikt_segment_kernel ikt_segment_avx2, ikt_segment_avx512;
#endif

const ikt_segment_kernel *ikt_segment_kernel_for(ikt_isa isa) {
#if defined(__x86_64__)
    if (isa >= IKT_ISA_AVX512) return &ikt_segment_avx512;
    if (isa == IKT_ISA_AVX2) return &ikt_segment_avx2;
#endif
    (void)isa;
    return &ikt_segment_portable;
}

IKT_WIDEST_VECTORS
float ikt_segment_chord(const float *a, const float *b, int wide) {
    enum { LANES = 16 };
    float lane[LANES] = {0};
    for (int c = 0; c < wide; c += LANES)
        for (int l = 0; l < LANES; l++) {
            const float gap = a[c + l] - b[c + l];
            lane[l] += gap * gap;
        }
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            lane[l] += lane[l + half];
    return lane[0];
}

/* asin(x) = x f(x^2), f through the Chebyshev nodes of 0 <= x^2 <= 1/2: to 1e-9 of itself before
 * rounding. */
float ikt_segment_arc(float squared) {
    static const float f[] = {1.0f,          0.166666761f,  0.0749938115f,  0.0447978675f,
                              0.0284338016f, 0.0362081751f, -0.0410680883f, 0.160831779f,
                              -0.195546269f, 0.14315106f};
    const int terms = sizeof f / sizeof *f;
    const float u = 0.25f * (squared < 2 ? squared : 2);
    float series = f[terms - 1];
    for (int e = terms - 2; e >= 0; e--)
        series = series * u + f[e];
    return 4 * sqrtf(u) * series;
}

double ikt_segment_chord_of(double length) {
    const double pi = 3.14159265358979323846;
    if (!(length < pi)) return INFINITY;
    const double half = sin(length / 4);
    return 4 * half * half;
}

int64_t ikt_segment_scratch(const ikt_class_lanes *shape, int points) {
    return (int64_t)points * shape->wide;
}

/* Above what is true of a length that is a sum of rounded arcs, so that none is taken for longer
 * than it would come out. */
static const float safely = 1.00001f, noise = 1e-6f;

/* The sum of the arcs over all pieces. Halves come first: their sum is never above that of all. */
static float sum_arcs(const ikt_segment_job *job, const float *low, const float *high,
                      const float *root_low, const float *root_high, float limit, float *root) {
    const int wide = job->shape.wide, pieces = job->points + 1;
    const int middle = pieces % 2 == 0 ? pieces / 2 : 0;
    const float most = limit * safely + noise;
    if (ikt_segment_arc(ikt_segment_chord(root_low, root_high, wide)) > most && pieces > 1)
        return INFINITY;
    if (middle > 0) {
        float *half = root + (int64_t)(middle - 1) * wide;
        job->kernel->roots(&job->shape, low, high, 0.5f, 0.5f, half);
        if (pieces > 2 && ikt_segment_arc(ikt_segment_chord(root_low, half, wide)) +
                                  ikt_segment_arc(ikt_segment_chord(half, root_high, wide)) >
                              most)
            return INFINITY;
    }
    float length = 0;
    const float *before = root_low;
    for (int q = 1; q <= pieces; q++) {
        const float *here = q < pieces ? root + (int64_t)(q - 1) * wide : root_high;
        if (q < pieces && q != middle)
            job->kernel->roots(&job->shape, low, high, (float)(pieces - q) / (float)pieces,
                               (float)q / (float)pieces, root + (int64_t)(q - 1) * wide);
        length += ikt_segment_arc(ikt_segment_chord(before, here, wide));
        before = here;
    }
    return length;
}

/* Speeds at the points, by the weights of the rule. */
static float sum_speeds(const ikt_segment_job *job, const float *low, const float *high) {
    const int pieces = job->points + 1;
    double length = 0;
    for (int q = 0; q <= pieces; q++) {
        const bool is_end = q == 0 || q == pieces;
        if (job->rule == IKT_RULE_OUTER && 2 * q == pieces) continue;
        const double v = sqrt(job->kernel->speed(
            &job->shape, low, high, (float)(pieces - q) / (float)pieces, (float)q / (float)pieces));
        length += job->rule == IKT_RULE_TRAPEZOID && is_end ? v / 2 : v;
    }
    return (float)(length / pieces);
}

float ikt_segment_distance(const ikt_segment_job *job, const float *low, const float *high,
                           const float *root_low, const float *root_high, float limit,
                           float *scratch) {
    if (job->rule != IKT_RULE_ARC) return sum_speeds(job, low, high);
    return sum_arcs(job, low, high, root_low, root_high, limit, scratch);
}
