/* Writes the rows of data sets as doubles, for scripts that compare them with what other programs
 * read: mpirun ... dump_rows [FILE DATASET OUT]...
 * Every rank reads its own rows, sparse ones in two ways, and prints nothing but a line for each
 * data set that is refused: "FILE DATASET STATUS MESSAGE". */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/status.h"
#include "dist/rows.h"
#include "io/hdf5/h5.h"
#include "io/sources/source.h"

static double number(ikt_type type, const void *rows, int64_t e) {
    return type == IKT_TYPE_U8    ? (double)((const uint8_t *)rows)[e]
           : type == IKT_TYPE_F32 ? (double)((const float *)rows)[e]
                                  : ((const double *)rows)[e];
}

/* The sparse form has to say the same. */
static ikt_status check_sparse(ikt_context *ctx, ikt_source *source, const ikt_rows *distribution,
                               const double *dense) {
    const int64_t d = ikt_source_columns(source);
    ikt_sparse_rows rows = {0};
    ikt_status st = ikt_source_read_sparse(source, distribution->first, distribution->count, &rows);
    for (int64_t i = 0; st == IKT_OK && i < distribution->count; i++) {
        int64_t held = 0, wrong = 0;
        for (int64_t k = 0; k < d; k++)
            held += dense[i * d + k] != 0;
        for (int64_t e = rows.start[i]; e < rows.start[i + 1]; e++) {
            wrong += rows.value[e] == 0 || dense[i * d + rows.column[e]] != rows.value[e];
            wrong += e > rows.start[i] && rows.column[e - 1] >= rows.column[e];
        }
        if (held != rows.start[i + 1] - rows.start[i] || wrong > 0)
            st = ikt_fail(ctx, IKT_ERR_INTERNAL, "row %lld differs",
                          (long long)(distribution->first + i));
    }
    ikt_sparse_rows_destroy(&rows);
    return ikt_agree(ctx, st);
}

static bool write_rows(const char *path, const double *rows, int64_t first, int64_t count) {
    const int file = open(path, O_WRONLY | O_CREAT, 0644);
    const ssize_t bytes = (ssize_t)(count * (int64_t)sizeof *rows);
    const bool good = file >= 0 && pwrite(file, rows, (size_t)bytes, (off_t)(first * 8)) == bytes;
    return file >= 0 && close(file) == 0 && good;
}

static ikt_status dump(ikt_context *ctx, const char *path, const char *dataset, const char *out) {
    ikt_source *source = NULL;
    void *rows = NULL;
    double *numbers = NULL;
    IKT_TRY(ikt_source_open(ctx, path, dataset, 0, &source));
    const int64_t d = ikt_source_columns(source);
    const ikt_type type = ikt_source_type(source);
    const ikt_rows distribution =
        ikt_rows_make(ikt_source_rows(source), ikt_size(ctx), ikt_rank(ctx));
    ikt_status st = ikt_alloc(ctx, &rows, distribution.count * d, ikt_type_size(type), "test");
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &numbers, distribution.count * d, sizeof *numbers, "test");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = ikt_source_read(source, distribution.first, distribution.count, rows);
    for (int64_t e = 0; st == IKT_OK && e < distribution.count * d; e++)
        numbers[e] = number(type, rows, e);
    if (st == IKT_OK && ikt_source_is_sparse(source))
        st = check_sparse(ctx, source, &distribution, numbers);
    if (st == IKT_OK && !write_rows(out, numbers, distribution.first * d, distribution.count * d))
        abort();
    ikt_free(&rows);
    ikt_free(&numbers);
    ikt_source_close(&source);
    return st;
}

int main(int argc, char **argv) {
    ikt_context *ctx = NULL;
    ikt_h5_begin();
    MPI_Init(&argc, &argv);
    if (ikt_context_create(MPI_COMM_WORLD, 1, &ctx) != IKT_OK) return 1;
    for (int a = 1; a + 2 < argc; a += 3) {
        const ikt_status st = dump(ctx, argv[a], argv[a + 1], argv[a + 2]);
        if (st != IKT_OK && ikt_rank(ctx) == 0)
            printf("%s %s %d %s\n", argv[a], argv[a + 1], (int)st, ikt_message(ctx));
        ikt_clear(ctx);
    }
    ikt_context_destroy(&ctx);
    return MPI_Finalize() != MPI_SUCCESS;
}
