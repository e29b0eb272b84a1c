/* The leading eigenpairs of the covariance matrix of few rows of many columns.
 *
 * Method: with centred rows Z, Z Z^T has the eigenvalues of Z^T Z, and v of the one gives Z^T v of
 * the other. Every rank reads all rows, computes its share of their products, each in the order of
 * the columns, and solves what all have together (linalg/eigen.h). Advantage: one pass over the
 * rows and a matrix of n x n, where the block iteration (covariance_leading.h) takes four to two
 * hundred passes and the covariance itself is of d x d; the same bits on any ranks and threads.
 * Disadvantage: all rows are held, and n^2 d products are made, so that it is for few rows.
 */
#ifndef IKT_LINALG_COVARIANCE_FEW_H
#define IKT_LINALG_COVARIANCE_FEW_H

#include "linalg/column_stats.h"

/* LOCAL, pure. Whether n rows of d columns are few: up to 1,024, with twice as many columns, and
 * not too many to be held. */
bool ikt_covariance_is_of_few(int64_t n, int64_t d);

/* COLLECTIVE. As ikt_covariance_leading.
 *   reader       rows that are few, of which at least two differ
 * Errors: IKT_ERR_RESOURCE; the reader's; those of ikt_eigen_leading. */
ikt_status ikt_covariance_of_few(ikt_context *ctx, const ikt_row_reader *reader,
                                 const ikt_column_stats *stats, int64_t k, double *variance,
                                 double *components);

/* LOCAL, pure. The most bytes that a rank takes. */
int64_t ikt_covariance_few_bytes(int64_t n, int64_t d, int threads);

#endif
