/* Counting equal entries: on each instruction set, and the walk over pairs. */
#include "isolation/similarity.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/number.h"

enum { A_ROWS = 4, B_ROWS = 32 }; /* a block of B stays in the first-level cache */

/* Four rows of A, and where the counts of each of them go. */
typedef struct {
    const char *row[A_ROWS];
    uint16_t *equal[A_ROWS];
} four_rows;

/* Four rows of A against rows begin .. end - 1 of B: equal[r][j] is the number of equal entries
 * less `padding`, the zeros behind the last entry of a row. One for each instruction set and width.
 */
typedef void count_four(const four_rows *a, const char *b, int64_t begin, int64_t end,
                        int64_t stride, uint32_t padding);

/* --- plain C ---------------------------------------------------------------------------------- */

#define FOUR_PLAIN(name, type)                                                                     \
    static void name(const four_rows *a, const char *b, int64_t begin, int64_t end,                \
                     int64_t stride, uint32_t padding) {                                           \
        for (int64_t j = begin; j < end; j++) {                                                    \
            const type *y = (const void *)(b + j * stride);                                        \
            for (int r = 0; r < A_ROWS; r++) {                                                     \
                const type *x = (const void *)a->row[r];                                           \
                uint32_t equal = 0;                                                                \
                for (int64_t e = 0; e < stride / (int64_t)sizeof *x; e++)                          \
                    equal += x[e] == y[e];                                                         \
                a->equal[r][j] = (uint16_t)(equal - padding);                                      \
            }                                                                                      \
        }                                                                                          \
    }

FOUR_PLAIN(four_u8, uint8_t)
FOUR_PLAIN(four_u16, uint16_t)
FOUR_PLAIN(four_u32, uint32_t)

#undef FOUR_PLAIN

#if defined(__x86_64__)

/* An instance of `body` for entries of `width` bytes. */
#define FOUR_OF_WIDTH(target, body, name, width)                                                   \
    target static void name(const four_rows *a, const char *b, int64_t begin, int64_t end,         \
                            int64_t stride, uint32_t padding) {                                    \
        body(a, b, begin, end, stride, padding, width);                                            \
    }

/* --- AVX2: equal lanes are -1 and are subtracted from narrow counters ------------------------- */

#define AVX2 __attribute__((target("avx2")))

enum { U8_BYTES = 254 * 32 }; /* what an 8-bit counter can count before it is emptied */

/* An equal entry counts once for each of its bytes. */
AVX2 static inline __attribute__((always_inline)) void four_avx2(const four_rows *a, const char *b,
                                                                 int64_t begin, int64_t end,
                                                                 int64_t stride, uint32_t padding,
                                                                 int width) {
    const __m256i zero = _mm256_setzero_si256();
    for (int64_t j = begin; j < end; j++) {
        __m256i total[A_ROWS] = {zero, zero, zero, zero};
        for (int64_t from = 0; from < stride; from += U8_BYTES) {
            const int64_t until = ikt_smaller(from + U8_BYTES, stride);
            __m256i count[A_ROWS] = {zero, zero, zero, zero};
            for (int64_t e = from; e < until; e += 32) {
                const __m256i y = _mm256_loadu_si256((const void *)(b + j * stride + e));
                for (int r = 0; r < A_ROWS; r++) {
                    const __m256i x = _mm256_loadu_si256((const void *)(a->row[r] + e));
                    count[r] = _mm256_sub_epi8(count[r], width == 1   ? _mm256_cmpeq_epi8(x, y)
                                                         : width == 2 ? _mm256_cmpeq_epi16(x, y)
                                                                      : _mm256_cmpeq_epi32(x, y));
                }
            }
            for (int r = 0; r < A_ROWS; r++)
                total[r] = _mm256_add_epi64(total[r], _mm256_sad_epu8(count[r], zero));
        }
        for (int r = 0; r < A_ROWS; r++) {
            const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(total[r]),
                                              _mm256_extracti128_si256(total[r], 1));
            const int64_t bytes = _mm_cvtsi128_si64(two) + _mm_extract_epi64(two, 1);
            a->equal[r][j] = (uint16_t)((uint32_t)(bytes / width) - padding);
        }
    }
}

FOUR_OF_WIDTH(AVX2, four_avx2, four_u8_avx2, 1)
FOUR_OF_WIDTH(AVX2, four_avx2, four_u16_avx2, 2)
FOUR_OF_WIDTH(AVX2, four_avx2, four_u32_avx2, 4)

/* --- AVX-512 BW: a compare gives a mask, the mask is counted ---------------------------------- */

#define AVX512 __attribute__((target("avx512f,avx512bw,popcnt")))

AVX512 static inline __attribute__((always_inline)) void four_avx512(const four_rows *a,
                                                                     const char *b, int64_t begin,
                                                                     int64_t end, int64_t stride,
                                                                     uint32_t padding, int width) {
    for (int64_t j = begin; j < end; j++) {
        uint64_t sum[A_ROWS] = {0, 0, 0, 0};
        for (int64_t e = 0; e < stride; e += 64) {
            const __m512i y = _mm512_loadu_si512(b + j * stride + e);
            for (int r = 0; r < A_ROWS; r++) {
                const __m512i x = _mm512_loadu_si512(a->row[r] + e);
                sum[r] += (uint64_t)_mm_popcnt_u64(width == 1   ? _mm512_cmpeq_epi8_mask(x, y)
                                                   : width == 2 ? _mm512_cmpeq_epi16_mask(x, y)
                                                                : _mm512_cmpeq_epi32_mask(x, y));
            }
        }
        for (int r = 0; r < A_ROWS; r++)
            a->equal[r][j] = (uint16_t)((uint32_t)sum[r] - padding);
    }
}

FOUR_OF_WIDTH(AVX512, four_avx512, four_u8_avx512, 1)
FOUR_OF_WIDTH(AVX512, four_avx512, four_u16_avx512, 2)
FOUR_OF_WIDTH(AVX512, four_avx512, four_u32_avx512, 4)

#undef FOUR_OF_WIDTH

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

/* Rows of A, at most four, against rows begin .. end - 1 of B; the last stands in for those that
 * are missing. */
static void count_some(count_four *four, ikt_code_shape shape, const void *const *a, int64_t na,
                       const void *b, int64_t begin, int64_t end, uint16_t *equal,
                       int64_t equal_stride) {
    const uint32_t padding = (uint32_t)(shape.stride / shape.width - shape.t);
    four_rows some;
    for (int64_t r = 0; r < A_ROWS; r++) {
        some.row[r] = a[ikt_smaller(r, na - 1)];
        some.equal[r] = equal + ikt_smaller(r, na - 1) * equal_stride;
    }
    four(&some, b, begin, end, shape.stride, padding);
}

void ikt_similarity_rows(ikt_isa isa, ikt_code_shape shape, const void *const *a, int64_t na,
                         const void *b, int64_t nb, uint16_t *equal, int64_t equal_stride) {
    count_four *four = choose(isa, shape.width);
    for (int64_t i = 0; i < na; i += A_ROWS)
        count_some(four, shape, a + i, ikt_smaller(A_ROWS, na - i), b, 0, nb,
                   equal + i * equal_stride, equal_stride);
}

void ikt_similarity_block(ikt_isa isa, ikt_code_shape shape, const void *a, int64_t na,
                          const void *b, int64_t nb, uint16_t *equal, int64_t equal_stride) {
    count_four *four = choose(isa, shape.width);
    for (int64_t first = 0; first < nb; first += B_ROWS)
        for (int64_t i = 0; i < na; i += A_ROWS) {
            const int64_t rows = ikt_smaller(A_ROWS, na - i);
            const void *row[A_ROWS];
            for (int64_t r = 0; r < rows; r++)
                row[r] = (const char *)a + (i + r) * shape.stride;
            count_some(four, shape, row, rows, b, first, ikt_smaller(nb, first + B_ROWS),
                       equal + i * equal_stride, equal_stride);
        }
}
