/* Rates of the parts of a principal component analysis, on rows held in memory.
 *
 * usage: bench_pca [rows [columns [components]]]. Columns beyond 2048 solve on the grid of all
 * ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/timer.h"
#include "iktsne/context.h"
#include "linalg/column_stats.h"
#include "linalg/eigen.h"
#include "linalg/pca.h"

/* Row r is a fixed pattern shifted by r, so that reading costs next to nothing. */
static ikt_status pattern_read(void *self, int64_t first, int64_t count, double *rows) {
    int64_t d = *(const int64_t *)self;
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < d; k++)
            rows[i * d + k] = (double)((((first + i) * 7919 + k) * 2654435761u >> 7) & 1023);
    return IKT_OK;
}

static void check(ikt_context *ctx, ikt_status status) {
    if (status == IKT_OK) return;
    if (ikt_rank(ctx) == 0) fprintf(stderr, "%s\n", ikt_message(ctx));
    MPI_Abort(MPI_COMM_WORLD, (int)status);
}

static void report(ikt_context *ctx, const char *what, double seconds, double amount,
                   const char *unit) {
    if (ikt_rank(ctx) == 0)
        printf("%-12s %8.3f s %10.2f %s\n", what, seconds, amount / seconds / 1e9, unit);
}

static void measure(ikt_context *ctx, const ikt_row_reader *reader, int64_t k) {
    double n = (double)reader->n, d = (double)reader->d;
    ikt_column_stats stats;
    ikt_pca *pca;
    double *upper, *pairs, *scores, start = ikt_now();
    check(ctx, ikt_column_stats_compute(ctx, reader, &stats));
    report(ctx, "statistics", ikt_now() - start, n * d, "Gvalue/s");
    start = ikt_now();
    check(ctx, ikt_covariance_compute(ctx, reader, &stats, &upper));
    report(ctx, "covariance", ikt_now() - start, n * d * (d + 1), "GFLOP/s (useful)");
    check(ctx, ikt_alloc(ctx, &pairs, k * (reader->d + 1), sizeof(double), "bench"));
    start = ikt_now();
    check(ctx, ikt_eigen_leading(ctx, upper, reader->d, k, IKT_EIGEN_ALONE_MAX, pairs, pairs + k));
    report(ctx, "eigenpairs", ikt_now() - start, 6 * d * d * d, "GFLOP/s (nominal)");
    check(ctx, ikt_pca_fit(ctx, reader, k, &pca));
    check(ctx, ikt_alloc(ctx, &scores, reader->n * k, sizeof(double), "bench"));
    start = ikt_now();
    check(ctx, ikt_pca_scores(ctx, pca, reader, 0, reader->n, scores));
    report(ctx, "projection", ikt_now() - start, 2 * n * d * (double)k, "GFLOP/s (useful), a rank");
    ikt_column_stats_free(&stats);
    ikt_pca_destroy(&pca);
    ikt_free(&upper);
    ikt_free(&pairs);
    ikt_free(&scores);
}

int main(int argc, char **argv) {
    int64_t n = argc > 1 ? atoll(argv[1]) : 20000, d = argc > 2 ? atoll(argv[2]) : 784;
    int64_t k = argc > 3 ? atoll(argv[3]) : 50;
    ikt_context *ctx;
    MPI_Init(&argc, &argv);
    if (ikt_context_create(MPI_COMM_WORLD, 0, &ctx) != IKT_OK) return EXIT_FAILURE;
    ikt_row_reader reader = {pattern_read, &d, n, d, "pattern"};
    if (ikt_rank(ctx) == 0)
        printf("%lld rows, %lld columns, %lld components; %d ranks of %d threads, %s\n",
               (long long)n, (long long)d, (long long)k, ikt_size(ctx), ikt_threads(ctx),
               ikt_isa_name(ikt_cpu_isa()));
    measure(ctx, &reader, k);
    ikt_context_destroy(&ctx);
    MPI_Finalize();
    return 0;
}
