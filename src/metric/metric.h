/* Squared Euclidean distances between blocks of rows, the same bits in every setting.
 *
 * Method: each SIMD lane holds one row of B and runs over the dimensions in order, taking the
 * difference and adding its square with a fused multiply-add. A tile of 8 rows of A by 32 rows of B
 * stays in registers.
 * Advantage: a distance does not depend on the blocking, the vector width, the instruction set or
 * the threads; d(x, y) = d(y, x) and d(x, x) = 0 exactly; nothing cancels, near rows are as
 * accurate as far ones. Disadvantage: two instructions an element, where |x|^2 - 2 x.y + |y|^2
 * needs one.
 */
#ifndef IKT_LINALG_DISTANCE_H
#define IKT_LINALG_DISTANCE_H

#include <stdint.h>

#include "base/cpu.h"

enum { IKT_PACK_ROWS = 16 }; /* rows in a packed group */

/* LOCAL. `n` rounded up to whole groups: the number of columns of a block of distances. */
int64_t ikt_packed_rows(int64_t n);

/* LOCAL. Floats that ikt_pack_rows writes for n rows of d columns. */
int64_t ikt_packed_floats(int64_t n, int64_t d);

/* LOCAL. Packs rows for the right-hand side of ikt_distance_block: element (row, column) goes to
 * packed[((row / 16) * d + column) * 16 + row % 16]; missing rows of the last group are zero.
 *   rows     [n*d], row-major, lent.
 *   packed   [ikt_packed_floats(n, d)], aligned to 64 bytes. */
void ikt_pack_rows(const float *rows, int64_t n, int64_t d, float *packed);

/* LOCAL. Squared Euclidean distances of each row of `a` to each packed row of B; one thread, any
 * number of threads may call it on blocks of their own.
 *   isa        what to compute with, at most ikt_cpu_isa(); the result does not depend on it.
 *   a          [na*d], row-major.
 *   packed_b   nb rows packed by ikt_pack_rows.
 *   out        [na * ikt_packed_rows(nb)]; distance (i, j) at out[i * ikt_packed_rows(nb) + j];
 *              columns from nb on hold distances to zero rows.
 * Cost: na * nb * d subtractions and fused multiply-adds. Best with na >= 8, and with 128 d bytes
 * (two groups) well below the second-level cache. */
void ikt_distance_block(ikt_isa isa, const float *a, int64_t na, const float *packed_b, int64_t nb,
                        int64_t d, float *out);

/* LOCAL. Plain double-precision reference: squared distance of two rows of d columns. */
double ikt_distance_ref(const float *x, const float *y, int64_t d);

#endif
