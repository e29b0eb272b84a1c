/* FFTW's transposes between ranks, of which there is one: a plain copy, as the matrix is given
 * transposed on one of the two sides (FFTW_MPI_TRANSPOSED_IN or _OUT; base/transpose.c). */
#ifndef IKT_ONE_PROCESS_FFTW3_MPI_H
#define IKT_ONE_PROCESS_FFTW3_MPI_H

#include <fftw3.h>
#include <mpi.h>
#include <stddef.h>

enum { FFTW_MPI_TRANSPOSED_IN = 1 << 29, FFTW_MPI_TRANSPOSED_OUT = 1 << 30 }; /* FFTW's */

static inline void fftw_mpi_init(void) {
}

static inline void fftwf_mpi_init(void) {
}

static inline ptrdiff_t fftw_mpi_local_size_many_transposed(int rank, const ptrdiff_t *n,
                                                            ptrdiff_t tuple, ptrdiff_t row_block,
                                                            ptrdiff_t column_block, MPI_Comm comm,
                                                            ptrdiff_t *rows, ptrdiff_t *row,
                                                            ptrdiff_t *columns, ptrdiff_t *column) {
    (void)rank, (void)row_block, (void)column_block, (void)comm;
    *rows = n[0], *columns = n[1], *row = *column = 0;
    return n[0] * n[1] * tuple;
}

/* A transform of rank 0 copies. */
#define IKT_COPY_PLAN(fftw, real)                                                                  \
    static inline fftw##_plan fftw##_mpi_plan_many_transpose(                                      \
        ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t tuple, ptrdiff_t row_block,                   \
        ptrdiff_t column_block, real *in, real *out, MPI_Comm comm, unsigned flags) {              \
        const fftw##_iodim64 all = {rows * columns * tuple, 1, 1};                                 \
        const unsigned sides = FFTW_MPI_TRANSPOSED_IN | FFTW_MPI_TRANSPOSED_OUT;                   \
        (void)row_block, (void)column_block, (void)comm;                                           \
        return fftw##_plan_guru64_r2r(0, NULL, 1, &all, in, out, NULL, flags & ~sides);            \
    }
IKT_COPY_PLAN(fftw, double)
IKT_COPY_PLAN(fftwf, float)

#endif
