/* Every hot path alone, with its ratio to what the machine can do at best in the same run.
 *
 *   bench [PATH ...] [--rows N] [--seconds S] [--json FILE] [--markdown FILE] [--quick] [--list]
 *   mpirun -n 2 bench halo grid-sum exact-reduce
 *
 * Threads and instruction set by OMP_NUM_THREADS and IKTSNE_ISA. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "paths.h"
#include "report.h"

typedef struct {
    const char *name, *limit;
    bench_path *run;
} path;

static const path paths[] = {
    {"machine", "nothing: these are the limits", bench_path_machine},
    {"codes-u8", "integer multiply-adds", bench_path_codes_u8},
    {"codes-f32", "float32 multiply-adds", bench_path_codes_f32},
    {"codes-lists", "float32 multiply-adds of the distances alone", bench_path_lists},
    {"codes-near", "integer multiply-adds of the distances alone", bench_path_near},
    {"codes-trees", "reading the nodes from the second-level cache", bench_path_trees},
    {"similarity", "reading a code a pair from the second-level cache", bench_path_similarity},
    {"distance", "multiply-add instructions", bench_path_distance},
    {"selection", "reading the scores from the second-level cache", bench_path_selection},
    {"graph", "copying the neighbour lists; looking at each neighbour's list", bench_path_graph},
    {"spread", "copying points and grid; reading the windows", bench_path_spread},
    {"fft", "FFTW's best plans for the same grid", bench_path_fft},
    {"gather", "copying what is written; reading the windows", bench_path_gather},
    {"charges", "as many sums of unit charges", bench_path_charges},
    {"attraction", "reading P; loading the neighbours' positions", bench_path_attraction},
    {"negatives", "as many operations as multiply-adds", bench_path_negatives},
    {"triplets", "reading rows and neighbour lists", bench_path_triplets},
    {"step", "reading and writing the same arrays", bench_path_step},
    {"z", "reading the values", bench_path_z},
    {"exact-sum", "reading the values", bench_path_sum},
    {"halo", "copying the bytes sent", bench_path_halo},
    {"grid-sum", "copying the grid", bench_path_grid},
    {"exact-reduce", "a reduction of one integer", bench_path_reduce}};

enum { PATHS = sizeof paths / sizeof *paths, ROWS_DEFAULT = 1000000, ROWS_QUICK = 3000 };

typedef struct {
    bool wanted[PATHS], list, quick;
    int64_t rows;
    double seconds;
    const char *json, *markdown;
} request;

static const char usage[] =
    "usage: bench [PATH ...] [--rows N] [--seconds S] [--json FILE] [--markdown FILE]\n"
    "             [--quick] [--list]\n";

/* Sets what the option `name` with the value `text` says; false where there is none such. */
static bool set_value(request *r, const char *name, const char *text) {
    char *end = NULL;
    if (strcmp(name, "--json") == 0) {
        r->json = text;
    } else if (strcmp(name, "--markdown") == 0) {
        r->markdown = text;
    } else if (strcmp(name, "--rows") == 0) {
        r->rows = strtoll(text, &end, 10);
        return *end == '\0' && r->rows >= ROWS_QUICK && r->rows < INT64_C(1) << 31;
    } else if (strcmp(name, "--seconds") == 0) {
        r->seconds = strtod(text, &end);
        return *end == '\0' && r->seconds >= 0 && r->seconds < 1e6;
    } else {
        return false;
    }
    return true;
}

static bool want(request *r, const char *name) {
    for (int p = 0; p < PATHS; p++)
        if (strcmp(paths[p].name, name) == 0) {
            r->wanted[p] = true;
            return true;
        }
    return false;
}

static bool parse(int argc, char **argv, request *r) {
    bool some = false;
    *r = (request){.rows = ROWS_DEFAULT, .seconds = 0.3};
    for (int a = 1; a < argc; a++) {
        if (strcmp(argv[a], "--list") == 0) {
            r->list = true;
        } else if (strcmp(argv[a], "--quick") == 0) {
            r->quick = true;
            r->rows = ROWS_QUICK;
            r->seconds = 0;
        } else if (argv[a][0] != '-') {
            if (!want(r, argv[a])) return false;
            some = true;
        } else if (a + 1 == argc || !set_value(r, argv[a], argv[a + 1])) {
            return false;
        } else {
            a++;
        }
    }
    for (int p = 0; p < PATHS; p++)
        r->wanted[p] |= !some;
    return true;
}

static void print_list(void) {
    for (int p = 0; p < PATHS; p++)
        printf("%-13s %s\n", paths[p].name, paths[p].limit);
}

typedef void printer(const bench *b, FILE *file);

static ikt_status write_file(const bench *b, const char *name, printer *print) {
    if (!name || ikt_rank(b->ctx) != 0) return IKT_OK;
    FILE *file = fopen(name, "w");
    if (!file) return ikt_fail(b->ctx, IKT_ERR_FILE, "%s cannot be written", name);
    print(b, file);
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        return ikt_fail(b->ctx, IKT_ERR_FILE, "%s cannot be written", name);
    return IKT_OK;
}

static ikt_status run(ikt_context *ctx, const request *r) {
    bench b = {.ctx = ctx, .rows = r->rows, .seconds = r->seconds, .quick = r->quick};
    ikt_status st = IKT_OK;
    for (int p = 0; p < PATHS && st == IKT_OK; p++)
        if (r->wanted[p]) st = paths[p].run(&b);
    if (st == IKT_OK) st = write_file(&b, r->json, bench_print_json);
    if (st == IKT_OK) st = write_file(&b, r->markdown, bench_print_markdown);
    if (st == IKT_OK && ikt_rank(ctx) == 0) bench_print_markdown(&b, stdout);
    if (st != IKT_OK) fprintf(stderr, "bench: %s\n", ikt_message(ctx));
    ikt_free(&b.record);
    return st;
}

int main(int argc, char **argv) {
    request r;
    ikt_context *ctx = NULL;
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS) return IKT_ERR_RESOURCE;
    ikt_status st = parse(argc, argv, &r) ? IKT_OK : IKT_ERR_USAGE;
    if (st == IKT_ERR_USAGE) fputs(usage, stderr);
    if (st == IKT_OK && r.list) print_list();
    if (st == IKT_OK && !r.list) {
        st = ikt_context_create(MPI_COMM_WORLD, 0, &ctx);
        if (st == IKT_OK) st = run(ctx, &r);
        ikt_context_destroy(&ctx);
    }
    MPI_Finalize();
    return (int)st;
}
