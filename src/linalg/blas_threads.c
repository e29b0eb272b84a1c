/* Threads of the BLAS, by weak references. See blas_threads.h. */
#include "linalg/blas_threads.h"

extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));
extern void MKL_Set_Num_Threads(int threads) __attribute__((weak));
extern int MKL_Get_Max_Threads(void) __attribute__((weak));

int ikt_blas_threads_set(int threads) {
    int before = 0;
    if (threads < 1) return before;
    if (openblas_set_num_threads && openblas_get_num_threads) {
        before = openblas_get_num_threads();
        openblas_set_num_threads(threads);
    }
    if (MKL_Set_Num_Threads && MKL_Get_Max_Threads) {
        before = MKL_Get_Max_Threads();
        MKL_Set_Num_Threads(threads);
    }
    return before;
}
