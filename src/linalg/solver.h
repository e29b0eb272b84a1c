/* Some eigenpairs of a symmetric operator on all rows: those of its largest eigenvalues.
 *
 * Method: Chebyshev-filtered block iteration (Zhou & Saad, SIAM J. Matrix Anal. Appl. 29 (2007);
 * Saad, Numerical Methods for Large Eigenvalue Problems, 2011, chapter 5). A block of some more
 * columns than are wanted is multiplied by a polynomial of the operator that is small between the
 * lower bound of the spectrum and the block's least Ritz value, and grows as fast as any beyond it;
 * its columns are made orthonormal, and a Rayleigh-Ritz step takes the best pairs that they span.
 * Advantage: sums over all rows are needed once for `degree` products, where the conjugate
 * gradients of LOBPCG and Krylov methods need some for each; few sums are what makes exact ones,
 * and so the same bits on any ranks, cheap. Disadvantage: all columns are multiplied until the last
 * has converged.
 */
#ifndef IKT_LINALG_SOLVER_H
#define IKT_LINALG_SOLVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "linalg/block.h"

/* A symmetric operator A on vectors over all rows. */
typedef struct {
    void *self;
    /* COLLECTIVE. y <- alpha A x + beta x + gamma y; y is not read where gamma is 0. Neither block
     * is the other. The result is the same on any ranks and threads. */
    ikt_status (*apply)(void *self, const ikt_block *x, double alpha, double beta, double gamma,
                        ikt_block *y);
    ikt_deflation known; /* eigenvectors that are known and not wanted; remove may be NULL */
    double least;        /* no eigenvalue is below */
} ikt_operator;

typedef struct {
    int64_t wanted;     /* eigenpairs, at least 1 */
    int64_t columns;    /* of the block, at least `wanted`: usually IKT_SOLVER_GUARDS more; with the
                           known eigenvectors not more than there are rows */
    int64_t degree;     /* of the filter, at least 1; usually IKT_SOLVER_DEGREE */
    double growth;      /* 0, or what a filter multiplies by at most: where eigenvalues differ by
                           orders of magnitude, more would leave nothing but the largest */
    double tolerance;   /* |A v - theta v| of every wanted pair, v of length 1 */
    int64_t steps_most; /* filters, after which the pairs are taken as they are */
    uint64_t seed;      /* of the columns that it begins with */
} ikt_solver_options;

enum { IKT_SOLVER_GUARDS = 10, IKT_SOLVER_DEGREE = 20, IKT_SOLVER_STEPS = 100 };

/* All columns of the block are there, the wanted ones first. */
typedef struct {
    ikt_block v;      /* orthonormal eigenvectors */
    double *theta;    /* [v.m] their eigenvalues, the largest first */
    double *residual; /* [v.m] |A v - theta v| */
    int64_t products; /* of the operator with the block */
    int64_t steps;    /* Rayleigh-Ritz steps */
    int64_t replaced; /* columns that had to become random */
    double worst;     /* residual of a wanted pair */
    bool has_converged;
} ikt_eigenpairs;

/* COLLECTIVE. Eigenpairs of the largest eigenvalues of an operator on `rows`. Not to reach the
 * tolerance is no error: the caller says what it means. Where all Ritz values of the block are one
 * number there is nothing to filter by, and a step of the power method is made instead.
 *   out   free with ikt_eigenpairs_destroy; empty on failure
 * Errors: IKT_ERR_RESOURCE; those of the operator; IKT_STOPPED where the watcher of the context has
 * asked for an end. Memory: two blocks, ikt_block_work_bytes, and the operator's. */
ikt_status ikt_eigenpairs_find(ikt_context *ctx, const ikt_rows *rows, const ikt_operator *a,
                               const ikt_solver_options *options, ikt_eigenpairs *out);

void ikt_eigenpairs_destroy(ikt_eigenpairs *pairs);

/* LOCAL, pure. Bytes of a rank with n_local rows, without the operator's. */
int64_t ikt_solver_bytes(int64_t n_local, int64_t columns, int threads);

#endif
