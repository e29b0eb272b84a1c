/* Counting equal entries: the walk over pairs. See similarity.h. */
#include "isolation/similarity.h"

#include "base/sort.h"

enum {
    A_ROWS = IKT_SIMILARITY_ROWS,
    B_ROWS = 32
}; /* a block of B stays in the first-level cache */

/* For entries of 1, 2 or 4 bytes. */
static ikt_count_equal *choose(ikt_isa isa, int width) {
    return ikt_similarity_kernel_for(isa)->count[width / 2];
}

/* Rows of A, at most four, against rows begin .. end - 1 of B; the last stands in for those that
 * are missing. */
static void count_some(ikt_count_equal *four, ikt_code_shape shape, const void *const *a,
                       int64_t na, const void *b, int64_t begin, int64_t end, uint16_t *equal,
                       int64_t equal_stride) {
    const uint32_t padding = (uint32_t)(shape.stride / shape.width - shape.t);
    ikt_similar_rows some;
    for (int64_t r = 0; r < A_ROWS; r++) {
        some.row[r] = a[ikt_smaller(r, na - 1)];
        some.equal[r] = equal + ikt_smaller(r, na - 1) * equal_stride;
    }
    four(&some, b, begin, end, shape.stride, padding);
}

void ikt_similarity_rows(ikt_isa isa, ikt_code_shape shape, const void *const *a, int64_t na,
                         const void *b, int64_t nb, uint16_t *equal, int64_t equal_stride) {
    ikt_count_equal *four = choose(isa, shape.width);
    for (int64_t i = 0; i < na; i += A_ROWS)
        count_some(four, shape, a + i, ikt_smaller(A_ROWS, na - i), b, 0, nb,
                   equal + i * equal_stride, equal_stride);
}

void ikt_similarity_block(ikt_isa isa, ikt_code_shape shape, const void *a, int64_t na,
                          const void *b, int64_t nb, uint16_t *equal, int64_t equal_stride) {
    ikt_count_equal *four = choose(isa, shape.width);
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
