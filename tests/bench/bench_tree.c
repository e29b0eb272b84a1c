/* Time of one evaluation of the repulsion by a tree and exactly, and the errors of the tree, in one
 * to three dimensions. Threads: OMP_NUM_THREADS. docs/objectives.md has a table of this.
 *
 *   bench_tree [N ...]     points; 3,000, 17,000 and 100,000 unless given
 *
 * Maps: an even one of a normal distribution whose density does not depend on n; and twenty
 * clusters. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/timer.h"
#include "kernelsum/kernelsum.h"

enum { TIMES = 5, WAYS = 3 };

typedef struct {
    int q;
    int64_t n;
    float *y, *gradient[WAYS];
    double *phi[WAYS];
} points;

static double coordinate(bool clusters, int q, int64_t n, int64_t row, int axis) {
    const double normal = ikt_rng_normal(1, IKT_RNG_TEST, row, (uint64_t)axis);
    if (!clusters) return 0.3 * pow((double)n, 1.0 / q) * normal;
    return 25 * ikt_rng_normal(1, IKT_RNG_SHAPE, row % 20, (uint64_t)axis) + 2.5 * normal;
}

static points make(ikt_context *ctx, bool clusters, int q, int64_t n) {
    points p = {.q = q, .n = n};
    ikt_status st = ikt_alloc(ctx, &p.y, q * n, sizeof *p.y, "bench");
    for (int w = 0; w < WAYS && st == IKT_OK; w++) {
        st = ikt_alloc(ctx, &p.gradient[w], q * n, sizeof *p.gradient[w], "bench");
        if (st == IKT_OK) st = ikt_alloc(ctx, &p.phi[w], n, sizeof *p.phi[w], "bench");
    }
    if (st != IKT_OK) exit((int)st);
    for (int64_t e = 0; e < q * n; e++)
        p.y[e] = (float)coordinate(clusters, q, n, e / q, (int)(e % q));
    return p;
}

static void release(points *p) {
    ikt_free(&p->y);
    for (int w = 0; w < WAYS; w++) {
        ikt_free(&p->gradient[w]);
        ikt_free(&p->phi[w]);
    }
}

/* Least seconds of an evaluation; the first, which claims memory, is left out where there are more.
 */
static double time_of(ikt_kernelsum *sums, points *p, int way, int times) {
    double least = INFINITY;
    for (int t = 0; t < times; t++) {
        const double begin = ikt_now();
        ikt_kernelsum_evaluate(sums, &(ikt_kernelsum_request){.y = p->y,
                                                              .value = p->phi[way],
                                                              .gradient = p->gradient[way]});
        const double seconds = ikt_now() - begin;
        if (t > 0 || times == 1) least = fmin(least, seconds);
    }
    return least;
}

static void print_errors(const points *p, int way) {
    double wrong = 0, right = 0, z = 0, z_wrong = 0;
    for (int64_t e = 0; e < p->q * p->n; e++) {
        wrong += pow((double)p->gradient[way][e] - (double)p->gradient[0][e], 2);
        right += pow((double)p->gradient[0][e], 2);
    }
    for (int64_t i = 0; i < p->n; i++) {
        z += p->phi[0][i] - 1;
        z_wrong += p->phi[way][i] - p->phi[0][i];
    }
    printf(" force %.1e Z %.1e", sqrt(wrong / right), fabs(z_wrong) / z);
}

static void bench(ikt_context *ctx, bool clusters, int q, int64_t n) {
    const ikt_rows rows = ikt_rows_make(n, 1, 0);
    points p = make(ctx, clusters, q, n);
    printf("%d dimensions, n %lld, %s: exact", q, (long long)n, clusters ? "clusters" : "even");
    for (int way = 0; way < WAYS; way++) {
        ikt_kernelsum *sums = NULL;
        ikt_status st =
            way == 0
                ? ikt_kernelsum_create_exact(ctx, &rows, q, ikt_student, &sums)
                : ikt_kernelsum_create_tree(ctx, &rows, q, ikt_student,
                                            way == 1 ? IKT_TREE_DEFAULT : IKT_TREE_TIGHT, &sums);
        if (st != IKT_OK) exit((int)st);
        printf(" %.2f ms", 1e3 * time_of(sums, &p, way, way == 0 && n > 50000 ? 1 : TIMES));
        if (way > 0) print_errors(&p, way);
        printf("%s", way == 0 ? " | default" : way == 1 ? " | tight" : "\n");
        ikt_kernelsum_destroy(&sums);
    }
    fflush(stdout);
    release(&p);
}

int main(int argc, char **argv) {
    static const int64_t usual[] = {3000, 17000, 100000};
    MPI_Init(&argc, &argv);
    ikt_context *ctx = NULL;
    if (ikt_context_create(MPI_COMM_SELF, 0, &ctx) != IKT_OK) return IKT_ERR_RESOURCE;
    const int sizes = argc > 1 ? argc - 1 : 3;
    for (int q = 1; q <= 3; q++)
        for (int s = 0; s < sizes; s++)
            for (int clusters = 0; clusters < 2; clusters++)
                bench(ctx, clusters, q, argc > 1 ? atoll(argv[s + 1]) : usual[s]);
    ikt_context_destroy(&ctx);
    MPI_Finalize();
    return 0;
}
