/* Repulsion from far rows. See negatives.h. Dimensions, and whether a = b = 1, are constants of
 * each instance. */
#include "objective/negatives.h"

#include "base/lanes.h"
#include "objective/curve_lanes.h"

/* Beyond this the square of a distance counts as this: no force is left, and none is NaN. Its
 * square is finite, too. */
static const float negatives_farthest = 1e18F;

/* strength w / (soft + s) of squared distances s. With a = b = 1 it is one division. */
LANES_INLINE void negative_slope(const ikt_negative_force *force, bool is_student,
                                 const vector *square, vector *slope) {
    vector w, rest;
    curve_lanes curve;
    if (is_student) {
        *slope = force->strength / ((1.0f + *square) * (force->soft + *square));
        return;
    }
    curve_look(square, force->log_a, force->b, &curve);
    curve_similarity(&curve, &w, &rest);
    *slope = force->strength * w / (force->soft + *square);
}

/* The rows of one register: lanes at .. at + LANE_WIDTH - 1 of the tile. */
LANES_INLINE void repel_rows(const ikt_negatives_job *job, int q, bool is_student, int at) {
    const ikt_negative_force *force = &job->force;
    vector own[IKT_DIMENSIONS_MOST], sum[IKT_DIMENSIONS_MOST], weight;
    memcpy(&weight, job->weight + at, sizeof weight);
    for (int c = 0; c < q; c++) {
        memcpy(&own[c], job->at[c] + at, sizeof own[c]);
        sum[c] = (vector){0};
    }
    for (int64_t k = 0; k < job->far; k++) {
        const float *far = job->far_at + k * (q + 1);
        vector d[IKT_DIMENSIONS_MOST], square = (vector){0}, slope;
        for (int c = 0; c < q; c++) {
            d[c] = own[c] - far[c];
            square += d[c] * d[c];
        }
        vector_cap(&square, negatives_farthest);
        negative_slope(force, is_student, &square, &slope);
        const vector both = weight + far[q];
        for (int c = 0; c < q; c++) {
            vector along = slope * d[c];
            curve_clip(&along, force->clip);
            sum[c] -= both * along;
        }
    }
    for (int c = 0; c < q; c++)
        memcpy(job->sum[c] + at, &sum[c], sizeof sum[c]);
}

LANES_INLINE void repel_tile(const ikt_negatives_job *job, int q, bool is_student) {
    for (int at = 0; at < LANES; at += LANE_WIDTH)
        repel_rows(job, q, is_student, at);
}

void IKT_KERNEL(ikt_negatives_kernel)(const ikt_negatives_job *job) {
    const bool is_student = job->force.log_a == 0 && job->force.b == 1;
    if (is_student && job->q == 1)
        repel_tile(job, 1, true);
    else if (is_student && job->q == 2)
        repel_tile(job, 2, true);
    else if (is_student)
        repel_tile(job, 3, true);
    else if (job->q == 1)
        repel_tile(job, 1, false);
    else if (job->q == 2)
        repel_tile(job, 2, false);
    else
        repel_tile(job, 3, false);
}
