/* Singular values of matrices of up to three rows: turns and mirrors of maps.
 *
 * Method: one-sided Jacobi (Hestenes 1958): pairs of columns are turned against each other until
 * all are orthogonal; their lengths are the singular values. Advantage: exact to rounding for any
 * condition, and the same bits whatever LAPACK there is. Disadvantage: only for small matrices.
 */
#ifndef IKT_LINALG_SMALL_SVD_H
#define IKT_LINALG_SMALL_SVD_H

enum { IKT_SVD_MOST = 3 };

/* LOCAL, pure. a = u diag(s) v^T, all d x d and row-major, 1 <= d <= IKT_SVD_MOST; s descending.
 * Where singular values are 0 the vectors are completed to orthonormal ones. */
void ikt_small_svd(int d, const double *a, double *u, double *s, double *v);

/* LOCAL, pure. Determinant of a d x d matrix. */
double ikt_small_det(int d, const double *a);

#endif
