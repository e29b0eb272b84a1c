/* The choice of a metric, and the packing of rows. See metric.h. */
#include "metric/metric.h"

#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/sort.h"

enum { LANES = IKT_PACK_ROWS };

static const char purpose[] = "sparse rows";

const ikt_metric *ikt_metric_of(const ikt_dataset *data) {
    /* Cosine and correlation are Euclidean distances of rows that have been mapped. */
    return ikt_dataset_metric(data) == IKT_METRIC_MANHATTAN ? &ikt_metric_manhattan
                                                            : &ikt_metric_euclidean;
}

/* Where the elements of a packed row begin; they are LANES apart. */
static int64_t lane_of(int64_t row, int64_t d) {
    return row / LANES * LANES * d + row % LANES;
}

typedef float four __attribute__((vector_size(4 * sizeof(float))));

/* Four rows, which become neighbouring lanes: squares of four by four are transposed. */
static void pack_four(const float *const *row, int64_t d, float *lane) {
    int64_t k = 0;
    for (; k + 4 <= d; k += 4) {
        four a, b, c, e;
        memcpy(&a, row[0] + k, sizeof a);
        memcpy(&b, row[1] + k, sizeof b);
        memcpy(&c, row[2] + k, sizeof c);
        memcpy(&e, row[3] + k, sizeof e);
        const four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
        const four ce = __builtin_shufflevector(c, e, 0, 4, 1, 5);
        const four ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
        const four ce_high = __builtin_shufflevector(c, e, 2, 6, 3, 7);
        const four column[] = {__builtin_shufflevector(ab, ce, 0, 1, 4, 5),
                               __builtin_shufflevector(ab, ce, 2, 3, 6, 7),
                               __builtin_shufflevector(ab_high, ce_high, 0, 1, 4, 5),
                               __builtin_shufflevector(ab_high, ce_high, 2, 3, 6, 7)};
        for (int j = 0; j < 4; j++)
            memcpy(lane + (k + j) * LANES, &column[j], sizeof column[j]);
    }
    for (; k < d; k++)
        for (int j = 0; j < 4; j++)
            lane[k * LANES + j] = row[j][k];
}

void ikt_pack_rows_from(const float *const *row, int64_t n, int64_t d, float *packed) {
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        pack_four(row + i, d, packed + lane_of(i, d));
    for (; i < n; i++) {
        float *lane = packed + lane_of(i, d);
        for (int64_t k = 0; k < d; k++)
            lane[k * LANES] = row[i][k];
    }
}

void ikt_pack_rows(const float *rows, int64_t n, int64_t d, float *packed) {
    const int64_t tail = n % LANES;
    if (tail) memset(packed + (n - tail) * d, 0, sizeof(float) * LANES * (size_t)d);
    for (int64_t first = 0; first < n; first += LANES) {
        const float *row[LANES];
        const int64_t count = n - first < LANES ? n - first : LANES;
        for (int64_t i = 0; i < count; i++)
            row[i] = rows + (first + i) * d;
        ikt_pack_rows_from(row, count, d, packed + first * d);
    }
}

/* --- sparse rows ------------------------------------------------------------------------------ */

static void place_values(const ikt_sparse *rows, int64_t group, ikt_sparse_pack *pack) {
    const int32_t *column = pack->column + pack->first[group];
    float *value = pack->value + pack->first[group] * LANES;
    for (int64_t l = 0; l < LANES && group * LANES + l < rows->count; l++) {
        const ikt_sparse_row row = ikt_sparse_row_of(rows, group * LANES + l);
        for (int64_t e = 0, at = 0; e < row.count; e++, at++) {
            while (column[at] != row.column[e])
                at++;
            value[at * LANES + l] = row.value[e];
        }
    }
}

ikt_status ikt_sparse_pack_create(ikt_context *ctx, const ikt_sparse *rows, ikt_sparse_pack *out) {
    const int64_t groups = ikt_packed_rows(rows->count) / LANES;
    const int64_t entries = rows->start[rows->count];
    ikt_sparse_pack made IKT_AT_END(ikt_sparse_pack_destroy) = {.count = rows->count,
                                                                .groups = groups};
    *out = (ikt_sparse_pack){0};
    IKT_TRY(ikt_alloc(ctx, &made.first, groups + 1, sizeof *made.first, purpose));
    IKT_TRY(ikt_alloc(ctx, &made.column, entries, sizeof *made.column, purpose));
    for (int64_t g = 0; g < groups; g++) { /* the columns of a group, each once */
        const int64_t end = (g + 1) * LANES < rows->count ? (g + 1) * LANES : rows->count;
        const int64_t begin = rows->start[g * LANES], joined = rows->start[end] - begin;
        int32_t *column = made.column + made.first[g];
        if (joined > 0) memcpy(column, rows->column + begin, (size_t)joined * sizeof *column);
        made.first[g + 1] = made.first[g] + ikt_sort_distinct_i32(column, joined);
    }
    IKT_TRY(ikt_alloc(ctx, &made.value, made.first[groups] * LANES, sizeof *made.value, purpose));
    for (int64_t g = 0; g < groups; g++)
        place_values(rows, g, &made);
    return ikt_give(out, made);
}

void ikt_sparse_pack_destroy(ikt_sparse_pack *pack) {
    ikt_free_all(&pack->first, &pack->column, &pack->value);
    pack->count = pack->groups = 0;
}

int64_t ikt_sparse_pack_bytes(int64_t rows, int64_t entries) {
    return (rows / LANES + 2) * 8 + entries * (4 + 4 * LANES);
}

/* Squared Euclidean distances.
 *
 * Method: the difference of two coordinates and a fused multiply-add that adds its square, in the
 * tiles of block.kernel.c.
 * Advantage: d(x, y) = d(y, x) and d(x, x) = 0 exactly; nothing cancels, near rows are as accurate
 * as far ones. Disadvantage: two instructions an element, where |x|^2 - 2 x.y + |y|^2 needs one. */

/* As the formula says, in double precision. */
static double euclidean_exact(const float *x, const float *y, int64_t d) {
    double sum = 0;
    for (int64_t k = 0; k < d; k++) {
        const double difference = (double)x[k] - (double)y[k];
        sum += difference * difference;
    }
    return sum;
}

const ikt_metric ikt_metric_euclidean = {
    .on = ikt_euclidean_for, .exact = euclidean_exact, .sparse_exact = ikt_sparse_distance_f64};

/* Squared Manhattan distances, (sum of |x_k - y_k|)^2.
 *
 * The square is what every metric here gives, so that what is made of distances (Gaussian weights,
 * measures) need not know which metric it was; the order of rows and their ties are those of the
 * sum itself, as the square of a float rounds two different ones to two different ones.
 * Method: the absolute difference of two coordinates is added in the tiles of block.kernel.c.
 * Advantage: as for the Euclidean metric. Disadvantage: three instructions an element. */

/* As the formula says, in double precision. */
static double manhattan_exact(const float *x, const float *y, int64_t d) {
    double sum = 0;
    for (int64_t k = 0; k < d; k++)
        sum += fabs((double)x[k] - (double)y[k]);
    return sum * sum;
}

static double manhattan_sparse_exact(ikt_sparse_row x, ikt_sparse_row y) {
    const double sum = ikt_sparse_manhattan_f64(x, y);
    return sum * sum;
}

const ikt_metric ikt_metric_manhattan = {
    .on = ikt_manhattan_for, .exact = manhattan_exact, .sparse_exact = manhattan_sparse_exact};
