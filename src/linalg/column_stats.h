/* Statistics of the columns, the same bits on any number of ranks and threads: least, largest, mean
 * and variance in one pass over the rows, the covariance matrix in a second one.
 *
 * Method, first pass: values are taken relative to row 0; sums and sums of squares are formed in
 * plain doubles within fixed blocks of rows (blocks.h), and the block sums are added exactly
 * (exact_sum.h). Advantage: a large common offset costs nothing (a mean is off by at most
 * 512 * 2^-53 of the mean distance from row 0); if row 0 is itself an outlier, the variance
 * contains its squared distance / n, so that at worst log10(n) of 16 digits are lost.
 * Disadvantage: 1.1 kB a column for the exact sums while it runs.
 * Method, second pass: within fixed blocks the products of centred columns are added in order by
 * register tiles (dot_tile.h); each block's entry becomes a 64-bit fixed-point number, and those
 * are added over blocks and ranks. Columns are scaled by powers of two first, so that the fixed
 * point fits whatever the units. Advantage: no rounding depends on the distribution; absolute error
 * of an entry below n * 2^-62 / IKT_BLOCK_ROWS of the product of the two columns' ranges.
 * Disadvantage: every rank holds the whole upper triangle (the sum is an allreduce), 4 d^2 bytes.
 */
#ifndef IKT_LINALG_COLUMN_STATS_H
#define IKT_LINALG_COLUMN_STATS_H

#include "linalg/blocks.h"

typedef struct {
    int64_t n, d;
    double *least, *most; /* [d] each; owned by the struct, as are the next two */
    double *mean;         /* [d] */
    double *variance;     /* [d], divided by n; infinite where squares exceed a double */
    int64_t zero_rows;    /* rows whose values are all zero */
} ikt_column_stats;

/* COLLECTIVE. Reads all rows once. `out` receives the statistics (the same on all ranks); free it
 * with ikt_column_stats_free, also after a failure.
 * Errors: IKT_ERR_DATA naming the first row and column (counted from 0) of the whole data set that
 * holds a NaN or an infinity, or a data set without rows or columns; IKT_ERR_RESOURCE; the
 * reader's. Cost: n*d/ranks values; memory 16 MiB + 1.2 kB a column. */
ikt_status ikt_column_stats_compute(ikt_context *ctx, const ikt_row_reader *reader,
                                    ikt_column_stats *out);

/* LOCAL. Frees what the struct owns and clears it; accepts a zeroed struct. */
void ikt_column_stats_free(ikt_column_stats *stats);

/* LOCAL, pure. Entries of the upper triangle of a d x d matrix; place of entry (i, j), i <= j, in
 * the triangle stored row after row. */
int64_t ikt_upper_entries(int64_t d);
int64_t ikt_upper_index(int64_t d, int64_t i, int64_t j);

/* COLLECTIVE. sum over rows of (x_i - mean_i) (x_j - mean_j) / (n - 1); zero for n = 1.
 *   reader   the rows, read once; n < 2^61
 *   stats    their column statistics, the same on all ranks, finite ranges
 *   upper    receives [ikt_upper_entries(d)], the same on all ranks, freed by the caller; NULL on
 *            failure
 * Errors: IKT_ERR_RESOURCE; the reader's. Cost: n d^2 / (2 ranks) multiply-adds; memory
 * 4 d^2 + 8 IKT_BLOCK_ROWS d bytes on every rank. */
ikt_status ikt_covariance_compute(ikt_context *ctx, const ikt_row_reader *reader,
                                  const ikt_column_stats *stats, double **upper);

#endif
