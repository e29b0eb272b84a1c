/* Embedding data in memory, or rows of a file, and placing new rows: the verbs `embed` and
 * `transform` as functions. */
#include <math.h>
#include <string.h>

#include "api/api.h"
#include "base/comm.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "base/timer.h"
#include "base/watch.h"
#include "config/config.h"
#include "io/hdf5/h5.h"
#include "pipeline/outcome.h"
#include "transform/transform.h"

/* --- what contradicts data in memory ---------------------------------------------------------- */

/* COLLECTIVE. */
static ikt_status check_equal(ikt_context *ctx, const ikt_parameters *parameters,
                              const ikt_watcher *watcher) {
    int64_t hash;
    IKT_TRY(ikt_parameters_hash(ctx, parameters, &hash));
    if (!ikt_is_shared(ctx, hash))
        return ikt_fail(ctx, IKT_ERR_USAGE, "the parameters are not the same on all ranks");
    const int64_t every = watcher && watcher->report ? watcher->every : 0;
    const bool is_watched = ikt_is_shared(ctx, watcher != NULL);
    if (ikt_is_shared(ctx, every) && is_watched) return IKT_OK;
    return ikt_fail(
        ctx, IKT_ERR_USAGE,
        "the watcher is not the same on all ranks: each has one, with the same `every`");
}

/* SAME-ARGS. Refuses keys that say how the rows of a file are read, which would have no effect on
 * rows in memory. Labels and a graph may come from files of their own. */
static ikt_status check_file_keys(ikt_context *ctx, const ikt_settings *settings) {
    static const char *const kept[] = {"file", "graph", "labels", "rows"};
    ikt_settings own = *settings, usual;
    ikt_config_part of_own[IKT_SETTINGS_PARTS], of_usual[IKT_SETTINGS_PARTS];
    memset(&usual, 0, sizeof usual);
    ikt_settings_parts(&own, of_own);
    ikt_settings_parts(&usual, of_usual);
    IKT_TRY(ikt_config_defaults(ctx, of_usual, IKT_SETTINGS_PARTS));
    for (int p = 0; p < IKT_SETTINGS_PARTS; p++) {
        const ikt_section *section = of_own[p].section;
        if (strcmp(section->name, "input") != 0) continue;
        for (size_t k = 0; k < section->n_keys; k++) {
            bool is_kept = false;
            for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
                is_kept |= strcmp(section->keys[k].name, kept[i]) == 0;
            if (is_kept || ikt_settings_has_equal(&section->keys[k], &of_own[p], &of_usual[p]))
                continue;
            return ikt_fail(ctx, IKT_ERR_USAGE,
                            "the rows come from memory, and input.%s says how those of a file are "
                            "read: leave it as it is by default",
                            section->keys[k].name);
        }
    }
    return IKT_OK;
}

/* SAME-ARGS. What names a file does not go with data in memory, and nothing is ignored. */
static ikt_status check_input(ikt_context *ctx, const ikt_settings *settings,
                              const ikt_data_sources *given) {
    const ikt_input_settings *input = &settings->input;
    const bool has_graph = given->borrowed.graph || given->borrowed.pairs;
    if (!given->rows && !has_graph)
        return ikt_fail(ctx, IKT_ERR_USAGE, "the data have neither rows nor a graph");
    if (input->file[0])
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "the rows come from memory, but input.file is '%.200s': leave it empty",
                        input->file);
    if (input->similarities[0])
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "the rows come from memory, but input.similarities is '%.200s': leave it "
                        "empty; similarities in memory are rows with preprocess.metric=precomputed "
                        "and preprocess.matrix=similarities",
                        input->similarities);
    if (input->graph[0] && has_graph)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "the graph comes from memory, but input.graph is '%.200s': leave it empty",
                        input->graph);
    if (input->rows != IKT_AUTO_INT)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "the rows come from memory, but input.rows is %lld: leave it auto and give "
                        "fewer rows",
                        (long long)input->rows);
    IKT_TRY(check_file_keys(ctx, settings));
    if (given->borrowed.start &&
        (settings->layout.init_file[0] ||
         (settings->layout.init != IKT_INIT_AUTO && settings->layout.init != IKT_INIT_FILE)))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "the positions to start from come from memory: leave layout.init and "
                        "layout.init_file as they are by default");
    return IKT_OK;
}

/* LOCAL. The settings name the arrays in memory where they would name files. */
static void name_arrays(const ikt_data_sources *given, ikt_settings *settings) {
    if (given->borrowed.graph) strcpy(settings->input.graph, IKT_BORROWED_GRAPH);
    if (given->borrowed.pairs) strcpy(settings->input.graph, IKT_BORROWED_PAIRS);
    if (!given->borrowed.start) return;
    strcpy(settings->layout.init_file, IKT_BORROWED_START);
    settings->layout.init = IKT_INIT_FILE;
}

/* --- who watches ------------------------------------------------------------------------------ */

/* Between the library, whose rows are in equal blocks, and the watcher of the program. */
typedef struct {
    const ikt_watcher *watcher;
    ikt_context *ctx;
    ikt_row_blocks blocks;
    int64_t first, count; /* rows of this rank, in the program's blocks */
    int64_t q;
    float *y; /* [count * q] */
    ikt_status status;
} relay;

static bool relay_progress(void *self, const char *unit, int64_t done, int64_t total) {
    const ikt_watcher *w = ((relay *)self)->watcher;
    return w->progress && w->progress(w->self, unit, done, total);
}

static bool relay_report(void *self, int64_t iteration, double value, const float *positions) {
    relay *r = self;
    if (r->status == IKT_OK)
        r->status = ikt_row_blocks_read(r->ctx, &r->blocks, positions, (size_t)r->q * sizeof *r->y,
                                        r->first, r->count, r->y);
    return r->status != IKT_OK || r->watcher->report(r->watcher->self, iteration, value, r->y);
}

static void relay_log(void *self, ikt_log_level level, const char *line) {
    const ikt_watcher *w = ((relay *)self)->watcher;
    w->log(w->self, level, line);
}

/* COLLECTIVE. `count` rows of this rank, of n. Errors: IKT_ERR_RESOURCE. */
static ikt_status relay_begin(ikt_context *ctx, const ikt_watcher *watcher, int64_t n,
                              int64_t count, int64_t q, relay *out) {
    const ikt_rows rows = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    *out = (relay){.watcher = watcher, .ctx = ctx, .count = count, .q = q};
    if (!watcher || !watcher->report || watcher->every <= 0) return IKT_OK;
    out->first = ikt_sum_before(ctx, count);
    IKT_TRY(ikt_row_blocks_create(ctx, rows.count, &out->blocks));
    return ikt_alloc_all(ctx, &out->y, count * q, sizeof *out->y, "embedding");
}

static void relay_end(relay *r) {
    ikt_row_blocks_destroy(&r->blocks);
    ikt_free(&r->y);
}

/* --- embedding -------------------------------------------------------------------------------- */

/* COLLECTIVE. The line from the data to the map, and the files and measures that the parameters ask
 * for, made as `iktsne embed` makes them. */
static ikt_status run_line(ikt_embedding *embedding, const ikt_settings *settings,
                           ikt_source *source) {
    ikt_context *ctx = embedding->ctx;
    ikt_run *run = &embedding->run;
    IKT_IN_STAGE(ctx, IKT_STAGE_TOTAL);
    IKT_TRY(ikt_pipeline_run(ctx, settings, source, run));
    if (run->settings.output.file[0]) IKT_TRY(ikt_run_write(ctx, run));
    IKT_TRY(ikt_run_model_end(ctx, run));
    IKT_TRY(ikt_run_picture(ctx, run));
    ikt_run_finish(ctx, run);
    return ikt_run_measures(ctx, run, &embedding->measures);
}

/* COLLECTIVE. What an embedding tells of its run. */
static ikt_status note_run(ikt_embedding *embedding) {
    ikt_run *run = &embedding->run;
    const ikt_trace *trace = &run->embedding.trace;
    run->settings.output.state = false; /* the state of the loop is gone */
    embedding->is_run = true;
    embedding->is_stopped = trace->is_stopped;
    embedding->q = (int)run->settings.layout.dimensions;
    embedding->hash = run->hash;
    embedding->objective = trace->count > 0 ? ikt_trace_last(trace) : NAN;
    embedding->iterations = trace->end;
    embedding->zero_similarity = run->embedding.zero_similarity;
    return ikt_agree(embedding->ctx, ikt_run_configuration(embedding->ctx, run, &embedding->yaml));
}

/* COLLECTIVE. With the sources of data, where there are some. */
static ikt_status embed_borrowed(ikt_embedding *embedding, ikt_settings *settings,
                                 const ikt_data_sources *given, const ikt_data *data,
                                 const ikt_watcher *watcher) {
    ikt_context *ctx = embedding->ctx;
    relay told IKT_AT_END(relay_end) = {.watcher = NULL};
    if (data) IKT_TRY(check_input(ctx, settings, given));
    if (data) name_arrays(given, settings);
    ikt_output_settle(&settings->output);
    ikt_borrow(ctx, &given->borrowed);
    if (data)
        IKT_TRY(
            relay_begin(ctx, watcher, given->n, data->count, settings->layout.dimensions, &told));
    const ikt_watcher forward = {.self = &told,
                                 .progress = relay_progress,
                                 .report = told.y || told.blocks.first ? relay_report : NULL,
                                 .every = watcher ? watcher->every : 0,
                                 .log = watcher && watcher->log ? relay_log : NULL};
    ikt_watcher_set(ctx, watcher ? &forward : NULL);
    const ikt_status st = run_line(embedding, settings, given->rows);
    ikt_watcher_set(ctx, NULL);
    IKT_TRY(st);
    IKT_TRY(note_run(embedding));
    IKT_TRY(told.status);
    return ikt_embedding_hand_over(embedding, data ? data->count : embedding->run.rows.count, NULL);
}

/* COLLECTIVE. With data in memory; NULL: with those of input.file, and nobody watches. */
static ikt_status embed_given(ikt_embedding *embedding, ikt_settings *settings,
                              const ikt_data *data, const ikt_watcher *watcher) {
    ikt_data_sources given IKT_AT_END(ikt_data_close) = {.rows = NULL};
    IKT_TRY(ikt_memory_check_start(embedding->ctx));
    IKT_TRY(ikt_data_open(embedding->ctx, data, &given));
    const ikt_status st = embed_borrowed(embedding, settings, &given, data, watcher);
    embedding->run.given = NULL; /* the sources are closed here */
    ikt_borrow(embedding->ctx, NULL);
    return st;
}

ikt_status ikt_embed(ikt_context *ctx, const ikt_parameters *parameters, const ikt_data *data,
                     const ikt_watcher *watcher, ikt_embedding **out) {
    const ikt_h5_host host IKT_AT_END(ikt_h5_host_restore) = ikt_h5_host_keep();
    ikt_settings settings = parameters->settings;
    *out = NULL;
    ikt_clear(ctx);
    IKT_TRY(check_equal(ctx, parameters, watcher));
    IKT_TRY(ikt_embedding_create(ctx, out));
    if (settings.run.threads != IKT_AUTO_INT)
        ikt_context_set_threads((*out)->ctx, (int)settings.run.threads);
    if (settings.run.log == IKT_LOG_JSON) ikt_context_set_log_format((*out)->ctx, IKT_LOG_JSON);
    return ikt_embedding_made(out, embed_given(*out, &settings, data, watcher));
}

ikt_status ikt_embed_rows(ikt_context *ctx, const ikt_parameters *parameters, const void *rows,
                          int64_t count, int64_t columns, ikt_type type, const int64_t *labels,
                          ikt_embedding **out) {
    const ikt_data data = {.count = count,
                           .has_rows = true,
                           .rows = rows,
                           .columns = columns,
                           .type = type,
                           .labels = labels};
    return ikt_embed(ctx, parameters, &data, NULL, out);
}

ikt_status ikt_embed_file(ikt_context *ctx, const ikt_parameters *parameters, ikt_embedding **out) {
    return ikt_embed(ctx, parameters, NULL, NULL, out);
}

/* --- new rows into a finished embedding ------------------------------------------------------- */

/* COLLECTIVE. */
static ikt_status place_rows(ikt_embedding *embedding, ikt_transform_request *request,
                             const ikt_data *data) {
    ikt_context *ctx = embedding->ctx;
    ikt_run *run = &embedding->run;
    ikt_data_sources given IKT_AT_END(ikt_data_close) = {.rows = NULL};
    ikt_transformed done IKT_AT_END(ikt_transformed_destroy) = {.rows = {.n = 0}};
    IKT_TRY(ikt_data_open(ctx, data, &given));
    if (!given.rows) return ikt_fail(ctx, IKT_ERR_USAGE, "new rows are dense rows (ikt_data_rows)");
    request->given = given.rows;
    IKT_TRY_STAGE(ctx, IKT_STAGE_TOTAL, ikt_transform_run(ctx, request, &done));
    const ikt_placed_rows placed = {done.divergence,   done.similarity, done.nearest,
                                    done.has_distance, done.distance,   done.is_far};
    run->rows = done.rows;
    run->embedding.y = done.y;
    run->labels = done.labels;
    done.y = NULL;
    done.labels = NULL;
    embedding->q = (int)done.loaded.shape.q;
    embedding->hash = done.hash;
    embedding->objective = done.mean_divergence;
    embedding->zero_similarity = done.zero_similarity;
    return ikt_embedding_hand_over(embedding, data->count, &placed);
}

/* COLLECTIVE. */
static ikt_status check_request(ikt_context *ctx, const char *model, int64_t neighbours,
                                int64_t iterations, bool is_watched) {
    const int64_t number[] = {neighbours, iterations, is_watched};
    const uint64_t named = ikt_hash_bytes(model, strlen(model), 0);
    const int64_t hash = (int64_t)(ikt_hash_bytes(number, sizeof number, named) >> 1);
    if (!ikt_is_shared(ctx, hash))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "the model, the numbers of neighbours and iterations, or whether there is "
                        "a watcher, are not the same on all ranks");
    if (neighbours < 0 || iterations < 0 || iterations == 1)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "new rows need at least 1 neighbour and 2 iterations (0: as usual)");
    return IKT_OK;
}

ikt_status ikt_transform(ikt_context *ctx, const char *model, const ikt_data *data,
                         int64_t neighbours, int64_t iterations, const ikt_watcher *watcher,
                         ikt_embedding **out) {
    const ikt_h5_host host IKT_AT_END(ikt_h5_host_restore) = ikt_h5_host_keep();
    ikt_transform_request request = {.model = model,
                                     .input = "memory",
                                     .dataset = "",
                                     .labels = "labels",
                                     .neighbours = neighbours == 0 ? IKT_AUTO_INT : neighbours,
                                     .trials = iterations == 0 ? IKT_TRANSFORM_TRIALS : iterations};
    *out = NULL;
    ikt_clear(ctx);
    IKT_TRY(check_request(ctx, model, neighbours, iterations, watcher != NULL));
    IKT_TRY(ikt_embedding_create(ctx, out));
    ikt_watcher_set((*out)->ctx, watcher);
    const ikt_status st = place_rows(*out, &request, data);
    ikt_watcher_set((*out)->ctx, NULL);
    return ikt_embedding_made(out, st);
}
