/* Least, largest, mean and variance of every column in one pass, the same bits on any ranks.
 *
 * Method: values are taken relative to row 0; sums and sums of squares are formed in plain doubles
 * within fixed blocks of rows (blocks.h), and the block sums are added exactly (exact_sum.h).
 * Advantage: one pass; a large common offset costs nothing (a mean is off by at most 512 * 2^-53 of
 * the mean distance from row 0); if row 0 is itself an outlier, the variance contains its squared
 * distance / n, so that at worst log10(n) of 16 digits are lost.
 * Disadvantage: 1.1 kB a column for the exact sums while it runs.
 */
#ifndef IKT_LINALG_COLUMN_STATS_H
#define IKT_LINALG_COLUMN_STATS_H

#include "linalg/row_reader.h"

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

#endif
