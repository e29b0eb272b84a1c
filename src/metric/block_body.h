/* Distances between a block of rows and a block of rows that add up something of each difference:
 * the text of euclidean.c and manhattan.c, which say what.
 *
 * Before it is included, these are defined:
 *   BLOCK_ADD(sum, gap)          the sum with the term of one difference of coordinates
 *   BLOCK_ADD_AVX2, _AVX512      the same for vectors; all three round alike
 *   BLOCK_FINISH(sum)            the value of a distance, of floats and of vectors
 *
 * Method: each SIMD lane holds one row of B and runs over the dimensions in order. A tile of 8 rows
 * of A by 32 rows of B stays in registers. A sparse row goes along the columns of a packed group
 * and its own, in order; columns of its own alone meet zeros.
 * Advantage: a distance does not depend on the blocking, the vector width, the instruction set or
 * the threads.
 *
 * The tiles of the three instruction sets differ in shape only: every lane performs the same
 * operations in the same order, so the bits agree. The tile functions take their shape as constants
 * and are inlined once per shape; the shapes below the full one serve what is left at the edges. */
#ifndef IKT_METRIC_BLOCK_BODY_H
#define IKT_METRIC_BLOCK_BODY_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "metric/metric.h"

enum { LANES = IKT_PACK_ROWS, TILE_ROWS = 8, AT_ONCE = 8 };

/* Distances of `rows` rows of A to `groups` groups of B. */
typedef void tile_function(const float *a, const float *b, int64_t d, float *out, int64_t stride,
                           int rows, int groups);

static void tile_portable(const float *a, const float *b, int64_t d, float *out, int64_t stride,
                          int rows, int groups) {
    for (int g = 0; g < groups; g++, b += LANES * d) {
        for (int r = 0; r < rows; r++) {
            float sum[LANES] = {0};
            for (int64_t k = 0; k < d; k++) {
                for (int lane = 0; lane < LANES; lane++) {
                    float difference = b[k * LANES + lane] - a[r * d + k];
                    sum[lane] = BLOCK_ADD(sum[lane], difference);
                }
            }
            for (int lane = 0; lane < LANES; lane++)
                out[r * stride + g * LANES + lane] = BLOCK_FINISH(sum[lane]);
        }
    }
}

#if defined(__x86_64__)

/* One shape of tile: the constants make the loops over r and g disappear, and `sum` registers. */
__attribute__((target("avx512f"), always_inline)) static inline void
shape_avx512(const float *a, const float *b, int64_t d, float *out, int64_t stride, const int rows,
             const int groups) {
    __m512 sum[TILE_ROWS][2];
    for (int r = 0; r < rows; r++)
        for (int g = 0; g < groups; g++)
            sum[r][g] = _mm512_setzero_ps();
    for (int64_t k = 0; k < d; k++) {
        __m512 column[2];
        for (int g = 0; g < groups; g++)
            column[g] = _mm512_load_ps(b + (g * d + k) * LANES);
        for (int r = 0; r < rows; r++) {
            __m512 value = _mm512_set1_ps(a[r * d + k]);
            for (int g = 0; g < groups; g++) {
                __m512 difference = _mm512_sub_ps(column[g], value);
                sum[r][g] = BLOCK_ADD_AVX512(sum[r][g], difference);
            }
        }
    }
    for (int r = 0; r < rows; r++)
        for (int g = 0; g < groups; g++)
            _mm512_storeu_ps(out + r * stride + g * LANES, BLOCK_FINISH(sum[r][g]));
}

__attribute__((target("avx512f"), always_inline)) static inline void
rows_avx512(const float *a, const float *b, int64_t d, float *out, int64_t stride, int rows,
            const int groups) {
    switch (rows) {
    case 8:
        shape_avx512(a, b, d, out, stride, 8, groups);
        break;
    case 4:
        shape_avx512(a, b, d, out, stride, 4, groups);
        break;
    case 2:
        shape_avx512(a, b, d, out, stride, 2, groups);
        break;
    default:
        shape_avx512(a, b, d, out, stride, 1, groups);
        break;
    }
}

__attribute__((target("avx512f"))) static void tile_avx512(const float *a, const float *b,
                                                           int64_t d, float *out, int64_t stride,
                                                           int rows, int groups) {
    if (groups == 2)
        rows_avx512(a, b, d, out, stride, rows, 2);
    else
        rows_avx512(a, b, d, out, stride, rows, 1);
}

/* One row and some groups that lie anywhere: each sum waits for itself alone. */
__attribute__((target("avx512f"), always_inline)) static inline void
some_avx512(const float *a, const float *const *b, int64_t d, float *out, const int groups) {
    __m512 sum[AT_ONCE];
    for (int g = 0; g < groups; g++)
        sum[g] = _mm512_setzero_ps();
    for (int64_t k = 0; k < d; k++) {
        const __m512 value = _mm512_set1_ps(a[k]);
        for (int g = 0; g < groups; g++) {
            const __m512 difference = _mm512_sub_ps(_mm512_load_ps(b[g] + k * LANES), value);
            sum[g] = BLOCK_ADD_AVX512(sum[g], difference);
        }
    }
    for (int g = 0; g < groups; g++)
        _mm512_storeu_ps(out + g * LANES, BLOCK_FINISH(sum[g]));
}

__attribute__((target("avx512f"))) static void
groups_avx512(const float *a, const float *const *b, int64_t groups, int64_t d, float *out) {
    int64_t g = 0;
    for (; g + AT_ONCE <= groups; g += AT_ONCE)
        some_avx512(a, b + g, d, out + g * LANES, AT_ONCE);
    for (; g < groups; g++)
        some_avx512(a, b + g, d, out + g * LANES, 1);
}

/* The same for 16 registers of 8 lanes: at most 4 rows by one group (two registers). */
__attribute__((target("avx2,fma"), always_inline)) static inline void
shape_avx2(const float *a, const float *b, int64_t d, float *out, int64_t stride, const int rows) {
    __m256 sum[4][2];
    for (int r = 0; r < rows; r++)
        sum[r][0] = sum[r][1] = _mm256_setzero_ps();
    for (int64_t k = 0; k < d; k++) {
        __m256 low = _mm256_load_ps(b + k * LANES), high = _mm256_load_ps(b + k * LANES + 8);
        for (int r = 0; r < rows; r++) {
            __m256 value = _mm256_set1_ps(a[r * d + k]);
            __m256 first = _mm256_sub_ps(low, value), second = _mm256_sub_ps(high, value);
            sum[r][0] = BLOCK_ADD_AVX2(sum[r][0], first);
            sum[r][1] = BLOCK_ADD_AVX2(sum[r][1], second);
        }
    }
    for (int r = 0; r < rows; r++) {
        _mm256_storeu_ps(out + r * stride, BLOCK_FINISH(sum[r][0]));
        _mm256_storeu_ps(out + r * stride + 8, BLOCK_FINISH(sum[r][1]));
    }
}

__attribute__((target("avx2,fma"))) static void tile_avx2(const float *a, const float *b, int64_t d,
                                                          float *out, int64_t stride, int rows,
                                                          int groups) {
    const int step = rows < 4 ? rows : 4; /* 8 rows are two times 4 */
    for (int g = 0; g < groups; g++, b += LANES * d, out += LANES)
        for (int r = 0; r < rows; r += step) {
            if (step == 4)
                shape_avx2(a + r * d, b, d, out + r * stride, stride, 4);
            else if (step == 2)
                shape_avx2(a, b, d, out, stride, 2);
            else
                shape_avx2(a, b, d, out, stride, 1);
        }
}

#endif

static tile_function *tile_for(ikt_isa isa) {
#if defined(__x86_64__)
    if (isa >= IKT_ISA_AVX512) return tile_avx512;
    if (isa == IKT_ISA_AVX2) return tile_avx2;
#endif
    (void)isa;
    return tile_portable;
}

static void block(ikt_isa isa, const float *a, int64_t na, const float *packed_b, int64_t nb,
                  int64_t d, float *out) {
    tile_function *tile = tile_for(isa);
    int64_t stride = ikt_packed_rows(nb), all = stride / LANES;
    int groups = 2;
    /* Two groups of B stay in the second-level cache while all rows of A pass by. */
    for (int64_t g = 0; g < all; g += groups) {
        groups = all - g < 2 ? 1 : 2;
        const float *b = packed_b + g * LANES * d;
        int rows = TILE_ROWS;
        for (int64_t i = 0; i < na; i += rows) {
            while (rows > na - i) /* a power of two */
                rows /= 2;
            tile(a + i * d, b, d, out + i * stride + g * LANES, stride, rows, groups);
        }
    }
}

static void some_groups(ikt_isa isa, const float *a, const float *const *group, int64_t groups,
                        int64_t d, float *out) {
#if defined(__x86_64__)
    if (isa >= IKT_ISA_AVX512) {
        groups_avx512(a, group, groups, d, out);
        return;
    }
#endif
    for (int64_t g = 0; g < groups; g++)
        tile_for(isa)(a, group[g], d, out + g * LANES, LANES, 1, 1);
}

/* One group; `out` [16]. */
IKT_WIDEST_FUSED
static void sparse_group(const int32_t *column, const float *value, int64_t count,
                         ikt_sparse_row row, float *out) {
    float sum[LANES] = {0};
    int64_t e = 0;
    for (int64_t k = 0; k < count; k++) {
        for (; e < row.count && row.column[e] < column[k]; e++)
            for (int l = 0; l < LANES; l++)
                sum[l] = BLOCK_ADD(sum[l], row.value[e]);
        const bool is_shared = e < row.count && row.column[e] == column[k];
        const float x = is_shared ? row.value[e] : 0;
        e += is_shared;
        for (int l = 0; l < LANES; l++) {
            const float gap = x - value[k * LANES + l];
            sum[l] = BLOCK_ADD(sum[l], gap);
        }
    }
    for (; e < row.count; e++)
        for (int l = 0; l < LANES; l++)
            sum[l] = BLOCK_ADD(sum[l], row.value[e]);
    for (int l = 0; l < LANES; l++)
        out[l] = BLOCK_FINISH(sum[l]);
}

static void sparse(const ikt_sparse_pack *pack, ikt_sparse_row row, float *out) {
    for (int64_t g = 0; g < pack->groups; g++) {
        const int64_t at = pack->first[g];
        sparse_group(pack->column + at, pack->value + at * LANES, pack->first[g + 1] - at, row,
                     out + g * LANES);
    }
}

#endif
