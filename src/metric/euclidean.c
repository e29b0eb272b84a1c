/* Squared Euclidean distances with one row of B per lane. See distance.h.
 *
 * The tiles of the three instruction sets differ in shape only: every lane performs the same
 * operations in the same order, so the bits agree. The tile functions take their shape as constants
 * and are inlined once per shape; the shapes below the full one serve what is left at the edges. */
#include "linalg/distance.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { LANES = IKT_PACK_ROWS, TILE_ROWS = 8 };

int64_t ikt_packed_rows(int64_t n) {
    return (n + LANES - 1) / LANES * LANES;
}

int64_t ikt_packed_floats(int64_t n, int64_t d) {
    return ikt_packed_rows(n) * d;
}

void ikt_pack_rows(const float *rows, int64_t n, int64_t d, float *packed) {
    int64_t tail = n % LANES;
    if (tail) memset(packed + (n - tail) * d, 0, sizeof(float) * LANES * (size_t)d);
    for (int64_t row = 0; row < n; row++) {
        float *lane = packed + row / LANES * LANES * d + row % LANES;
        for (int64_t k = 0; k < d; k++)
            lane[k * LANES] = rows[row * d + k];
    }
}

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
                    sum[lane] = fmaf(difference, difference, sum[lane]);
                }
            }
            memcpy(out + r * stride + g * LANES, sum, sizeof sum);
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
                sum[r][g] = _mm512_fmadd_ps(difference, difference, sum[r][g]);
            }
        }
    }
    for (int r = 0; r < rows; r++)
        for (int g = 0; g < groups; g++)
            _mm512_storeu_ps(out + r * stride + g * LANES, sum[r][g]);
}

__attribute__((target("avx512f"))) static void tile_avx512(const float *a, const float *b,
                                                           int64_t d, float *out, int64_t stride,
                                                           int rows, int groups) {
    switch (rows * 4 + groups) {
    case 8 * 4 + 2:
        shape_avx512(a, b, d, out, stride, 8, 2);
        break;
    case 8 * 4 + 1:
        shape_avx512(a, b, d, out, stride, 8, 1);
        break;
    case 4 * 4 + 2:
        shape_avx512(a, b, d, out, stride, 4, 2);
        break;
    case 4 * 4 + 1:
        shape_avx512(a, b, d, out, stride, 4, 1);
        break;
    case 2 * 4 + 2:
        shape_avx512(a, b, d, out, stride, 2, 2);
        break;
    case 2 * 4 + 1:
        shape_avx512(a, b, d, out, stride, 2, 1);
        break;
    case 1 * 4 + 2:
        shape_avx512(a, b, d, out, stride, 1, 2);
        break;
    default:
        shape_avx512(a, b, d, out, stride, 1, 1);
        break;
    }
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
            sum[r][0] = _mm256_fmadd_ps(first, first, sum[r][0]);
            sum[r][1] = _mm256_fmadd_ps(second, second, sum[r][1]);
        }
    }
    for (int r = 0; r < rows; r++) {
        _mm256_storeu_ps(out + r * stride, sum[r][0]);
        _mm256_storeu_ps(out + r * stride + 8, sum[r][1]);
    }
}

__attribute__((target("avx2,fma"))) static void tile_avx2(const float *a, const float *b, int64_t d,
                                                          float *out, int64_t stride, int rows,
                                                          int groups) {
    for (int g = 0; g < groups; g++, b += LANES * d, out += LANES) {
        switch (rows) {
        case 8:
            shape_avx2(a, b, d, out, stride, 4);
            shape_avx2(a + 4 * d, b, d, out + 4 * stride, stride, 4);
            break;
        case 4:
            shape_avx2(a, b, d, out, stride, 4);
            break;
        case 2:
            shape_avx2(a, b, d, out, stride, 2);
            break;
        default:
            shape_avx2(a, b, d, out, stride, 1);
            break;
        }
    }
}

static tile_function *tile_for(ikt_isa isa) {
    if (isa >= IKT_ISA_AVX512) return tile_avx512;
    return isa == IKT_ISA_AVX2 ? tile_avx2 : tile_portable;
}

#else

static tile_function *tile_for(ikt_isa isa) {
    (void)isa;
    return tile_portable;
}

#endif

/* The largest power of two, at most TILE_ROWS, that does not exceed what is left. */
static int rows_now(int64_t left) {
    int rows = TILE_ROWS;
    while (rows > left)
        rows /= 2;
    return rows;
}

void ikt_distance_block(ikt_isa isa, const float *a, int64_t na, const float *packed_b, int64_t nb,
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
            rows = rows_now(na - i);
            tile(a + i * d, b, d, out + i * stride + g * LANES, stride, rows, groups);
        }
    }
}
