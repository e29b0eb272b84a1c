/* TriMap from graphs: the maps of complete graphs and of matrices of all pairs are those of the
 * rows; the same bits on any ranks and threads and after a stop; plans; what is refused. */
#include "io/io_files.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/watch.h"
#include "io/convert/table_writer.h"
#include "objective/objective.h"
#include "pipeline/outcome.h"
#include "plan/plan.h"
#include "support/run.h"
#include "support/stopping.h"

/* --- runs ------------------------------------------------------------------------------------- */

enum { ROWS = 150, COLUMNS = 5, CLASSES = 3, NEAREST = 14, STOP_AT = 17 };

typedef enum { DISTANCES, SIMILARITIES, NEAR_DISTANCES, PATTERN } content;

static double at[ROWS][COLUMNS], gap[ROWS][ROWS]; /* rows, and their distances */

/* Whole numbers: their squared distances are exact. */
static void make_data(void) {
    for (int i = 0; i < ROWS; i++)
        for (int c = 0; c < COLUMNS; c++)
            at[i][c] = floor((i % CLASSES == c ? 60 : 0) +
                             12 * ikt_rng_normal(7, IKT_RNG_TEST, i * COLUMNS + c, 0));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) {
            double sum = 0;
            for (int c = 0; c < COLUMNS; c++)
                sum += (at[i][c] - at[j][c]) * (at[i][c] - at[j][c]);
            gap[i][j] = sqrt(sum);
        }
}

/* What a file holds of rows i and j; below 0 for nothing. */
static double entry_of(content what, int i, int j) {
    if (i == j) return -1;
    if (what == DISTANCES) return gap[i][j];
    if (what == SIMILARITIES) return exp(-gap[i][j] / 30);
    int nearer = 0; /* others that are nearer to i: ten to fourteen are named */
    for (int k = 0; k < ROWS; k++)
        nearer += k != i && (gap[i][k] < gap[i][j] || (gap[i][k] == gap[i][j] && k < j));
    if (nearer >= NEAREST - i % 5) return -1;
    return what == PATTERN ? 1 : gap[i][j];
}

typedef struct {
    run_files run;
    char graph[IO_NAME_MAX];
} files;

/* What names the graph in its file. */
static const char *path = "";

/* A graph as text. */
static void write_sparse(ikt_context *ctx, const files *f, content what) {
    int entries = 0;
    FILE *file = ikt_rank(ctx) == 0 ? fopen(f->graph, "w") : NULL;
    path = "";
    static double entry[ROWS][ROWS];
    for (int i = 0; file && i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) {
            entry[i][j] = entry_of(what, i, j);
            entries += entry[i][j] >= 0;
        }
    if (file)
        fprintf(file, "%%%%MatrixMarket matrix coordinate %s general\n%d %d %d\n",
                what == PATTERN ? "pattern" : "real", ROWS, ROWS, entries);
    for (int i = 0; file && i < ROWS; i++)
        for (int j = 0; j < ROWS; j++)
            if (entry[i][j] >= 0 && what == PATTERN)
                fprintf(file, "%d %d\n", i + 1, j + 1);
            else if (entry[i][j] >= 0)
                fprintf(file, "%d %d %.17g\n", i + 1, j + 1, entry[i][j]);
    if (file) fclose(file);
    ikt_barrier(ctx);
}

/* The numbers of all pairs as a matrix, one of which may be another. */
static void write_dense(ikt_context *ctx, const files *f, content what, int row, int column,
                        double other) {
    static double entry[ROWS * ROWS];
    ikt_table_writer *table;
    path = ":X";
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++)
            entry[i * ROWS + j] = i == row && j == column ? other
                                  : i == j                ? (what == SIMILARITIES ? 1 : 0)
                                                          : entry_of(what, i, j);
    succeed(ctx, ikt_table_create(ctx, f->graph, true, ROWS, ROWS, IKT_TYPE_F64, false, &table));
    succeed(ctx, ikt_table_write(table, 0, ikt_rank(ctx) == 0 ? ROWS : 0, entry, NULL));
    succeed(ctx, ikt_table_close(&table, IKT_OK));
}

static files make_files(ikt_context *ctx) {
    static float rows[ROWS * COLUMNS];
    files f;
    make_data();
    for (int e = 0; e < ROWS * COLUMNS; e++)
        rows[e] = (float)at[e / COLUMNS][e % COLUMNS];
    f.run = run_files_write(ctx, rows, NULL, ROWS, COLUMNS);
    io_name(ctx, "graph.file", f.graph);
    return f;
}

static void remove_files(ikt_context *ctx, const files *f) {
    io_remove(ctx, f->run.input);
    io_remove(ctx, f->graph);
}

/* A short run of the rows, or of the graph. */
static ikt_settings make_settings(ikt_context *ctx, const files *f, bool is_graph,
                                  const char *text) {
    ikt_settings settings = run_settings(
        ctx, &f->run,
        "layout.objective=trimap layout.init=random layout.iterations=40 output.measures=none");
    char named[2 * IO_NAME_MAX];
    snprintf(named, sizeof named, "input.file= input.graph=%s%s", f->graph, path);
    if (is_graph) set(ctx, &settings, named);
    if (!is_graph) set(ctx, &settings, "affinity.kind=knn preprocess.normalise=none");
    set(ctx, &settings, text);
    return settings;
}

static const char *const ways[] = {"trimap.triplets=fixed",
                                   "trimap.triplets=pool trimap.pool_rows=40 trimap.redraw=3",
                                   "trimap.triplets=pool layout.dimensions=3"};
enum { WAYS = sizeof ways / sizeof *ways };

/* The distances of all pairs, sparse or dense, make the map of the rows, bit for bit, where these
 * choose their near rows among all others, too. */
static void complete_distances_give_the_map_of_the_rows(void **state) {
    ikt_context *ctx = *state;
    const files f = make_files(ctx);
    for (int form = 0; form < 2; form++) {
        if (form == 0)
            write_sparse(ctx, &f, DISTANCES);
        else
            write_dense(ctx, &f, DISTANCES, -1, -1, 0);
        for (int w = 0; w < WAYS; w++) {
            ikt_settings of_rows = make_settings(ctx, &f, false, ways[w]);
            ikt_settings of_graph = make_settings(ctx, &f, true, ways[w]);
            double wanted, found;
            set(ctx, &of_graph, "graph.values=distances");
            set(ctx, &of_rows, "affinity.neighbours=149");
            if (form == 1) set(ctx, &of_graph, "affinity.neighbours=149");
            const uint64_t hash = run_hash(ctx, &of_rows, &wanted);
            if (run_hash(ctx, &of_graph, &found) != hash || found != wanted)
                fail_msg("form %d, %s", form, ways[w]);
        }
    }
    remove_files(ctx, &f);
}

static void sparse_and_dense_similarities_agree(void **state) {
    ikt_context *ctx = *state;
    const files f = make_files(ctx);
    uint64_t hash[WAYS];
    double wanted, found;
    write_dense(ctx, &f, SIMILARITIES, -1, -1, 0);
    for (int w = 0; w < WAYS; w++) {
        ikt_settings settings = make_settings(ctx, &f, true, ways[w]);
        set(ctx, &settings, "graph.values=similarities");
        hash[w] = run_hash(ctx, &settings, &wanted);
        set(ctx, &settings, "graph.values=probabilities"); /* they are compared alike */
        assert_true(run_hash(ctx, &settings, &found) == hash[w] && found == wanted);
    }
    write_sparse(ctx, &f, SIMILARITIES);
    for (int w = 0; w < WAYS; w++) {
        ikt_settings settings = make_settings(ctx, &f, true, ways[w]);
        set(ctx, &settings, "graph.values=similarities");
        assert_true(run_hash(ctx, &settings, &wanted) == hash[w]);
        set(ctx, &settings, "graph.values=probabilities");
        assert_true(run_hash(ctx, &settings, &wanted) == hash[w]);
    }
    remove_files(ctx, &f);
}

/* A matrix of a kernel as input.file is one of distances. */
static void a_kernel_as_input_gives_the_map_of_the_rows(void **state) {
    ikt_context *ctx = *state;
    const files f = make_files(ctx);
    static double kernel[ROWS * ROWS];
    char text[IO_NAME_MAX + 128];
    ikt_table_writer *table;
    for (int e = 0; e < ROWS * ROWS; e++)
        for (int c = 0; c < COLUMNS; c++)
            kernel[e] += at[e / ROWS][c] * at[e % ROWS][c];
    succeed(ctx, ikt_table_create(ctx, f.graph, true, ROWS, ROWS, IKT_TYPE_F64, false, &table));
    succeed(ctx, ikt_table_write(table, 0, ikt_rank(ctx) == 0 ? ROWS : 0, kernel, NULL));
    succeed(ctx, ikt_table_close(&table, IKT_OK));
    for (int w = 0; w < WAYS; w++) {
        ikt_settings of_rows = make_settings(ctx, &f, false, ways[w]), of_matrix = of_rows;
        double wanted, found;
        snprintf(text, sizeof text, "input.file=%s preprocess.normalise=auto", f.graph);
        set(ctx, &of_matrix, text);
        set(ctx, &of_matrix, "preprocess.metric=precomputed preprocess.matrix=similarities");
        const uint64_t hash = run_hash(ctx, &of_rows, &wanted);
        if (run_hash(ctx, &of_matrix, &found) != hash || found != wanted) fail_msg("%s", ways[w]);
    }
    remove_files(ctx, &f);
}

static void sparse_graphs_give_the_same_bits_everywhere(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    const files f = make_files(ctx);
    ikt_context_set_log(alone, IKT_LOG_ERROR);
    for (int g = 0; g < 2; g++) {
        write_sparse(ctx, &f, g == 0 ? NEAR_DISTANCES : PATTERN);
        for (int w = 0; w < WAYS; w++) {
            ikt_settings settings = make_settings(ctx, &f, true, ways[w]);
            double here, there;
            set(ctx, &settings, g == 0 ? "graph.values=distances" : "trimap.weights=ratio");
            if (g == 0 && w == 1) set(ctx, &settings, "graph.values=similarities");
            const uint64_t hash = run_hash(alone, &settings, &there);
            if (run_hash(ctx, &settings, &here) != hash || here != there)
                fail_msg("graph %d, %s", g, ways[w]);
        }
    }
    ikt_context_destroy(&alone);
    remove_files(ctx, &f);
}

static void it_is_stopped_and_goes_on(void **state) {
    ikt_context *ctx = *state;
    const files f = make_files(ctx);
    const ikt_objective_kind stopping = stopping_trimap();
    for (int form = 0; form < 2; form++) {
        char text[IO_NAME_MAX + 32];
        double value;
        ikt_run run;
        if (form == 0)
            write_sparse(ctx, &f, NEAR_DISTANCES);
        else
            write_dense(ctx, &f, SIMILARITIES, -1, -1, 0);
        ikt_settings settings = make_settings(ctx, &f, true, ways[1]);
        set(ctx, &settings, form == 0 ? "graph.values=distances" : "graph.values=similarities");
        settings.layout.custom = &stopping;
        stop_at = -1;
        const uint64_t whole = run_hash(ctx, &settings, &value);
        snprintf(text, sizeof text, "run.checkpoint=%s", f.run.folder);
        set(ctx, &settings, text);
        stop_at = STOP_AT;
        assert_int_equal(ikt_pipeline_run(ctx, &settings, NULL, &run), IKT_STOPPED);
        ikt_watch_signals_end();
        stop_at = -1;
        assert_true(run_hash(ctx, &settings, &value) == whole);
        ikt_watch_signals_end();
    }
    remove_files(ctx, &f);
}

static void graphs_are_planned(void **state) {
    ikt_context *ctx = *state;
    const files f = make_files(ctx);
    ikt_settings settings = make_settings(ctx, &f, true, "trimap.triplets=pool");
    const ikt_data_shape shape = {.n = 100000, .type = IKT_TYPE_F32, .graph_entries = 3000000};
    ikt_workload work;
    settings.affinity.kind = IKT_AFFINITY_GRAPH;
    settings.affinity.graph.values = IKT_EDGES_DISTANCES;
    succeed(ctx, ikt_workload_make(ctx, &settings, &shape, 2, 1, &work));
    const ikt_memory_plan sparse = ikt_memory_plan_make(&work, 0);
    const int64_t pairs = ikt_joined_memory(50000, 1500000); /* of one direction */
    assert_true(work.is_joined && !work.has_matrix && work.k == 30);
    assert_true(sparse.stage[IKT_STAGE_NEIGHBOURS] > pairs);
    assert_true(sparse.stage[IKT_STAGE_LAYOUT] > pairs);
    assert_true(sparse.stage[IKT_STAGE_LAYOUT] < 5 * pairs);
    settings.affinity.graph.is_pairwise = true;
    succeed(ctx, ikt_workload_make(ctx, &settings, &shape, 2, 1, &work));
    const ikt_memory_plan dense = ikt_memory_plan_make(&work, 0);
    assert_true(work.has_matrix && !work.is_joined);
    assert_true(dense.stage[IKT_STAGE_LAYOUT] > 4 * 50000LL * 100000);
    assert_true(dense.stage[IKT_STAGE_NEIGHBOURS] > 4 * 50000LL * 100000);
    assert_true(dense.stage[IKT_STAGE_LAYOUT] < 5 * 50000LL * 100000);
    remove_files(ctx, &f);
}

/* --- what is refused -------------------------------------------------------------------------- */

static void write_text(ikt_context *ctx, const files *f, const char *text) {
    path = "";
    if (ikt_rank(ctx) == 0) io_write(f->graph, text, strlen(text), false);
    ikt_barrier(ctx);
}

static void expect_refused(ikt_context *ctx, const ikt_settings *settings, ikt_status wanted,
                           const char *why) {
    ikt_run run;
    const ikt_status st = ikt_pipeline_run(ctx, settings, NULL, &run);
    if (st != wanted) fail_msg("%d instead of %d (%s): %s", st, wanted, why, ikt_message(ctx));
    io_expect(ctx, why);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void graphs_that_make_no_map_are_refused(void **state) {
    ikt_context *ctx = *state;
    const files f = make_files(ctx);
    static const struct {
        const char *text, *set, *why;
    } bad[] = {{"6 7 1\n1 2 1\n", "graph.values=similarities", "6 rows but 7 columns"},
               {"6 6 5\n1 2 1\n2 3 1\n3 1 2\n4 1 1\n5 1 3\n", "graph.values=similarities",
                "1 of 6 rows have no edge to or from another row, first row 5"},
               {"6 6 6\n1 1 1\n2 2 1\n3 3 2\n4 4 1\n5 5 3\n6 6 3\n", "graph.values=similarities",
                "no edges between different rows"},
               {"6 6 6\n1 2 1\n2 3 1\n3 1 2\n4 1 1\n5 1 nan\n6 1 1\n", "graph.values=distances",
                "'nan' is not the finite number"},
               {"6 6 6\n1 2 1\n2 3 1\n3 1 2\n4 1 1\n5 1 -3\n6 1 1\n", "graph.values=distances",
                "row 4, column 0: -3 is negative"},
               {"6 6 6\n1 2 0\n2 3 0\n3 1 0\n4 1 0\n5 1 0\n6 1 0\n", "graph.values=distances",
                "equal to all rows that the graph joins it to"},
               {"6 6 6\n1 2 1\n2 3 1\n3 1 2\n4 1 1\n5 1 3\n6 1 1\n", "graph.values=probabilities",
                "is not symmetric"}};
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
        char text[256];
        snprintf(text, sizeof text, "%%%%MatrixMarket matrix coordinate real general\n%s",
                 bad[b].text);
        write_text(ctx, &f, text);
        const ikt_settings settings = make_settings(ctx, &f, true,
                                                    "trimap.neighbours=2 trimap.scale_from=1 "
                                                    "trimap.scale_to=1");
        ikt_settings own = settings;
        if (!strstr(bad[b].set, "distances"))
            set(ctx, &own, "trimap.scale_from=3 trimap.scale_to=5");
        set(ctx, &own, bad[b].set);
        expect_refused(ctx, &own, IKT_ERR_DATA, bad[b].why);
    }
    remove_files(ctx, &f);
}

static void settings_and_matrices_that_make_no_sense_are_refused(void **state) {
    ikt_context *ctx = *state;
    const files f = make_files(ctx);
    static const struct {
        const char *set, *why;
    } bad[] = {{"graph.values=distances affinity.support=dense", "affinity.support=dense"},
               {"graph.values=similarities trimap.scale_to=9", "would have no effect"},
               {"graph.values=distances graph.weights=knn", "would have no effect"},
               {"graph.values=distances gaussian.perplexity=9", "would have no effect"},
               {"graph.values=distances affinity.neighbours=40", "would have no effect"},
               {"graph.values=distances output.graph=kept.h5", "does not make"},
               {"graph.values=distances trimap.neighbours=149", "choose at most 148"}};
    write_sparse(ctx, &f, NEAR_DISTANCES);
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
        const ikt_settings settings = make_settings(ctx, &f, true, bad[b].set);
        expect_refused(ctx, &settings, IKT_ERR_USAGE, bad[b].why);
    }
    write_dense(ctx, &f, DISTANCES, 3, 7, 1 + gap[3][7]);
    ikt_settings settings = make_settings(ctx, &f, true, "graph.values=distances");
    expect_refused(ctx, &settings, IKT_ERR_DATA, "is not symmetric, as distances must be");
    write_dense(ctx, &f, DISTANCES, 3, 7, NAN);
    expect_refused(ctx, &settings, IKT_ERR_DATA, "row 3, column 7");
    set(ctx, &settings, "graph.values=similarities");
    write_dense(ctx, &f, SIMILARITIES, 3, 7, 0.5);
    expect_refused(ctx, &settings, IKT_ERR_DATA, "is not symmetric, as similarities must be");
    write_dense(ctx, &f, SIMILARITIES, 3, 7, -1);
    expect_refused(ctx, &settings, IKT_ERR_DATA, "row 3, column 7: -1");
    remove_files(ctx, &f);
}

/* Rows 2 and 9 of a matrix of similarities are like no other. */
static void rows_without_any_similarity_are_refused(void **state) {
    ikt_context *ctx = *state;
    const files f = make_files(ctx);
    static double entry[ROWS * ROWS];
    ikt_table_writer *table;
    path = ":X";
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) {
            const bool is_alone = i == 2 || i == 9 || j == 2 || j == 9;
            entry[i * ROWS + j] = is_alone && i != j ? 0 : exp(-gap[i][j] / 30);
        }
    succeed(ctx, ikt_table_create(ctx, f.graph, true, ROWS, ROWS, IKT_TYPE_F64, false, &table));
    succeed(ctx, ikt_table_write(table, 0, ikt_rank(ctx) == 0 ? ROWS : 0, entry, NULL));
    succeed(ctx, ikt_table_close(&table, IKT_OK));
    const ikt_settings settings = make_settings(ctx, &f, true, "graph.values=similarities");
    expect_refused(ctx, &settings, IKT_ERR_DATA,
                   "2 of 150 rows have no similarity to another row, first row 2");
    remove_files(ctx, &f);
}

IKT_MPI_TESTS(ikt_test(complete_distances_give_the_map_of_the_rows),
              ikt_test(sparse_and_dense_similarities_agree),
              ikt_test(a_kernel_as_input_gives_the_map_of_the_rows),
              ikt_test(sparse_graphs_give_the_same_bits_everywhere),
              ikt_test(it_is_stopped_and_goes_on), ikt_test(graphs_are_planned),
              ikt_test(graphs_that_make_no_map_are_refused),
              ikt_test(settings_and_matrices_that_make_no_sense_are_refused),
              ikt_test(rows_without_any_similarity_are_refused))
