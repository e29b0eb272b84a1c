/* An MPI program that embeds an array it holds in memory, each rank its own rows.
 *
 * The rows are points round three corners of a cube. Every rank makes its own, blocks of unequal
 * sizes; no file is read, and the result is the same on any number of ranks.
 *
 *   mpirun -n 3 ./embed_blobs [PREFIX]
 *
 * prints a summary on rank 0. With PREFIX it also writes PREFIX.h5 (what the verbs of iktsne read)
 * and PREFIX.png, and before it embeds PREFIX.rows.csv, with which `iktsne convert` and `iktsne
 * embed` give the same hash. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <iktsne/iktsne.h>
#include <mpi.h>

enum { ROWS = 300, COLUMNS = 8, CLASSES = 3 };

/* Settings by the names of `iktsne embed --help`. */
static const char *const settings[][2] = {
    {"run.seed", "7"}, {"layout.iterations", "300"}, {"layout.exaggeration_iterations", "100"}};

/* Whole numbers from 0 to 255 that depend on the row and the column only, not on the rank. */
static float value_of(int64_t row, int column) {
    uint64_t state = (uint64_t)(row * COLUMNS + column + 1) * UINT64_C(0x9e3779b97f4a7c15);
    state ^= state >> 31;
    state *= UINT64_C(0xbf58476d1ce4e5b9);
    state ^= state >> 29;
    return (float)(state % 60) + (column % CLASSES == row % CLASSES ? 180.0f : 0.0f);
}

/* The own block: the later a rank, the more rows. */
static void find_block(int rank, int size, int64_t *first, int64_t *count) {
    const int64_t parts = (int64_t)size * (size + 1) / 2;
    const int64_t before = (int64_t)rank * (rank + 1) / 2;
    *first = ROWS * before / parts;
    *count = ROWS * (before + rank + 1) / parts - *first;
}

static void write_rows(const char *prefix) {
    char path[512];
    snprintf(path, sizeof path, "%s.rows.csv", prefix);
    FILE *file = fopen(path, "w");
    if (!file) return;
    for (int64_t row = 0; row < ROWS; row++)
        for (int c = 0; c < COLUMNS; c++)
            fprintf(file, "%g%c", value_of(row, c), c + 1 < COLUMNS ? ',' : '\n');
    fclose(file);
}

static void print_map(const ikt_embedding *map) {
    printf("iktsne %s: %" PRId64 " rows in %d dimensions, %" PRId64 " iterations\n", ikt_version(),
           ikt_embedding_rows(map), ikt_embedding_dimensions(map), ikt_embedding_iterations(map));
    printf("KL divergence  %.6f\n", ikt_embedding_objective(map));
    for (int64_t i = 0; i < ikt_embedding_measures(map) && i < 3; i++) {
        const ikt_embedding_measure measure = ikt_embedding_measure_at(map, i);
        printf("%-14s %.4f (%s)\n", measure.name, measure.value, measure.note);
    }
    const float *y = ikt_embedding_positions(map);
    for (int64_t i = 0; i < 3 && i < ikt_embedding_count(map); i++)
        printf("row %" PRId64 "          (%.3f, %.3f)\n", i, y[2 * i], y[2 * i + 1]);
    printf("embedding hash %016" PRIx64 "\n", ikt_embedding_hash(map));
}

/* File and picture of the map. */
static ikt_status write_map(ikt_embedding *map, const char *prefix) {
    char path[512];
    snprintf(path, sizeof path, "%s.h5", prefix);
    ikt_status st = ikt_embedding_write(map, path, true);
    snprintf(path, sizeof path, "%s.png", prefix);
    return st == IKT_OK ? ikt_embedding_draw(map, path, true, "Three corners of a cube") : st;
}

/* Every function returns the same status on all ranks, so all take the same way. */
static ikt_status run(ikt_context *ctx, const char *prefix) {
    int64_t first, count;
    ikt_parameters *parameters = NULL;
    ikt_embedding *map = NULL;
    find_block(ikt_rank(ctx), ikt_size(ctx), &first, &count);
    float *rows = malloc((size_t)(count * COLUMNS + 1) * sizeof *rows);
    int64_t *labels = malloc((size_t)(count + 1) * sizeof *labels);
    if (!rows || !labels) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int64_t i = 0; i < count; i++) {
        labels[i] = (first + i) % CLASSES;
        for (int c = 0; c < COLUMNS; c++)
            rows[i * COLUMNS + c] = value_of(first + i, c);
    }
    ikt_status st = ikt_parameters_create(ctx, &parameters);
    for (size_t i = 0; i < sizeof settings / sizeof *settings && st == IKT_OK; i++)
        st = ikt_parameters_set(parameters, settings[i][0], settings[i][1]);
    if (st == IKT_OK)
        st = ikt_embed_rows(ctx, parameters, rows, count, COLUMNS, IKT_TYPE_F32, labels, &map);
    if (st == IKT_OK && ikt_rank(ctx) == 0) print_map(map);
    if (st == IKT_OK && prefix) st = write_map(map, prefix);
    ikt_embedding_destroy(&map);
    ikt_parameters_destroy(&parameters);
    free(rows);
    free(labels);
    return st;
}

int main(int argc, char **argv) {
    int provided;
    ikt_context *ctx = NULL;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    ikt_status st = ikt_context_create(MPI_COMM_WORLD, 0, &ctx);
    if (st == IKT_OK) {
        ikt_context_set_log(ctx, IKT_LOG_WARN); /* IKT_LOG_STAGE prints a line for each stage */
        if (argc > 1 && ikt_rank(ctx) == 0) write_rows(argv[1]);
        st = run(ctx, argc > 1 ? argv[1] : NULL);
        if (st != IKT_OK && ikt_rank(ctx) == 0) fprintf(stderr, "%s\n", ikt_message(ctx));
    }
    ikt_context_destroy(&ctx);
    MPI_Finalize();
    return (int)st;
}
