/* Data at the edges of what can be embedded, through the pipeline: every kind of data with every
 * way of embedding it, in one process a rank. Each ends in a clear error or in finite positions,
 * leaves no memory behind, and prints one line: DATA / SETTINGS: hash of the embedding, or exit
 * code and message which edges.sh compares between numbers of ranks. Exit code 1 where a case does
 * not hold. */
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "io/hdf5/h5.h"
#include "pipeline/pipeline.h"

enum { COLUMNS_MOST = 8, ROWS_MOST = 64, SETTINGS_MOST = 16 };

typedef enum { PLAIN, CONSTANT_COLUMN, EQUAL, PAIRS, HALVES, ONE_APART, SPREAD } pattern;

typedef enum {
    LABELS_NONE,
    LABELS_GOOD,
    LABELS_EMPTY,
    LABELS_SHORT,
    LABELS_LONG,
    LABELS_TEXT,
    LABELS_TABLE,
    LABELS_FRACTIONS,
    LABELS_NAN,
    LABELS_NEGATIVE
} label_kind;

typedef struct {
    const char *name;
    int n, d;
    char type; /* 'u' uint8, 'f' float32, 'd' float64 */
    pattern rows;
    double scale;    /* of the values */
    int row, column; /* of one value that is replaced, */
    double value;    /* by this; row -1: none */
    label_kind labels;
    const char *refused; /* words of the error that is wanted; NULL: it can be embedded */
    const char *may[2];  /* words of errors that some ways of embedding it may end in */
} edge;

#define NONE -1, -1, 0
#define EMBEDDED                                                                                   \
    NULL, {                                                                                        \
        NULL                                                                                       \
    }
#define MAY_END_IN(...)                                                                            \
    NULL, {                                                                                        \
        __VA_ARGS__                                                                                \
    }

/* Settings that want more neighbours than there are rows, or more accuracy than a grid has. */
#define TOO_FEW  "neighbours of a row", "layout.repulsion=exact"
#define EXTREME  "beyond what can be computed with; rescale the column"
#define UNSCALED "do not fit single precision; set preprocess.normalise"

static const edge edges[] = {
    {"plain", 40, 3, 'f', PLAIN, 1, NONE, LABELS_GOOD, EMBEDDED},
    {"nan",
     40,
     3,
     'f',
     PLAIN,
     1,
     17,
     1,
     NAN,
     LABELS_NONE,
     "row 17, column 1 (counted from 0): value is NaN",
     {NULL}},
    {"nan first",
     40,
     3,
     'd',
     PLAIN,
     1,
     0,
     0,
     NAN,
     LABELS_NONE,
     "row 0, column 0 (counted from 0): value is NaN",
     {NULL}},
    {"inf last",
     40,
     3,
     'f',
     PLAIN,
     1,
     39,
     2,
     INFINITY,
     LABELS_NONE,
     "row 39, column 2 (counted from 0): value is infinite",
     {NULL}},
    {"-inf",
     40,
     3,
     'd',
     PLAIN,
     1,
     20,
     0,
     -INFINITY,
     LABELS_NONE,
     "row 20, column 0 (counted from 0): value is infinite",
     {NULL}},
    {"nan, one row", 1, 1, 'f', PLAIN, 1, 0, 0, NAN, LABELS_NONE, "", {NULL}},
    {"bytes", 40, 3, 'u', PLAIN, 1, NONE, LABELS_GOOD, EMBEDDED},
    {"double", 40, 3, 'd', PLAIN, 1, NONE, LABELS_NONE, EMBEDDED},
    {"one column", 40, 1, 'f', PLAIN, 1, NONE, LABELS_NONE, EMBEDDED},
    {"one byte", 40, 1, 'u', PLAIN, 1, NONE, LABELS_NONE, EMBEDDED},
    {"constant column", 40, 3, 'f', CONSTANT_COLUMN, 1, NONE, LABELS_NONE, EMBEDDED},
    {"equal rows", 40, 3, 'f', EQUAL, 1, NONE, LABELS_GOOD, EMBEDDED},
    {"equal bytes", 40, 3, 'u', EQUAL, 1, NONE, LABELS_NONE, EMBEDDED},
    {"zeros", 40, 3, 'd', EQUAL, 0, NONE, LABELS_NONE, EMBEDDED},
    {"rows in pairs", 40, 3, 'f', PAIRS, 1, NONE, LABELS_NONE, EMBEDDED},
    {"two rows often", 40, 3, 'f', HALVES, 1, NONE, LABELS_NONE, EMBEDDED},
    {"one row apart", 40, 3, 'f', ONE_APART, 1, NONE, LABELS_NONE, EMBEDDED},
    {"1 row", 1, 3, 'f', PLAIN, 1, NONE, LABELS_GOOD, "", {NULL}},
    {"2 rows", 2, 3, 'f', PLAIN, 1, NONE, LABELS_NONE, MAY_END_IN(TOO_FEW)},
    {"3 rows", 3, 1, 'd', PLAIN, 1, NONE, LABELS_GOOD, MAY_END_IN(TOO_FEW)},
    {"3 equal rows", 3, 2, 'f', EQUAL, 1, NONE, LABELS_NONE, MAY_END_IN(TOO_FEW)},
    {"5 rows", 5, 2, 'u', PLAIN, 1, NONE, LABELS_NONE, MAY_END_IN(TOO_FEW)},
    {"huge", 40, 3, 'f', PLAIN, 1e37, NONE, LABELS_NONE, MAY_END_IN(UNSCALED)},
    {"both ends", 40, 3, 'f', SPREAD, 3.4e38, NONE, LABELS_NONE, MAY_END_IN(UNSCALED)},
    {"huge double", 40, 3, 'd', SPREAD, 1.7e308, NONE, LABELS_NONE, MAY_END_IN(EXTREME)},
    {"denormal", 40, 3, 'f', PLAIN, 1e-40, NONE, LABELS_NONE, MAY_END_IN(UNSCALED)},
    {"denormal double", 40, 3, 'd', PLAIN, 1e-320, NONE, LABELS_NONE, MAY_END_IN(EXTREME)},
    {"one value of 1e38", 40, 3, 'f', PLAIN, 1, 11, 1, 1e38, LABELS_NONE, MAY_END_IN(UNSCALED)},
    {"labels empty",
     40,
     3,
     'f',
     PLAIN,
     1,
     NONE,
     LABELS_EMPTY,
     "'labels' has 0 entries, but there are 40 rows",
     {NULL}},
    {"labels short",
     40,
     3,
     'f',
     PLAIN,
     1,
     NONE,
     LABELS_SHORT,
     "'labels' has 39 entries, but there are 40 rows",
     {NULL}},
    {"labels long",
     40,
     3,
     'f',
     PLAIN,
     1,
     NONE,
     LABELS_LONG,
     "'labels' has 41 entries, but there are 40 rows",
     {NULL}},
    {"labels text", 40, 3, 'f', PLAIN, 1, NONE, LABELS_TEXT, EMBEDDED},
    {"labels table",
     40,
     3,
     'f',
     PLAIN,
     1,
     NONE,
     LABELS_TABLE,
     "'labels' is not a one-dimensional data set of numbers",
     {NULL}},
    {"labels fractions",
     40,
     3,
     'f',
     PLAIN,
     1,
     NONE,
     LABELS_FRACTIONS,
     "'labels', row 0: 0.5 is not an integer",
     {NULL}},
    {"labels nan",
     40,
     3,
     'f',
     PLAIN,
     1,
     NONE,
     LABELS_NAN,
     "'labels', row 0: nan is not an integer",
     {NULL}},
    {"labels negative", 40, 3, 'f', PLAIN, 1, NONE, LABELS_NEGATIVE, EMBEDDED}};

/* Ways of embedding; those that say so are refused whatever the data. */
typedef struct {
    const char *name;
    const char *setting[SETTINGS_MOST];
    const char *refused;
    bool few; /* tried with data set 0 only */
} way;

static const way ways[] = {
    {"isolation fft", {"layout.repulsion=fft"}, NULL, false},
    {"isolation exact, none", {"layout.repulsion=exact", "preprocess.normalise=none"}, NULL, false},
    {"isolation tree",
     {"layout.repulsion=barnes_hut", "layout.dimensions=3", "preprocess.normalise=zscore"},
     NULL,
     false},
    {"isolation dense", {"affinity.support=dense", "layout.repulsion=exact"}, NULL, false},
    {"isolation near",
     {"affinity.search=approximate", "affinity.candidates=10", "layout.repulsion=fft"},
     NULL,
     false},
    {"forest", {"isolation.form=forest", "preprocess.normalise=unit"}, NULL, false},
    {"gaussian fft",
     {"affinity.kind=gaussian", "gaussian.perplexity=2", "layout.repulsion=fft"},
     NULL,
     false},
    {"gaussian exact, none",
     {"affinity.kind=gaussian", "gaussian.perplexity=2", "layout.repulsion=exact",
      "preprocess.normalise=none"},
     NULL,
     false},
    {"gaussian dense",
     {"affinity.kind=gaussian", "gaussian.perplexity=2", "affinity.support=dense",
      "layout.init=random"},
     NULL,
     false},
    {"gaussian tree, pca",
     {"affinity.kind=gaussian", "gaussian.perplexity=2", "layout.repulsion=barnes_hut",
      "layout.dimensions=1", "preprocess.pca=1"},
     NULL,
     false},
    {"knn", {"affinity.kind=knn"}, NULL, false},
    {"adaptive dense", {"affinity.kind=adaptive", "affinity.support=dense"}, NULL, false},
    {"psi 1", {"isolation.psi=1"}, NULL, true},
    {"psi n", {"isolation.psi=40"}, NULL, true},
    {"psi too large", {"isolation.psi=41"}, "isolation.psi = 41 is larger than the 40 rows", true},
    {"all neighbours", {"affinity.neighbours=39"}, NULL, true},
    {"neighbours too many",
     {"affinity.neighbours=40"},
     "affinity.neighbours = 40, but a row has only 39 others",
     true},
    {"perplexity too large",
     {"affinity.kind=gaussian", "gaussian.perplexity=39.5"},
     "perplexity",
     true},
    {"perplexity too large, dense",
     {"affinity.kind=gaussian", "affinity.support=dense", "gaussian.perplexity=39.5"},
     "perplexity",
     true},
    {"perplexity above a third",
     {"affinity.kind=gaussian", "gaussian.perplexity=13.5"},
     NULL,
     true},
    {"components too many", {"preprocess.pca=4"}, "preprocess.pca = 4", true},
    {"no iterations",
     {"layout.iterations=0"},
     "layout.exaggeration_iterations = 4 is larger",
     true},
    {"rows 1", {"input.rows=1"}, "", true},
    {"rows too many", {"input.rows=41"}, "input.rows = 41", true},
    {"landmarks", {"layout.init=landmark", "layout.landmarks=2"}, NULL, true}};

enum { EDGES = sizeof edges / sizeof *edges, WAYS = sizeof ways / sizeof *ways };

/* A number in [0, 1) that looks like chance. */
static double scatter(int i, int c) {
    const double x = sin(12.9898 * (i + 1) + 78.233 * (c + 1)) * 43758.5453;
    return x - floor(x);
}

static double value_at(const edge *e, int i, int c) {
    if (i == e->row && c == e->column) return e->value;
    double v = (e->type == 'u' ? 60 : 6) * (i % 3) + (e->type == 'u' ? 20 : 1) * scatter(i, c);
    switch (e->rows) {
    case PLAIN:
        break;
    case CONSTANT_COLUMN:
        if (c == 0) v = 5;
        break;
    case EQUAL:
        v = 7;
        break;
    case PAIRS:
        v = 6 * (i / 2 % 3) + scatter(i / 2, c);
        break;
    case HALVES:
        v = i % 2;
        break;
    case ONE_APART:
        v = i == 13 ? 100 : 1;
        break;
    case SPREAD:
        v = 2 * scatter(i, c) - 1;
        break;
    }
    return v * e->scale;
}

/* One data set of a type, written as other programs do. */
static void put(hid_t file, const char *name, hid_t stored, hid_t type, int rank,
                const hsize_t *size, const void *values) {
    hid_t space = H5Screate_simple(rank, size, NULL);
    hid_t data = H5Dcreate2(file, name, stored, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (data < 0 ||
        (size[0] > 0 && H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0))
        abort();
    H5Dclose(data);
    H5Sclose(space);
}

static void put_labels(hid_t file, const edge *e) {
    double label[2 * (ROWS_MOST + 1)];
    const int shift = e->labels == LABELS_SHORT ? -1 : e->labels == LABELS_LONG;
    hsize_t size[2] = {e->labels == LABELS_EMPTY ? 0 : (hsize_t)(e->n + shift), 2};
    for (int i = 0; i < 2 * (ROWS_MOST + 1); i++)
        label[i] = i % 3;
    if (e->labels == LABELS_FRACTIONS) label[0] = 0.5;
    if (e->labels == LABELS_NAN) label[0] = NAN;
    for (int i = 0; i < e->n && e->labels == LABELS_NEGATIVE; i++)
        label[i] -= 2;
    if (e->labels == LABELS_TEXT) {
        hid_t text = H5Tcopy(H5T_C_S1);
        H5Tset_size(text, 8);
        put(file, "labels", text, text, 1, size, label);
        H5Tclose(text);
        return;
    }
    const bool real = e->labels == LABELS_FRACTIONS || e->labels == LABELS_NAN;
    put(file, "labels", real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT, H5T_NATIVE_DOUBLE,
        e->labels == LABELS_TABLE ? 2 : 1, size, label);
}

static void write_edge(const edge *e, const char *path) {
    double rows[ROWS_MOST * COLUMNS_MOST];
    const hsize_t size[2] = {(hsize_t)e->n, (hsize_t)e->d};
    const hid_t type = e->type == 'u'   ? H5T_NATIVE_UINT8
                       : e->type == 'f' ? H5T_NATIVE_FLOAT
                                        : H5T_NATIVE_DOUBLE;
    for (int i = 0; i < e->n; i++)
        for (int c = 0; c < e->d; c++)
            rows[i * e->d + c] = value_at(e, i, c);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put(file, "X", type, H5T_NATIVE_DOUBLE, 2, size, rows);
    if (e->labels != LABELS_NONE) put_labels(file, e);
    H5Fclose(file);
}

/* COLLECTIVE. What the settings say, with the automatic psi of so few rows replaced. */
static ikt_status set(ikt_context *ctx, const edge *e, const way *w, const char *path,
                      ikt_settings *settings) {
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char line[256];
    memset(settings, 0, sizeof *settings);
    ikt_settings_parts(settings, parts);
    IKT_TRY(ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS));
    const char *const common[] = {"output.file=edges-out.h5", "output.overwrite=yes",
                                  "layout.iterations=10", "layout.exaggeration_iterations=4"};
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        IKT_TRY(ikt_config_override(ctx, parts, IKT_SETTINGS_PARTS, common[i]));
    snprintf(line, sizeof line, "input.file=%s", path);
    IKT_TRY(ikt_config_override(ctx, parts, IKT_SETTINGS_PARTS, line));
    for (int i = 0; i < SETTINGS_MOST && w->setting[i]; i++)
        IKT_TRY(ikt_config_override(ctx, parts, IKT_SETTINGS_PARTS, w->setting[i]));
    if (settings->affinity.kind != IKT_AFFINITY_ISOLATION) return IKT_OK;
    if (settings->isolation.psi == IKT_AUTO_INT) {
        snprintf(line, sizeof line, "isolation.psi=%d", e->n < 8 ? e->n : 8);
        IKT_TRY(ikt_config_override(ctx, parts, IKT_SETTINGS_PARTS, line));
    }
    return ikt_config_override(ctx, parts, IKT_SETTINGS_PARTS, "isolation.partitionings=20");
}

static bool is_finite(ikt_context *ctx, const ikt_run *run) {
    int64_t bad = 0;
    for (int64_t i = 0; i < run->rows.count * run->settings.layout.dimensions; i++)
        bad += !isfinite(run->embedding.y[i]);
    return ikt_sum_one(ctx, bad) == 0;
}

static const char *wanted_error(const edge *e, const way *w) {
    return e->refused ? e->refused : w->refused;
}

static bool is_allowed(const edge *e, const char *message) {
    bool allowed = false;
    for (int i = 0; i < 2; i++)
        allowed |= e->may[i] && strstr(message, e->may[i]);
    return allowed;
}

/* Returns whether the case holds, and says what came out. */
static bool try_case(ikt_context *ctx, const edge *e, const way *w, const char *path) {
    ikt_settings settings;
    ikt_run run = {.hash = 0};
    const bool speaks = ikt_rank(ctx) == 0;
    ikt_status st = set(ctx, e, w, path, &settings);
    if (st == IKT_OK) st = ikt_pipeline_run(ctx, &settings, NULL, &run);
    const char *words = wanted_error(e, w), *fault = "";
    if (st == IKT_OK && words) fault = " FAILED: this should be refused";
    if (st == IKT_OK && !is_finite(ctx, &run)) fault = " FAILED: positions are not finite";
    if (st != IKT_OK && !words && !is_allowed(e, ikt_message(ctx)))
        fault = " FAILED: this can be embedded";
    if (st != IKT_OK && words && !strstr(ikt_message(ctx), words))
        fault = " FAILED: another message";
    if (st != IKT_OK && st != IKT_ERR_USAGE && st != IKT_ERR_DATA) fault = " FAILED: exit code";
    if (speaks && st == IKT_OK)
        printf("%s / %s: %016llx%s\n", e->name, w->name, (unsigned long long)run.hash, fault);
    if (speaks && st != IKT_OK)
        printf("%s / %s: exit %d: %s%s\n", e->name, w->name, (int)st, ikt_message(ctx), fault);
    if (st == IKT_OK) ikt_run_destroy(&run);
    ikt_clear(ctx);
    if (ikt_sum_one(ctx, ikt_memory_now(ctx)) != 0) {
        if (speaks) printf("%s / %s: FAILED: memory is left\n", e->name, w->name);
        return false;
    }
    if (speaks) fflush(stdout);
    return fault[0] == '\0';
}

int main(int argc, char **argv) {
    const char *path = "edges-data.h5";
    ikt_context *ctx = NULL;
    const int step = argc > 1 ? atoi(argv[1]) : 1;
    int tried = 0, held = 0;
    const int offset = argc > 2 ? atoi(argv[2]) : 0;
    if (step < 1) return 2;
    ikt_h5_begin();
    MPI_Init(&argc, &argv);
    if (ikt_context_create(MPI_COMM_WORLD, 1, &ctx) != IKT_OK) return 1;
    ikt_context_set_log(ctx, IKT_LOG_ERROR);
    for (int i = 0; i < EDGES; i++) {
        if (ikt_rank(ctx) == 0) write_edge(&edges[i], path);
        ikt_barrier(ctx);
        for (int w = 0; w < WAYS; w++) {
            if (ways[w].few && i > 0) continue;
            if (w % step != offset) continue;
            /* What is refused whatever the way: a part of them does, beside one rank. */
            if (edges[i].refused && ikt_size(ctx) > 1 && w % 3 != offset % 3) continue;
            tried++;
            held += try_case(ctx, &edges[i], &ways[w], path);
        }
    }
    if (ikt_rank(ctx) == 0) printf("cases tried %d, held %d\n", tried, held);
    ikt_context_destroy(&ctx);
    MPI_Finalize();
    return tried == held ? 0 : 1;
}
