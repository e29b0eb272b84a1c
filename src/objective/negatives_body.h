/* Body of negatives_portable.c, negatives_avx2.c and negatives_avx512.c, which define LANE_WIDTH.
 * Dimensions are a constant of each instance. */
#include "base/lanes.h"
#include "objective/curve_lanes.h"
#include "objective/negatives.h"

/* Beyond this the square of a distance counts as this: no force is left, and none is NaN. */
static const float negatives_farthest = 1e30F;

/* The rows of one register: lanes at .. at + LANE_WIDTH - 1 of the tile. */
LANES_INLINE TARGET void repel_rows(const ikt_negatives_job *job, int q, int at) {
    const ikt_negative_force *force = &job->force;
    vector own[IKT_DIMENSIONS_MOST], sum[IKT_DIMENSIONS_MOST], weight;
    memcpy(&weight, job->weight + at, sizeof weight);
    for (int c = 0; c < q; c++) {
        memcpy(&own[c], job->at[c] + at, sizeof own[c]);
        sum[c] = (vector){0};
    }
    for (int64_t k = 0; k < job->far; k++) {
        const float *far = job->far_at + k * (q + 1);
        vector d[IKT_DIMENSIONS_MOST], square = (vector){0}, w, rest;
        curve_lanes curve;
        for (int c = 0; c < q; c++) {
            d[c] = own[c] - far[c];
            square += d[c] * d[c];
        }
        vector_cap(&square, negatives_farthest);
        curve_look(&square, force->log_a, force->b, &curve);
        curve_similarity(&curve, &w, &rest);
        const vector both = weight + far[q];
        const vector slope = force->strength * w / (force->soft + square);
        for (int c = 0; c < q; c++) {
            vector along = slope * d[c];
            curve_clip(&along, force->clip);
            sum[c] -= both * along;
        }
    }
    for (int c = 0; c < q; c++)
        memcpy(job->sum[c] + at, &sum[c], sizeof sum[c]);
}

static inline TARGET void repel(const ikt_negatives_job *job) {
    for (int at = 0; at < LANES; at += LANE_WIDTH)
        if (job->q == 1)
            repel_rows(job, 1, at);
        else if (job->q == 2)
            repel_rows(job, 2, at);
        else
            repel_rows(job, 3, at);
}
