/* Distances between a block of rows and a block of rows. See metric.h and metric.c.
 *
 * Method: each lane holds one row of B and runs over the dimensions in order. A tile of 8 rows of A
 * by 32 rows of B (AVX-512) stays in registers. A sparse row goes along the columns of a packed
 * group and its own, in order; columns of its own alone meet zeros.
 * Advantage: every lane performs the same operations in the same order, so that a distance does not
 * depend on the blocking, the vector width, the instruction set or the threads.
 *
 * The tile takes its shape as constants and is inlined once per shape; the shapes below the full
 * one serve what is left at the edges. */
#include "metric/metric.h"

#include "base/lanes.h"

/* What is added up: squares of differences, or their sizes, whose sum is squared. */
typedef enum { SQUARES, SIZES } form;

/* Rows and groups of a tile, and groups that one row meets at once. */
enum {
    TILE_ROWS = LANE_WIDTH == 16  ? 8
                : LANE_WIDTH == 8 ? 4
                                  : 1,
    TILE_GROUPS = LANE_WIDTH == 16 ? 2 : 1,
    AT_ONCE = LANE_WIDTH == 16  ? 8
              : LANE_WIDTH == 8 ? 4
                                : 1
};

_Static_assert((int)LANES == (int)IKT_PACK_ROWS, "a packed group is sixteen lanes");

LANES_INLINE floats add(const form of, floats sum, floats x, floats y) {
    if (of == SIZES) return floats_add_gap(x, y, sum);
    const floats gap = floats_sub(x, y);
    return floats_fused(gap, gap, sum);
}

LANES_INLINE void finish(const form of, floats sum, float *out) {
    floats_store(out, of == SIZES ? floats_mul(sum, sum) : sum);
}

LANES_INLINE void tile(const form of, const float *a, const float *b, int64_t d, float *out,
                       int64_t stride, const int rows, const int groups) {
    floats sum[TILE_ROWS][TILE_GROUPS];
    for (int r = 0; r < rows; r++)
        for (int g = 0; g < groups; g++)
            sum[r][g] = floats_set(0);
    for (int64_t k = 0; k < d; k++) {
        floats column[TILE_GROUPS];
        for (int g = 0; g < groups; g++)
            column[g] = floats_load(b + (g * d + k) * LANES);
        for (int r = 0; r < rows; r++) {
            const floats value = floats_set(a[r * d + k]);
            for (int g = 0; g < groups; g++)
                sum[r][g] = add(of, sum[r][g], column[g], value);
        }
    }
    for (int r = 0; r < rows; r++)
        for (int g = 0; g < groups; g++)
            finish(of, sum[r][g], out + r * stride + g * LANES);
}

/* All rows of A by `groups` groups of B, which stay in the second-level cache meanwhile. */
LANES_INLINE void all_rows(const form of, const float *a, int64_t na, const float *b, int64_t d,
                           float *out, int64_t stride, const int groups) {
    int64_t i = 0;
    for (; i + TILE_ROWS <= na; i += TILE_ROWS)
        tile(of, a + i * d, b, d, out + i * stride, stride, TILE_ROWS, groups);
    /* Where a tile has no more rows, 1 stands for a constant that is never reached but fits. */
    if (TILE_ROWS > 4 && i + 4 <= na) {
        tile(of, a + i * d, b, d, out + i * stride, stride, TILE_ROWS > 4 ? 4 : 1, groups);
        i += 4;
    }
    if (TILE_ROWS > 2 && i + 2 <= na) {
        tile(of, a + i * d, b, d, out + i * stride, stride, TILE_ROWS > 2 ? 2 : 1, groups);
        i += 2;
    }
    if (i < na) tile(of, a + i * d, b, d, out + i * stride, stride, 1, groups);
}

LANES_INLINE void block(const form of, const float *a, int64_t na, const float *packed_b,
                        int64_t nb, int64_t d, float *out) {
    const int64_t stride = ikt_packed_rows(nb), all = stride / LANES;
    int64_t g = 0;
    for (; g + TILE_GROUPS <= all; g += TILE_GROUPS)
        all_rows(of, a, na, packed_b + g * LANES * d, d, out + g * LANES, stride, TILE_GROUPS);
    for (; g < all; g++)
        all_rows(of, a, na, packed_b + g * LANES * d, d, out + g * LANES, stride, 1);
}

/* One row and some groups that lie anywhere: each sum waits for itself alone. */
LANES_INLINE void meet(const form of, const float *a, const float *const *b, int64_t d, float *out,
                       const int groups) {
    floats sum[AT_ONCE];
    for (int g = 0; g < groups; g++)
        sum[g] = floats_set(0);
    for (int64_t k = 0; k < d; k++) {
        const floats value = floats_set(a[k]);
        for (int g = 0; g < groups; g++)
            sum[g] = add(of, sum[g], floats_load(b[g] + k * LANES), value);
    }
    for (int g = 0; g < groups; g++)
        finish(of, sum[g], out + g * LANES);
}

LANES_INLINE void some_groups(const form of, const float *a, const float *const *group,
                              int64_t groups, int64_t d, float *out) {
    int64_t g = 0;
    for (; g + AT_ONCE <= groups; g += AT_ONCE)
        meet(of, a, group + g, d, out + g * LANES, AT_ONCE);
    for (; g < groups; g++)
        meet(of, a, group + g, d, out + g * LANES, 1);
}

/* A sparse row and one group of `count` columns. */
LANES_INLINE void meet_sparse(const form of, const int32_t *column, const float *value,
                              int64_t count, ikt_sparse_row row, float *out) {
    const floats zero = floats_set(0);
    floats sum = zero;
    int64_t e = 0;
    for (int64_t k = 0; k < count; k++) {
        for (; e < row.count && row.column[e] < column[k]; e++)
            sum = add(of, sum, floats_set(row.value[e]), zero);
        const bool is_shared = e < row.count && row.column[e] == column[k];
        const float x = is_shared ? row.value[e] : 0;
        e += is_shared;
        sum = add(of, sum, floats_set(x), floats_load(value + k * LANES));
    }
    for (; e < row.count; e++)
        sum = add(of, sum, floats_set(row.value[e]), zero);
    finish(of, sum, out);
}

LANES_INLINE void sparse(const form of, const ikt_sparse_pack *pack, ikt_sparse_row row,
                         float *out) {
    for (int64_t g = 0; g < pack->groups; g++) {
        const int64_t at = pack->first[g];
        meet_sparse(of, pack->column + at, pack->value + at * LANES, pack->first[g + 1] - at, row,
                    out + g * LANES);
    }
}

/* --- instances -------------------------------------------------------------------------------- */

#define DISTANCES(metric, of)                                                                      \
    static void metric##_block(const float *a, int64_t na, const float *packed_b, int64_t nb,      \
                               int64_t d, float *out) {                                            \
        block(of, a, na, packed_b, nb, d, out);                                                    \
    }                                                                                              \
    static void metric##_groups(const float *a, const float *const *group, int64_t groups,         \
                                int64_t d, float *out) {                                           \
        some_groups(of, a, group, groups, d, out);                                                 \
    }                                                                                              \
    static void metric##_sparse(const ikt_sparse_pack *pack, ikt_sparse_row row, float *out) {     \
        sparse(of, pack, row, out);                                                                \
    }                                                                                              \
    const ikt_metric_kernel IKT_KERNEL(ikt_##metric) = {metric##_block, metric##_groups,           \
                                                        metric##_sparse};

DISTANCES(euclidean, SQUARES)
DISTANCES(manhattan, SIZES)
