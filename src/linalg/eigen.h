/* Eigenpairs of symmetric matrices, by ScaLAPACK.
 *
 * Method: divide and conquer (pdsyevd) on a block-cyclic layout; of all pairs those that are wanted
 * are kept. The generalised problem becomes a plain one by Cholesky's factor.
 * Up to `alone_max` columns rank 0 solves alone, on a 1 x 1 grid with one BLAS thread, and shares
 * the result; larger matrices are spread over a near-square grid of all ranks.
 * The solvers that compute k pairs only cannot be used (ScaLAPACK 2.2.1): pdsyevr returns wrong
 * vectors for many sizes, as it gives pdormtr too little work space and does not look at the
 * outcome; pdsyevx returned wrong vectors with a good status for a matrix of 23 columns on three
 * ranks (residual 3e-4), with any work space; the cause was not found. Advantage: for the small
 * case, the bits do not depend on the ranks. Disadvantage: few pairs cost as much as all; the large
 * case is the documented exception to equal bits: its bits depend on the grid.
 */
#ifndef IKT_LINALG_EIGEN_H
#define IKT_LINALG_EIGEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"

enum { IKT_EIGEN_ALONE_MAX = 2048 };

/* Every result is the same on all ranks:
 *   values    [k] eigenvalues in the order that is asked for
 *   vectors   [k * n] the eigenvectors as rows; the entry of largest magnitude (the first of
 *             equals) of each is positive
 * Errors: IKT_ERR_RESOURCE (memory; sizes beyond ScaLAPACK's 32-bit integers), IKT_ERR_INTERNAL
 * where the solver fails or its pairs do not solve their equation. */

/* COLLECTIVE. The k largest eigenvalues of a symmetric d x d matrix, largest first, and their
 * orthonormal eigenvectors.
 *   upper       [d*(d+1)/2], upper triangle row after row (column_stats.h), the same on all ranks;
 *               borrowed
 *   d, k        1 <= k <= d
 *   alone_max   IKT_EIGEN_ALONE_MAX except in tests
 * Cost: about 6 d^3 operations; memory ikt_eigen_bytes. */
ikt_status ikt_eigen_leading(ikt_context *ctx, const double *upper, int64_t d, int64_t k,
                             int64_t alone_max, double *values, double *vectors);

/* LOCAL. About the most bytes that one rank needs for the above, beside its arguments. */
int64_t ikt_eigen_bytes(int64_t d, int ranks, int64_t alone_max);

typedef enum { IKT_EIGEN_LARGEST, IKT_EIGEN_LEAST } ikt_eigen_end;

/* COLLECTIVE. k eigenpairs at one end of the spectrum of A v = lambda v, or of A v = lambda B v,
 * for symmetric matrices that lie on the ranks by rows.
 *   rows        of both matrices; n = rows->n
 *   a, b        [rows->count * n] the own rows, borrowed; b is positive definite, or NULL for
 *               the first problem on all ranks
 *   k, end      1 <= k <= n; largest first or least first
 *   alone_max   as above
 * Vectors are orthonormal, or B-orthonormal. Every pair is tried on its equation. Cost: about
 * 9 n^3 operations (12 n^3 with b) over the ranks of the grid; memory on each 4 n^2 / ranks doubles
 * (5 with b), and k n for the result. */
ikt_status ikt_eigen_selected(ikt_context *ctx, const ikt_rows *rows, const double *a,
                              const double *b, int64_t k, ikt_eigen_end end, int64_t alone_max,
                              double *values, double *vectors);

/* COLLECTIVE. f(A) = V f(L) V^T of a symmetric matrix A = V L V^T that lies on the ranks by rows.
 *   a        [rows->count * n] the own rows, borrowed
 *   f        of an eigenvalue; `self` is passed on
 *   values   [n] receives all eigenvalues, the largest first
 *   own      [rows->count * n] receives the own rows of f(A), symmetric but for rounding
 * V L V^T is compared with A. Cost: 13 n^3 operations over the ranks of the grid; memory on each
 * 6 n^2 / ranks doubles. */
ikt_status ikt_eigen_function(ikt_context *ctx, const ikt_rows *rows, const double *a,
                              double (*f)(const void *self, double value), const void *self,
                              int64_t alone_max, double *values, double *own);

/* COLLECTIVE. Solves A x = b for a positive definite matrix that lies on the ranks by rows, by
 * Cholesky's factor.
 *   a              [rows->count * n] the own rows, borrowed
 *   b              [k * n] right-hand sides as rows, the same on all ranks
 *   x              [k * n] the solutions, the same on all ranks
 *   is_definite    receives false where A is not; x is zero then, and there is no error
 * Cost: n^3 / 3 operations over the ranks of the grid. */
ikt_status ikt_cholesky_solve(ikt_context *ctx, const ikt_rows *rows, const double *a,
                              const double *b, int64_t k, int64_t alone_max, double *x,
                              bool *is_definite);

#endif
