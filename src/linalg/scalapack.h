/* Prototypes of the few BLACS and ScaLAPACK routines we call; the libraries ship none for C.
 *
 * Integers are Fortran's default INTEGER (32 bits); callers check their sizes. Names carry the
 * underscore that all current Fortran compilers append.
 */
#ifndef IKT_LINALG_SCALAPACK_H
#define IKT_LINALG_SCALAPACK_H

#include <mpi.h>

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
