/* The register tile behind covariance and projection: 8 x 16 inner products in double precision.
 *
 * Method: lane (i, j) adds a_ik * b_kj with a fused multiply-add for k = 0, 1, ... in order.
 * Advantage: the bits do not depend on the instruction set, on blocking around the tile or on
 * threads, which no BLAS promises. Disadvantage: no blocking over k; callers keep k short (a block
 * of rows) or accept that B streams from the second-level cache.
 */
#ifndef IKT_LINALG_DOT_TILE_H
#define IKT_LINALG_DOT_TILE_H

#include <stdint.h>

#include "base/cpu.h"

enum { IKT_TILE_ROWS = 8, IKT_TILE_COLUMNS = 16 };

/* LOCAL. c[i*16 + j] = sum over k of a[i*row + k*step] * b[k*16 + j] for i < 8, j < 16.
 *   isa     what to compute with, at most ikt_cpu_isa(); the result does not depend on it.
 *   depth   number of terms.
 *   a       left operand; `row` and `step` are the distances in elements between consecutive i, k.
 *   b       [depth*16], aligned to 64 bytes.
 *   c       [8*16], overwritten. */
void ikt_dot_tile(ikt_isa isa, int64_t depth, const double *a, int64_t row, int64_t step,
                  const double *b, double *c);

#endif
