/* Leading eigenpairs of a symmetric matrix, by ScaLAPACK.
 *
 * Method: pdsyevd (divide and conquer), of which the k largest are kept. Up to
 * IKT_EIGEN_ALONE_MAX columns rank 0 solves alone, on a 1 x 1 grid with one BLAS thread, and
 * shares the result; larger matrices are spread over a near-square grid of all ranks. pdsyevr,
 * which computes k pairs only, returns wrong vectors for many sizes (ScaLAPACK 2.2.1: it gives
 * pdormtr too little work space and does not look at the outcome), pdsyevx does not keep clusters
 * orthogonal. Advantage: for the small case, the bits do not depend on the ranks. Disadvantage: the
 * large case is the documented exception to that: its bits depend on the grid.
 */
#ifndef IKT_LINALG_EIGEN_H
#define IKT_LINALG_EIGEN_H

#include <stdint.h>

#include "base/status.h"

enum { IKT_EIGEN_ALONE_MAX = 2048 };

/* COLLECTIVE. The k largest eigenvalues of a symmetric d x d matrix and their eigenvectors.
 *   upper      [d*(d+1)/2], upper triangle row after row (covariance.h), the same on all ranks;
 * lent. d, k       1 <= k <= d. alone_max  largest d that rank 0 solves alone; IKT_EIGEN_ALONE_MAX
 * except in tests. values     [k], receives the eigenvalues, largest first; the same on all ranks.
 *   vectors    [k*d], receives the orthonormal eigenvectors as rows; the entry of largest magnitude
 *              (the first of equals) of each is positive; the same on all ranks.
 * Errors: IKT_ERR_RESOURCE (memory; sizes beyond ScaLAPACK's 32-bit integers), IKT_ERR_INTERNAL
 * when the solver fails. Cost: about 6 d^3 operations; memory ikt_eigen_bytes. */
ikt_status ikt_eigen_leading(ikt_context *ctx, const double *upper, int64_t d, int64_t k,
                             int64_t alone_max, double *values, double *vectors);

/* LOCAL. About the most bytes that one rank needs for the above, beside its arguments. */
int64_t ikt_eigen_bytes(int64_t d, int ranks, int64_t alone_max);

#endif
