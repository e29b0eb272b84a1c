/* Principal axes of some sparse rows, and scores of others along them.
 *
 * Method: the axes of m rows lie in the space that these rows span, so the eigenvectors of their
 * m x m matrix of products, centred, give them: axis = sum_i a_i (x_i - mean) / |...|. A score is
 * (x - mean) . axis, a sparse product. Advantage: no matrix of d x d, which text could not hold; a
 * function of the rows alone, the same bits on any ranks and threads for m up to
 * IKT_EIGEN_ALONE_MAX. Disadvantage: m^2 products and m^3 operations, so a sample of the rows must
 * do.
 */
#ifndef IKT_LINALG_SPARSE_AXES_H
#define IKT_LINALG_SPARSE_AXES_H

#include "linalg/sparse.h"

typedef struct {
    int64_t d, q;   /* columns, axes */
    double *axis;   /* [q * d] of length 1; zero where the rows have no variance left. The entry of
                       largest magnitude (the first of equals) of each is positive */
    double *offset; /* [q] score of the rows' mean */
} ikt_sparse_axes;

/* COLLECTIVE. The q leading axes.
 *   rows   the same on all ranks; at least 1
 *   out    receives them, the same on all ranks, owned by the caller; empty on failure
 * Errors: IKT_ERR_RESOURCE, the solver's. Cost: m^2 / ranks sparse products, m^3 on rank 0. */
ikt_status ikt_sparse_axes_fit(ikt_context *ctx, const ikt_sparse *rows, int64_t q,
                               ikt_sparse_axes *out);
void ikt_sparse_axes_destroy(ikt_sparse_axes *axes);

/* LOCAL. Scores of rows, summed in the order of columns.
 *   scores   [rows->count * q] */
void ikt_sparse_axes_scores(ikt_context *ctx, const ikt_sparse_axes *axes, const ikt_sparse *rows,
                            double *scores);

#endif
