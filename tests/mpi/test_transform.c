/* From embed through a model file to placed rows: the same bits on any ranks and in any batch, the
 * preprocessing of the model, accuracy, rows without similarity, models of other data. */
#include "io/io_files.h"

#include <math.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/row_hash.h"
#include "data/generate.h"
#include "evaluate/measure.h"
#include "io/convert/table_writer.h"
#include "pipeline/outcome.h"
#include "transform/transform.h"

enum { OLD = 420, NEW = 90, SPLIT = 37, BYTES = 12 };

static void succeed(ikt_context *ctx, ikt_status st) {
    if (st != IKT_OK) fail_msg("%s", ikt_message(ctx));
}

/* --- data ------------------------------------------------------------------------------------- */

static ikt_generation *open_digits(ikt_context *ctx) {
    ikt_generate_settings settings;
    ikt_generation *set;
    succeed(ctx, ikt_generate_defaults(ctx, &settings));
    settings.points = OLD + NEW;
    succeed(ctx, ikt_generation_open(ctx, "glyphs", &settings, 5, &set));
    return set;
}

/* Rows first .. first + count - 1 of a set of digits, a pure function of the row, in that order or
 * the last one first. */
static void write_some(ikt_context *ctx, const char *name, int64_t first, int64_t count,
                       bool backwards) {
    ikt_generation *set = open_digits(ctx);
    ikt_table_writer *table;
    char *rows = malloc((size_t)(count * set->columns));
    int32_t *labels = malloc((size_t)count * sizeof *labels);
    assert_true(rows && labels);
    ikt_generation_fill(set, first, count, rows, labels);
    for (int64_t i = 0; backwards && i < count; i++)
        ikt_generation_fill(set, first + count - 1 - i, 1, rows + i * set->columns, labels + i);
    const int64_t mine = ikt_rank(ctx) == 0 ? count : 0;
    succeed(ctx, ikt_table_create(ctx, name, true, count, set->columns, IKT_TYPE_U8, true, &table));
    succeed(ctx, ikt_table_write(table, 0, mine, rows, labels));
    succeed(ctx, ikt_table_close(&table, IKT_OK));
    ikt_generation_close(&set);
    free(rows);
    free(labels);
}

static void write_digits(ikt_context *ctx, const char *name, int64_t first, int64_t count) {
    write_some(ctx, name, first, count, false);
}

/* `count` rows round a corner of a cube, in few columns: squared distances are exact in float. */
static void write_bytes(ikt_context *ctx, const char *name, ikt_type type, int64_t first,
                        int64_t count, int corner) {
    uint8_t rows[OLD * BYTES];
    float floats[OLD * BYTES];
    ikt_table_writer *table;
    for (int64_t e = 0; e < count * BYTES; e++) {
        int64_t step = ikt_rng_below(2, IKT_RNG_TEST, first + e / BYTES, (uint64_t)(e % BYTES), 60);
        rows[e] = (uint8_t)(step + (corner >> e % BYTES & 1) * 180);
        floats[e] = rows[e];
    }
    const int64_t mine = ikt_rank(ctx) == 0 ? count : 0;
    const void *data = type == IKT_TYPE_U8 ? (const void *)rows : floats;
    succeed(ctx, ikt_table_create(ctx, name, true, count, BYTES, type, false, &table));
    succeed(ctx, ikt_table_write(table, 0, mine, data, NULL));
    succeed(ctx, ikt_table_close(&table, IKT_OK));
}

/* --- runs ------------------------------------------------------------------------------------- */

static void set(ikt_context *ctx, ikt_settings *settings, const char *key, const char *value) {
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char text[256];
    ikt_settings_parts(settings, parts);
    snprintf(text, sizeof text, "%s=%s", key, value);
    succeed(ctx, ikt_config_override(ctx, parts, IKT_SETTINGS_PARTS, text));
}

/* Of any objective, and of t-SNE. */
static ikt_settings settings_of_all(ikt_context *ctx, const char *input, const char *output) {
    ikt_settings settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    memset(&settings, 0, sizeof settings);
    ikt_settings_parts(&settings, parts);
    succeed(ctx, ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS));
    set(ctx, &settings, "input.file", input);
    set(ctx, &settings, "output.file", output);
    set(ctx, &settings, "output.overwrite", "yes");
    set(ctx, &settings, "layout.iterations", "250");
    return settings;
}

static ikt_settings settings_for(ikt_context *ctx, const char *input, const char *output) {
    ikt_settings settings = settings_of_all(ctx, input, output);
    set(ctx, &settings, "layout.exaggeration_iterations", "100");
    return settings;
}

/* Embeds; the file of the model is complete afterwards. Returns the hash. */
static uint64_t embed(ikt_context *ctx, const ikt_settings *settings, double *accuracy) {
    ikt_run run;
    ikt_measures measures = {0};
    succeed(ctx, ikt_pipeline_run(ctx, settings, NULL, &run));
    succeed(ctx, ikt_run_model_end(ctx, &run));
    const uint64_t hash = run.hash;
    if (accuracy) {
        const ikt_measured what = {.rows = run.rows,
                                   .y = run.embedding.y,
                                   .q = run.settings.layout.dimensions,
                                   .labels = run.labels,
                                   .has_labels = true};
        ikt_measure_settings wanted = ikt_measure_defaults();
        wanted.only = "labels";
        succeed(ctx, ikt_measures_compute(ctx, &wanted, &what, &measures));
        assert_string_equal(measures.list[0].name, "10-NN accuracy");
        *accuracy = measures.list[0].value;
        ikt_measures_destroy(&measures);
    }
    ikt_run_destroy(&run);
    assert_int_equal(ikt_memory_now(ctx), 0);
    return hash;
}

static ikt_transformed transform(ikt_context *ctx, const char *model, const char *input) {
    const ikt_transform_request request = {.model = model,
                                           .input = input,
                                           .dataset = "X",
                                           .labels = "labels",
                                           .neighbours = IKT_AUTO_INT,
                                           .trials = 200};
    ikt_transformed done;
    succeed(ctx, ikt_transform_run(ctx, &request, &done));
    return done;
}

static uint64_t hash_all(ikt_context *ctx, const ikt_transformed *done) {
    const ikt_rows *rows = &done->rows;
    return done->hash +
           3 * ikt_row_hash(ctx, done->divergence, rows->first, rows->count, sizeof(double)) +
           5 * ikt_row_hash(ctx, done->similarity, rows->first, rows->count, sizeof(float)) +
           7 * ikt_row_hash(ctx, done->nearest, rows->first, rows->count, sizeof(int64_t));
}

/* Names of one test's files. */
typedef struct {
    char old[IO_NAME_MAX], new[IO_NAME_MAX], part[IO_NAME_MAX], run[IO_NAME_MAX],
        model[IO_NAME_MAX];
} names;

static names make_names(ikt_context *ctx) {
    names n;
    io_name(ctx, "old.h5", n.old);
    io_name(ctx, "new.h5", n.new);
    io_name(ctx, "part.h5", n.part);
    io_name(ctx, "run.h5", n.run);
    io_name(ctx, "model.h5", n.model);
    return n;
}

static void remove_all(ikt_context *ctx, const names *n) {
    io_remove(ctx, n->old);
    io_remove(ctx, n->new);
    io_remove(ctx, n->part);
    io_remove(ctx, n->run);
    io_remove(ctx, n->model);
}

/* --- tests ------------------------------------------------------------------------------------ */

/* Ranks, and one rank alone; all rows at once, and in two files. */
static void places_are_a_function_of_model_and_row(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    names n = make_names(ctx);
    double before, after;
    char hash[32];
    write_digits(ctx, n.old, 0, OLD);
    write_digits(ctx, n.new, OLD, NEW);
    ikt_settings settings = settings_for(ctx, n.old, n.run);
    set(ctx, &settings, "preprocess.normalise", "none");
    set(ctx, &settings, "output.model", n.model);
    embed(ctx, &settings, &before);
    ikt_transformed done = transform(ctx, n.model, n.new);
    const uint64_t all = hash_all(ctx, &done);
    succeed(ctx, ikt_transform_accuracy(ctx, &done));
    after = done.accuracy;
    print_message("accuracy: old rows %.3f, new rows among them %.3f\n", before, after);
    assert_true(before > 0.7 && after > before - 0.05);
    assert_int_equal(done.zero_similarity, 0);
    assert_true(done.unsettled <= NEW / 50); /* near a saddle steps may stay small for long */
    snprintf(hash, sizeof hash, "%s", done.loaded.hash);
    assert_int_equal(strlen(hash), 16);
    const uint64_t places = done.hash;
    ikt_transformed_destroy(&done);

    if (ikt_rank(ctx) == 0) { /* the others go on to the barrier of io_remove */
        done = transform(alone, n.model, n.new);
        assert_true(hash_all(alone, &done) == all);
        ikt_transformed_destroy(&done);
    }
    uint64_t joined = 0;
    for (int half = 0; half < 2; half++) {
        const int64_t first = half ? SPLIT : 0, count = half ? NEW - SPLIT : SPLIT;
        write_digits(ctx, n.part, OLD + first, count);
        done = transform(ctx, n.model, n.part);
        joined += ikt_row_hash(ctx, done.y, first + done.rows.first, done.rows.count, 8);
        ikt_transformed_destroy(&done);
    }
    assert_true(joined == places);
    remove_all(ctx, &n);

    if (ikt_rank(ctx) == 0) { /* and the model itself, made by one rank */
        write_digits(alone, n.old, 0, OLD);
        write_digits(alone, n.new, OLD, NEW);
        embed(alone, &settings, NULL);
        done = transform(alone, n.model, n.new);
        assert_string_equal(done.loaded.hash, hash);
        assert_true(hash_all(alone, &done) == all);
        ikt_transformed_destroy(&done);
    }
    remove_all(ctx, &n);
    ikt_context_destroy(&alone);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Old rows once more: whatever the preprocessing, they have all cells in common with themselves,
 * and land next to where they are. */
static void twins_land_next_to_old_rows(void **state) {
    static const char *const ways[][3] = {{"none", "0", "exact"},    {"minmax", "0", "exact"},
                                          {"zscore", "12", "exact"}, {"unit", "9", "exact"},
                                          {"unit", "0", "exact"},    {"none", "0", "approximate"}};
    ikt_context *ctx = *state;
    names n = make_names(ctx);
    write_digits(ctx, n.old, 0, OLD);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        ikt_settings settings = settings_for(ctx, n.old, n.run);
        set(ctx, &settings, "preprocess.normalise", ways[w][0]);
        set(ctx, &settings, "preprocess.pca", ways[w][1]);
        set(ctx, &settings, "affinity.search", w % 2 ? "exact" : "approximate");
        set(ctx, &settings, "isolation.search", ways[w][2]);
        set(ctx, &settings, "isolation.candidates", "70");
        set(ctx, &settings, "output.model", n.model);
        embed(ctx, &settings, NULL);
        ikt_transformed done = transform(ctx, n.model, n.old);
        assert_int_equal(done.cells.sample > 0, strcmp(ways[w][2], "approximate") == 0);
        assert_int_equal(done.cells.differing > 0, done.cells.sample > 0);
        double away[OLD] = {0}, low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < done.rows.count; i++) {
            const int64_t row = done.rows.first + i;
            assert_true(done.similarity[i] == 1 && done.nearest[i] <= row);
            const float *old = done.loaded.y + 2 * row;
            away[row] = -hypot((double)done.y[2 * i] - (double)old[0],
                               (double)done.y[2 * i + 1] - (double)old[1]);
        }
        for (int64_t e = 0; e < OLD; e++) {
            low = fmin(low, (double)done.loaded.y[2 * e]);
            high = fmax(high, (double)done.loaded.y[2 * e]);
        }
        ikt_min_f64(ctx, away, OLD);
        qsort(away, OLD, sizeof *away, by_size);
        print_message("%s, pca %s: median distance %.3f, a tenth beyond %.3f, width %.1f\n",
                      ways[w][0], ways[w][1], -away[OLD / 2], -away[OLD / 10], high - low);
        assert_true(-away[OLD / 2] < 0.02 * (high - low));
        assert_true(-away[OLD / 10] < 0.05 * (high - low));
        ikt_transformed_destroy(&done);
    }
    remove_all(ctx, &n);
}

/* The model of the data set itself, named as another; and the same centres as floats. */
static void the_model_of_another_file(void **state) {
    static const char *const ways[] = {"none", "minmax", "zscore", "unit"};
    ikt_context *ctx = *state;
    names n = make_names(ctx);
    write_bytes(ctx, n.old, IKT_TYPE_U8, 0, 200, 0);
    write_bytes(ctx, n.new, IKT_TYPE_F32, 0, 200, 0);
    for (int w = 0; w < 4; w++)
        for (int pca = 0; pca <= 5; pca += 5) {
            ikt_settings settings = settings_for(ctx, n.old, n.run);
            set(ctx, &settings, "layout.iterations", "60");
            set(ctx, &settings, "layout.exaggeration_iterations", "20");
            set(ctx, &settings, "preprocess.normalise", ways[w]);
            set(ctx, &settings, "preprocess.pca", pca ? "5" : "0");
            const uint64_t own = embed(ctx, &settings, NULL);
            set(ctx, &settings, "isolation.model_from", n.old);
            assert_true(embed(ctx, &settings, NULL) == own);
            set(ctx, &settings, "isolation.model_from", n.new);
            assert_true(embed(ctx, &settings, NULL) == own);
        }
    remove_all(ctx, &n);
}

/* More centres than rows embedded; and the first rows embedded, by a model of all. */
static void a_larger_model_than_the_rows(void **state) {
    ikt_context *ctx = *state;
    names n = make_names(ctx);
    write_digits(ctx, n.old, 0, OLD);
    write_digits(ctx, n.new, OLD, NEW);
    ikt_settings settings = settings_for(ctx, n.new, n.run);
    set(ctx, &settings, "isolation.model_from", n.old);
    set(ctx, &settings, "isolation.psi", "300");
    set(ctx, &settings, "output.model", n.model);
    embed(ctx, &settings, NULL);
    ikt_transformed done = transform(ctx, n.model, n.new);
    assert_int_equal(done.loaded.shape.psi, 300);
    assert_int_equal(done.loaded.shape.n, NEW);
    for (int64_t i = 0; i < done.rows.count; i++)
        assert_true(done.similarity[i] == 1);
    ikt_transformed_destroy(&done);
    set(ctx, &settings, "input.file", n.old);
    set(ctx, &settings, "input.rows", "100");
    embed(ctx, &settings, NULL);
    remove_all(ctx, &n);
}

/* A model of two far corners, of which one is embedded: rows of the other share no cell with any
 * old row. They are told apart, and still get a place among old rows. */
static void rows_without_similarity_are_told_and_placed(void **state) {
    ikt_context *ctx = *state;
    names n = make_names(ctx);
    uint8_t rows[120 * BYTES];
    ikt_table_writer *table;
    for (int64_t e = 0; e < 120 * BYTES; e++)
        rows[e] = (uint8_t)(ikt_rng_below(3, IKT_RNG_TEST, e / BYTES, (uint64_t)(e % BYTES), 60) +
                            (e / BYTES < 60 ? 0 : 180));
    succeed(ctx, ikt_table_create(ctx, n.part, true, 120, BYTES, IKT_TYPE_U8, false, &table));
    succeed(ctx, ikt_table_write(table, 0, ikt_rank(ctx) == 0 ? 120 : 0, rows, NULL));
    succeed(ctx, ikt_table_close(&table, IKT_OK));
    write_bytes(ctx, n.old, IKT_TYPE_U8, 500, 60, 0);
    write_bytes(ctx, n.new, IKT_TYPE_U8, 800, 40, (1 << BYTES) - 1);
    ikt_settings settings = settings_for(ctx, n.old, n.run);
    set(ctx, &settings, "preprocess.normalise", "none");
    set(ctx, &settings, "isolation.model_from", n.part);
    set(ctx, &settings, "isolation.psi", "40");
    set(ctx, &settings, "affinity.neighbours", "8");
    set(ctx, &settings, "output.model", n.model);
    embed(ctx, &settings, NULL);
    ikt_transformed done = transform(ctx, n.model, n.new);
    assert_int_equal(done.zero_similarity, 40);
    for (int64_t i = 0; i < done.rows.count; i++) {
        assert_true(done.similarity[i] == 0);
        assert_true(done.nearest[i] >= 0 && done.nearest[i] < 60);
        assert_true(isfinite(done.y[2 * i]) && isfinite(done.divergence[i]));
    }
    /* Each by the cells of its own nearest centre: without these all would be equally far from
     * every old row, and nearest to the first one. */
    int64_t first = 0;
    for (int64_t i = 0; i < done.rows.count; i++)
        first += done.nearest[i] == 0;
    assert_true(ikt_sum_one(ctx, first) < 20);
    const uint64_t all = hash_all(ctx, &done);
    ikt_transformed_destroy(&done);
    if (ikt_rank(ctx) == 0) {
        ikt_context *alone = ikt_test_alone();
        ikt_context_set_log(alone, IKT_LOG_ERROR);
        done = transform(alone, n.model, n.new);
        assert_true(hash_all(alone, &done) == all);
        ikt_transformed_destroy(&done);
        ikt_context_destroy(&alone);
    }
    remove_all(ctx, &n);
}

/* Writes rows of bytes of which each has one number in all columns but for the last one, in which
 * it is the second number. */
static void write_levels(ikt_context *ctx, const char *name, const uint8_t (*level)[2],
                         int64_t count) {
    uint8_t rows[40 * BYTES];
    ikt_table_writer *table;
    for (int64_t e = 0; e < count * BYTES; e++)
        rows[e] = level[e / BYTES][e % BYTES == BYTES - 1];
    succeed(ctx, ikt_table_create(ctx, name, true, count, BYTES, IKT_TYPE_U8, false, &table));
    succeed(ctx, ikt_table_write(table, 0, ikt_rank(ctx) == 0 ? count : 0, rows, NULL));
    succeed(ctx, ikt_table_close(&table, IKT_OK));
}

/* Three centres, all of them in each partitioning: new rows fall into the cell of the last one,
 * where no old row is, and are as far from the first as from the second. They get the cells of the
 * first, whose number is 0, and so the first old row in these, which is row 1. */
static void rows_without_similarity_go_to_the_lower_of_two_centres(void **state) {
    static const uint8_t centre[3][2] = {{100, 80}, {100, 120}, {150, 100}};
    ikt_context *ctx = *state;
    names n = make_names(ctx);
    uint8_t old[40][2], new[7][2];
    for (int i = 0; i < 40; i++)
        memcpy(old[i], centre[i % 2 == 0], sizeof *old);
    for (int i = 0; i < 7; i++)
        memcpy(new[i], (uint8_t[2]){(uint8_t)(140 + i), 100}, sizeof *new);
    write_levels(ctx, n.part, centre, 3);
    write_levels(ctx, n.old, (const uint8_t(*)[2])old, 40);
    write_levels(ctx, n.new, (const uint8_t(*)[2]) new, 7);
    ikt_settings settings = settings_for(ctx, n.old, n.run);
    set(ctx, &settings, "layout.iterations", "20");
    set(ctx, &settings, "layout.exaggeration_iterations", "10");
    set(ctx, &settings, "preprocess.normalise", "none");
    set(ctx, &settings, "isolation.model_from", n.part);
    set(ctx, &settings, "isolation.psi", "3");
    set(ctx, &settings, "affinity.neighbours", "8");
    set(ctx, &settings, "output.model", n.model);
    embed(ctx, &settings, NULL);
    ikt_transformed done = transform(ctx, n.model, n.new);
    assert_int_equal(done.zero_similarity, 7);
    for (int64_t i = 0; i < done.rows.count; i++)
        assert_int_equal(done.nearest[i], 1);
    ikt_transformed_destroy(&done);
    remove_all(ctx, &n);
}

/* New rows of another type than the old: bytes in a file of floats have the same places. */
static void types_may_differ(void **state) {
    ikt_context *ctx = *state;
    names n = make_names(ctx);
    write_bytes(ctx, n.old, IKT_TYPE_U8, 0, 200, 0);
    write_bytes(ctx, n.new, IKT_TYPE_U8, 700, 50, 0);
    write_bytes(ctx, n.part, IKT_TYPE_F32, 700, 50, 0);
    for (int way = 0; way < 2; way++) {
        ikt_settings settings = settings_for(ctx, n.old, n.run);
        set(ctx, &settings, "preprocess.normalise", way ? "minmax" : "none");
        set(ctx, &settings, "output.model", n.model);
        embed(ctx, &settings, NULL);
        ikt_transformed bytes = transform(ctx, n.model, n.new);
        ikt_transformed floats = transform(ctx, n.model, n.part);
        assert_int_equal(bytes.loaded.shape.is_u8, way == 0);
        assert_true(hash_all(ctx, &bytes) == hash_all(ctx, &floats));
        ikt_transformed_destroy(&bytes);
        ikt_transformed_destroy(&floats);
    }
    remove_all(ctx, &n);
}

/* --- maps by triplets ------------------------------------------------------------------------- */

enum { MOST = 3 };

/* Places and costs of all rows on every rank, as bits; of rows that were written backwards in the
 * order of the others. */
static void collect(ikt_context *ctx, const ikt_transformed *done, bool backwards, int64_t offset,
                    int64_t *bits) {
    const int64_t q = done->loaded.shape.q;
    memset(bits, 0, NEW * (MOST + 1) * sizeof *bits);
    for (int64_t i = 0; i < done->rows.count; i++) {
        const int64_t row = done->rows.first + i, at = backwards ? done->rows.n - 1 - row : row;
        int64_t *to = bits + (offset + at) * (MOST + 1);
        for (int64_t c = 0; c < q; c++) {
            uint32_t number;
            memcpy(&number, &done->y[i * q + c], sizeof number);
            to[c] = number;
        }
        memcpy(&to[MOST], &done->divergence[i], sizeof *to);
    }
    ikt_sum_i64(ctx, bits, NEW * (MOST + 1));
}

/* Old rows once more have the similarity 1 with themselves and land near where they are. */
static void check_old_rows(ikt_context *ctx, const names *n) {
    ikt_transformed done = transform(ctx, n->model, n->old);
    const int64_t q = done.loaded.shape.q;
    double away[OLD] = {0}, low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < done.rows.count; i++) {
        const int64_t row = done.rows.first + i;
        double square = 0;
        assert_true(done.similarity[i] == 1 && done.nearest[i] <= row);
        for (int64_t c = 0; c < q; c++)
            square += pow((double)done.y[i * q + c] - (double)done.loaded.y[row * q + c], 2);
        away[row] = -sqrt(square);
    }
    for (int64_t e = 0; e < OLD; e++) {
        low = fmin(low, (double)done.loaded.y[q * e]);
        high = fmax(high, (double)done.loaded.y[q * e]);
    }
    ikt_min_f64(ctx, away, OLD);
    qsort(away, OLD, sizeof *away, by_size);
    print_message("old rows: median distance %.3f, a tenth beyond %.3f, width %.1f\n",
                  -away[OLD / 2], -away[OLD / 10], high - low);
    assert_true(-away[OLD / 2] < 0.03 * (high - low));
    assert_true(-away[OLD / 10] < 0.1 * (high - low));
    ikt_transformed_destroy(&done);
}

/* By definition: exp(-D) of the most similar old row, D = d^2 / (s_new s_old), where a scale s is
 * the mean distance to the third to fifth nearest old row. Of digits that are taken as they are. */
static void check_similarities(ikt_context *ctx, const ikt_transformed *done) {
    const ikt_loaded_model *m = &done->loaded;
    ikt_generation *set = open_digits(ctx);
    const int64_t d = set->columns;
    uint8_t *x = malloc((size_t)((OLD + NEW) * d));
    int32_t labels[OLD + NEW];
    assert_non_null(x);
    ikt_generation_fill(set, 0, OLD + NEW, x, labels);
    ikt_generation_close(&set);
    for (int64_t i = 0; i < done->rows.count; i++) {
        const uint8_t *new = x + (OLD + done->rows.first + i) * d;
        double square[OLD], sorted[OLD], least = INFINITY;
        int64_t nearest = -1;
        for (int64_t j = 0; j < OLD; j++) {
            square[j] = 0;
            for (int64_t k = 0; k < d; k++)
                square[j] += pow((double)new[k] - x[j * d + k], 2);
            sorted[j] = sqrt(square[j]);
        }
        qsort(sorted, OLD, sizeof *sorted, by_size);
        const double scale = (sorted[2] + sorted[3] + sorted[4]) / 3;
        for (int64_t j = 0; j < OLD; j++) {
            const double distance = square[j] / (scale * (double)m->scale[j]);
            if (distance < least) nearest = j;
            least = fmin(least, distance);
        }
        assert_int_equal(done->nearest[i], nearest);
        assert_true(fabs((double)done->similarity[i] - exp(-least)) < 1e-5);
    }
    free(x);
}

/* New rows backwards, and in two files, have the places that they have at once.
 *   all   bits of these places */
static void check_other_batches(ikt_context *ctx, const names *n, const int64_t *all) {
    static int64_t other[NEW * (MOST + 1)], part[NEW * (MOST + 1)];
    write_some(ctx, n->part, OLD, NEW, true);
    ikt_transformed done = transform(ctx, n->model, n->part);
    collect(ctx, &done, true, 0, other);
    assert_memory_equal(all, other, sizeof other);
    ikt_transformed_destroy(&done);
    memset(other, 0, sizeof other);
    for (int half = 0; half < 2; half++) {
        const int64_t first = half ? SPLIT : 0, count = half ? NEW - SPLIT : SPLIT;
        write_digits(ctx, n->part, OLD + first, count);
        done = transform(ctx, n->model, n->part);
        collect(ctx, &done, false, first, part);
        for (int64_t e = 0; e < NEW * (MOST + 1); e++)
            other[e] += part[e];
        ikt_transformed_destroy(&done);
    }
    assert_memory_equal(all, other, sizeof other);
}

/* On one rank new rows have the places that they have on all of them.
 *   all   bits of these places */
static void check_alone(ikt_context *alone, const names *n, const int64_t *all, const char *hash) {
    static int64_t other[NEW * (MOST + 1)];
    ikt_transformed done = transform(alone, n->model, n->new);
    assert_string_equal(done.loaded.hash, hash);
    collect(alone, &done, false, 0, other);
    assert_memory_equal(all, other, sizeof other);
    ikt_transformed_destroy(&done);
}

/* The same places for new rows in any company, and on one rank; old rows come back. */
static void check_triplets(ikt_context *ctx, const char *const way[6]) {
    ikt_context *alone = ikt_test_alone();
    names n = make_names(ctx);
    static int64_t all[NEW * (MOST + 1)];
    char hash[32];
    double before, after;
    write_digits(ctx, n.old, 0, OLD);
    write_digits(ctx, n.new, OLD, NEW);
    ikt_settings settings = settings_of_all(ctx, n.old, n.run);
    set(ctx, &settings, "layout.objective", "trimap");
    set(ctx, &settings, "affinity.kind", way[0]);
    set(ctx, &settings, "trimap.triplets", way[1]);
    set(ctx, &settings, "layout.dimensions", way[2]);
    set(ctx, &settings, "trimap.weights", way[3]);
    set(ctx, &settings, "preprocess.normalise", way[4]);
    set(ctx, &settings, "affinity.search", way[5]);
    set(ctx, &settings, "output.model", n.model);
    embed(ctx, &settings, &before);
    ikt_transformed done = transform(ctx, n.model, n.new);
    collect(ctx, &done, false, 0, all);
    if (done.loaded.scale && strcmp(way[4], "none") == 0) check_similarities(ctx, &done);
    succeed(ctx, ikt_transform_accuracy(ctx, &done));
    after = done.accuracy;
    print_message("%s, %s, %s: accuracy of old rows %.3f, new rows among them %.3f, %d moving\n",
                  way[0], way[1], way[2], before, after, (int)done.unsettled);
    assert_true(after > before - 0.15); /* three standard errors of 90 rows */
    assert_true(done.unsettled <= NEW / 50 && done.zero_similarity == 0);
    snprintf(hash, sizeof hash, "%s", done.loaded.hash);
    ikt_transformed_destroy(&done);
    if (ikt_rank(ctx) == 0) check_alone(alone, &n, all, hash);
    check_other_batches(ctx, &n, all);
    check_old_rows(ctx, &n);
    remove_all(ctx, &n);
    if (ikt_rank(ctx) == 0) { /* and the model itself, made by one rank */
        write_digits(alone, n.old, 0, OLD);
        write_digits(alone, n.new, OLD, NEW);
        embed(alone, &settings, NULL);
        check_alone(alone, &n, all, hash);
    }
    remove_all(ctx, &n);
    ikt_context_destroy(&alone);
}

static void triplets_place_rows_one_by_one(void **state) {
    static const char *const ways[][6] = {
        {"isolation", "fixed", "2", "log", "none", "exact"},
        {"isolation", "pool", "3", "ratio", "none", "approximate"},
        {"knn", "fixed", "2", "ratio", "minmax", "exact"},
        {"knn", "pool", "1", "unit", "unit", "approximate"},
        {"gaussian", "pool", "2", "log", "none", "approximate"}};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        check_triplets(*state, ways[w]);
}

/* A run that fails after its codes were kept leaves neither a model nor a part of one. */
static void a_failed_run_leaves_no_model(void **state) {
    ikt_context *ctx = *state;
    names n = make_names(ctx);
    ikt_run run;
    write_digits(ctx, n.old, 0, OLD);
    ikt_settings settings = settings_for(ctx, n.old, n.run);
    set(ctx, &settings, "output.model", n.model);
    set(ctx, &settings, "layout.init", "file");
    set(ctx, &settings, "layout.init_file", n.part); /* there is none: noticed when rows start */
    assert_int_equal(ikt_pipeline_run(ctx, &settings, NULL, &run), IKT_ERR_FILE);
    ikt_clear(ctx);
    ikt_barrier(ctx);
    assert_int_not_equal(access(n.model, F_OK), 0);
    assert_int_equal(ikt_memory_now(ctx), 0);
    remove_all(ctx, &n);
}

IKT_MPI_TESTS(ikt_test(places_are_a_function_of_model_and_row),
              ikt_test(twins_land_next_to_old_rows), ikt_test(the_model_of_another_file),
              ikt_test(a_larger_model_than_the_rows),
              ikt_test(rows_without_similarity_are_told_and_placed),
              ikt_test(rows_without_similarity_go_to_the_lower_of_two_centres),
              ikt_test(types_may_differ), ikt_test(triplets_place_rows_one_by_one),
              ikt_test(a_failed_run_leaves_no_model))
