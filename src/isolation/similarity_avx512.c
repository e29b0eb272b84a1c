/* Counting equal entries on AVX-512 BW: a compare gives a mask, the mask is counted. */
#include "isolation/similarity.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,popcnt")))

TARGET void ikt_similarity_four_u8_avx512(const char *const a[4], const char *b, int64_t stride,
                                          uint32_t equal[4]) {
    uint64_t sum[4] = {0, 0, 0, 0};
    for (int64_t e = 0; e < stride; e += 64) {
        __m512i y = _mm512_loadu_si512(b + e);
        for (int r = 0; r < 4; r++)
            sum[r] +=
                (uint64_t)_mm_popcnt_u64(_mm512_cmpeq_epi8_mask(_mm512_loadu_si512(a[r] + e), y));
    }
    for (int r = 0; r < 4; r++)
        equal[r] = (uint32_t)sum[r];
}

TARGET void ikt_similarity_four_u16_avx512(const char *const a[4], const char *b, int64_t stride,
                                           uint32_t equal[4]) {
    uint32_t sum[4] = {0, 0, 0, 0};
    for (int64_t e = 0; e < stride; e += 64) {
        __m512i y = _mm512_loadu_si512(b + e);
        for (int r = 0; r < 4; r++)
            sum[r] +=
                (uint32_t)_mm_popcnt_u32(_mm512_cmpeq_epi16_mask(_mm512_loadu_si512(a[r] + e), y));
    }
    for (int r = 0; r < 4; r++)
        equal[r] = sum[r];
}
#endif
