/* Time of one evaluation of the repulsion, by stage, and its error beside its cost.
 *
 *   bench_repulsion            the presets at three sizes of late maps, by stage, points in the
 *                              order of tiles of the map (as P's rows come) and in random order
 *   bench_repulsion accuracy   the presets were chosen from this table: settings, errors, time
 *   bench_repulsion slabs      under mpirun: the grid replicated and shared, in milliseconds
 *   bench_repulsion exact      the exact sums, in nanoseconds a pair and a thread
 *
 * A late map is a disc of even density; its span is that of t-SNE embeddings of n points. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/timer.h"
#include "kernelsum/kernelsum.h"

typedef struct {
    int64_t n;
    double span;
} late_map;

static const late_map maps[] = {{10000, 90}, {70000, 160}, {1000000, 300}};
enum { MAPS = sizeof maps / sizeof *maps, SAMPLE = 2000, TILE = 8 /* units of the map */ };

typedef struct {
    int64_t n;
    float *y, *gradient;
    double *phi;
} points;

/* Order of tiles of TILE x TILE, and random within. */
static int by_tile(const void *a, const void *b) {
    const float *p = a, *q = b;
    float y = floorf(p[1] / TILE) - floorf(q[1] / TILE);
    float x = floorf(p[0] / TILE) - floorf(q[0] / TILE);
    return y != 0 ? (y > 0) - (y < 0) : (x > 0) - (x < 0);
}

static points make_points(ikt_context *ctx, const late_map *map, bool tiles) {
    points p = {.n = map->n};
    if (ikt_alloc(ctx, &p.y, 2 * p.n, sizeof *p.y, "bench") != IKT_OK ||
        ikt_alloc(ctx, &p.gradient, 2 * p.n, sizeof *p.gradient, "bench") != IKT_OK ||
        ikt_alloc(ctx, &p.phi, p.n, sizeof *p.phi, "bench") != IKT_OK)
        exit(IKT_ERR_RESOURCE);
    for (int64_t i = 0; i < p.n; i++) {
        double angle = 6.283185307179586 * ikt_rng_uniform(1, IKT_RNG_TEST, i, 0);
        double radius = 0.5 * map->span * sqrt(ikt_rng_uniform(1, IKT_RNG_TEST, i, 1));
        p.y[2 * i] = (float)(radius * cos(angle));
        p.y[2 * i + 1] = (float)(radius * sin(angle));
    }
    if (tiles) qsort(p.y, (size_t)p.n, 2 * sizeof *p.y, by_tile);
    return p;
}

static void free_points(points *p) {
    ikt_free(&p->y);
    ikt_free(&p->gradient);
    ikt_free(&p->phi);
}

static ikt_kernelsum *make_sums(ikt_context *ctx, int64_t n, const ikt_fft_settings *fft) {
    ikt_rows rows = ikt_rows_make(n, 1, 0);
    ikt_kernelsum *sums = NULL;
    ikt_status st = fft ? ikt_kernelsum_create_fft(ctx, &rows, ikt_student, fft, &sums)
                        : ikt_kernelsum_create_exact(ctx, &rows, 2, ikt_student, &sums);
    if (st != IKT_OK) exit((int)st);
    return sums;
}

/* Least seconds of one evaluation; the first one, which makes plans and tables, is left out. */
static double time_of(ikt_kernelsum *sums, points *p, int times) {
    double least = INFINITY;
    for (int t = 0; t < times; t++) {
        double start = ikt_now();
        ikt_kernelsum_evaluate(
            sums, &(ikt_kernelsum_request){.y = p->y, .value = p->phi, .gradient = p->gradient});
        least = fmin(least, ikt_now() - start);
    }
    return least;
}

/* Least seconds of each stage over some evaluations; the first is left out. */
static void bench_stages(ikt_context *ctx, const char *name, const ikt_fft_settings *fft,
                         const late_map *map, bool tiles) {
    static const ikt_stage stages[] = {IKT_STAGE_SPREAD, IKT_STAGE_GRID_SUM, IKT_STAGE_FFT,
                                       IKT_STAGE_GATHER};
    enum { STAGES = sizeof stages / sizeof *stages };
    points p = make_points(ctx, map, tiles);
    ikt_kernelsum *sums = make_sums(ctx, map->n, fft);
    double first = time_of(sums, &p, 1), all = INFINITY, least[STAGES], before[STAGES];
    for (int s = 0; s < STAGES; s++)
        least[s] = INFINITY;
    for (int t = map->n < 100000 ? 100 : 20; t > 0; t--) {
        for (int s = 0; s < STAGES; s++)
            before[s] = ikt_stage_seconds(ctx, stages[s]);
        all = fmin(all, time_of(sums, &p, 1));
        for (int s = 0; s < STAGES; s++)
            least[s] = fmin(least[s], ikt_stage_seconds(ctx, stages[s]) - before[s]);
    }
    printf("%-8s n %8lld span %4.0f %s: %7.2f ms (first %.1f), %6.1f ns a point; ms:", name,
           (long long)map->n, map->span, tiles ? "tiles " : "random", 1e3 * all, 1e3 * first,
           1e9 * all / (double)map->n);
    for (int s = 0; s < STAGES; s++)
        printf(" %s %.2f", ikt_stage_name(stages[s]), 1e3 * least[s]);
    printf("\n");
    fflush(stdout);
    ikt_kernelsum_destroy(&sums);
    free_points(&p);
}

typedef struct {
    double force, z; /* relative: root mean square of the force, error of Z */
} errors;

static errors errors_of(const points *p) {
    double wrong = 0, right = 0, z = 0, z_wrong = 0;
    int64_t step = p->n / SAMPLE;
    for (int64_t i = 0; i < p->n; i += step) {
        double sum = 0, gx = 0, gy = 0;
        for (int64_t j = 0; j < p->n; j++) {
            double dx = (double)p->y[2 * i] - (double)p->y[2 * j];
            double dy = (double)p->y[2 * i + 1] - (double)p->y[2 * j + 1];
            double w = 1 / (1 + dx * dx + dy * dy);
            sum += w;
            gx -= 2 * w * w * dx;
            gy -= 2 * w * w * dy;
        }
        z += sum - 1;
        z_wrong += p->phi[i] - sum;
        wrong +=
            pow((double)p->gradient[2 * i] - gx, 2) + pow((double)p->gradient[2 * i + 1] - gy, 2);
        right += gx * gx + gy * gy;
    }
    return (errors){sqrt(wrong / right), fabs(z_wrong) / z};
}

static void bench_accuracy(ikt_context *ctx) {
    static const struct {
        int order;
        bool single;
        double spacing;
    } rows[] = {{4, true, 0.50},  {4, true, 0.42},  {4, true, 0.40},  {4, true, 0.375},
                {4, true, 0.33},  {4, false, 0.40}, {6, true, 0.45},  {6, true, 0.40},
                {6, false, 0.40}, {6, true, 0.24},  {6, false, 0.26}, {6, false, 0.25},
                {6, false, 0.24}, {6, false, 0.23}, {6, false, 0.20}};
    points p[2] = {make_points(ctx, &maps[0], false), make_points(ctx, &maps[1], false)};
    printf("order spacing precision | force and Z error, ms: n 10000 span 90 | n 70000 span 160\n");
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        ikt_fft_settings fft = {rows[r].order,  rows[r].spacing,  8192,
                                rows[r].single, IKT_SHARING_AUTO, {0, 0, 0}};
        printf("%d     %.3f   %s   ", fft.order, fft.spacing, fft.single ? "float " : "double");
        for (int m = 0; m < 2; m++) {
            ikt_kernelsum *sums = make_sums(ctx, maps[m].n, &fft);
            time_of(sums, &p[m], 1);
            double seconds = time_of(sums, &p[m], 15);
            errors e = errors_of(&p[m]);
            printf(" | %.1e %.1e %6.2f", e.force, e.z, 1e3 * seconds);
            ikt_kernelsum_destroy(&sums);
        }
        printf("\n");
        fflush(stdout);
    }
    free_points(&p[0]);
    free_points(&p[1]);
}

/* Least milliseconds of the slowest rank for the own rows of a late map. */
static double time_shared(ikt_context *ctx, const late_map *late, const ikt_fft_settings *fft,
                          char *text, size_t size) {
    enum { TIMES = 25 };
    ikt_rows rows = ikt_rows_make(late->n, ikt_size(ctx), ikt_rank(ctx));
    points all = make_points(ctx, late, false);
    ikt_kernelsum *sums = NULL;
    if (ikt_kernelsum_create_fft(ctx, &rows, ikt_student, fft, &sums) != IKT_OK)
        exit(IKT_ERR_RESOURCE);
    double least = INFINITY;
    for (int t = 0; t <= TIMES; t++) {
        ikt_barrier(ctx);
        double seconds = ikt_now();
        ikt_kernelsum_evaluate(sums, &(ikt_kernelsum_request){.y = all.y + 2 * rows.first,
                                                              .value = all.phi,
                                                              .gradient = all.gradient});
        seconds = ikt_now() - seconds;
        ikt_max_f64(ctx, &seconds, 1);
        if (t > 0) least = fmin(least, seconds); /* the first makes plans and tables */
    }
    ikt_kernelsum_describe(sums, text, size);
    ikt_kernelsum_destroy(&sums);
    free_points(&all);
    return 1e3 * least;
}

static void bench_slabs(ikt_context *ctx) {
    static const late_map shared[] = {{2000, 20},     {10000, 90},    {70000, 160},
                                      {1000000, 300}, {1000000, 600}, {1000000, 1000}};
    for (size_t s = 0; s < sizeof shared / sizeof *shared; s++) {
        ikt_fft_settings fft = ikt_fft_preset(IKT_FFT_DEFAULT);
        char text[200];
        double ms[2];
        fft.sharing = IKT_SHARING_REPLICATED;
        ms[0] = time_shared(ctx, &shared[s], &fft, text, sizeof text);
        fft.sharing = IKT_SHARING_SLABS;
        ms[1] = time_shared(ctx, &shared[s], &fft, text, sizeof text);
        if (ikt_rank(ctx) == 0)
            printf("%d ranks, n %lld: replicated %.2f ms, slabs %.2f ms; %s\n", ikt_size(ctx),
                   (long long)shared[s].n, ms[0], ms[1], text);
    }
}

static void bench_exact(ikt_context *ctx) {
    points p = make_points(ctx, &maps[0], false);
    ikt_kernelsum *sums = make_sums(ctx, p.n, NULL);
    double seconds = time_of(sums, &p, 5);
    printf("exact    n %8lld: %.1f ms, %.3f ns a pair and a thread\n", (long long)p.n,
           1e3 * seconds, 1e9 * seconds * ikt_threads(ctx) / (double)(p.n * p.n));
    ikt_kernelsum_destroy(&sums);
    free_points(&p);
}

static void bench_presets(ikt_context *ctx) {
    ikt_fft_settings usual = ikt_fft_preset(IKT_FFT_DEFAULT), tight = ikt_fft_preset(IKT_FFT_TIGHT);
    for (int m = 0; m < MAPS; m++)
        for (int tiles = 1; tiles >= 0; tiles--)
            bench_stages(ctx, "default", &usual, &maps[m], tiles);
    for (int m = 0; m < MAPS; m++)
        bench_stages(ctx, "tight", &tight, &maps[m], true);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    ikt_context *ctx = NULL;
    const char *what = argc > 1 ? argv[1] : "presets";
    const bool slabs = strcmp(what, "slabs") == 0;
    if (ikt_context_create(slabs ? MPI_COMM_WORLD : MPI_COMM_SELF, 0, &ctx) != IKT_OK)
        return IKT_ERR_RESOURCE;
    if (ikt_rank(ctx) == 0) printf("%d threads\n", ikt_threads(ctx));
    if (slabs)
        bench_slabs(ctx);
    else if (strcmp(what, "accuracy") == 0)
        bench_accuracy(ctx);
    else if (strcmp(what, "exact") == 0)
        bench_exact(ctx);
    else
        bench_presets(ctx);
    ikt_context_destroy(&ctx);
    MPI_Finalize();
    return 0;
}
