/* Time of the loop's passes over P and over the rows, beside what the machine can do at best.
 *
 *   bench_attraction [rows]     70,000 and 1,000,000 rows; or as many as said
 *
 * Rows lie on a square lattice in Morton order, as they are after ordering by locality: exactly, or
 * by blocks of 1,024 rows in random order within, as rows ordered by coarse cells are. Neighbours
 * are random places within a few steps. Entries a row: 90 + 42 as with perplexity 30, and 30 + 15
 * as with the Isolation kernel. Limits: reading P once, and adding up the neighbours' positions. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/timer.h"
#include "graph/entry_order.h"
#include "layout/optimiser.h"
#include "objective/attraction.h"
#include "objective/attraction_kernel.h"
#include "objective/normalisation.h"

enum { BLOCK = 1024, TIMES = 15, KEYS = 128 };

typedef struct {
    ikt_context *ctx;
    int64_t n, side;
    bool is_shuffled; /* within blocks */
    int64_t place[BLOCK];
    ikt_graph graph;
    float *y, *force, *repulsion;
    double *phi;
} bench;

static void check(ikt_status st) {
    if (st != IKT_OK) exit((int)st);
}

/* --- the graph -------------------------------------------------------------------------------- */

static int64_t spread_bits(int64_t v) {
    int64_t out = 0;
    for (int b = 0; b < 31; b++)
        out |= (v >> b & 1) << (2 * b);
    return out;
}

static int64_t gather_bits(int64_t v) {
    int64_t out = 0;
    for (int b = 0; b < 31; b++)
        out |= (v >> (2 * b) & 1) << b;
    return out;
}

/* Position of a place of the Morton order, and back. */
static int64_t row_of(const bench *b, int64_t morton) {
    if (!b->is_shuffled || morton / BLOCK * BLOCK + BLOCK > b->n) return morton;
    return morton / BLOCK * BLOCK + b->place[morton % BLOCK];
}

static void shuffle(bench *b) {
    for (int64_t i = 0; i < BLOCK; i++)
        b->place[i] = i;
    for (int64_t i = BLOCK - 1; i > 0; i--) {
        int64_t other = (int64_t)(ikt_rng_uniform(3, IKT_RNG_TEST, i, 0) * (double)(i + 1));
        int64_t kept = b->place[i];
        b->place[i] = b->place[other];
        b->place[other] = kept;
    }
}

static void fill_row(const bench *b, ikt_csr *part, int64_t morton, int salt) {
    int64_t i = row_of(b, morton), begin = part->start[i], x = gather_bits(morton);
    int64_t y = gather_bits(morton >> 1), count = part->start[i + 1] - begin;
    uint64_t keys[KEYS];
    for (int64_t e = 0; e < count; e++) {
        double u = ikt_rng_uniform(1, IKT_RNG_TEST, i, (uint64_t)(2 * (e + salt)));
        double v = ikt_rng_uniform(1, IKT_RNG_TEST, i, (uint64_t)(2 * (e + salt) + 1));
        int64_t nx = x + (int64_t)(13 * u) - 6, ny = y + (int64_t)(13 * v) - 6;
        int64_t other = nx < 0 || ny < 0 ? morton : spread_bits(nx) | spread_bits(ny) << 1;
        part->column[begin + e] = (int32_t)row_of(b, other < b->n ? other : morton);
        part->value[begin + e] = (float)((0.5 + u) / ((double)b->n * (double)count));
    }
    ikt_entries_sort((uint32_t *)(void *)part->column + begin, part->value + begin, count, keys);
}

static void make_part(bench *b, ikt_csr *part, int64_t each, int salt) {
    check(ikt_alloc(b->ctx, &part->start, b->n + 1, sizeof(int64_t), "bench"));
    check(ikt_alloc(b->ctx, &part->column, b->n * each, sizeof(int32_t), "bench"));
    check(ikt_alloc(b->ctx, &part->value, b->n * each, sizeof(float), "bench"));
    /* Lengths vary by half, so that tails of all lengths occur. */
    for (int64_t i = 0; i < b->n; i += 2) {
        int64_t less = (i / 2) % (each / 2);
        part->start[i + 1] = part->start[i] + each - less;
        if (i + 1 < b->n) part->start[i + 2] = part->start[i + 1] + each;
    }
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t i = 0; i < b->n; i++)
        fill_row(b, part, i, salt);
}

static void make(bench *b, int64_t forward, int64_t reverse) {
    b->graph = (ikt_graph){.map = ikt_row_map_make(b->n, 1, 0)};
    shuffle(b);
    make_part(b, &b->graph.forward, forward, 0);
    make_part(b, &b->graph.reverse, reverse, KEYS);
    check(ikt_alloc(b->ctx, &b->y, 2 * b->n, sizeof *b->y, "bench"));
    check(ikt_alloc(b->ctx, &b->force, 2 * b->n, sizeof *b->force, "bench"));
    check(ikt_alloc(b->ctx, &b->repulsion, 2 * b->n, sizeof *b->repulsion, "bench"));
    check(ikt_alloc(b->ctx, &b->phi, b->n, sizeof *b->phi, "bench"));
    for (int64_t morton = 0; morton < b->n; morton++) {
        int64_t i = row_of(b, morton);
        b->y[2 * i] = 0.3f * (float)gather_bits(morton);
        b->y[2 * i + 1] = 0.3f * (float)gather_bits(morton >> 1);
        b->phi[i] = 1 + 30 * ikt_rng_uniform(5, IKT_RNG_TEST, i, 0);
    }
}

static void release(bench *b) {
    ikt_graph_destroy(&b->graph);
    ikt_free(&b->y);
    ikt_free(&b->force);
    ikt_free(&b->repulsion);
    ikt_free(&b->phi);
}

/* --- what is measured ------------------------------------------------------------------------- */

typedef double pass(bench *b);

static double read_part(const ikt_csr *part, int64_t entries) {
    int64_t columns = 0, values = 0;
    const int32_t *value = (const void *)part->value;
#pragma omp parallel for simd schedule(static) reduction(+ : columns, values)
    for (int64_t e = 0; e < entries; e++) {
        columns += part->column[e];
        values += value[e];
    }
    return (double)(columns ^ values);
}

static double read_p(bench *b) {
    return read_part(&b->graph.forward, b->graph.forward.start[b->n]) +
           read_part(&b->graph.reverse, b->graph.reverse.start[b->n]);
}

static double gather_part(const ikt_csr *part, int64_t entries, const float *y) {
    const int64_t *pair = (const void *)y;
    int64_t total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total)
    for (int64_t block = 0; block < entries / 8; block++) {
        const int32_t *c = part->column + 8 * block;
        total += (pair[c[0]] ^ pair[c[1]]) + (pair[c[2]] ^ pair[c[3]]) + (pair[c[4]] ^ pair[c[5]]) +
                 (pair[c[6]] ^ pair[c[7]]);
    }
    return (double)total;
}

static double gather(bench *b) {
    return gather_part(&b->graph.forward, b->graph.forward.start[b->n], b->y) +
           gather_part(&b->graph.reverse, b->graph.reverse.start[b->n], b->y);
}

static double attract(bench *b) {
    ikt_attraction(b->ctx, &b->graph, b->y, b->force, NULL);
    return (double)b->force[0];
}

static double attract_and_diverge(bench *b) {
    ikt_exact_sum sum = {{0}, 0, 0};
    ikt_attraction(b->ctx, &b->graph, b->y, b->force, &sum);
    return ikt_exact_sum_value(&sum);
}

static double normalise(bench *b) {
    return ikt_normalisation(b->ctx, b->phi, b->n);
}

static double norm(bench *b) {
    const ikt_gradient gradient = {b->force, b->repulsion, 4, 1};
    return ikt_gradient_norm(b->ctx, &gradient, b->n);
}

static double least_seconds(bench *b, pass *measured) {
    double least = INFINITY;
    volatile double result = measured(b); /* keeps the compiler from leaving the work out */
    for (int t = 0; t < TIMES; t++) {
        double start = ikt_now();
        result = measured(b);
        least = fmin(least, ikt_now() - start);
    }
    (void)result;
    return least;
}

static void say(const char *name, double seconds, double unit, const char *per, double limit) {
    printf("  %-26s %9.3f ms  %7.3f ns %s", name, 1e3 * seconds, 1e9 * seconds / unit, per);
    if (limit > 0) printf("  %5.2f x reading P", seconds / limit);
    printf("\n");
    fflush(stdout);
}

static void bench_step(bench *b) {
    ikt_optimiser optimiser;
    const ikt_gradient gradient = {b->force, b->repulsion, 4e-9f, 1e-9f};
    double least = INFINITY;
    check(ikt_optimiser_create(b->ctx, 2 * b->n, &optimiser));
    for (int t = 0; t < TIMES; t++) {
        double start = ikt_now();
        ikt_optimiser_step(b->ctx, &optimiser, 0.8, 1e-9, &gradient, b->y);
        least = fmin(least, ikt_now() - start);
    }
    say("step", least, (double)b->n, "a row", 0);
    printf("  %-26s %9.1f GB/s of memory traffic\n", "", 64 * (double)b->n / least / 1e9);
    ikt_optimiser_destroy(&optimiser);
}

static void bench_all(ikt_context *ctx, int64_t n, int64_t forward, int64_t reverse,
                      bool shuffled) {
    static const char *const isas[] = {"portable", "avx2", "avx512"};
    bench b = {.ctx = ctx, .n = n, .is_shuffled = shuffled};
    make(&b, forward, reverse);
    double entries = (double)ikt_graph_entries(ctx, &b.graph);
    printf("%lld rows, %.1f M entries (%.1f a row), Morton order%s\n", (long long)n, entries / 1e6,
           entries / (double)n, shuffled ? " of blocks" : "");
    double limit = least_seconds(&b, read_p);
    say("read P", limit, entries, "an entry", limit);
    say("add up positions", least_seconds(&b, gather), entries, "an entry", limit);
    const char *wish = getenv("IKTSNE_ISA");
    for (int isa = wish ? 2 : 0; isa < 3; isa++) {
        char name[64];
        if (!wish && setenv("IKTSNE_ISA", isas[isa], 1) != 0) exit(IKT_ERR_RESOURCE);
        snprintf(name, sizeof name, "attraction, %s", wish ? wish : isas[isa]);
        say(name, least_seconds(&b, attract), entries, "an entry", limit);
        snprintf(name, sizeof name, "with divergence");
        say(name, least_seconds(&b, attract_and_diverge), entries, "an entry", limit);
    }
    if (!wish) unsetenv("IKTSNE_ISA");
    say("Z", least_seconds(&b, normalise), (double)n, "a row", 0);
    say("norm of the gradient", least_seconds(&b, norm), (double)n, "a row", 0);
    bench_step(&b);
    release(&b);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    ikt_context *ctx = NULL;
    const int64_t sizes[] = {70000, 1000000};
    if (ikt_context_create(MPI_COMM_SELF, 0, &ctx) != IKT_OK) return IKT_ERR_RESOURCE;
    printf("%d threads\n", ikt_threads(ctx));
    for (int s = 0; s < (argc > 1 ? 1 : 2); s++) {
        int64_t n = argc > 1 ? strtoll(argv[1], NULL, 10) : sizes[s];
        for (int shuffled = 0; shuffled < 2; shuffled++) {
            bench_all(ctx, n, 112, 64, shuffled);
            bench_all(ctx, n, 38, 20, shuffled);
        }
    }
    ikt_context_destroy(&ctx);
    MPI_Finalize();
    return 0;
}
