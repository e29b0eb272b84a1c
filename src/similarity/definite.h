/* Symmetric matrices of similarities that the ranks hold by rows: what becomes of negative
 * eigenvalues, and of entries that differ from their mirror images.
 *
 * Method: all eigenpairs K = V L V^T (linalg/eigen.h), then K + sum over lambda < 0 of c(lambda)
 * v v^T with c = |lambda| (clip) or 2 |lambda| (flip), which leaves a matrix without negative
 * eigenvalues as it is; or K - lambda_min I (shift), which needs one eigenvalue and adds a constant
 * to all squared distances. Up to IKT_EIGEN_ALONE_MAX rows on rank 0 alone, so that the bits do not
 * depend on the ranks; beyond over all ranks, the documented exception.
 */
#ifndef IKT_SIMILARITY_DEFINITE_H
#define IKT_SIMILARITY_DEFINITE_H

#include "base/status.h"
#include "dist/rows.h"
#include "similarity/settings.h"

typedef struct {
    int64_t negative;   /* eigenvalues below -1e-10 of the largest magnitude; -1: not counted */
    double least, most; /* eigenvalues; `most` is 0 where only the least one was found */
    double share;       /* of the sum of magnitudes that is negative; 0 likewise */
} ikt_eigenvalues;

/* COLLECTIVE.
 *   kind        not RAW
 *   alone_max   IKT_EIGEN_ALONE_MAX except in tests
 *   k           [rows->count * n] the own rows, symmetric; changed in place
 *   found       of the matrix as it was
 * Errors: IKT_ERR_RESOURCE, those of the solver. */
ikt_status ikt_eigenvalues_change(ikt_context *ctx, const ikt_rows *rows, ikt_spectrum_use kind,
                                  int64_t alone_max, double *k, ikt_eigenvalues *found);

/* COLLECTIVE. (K + K^T) / 2 in place of a square matrix.
 *   k   [rows->count * n] the own rows; exactly symmetric afterwards
 * Errors: IKT_ERR_RESOURCE. Memory: two more times that of k. */
ikt_status ikt_matrix_symmetrise(ikt_context *ctx, const ikt_rows *rows, double *k);

#endif
