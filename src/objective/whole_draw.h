/* What an iteration takes of the whole kernel: which partitionings, and how cells are cut into
 * blocks. Pure functions of the seed and of global numbers, also after a restart.
 *
 * Method: a keyed permutation of all partitionings is dealt to the iterations of an epoch in shares
 * whose sizes differ by at most one, so that all are used equally often. A cell of g rows has its
 * rows shuffled by a key of (seed, iteration, partitioning, cell) and is cut into blocks of nearly
 * equal size b'; pairs within blocks, scaled by (g - 1) / (b' - 1), stand for all pairs of the
 * cell. Advantage: the expectation of either sampling is the sum itself; a shuffle takes a few
 * nanoseconds a row, where sorting by keys of rows takes ten times that. Disadvantage: a shuffle
 * needs all rows of the cell in one place, in one order.
 */
#ifndef IKT_OBJECTIVE_WHOLE_DRAW_H
#define IKT_OBJECTIVE_WHOLE_DRAW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"
#include "kernelsum/kernelsum.h"
#include "kernelsum/replica.h"

/* How a run samples, once everything is resolved. */
typedef struct {
    uint64_t seed;
    int64_t t;           /* partitionings there are */
    int64_t usual, last; /* partitionings of an iteration, at most; and of the last ones */
    int64_t last_from;   /* the first iteration that takes `last` */
    int64_t block;       /* most rows of a block, at least 2 */
    int64_t iterations;  /* of the run in all */
    double step;         /* factor on the step length, until it falls */
    double noise;        /* ikt_whole_noise of the usual draws */
} ikt_whole_sampling;

/* LOCAL, pure. The partitionings of an iteration.
 *   order   [t] work space
 *   count   receives their number m; a sum over them times t / m stands for the sum over all
 * Returns where they are in `order`. Cost: t draws. */
const int32_t *ikt_whole_draw(const ikt_whole_sampling *sampling, int64_t iteration, int32_t *order,
                              int64_t *count);

/* LOCAL, pure. Blocks that a cell of `rows` rows is cut into; none has a single row unless the cell
 * has, and none has more than max(block, 3). */
int64_t ikt_whole_blocks(int64_t rows, int64_t block);

/* LOCAL, pure. The first row of a block of a cell; block == blocks gives rows. */
int64_t ikt_whole_block_first(int64_t rows, int64_t blocks, int64_t block);

/* LOCAL, pure. What the pairs of a block count for in its cell. */
float ikt_whole_block_scale(int64_t rows, int64_t in_block);

/* LOCAL, pure. The factor on the step length of an iteration: `step` for three fifths of the run,
 * then falling in a line to 1/(20 noise), at most 1, so that the noise of the draws dies away: what
 * stays of it in the map is in proportion to step and variance. A step below that stays. */
double ikt_whole_step(const ikt_whole_sampling *sampling, int64_t iteration);

/* LOCAL. Shuffles the rows of a cell, which stand in ascending order. */
void ikt_whole_shuffle(const ikt_whole_sampling *sampling, int64_t iteration, int64_t partitioning,
                       int64_t cell, uint32_t *member, int64_t rows);

/* Attraction within one block of rows of a cell: all pairs of them.
 *
 * Method: sixteen rows stand in the lanes of a vector and the rows of the block pass by one after
 * the other, which is one order on every instruction set. Positions lie along axes. Advantage: no
 * sums across lanes, and no masks. Disadvantage: blocks are rounded up to sixteen rows, and each
 * pair is computed from both of its sides.
 */

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
