/* Body of attraction_portable.c, attraction_avx2.c and attraction_avx512.c, which define TARGET and
 *
 *     gather_positions(column, y, &x, &y): positions of IKT_LANES columns, x and y apart.
 *
 * A part of a row whose length is not a multiple of the lanes ends in a full block whose surplus
 * values are masked to zero: such lanes add +0 or -0, which changes no sum that began as +0. Its
 * surplus columns are those of the rows that follow, which are wanted next anyway. */
#include "objective/lanes.h"

#define BODY IKT_LANES_INLINE TARGET

typedef struct {
    ikt_lanes x, y, divergence;
} row_sums;

BODY void load_lanes(ikt_lanes *lanes, const float *from) {
    memcpy(lanes, from, sizeof *lanes);
}

/* Keeps the first `count` values. */
BODY void mask_lanes(ikt_lanes *value, int64_t count) {
    static const int32_t keep[2 * IKT_LANES] = {-1, -1, -1, -1, -1, -1, -1, -1,
                                                -1, -1, -1, -1, -1, -1, -1, -1};
    ikt_lane_bits bits, mask;
    memcpy(&bits, value, sizeof bits);
    memcpy(&mask, keep + IKT_LANES - count, sizeof mask);
    bits &= mask;
    memcpy(value, &bits, sizeof bits);
}

/* Adds sixteen entries; dx, dy: where the other positions are on the way in. */
BODY void add_entries(row_sums *sums, const ikt_lanes *value, const ikt_lanes *x,
                      const ikt_lanes *y, const float *own, bool want_divergence) {
    const ikt_lanes dx = own[0] - *x, dy = own[1] - *y;
    const ikt_lanes q = 1.0f + dx * dx + dy * dy;
    const ikt_lanes weight = *value / q;
    sums->x += weight * dx;
    sums->y += weight * dy;
    if (want_divergence) {
        ikt_lanes ratio = *value * q;
        ikt_lanes_log(&ratio);
        sums->divergence += *value * ratio;
    }
}

BODY void finish_row(const row_sums *sums, float *force, ikt_exact_sum *divergence,
                     bool want_divergence) {
    force[0] = ikt_lanes_total(&sums->x);
    force[1] = ikt_lanes_total(&sums->y);
    if (want_divergence) ikt_exact_sum_add(divergence, (double)ikt_lanes_total(&sums->divergence));
}

/* --- sparse ----------------------------------------------------------------------------------- */

BODY void add_block(row_sums *sums, const int32_t *column, const ikt_lanes *value, const float *y,
                    const float *own, bool want_divergence) {
    ikt_lanes other_x, other_y;
    gather_positions(column, y, &other_x, &other_y);
    add_entries(sums, value, &other_x, &other_y, own, want_divergence);
}

/* The last entries of a part, fewer than the lanes; `room`: entries up to the end of the arrays. */
BODY void add_tail(row_sums *sums, const int32_t *column, const float *value, int64_t count,
                   int64_t room, const float *y, const float *own, bool want_divergence) {
    int32_t padded[IKT_LANES] = {0};
    ikt_lanes some = {0};
    if (room >= IKT_LANES) {
        load_lanes(&some, value);
        mask_lanes(&some, count);
    } else {
        memcpy(padded, column, (size_t)count * sizeof *column);
        memcpy(&some, value, (size_t)count * sizeof *value);
        column = padded;
    }
    add_block(sums, column, &some, y, own, want_divergence);
}

BODY void add_part(row_sums *sums, const ikt_csr *part, int64_t i, int64_t entries, const float *y,
                   const float *own, bool want_divergence) {
    const int64_t end = part->start[i + 1];
    int64_t e = part->start[i];
    for (; e + IKT_LANES <= end; e += IKT_LANES) {
        ikt_lanes value;
        load_lanes(&value, part->value + e);
        add_block(sums, part->column + e, &value, y, own, want_divergence);
    }
    if (e < end)
        add_tail(sums, part->column + e, part->value + e, end - e, entries - e, y, own,
                 want_divergence);
}

BODY void sparse_rows(const ikt_graph *graph, const float *y, int64_t first, int64_t last,
                      float *force, ikt_exact_sum *divergence, bool want_divergence) {
    const int64_t n = graph->map.count;
    const int64_t forward = graph->forward.start[n], reverse = graph->reverse.start[n];
    for (int64_t i = first; i < last; i++) {
        row_sums sums = {{0}, {0}, {0}};
        add_part(&sums, &graph->forward, i, forward, y, y + 2 * i, want_divergence);
        add_part(&sums, &graph->reverse, i, reverse, y, y + 2 * i, want_divergence);
        finish_row(&sums, force + 2 * i, divergence, want_divergence);
    }
}

static TARGET void sparse(const ikt_graph *graph, const float *y, int64_t first, int64_t last,
                          float *force, ikt_exact_sum *divergence) {
    if (divergence)
        sparse_rows(graph, y, first, last, force, divergence, true);
    else
        sparse_rows(graph, y, first, last, force, divergence, false);
}

/* --- dense ------------------------------------------------------------------------------------ */

/* Even lanes of x and y interleaved. */
BODY void load_positions(const float *y, ikt_lanes *x_out, ikt_lanes *y_out) {
    for (int l = 0; l < IKT_LANES; l++) {
        (*x_out)[l] = y[2 * l];
        (*y_out)[l] = y[2 * l + 1];
    }
}

BODY void dense_rows(const ikt_dense *dense, const float *y, int64_t first, int64_t last,
                     float *force, ikt_exact_sum *divergence, bool want_divergence) {
    for (int64_t i = first; i < last; i++) {
        const float *row = dense->value + i * dense->stride;
        row_sums sums = {{0}, {0}, {0}};
        for (int64_t j = 0; j < dense->stride; j += IKT_LANES) {
            ikt_lanes value, other_x, other_y;
            load_lanes(&value, row + j);
            load_positions(y + 2 * j, &other_x, &other_y);
            add_entries(&sums, &value, &other_x, &other_y, y + 2 * (dense->map.first + i),
                        want_divergence);
        }
        finish_row(&sums, force + 2 * i, divergence, want_divergence);
    }
}

static TARGET void dense(const ikt_dense *p, const float *y, int64_t first, int64_t last,
                         float *force, ikt_exact_sum *divergence) {
    if (divergence)
        dense_rows(p, y, first, last, force, divergence, true);
    else
        dense_rows(p, y, first, last, force, divergence, false);
}
