/* Body of the function `ends` of tile_forces.h, after lanes.h.
 *
 * Edge e of a row goes to lane e % 16. Surplus lanes of a row's last sixteen read edges of the rows
 * behind it, whose coefficients are then made zero; at the end of all edges zeros stand in. */
#include <string.h>

#include "base/gather.h"
#include "sampled/tile_forces.h"

LANES_KERNEL void add_ends(const ikt_ends_job *job, int q, const int32_t *begin,
                           const int32_t *place, int64_t count, const float *own,
                           vector along[3][VECTORS]) {
    EACH_PART {
        const int64_t left = count - p * LANE_WIDTH;
        vector other[3], c;
        if (left <= 0) return;
        for (int l = 0; l < LANE_WIDTH; l++)
            c[l] = job->c[place[p * LANE_WIDTH + l]];
        if (left < LANE_WIDTH) vector_keep(&c, left);
        if (q == 2)
            gather_pairs(begin + p * LANE_WIDTH, job->y, &other[0], &other[1]);
        else
            for (int k = 0; k < q; k++)
                gather_one(begin + p * LANE_WIDTH, job->y + k, q, &other[k]);
        for (int k = 0; k < q; k++)
            along[k][p] += c * (own[k] - other[k]);
    }
}

enum { AHEAD = 96 /* edges */ };

LANES_KERNEL void ask_for_ends(const ikt_ends_job *job, int q, int64_t e) {
    if (e + LANES > job->edges) return;
    for (int l = 0; l < LANES; l++) {
        __builtin_prefetch(job->c + job->ends->place[e + l]);
        __builtin_prefetch(job->y + (int64_t)q * job->ends->begin[e + l]);
    }
}

LANES_KERNEL void ends_of_rows(const ikt_ends_job *job, int q) {
    const ikt_edge_ends *ends = job->ends;
    for (int64_t i = job->first; i < job->last; i++) {
        const int64_t end = ends->start[i + 1];
        const float *own = job->y + q * i;
        vector along[3][VECTORS];
        memset(along, 0, sizeof along);
        for (int64_t e = ends->start[i]; e < end; e += LANES) {
            const int64_t count = end - e < LANES ? end - e : LANES;
            ask_for_ends(job, q, e + AHEAD);
            if (e + LANES <= job->edges) {
                add_ends(job, q, ends->begin + e, ends->place + e, count, own, along);
            } else {
                int32_t begin[LANES] = {0}, place[LANES] = {0};
                memcpy(begin, ends->begin + e, (size_t)count * sizeof *begin);
                memcpy(place, ends->place + e, (size_t)count * sizeof *place);
                add_ends(job, q, begin, place, count, own, along);
            }
        }
        for (int k = 0; k < q; k++)
            job->force[q * i + k] = lanes_total(along[k]);
    }
}

static TARGET void ends(const ikt_ends_job *job) {
    if (job->q == 1)
        ends_of_rows(job, 1);
    else if (job->q == 2)
        ends_of_rows(job, 2);
    else
        ends_of_rows(job, 3);
}
