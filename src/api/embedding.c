/* Embeddings: life, what they tell, writing, drawing and reading. */
#include "iktsne/embedding.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/own.h"
#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "dist/row_blocks.h"
#include "io/hdf5/h5.h"
#include "io/results/result.h"
#include "pipeline/outcome.h"
#include "plot/plot.h"

ikt_status ikt_embedding_new(ikt_context *ctx, ikt_embedding **out) {
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

ikt_status ikt_embedding_report(ikt_embedding *embedding, ikt_status st) {
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

ikt_status ikt_embedding_hand_over(ikt_embedding *embedding, int64_t count) {
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
    const ikt_status st = ikt_embedding_report(embedding, write_run(embedding, path, overwrite));
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
    return ikt_embedding_report(embedding,
                                ikt_plot_embedding(embedding->ctx, &settings, &points, path));
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
    return ikt_embedding_hand_over(embedding, count);
}

ikt_status ikt_embedding_read(ikt_context *ctx, const char *path, ikt_embedding **out) {
    const ikt_h5_host host = ikt_h5_host_keep();
    ikt_clear(ctx);
    IKT_TRY(ikt_embedding_new(ctx, out));
    ikt_result_file *file = NULL;
    ikt_status st = ikt_result_open((*out)->ctx, path, &file);
    if (st == IKT_OK) st = read_file(*out, file);
    ikt_result_close(&file);
    st = ikt_embedding_report(*out, st);
    if (st != IKT_OK) ikt_embedding_destroy(out);
    ikt_h5_host_restore(&host);
    return st;
}
