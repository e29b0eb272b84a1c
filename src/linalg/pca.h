/* Principal components: the directions of largest variance, and the rows' scores along them.
 *
 * Dense rows: column statistics, covariance matrix and its leading eigenvectors, each reproducible
 * on its own. Advantage: exact, two passes over the rows, the same bits on any ranks and threads
 * (up to IKT_EIGEN_ALONE_MAX columns). Disadvantage: d^2 memory. A few components of more columns
 * are therefore found by products with the rows (covariance_leading.h).
 * Sparse rows: the axes of m rows lie in the space that these rows span, so the eigenvectors of
 * their m x m matrix of products, centred, give them: axis = sum_i a_i (x_i - mean) / |...|. A
 * score is (x - mean) . axis, a sparse product. Advantage: no matrix of d x d, which text could not
 * hold; a function of the rows alone, the same bits as above. Disadvantage: m^2 products and m^3
 * operations, so a sample of the rows must do.
 */
#ifndef IKT_LINALG_PCA_H
#define IKT_LINALG_PCA_H

#include "base/cpu.h"
#include "linalg/blocks.h"
#include "linalg/sparse.h"

typedef struct {
    int64_t d, k;          /* columns of the rows, components */
    int64_t rank;          /* components that have variance; the others are zero vectors */
    double total_variance; /* of all columns */
    double *mean;          /* [d] */
    double *variance;      /* [k], of the scores, largest first; divided by n - 1 */
    double *components;    /* [k*d], orthonormal rows; see eigen.h for their signs */
    double *packed;        /* the components in groups of 16, dimension-major, for projection */
    double *offset;        /* [k rounded up to 16], score of the mean */
} ikt_pca;

/* COLLECTIVE. Fits k >= 1 components to the rows. Directions without variance (those beyond the
 * rank of the data, and beyond d) get zero vectors, so that scores along them are exactly 0.
 *   out   receives the components (the same on all ranks), owned by the caller; NULL on failure.
 * Errors: IKT_ERR_RESOURCE where ikt_pca_bytes do not fit, with advice; IKT_ERR_DATA for values
 * that are not finite; the reader's and the solver's. Reads all rows twice, or more often where
 * they are wide, or once more where they are few (covariance_few.h). */
ikt_status ikt_pca_fit(ikt_context *ctx, const ikt_row_reader *reader, int64_t k, ikt_pca **out);

/* LOCAL, pure. The most bytes that this takes on a rank, with what it leaves. */
int64_t ikt_pca_bytes(int64_t n, int64_t d, int64_t k, int ranks, int threads);

/* LOCAL. Components that were fitted before: projections have the bits of those of the original.
 *   mean         [d], copied; components [k*d], copied
 *   out          as above; variances are unknown and left 0
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_pca_restore(ikt_context *ctx, int64_t d, int64_t k, const double *mean,
                           const double *components, ikt_pca **out);

/* LOCAL. Frees *pca and sets it to NULL; accepts NULL. */
void ikt_pca_destroy(ikt_pca **pca);

/* LOCAL. Scores of at most 8 rows; the order of operations is fixed per row.
 *   isa      at most ikt_cpu_isa(); the result does not depend on it.
 *   rows     [8*d] readable (what is beyond `count` rows is ignored).
 *   scores   [count*k], receives (x - mean) . component, in units of the columns. */
void ikt_pca_project(const ikt_pca *pca, ikt_isa isa, const double *rows, int64_t count,
                     double *scores);

/* COLLECTIVE. Scores of rows first .. first + count - 1 of the reader (any range on each rank).
 *   scores   [count*k]. Errors: IKT_ERR_RESOURCE, the reader's. */
ikt_status ikt_pca_scores(ikt_context *ctx, const ikt_pca *pca, const ikt_row_reader *reader,
                          int64_t first, int64_t count, double *scores);

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
