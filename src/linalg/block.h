/* A block of vectors over all rows, n x m, as eigen-solvers keep them: a few columns (the wanted
 * eigenvectors and some more), whose rows lie on the ranks that own them.
 *
 * Columns are doubles: the recurrence of a filter and Gram matrices of nearly dependent columns
 * lose half of the digits that they begin with, and eigenvalues are promised to 1e-8. A block of 16
 * columns is 128 bytes a row, a tenth of what P takes.
 *
 * Every result has the same bits on any ranks and threads. Sums over rows are made in plain doubles
 * within fixed blocks of IKT_BLOCK_ROWS rows that start at multiples of it in the whole data
 * (linalg/blocks.h), and these are added as integers whose unit comes from the norms of the
 * columns, or exactly (base/exact_sum.h). A fixed block that lies on several ranks is summed by the
 * owner of its first row, to whom the others send their rows of it. Products of a block with a
 * small matrix go through linalg/dot_tile.h: row by row, terms in order. Small matrices are the
 * same on all ranks.
 * Advantage: what is decided by these sums is decided alike everywhere. Disadvantage: two
 * reductions for a Gram matrix, and up to IKT_BLOCK_ROWS - 1 rows of each rank travel for it.
 *
 *     ikt_block v, b;   ikt_block_create(ctx, &rows, m, &v); ikt_block_create(ctx, &rows, m, &b);
 *     ikt_block_random(&v, 0, seed, 0);
 *     ikt_block_orthonormalise(&v, NULL, seed, &replaced);
 *     ... b = A v, by the caller ...
 *     ikt_block_ritz(&v, &b, 0, theta, x);
 *     ikt_block_rotate(&v, x); ikt_block_rotate(&b, x);
 *     ikt_block_residuals(&v, &b, theta, residual);
 */
#ifndef IKT_LINALG_BLOCK_H
#define IKT_LINALG_BLOCK_H

#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"

typedef struct {
    ikt_context *ctx;
    ikt_rows rows;
    int64_t m; /* columns, 1 to IKT_BLOCK_COLUMNS_MOST */
    double
        *v; /* [rows.count * m] row-major; there is memory for a multiple of 8 rows and 16 numbers
               more, so that kernels need not mind ends; what stands there does not matter */
} ikt_block;

/* More columns would make the small eigenproblem one of several ranks, whose bits depend on them
 * (linalg/eigen.h). */
enum { IKT_BLOCK_COLUMNS_MOST = 2048 };

/* LOCAL. A block of zeros. Errors: IKT_ERR_RESOURCE; empty then. */
ikt_status ikt_block_create(ikt_context *ctx, const ikt_rows *rows, int64_t m, ikt_block *out);

/* LOCAL. Frees the columns and empties the struct; accepts an empty one. */
void ikt_block_destroy(ikt_block *block);

/* LOCAL, pure. Bytes of a block on a rank with n_local rows; the most that any function below
 * allocates beside its arguments. */
int64_t ikt_block_bytes(int64_t n_local, int64_t m);
int64_t ikt_block_work_bytes(int64_t m, int threads);

/* LOCAL. Columns first .. m - 1 become random, uniform between -1 and 1: each number is a function
 * of (seed, row, column, round).
 *   round   other numbers than before for the same column: 0, 1, ... */
void ikt_block_random(ikt_block *block, int64_t first, uint64_t seed, uint64_t round);

/* COLLECTIVE, all of the following; they return an agreed status. Errors: IKT_ERR_RESOURCE;
 * IKT_ERR_INTERNAL where a block holds values that are not finite. */

/* The Gram matrix of two blocks over the same rows, V^T W, in `gram` [v->m * w->m], row-major.
 * Errors of rounding: about 2^-45 of the norms of the columns. w may be v: half of the work. */
ikt_status ikt_block_gram(const ikt_block *v, const ikt_block *w, double *gram);

/* Euclidean norms of the columns, in `norm` [v->m]. */
ikt_status ikt_block_norms(const ikt_block *v, double *norm);

/* |b_k - theta_k v_k| of every column k: the residuals of eigenpairs, where b = A v.
 *   theta, residual   [v->m] */
ikt_status ikt_block_residuals(const ikt_block *v, const ikt_block *b, const double *theta,
                               double *residual);

/* What removes known vectors from a block, where more is known of them than their columns. One that
 * is a column like others is better the first of the block. */
typedef struct {
    /* COLLECTIVE. Makes the columns of v orthogonal to the vectors that `self` stands for. */
    ikt_status (*remove)(void *self, ikt_block *v);
    void *self;
} ikt_deflation;

/* Orthonormal columns that span what those of v do, by the Gram matrix, its Cholesky factor and a
 * triangular solve, again until that changes no more than rounding (twice, as a rule): each column
 * is made orthogonal to those before it. A column that these explain but for 1e-6 of it becomes
 * random (ikt_block_random), so that the result always has m columns.
 *   known      vectors that all columns have to be orthogonal to, or NULL
 *   replaced   receives how many columns became random
 * v->m and the known vectors must not be more than n. Errors: also IKT_ERR_INTERNAL where they
 * are. */
ikt_status ikt_block_orthonormalise(ikt_block *v, const ikt_deflation *known, uint64_t seed,
                                    int64_t *replaced);

/* V <- V X, with x [m * m] row-major: column c of the result is the sum over j of column j times
 * x[j * m + c], j in order. */
ikt_status ikt_block_rotate(ikt_block *v, const double *x);

/* The Rayleigh-Ritz step: H = V^T B, symmetrised, = X Theta X^T, solved on one rank.
 *   v, b    orthonormal columns, and A times these
 *   first   columns before it stay as they are, as though they were eigenvectors
 *   theta   [m] receives the eigenvalues of H, the largest first, behind the quotients v^T b of
 *           columns that stay
 *   x       [m * m] receives X, which v, b and whatever is linear in v have to be rotated by; the
 *           entry of largest magnitude (the first of equals) of each of its columns is positive */
ikt_status ikt_block_ritz(const ikt_block *v, const ikt_block *b, int64_t first, double *theta,
                          double *x);

#endif
