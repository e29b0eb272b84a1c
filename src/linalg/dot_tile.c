/* 8 x 16 inner products in a fixed order of operations. See dot_tile.h. */
#include "linalg/dot_tile.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { ROWS = IKT_TILE_ROWS, COLUMNS = IKT_TILE_COLUMNS };

static void tile_portable(int64_t depth, const double *a, int64_t row, int64_t step,
                          const double *b, double *c) {
    memset(c, 0, sizeof(double) * ROWS * COLUMNS);
    for (int64_t k = 0; k < depth; k++) {
        for (int i = 0; i < ROWS; i++) {
            double value = a[i * row + k * step];
            for (int j = 0; j < COLUMNS; j++)
                c[i * COLUMNS + j] = fma(value, b[k * COLUMNS + j], c[i * COLUMNS + j]);
        }
    }
}

#if defined(__x86_64__)

__attribute__((target("avx512f"))) static void
tile_avx512(int64_t depth, const double *a, int64_t row, int64_t step, const double *b, double *c) {
    __m512d sum[ROWS][2];
    for (int i = 0; i < ROWS; i++)
        sum[i][0] = sum[i][1] = _mm512_setzero_pd();
    for (int64_t k = 0; k < depth; k++) {
        __m512d low = _mm512_load_pd(b + k * COLUMNS), high = _mm512_load_pd(b + k * COLUMNS + 8);
        for (int i = 0; i < ROWS; i++) {
            __m512d value = _mm512_set1_pd(a[i * row + k * step]);
            sum[i][0] = _mm512_fmadd_pd(value, low, sum[i][0]);
            sum[i][1] = _mm512_fmadd_pd(value, high, sum[i][1]);
        }
    }
    for (int i = 0; i < ROWS; i++) {
        _mm512_storeu_pd(c + i * COLUMNS, sum[i][0]);
        _mm512_storeu_pd(c + i * COLUMNS + 8, sum[i][1]);
    }
}

/* 16 registers hold a quarter of the tile: 4 rows by 8 columns. */
__attribute__((target("avx2,fma"))) static void quarter_avx2(int64_t depth, const double *a,
                                                             int64_t row, int64_t step,
                                                             const double *b, double *c) {
    __m256d sum[4][2];
    for (int i = 0; i < 4; i++)
        sum[i][0] = sum[i][1] = _mm256_setzero_pd();
    for (int64_t k = 0; k < depth; k++) {
        __m256d low = _mm256_load_pd(b + k * COLUMNS), high = _mm256_load_pd(b + k * COLUMNS + 4);
        for (int i = 0; i < 4; i++) {
            __m256d value = _mm256_set1_pd(a[i * row + k * step]);
            sum[i][0] = _mm256_fmadd_pd(value, low, sum[i][0]);
            sum[i][1] = _mm256_fmadd_pd(value, high, sum[i][1]);
        }
    }
    for (int i = 0; i < 4; i++) {
        _mm256_storeu_pd(c + i * COLUMNS, sum[i][0]);
        _mm256_storeu_pd(c + i * COLUMNS + 4, sum[i][1]);
    }
}

#endif

void ikt_dot_tile(ikt_isa isa, int64_t depth, const double *a, int64_t row, int64_t step,
                  const double *b, double *c) {
#if defined(__x86_64__)
    if (isa >= IKT_ISA_AVX512) {
        tile_avx512(depth, a, row, step, b, c);
        return;
    }
    if (isa == IKT_ISA_AVX2) {
        for (int i = 0; i < ROWS; i += 4)
            for (int j = 0; j < COLUMNS; j += 8)
                quarter_avx2(depth, a + i * row, row, step, b + j, c + i * COLUMNS + j);
        return;
    }
#else
    (void)isa;
#endif
    tile_portable(depth, a, row, step, b, c);
}
