/* The leading eigenpairs of the covariance matrix of wide rows, which is never made.
 *
 * Method: the filtered block iteration of linalg/solver.h on vectors over the columns. A product
 * X^T (X w) is one pass over the rows: the scores of a few rows along all columns of the block, and
 * these times the rows. Sums are formed like the entries of a covariance matrix (column_stats.h):
 * in order within fixed blocks of rows, and over blocks as integers whose unit comes from the
 * columns' ranges. Advantage: memory for some vectors of d numbers where the matrix takes d^2; the
 * same bits on any ranks and threads. Disadvantage: four to two hundred passes; components of
 * nearly equal variance may still be mixed with one another after the most of them.
 */
#ifndef IKT_LINALG_COVARIANCE_LEADING_H
#define IKT_LINALG_COVARIANCE_LEADING_H

#include "linalg/column_stats.h"

/* LOCAL, pure. Whether k components of rows of d columns are found in this way: beyond
 * IKT_EIGEN_ALONE_MAX columns, where they are few of them. Else the matrix is made. */
bool ikt_covariance_is_wide(int64_t d, int64_t k);

/* LOCAL, pure. For the plan: vectors of the block, and passes, of which 4 were counted for two
 * components that stand out, and 70 of noise. */
int64_t ikt_covariance_vectors(int64_t d, int64_t k);
enum { IKT_COVARIANCE_PASSES = 20 };

/* COLLECTIVE. The first of k components, as many as n - 1 rows can have.
 *   reader       n >= 2 rows, read once for every product
 *   stats        their column statistics, the same on all ranks, finite ranges
 *   total        variance of all columns, divided by n - 1; positive and finite
 *   variance     [k] receives variances, the largest first; those beyond n - 1 stay as they are
 *   components   [k*d] receives orthonormal rows, with the signs of linalg/eigen.h; as above
 * Errors: IKT_ERR_RESOURCE; IKT_STOPPED; the reader's. Memory: ikt_covariance_leading_bytes. */
ikt_status ikt_covariance_leading(ikt_context *ctx, const ikt_row_reader *reader,
                                  const ikt_column_stats *stats, double total, int64_t k,
                                  double *variance, double *components);

/* LOCAL, pure. The most bytes that a rank takes, with what reads the rows. */
int64_t ikt_covariance_leading_bytes(int64_t d, int64_t k, int ranks, int threads);

#endif
