/* Loses an array, a plan of FFTW and a communicator, so that a test of leaks can show that it would
 * see such. */
#include <fftw3.h>
#include <mpi.h>

#include "base/memory.h"

/* Not inlined, so that no pointer stays in the frame of main. */
__attribute__((noinline)) static int lose(ikt_context *ctx) {
    double *lost = NULL, *line = fftw_alloc_real(8);
    MPI_Comm comm;
    int bad = ikt_alloc(ctx, &lost, 100, sizeof *lost, "lost") != IKT_OK;
    bad |= !line || !fftw_plan_r2r_1d(8, line, line, FFTW_REDFT00, FFTW_ESTIMATE);
    bad |= MPI_Comm_dup(MPI_COMM_WORLD, &comm) != MPI_SUCCESS;
    fftw_free(line);
    return bad;
}

int main(int argc, char **argv) {
    ikt_context *ctx = NULL;
    int provided;
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
        ikt_context_create(MPI_COMM_WORLD, 1, &ctx) != IKT_OK)
        return 2;
    int bad = lose(ctx);
    ikt_context_destroy(&ctx);
    MPI_Finalize();
    return bad;
}
