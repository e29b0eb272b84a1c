/* Principal components: the directions of largest variance, and the rows' scores along them.
 *
 * Method: column statistics, covariance matrix and its leading eigenvectors; three modules of this
 * folder, each reproducible on its own.
 * Advantage: exact, two passes over the rows, the same bits on any ranks and threads (up to
 * IKT_EIGEN_ALONE_MAX columns). Disadvantage: d^2 memory; beyond some ten thousand columns a
 * randomised method would be the choice.
 */
#ifndef IKT_LINALG_PCA_H
#define IKT_LINALG_PCA_H

#include "base/cpu.h"
#include "linalg/row_reader.h"

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
 * Errors: IKT_ERR_RESOURCE where the d x d matrices do not fit, with advice; IKT_ERR_DATA for
 * values that are not finite; the reader's and the solver's. Reads all rows twice. */
ikt_status ikt_pca_fit(ikt_context *ctx, const ikt_row_reader *reader, int64_t k, ikt_pca **out);

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

#endif
