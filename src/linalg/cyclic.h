/* A square matrix dealt block-cyclically over a grid of ranks: what the solvers of ScaLAPACK work
 * on. Another solver than that of eigen.h needs of a matrix no more than this.
 *
 * Method: a matrix of at most `alone_max` columns is on rank 0 alone; a larger one is spread over a
 * near-square grid of all ranks, of which a few may be left out. Rows come from the ranks that own
 * them by ScaLAPACK's own redistribution (pdgemr2d), and columns go to all ranks.
 */
#ifndef IKT_LINALG_CYCLIC_H
#define IKT_LINALG_CYCLIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"

typedef struct {
    int system, grid;              /* BLACS handles */
    int rows, columns;             /* of the grid */
    int row, column;               /* this rank's place, -1 outside the grid */
    int n, block;                  /* columns of the matrix, and of a block */
    int local_rows, local_columns; /* of this rank's part; 0 outside the grid */
    int64_t entries;               /* of the part, which is column-major */
    int descriptor[9];             /* ScaLAPACK's */
} ikt_cyclic;

/* LOCAL, pure. Rows and columns of the grid for a matrix of n columns. */
void ikt_cyclic_grid(int64_t n, int ranks, int64_t alone_max, int *rows, int *columns);

/* SAME-ARGS. Whether a matrix of n columns can be dealt at all: to be asked before anything of that
 * size is allocated. Errors: IKT_ERR_RESOURCE (ScaLAPACK's 32-bit sizes). */
ikt_status ikt_cyclic_check(ikt_context *ctx, int64_t n);

/* COLLECTIVE. Makes the grid for matrices of n columns; the caller allocates the parts.
 * Errors: IKT_ERR_RESOURCE (32-bit sizes); nothing is to be destroyed then. */
ikt_status ikt_cyclic_create(ikt_context *ctx, int64_t n, int64_t alone_max, ikt_cyclic *out);

/* COLLECTIVE. */
void ikt_cyclic_destroy(ikt_cyclic *l);

/* COLLECTIVE. Fills the parts from a symmetric matrix that lies on the ranks by rows; no rank holds
 * more than its rows and its part.
 *   own    [rows->count * n] the own rows, borrowed
 *   part   [l->entries] receives this rank's part
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_cyclic_fill(ikt_context *ctx, const ikt_cyclic *l, const ikt_rows *rows,
                           const double *own, double *part);

/* COLLECTIVE. The way back: the ranks' rows of a symmetric matrix from the parts.
 *   own   [rows->count * n] */
ikt_status ikt_cyclic_return(ikt_context *ctx, const ikt_cyclic *l, const ikt_rows *rows,
                             const double *part, double *own);

/* LOCAL, pure. Which column of the matrix a column of this rank's part is. */
int64_t ikt_cyclic_column(const ikt_cyclic *l, int64_t column);

/* LOCAL. The layout of a matrix of as many rows and k columns on the same grid, which stays that of
 * `l`. ikt_cyclic_scatter and ikt_cyclic_gather are for it, too. */
ikt_cyclic ikt_cyclic_narrow(const ikt_cyclic *l, int k);

/* LOCAL. Fills this rank's part from columns that it holds.
 *   in   [columns of the matrix * n] the columns as rows */
void ikt_cyclic_scatter(const ikt_cyclic *l, const double *in, double *part);

/* COLLECTIVE. Copies the first or the last k columns to all ranks.
 *   part   [l->entries]
 *   last   the last ones, in descending order, in place of the first
 *   out    [k * n] receives the columns as rows */
void ikt_cyclic_gather(ikt_context *ctx, const ikt_cyclic *l, const double *part, int64_t k,
                       bool last, double *out);

#endif
