/* Counting equal entries of four rows of A and each row of B. See similarity.h.
 *
 * Method: equal bytes are -1 and are subtracted from counters of a byte, which are emptied before
 * they can overflow. On AVX-512, too, registers have 32 bytes: its compare gives a mask, and to
 * count the bits of masks of 64 takes longer. */
#include "isolation/similarity.h"

#include "base/lanes.h"
#include "base/sort.h"

enum { ROWS = IKT_SIMILARITY_ROWS, BYTES = LANE_WIDTH == 4 ? 16 : 32, MOST = 255 * BYTES };

typedef uint8_t counters __attribute__((vector_size(BYTES)));

/* -1 in each byte of entries of `width` bytes that are equal. */
LANES_INLINE void compare(const char *a, const char *b, const int width, counters *equal) {
#if LANE_WIDTH == 4
    typedef uint16_t halves __attribute__((vector_size(BYTES)));
    typedef uint32_t words __attribute__((vector_size(BYTES)));
    counters x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    *equal = width == 1   ? (counters)(x == y)
             : width == 2 ? (counters)((halves)x == (halves)y)
                          : (counters)((words)x == (words)y);
#else
    const __m256i x = _mm256_loadu_si256((const void *)a), y = _mm256_loadu_si256((const void *)b);
    *equal = (counters)(width == 1   ? _mm256_cmpeq_epi8(x, y)
                        : width == 2 ? _mm256_cmpeq_epi16(x, y)
                                     : _mm256_cmpeq_epi32(x, y));
#endif
}

/* The sum of all counters. In plain C neighbouring bytes are added to counters of two bytes, of
 * which four are added by a product. */
LANES_INLINE uint32_t sum_of(const counters *count) {
#if defined(LANES_NEON)
    return vaddlvq_u8((uint8x16_t)*count);
#elif LANE_WIDTH == 4
    uint64_t part[BYTES / 8], sum = 0;
    memcpy(part, count, sizeof part);
    for (int e = 0; e < BYTES / 8; e++)
        sum += (part[e] & 0x00ff00ff00ff00ff) + (part[e] >> 8 & 0x00ff00ff00ff00ff);
    return (uint32_t)(sum * 0x0001000100010001 >> 48);
#else
    const __m256i four = _mm256_sad_epu8((__m256i)*count, _mm256_setzero_si256());
    const __m128i two =
        _mm_add_epi64(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
    return (uint32_t)(_mm_cvtsi128_si64(two) + _mm_extract_epi64(two, 1));
#endif
}

LANES_INLINE void count(const ikt_similar_rows *a, const char *b, int64_t begin, int64_t end,
                        int64_t stride, uint32_t padding, const int width) {
    for (int64_t j = begin; j < end; j++) {
        uint32_t sum[ROWS] = {0}; /* an entry counts once for each of its bytes */
        for (int64_t e = 0; e < stride;) {
            const int64_t until = ikt_smaller(e + MOST, stride);
            counters found[ROWS], equal;
            memset(found, 0, sizeof found);
            for (; e < until; e += BYTES)
                for (int r = 0; r < ROWS; r++) {
                    compare(a->row[r] + e, b + j * stride + e, width, &equal);
                    found[r] -= equal;
                }
            for (int r = 0; r < ROWS; r++)
                sum[r] += sum_of(&found[r]);
        }
        for (int r = 0; r < ROWS; r++)
            a->equal[r][j] = (uint16_t)(sum[r] / (uint32_t)width - padding);
    }
}

#define COUNT_OF_WIDTH(name, width)                                                                \
    static void name(const ikt_similar_rows *a, const char *b, int64_t begin, int64_t end,         \
                     int64_t stride, uint32_t padding) {                                           \
        count(a, b, begin, end, stride, padding, width);                                           \
    }

COUNT_OF_WIDTH(count_u8, 1)
COUNT_OF_WIDTH(count_u16, 2)
COUNT_OF_WIDTH(count_u32, 4)

const ikt_similarity_kernel IKT_KERNEL(ikt_similarity_kernel) = {{count_u8, count_u16, count_u32}};
