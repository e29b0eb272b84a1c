/* Body of attraction_portable.c, attraction_avx2.c and attraction_avx512.c, which define
 * LANE_WIDTH, TARGET, and
 *
 *     gather_positions(column, y, &x, &y): positions of LANE_WIDTH columns, x and y apart.
 *
 * A part of a row whose length is not a multiple of the lanes ends in a block whose surplus values
 * are masked to zero: such lanes add +0 or -0, which changes no sum that began as +0. Its surplus
 * columns are those of the rows that follow, which are wanted next anyway. */
#define BODY LANES_INLINE TARGET

typedef struct {
    vector x[VECTORS], y[VECTORS], divergence[VECTORS];
} row_sums;

/* Adds the entries of one vector of the block to its sums. */
BODY void add_entries(row_sums *sums, int v, const vector *value, const vector *x, const vector *y,
                      const float *own, bool want_divergence) {
    const vector dx = own[0] - *x, dy = own[1] - *y;
    const vector q = 1.0f + dx * dx + dy * dy;
    const vector weight = *value / q;
    sums->x[v] += weight * dx;
    sums->y[v] += weight * dy;
    if (want_divergence) {
        vector ratio = *value * q;
        vector_log(&ratio);
        sums->divergence[v] += *value * ratio;
    }
}

BODY void finish_row(const row_sums *sums, float *force, float *divergence) {
    force[0] = lanes_total(sums->x);
    force[1] = lanes_total(sums->y);
    if (divergence) *divergence = lanes_total(sums->divergence);
}

/* --- sparse ----------------------------------------------------------------------------------- */

BODY void add_columns(row_sums *sums, int v, const int32_t *column, const vector *value,
                      const float *y, const float *own, bool want_divergence) {
    vector other_x, other_y;
    gather_positions(column, y, &other_x, &other_y);
    add_entries(sums, v, value, &other_x, &other_y, own, want_divergence);
}

/* The last entries of a part, fewer than the lanes. */
BODY void add_tail(row_sums *sums, const int32_t *column, const float *value, int64_t count,
                   const float *y, const float *own, bool want_divergence) {
    for (int v = 0; v < VECTORS && v * LANE_WIDTH < count; v++) {
        const int64_t left = count - v * LANE_WIDTH;
        vector some;
        memcpy(&some, value + v * LANE_WIDTH, sizeof some);
        vector_keep(&some, left < LANE_WIDTH ? left : LANE_WIDTH);
        add_columns(sums, v, column + v * LANE_WIDTH, &some, y, own, want_divergence);
    }
}

/* At the end of the arrays there are no entries to be masked: zeros stand in. */
BODY void add_last_tail(row_sums *sums, const int32_t *column, const float *value, int64_t count,
                        const float *y, const float *own, bool want_divergence) {
    int32_t columns[LANES] = {0};
    float values[LANES] = {0};
    memcpy(columns, column, (size_t)count * sizeof *column);
    memcpy(values, value, (size_t)count * sizeof *value);
    add_tail(sums, columns, values, count, y, own, want_divergence);
}

/* `entries`: of all rows. */
BODY void add_part(row_sums *sums, const ikt_csr *part, int64_t i, int64_t entries, const float *y,
                   const float *own, bool want_divergence) {
    const int64_t end = part->start[i + 1];
    int64_t e = part->start[i];
    for (; e + LANES <= end; e += LANES)
        for (int v = 0; v < VECTORS; v++) {
            vector value;
            memcpy(&value, part->value + e + v * LANE_WIDTH, sizeof value);
            add_columns(sums, v, part->column + e + v * LANE_WIDTH, &value, y, own,
                        want_divergence);
        }
    if (e < end && e + LANES <= entries)
        add_tail(sums, part->column + e, part->value + e, end - e, y, own, want_divergence);
    else if (e < end)
        add_last_tail(sums, part->column + e, part->value + e, end - e, y, own, want_divergence);
}

BODY void sparse_rows(const ikt_graph *graph, const float *y, int64_t first, int64_t last,
                      float *force, float *divergence, bool want_divergence) {
    const int64_t n = graph->map.count;
    const int64_t forward = graph->forward.start[n], reverse = graph->reverse.start[n];
    for (int64_t i = first; i < last; i++) {
        row_sums sums;
        memset(&sums, 0, sizeof sums);
        add_part(&sums, &graph->forward, i, forward, y, y + 2 * i, want_divergence);
        add_part(&sums, &graph->reverse, i, reverse, y, y + 2 * i, want_divergence);
        finish_row(&sums, force + 2 * i, want_divergence ? divergence + (i - first) : NULL);
    }
}

static TARGET void sparse(const ikt_graph *graph, const float *y, int64_t first, int64_t last,
                          float *force, float *divergence) {
    if (divergence)
        sparse_rows(graph, y, first, last, force, divergence, true);
    else
        sparse_rows(graph, y, first, last, force, NULL, false);
}

/* --- dense ------------------------------------------------------------------------------------ */

BODY void dense_rows(const ikt_dense *dense, const float *y, int64_t first, int64_t last,
                     float *force, float *divergence, bool want_divergence) {
    const float *along = y, *across = y + dense->stride;
    for (int64_t i = first; i < last; i++) {
        const float *row = dense->value + i * dense->stride;
        const float own[2] = {along[dense->map.first + i], across[dense->map.first + i]};
        row_sums sums;
        memset(&sums, 0, sizeof sums);
        for (int64_t j = 0; j < dense->stride; j += LANES)
            for (int v = 0; v < VECTORS; v++) {
                const int64_t at = j + v * LANE_WIDTH;
                vector value, other_x, other_y;
                memcpy(&value, row + at, sizeof value);
                memcpy(&other_x, along + at, sizeof other_x);
                memcpy(&other_y, across + at, sizeof other_y);
                add_entries(&sums, v, &value, &other_x, &other_y, own, want_divergence);
            }
        finish_row(&sums, force + 2 * i, want_divergence ? divergence + (i - first) : NULL);
    }
}

static TARGET void dense(const ikt_dense *p, const float *y, int64_t first, int64_t last,
                         float *force, float *divergence) {
    if (divergence)
        dense_rows(p, y, first, last, force, divergence, true);
    else
        dense_rows(p, y, first, last, force, NULL, false);
}
