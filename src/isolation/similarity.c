/* Counting equal entries: the walk over pairs, and the count in plain C. */
#include "isolation/similarity.h"

enum { A_ROWS = 4, B_ROWS = 32 }; /* a block of B stays in the first-level cache */

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

static ikt_similarity_four *choose(ikt_isa isa, int width) {
#if defined(__x86_64__)
    if (isa >= IKT_ISA_AVX512)
        return width == 1 ? ikt_similarity_four_u8_avx512 : ikt_similarity_four_u16_avx512;
    if (isa >= IKT_ISA_AVX2)
        return width == 1 ? ikt_similarity_four_u8_avx2 : ikt_similarity_four_u16_avx2;
#endif
    (void)isa;
    return width == 1 ? four_u8 : four_u16;
}

static int64_t at_most(int64_t value, int64_t limit) {
    return value < limit ? value : limit;
}

void ikt_similarity_block(ikt_isa isa, ikt_code_shape shape, const void *a, int64_t na,
                          const void *b, int64_t nb, uint16_t *equal, int64_t equal_stride) {
    ikt_similarity_four *four = choose(isa, shape.width);
    const uint32_t padding = (uint32_t)(shape.stride / shape.width - shape.t);
    for (int64_t first = 0; first < nb; first += B_ROWS) {
        const int64_t end = at_most(nb, first + B_ROWS);
        for (int64_t i = 0; i < na; i += A_ROWS) {
            const char *row[A_ROWS]; /* the last row stands in for those beyond it */
            for (int64_t r = 0; r < A_ROWS; r++)
                row[r] = (const char *)a + at_most(i + r, na - 1) * shape.stride;
            for (int64_t j = first; j < end; j++) {
                uint32_t count[A_ROWS];
                four(row, (const char *)b + j * shape.stride, shape.stride, count);
                for (int64_t r = 0; r < at_most(A_ROWS, na - i); r++)
                    equal[(i + r) * equal_stride + j] = (uint16_t)(count[r] - padding);
            }
        }
    }
}
