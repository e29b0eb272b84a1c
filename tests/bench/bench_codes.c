/* Rate of the cell-code kernels beside what the machine can do at best.
 *
 *   bench_codes [portable|avx2|avx512|avx512_vnni]
 *
 * One line per shape: billions of operations a second (a multiplication and an addition for each
 * coordinate of each row and centre) over all threads, and the share of the measured peak. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>
#include <omp.h>

#include "base/memory.h"
#include "base/rng.h"
#include "isolation/codes_kernel.h"
#include "isolation/similarity.h"
#include "limits.h"

enum { TILES = 1, CLUSTERS = 64 };

static const double seconds_a_shape = 0.5; /* as many passes as fit; the best one counts */

typedef struct {
    ikt_context *ctx;
    const ikt_codes_kernel *kernel;
    int64_t d, n;
    void *rows; /* [n*d] */
} problem;

/* A mixture of clusters: neither all rows nor none are close calls. */
static double coordinate(int64_t row, int64_t k) {
    double centre = ikt_rng_uniform(1, IKT_RNG_TEST, -1 - row % CLUSTERS, (uint64_t)k);
    return 0.7 * centre + 0.3 * ikt_rng_uniform(1, IKT_RNG_TEST, row, (uint64_t)k);
}

static void fill(problem *p) {
#pragma omp parallel for
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t k = 0; k < p->d; k++) {
            double x = coordinate(i, k);
            if (p->kernel->is_u8)
                ((uint8_t *)p->rows)[i * p->d + k] = (uint8_t)(255 * x);
            else
                ((float *)p->rows)[i * p->d + k] = (float)x;
        }
}

/* Seconds of the best of several passes of every thread's rows over `partitionings` of psi. */
static double pass(const problem *p, ikt_row_tile *tiles, const ikt_centres *centres,
                   int64_t count) {
    double best = 1e30;
    const int64_t tile_rows = tiles[0].capacity;
    const int64_t size = p->kernel->is_u8 ? 1 : 4;
    for (double total = 0; total < seconds_a_shape;) {
        double seconds = 0;
#pragma omp parallel reduction(max : seconds)
        {
            double start = ikt_thread_seconds();
            int thread = omp_get_thread_num();
            uint16_t cell[1024];
            for (int64_t t = 0; t < TILES; t++) {
                int64_t first = (thread * TILES + t) * tile_rows;
                ikt_row_tile_stage(p->kernel, &tiles[thread],
                                   (const char *)p->rows + first * p->d * size, tile_rows);
                for (int64_t i = 0; i < count; i++)
                    ikt_row_tile_assign(p->kernel, &tiles[thread], &centres[i], cell);
            }
            seconds = ikt_thread_seconds() - start;
        }
        if (seconds < best) best = seconds;
        total += seconds;
    }
    return best;
}

static ikt_status measure(const problem *p, int64_t psi, double limit) {
    enum { MOST = 16 };
    const int threads = omp_get_max_threads();
    int64_t bytes = ikt_centres_bytes(p->kernel, psi, p->d);
    int64_t count = (INT64_C(1) << 22) / bytes;
    count = count < 1 ? 1 : count > MOST ? MOST : count;
    ikt_centres centres[MOST];
    char *slab;
    ikt_row_tile *tiles;
    int64_t *index;
    IKT_TRY(ikt_alloc(p->ctx, &slab, count * bytes, 1, "centres"));
    IKT_TRY(ikt_alloc(p->ctx, &tiles, threads, sizeof *tiles, "tiles"));
    IKT_TRY(ikt_alloc(p->ctx, &index, psi, sizeof *index, "index"));
    for (int64_t i = 0; i < count; i++) {
        for (int64_t j = 0; j < psi; j++)
            index[j] = ikt_rng_below(7, IKT_RNG_TEST, i, (uint64_t)j, p->n);
        ikt_centres_place(p->kernel, psi, p->d, slab + i * bytes, &centres[i]);
        ikt_centres_fill(p->kernel, &centres[i], p->rows, index);
    }
    for (int i = 0; i < threads; i++)
        IKT_TRY(ikt_row_tile_create(p->ctx, p->kernel, p->d, &tiles[i]));
    double seconds = pass(p, tiles, centres, count);
    double rows = (double)(threads * TILES * tiles[0].capacity);
    double operations = 2 * rows * (double)(count * psi) * (double)p->d;
    printf("%-20s d %4lld  psi %5lld  %8.1f Gop/s  %5.1f %% of peak  %7.2f ns a row and "
           "partitioning\n",
           p->kernel->name, (long long)p->d, (long long)psi, operations / seconds * 1e-9,
           100 * operations / seconds * 1e-9 / limit, 1e9 * seconds / rows / (double)count);
    for (int i = 0; i < threads; i++)
        ikt_row_tile_destroy(&tiles[i]);
    ikt_free(&index);
    ikt_free(&tiles);
    ikt_free(&slab);
    return IKT_OK;
}

static ikt_status run(ikt_context *ctx, ikt_isa isa, bool is_u8, int64_t d, double limit) {
    static const int64_t psis[] = {16, 256, 1024, 4096};
    problem p = {.ctx = ctx, .kernel = ikt_codes_kernel_choose(is_u8, isa), .d = d};
    p.n = TILES * omp_get_max_threads() * ikt_row_tile_rows(p.kernel, d);
    if (p.n < 8192) p.n = 8192;
    IKT_TRY(ikt_alloc(ctx, &p.rows, p.n * d, is_u8 ? 1 : 4, "rows"));
    fill(&p);
    for (size_t i = 0; i < sizeof psis / sizeof *psis; i++)
        IKT_TRY(measure(&p, psis[i], limit));
    ikt_free(&p.rows);
    return IKT_OK;
}

/* Nanoseconds a pair and thread for codes of t = 200 entries. */
static ikt_status run_similarity(ikt_context *ctx, ikt_isa isa, int width) {
    enum { ROWS = 512, T = 200 };
    const ikt_code_shape shape = {T, (T * width + 63) / 64 * 64, width};
    char *rows;
    uint16_t *equal;
    double best = 1e30;
    IKT_TRY(ikt_alloc(ctx, &rows, ROWS * shape.stride, 1, "codes"));
    IKT_TRY(ikt_alloc(ctx, &equal, ROWS * ROWS, sizeof *equal, "counts"));
    for (int64_t i = 0; i < ROWS * shape.stride; i++)
        rows[i] = i % shape.stride < T * width ? (char)ikt_rng_below(1, IKT_RNG_TEST, i, 0, 9) : 0;
    for (double total = 0; total < seconds_a_shape;) {
        double start = ikt_thread_seconds();
        ikt_similarity_block(isa, shape, rows, ROWS, rows, ROWS, equal, ROWS);
        double seconds = ikt_thread_seconds() - start;
        if (seconds < best) best = seconds;
        total += seconds;
    }
    printf("similarity of two codes, t %d, %d-bit entries: %.2f ns\n", T, 8 * width,
           1e9 * best / ROWS / ROWS);
    ikt_free(&equal);
    ikt_free(&rows);
    return IKT_OK;
}

static ikt_isa isa_of(const char *name) {
    for (ikt_isa isa = IKT_ISA_PORTABLE; isa < ikt_cpu_isa(); isa++)
        if (strcmp(ikt_isa_name(isa), name) == 0) return isa;
    return ikt_cpu_isa();
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    ikt_isa isa = isa_of(argc > 1 ? argv[1] : "");
    ikt_context *ctx;
    if (ikt_context_create(MPI_COMM_SELF, 0, &ctx) != IKT_OK) return EXIT_FAILURE;
    double fma = ikt_limit_fma(isa), integer = ikt_limit_integer(isa);
    printf("%d threads, %s: float32 peak %.0f Gop/s, integer peak %.0f Gop/s, read %.1f GB/s\n",
           omp_get_max_threads(), ikt_isa_name(isa), fma, integer, ikt_limit_read());
    ikt_status status = run(ctx, isa, true, 784, integer);
    if (status == IKT_OK) status = run(ctx, isa, false, 784, fma);
    if (status == IKT_OK) status = run(ctx, isa, false, 50, fma);
    if (status == IKT_OK) status = run(ctx, isa, false, 4, fma);
    if (status == IKT_OK) status = run_similarity(ctx, isa, 1);
    if (status == IKT_OK) status = run_similarity(ctx, isa, 2);
    if (status != IKT_OK) fprintf(stderr, "%s\n", ikt_message(ctx));
    ikt_context_destroy(&ctx);
    MPI_Finalize();
    return status == IKT_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
