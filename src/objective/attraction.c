/* Attraction along the sparse P. See attraction.h.
 *
 * The sum of a row is taken in lanes (lanes.h): the same bits at every vector width. */
#include "objective/attraction.h"

#include <math.h>

#include "objective/lanes.h"

typedef struct {
    float x[IKT_LANES], y[IKT_LANES];
} lanes;

/* Adds up to IKT_LANES entries to the lanes. */
static inline void add_entries(lanes *sum, const int32_t *column, const float *value, int64_t count,
                               const float *y, float own_x, float own_y) {
    for (int64_t lane = 0; lane < count; lane++) {
        const float *other = y + 2 * (int64_t)column[lane];
        float dx = own_x - other[0], dy = own_y - other[1];
        float weight = value[lane] / (1.0f + dx * dx + dy * dy);
        sum->x[lane] += weight * dx;
        sum->y[lane] += weight * dy;
    }
}

static inline void add_part(lanes *sum, const ikt_csr *part, int64_t i, const float *y) {
    int64_t begin = part->start[i], end = part->start[i + 1], e = begin;
    for (; e + IKT_LANES <= end; e += IKT_LANES)
        add_entries(sum, part->column + e, part->value + e, IKT_LANES, y, y[2 * i], y[2 * i + 1]);
    add_entries(sum, part->column + e, part->value + e, end - e, y, y[2 * i], y[2 * i + 1]);
}

static inline void attract_row(const ikt_graph *graph, int64_t i, const float *y, float *force) {
    lanes sum = {{0}, {0}};
    add_part(&sum, &graph->forward, i, y);
    add_part(&sum, &graph->reverse, i, y);
    force[2 * i] = ikt_lanes_total(sum.x);
    force[2 * i + 1] = ikt_lanes_total(sum.y);
}

void ikt_attraction(ikt_context *ctx, const ikt_graph *graph, const float *y, float *force) {
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < graph->map.count; i++)
        attract_row(graph, i, y, force);
}

static double divergence(const ikt_csr *part, int64_t i, const float *y) {
    double row = 0;
    for (int64_t e = part->start[i]; e < part->start[i + 1]; e++) {
        const float *other = y + 2 * (int64_t)part->column[e];
        double dx = (double)y[2 * i] - (double)other[0];
        double dy = (double)y[2 * i + 1] - (double)other[1];
        double p = (double)part->value[e];
        row += p * log(p * (1 + dx * dx + dy * dy));
    }
    return row;
}

void ikt_attraction_divergence(const ikt_graph *graph, const float *y, ikt_exact_sum *sum) {
    for (int64_t i = 0; i < graph->map.count; i++)
        ikt_exact_sum_add(sum,
                          divergence(&graph->forward, i, y) + divergence(&graph->reverse, i, y));
}
