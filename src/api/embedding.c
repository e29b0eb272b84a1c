/* Embeddings: their life, what they tell, files and pictures of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/arrays.h"
#include "base/comm.h"
#include "base/files.h"
#include "base/part_file.h"
#include "base/row_hash.h"
#include "io/hdf5/h5.h"
#include "io/results/result.h"
#include "pipeline/outcome.h"
#include "plot/plot.h"
#include "settings/checks.h"
#include "viewer/viewer.h"

const char *ikt_version(void) {
    return IKT_VERSION;
}

/* --- life of an embedding --------------------------------------------------------------------- */

ikt_status ikt_embedding_create(ikt_context *ctx, ikt_embedding **out) {
    *out = NULL;
    IKT_TRY(ikt_alloc_all(ctx, out, 1, sizeof **out, "embedding"));
    **out =
        (ikt_embedding){.caller = ctx, .objective = NAN, .iterations = -1, .zero_similarity = -1};
    ikt_status st = ikt_context_split(ctx, 0, &(*out)->ctx);
    if (st != IKT_OK) ikt_free(out);
    return st;
}

void ikt_embedding_destroy(ikt_embedding **embedding) {
    ikt_embedding *e = *embedding;
    if (!e) return;
    ikt_run_destroy(&e->run);
    ikt_measures_destroy(&e->measures);
    ikt_free_all(&e->y, &e->labels, &e->divergence, &e->similarity, &e->nearest, &e->distance,
                 &e->is_far, &e->yaml);
    ikt_context_destroy(&e->ctx);
    ikt_free(embedding);
}

ikt_status ikt_embedding_outcome(ikt_embedding *embedding, ikt_status st) {
    if (st == IKT_OK) return IKT_OK;
    ikt_fail(embedding->caller, st, "%s", ikt_message(embedding->ctx));
    ikt_clear(embedding->ctx);
    return st;
}

ikt_status ikt_embedding_made(ikt_embedding **embedding, ikt_status st) {
    st = ikt_embedding_outcome(*embedding, st);
    if (st != IKT_OK) ikt_embedding_destroy(embedding);
    return st;
}

/* COLLECTIVE. Rows first .. first + count - 1 of an array to one that is made for them. */
static ikt_status copy_rows(ikt_context *ctx, ikt_row_blocks *blocks, const void *from,
                            size_t bytes, int64_t first, int64_t count, void *target) {
    void *rows;
    IKT_TRY(ikt_alloc_all(ctx, target, count, bytes, "embedding"));
    memcpy(&rows, target, sizeof rows);
    return ikt_row_blocks_read(ctx, blocks, from, bytes, first, count, rows);
}

ikt_status ikt_embedding_hand_over(ikt_embedding *embedding, int64_t count,
                                   const ikt_placed_rows *placed) {
    static const ikt_placed_rows none = {.divergence = NULL};
    const ikt_placed_rows *new = placed ? placed : &none;
    ikt_context *ctx = embedding->ctx;
    const ikt_run *run = &embedding->run;
    ikt_row_blocks blocks IKT_AT_END(ikt_row_blocks_destroy) = {.n = 0};
    /* A rank without rows may lack an array that the others have. */
    int64_t has[] = {true,           run->labels != NULL, new->divergence != NULL, placed != NULL,
                     placed != NULL, new->has_distance,   new->has_distance};
    const struct {
        const void *from;
        size_t bytes;
        void *to;
    } array[] = {{run->embedding.y, (size_t)embedding->q * sizeof *embedding->y, &embedding->y},
                 {run->labels, sizeof *run->labels, &embedding->labels},
                 {new->divergence, sizeof *new->divergence, &embedding->divergence},
                 {new->similarity, sizeof *new->similarity, &embedding->similarity},
                 {new->nearest, sizeof *new->nearest, &embedding->nearest},
                 {new->distance, sizeof *new->distance, &embedding->distance},
                 {new->is_far, sizeof *new->is_far, &embedding->is_far}};
    enum { ARRAYS = sizeof array / sizeof *array };
    ikt_max_i64(ctx, has, ARRAYS);
    embedding->count = count;
    embedding->first = ikt_sum_before(ctx, count);
    IKT_TRY(ikt_row_blocks_create(ctx, run->rows.count, &blocks));
    for (int a = 0; a < ARRAYS; a++)
        if (has[a])
            IKT_TRY(copy_rows(ctx, &blocks, array[a].from, array[a].bytes, embedding->first, count,
                              array[a].to));
    return IKT_OK;
}

ikt_status ikt_embedding_take(ikt_embedding *embedding, const void *own, size_t bytes, void *out) {
    const ikt_rows *rows = &embedding->run.rows;
    ikt_row_blocks blocks IKT_AT_END(ikt_row_blocks_destroy) = {.n = 0};
    IKT_TRY(ikt_row_blocks_create(embedding->ctx, embedding->count, &blocks));
    return copy_rows(embedding->ctx, &blocks, own, bytes, rows->first, rows->count, out);
}

/* --- positions of any origin ------------------------------------------------------------------ */

static ikt_status take_positions(ikt_embedding *embedding, const ikt_data *data,
                                 const float *positions, int dimensions) {
    ikt_context *ctx = embedding->ctx;
    ikt_run *run = &embedding->run;
    const bool has_rows = data->count > 0, has_labels = data->labels != NULL;
    int64_t most[] = {-data->count, has_labels, has_rows && !has_labels};
    ikt_max_i64(ctx, most, 3);
    if (!ikt_is_shared(ctx, dimensions) || dimensions < 1 || dimensions > 3 || most[0] > 0)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "positions have 1, 2 or 3 dimensions, the same on all ranks, for 0 or more "
                        "rows");
    if (most[1] > 0 && most[2] > 0)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "some ranks give labels of their rows, and some do not");
    const int64_t n = ikt_sum_one(ctx, data->count), q = dimensions;
    if (n == 0) return ikt_fail(ctx, IKT_ERR_DATA, "no rank gives any rows");
    embedding->q = dimensions;
    embedding->count = data->count;
    run->rows = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    IKT_TRY(
        ikt_embedding_take(embedding, positions, (size_t)q * sizeof *positions, &run->embedding.y));
    if (most[1] > 0)
        IKT_TRY(ikt_embedding_take(embedding, data->labels, sizeof *data->labels, &run->labels));
    ikt_status st = IKT_OK;
    for (int64_t e = 0; e < q * run->rows.count && st == IKT_OK; e++)
        if (!isfinite(run->embedding.y[e]))
            st = ikt_fail(ctx, IKT_ERR_DATA,
                          "the position of row %lld (counted from 0) is not finite",
                          (long long)(run->rows.first + e / q));
    IKT_TRY(ikt_agree(ctx, st));
    embedding->hash = ikt_row_hash(ctx, run->embedding.y, run->rows.first, run->rows.count,
                                   (size_t)q * sizeof *positions);
    return ikt_embedding_hand_over(embedding, data->count, NULL);
}

ikt_status ikt_embedding_from_positions(ikt_context *ctx, const ikt_data *data,
                                        const float *positions, int dimensions,
                                        ikt_embedding **out) {
    *out = NULL;
    ikt_clear(ctx);
    IKT_TRY(ikt_embedding_create(ctx, out));
    return ikt_embedding_made(out, take_positions(*out, data, positions, dimensions));
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

bool ikt_embedding_is_stopped(const ikt_embedding *embedding) {
    return embedding->is_stopped;
}

const double *ikt_embedding_divergences(const ikt_embedding *embedding) {
    return embedding->divergence;
}

const float *ikt_embedding_similarities(const ikt_embedding *embedding) {
    return embedding->similarity;
}

const int64_t *ikt_embedding_nearest(const ikt_embedding *embedding) {
    return embedding->nearest;
}

const float *ikt_embedding_row_distances(const ikt_embedding *embedding) {
    return embedding->distance;
}

const int64_t *ikt_embedding_far(const ikt_embedding *embedding) {
    return embedding->is_far;
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

typedef enum { A_RESULT, A_PICTURE, A_PAGE } written;

/* COLLECTIVE. Refuses a file in the place of one that the run has read, or of a name of another
 * format. */
static ikt_status check_files(ikt_embedding *embedding, const char *path, written what) {
    ikt_files files = {.ctx = embedding->ctx};
    ikt_run_files_read(&embedding->run.settings, &files);
    if (!embedding->is_run) /* of a file */
        ikt_files_add(&files, IKT_FILE_READ, "the embedding", embedding->run.input_name);
    if (what == A_RESULT)
        ikt_files_add_hdf5(&files, IKT_FILE_WRITTEN, "the output", path, ".h5", true);
    else if (what == A_PICTURE)
        ikt_files_add_picture(&files, "the output", path);
    else
        ikt_files_add_page(&files, "the output", path);
    return ikt_files_check(&files);
}

static ikt_status write_run(ikt_embedding *embedding, const char *path, bool overwrite) {
    ikt_output_settings *output = &embedding->run.settings.output;
    ikt_context *claims IKT_AT_END(ikt_part_unclaim) = embedding->ctx;
    if (!embedding->is_run)
        return ikt_fail(
            embedding->ctx, IKT_ERR_USAGE,
            "an embedding that was read from a file is in that file: copy it; and positions "
            "are the program's own");
    if (strlen(path) >= sizeof output->file)
        return ikt_fail(embedding->ctx, IKT_ERR_USAGE, "the name %.80s... is too long", path);
    snprintf(output->file, sizeof output->file, "%s", path);
    output->overwrite = overwrite;
    IKT_TRY(check_files(embedding, path, A_RESULT));
    IKT_TRY(ikt_atomic_check(embedding->ctx, path, overwrite));
    return ikt_run_write(embedding->ctx, &embedding->run);
}

ikt_status ikt_embedding_write(ikt_embedding *embedding, const char *path, bool overwrite) {
    const ikt_h5_host host IKT_AT_END(ikt_h5_host_restore) = ikt_h5_host_keep();
    ikt_clear(embedding->caller);
    return ikt_embedding_outcome(embedding, write_run(embedding, path, overwrite));
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
    ikt_status st = check_files(embedding, path, A_PICTURE);
    if (st == IKT_OK) st = ikt_plot_embedding(embedding->ctx, &settings, &points, path);
    return ikt_embedding_outcome(embedding, st);
}

/* --- page ------------------------------------------------------------------------------------- */

/* What is taken of a column; freed by free_columns. */
typedef struct {
    int64_t *labels;
    double *values;
    const char **texts; /* [rows.count], into bytes */
    char *bytes;
} taken_column;

/* COLLECTIVE. Texts in equal blocks: their lengths, with the zero byte of each, and then all bytes,
 * which stand in blocks of their own. */
static ikt_status take_texts(ikt_embedding *embedding, const char *const *texts,
                             taken_column *out) {
    ikt_context *ctx = embedding->ctx;
    const int64_t count = embedding->count, taken = embedding->run.rows.count;
    ikt_row_blocks blocks IKT_AT_END(ikt_row_blocks_destroy) = {.n = 0};
    int64_t *length IKT_AT_END(ikt_free) = NULL, total = 0, sum = 0, missing = 0;
    IKT_ARRAYS(held, ctx, "texts");
    int64_t *own = ikt_claim(&held, count, sizeof *own);
    for (int64_t i = 0; own && i < count; i++) {
        missing += !texts[i];
        own[i] = texts[i] ? (int64_t)strlen(texts[i]) + 1 : 1;
        total += own[i];
    }
    if (missing > 0)
        held.status = ikt_fail(ctx, IKT_ERR_USAGE, "%lld rows have no text: give an empty one",
                               (long long)missing);
    char *all = ikt_claim(&held, total, 1);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t i = 0, at = 0; i < count; at += own[i++])
        memcpy(all + at, texts[i], (size_t)own[i]);
    IKT_TRY(ikt_embedding_take(embedding, own, sizeof *own, &length));
    for (int64_t i = 0; i < taken; i++)
        sum += length[i];
    IKT_TRY(ikt_row_blocks_create(ctx, total, &blocks));
    out->bytes = ikt_claim_kept(&held, sum, 1);
    out->texts = ikt_claim_kept(&held, taken, sizeof *out->texts);
    IKT_TRY(ikt_arrays_agree(&held));
    const int64_t first = ikt_sum_before(ctx, sum);
    IKT_TRY(ikt_row_blocks_read(ctx, &blocks, all, 1, first, sum, out->bytes));
    for (int64_t i = 0, at = 0; i < taken; at += length[i++])
        out->texts[i] = out->bytes + at;
    return IKT_OK;
}

/* COLLECTIVE. The columns in equal blocks. */
static ikt_status take_columns(ikt_embedding *embedding, const ikt_view_column *given, int count,
                               taken_column *taken, ikt_viewer_column *out) {
    for (int c = 0; c < count; c++) {
        const ikt_view_column *g = &given[c];
        taken_column *t = &taken[c];
        const bool has_rows = embedding->count > 0;
        int64_t has[] = {g->classes != NULL, g->numbers != NULL, g->texts != NULL};
        int64_t lacks[] = {has_rows && !g->classes, has_rows && !g->numbers, has_rows && !g->texts};
        ikt_max_i64(embedding->ctx, has, 3);
        ikt_max_i64(embedding->ctx, lacks, 3);
        if (has[0] == (has[1] || has[2]) || (has[0] && lacks[0]) || (has[1] && lacks[1]) ||
            (has[2] && lacks[2]))
            return ikt_fail(embedding->ctx, IKT_ERR_USAGE,
                            "column '%.80s' has to be classes, numbers or texts, or numbers with "
                            "the texts that tell them, the same on all ranks with rows",
                            g->name);
        if (has[0])
            IKT_TRY(ikt_embedding_take(embedding, g->classes, sizeof *t->labels, &t->labels));
        if (has[1])
            IKT_TRY(ikt_embedding_take(embedding, g->numbers, sizeof *t->values, &t->values));
        if (has[2]) IKT_TRY(take_texts(embedding, g->texts, t));
        out[c] = (ikt_viewer_column){.name = g->name,
                                     .labels = t->labels,
                                     .values = t->values,
                                     .texts = t->texts,
                                     .names = g->names,
                                     .colours = g->colours,
                                     .n_colours = g->n_colours,
                                     .use = g->is_hover ? IKT_VIEWER_HOVER : IKT_VIEWER_BOTH};
    }
    return IKT_OK;
}

static void free_columns(taken_column *taken, int count) {
    for (int c = 0; c < count; c++)
        ikt_free_all(&taken[c].labels, &taken[c].values, &taken[c].texts, &taken[c].bytes);
}

ikt_status ikt_embedding_view(ikt_embedding *embedding, const char *path, bool overwrite,
                              const char *title, const ikt_view_column *column, int columns) {
    const ikt_run *run = &embedding->run;
    const char *slash = strrchr(path, '/');
    taken_column taken[IKT_VIEWER_COLUMNS_MOST] = {{.labels = NULL}};
    ikt_viewer_column shown[IKT_VIEWER_COLUMNS_MOST] = {{.name = NULL}};
    const ikt_viewer_column labels = {
        .name = "labels", .labels = run->labels, .names = run->label_names};
    const bool has_labels = ikt_max_one(embedding->ctx, run->labels != NULL) > 0;
    ikt_clear(embedding->caller);
    if (!ikt_is_shared(embedding->ctx, columns) || columns < 0 || columns > IKT_VIEWER_COLUMNS_MOST)
        return ikt_fail(embedding->caller, IKT_ERR_USAGE,
                        "a page has at most %d columns, and as many on all ranks",
                        IKT_VIEWER_COLUMNS_MOST);
    ikt_status st = take_columns(embedding, column, columns, taken, shown);
    const ikt_viewer_settings settings = {.title = title   ? title
                                                   : slash ? slash + 1
                                                           : path,
                                          .note = "",
                                          .overwrite = overwrite};
    const ikt_viewer_content content = {.rows = &run->rows,
                                        .q = embedding->q,
                                        .y = run->embedding.y,
                                        .column = columns > 0 ? shown : &labels,
                                        .n_columns = columns > 0 ? columns : has_labels,
                                        .marked = run->marked,
                                        .n_marked = run->n_marked};
    if (st == IKT_OK) st = check_files(embedding, path, A_PAGE);
    if (st == IKT_OK) st = ikt_viewer_write(embedding->ctx, &settings, &content, path);
    free_columns(taken, columns);
    return ikt_embedding_outcome(embedding, st);
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

static ikt_status read_file(ikt_embedding *embedding, const char *path) {
    ikt_context *ctx = embedding->ctx;
    ikt_result_file *file IKT_AT_END(ikt_result_close) = NULL;
    ikt_run *run = &embedding->run;
    float **y = &run->embedding.y;
    bool has_labels = false;
    IKT_TRY(ikt_result_open(ctx, path, &file));
    run->rows = ikt_rows_make(ikt_result_rows(file), ikt_size(ctx), ikt_rank(ctx));
    snprintf(run->input_name, sizeof run->input_name, "%s", ikt_result_path(file));
    embedding->q = ikt_result_dimensions(file);
    const int64_t first = run->rows.first, count = run->rows.count;
    IKT_TRY(ikt_alloc_all(ctx, y, embedding->q * count, sizeof **y, "embedding"));
    IKT_TRY(ikt_alloc_all(ctx, &run->labels, count, sizeof *run->labels, "embedding"));
    IKT_TRY(ikt_result_read_embedding(file, first, count, *y));
    IKT_TRY(ikt_result_read_labels(file, "labels", first, count, run->labels, &has_labels));
    if (!has_labels) ikt_free(&run->labels);
    IKT_TRY(ikt_result_read_marked(file, &run->marked, &run->n_marked));
    IKT_TRY(ikt_result_notes(file, take_note, embedding));
    IKT_TRY(ikt_result_configuration(file, &embedding->yaml));
    embedding->hash = ikt_row_hash(ctx, *y, first, count, (size_t)embedding->q * sizeof **y);
    return ikt_embedding_hand_over(embedding, count, NULL);
}

ikt_status ikt_embedding_read(ikt_context *ctx, const char *path, ikt_embedding **out) {
    const ikt_h5_host host IKT_AT_END(ikt_h5_host_restore) = ikt_h5_host_keep();
    ikt_clear(ctx);
    IKT_TRY(ikt_embedding_create(ctx, out));
    return ikt_embedding_made(out, read_file(*out, path));
}
