/* Attraction within one block of rows of a cell: all pairs of them.
 *
 * Method: sixteen rows stand in the lanes of a vector and the rows of the block pass by one after
 * the other, which is one order on every instruction set. Positions lie along axes. Advantage: no
 * sums across lanes, and no masks. Disadvantage: blocks are rounded up to sixteen rows, and each
 * pair is computed from both of its sides.
 */
#ifndef IKT_OBJECTIVE_WHOLE_BLOCK_H
#define IKT_OBJECTIVE_WHOLE_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"
#include "kernelsum/kernelsum.h"
#include "kernelsum/replica.h"

enum { IKT_WHOLE_LANES = 16 };

/* What a thread works in: arrays of whole->rows rounded up to a multiple of sixteen. */
typedef struct {
    int64_t rows;
    int q;
    ikt_kernel kernel;              /* of the map: not w log w */
    float *at[IKT_DIMENSIONS_MOST]; /* positions; zeros behind the rows */
    float *share;                   /* 1 / S of each row; zeros behind them */
    float
        *force[IKT_DIMENSIONS_MOST]; /* receives sum over j of (share_i + share_j) v_ij (y_i - y_j)
                                      */
} ikt_whole_block;

/* LOCAL, thread-safe. v = 1 / (1 + r^2 / alpha), 1 for the Gaussian kernel. Pairs in float, sums of
 * more than 128 of them in double; the same bits on every instruction set. */
void ikt_whole_block_sum(ikt_isa isa, const ikt_whole_block *block);

#endif
