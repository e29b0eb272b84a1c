/* Counting equal entries on AVX2: equal lanes are -1 and are subtracted from narrow counters. */
#include "isolation/similarity.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))

enum { U8_BYTES = 254 * 32 }; /* what an 8-bit counter can count before it is emptied */

static inline TARGET uint32_t sum_of_four(__m256i sums) {
    __m128i two = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    return (uint32_t)(_mm_cvtsi128_si64(two) + _mm_extract_epi64(two, 1));
}

TARGET void ikt_similarity_four_u8_avx2(const char *const a[4], const char *b, int64_t stride,
                                        uint32_t equal[4]) {
    const __m256i zero = _mm256_setzero_si256();
    __m256i total[4] = {zero, zero, zero, zero};
    for (int64_t from = 0; from < stride; from += U8_BYTES) {
        const int64_t end = from + U8_BYTES < stride ? from + U8_BYTES : stride;
        __m256i count[4] = {zero, zero, zero, zero};
        for (int64_t e = from; e < end; e += 32) {
            __m256i y = _mm256_loadu_si256((const void *)(b + e));
            for (int r = 0; r < 4; r++)
                count[r] = _mm256_sub_epi8(
                    count[r], _mm256_cmpeq_epi8(_mm256_loadu_si256((const void *)(a[r] + e)), y));
        }
        for (int r = 0; r < 4; r++)
            total[r] = _mm256_add_epi64(total[r], _mm256_sad_epu8(count[r], zero));
    }
    for (int r = 0; r < 4; r++)
        equal[r] = sum_of_four(total[r]);
}

/* A 16-bit counter sees at most 65535 / 16 entries: no overflow. */
TARGET void ikt_similarity_four_u16_avx2(const char *const a[4], const char *b, int64_t stride,
                                         uint32_t equal[4]) {
    const __m256i zero = _mm256_setzero_si256();
    __m256i count[4] = {zero, zero, zero, zero};
    for (int64_t e = 0; e < stride; e += 32) {
        __m256i y = _mm256_loadu_si256((const void *)(b + e));
        for (int r = 0; r < 4; r++)
            count[r] = _mm256_sub_epi16(
                count[r], _mm256_cmpeq_epi16(_mm256_loadu_si256((const void *)(a[r] + e)), y));
    }
    for (int r = 0; r < 4; r++) {
        __m256i pairs = _mm256_madd_epi16(count[r], _mm256_set1_epi16(1));
        __m256i low = _mm256_and_si256(pairs, _mm256_set1_epi64x(0xFFFFFFFF));
        equal[r] = sum_of_four(_mm256_add_epi64(low, _mm256_srli_epi64(pairs, 32)));
    }
}
#endif
