/* How similar two rows are under the Isolation kernel: the number of equal entries of their codes.
 *
 * K(x, y) = equal(x, y) / t (Zhu & Ting 2021, equation 2). Method: compare a vector of entries at a
 * time and count the equal ones, four rows of A against one of B so that B is loaded once.
 * Advantage: exact integers, a few nanoseconds a pair, the speed of one compare instruction.
 * Disadvantage: every pair costs t; finding the few similar ones without looking at all is the
 * business of neighbour search.
 */
#ifndef IKT_ISOLATION_SIMILARITY_H
#define IKT_ISOLATION_SIMILARITY_H

#include <stdint.h>

#include "base/cpu.h"

/* Rows of codes as in ikt_codes: entries of `width` bytes, zero bytes up to `stride`. */
typedef struct {
    int64_t t;      /* entries of a row, at most IKT_PARTITIONINGS_MOST */
    int64_t stride; /* bytes from row to row, a multiple of 64 */
    int width;      /* 1, 2 or 4 */
} ikt_code_shape;

/* LOCAL, thread-safe. Counts equal entries of every row of A with every row of B.
 *   isa            what to compute with, at most ikt_cpu_isa(); the result does not depend on it.
 *   a, b           na and nb rows of codes, borrowed; aligned to 64 bytes is best.
 *   equal          receives row i of A against row j of B at equal[i * equal_stride + j].
 *   equal_stride   at least nb.
 * Cost: na * nb * t compares. Best with blocks whose rows together stay in the second-level cache.
 */
void ikt_similarity_block(ikt_isa isa, ikt_code_shape shape, const void *a, int64_t na,
                          const void *b, int64_t nb, uint16_t *equal, int64_t equal_stride);

/* LOCAL, thread-safe. The same of rows of A that stand anywhere, and of a few rows of B.
 *   a   [na] where they are */
void ikt_similarity_rows(ikt_isa isa, ikt_code_shape shape, const void *const *a, int64_t na,
                         const void *b, int64_t nb, uint16_t *equal, int64_t equal_stride);

/* --- for the kernels -------------------------------------------------------------------------- */

enum { IKT_SIMILARITY_ROWS = 4 };

/* Rows of A, and where the counts of each of them go. */
typedef struct {
    const char *row[IKT_SIMILARITY_ROWS];
    uint16_t *equal[IKT_SIMILARITY_ROWS];
} ikt_similar_rows;

/* LOCAL. Rows of A against rows begin .. end - 1 of B: equal[r][j] is the number of equal entries
 * less `padding`, the zeros behind the last entry of a row. */
typedef void ikt_count_equal(const ikt_similar_rows *a, const char *b, int64_t begin, int64_t end,
                             int64_t stride, uint32_t padding);

/* For entries of 1, 2 and 4 bytes. */
typedef struct {
    ikt_count_equal *count[3];
} ikt_similarity_kernel;

IKT_KERNELS(const ikt_similarity_kernel, ikt_similarity_kernel)

#endif
