/* Counting equal entries: on each instruction set, and the walk over pairs. */
#include "isolation/similarity.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/number.h"

enum { A_ROWS = 4, B_ROWS = 32 }; /* a block of B stays in the first-level cache */

/* Four rows of A against one of B: equal[4] counts all entries up to `stride` bytes, the zeros
 * behind the t-th included. One for each instruction set and width. */
typedef void count_four(const char *const a[4], const char *b, int64_t stride, uint32_t equal[4]);

/* --- plain C ---------------------------------------------------------------------------------- */

static void four_u8(const char *const a[4], const char *b, int64_t stride, uint32_t equal[4]) {
    for (int r = 0; r < A_ROWS; r++) {
        equal[r] = 0;
        for (int64_t e = 0; e < stride; e++)
            equal[r] += a[r][e] == b[e];
    }
}

static void four_u16(const char *const a[4], const char *b, int64_t stride, uint32_t equal[4]) {
    const uint16_t *y = (const void *)b;
    for (int r = 0; r < A_ROWS; r++) {
        const uint16_t *x = (const void *)a[r];
        equal[r] = 0;
        for (int64_t e = 0; e < stride / 2; e++)
            equal[r] += x[e] == y[e];
    }
}

static void four_u32(const char *const a[4], const char *b, int64_t stride, uint32_t equal[4]) {
    const uint32_t *y = (const void *)b;
    for (int r = 0; r < A_ROWS; r++) {
        const uint32_t *x = (const void *)a[r];
        equal[r] = 0;
        for (int64_t e = 0; e < stride / 4; e++)
            equal[r] += x[e] == y[e];
    }
}

#if defined(__x86_64__)

/* --- AVX2: equal lanes are -1 and are subtracted from narrow counters ------------------------- */

#define AVX2 __attribute__((target("avx2")))

enum { U8_BYTES = 254 * 32 }; /* what an 8-bit counter can count before it is emptied */

/* An equal entry counts once for each of its bytes. */
AVX2 static inline __attribute__((always_inline)) void
four_avx2(const char *const a[4], const char *b, int64_t stride, int width, uint32_t equal[4]) {
    const __m256i zero = _mm256_setzero_si256();
    __m256i total[4] = {zero, zero, zero, zero};
    for (int64_t from = 0; from < stride; from += U8_BYTES) {
        const int64_t end = from + U8_BYTES < stride ? from + U8_BYTES : stride;
        __m256i count[4] = {zero, zero, zero, zero};
        for (int64_t e = from; e < end; e += 32) {
            const __m256i y = _mm256_loadu_si256((const void *)(b + e));
            for (int r = 0; r < 4; r++) {
                const __m256i x = _mm256_loadu_si256((const void *)(a[r] + e));
                count[r] = _mm256_sub_epi8(count[r], width == 1   ? _mm256_cmpeq_epi8(x, y)
                                                     : width == 2 ? _mm256_cmpeq_epi16(x, y)
                                                                  : _mm256_cmpeq_epi32(x, y));
            }
        }
        for (int r = 0; r < 4; r++)
            total[r] = _mm256_add_epi64(total[r], _mm256_sad_epu8(count[r], zero));
    }
    for (int r = 0; r < 4; r++) {
        const __m128i two =
            _mm_add_epi64(_mm256_castsi256_si128(total[r]), _mm256_extracti128_si256(total[r], 1));
        equal[r] = (uint32_t)((_mm_cvtsi128_si64(two) + _mm_extract_epi64(two, 1)) / width);
    }
}

AVX2 static void four_u8_avx2(const char *const a[4], const char *b, int64_t stride,
                              uint32_t equal[4]) {
    four_avx2(a, b, stride, 1, equal);
}

AVX2 static void four_u16_avx2(const char *const a[4], const char *b, int64_t stride,
                               uint32_t equal[4]) {
    four_avx2(a, b, stride, 2, equal);
}

AVX2 static void four_u32_avx2(const char *const a[4], const char *b, int64_t stride,
                               uint32_t equal[4]) {
    four_avx2(a, b, stride, 4, equal);
}

/* --- AVX-512 BW: a compare gives a mask, the mask is counted ---------------------------------- */

#define AVX512 __attribute__((target("avx512f,avx512bw,popcnt")))

AVX512 static inline __attribute__((always_inline)) void
four_avx512(const char *const a[4], const char *b, int64_t stride, int width, uint32_t equal[4]) {
    uint64_t sum[4] = {0, 0, 0, 0};
    for (int64_t e = 0; e < stride; e += 64) {
        const __m512i y = _mm512_loadu_si512(b + e);
        for (int r = 0; r < 4; r++) {
            const __m512i x = _mm512_loadu_si512(a[r] + e);
            sum[r] += (uint64_t)_mm_popcnt_u64(width == 1   ? _mm512_cmpeq_epi8_mask(x, y)
                                               : width == 2 ? _mm512_cmpeq_epi16_mask(x, y)
                                                            : _mm512_cmpeq_epi32_mask(x, y));
        }
    }
    for (int r = 0; r < 4; r++)
        equal[r] = (uint32_t)sum[r];
}

AVX512 static void four_u8_avx512(const char *const a[4], const char *b, int64_t stride,
                                  uint32_t equal[4]) {
    four_avx512(a, b, stride, 1, equal);
}

AVX512 static void four_u16_avx512(const char *const a[4], const char *b, int64_t stride,
                                   uint32_t equal[4]) {
    four_avx512(a, b, stride, 2, equal);
}

AVX512 static void four_u32_avx512(const char *const a[4], const char *b, int64_t stride,
                                   uint32_t equal[4]) {
    four_avx512(a, b, stride, 4, equal);
}

#endif

static count_four *choose(ikt_isa isa, int width) {
#if defined(__x86_64__)
    if (isa >= IKT_ISA_AVX512)
        return width == 1 ? four_u8_avx512 : width == 2 ? four_u16_avx512 : four_u32_avx512;
    if (isa >= IKT_ISA_AVX2)
        return width == 1 ? four_u8_avx2 : width == 2 ? four_u16_avx2 : four_u32_avx2;
#endif
    (void)isa;
    return width == 1 ? four_u8 : width == 2 ? four_u16 : four_u32;
}

/* --- all pairs -------------------------------------------------------------------------------- */

void ikt_similarity_block(ikt_isa isa, ikt_code_shape shape, const void *a, int64_t na,
                          const void *b, int64_t nb, uint16_t *equal, int64_t equal_stride) {
    count_four *four = choose(isa, shape.width);
    const uint32_t padding = (uint32_t)(shape.stride / shape.width - shape.t);
    for (int64_t first = 0; first < nb; first += B_ROWS) {
        const int64_t end = ikt_smaller(nb, first + B_ROWS);
        for (int64_t i = 0; i < na; i += A_ROWS) {
            const char *row[A_ROWS]; /* the last row stands in for those beyond it */
            for (int64_t r = 0; r < A_ROWS; r++)
                row[r] = (const char *)a + ikt_smaller(i + r, na - 1) * shape.stride;
            for (int64_t j = first; j < end; j++) {
                uint32_t count[A_ROWS];
                four(row, (const char *)b + j * shape.stride, shape.stride, count);
                for (int64_t r = 0; r < ikt_smaller(A_ROWS, na - i); r++)
                    equal[(i + r) * equal_stride + j] = (uint16_t)(count[r] - padding);
            }
        }
    }
}
