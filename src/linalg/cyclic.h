/* A square matrix dealt block-cyclically over a grid of ranks, as ScaLAPACK wants it.
 *
 * Matrices of at most `alone_max` columns are on rank 0 alone, a grid of one; larger ones are
 * spread over a near-square grid of all ranks, of which a few may be left out. Advantage: what
 * computes (eigen.h) need not know how a matrix came to the grid. Disadvantage: sizes are
 * ScaLAPACK's 32-bit integers; what exceeds them is refused.
 */
#ifndef IKT_LINALG_CYCLIC_H
#define IKT_LINALG_CYCLIC_H

#include <mpi.h>
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
    int descriptor[9];             /* ScaLAPACK's */
} ikt_cyclic;

/* COLLECTIVE. Makes the grid.
 *   alone_max   largest n that rank 0 has alone
 * Errors: IKT_ERR_RESOURCE (32-bit sizes). Free with ikt_cyclic_destroy where it succeeds. */
ikt_status ikt_cyclic_create(ikt_context *ctx, int64_t n, int64_t alone_max, ikt_cyclic *out);
void ikt_cyclic_destroy(ikt_cyclic *layout);

/* LOCAL, pure. Entries of the part of one rank, at most. */
double ikt_cyclic_share(int64_t n, int ranks, int64_t alone_max);

/* LOCAL, pure. Whether this rank is in the grid; entries of its part. */
static inline bool ikt_cyclic_has_part(const ikt_cyclic *layout) {
    return layout->row >= 0;
}
static inline int64_t ikt_cyclic_entries(const ikt_cyclic *layout) {
    return (int64_t)layout->local_rows * layout->local_columns;
}

/* LOCAL, pure. Where a local entry stands in the part (column by column); its global row and column
 * go to *i and *j. */
int64_t ikt_cyclic_entry(const ikt_cyclic *layout, int64_t row, int64_t column, int64_t *i,
                         int64_t *j);

/* LOCAL. Fills the own part from a symmetric matrix that every rank has.
 *   upper   [n*(n+1)/2] upper triangle row after row (column_stats.h)
 *   part    [ikt_cyclic_entries] */
void ikt_cyclic_fill(const ikt_cyclic *layout, const double *upper, double *part);

/* COLLECTIVE. Fills the parts from a symmetric matrix that lies on the ranks by rows; no rank holds
 * more than its rows and its part.
 *   rows   of the matrix, rows->n == n
 *   own    [rows->count * n] the own rows; lent
 *   part   [ikt_cyclic_entries]
 * Errors: IKT_ERR_RESOURCE (2^31 entries or more on a rank). */
ikt_status ikt_cyclic_fill_rows(ikt_context *ctx, const ikt_cyclic *layout, const ikt_rows *rows,
                                const double *own, double *part);

/* --- prototypes of BLACS and ScaLAPACK, which ship none for C -----------------------------------
 *
 * Integers are Fortran's default INTEGER (32 bits); callers check their sizes. Names carry the
 * underscore that all current Fortran compilers append. */

/* BLACS: a grid of processes on a communicator. Csys2blacs_handle to Cblacs_gridinit are called by
 * all ranks of the communicator; a rank outside the grid gets row -1 from Cblacs_gridinfo. */
int Csys2blacs_handle(MPI_Comm comm);
void Cfree_blacs_system_handle(int handle);
void Cblacs_gridinit(int *grid, char *order, int rows, int columns);
void Cblacs_gridinfo(int grid, int *rows, int *columns, int *row, int *column);
void Cblacs_gridexit(int grid);

/* A grid of the ranks in `list` (column by column, `leading` apart), for all ranks of the
 * communicator to call; *grid is negative on those that are not in it. */
void Cblacs_gridmap(int *grid, int *list, int leading, int rows, int columns);

/* Rows (or columns) of a block-cyclic dimension that process `process` of `processes` holds. */
int numroc_(const int *n, const int *block, const int *process, const int *source,
            const int *processes);

/* Describes a block-cyclic matrix on a grid. */
void descinit_(int *descriptor, const int *m, const int *n, const int *row_block,
               const int *column_block, const int *row_source, const int *column_source,
               const int *grid, const int *leading, int *info);

/* All eigenvalues, ascending, and eigenvectors of a real symmetric matrix (divide and conquer). */
void pdsyevd_(const char *job, const char *triangle, const int *n, double *a, const int *ia,
              const int *ja, const int *a_descriptor, double *values, double *z, const int *iz,
              const int *jz, const int *z_descriptor, double *work, const int *lwork, int *iwork,
              const int *liwork, int *info);

/* Cholesky factor U of a positive definite matrix, U^T U, in place. */
void pdpotrf_(const char *triangle, const int *n, double *a, const int *ia, const int *ja,
              const int *a_descriptor, int *info);

/* Of kind 1: U^-T A U^-1 in place of A, where b holds U. */
void pdsygst_(const int *kind, const char *triangle, const int *n, double *a, const int *ia,
              const int *ja, const int *a_descriptor, const double *b, const int *ib, const int *jb,
              const int *b_descriptor, double *scale, int *info);

/* Solves U X = B in place of B. */
void pdtrtrs_(const char *triangle, const char *transposed, const char *diagonal, const int *n,
              const int *columns, const double *a, const int *ia, const int *ja,
              const int *a_descriptor, double *b, const int *ib, const int *jb,
              const int *b_descriptor, int *info);

/* Copies an m x n submatrix from one block-cyclic layout to another, whose grids may have different
 * processes; `everywhere` is a grid of all of both. Entry [1] of a descriptor is -1 on a process
 * that is not in its grid. */
void pdgemr2d_(const int *m, const int *n, const double *a, const int *ia, const int *ja,
               const int *a_descriptor, double *b, const int *ib, const int *jb,
               const int *b_descriptor, const int *everywhere);

#endif
