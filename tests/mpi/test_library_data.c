/* The library on data of every kind in memory: sparse rows, graphs, all pairs, starting positions;
 * who watches, and stops; new rows; the table of settings. What is expected is what files with the
 * same numbers give, or the same data on one rank. */
#include "io/io_files.h"

#include <stdio.h>

#include "api/api.h"
#include "base/memory.h"
#include "io/convert/table_writer.h"
#include "io/sources/source.h"
#include "pipeline/pipeline.h"
#include "transform/transform.h"

/* Behind all others: its data have short names. */
#include "support/library_data.h"

/* --- the same on any ranks, and as from a file ------------------------------------------------ */

static void any_blocks(void **state) {
    ikt_context *ctx = *state;
    ikt_context *alone = NULL;
    const char *why;
    uint64_t expected[KINDS];
    make_data();
    assert_int_equal(ikt_context_create_single(ikt_threads(ctx), &alone, &why), IKT_OK);
    assert_null(why);
    assert_int_equal(ikt_size(alone), 1);
    ikt_context_set_log(alone, IKT_LOG_ERROR);
    for (int k = 0; k < KINDS; k++)
        expected[k] = hash_of(alone, (kind)k, 0);
    ikt_context_destroy(&alone);
    for (int k = 0; k < KINDS; k++)
        assert_int_equal(hash_of(ctx, (kind)k, 1 + k % 2), expected[k]);
    assert_int_equal(hash_of(ctx, SPARSE32, 0), expected[SPARSE32]);
    assert_int_equal(expected[SPARSE32], expected[SPARSE64]); /* values that float32 holds */
    assert_int_not_equal(expected[GRAPH], expected[PAIRS]);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* The sparse rows in canonical form, through the source that landmarks are read by. */
static void sparse_as_before(void **state) {
    ikt_context *ctx = *state;
    make_data();
    int64_t begin[N + 1] = {0};
    static int32_t column[N * D];
    static double value[N * D];
    for (int i = 0; i < N; i++) {
        begin[i + 1] = begin[i];
        for (int32_t c = 0; c < D; c++)
            if (dense[i * D + c] != 0) {
                column[begin[i + 1]] = c;
                value[begin[i + 1]++] = dense[i * D + c];
            }
    }
    const ikt_sparse_rows rows = {N, begin, column, value};
    ikt_parameters *parameters = parameters_for(ctx);
    ikt_settings settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    ikt_source *source;
    ikt_run run;
    const char *yaml;
    memset(&settings, 0, sizeof settings);
    ikt_settings_parts(&settings, parts);
    succeed(ctx, ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS));
    succeed(ctx, ikt_parameters_yaml(parameters, &yaml));
    succeed(ctx, ikt_config_parse_text(ctx, parts, IKT_SETTINGS_PARTS, "parameters", yaml));
    succeed(ctx, ikt_source_from_sparse(ctx, &rows, D, IKT_TYPE_F32, &source));
    succeed(ctx, ikt_pipeline_run(ctx, &settings, source, &run));
    assert_int_equal(hash_of(ctx, SPARSE32, 0), run.hash);
    ikt_run_destroy(&run);
    ikt_source_close(&source);
    ikt_parameters_destroy(&parameters);
}

/* --- who watches ------------------------------------------------------------------------------ */

typedef struct {
    int64_t reports, last, stop_at; /* stop_at: the iteration whose report asks for an end */
    bool stops_early, is_asked;
    int64_t coded;
    double value;
    const float *expected; /* positions of the first report, of the own rows; or NULL */
    int64_t count;
} witness;

static bool see_progress(void *self, const char *unit, int64_t done, int64_t total) {
    witness *w = self;
    assert_true(done <= total || total == 0);
    w->coded += strcmp(unit, "rows coded") == 0;
    return w->stops_early && strcmp(unit, "rows coded") == 0;
}

static bool see_report(void *self, int64_t iteration, double value, const float *positions) {
    witness *w = self;
    assert_int_equal(iteration, w->reports * 5);
    assert_true(isfinite(value));
    if (iteration == 0 && w->expected)
        assert_memory_equal(positions, w->expected, (size_t)w->count * Q * sizeof *positions);
    w->reports++;
    w->last = iteration;
    w->value = value;
    return w->is_asked && iteration == w->stop_at;
}

static ikt_embedding *watched(ikt_context *ctx, const char *iterations, const ikt_data *data,
                              witness *w) {
    const ikt_watcher watcher = {
        .self = w, .progress = see_progress, .report = see_report, .every = 5};
    ikt_parameters *parameters = parameters_for(ctx);
    ikt_embedding *map;
    succeed(ctx, ikt_parameters_set(parameters, "layout.iterations", iterations));
    succeed(ctx, ikt_embed(ctx, parameters, data, w ? &watcher : NULL, &map));
    ikt_parameters_destroy(&parameters);
    return map;
}

/* Being told changes no bit; an end that one rank asks for gives the map of so many iterations. */
static void told_and_stopped(void **state) {
    ikt_context *ctx = *state;
    make_data();
    for (int way = 1; way < WAYS; way++) {
        ikt_data *data = data_of(ctx, DENSE, way);
        witness w = {.stop_at = 15, .is_asked = false};
        ikt_embedding *whole = watched(ctx, "30", data, NULL);
        ikt_embedding *told = watched(ctx, "30", data, &w);
        assert_int_equal(ikt_embedding_hash(told), ikt_embedding_hash(whole));
        assert_false(ikt_embedding_is_stopped(told));
        assert_int_equal(w.reports, 7);
        assert_int_equal(w.last, ITERATIONS);
        assert_true(w.value == ikt_embedding_objective(told));
        assert_true(w.coded > 0);
        ikt_embedding_destroy(&whole);
        ikt_embedding_destroy(&told);

        w = (witness){.stop_at = 15, .is_asked = ikt_rank(ctx) == ikt_size(ctx) - 1};
        ikt_embedding *stopped = watched(ctx, "30", data, &w);
        ikt_embedding *sixteen = watched(ctx, "16", data, NULL);
        assert_true(ikt_embedding_is_stopped(stopped));
        assert_int_equal(ikt_embedding_iterations(stopped), 16);
        assert_int_equal(ikt_embedding_hash(stopped), ikt_embedding_hash(sixteen));
        assert_true(ikt_embedding_objective(stopped) == ikt_embedding_objective(sixteen));
        ikt_embedding_destroy(&stopped);
        ikt_embedding_destroy(&sixteen);
        ikt_data_destroy(&data);
    }
}

static void stopped_without_a_map(void **state) {
    ikt_context *ctx = *state;
    make_data();
    ikt_data *data = data_of(ctx, DENSE, 0);
    ikt_parameters *parameters = parameters_for(ctx);
    ikt_embedding *map;
    witness w = {.stops_early = ikt_rank(ctx) == 0};
    const ikt_watcher watcher = {
        .self = &w, .progress = see_progress, .report = see_report, .every = 5};
    refuse(ctx, ikt_embed(ctx, parameters, data, &watcher, &map), IKT_STOPPED,
           "there is no embedding yet");
    assert_null(map);
    assert_int_equal(w.reports, 0);
    ikt_parameters_destroy(&parameters);
    ikt_data_destroy(&data);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* --- where rows start ------------------------------------------------------------------------- */

static void given_start(void **state) {
    ikt_context *ctx = *state;
    uint64_t scaled[WAYS];
    make_data();
    for (int way = 0; way < WAYS; way++) {
        int64_t first, count;
        share_of(way, ikt_rank(ctx), ikt_size(ctx), &first, &count);
        ikt_data *data = data_of(ctx, DENSE, way);
        ikt_parameters *parameters = parameters_for(ctx);
        ikt_embedding *map;
        witness w = {.expected = start + first * Q, .count = count};
        const ikt_watcher watcher = {.self = &w, .report = see_report, .every = 5};
        ikt_data_start(data, start + first * Q, Q, IKT_TYPE_F32);
        succeed(ctx, ikt_embed(ctx, parameters, data, NULL, &map));
        scaled[way] = ikt_embedding_hash(map);
        assert_int_equal(scaled[way], scaled[0]);
        ikt_embedding_destroy(&map);
        succeed(ctx, ikt_parameters_set(parameters, "layout.init_scale", "0"));
        succeed(ctx, ikt_embed(ctx, parameters, data, &watcher, &map));
        assert_int_not_equal(ikt_embedding_hash(map), scaled[0]);
        ikt_embedding_destroy(&map);
        succeed(ctx, ikt_parameters_set(parameters, "layout.init", "random"));
        refuse(ctx, ikt_embed(ctx, parameters, data, NULL, &map), IKT_ERR_USAGE,
               "start from come from memory");
        ikt_parameters_destroy(&parameters);
        ikt_data_destroy(&data);
    }
    assert_int_not_equal(scaled[0], hash_of(ctx, DENSE, 0));
}

/* --- new rows --------------------------------------------------------------------------------- */

enum { NEW = 17 };

static void new_rows(void **state) {
    ikt_context *ctx = *state;
    char model[IO_NAME_MAX], file[IO_NAME_MAX];
    make_data();
    io_name(ctx, "model.h5", model);
    io_name(ctx, "new.h5", file);
    ikt_parameters *parameters = parameters_for(ctx);
    succeed(ctx, ikt_parameters_set(parameters, "output.model", model));
    ikt_data *data = data_of(ctx, DENSE, 0);
    ikt_embedding *map, *placed;
    succeed(ctx, ikt_embed(ctx, parameters, data, NULL, &map));
    ikt_data_destroy(&data);
    ikt_embedding_destroy(&map);

    static float rows[NEW * D]; /* between two old ones */
    for (int e = 0; e < NEW * D; e++)
        rows[e] = (dense[e] + dense[e + 3 * D]) / 2;
    ikt_table_writer *table;
    succeed(ctx, ikt_table_create(ctx, file, true, NEW, D, IKT_TYPE_F32, false, &table));
    succeed(ctx, ikt_table_write(table, 0, ikt_rank(ctx) == 0 ? NEW : 0, rows, NULL));
    succeed(ctx, ikt_table_close(&table, IKT_OK));
    const ikt_transform_request request = {.model = model,
                                           .input = file,
                                           .dataset = "X",
                                           .labels = "labels",
                                           .neighbours = IKT_AUTO_INT,
                                           .trials = 200};
    ikt_transformed expected;
    succeed(ctx, ikt_transform_run(ctx, &request, &expected));

    const bool is_last = ikt_rank(ctx) == ikt_size(ctx) - 1;
    succeed(ctx, ikt_data_create(ctx, is_last ? NEW : 0, &data)); /* all on one rank */
    ikt_data_rows(data, rows, D, IKT_TYPE_F32);
    succeed(ctx, ikt_transform(ctx, model, data, 0, 0, NULL, &placed));
    assert_int_equal(ikt_embedding_hash(placed), expected.hash);
    assert_int_equal(ikt_embedding_rows(placed), NEW);
    assert_true(ikt_embedding_objective(placed) == expected.mean_divergence);
    for (int64_t i = 0; i < ikt_embedding_count(placed); i++) {
        assert_true(ikt_embedding_similarities(placed)[i] > 0);
        assert_true(ikt_embedding_divergences(placed)[i] >= 0);
        assert_in_range(ikt_embedding_nearest(placed)[i], 0, N - 1);
    }
    ikt_embedding_destroy(&placed);
    if (ikt_size(ctx) > 1)
        refuse(ctx, ikt_transform(ctx, model, data, 3 + ikt_rank(ctx), 0, NULL, &placed),
               IKT_ERR_USAGE, "are not the same on all ranks");
    refuse(ctx, ikt_transform(ctx, model, data, N + 1, 0, NULL, &placed), IKT_ERR_USAGE,
           "holds only");
    ikt_data_destroy(&data);
    data = data_of(ctx, GRAPH, 0);
    refuse(ctx, ikt_transform(ctx, model, data, 0, 0, NULL, &placed), IKT_ERR_USAGE, "dense rows");
    ikt_data_destroy(&data);
    ikt_transformed_destroy(&expected);
    ikt_parameters_destroy(&parameters);
    io_remove(ctx, model);
    io_remove(ctx, file);
}

/* --- what is refused -------------------------------------------------------------------------- */

static void refuse_data(ikt_context *ctx, ikt_data **data, ikt_status status, const char *words) {
    const kind what = (*data)->has_graph ? GRAPH : (*data)->has_pairs ? PAIRS : DENSE;
    ikt_parameters *parameters = parameters_of(ctx, what);
    ikt_embedding *map;
    refuse(ctx, ikt_embed(ctx, parameters, *data, NULL, &map), status, words);
    assert_null(map);
    ikt_parameters_destroy(&parameters);
    ikt_data_destroy(data);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void bad_data(void **state) {
    ikt_context *ctx = *state;
    make_data();
    ikt_data *data = data_of(ctx, SPARSE32, 0);
    column32[3] = D;
    refuse_data(ctx, &data, IKT_ERR_DATA,
                "row 0 of the sparse rows in memory has an entry in column 8");
    column32[3] = -1;
    data = data_of(ctx, SPARSE32, 1);
    refuse_data(ctx, &data, IKT_ERR_DATA, "in column -1");
    make_data();
    value64[begin64[40]] = NAN;
    data = data_of(ctx, SPARSE64, 0);
    refuse_data(ctx, &data, IKT_ERR_DATA, "row 40");
    make_data();
    begin32[12] = begin32[11] - 1;
    data = data_of(ctx, SPARSE32, 1);
    refuse_data(ctx, &data, IKT_ERR_DATA, "begins at entry");
    make_data();
    data = data_of(ctx, SPARSE32, 0);
    data->columns = INT64_C(1) << 31;
    refuse_data(ctx, &data, IKT_ERR_USAGE, "fewer than 2^31 columns");
    data = data_of(ctx, DENSE, 0);
    ikt_data_sparse(data, begin32, column32, IKT_INDEX_32, value32, IKT_TYPE_F32, D);
    refuse_data(ctx, &data, IKT_ERR_USAGE, "given twice");
    succeed(ctx, ikt_data_create(ctx, 3, &data));
    refuse_data(ctx, &data, IKT_ERR_USAGE, "neither rows nor a graph");
    graph_column[5 * K] = graph_column[5 * K + 1];
    data = data_of(ctx, GRAPH, 0);
    refuse_data(ctx, &data, IKT_ERR_DATA, "5");
    make_data();
    pairs[7 * N + 9] = -1;
    data = data_of(ctx, PAIRS, 0);
    refuse_data(ctx, &data, IKT_ERR_DATA, "row 7, column 9");
}

/* --- the table of settings -------------------------------------------------------------------- */

static void table_of_settings(void **state) {
    ikt_context *ctx = *state;
    ikt_parameters *parameters;
    ikt_setting setting;
    int64_t count = 0;
    bool has_psi = false;
    succeed(ctx, ikt_parameters_create(ctx, &parameters));
    for (; ikt_setting_at(count, &setting); count++) {
        char key[256], value[1024];
        snprintf(key, sizeof key, "%s.%s", setting.section, setting.name);
        succeed(ctx, ikt_parameters_get(parameters, key, value, sizeof value));
        succeed(ctx, ikt_parameters_set(parameters, key, setting.fallback));
        if (setting.takes_auto) succeed(ctx, ikt_parameters_set(parameters, key, "auto"));
        assert_true((setting.choices != NULL) == (setting.type == IKT_SETTING_CHOICE));
        assert_true(strlen(setting.help) > 10);
        if (strcmp(key, "isolation.psi") == 0) {
            has_psi = true;
            assert_int_equal(setting.type, IKT_SETTING_INT);
            assert_true(setting.takes_auto);
        }
    }
    assert_true(has_psi);
    assert_true(count > 60);
    assert_false(ikt_setting_at(-1, &setting));
    assert_non_null(strstr(ikt_setting_hint("n_iter"), "layout.iterations"));
    assert_null(ikt_setting_hint("psi"));
    ikt_parameters_destroy(&parameters);
}

IKT_MPI_TESTS(ikt_test(any_blocks), ikt_test(sparse_as_before), ikt_test(told_and_stopped),
              ikt_test(stopped_without_a_map), ikt_test(given_start), ikt_test(new_rows),
              ikt_test(bad_data), ikt_test(table_of_settings))
