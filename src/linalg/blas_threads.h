/* One thread for the BLAS below ScaLAPACK, where the library lets us say so.
 *
 * Threaded BLAS routines split their sums by threads, so their bits depend on the machine. The call
 * that sets the number is OpenBLAS' or MKL's own; a program linked with another BLAS has neither,
 * and its user sets OMP_NUM_THREADS or that library's variable.
 */
#ifndef IKT_LINALG_BLAS_THREADS_H
#define IKT_LINALG_BLAS_THREADS_H

/* LOCAL. Sets the threads of the BLAS and returns what it was (0 where that is unknown). Does
 * nothing for threads < 1 or where the BLAS offers no such call. */
int ikt_blas_threads_set(int threads);

#endif
