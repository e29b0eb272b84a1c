/* Covariance matrix of the columns, the same bits on any number of ranks and threads.
 *
 * Method: within fixed blocks of rows (blocks.h) the products of centred columns are added in order
 * by register tiles (dot_tile.h); each block's entry becomes a 64-bit fixed-point number, and those
 * are added over blocks and ranks. Columns are scaled by powers of two first, so that the fixed
 * point fits whatever the units.
 * Advantage: no rounding depends on the distribution; absolute error of an entry below
 * n * 2^-62 / IKT_BLOCK_ROWS of the product of the two columns' ranges. Disadvantage: every rank
 * holds the whole upper triangle (the sum is an allreduce), 4 d^2 bytes.
 */
#ifndef IKT_LINALG_COVARIANCE_H
#define IKT_LINALG_COVARIANCE_H

#include "linalg/column_stats.h"
#include "linalg/row_reader.h"

/* LOCAL, pure. Entries of the upper triangle of a d x d matrix; place of entry (i, j), i <= j, in
 * the triangle stored row after row. */
int64_t ikt_upper_entries(int64_t d);
int64_t ikt_upper_index(int64_t d, int64_t i, int64_t j);

/* COLLECTIVE. sum over rows of (x_i - mean_i) (x_j - mean_j) / (n - 1); zero for n = 1.
 *   reader   the rows, read once; n < 2^61.
 *   stats    their column statistics, the same on all ranks, finite ranges.
 *   upper    receives [ikt_upper_entries(d)], the same on all ranks, owned by the caller
 * (ikt_free); NULL on failure. Errors: IKT_ERR_RESOURCE; the reader's. Cost: n d^2 / (2 ranks)
 * multiply-adds; memory 4 d^2 + 8 IKT_BLOCK_ROWS d bytes on every rank. */
ikt_status ikt_covariance_compute(ikt_context *ctx, const ikt_row_reader *reader,
                                  const ikt_column_stats *stats, double **upper);

#endif
