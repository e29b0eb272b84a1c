/* Writes the example result: write_result FILE HOST. Helper of test_io_h5py.sh. */
#include <stdio.h>

#include "iktsne/context.h"
#include "io/result_example.h"

static result_example example;

int main(int argc, char **argv) {
    ikt_context *ctx = NULL;
    if (argc != 3 || MPI_Init(&argc, &argv) != MPI_SUCCESS) return 1;
    ikt_status st = ikt_context_create(MPI_COMM_WORLD, 1, &ctx);
    if (st == IKT_OK) {
        result_example_fill(&example, 1000, ikt_size(ctx), ikt_rank(ctx), true, argv[2]);
        st = ikt_result_write(ctx, argv[1], true, &example.result);
        if (st != IKT_OK && ikt_rank(ctx) == 0) fprintf(stderr, "%s\n", ikt_message(ctx));
    }
    ikt_context_destroy(&ctx);
    MPI_Finalize();
    return (int)st;
}
