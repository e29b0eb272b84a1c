/* A matrix of the similarities of all rows as the input (input.similarities): dense, n x n, of
 * either sign, definite or not.
 *
 * It becomes a source of n rows of n entries, which a data set of the metric `precomputed` reads
 * (data/dataset.h): its rows have the distances sqrt(K_ii + K_jj - 2 K_ij), of which squares below
 * 0 count as 0. As it is, it is read from its file by blocks. Where it is symmetrised or its
 * spectrum is changed, the ranks hold it, each its own rows, and exchange what others ask for.
 */
#ifndef IKT_SIMILARITY_SIMILARITY_MATRIX_H
#define IKT_SIMILARITY_SIMILARITY_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"
#include "io/sources/source.h"
#include "similarity/settings.h"

/* How far an entry may differ from its mirror image, as a part of the largest magnitude. */
#define IKT_SYMMETRY_TOLERANCE 1e-6

/* COLLECTIVE. Opens a matrix and looks through it.
 *   file, dataset   as of ikt_source_open
 *   symmetrise      (K + K^T) / 2 takes the place of K, however far from symmetric it is
 *   out             the source; close with ikt_source_close. Labels and marked rows are those
 *                   beside the matrix. NULL on failure
 * Errors: IKT_ERR_DATA where it is sparse, not square, has fewer than 3 rows, holds an entry that
 * is not finite (its row and column), or is not symmetric (the pair that differs most);
 * IKT_ERR_RESOURCE where it has to be held and does not fit; those of reading and of the solver. */
ikt_status ikt_matrix_source_open(ikt_context *ctx, const char *file, const char *dataset,
                                  bool symmetrise, ikt_spectrum_use spectrum, ikt_source **out);

/* Symmetric matrices of similarities that the ranks hold by rows: what becomes of negative
 * eigenvalues, and of entries that differ from their mirror images.
 *
 * Method: all eigenpairs K = V L V^T (linalg/eigen.h), then K + sum over lambda < 0 of c(lambda)
 * v v^T with c = |lambda| (clip) or 2 |lambda| (flip), which leaves a matrix without negative
 * eigenvalues as it is; or K - lambda_min I (shift), which needs one eigenvalue and adds a constant
 * to all squared distances. Up to IKT_EIGEN_ALONE_MAX rows on rank 0 alone, so that the bits do not
 * depend on the ranks; beyond over all ranks, the documented exception.
 */

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
