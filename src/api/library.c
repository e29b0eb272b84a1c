/* The library for programs of others, behind include/iktsne: parameters, which are the settings of
 * a run behind texts; embedding, which is the verb `embed` as a function; and embeddings. */
#include "iktsne/iktsne.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "base/timer.h"
#include "config/config.h"
#include "config/value.h"
#include "dist/row_blocks.h"
#include "evaluate/measure.h"
#include "io/hdf5/h5.h"
#include "io/results/result.h"
#include "pipeline/outcome.h"
#include "pipeline/pipeline.h"
#include "plot/plot.h"

struct ikt_parameters {
    ikt_context *ctx; /* of the caller */
    ikt_settings settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS]; /* the sections and where their values are */
    char *yaml;                                /* lent to the caller; NULL until it is asked for */
};

/* An embedding lives in a context of its own, so that its times, memory and threads are its own,
 * and the caller's are as they were. */
struct ikt_embedding {
    ikt_context *caller, *ctx;
    ikt_run run;      /* in equal blocks; of a file: embedding, embedding.y, labels, marked only */
    bool is_run;      /* and not of a file */
    int64_t first;    /* own rows, in the caller's blocks */
    int64_t count;    /* of them */
    float *y;         /* [count * q] */
    int64_t *labels;  /* [count], or NULL */
    uint64_t hash;    /* of the positions */
    double objective; /* NaN: not known */
    int64_t iterations;      /* -1: not known */
    int64_t zero_similarity; /* -1: not known */
    int q;                   /* dimensions */
    char *yaml;              /* NULL: not known */
    ikt_measures measures;
};

/* --- parameters ------------------------------------------------------------------------------- */

enum { KEY_MAX = 128 };

ikt_status ikt_parameters_create(ikt_context *ctx, ikt_parameters **out) {
    *out = NULL;
    ikt_clear(ctx);
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, "parameters"));
    (*out)->ctx = ctx;
    ikt_settings_parts(&(*out)->settings, (*out)->parts);
    ikt_status st = ikt_config_defaults(ctx, (*out)->parts, IKT_SETTINGS_PARTS);
    if (st != IKT_OK) ikt_parameters_destroy(out);
    return st;
}

void ikt_parameters_destroy(ikt_parameters **parameters) {
    if (!*parameters) return;
    ikt_free(&(*parameters)->yaml);
    ikt_free(parameters);
}

ikt_status ikt_parameters_set(ikt_parameters *p, const char *key, const char *value) {
    ikt_text text = {p->ctx, NULL, 0, 0, IKT_OK};
    ikt_clear(p->ctx);
    ikt_text_add(&text, "%s=%s", key, value);
    ikt_status st = text.status;
    if (st == IKT_OK) st = ikt_config_override(p->ctx, p->parts, IKT_SETTINGS_PARTS, text.data);
    ikt_free(&text.data);
    return st;
}

ikt_status ikt_parameters_get(const ikt_parameters *p, const char *key, char *text, size_t size) {
    char section[KEY_MAX];
    const char *dot = strchr(key, '.');
    ikt_clear(p->ctx);
    if (size > 0) text[0] = '\0';
    snprintf(section, sizeof section, "%.*s", dot ? (int)(dot - key) : KEY_MAX - 1, key);
    const ikt_config_part *part =
        ikt_config_find_section(p->ctx, p->parts, IKT_SETTINGS_PARTS, "", section);
    if (!part) return IKT_ERR_USAGE;
    const ikt_key *found =
        ikt_config_find_key(p->ctx, p->parts, IKT_SETTINGS_PARTS, part, "", dot ? dot + 1 : "");
    if (!found) return IKT_ERR_USAGE;
    ikt_value_print(found, ikt_config_member(part, found), text, size);
    return IKT_OK;
}

ikt_status ikt_parameters_load(ikt_parameters *p, const char *path) {
    ikt_clear(p->ctx);
    return ikt_agree(p->ctx, ikt_config_load(p->ctx, p->parts, IKT_SETTINGS_PARTS, path));
}

ikt_status ikt_parameters_yaml(ikt_parameters *p, const char **yaml) {
    *yaml = NULL;
    ikt_clear(p->ctx);
    ikt_free(&p->yaml);
    IKT_TRY(ikt_config_print(p->ctx, p->parts, IKT_SETTINGS_PARTS, &p->yaml));
    *yaml = p->yaml;
    return IKT_OK;
}

const char *ikt_version(void) {
    return IKT_VERSION;
}

/* --- life of an embedding --------------------------------------------------------------------- */

/* COLLECTIVE. An empty embedding in a context of its own; freed with ikt_embedding_destroy, NULL on
 * failure. Errors: IKT_ERR_RESOURCE, recorded in ctx. */
static ikt_status embedding_new(ikt_context *ctx, ikt_embedding **out) {
    *out = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, out, 1, sizeof **out, "embedding")));
    **out =
        (ikt_embedding){.caller = ctx, .objective = NAN, .iterations = -1, .zero_similarity = -1};
    ikt_status st = ikt_context_split(ctx, 0, &(*out)->ctx);
    if (st != IKT_OK) ikt_free(out);
    return st;
}

void ikt_embedding_destroy(ikt_embedding **embedding) {
    if (!*embedding) return;
    ikt_run_destroy(&(*embedding)->run);
    ikt_measures_destroy(&(*embedding)->measures);
    ikt_free(&(*embedding)->y);
    ikt_free(&(*embedding)->labels);
    ikt_free(&(*embedding)->yaml);
    ikt_context_destroy(&(*embedding)->ctx);
    ikt_free(embedding);
}

/* SAME-ARGS. The status and, in the caller's context, the message of an embedding's own. */
static ikt_status report(ikt_embedding *embedding, ikt_status st) {
    if (st == IKT_OK) return IKT_OK;
    ikt_fail(embedding->caller, st, "%s", ikt_message(embedding->ctx));
    ikt_clear(embedding->ctx);
    return st;
}

/* COLLECTIVE. One array, to the caller's blocks. */
static ikt_status copy_rows(ikt_embedding *embedding, ikt_row_blocks *blocks, const void *from,
                            size_t bytes, void *target) {
    char *rows = NULL;
    ikt_status st = ikt_agree(
        embedding->ctx, ikt_alloc(embedding->ctx, &rows, embedding->count, bytes, "embedding"));
    if (st == IKT_OK)
        st = ikt_row_blocks_read(embedding->ctx, blocks, from, bytes, embedding->first,
                                 embedding->count, rows);
    if (st != IKT_OK) ikt_free(&rows);
    memcpy(target, &rows, sizeof rows);
    return st;
}

/* COLLECTIVE. Positions and labels of run, from equal blocks to those of the caller, `count` rows
 * of this rank, in the order of the ranks. Errors: IKT_ERR_RESOURCE, recorded in embedding->ctx. */
static ikt_status hand_over(ikt_embedding *embedding, int64_t count) {
    const ikt_run *run = &embedding->run;
    const bool has_labels = ikt_max_one(embedding->ctx, run->labels != NULL) > 0;
    ikt_row_blocks blocks;
    embedding->count = count;
    embedding->first = ikt_sum_before(embedding->ctx, count);
    IKT_TRY(ikt_row_blocks_create(embedding->ctx, run->rows.count, &blocks));
    ikt_status st = copy_rows(embedding, &blocks, run->embedding.y,
                              (size_t)embedding->q * sizeof *embedding->y, &embedding->y);
    if (st == IKT_OK && has_labels)
        st = copy_rows(embedding, &blocks, run->labels, sizeof *embedding->labels,
                       &embedding->labels);
    ikt_row_blocks_destroy(&blocks);
    return st;
}

/* --- embedding rows --------------------------------------------------------------------------- */

/* Rows in memory, as the caller gave them. */
typedef struct {
    const void *rows;
    int64_t count, columns;
    ikt_type type;
    const int64_t *labels;
} caller_rows;

/* COLLECTIVE. Ranks that do not want the same would wait for each other for ever. */
static ikt_status check_equal(ikt_context *ctx, const ikt_parameters *parameters) {
    char *text = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_config_print(ctx, parameters->parts, IKT_SETTINGS_PARTS, &text)));
    const int64_t hash = (int64_t)(ikt_hash_bytes(text, strlen(text), 0) >> 1);
    int64_t most[] = {hash, -hash};
    ikt_free(&text);
    ikt_max_i64(ctx, most, 2);
    if (most[0] == -most[1]) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE, "the parameters are not the same on all ranks");
}

/* Keys of a file do not go with rows in memory, and none is ignored. */
static ikt_status open_rows(ikt_context *ctx, const ikt_input_settings *input,
                            const caller_rows *given, ikt_source **source) {
    if (!given) return ikt_input_open(ctx, input, source);
    if (input->file[0])
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "the rows come from memory, but input.file is '%.200s': leave it empty",
                        input->file);
    if (input->rows != IKT_AUTO_INT)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "the rows come from memory, but input.rows is %lld: leave it auto and give "
                        "fewer rows",
                        (long long)input->rows);
    return ikt_source_from_rows(ctx, given->rows, given->labels, given->count, given->columns,
                                given->type, source);
}

/* COLLECTIVE. The rows are opened, embedded and closed; the files that the parameters name, and the
 * measures, are made as `iktsne embed` makes them. */
static ikt_status embed_rows(ikt_embedding *embedding, const ikt_settings *settings,
                             const caller_rows *given) {
    ikt_context *ctx = embedding->ctx;
    ikt_run *run = &embedding->run;
    ikt_source *source = NULL;
    IKT_TRY(ikt_memory_check_start(ctx));
    IKT_TRY(open_rows(ctx, &settings->input, given, &source));
    ikt_stage_begin(ctx, IKT_STAGE_TOTAL);
    ikt_status st = ikt_pipeline_run(ctx, settings, source, run);
    if (st == IKT_OK && run->settings.output.file[0]) st = ikt_run_write(ctx, run);
    if (st == IKT_OK) st = ikt_run_model_end(ctx, run);
    if (st == IKT_OK) st = ikt_run_picture(ctx, run);
    if (st == IKT_OK) ikt_run_finish(ctx, run);
    if (st == IKT_OK) st = ikt_run_measures(ctx, run, &embedding->measures);
    ikt_stage_end(ctx, IKT_STAGE_TOTAL);
    if (st == IKT_OK) {
        const ikt_trace *trace = &run->embedding.trace;
        run->settings.output.state = false; /* the state of the loop is gone */
        embedding->is_run = true;
        embedding->q = (int)run->settings.layout.dimensions;
        embedding->hash = run->hash;
        embedding->objective = trace->count > 0 ? ikt_trace_last(trace) : NAN;
        embedding->iterations = trace->end;
        embedding->zero_similarity = run->embedding.zero_similarity;
        st = ikt_agree(ctx, ikt_run_configuration(ctx, run, &embedding->yaml));
    }
    if (st == IKT_OK) st = hand_over(embedding, given ? given->count : run->rows.count);
    run->given = NULL;
    ikt_source_close(&source);
    return st;
}

static ikt_status embed(ikt_context *ctx, const ikt_parameters *parameters,
                        const caller_rows *given, ikt_embedding **out) {
    const ikt_h5_host host = ikt_h5_host_keep();
    *out = NULL;
    ikt_clear(ctx);
    IKT_TRY(check_equal(ctx, parameters));
    IKT_TRY(embedding_new(ctx, out));
    const ikt_run_settings *own = &parameters->settings.run;
    if (own->threads != IKT_AUTO_INT) ikt_context_set_threads((*out)->ctx, (int)own->threads);
    if (own->log == IKT_LOG_JSON) ikt_context_set_log_format((*out)->ctx, IKT_LOG_JSON);
    const ikt_status st = report(*out, embed_rows(*out, &parameters->settings, given));
    if (st != IKT_OK) ikt_embedding_destroy(out);
    ikt_h5_host_restore(&host);
    return st;
}

ikt_status ikt_embed_rows(ikt_context *ctx, const ikt_parameters *parameters, const void *rows,
                          int64_t count, int64_t columns, ikt_type type, const int64_t *labels,
                          ikt_embedding **out) {
    const caller_rows given = {rows, count, columns, type, labels};
    return embed(ctx, parameters, &given, out);
}

ikt_status ikt_embed_file(ikt_context *ctx, const ikt_parameters *parameters, ikt_embedding **out) {
    return embed(ctx, parameters, NULL, out);
}

/* --- what an embedding tells ------------------------------------------------------------------ */

int64_t ikt_embedding_rows(const ikt_embedding *embedding) {
    return embedding->run.rows.n;
}

int ikt_embedding_dimensions(const ikt_embedding *embedding) {
    return embedding->q;
}

int64_t ikt_embedding_first(const ikt_embedding *embedding) {
    return embedding->first;
}

int64_t ikt_embedding_count(const ikt_embedding *embedding) {
    return embedding->count;
}

const float *ikt_embedding_positions(const ikt_embedding *embedding) {
    return embedding->y;
}

const int64_t *ikt_embedding_labels(const ikt_embedding *embedding) {
    return embedding->labels;
}

uint64_t ikt_embedding_hash(const ikt_embedding *embedding) {
    return embedding->hash;
}

double ikt_embedding_objective(const ikt_embedding *embedding) {
    return embedding->objective;
}

int64_t ikt_embedding_iterations(const ikt_embedding *embedding) {
    return embedding->iterations;
}

int64_t ikt_embedding_zero_similarity(const ikt_embedding *embedding) {
    return embedding->zero_similarity;
}

const char *ikt_embedding_yaml(const ikt_embedding *embedding) {
    return embedding->yaml ? embedding->yaml : "";
}

int64_t ikt_embedding_measures(const ikt_embedding *embedding) {
    return embedding->measures.count;
}

ikt_embedding_measure ikt_embedding_measure_at(const ikt_embedding *embedding, int64_t i) {
    const ikt_measure *measure = &embedding->measures.list[i];
    return (ikt_embedding_measure){measure->name, measure->value, measure->note};
}

/* --- file and picture ------------------------------------------------------------------------- */

static ikt_status write_run(ikt_embedding *embedding, const char *path, bool overwrite) {
    ikt_output_settings *output = &embedding->run.settings.output;
    if (!embedding->is_run)
        return ikt_fail(embedding->ctx, IKT_ERR_USAGE,
                        "an embedding that was read from a file is in that file: copy it");
    if (strlen(path) >= sizeof output->file)
        return ikt_fail(embedding->ctx, IKT_ERR_USAGE, "the name %.80s... is too long", path);
    snprintf(output->file, sizeof output->file, "%s", path);
    output->overwrite = overwrite;
    IKT_TRY(ikt_atomic_check(embedding->ctx, path, overwrite));
    return ikt_run_write(embedding->ctx, &embedding->run);
}

ikt_status ikt_embedding_write(ikt_embedding *embedding, const char *path, bool overwrite) {
    const ikt_h5_host host = ikt_h5_host_keep();
    ikt_clear(embedding->caller);
    const ikt_status st = report(embedding, write_run(embedding, path, overwrite));
    ikt_h5_host_restore(&host);
    return st;
}

ikt_status ikt_embedding_draw(ikt_embedding *embedding, const char *path, bool overwrite,
                              const char *title) {
    const ikt_run *run = &embedding->run;
    const char *slash = strrchr(path, '/');
    ikt_plot_settings settings = ikt_plot_defaults();
    ikt_clear(embedding->caller);
    settings.overwrite = overwrite;
    settings.title = title ? title : slash ? slash + 1 : path;
    settings.description = embedding->yaml;
    const ikt_plot_points points = {.rows = &run->rows,
                                    .q = embedding->q,
                                    .y = run->embedding.y,
                                    .labels = run->labels,
                                    .marked = run->marked,
                                    .n_marked = run->n_marked};
    return report(embedding, ikt_plot_embedding(embedding->ctx, &settings, &points, path));
}

/* --- reading ---------------------------------------------------------------------------------- */

static void take_note(void *self, const char *name, const char *text, bool varying) {
    ikt_embedding *embedding = self;
    if (varying) return;
    if (strcmp(name, "kl") == 0 || strcmp(name, "cost") == 0)
        embedding->objective = strtod(text, NULL);
    if (strcmp(name, "iterations_done") == 0) embedding->iterations = strtoll(text, NULL, 10);
    if (strcmp(name, "rows_without_similarity") == 0)
        embedding->zero_similarity = strtoll(text, NULL, 10);
}

static ikt_status read_file(ikt_embedding *embedding, ikt_result_file *file) {
    ikt_context *ctx = embedding->ctx;
    ikt_run *run = &embedding->run;
    float **y = &run->embedding.y;
    bool has_labels = false;
    run->rows = ikt_rows_make(ikt_result_rows(file), ikt_size(ctx), ikt_rank(ctx));
    embedding->q = ikt_result_dimensions(file);
    const int64_t first = run->rows.first, count = run->rows.count;
    ikt_status st = ikt_alloc(ctx, y, embedding->q * count, sizeof **y, "embedding");
    if (st == IKT_OK) st = ikt_alloc(ctx, &run->labels, count, sizeof *run->labels, "embedding");
    IKT_TRY(ikt_agree(ctx, st));
    IKT_TRY(ikt_result_read_embedding(file, first, count, *y));
    IKT_TRY(ikt_result_read_labels(file, "labels", first, count, run->labels, &has_labels));
    if (!has_labels) ikt_free(&run->labels);
    IKT_TRY(ikt_result_read_marked(file, &run->marked, &run->n_marked));
    IKT_TRY(ikt_result_notes(file, take_note, embedding));
    IKT_TRY(ikt_result_configuration(file, &embedding->yaml));
    embedding->hash = ikt_row_hash(ctx, *y, first, count, (size_t)embedding->q * sizeof **y);
    return hand_over(embedding, count);
}

ikt_status ikt_embedding_read(ikt_context *ctx, const char *path, ikt_embedding **out) {
    const ikt_h5_host host = ikt_h5_host_keep();
    ikt_clear(ctx);
    IKT_TRY(embedding_new(ctx, out));
    ikt_result_file *file = NULL;
    ikt_status st = ikt_result_open((*out)->ctx, path, &file);
    if (st == IKT_OK) st = read_file(*out, file);
    ikt_result_close(&file);
    st = report(*out, st);
    if (st != IKT_OK) ikt_embedding_destroy(out);
    ikt_h5_host_restore(&host);
    return st;
}
