/* The library as other programs use it: rows in memory, in any blocks, give the bits of `embed` on
 * a file with these rows; several embeddings in one process, on any communicator; what goes wrong
 * comes back as a status with a sentence. Only what builds the reference looks behind the public
 * headers. */
#include "support/library.h"

#include "io/io_files.h"

#include <math.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/rng.h"
#include "io/convert/table_writer.h"
#include "io/hdf5/h5.h"
#include "pipeline/pipeline.h"

enum { N = 90, D = 6, Q = 2, WAYS = 5 };

/* --- rows ------------------------------------------------------------------------------------- */

/* All rows in each type, on every rank: values that each of the types holds. */
static uint8_t bytes[N * D];
static float floats[N * D];
static double doubles[N * D];
static int64_t labels[N];

static void make_rows(void) {
    for (int e = 0; e < N * D; e++) {
        const int64_t step = ikt_rng_below(2, IKT_RNG_TEST, e / D, (uint64_t)(e % D), 60);
        bytes[e] = (uint8_t)(step + (e / D % 3 == e % 3) * 150);
        floats[e] = bytes[e];
        doubles[e] = bytes[e];
        labels[e / D] = e / D % 3;
    }
}

static const void *rows_at(ikt_type type, int64_t first) {
    return type == IKT_TYPE_U8    ? (const void *)(bytes + first * D)
           : type == IKT_TYPE_F32 ? (const void *)(floats + first * D)
                                  : (const void *)(doubles + first * D);
}

/* Rows of each rank: equal blocks, all on the first, all on the last, every second rank without,
 * growing. */
static int64_t count_of(int way, int rank, int size) {
    const int64_t equal = N / size + (rank < N % size);
    const int64_t half = (size + 1) / 2, sum = (int64_t)size * (size + 1) / 2;
    switch (way) {
    case 0:
        return equal;
    case 1:
        return rank == 0 ? N : 0;
    case 2:
        return rank == size - 1 ? N : 0;
    case 3:
        return rank % 2 ? 0 : N / half + (rank / 2 < N % half);
    default:
        return rank < size - 1 ? N * (rank + 1) / sum : -1;
    }
}

static void share_of(int way, int rank, int size, int64_t *first, int64_t *count) {
    *first = 0;
    for (int r = 0; r < rank; r++)
        *first += count_of(way, r, size);
    *count = count_of(way, rank, size);
    if (*count < 0) *count = N - *first;
}

static ikt_embedding *embed(ikt_context *ctx, const ikt_parameters *parameters, int way,
                            ikt_type type, bool labelled) {
    int64_t first, count;
    ikt_embedding *map;
    share_of(way, ikt_rank(ctx), ikt_size(ctx), &first, &count);
    const void *rows = count > 0 ? rows_at(type, first) : NULL;
    succeed(ctx, ikt_embed_rows(ctx, parameters, rows, count, D, type,
                                labelled && count > 0 ? labels + first : NULL, &map));
    assert_int_equal(ikt_embedding_first(map), first);
    assert_int_equal(ikt_embedding_count(map), count);
    return map;
}

/* --- the reference: `embed` on a file --------------------------------------------------------- */

static void write_rows(ikt_context *ctx, const char *path, ikt_type type) {
    ikt_table_writer *table;
    succeed(ctx, ikt_table_create(ctx, path, true, N, D, type, false, &table));
    succeed(ctx, ikt_table_write(table, 0, ikt_rank(ctx) == 0 ? N : 0, rows_at(type, 0), NULL));
    succeed(ctx, ikt_table_close(&table, IKT_OK));
}

static void set(ikt_context *ctx, ikt_settings *settings, const char *key, const char *value) {
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char text[512];
    ikt_settings_parts(settings, parts);
    snprintf(text, sizeof text, "%s=%s", key, value);
    succeed(ctx, ikt_config_override(ctx, parts, IKT_SETTINGS_PARTS, text));
}

/* `embed` on one rank: the hash, and all positions; on every rank. */
static uint64_t reference(ikt_context *ctx, const char *path, float *y) {
    uint64_t hash = 0;
    if (ikt_rank(ctx) == 0) {
        ikt_context *alone = ikt_test_alone();
        ikt_settings settings;
        ikt_config_part parts[IKT_SETTINGS_PARTS];
        ikt_run run;
        ikt_context_set_log(alone, IKT_LOG_ERROR);
        memset(&settings, 0, sizeof settings);
        ikt_settings_parts(&settings, parts);
        succeed(alone, ikt_config_defaults(alone, parts, IKT_SETTINGS_PARTS));
        for (int i = 0; i < LIBRARY_SETTINGS; i++)
            set(alone, &settings, library_settings[i][0], library_settings[i][1]);
        set(alone, &settings, "input.file", path);
        set(alone, &settings, "output.file", "never-written.h5");
        set(alone, &settings, "run.checkpoint", "none");
        succeed(alone, ikt_pipeline_run(alone, &settings, NULL, &run));
        hash = run.hash;
        memcpy(y, run.embedding.y, N * Q * sizeof *y);
        ikt_run_destroy(&run);
        ikt_context_destroy(&alone);
    }
    ikt_broadcast(ctx, &hash, sizeof hash, 0);
    ikt_broadcast(ctx, y, N * Q * (int64_t)sizeof *y, 0);
    return hash;
}

static void same_as_embed(void **state) {
    ikt_context *ctx = *state;
    static const ikt_type types[] = {IKT_TYPE_U8, IKT_TYPE_F32, IKT_TYPE_F64};
    float y[N * Q];
    char path[IO_NAME_MAX];
    make_rows();
    ikt_parameters *parameters = parameters_for(ctx);
    for (int t = 0; t < 3; t++) {
        io_name(ctx, "rows.h5", path);
        write_rows(ctx, path, types[t]);
        const uint64_t expected = reference(ctx, path, y);
        for (int way = 0; way < WAYS; way++) {
            if (t > 0 && way != t + 1) continue; /* one way each of the other types */
            ikt_embedding *map = embed(ctx, parameters, way, types[t], way == 3);
            assert_int_equal(ikt_embedding_hash(map), expected);
            assert_int_equal(ikt_embedding_rows(map), N);
            assert_int_equal(ikt_embedding_dimensions(map), Q);
            assert_memory_equal(ikt_embedding_positions(map), y + ikt_embedding_first(map) * Q,
                                (size_t)ikt_embedding_count(map) * Q * sizeof *y);
            ikt_embedding_destroy(&map);
            assert_null(map);
        }
        io_remove(ctx, path);
    }
    ikt_parameters_destroy(&parameters);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* --- more than one, anywhere ------------------------------------------------------------------ */

/* Accounts of the caller and what the C library has given out, as after the first of several. */
static void one_after_the_other(void **state) {
    ikt_context *ctx = *state;
    make_rows();
    ikt_parameters *parameters = parameters_for(ctx);
    uint64_t hash = 0;
    for (int time = 0; time < 3; time++) {
        ikt_embedding *map = embed(ctx, parameters, time, IKT_TYPE_F32, false);
        if (time > 0) assert_int_equal(ikt_embedding_hash(map), hash);
        hash = ikt_embedding_hash(map);
        ikt_embedding_destroy(&map);
    }
    succeed(ctx, ikt_parameters_set(parameters, "run.seed", "8"));
    ikt_embedding *first = embed(ctx, parameters, 0, IKT_TYPE_F32, false);
    succeed(ctx, ikt_parameters_set(parameters, "run.seed", "7"));
    ikt_embedding *second = embed(ctx, parameters, 0, IKT_TYPE_F32, false); /* beside the first */
    assert_int_equal(ikt_embedding_hash(second), hash);
    assert_int_not_equal(ikt_embedding_hash(first), hash);
    ikt_embedding_destroy(&first);
    ikt_embedding_destroy(&second);
    ikt_parameters_destroy(&parameters);
    assert_int_equal(ikt_memory_now(ctx), 0);
    assert_string_equal(ikt_message(ctx), "");
}

/* Two halves of the ranks embed at the same time, each with parameters of its own. */
static void on_a_part_of_the_ranks(void **state) {
    ikt_context *world = *state, *ctx;
    const int half = ikt_rank(world) % 2;
    MPI_Comm comm;
    make_rows();
    MPI_Comm_split(MPI_COMM_WORLD, half, -ikt_rank(world), &comm);
    succeed(world, ikt_context_create(comm, 1, &ctx));
    MPI_Comm_free(&comm); /* the context has its own */
    ikt_context_set_log(ctx, IKT_LOG_ERROR);
    ikt_parameters *parameters = parameters_for(ctx);
    succeed(ctx, ikt_parameters_set(parameters, "run.seed", half ? "3" : "7"));
    ikt_embedding *map = embed(ctx, parameters, half ? 1 : 4, IKT_TYPE_F32, false);
    int64_t hashes[2] = {0, 0};
    hashes[half] = (int64_t)(ikt_embedding_hash(map) >> 1);
    ikt_max_i64(world, hashes, 2);
    assert_int_equal(hashes[half], (int64_t)(ikt_embedding_hash(map) >> 1));
    assert_int_not_equal(hashes[0], hashes[1]);
    ikt_embedding_destroy(&map);
    ikt_parameters_destroy(&parameters);
    ikt_context_destroy(&ctx);
    parameters = parameters_for(world);
    map = embed(world, parameters, 3, IKT_TYPE_F32, false);
    assert_int_equal((int64_t)(ikt_embedding_hash(map) >> 1),
                     hashes[0]); /* the same on all ranks */
    ikt_embedding_destroy(&map);
    ikt_parameters_destroy(&parameters);
}

/* A program that goes on after a failure is told about the next one, not about the first again. */
static void errors_replace_each_other(void **state) {
    ikt_context *ctx = *state, *part;
    ikt_parameters *parameters;
    ikt_embedding *map;
    char text[64];
    const char *yaml;
    make_rows();
    succeed(ctx, ikt_parameters_create(ctx, &parameters));
    assert_int_equal(ikt_parameters_set(parameters, "no.key", "3"), IKT_ERR_USAGE);
    assert_non_null(strstr(ikt_message(ctx), "section 'no'"));
    assert_int_equal(ikt_parameters_load(parameters, "/no/such.yaml"), IKT_ERR_FILE);
    assert_non_null(strstr(ikt_message(ctx), "/no/such.yaml"));
    assert_int_equal(ikt_parameters_get(parameters, "no.key", text, sizeof text), IKT_ERR_USAGE);
    assert_non_null(strstr(ikt_message(ctx), "section 'no'"));
    assert_int_equal(ikt_embedding_read(ctx, "/no/run.h5", &map), IKT_ERR_FILE);
    assert_non_null(strstr(ikt_message(ctx), "/no/run.h5"));
    assert_int_equal(ikt_parameters_set(parameters, "input.file", "rows.h5"), IKT_OK);
    assert_string_equal(ikt_message(ctx), "");
    assert_int_equal(ikt_embed_rows(ctx, parameters, floats, N, D, IKT_TYPE_F32, NULL, &map),
                     IKT_ERR_USAGE);
    assert_non_null(strstr(ikt_message(ctx), "input.file is 'rows.h5'"));
    succeed(ctx, ikt_parameters_yaml(parameters, &yaml));
    assert_string_equal(ikt_message(ctx), "");
    ikt_parameters_destroy(&parameters);
    parameters = parameters_for(ctx);
    map = embed(ctx, parameters, 0, IKT_TYPE_F32, false);
    assert_int_equal(ikt_parameters_set(parameters, "no.key", "3"), IKT_ERR_USAGE);
    assert_int_equal(ikt_embedding_write(map, "/no/run.h5", false), IKT_ERR_FILE);
    assert_non_null(strstr(ikt_message(ctx), "/no/run.h5"));
    assert_int_equal(ikt_parameters_set(parameters, "no.key", "3"), IKT_ERR_USAGE);
    assert_int_equal(ikt_embedding_draw(map, "/no/run.png", false, NULL), IKT_ERR_FILE);
    assert_non_null(strstr(ikt_message(ctx), "/no/run.png"));
    assert_int_equal(ikt_embedding_draw(map, "run.jpg", false, NULL), IKT_ERR_USAGE);
    assert_non_null(strstr(ikt_message(ctx), "name it run.png (or .svg, .pdf)"));
    assert_int_equal(ikt_embedding_view(map, "run.png", false, NULL, NULL, 0), IKT_ERR_USAGE);
    assert_non_null(strstr(ikt_message(ctx), "name it run.html"));
    succeed(ctx, ikt_context_split(ctx, 0, &part));
    assert_string_equal(ikt_message(ctx), "");
    ikt_context_destroy(&part);
    ikt_embedding_destroy(&map);
    ikt_parameters_destroy(&parameters);
}

/* --- what a map tells ------------------------------------------------------------------------- */

static double measure_of(const ikt_embedding *map, const char *name) {
    for (int64_t i = 0; i < ikt_embedding_measures(map); i++)
        if (strcmp(ikt_embedding_measure_at(map, i).name, name) == 0)
            return ikt_embedding_measure_at(map, i).value;
    return NAN;
}

static void maps_tell(void **state) {
    ikt_context *ctx = *state;
    make_rows();
    ikt_parameters *parameters = parameters_for(ctx);
    succeed(ctx, ikt_parameters_set(parameters, "output.measures", "all"));
    succeed(ctx, ikt_parameters_set(parameters, "layout.iterations", "250"));
    succeed(ctx, ikt_parameters_set(parameters, "layout.exaggeration_iterations", "80"));
    ikt_embedding *map = embed(ctx, parameters, 4, IKT_TYPE_U8, true);
    assert_int_equal(ikt_embedding_iterations(map), 250);
    assert_int_equal(ikt_embedding_zero_similarity(map), 0);
    assert_true(ikt_embedding_objective(map) > 0 && ikt_embedding_objective(map) < 10);
    for (int64_t i = 0; i < ikt_embedding_count(map); i++)
        assert_int_equal(ikt_embedding_labels(map)[i], labels[ikt_embedding_first(map) + i]);
    assert_non_null(strstr(ikt_embedding_yaml(map), "neighbours: 12\n"));
    assert_true(measure_of(map, "10-NN accuracy") > 0.9);         /* of the labels */
    assert_true(measure_of(map, "trustworthiness (k 12)") > 0.7); /* of the rows in memory */
    ikt_embedding_destroy(&map);
    succeed(ctx, ikt_parameters_set(parameters, "output.measures", "none"));
    map = embed(ctx, parameters, 4, IKT_TYPE_U8, false);
    assert_int_equal(ikt_embedding_measures(map), 0);
    assert_null(ikt_embedding_labels(map));
    ikt_embedding_destroy(&map);
    ikt_parameters_destroy(&parameters);
}

/* Written, read, drawn; from a file to a map again; and as output.file asks for it. */
static void maps_and_files(void **state) {
    ikt_context *ctx = *state;
    char file[IO_NAME_MAX], other[IO_NAME_MAX], picture[IO_NAME_MAX];
    ikt_embedding *map, *again;
    make_rows();
    io_name(ctx, "map.h5", file);
    io_name(ctx, "other.h5", other);
    io_name(ctx, "map.png", picture);
    ikt_parameters *parameters = parameters_for(ctx);
    succeed(ctx, ikt_parameters_set(parameters, "output.file", other));
    map = embed(ctx, parameters, 3, IKT_TYPE_F64, true);
    succeed(ctx, ikt_embedding_write(map, file, false));
    refuse(ctx, ikt_embedding_write(map, file, false), IKT_ERR_FILE, file);
    succeed(ctx, ikt_embedding_draw(map, picture, false, "Rows in memory"));
    assert_int_equal(access(picture, R_OK), 0);
    for (int i = 0; i < 2; i++) {
        succeed(ctx, ikt_embedding_read(ctx, i ? other : file, &again));
        assert_int_equal(ikt_embedding_hash(again), ikt_embedding_hash(map));
        assert_int_equal(ikt_embedding_iterations(again), 30);
        assert_true(ikt_embedding_objective(again) == ikt_embedding_objective(map));
        for (int64_t k = 0; k < ikt_embedding_count(again); k++)
            assert_int_equal(ikt_embedding_labels(again)[k],
                             labels[ikt_embedding_first(again) + k]);
        assert_non_null(strstr(ikt_embedding_yaml(again), "iterations: 30\n"));
        refuse(ctx, ikt_embedding_write(again, "copy.h5", false), IKT_ERR_USAGE, "copy it");
        refuse(ctx, ikt_embedding_draw(again, i ? other : file, true, NULL), IKT_ERR_USAGE,
               "the output and the embedding are the same file");
        ikt_embedding_destroy(&again);
    }
    ikt_embedding_destroy(&map);
    refuse(ctx, ikt_embedding_read(ctx, picture, &again), IKT_ERR_FILE, "not an HDF5 file");
    assert_null(again);
    io_remove(ctx, file);
    io_remove(ctx, other);
    io_remove(ctx, picture);
    ikt_parameters_destroy(&parameters);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* --- parameters ------------------------------------------------------------------------------- */

static void parameters_by_name(void **state) {
    ikt_context *ctx = *state;
    char text[1024];
    const char *yaml;
    ikt_parameters *parameters;
    succeed(ctx, ikt_parameters_create(ctx, &parameters));
    succeed(ctx, ikt_parameters_get(parameters, "isolation.psi", text, sizeof text));
    assert_string_equal(text, "auto");
    succeed(ctx, ikt_parameters_set(parameters, "isolation.psi", "512"));
    succeed(ctx, ikt_parameters_get(parameters, "isolation.psi", text, sizeof text));
    assert_string_equal(text, "512");
    succeed(ctx, ikt_parameters_get(parameters, "affinity.kind", text, 4));
    assert_string_equal(text, "iso");
    refuse(ctx, ikt_parameters_set(parameters, "isolation.psy", "3"), IKT_ERR_USAGE,
           "did you mean 'isolation.psi'?");
    refuse(ctx, ikt_parameters_set(parameters, "isolation.psi", "many"), IKT_ERR_USAGE,
           "isolation.psi");
    refuse(ctx, ikt_parameters_get(parameters, "psi", text, sizeof text), IKT_ERR_USAGE, "psi");
    assert_string_equal(text, "");
    succeed(ctx, ikt_parameters_get(parameters, "isolation.psi", text, sizeof text));
    assert_string_equal(text, "512"); /* as before the failures */
    succeed(ctx, ikt_parameters_yaml(parameters, &yaml));
    assert_non_null(strstr(yaml, "isolation:\n  form: voronoi\n  psi: 512\n"));
    refuse(ctx, ikt_parameters_load(parameters, "missing.yaml"), IKT_ERR_FILE, "missing.yaml");
    ikt_parameters_destroy(&parameters);
    assert_null(parameters);
}

static void parameters_of_a_file(void **state) {
    ikt_context *ctx = *state;
    char file[IO_NAME_MAX], text[64];
    static const char yaml[] = "run: {seed: 5}\nlayout: {dimensions: 3}\n";
    ikt_parameters *parameters;
    io_name(ctx, "parameters.yaml", file);
    if (ikt_rank(ctx) == 0) io_write(file, yaml, sizeof yaml - 1, false);
    succeed(ctx, ikt_parameters_create(ctx, &parameters));
    succeed(ctx, ikt_parameters_load(parameters, file));
    succeed(ctx, ikt_parameters_get(parameters, "layout.dimensions", text, sizeof text));
    assert_string_equal(text, "3");
    io_remove(ctx, file);
    ikt_parameters_destroy(&parameters);
}

/* --- what goes wrong -------------------------------------------------------------------------- */

static ikt_status attempt(ikt_context *ctx, const ikt_parameters *parameters, const void *rows,
                          int64_t count, int64_t columns, ikt_type type, const int64_t *classes) {
    ikt_embedding *map;
    const ikt_status st =
        ikt_embed_rows(ctx, parameters, rows, count, columns, type, classes, &map);
    assert_null(map);
    return st;
}

static void wrong_rows_are_refused(void **state) {
    ikt_context *ctx = *state;
    const bool is_last = ikt_rank(ctx) == ikt_size(ctx) - 1, is_alone = ikt_size(ctx) == 1;
    float bad[30 * D];
    make_rows();
    memcpy(bad, floats, sizeof bad);
    if (is_last) bad[D + 2] = NAN;
    ikt_parameters *p = parameters_for(ctx);
    refuse(ctx, attempt(ctx, p, bad, 30, D, IKT_TYPE_F32, NULL), IKT_ERR_DATA, "column 2");
    refuse(ctx, attempt(ctx, p, NULL, 0, D, IKT_TYPE_F32, NULL), IKT_ERR_DATA, "no rank gives");
    refuse(ctx, attempt(ctx, p, is_last ? NULL : floats, 3, D, IKT_TYPE_F32, NULL), IKT_ERR_USAGE,
           "no array");
    refuse(ctx, attempt(ctx, p, floats, is_last ? -1 : 3, D, IKT_TYPE_F32, NULL), IKT_ERR_USAGE,
           "are no rows");
    refuse(ctx, attempt(ctx, p, floats, 3, D, (ikt_type)9, NULL), IKT_ERR_USAGE, "no type");
    refuse(ctx, attempt(ctx, p, floats, INT64_MAX / 8, D, IKT_TYPE_F32, NULL), IKT_ERR_USAGE,
           "any memory");
    if (!is_alone) {
        refuse(ctx, attempt(ctx, p, floats, 3, is_last ? 2 : D, IKT_TYPE_F32, NULL), IKT_ERR_USAGE,
               "2 to 6 columns");
        refuse(ctx, attempt(ctx, p, floats, 3, D, is_last ? IKT_TYPE_U8 : IKT_TYPE_F32, NULL),
               IKT_ERR_USAGE, "different types");
        refuse(ctx, attempt(ctx, p, floats, 3, D, IKT_TYPE_F32, is_last ? NULL : labels),
               IKT_ERR_USAGE, "labels");
    }
    ikt_parameters_destroy(&p);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void wrong_parameters_are_refused(void **state) {
    ikt_context *ctx = *state;
    static const char *const wrong[][3] = {
        {"input.file", "rows.h5", "rows come from memory"},
        {"input.rows", "20", "rows come from memory"},
        {"output.file", "no/such/folder/run.h5", "no/such/folder"},
        {"preprocess.pca", "7", "columns"},
        {"layout.init", "file", "init_file"}};
    make_rows();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ikt_parameters *p = parameters_for(ctx);
        succeed(ctx, ikt_parameters_set(p, wrong[i][0], wrong[i][1]));
        assert_int_not_equal(attempt(ctx, p, floats, 12, D, IKT_TYPE_F32, NULL), IKT_OK);
        io_expect(ctx, wrong[i][2]);
        ikt_parameters_destroy(&p);
    }
    ikt_parameters *p = parameters_for(ctx);
    if (ikt_size(ctx) > 1) {
        succeed(ctx, ikt_parameters_set(p, "run.seed", ikt_rank(ctx) == 1 ? "2" : "1"));
        refuse(ctx, attempt(ctx, p, floats, 12, D, IKT_TYPE_F32, NULL), IKT_ERR_USAGE,
               "not the same on all ranks");
    }
    ikt_embedding *map;
    refuse(ctx, ikt_embed_file(ctx, p, &map), IKT_ERR_USAGE,
           ikt_size(ctx) > 1 ? "not the same" : "input.file is not set");
    ikt_parameters_destroy(&p);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* With a folder for checkpoints and no time left it stops; called again it goes on, on what is
 * there. */
static void stopped_and_gone_on(void **state) {
    ikt_context *ctx = *state;
    char folder[IO_NAME_MAX];
    struct stat about;
    ikt_embedding *map;
    make_rows();
    io_name(ctx, "checkpoint", folder);
    ikt_parameters *parameters = parameters_for(ctx);
    map = embed(ctx, parameters, 0, IKT_TYPE_F32, false);
    const uint64_t hash = ikt_embedding_hash(map);
    ikt_embedding_destroy(&map);
    succeed(ctx, ikt_parameters_set(parameters, "run.checkpoint", folder));
    succeed(ctx, ikt_parameters_set(parameters, "run.max_time", "0"));
    int64_t first, count;
    share_of(4, ikt_rank(ctx), ikt_size(ctx), &first, &count);
    refuse(ctx,
           attempt(ctx, parameters, rows_at(IKT_TYPE_F32, first), count, D, IKT_TYPE_F32, NULL),
           IKT_STOPPED, folder);
    assert_int_equal(stat(folder, &about), 0);
    succeed(ctx, ikt_parameters_set(parameters, "run.max_time", "none"));
    map = embed(ctx, parameters, 3, IKT_TYPE_F32, false); /* in other blocks */
    assert_int_equal(ikt_embedding_hash(map), hash);
    ikt_embedding_destroy(&map);
    ikt_barrier(ctx);
    assert_int_not_equal(stat(folder, &about), 0); /* removed in the end */
    ikt_parameters_destroy(&parameters);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* What belongs to the program stays as it was: threads, HDF5's words, signals, the folder. */
static void the_caller_keeps_what_is_his(void **state) {
    ikt_context *ctx = *state;
    const int threads = ikt_threads(ctx);
    const ikt_h5_host before = ikt_h5_host_keep();
    struct stat about;
    make_rows();
    ikt_parameters *parameters = parameters_for(ctx);
    succeed(ctx, ikt_parameters_set(parameters, "run.threads", "2"));
    ikt_embedding *map = embed(ctx, parameters, 2, IKT_TYPE_F32, false);
    const ikt_h5_host after = ikt_h5_host_keep();
    assert_int_equal(ikt_threads(ctx), threads);
    assert_true(before.is_known && after.is_known && before.print == after.print);
    assert_int_not_equal(stat(".checkpoint", &about), 0);
    assert_string_equal(ikt_version(), IKT_VERSION);
    ikt_embedding_destroy(&map);
    ikt_parameters_destroy(&parameters);
}

IKT_MPI_TESTS(ikt_test(same_as_embed), ikt_test(one_after_the_other),
              ikt_test(on_a_part_of_the_ranks), ikt_test(errors_replace_each_other),
              ikt_test(maps_tell), ikt_test(maps_and_files), ikt_test(parameters_by_name),
              ikt_test(parameters_of_a_file), ikt_test(wrong_rows_are_refused),
              ikt_test(wrong_parameters_are_refused), ikt_test(stopped_and_gone_on),
              ikt_test(the_caller_keeps_what_is_his))
