/* Attraction along the dense P. Sixteen lanes in global order, added pairwise in the end. */
#include "objective/attraction_dense.h"

#include <math.h>

#include "objective/lanes.h"

/* The positions of 16 columns, x and y apart, so that the inner loop is vectors throughout. */
static inline void add_columns(float *sum_x, float *sum_y, const float *value, const float *y,
                               float own_x, float own_y) {
    for (int lane = 0; lane < IKT_LANES; lane++) {
        float dx = own_x - y[2 * lane], dy = own_y - y[2 * lane + 1];
        float weight = value[lane] / (1.0f + dx * dx + dy * dy);
        sum_x[lane] += weight * dx;
        sum_y[lane] += weight * dy;
    }
}

void ikt_attraction_dense(ikt_context *ctx, const ikt_dense *dense, const float *y, float *force) {
    int64_t n = dense->map.n, whole = n / IKT_LANES * IKT_LANES;
    float tail[2 * IKT_LANES] = {0}; /* the last columns, padded; P is zero there */
    for (int64_t e = 2 * whole; e < 2 * n; e++)
        tail[e - 2 * whole] = y[e];
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < dense->map.count; i++) {
        const float *value = dense->value + i * dense->stride;
        const float *own = y + 2 * (dense->map.first + i);
        float sum_x[IKT_LANES] = {0}, sum_y[IKT_LANES] = {0};
        for (int64_t j = 0; j < whole; j += IKT_LANES)
            add_columns(sum_x, sum_y, value + j, y + 2 * j, own[0], own[1]);
        if (whole < n) add_columns(sum_x, sum_y, value + whole, tail, own[0], own[1]);
        force[2 * i] = ikt_lanes_total(sum_x);
        force[2 * i + 1] = ikt_lanes_total(sum_y);
    }
}

void ikt_attraction_dense_divergence(const ikt_dense *dense, const float *y, ikt_exact_sum *sum) {
    for (int64_t i = 0; i < dense->map.count; i++) {
        const float *value = dense->value + i * dense->stride;
        const float *own = y + 2 * (dense->map.first + i);
        double row = 0;
        for (int64_t j = 0; j < dense->map.n; j++) {
            double p = (double)value[j];
            if (!(p > 0)) continue;
            double dx = (double)own[0] - (double)y[2 * j];
            double dy = (double)own[1] - (double)y[2 * j + 1];
            row += p * log(p * (1 + dx * dx + dy * dy));
        }
        ikt_exact_sum_add(sum, row);
    }
}
