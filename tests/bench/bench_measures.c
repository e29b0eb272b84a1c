/* Times of the families of measures on rows held in memory.
 *
 * usage: bench_measures [rows [columns [sample]]]. The input is 20 clusters, the map their first
 * two coordinates; the sample is used beyond 20,000 rows. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/timer.h"
#include "evaluate/measure.h"

static void check(ikt_context *ctx, ikt_status status) {
    if (status == IKT_OK) return;
    if (ikt_rank(ctx) == 0) fprintf(stderr, "%s\n", ikt_message(ctx));
    MPI_Abort(MPI_COMM_WORLD, (int)status);
}

static void fill(int64_t n, int64_t d, float *x, float *y, int64_t *labels) {
    for (int64_t i = 0; i < n; i++) {
        labels[i] = i % 20;
        for (int64_t c = 0; c < d; c++)
            x[i * d + c] = (float)((double)(labels[i] * 31 % (c % 20 + 1)) +
                                   ikt_rng_uniform(1, IKT_RNG_TEST, i, (uint64_t)c));
        for (int64_t c = 0; c < 2; c++)
            y[i * 2 + c] =
                (float)((double)(labels[i] * (3 + c) % 7) +
                        ikt_rng_normal(1, IKT_RNG_SHAPE, i, (uint64_t)c) / (double)(1 + i % 9));
    }
}

static void time_family(ikt_context *ctx, const char *family, int64_t sample,
                        const ikt_measured *what) {
    ikt_measures found = {0};
    ikt_measure_settings settings = ikt_measure_defaults();
    settings.only = family;
    settings.sample = sample;
    double begin = ikt_now();
    check(ctx, ikt_measures_compute(ctx, &settings, what, &found));
    if (ikt_rank(ctx) == 0) printf("%-10s %8.3f s\n", family, ikt_now() - begin);
    ikt_measures_destroy(&found);
}

static void measure(ikt_context *ctx, int64_t n, int64_t d, int64_t sample) {
    float *x, *y;
    int64_t *labels;
    ikt_source *source;
    ikt_dataset *data;
    ikt_preprocess_settings none = {.normalise = IKT_NORMALISE_NONE, .pca = 0};
    check(ctx, ikt_alloc(ctx, &x, n * d, sizeof *x, "rows"));
    check(ctx, ikt_alloc(ctx, &y, n * 2, sizeof *y, "rows"));
    check(ctx, ikt_alloc(ctx, &labels, n, sizeof *labels, "rows"));
    fill(n, d, x, y, labels);
    check(ctx, ikt_source_from_memory(ctx, x, n, d, IKT_TYPE_F32, &source));
    check(ctx, ikt_dataset_create(ctx, source, &none, &data));
    ikt_rows rows = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    const ikt_measured what = {.rows = rows,
                               .y = y + 2 * rows.first,
                               .q = 2,
                               .labels = labels + rows.first,
                               .has_labels = true,
                               .data = data};
    for (int f = 0; ikt_measure_family_name(f); f++)
        if (strcmp(ikt_measure_family_name(f), "kernel") != 0)
            time_family(ctx, ikt_measure_family_name(f), sample, &what);
    ikt_dataset_destroy(&data);
    ikt_source_close(&source);
    ikt_free(&x);
    ikt_free(&y);
    ikt_free(&labels);
}

int main(int argc, char **argv) {
    ikt_context *ctx;
    int64_t n = argc > 1 ? atoll(argv[1]) : 10000, d = argc > 2 ? atoll(argv[2]) : 784;
    int64_t sample = argc > 3 ? atoll(argv[3]) : 2000;
    MPI_Init(&argc, &argv);
    if (ikt_context_create(MPI_COMM_WORLD, 0, &ctx) != IKT_OK) MPI_Abort(MPI_COMM_WORLD, 1);
    if (ikt_rank(ctx) == 0)
        printf("%lld x %lld, %d ranks, %d threads\n", (long long)n, (long long)d, ikt_size(ctx),
               ikt_threads(ctx));
    measure(ctx, n, d, sample);
    ikt_context_destroy(&ctx);
    MPI_Finalize();
    return 0;
}
