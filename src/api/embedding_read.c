/* Maps of files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/own.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "io/hdf5/h5.h"
#include "io/results/result.h"

static void take_note(void *self, const char *name, const char *text, bool varying) {
    ikt_embedding *embedding = self;
    if (varying) return;
    if (strcmp(name, "kl") == 0 || strcmp(name, "cost") == 0)
        embedding->objective = strtod(text, NULL);
    if (strcmp(name, "iterations_done") == 0) embedding->iterations = strtoll(text, NULL, 10);
    if (strcmp(name, "rows_without_similarity") == 0)
        embedding->zero_similarity = strtoll(text, NULL, 10);
}

static ikt_status read_labels(ikt_embedding *embedding, ikt_result_file *file) {
    ikt_run *run = &embedding->run;
    bool present = false;
    ikt_status st =
        ikt_alloc(embedding->ctx, &run->labels, run->rows.count, sizeof *run->labels, "embedding");
    IKT_TRY(ikt_agree(embedding->ctx, st));
    IKT_TRY(ikt_result_read_labels(file, "labels", run->rows.first, run->rows.count, run->labels,
                                   &present));
    if (!present) ikt_free(&run->labels);
    return IKT_OK;
}

static ikt_status read_map(ikt_embedding *embedding, ikt_result_file *file) {
    ikt_context *ctx = embedding->ctx;
    ikt_run *run = &embedding->run;
    run->rows = ikt_rows_make(ikt_result_rows(file), ikt_size(ctx), ikt_rank(ctx));
    embedding->q = ikt_result_dimensions(file);
    float **y = &run->embedding.y;
    IKT_TRY(
        ikt_agree(ctx, ikt_alloc(ctx, y, embedding->q * run->rows.count, sizeof **y, "embedding")));
    IKT_TRY(ikt_result_read_embedding(file, run->rows.first, run->rows.count, *y));
    IKT_TRY(read_labels(embedding, file));
    IKT_TRY(ikt_result_read_marked(file, &run->marked, &run->n_marked));
    IKT_TRY(ikt_result_notes(file, take_note, embedding));
    IKT_TRY(ikt_result_configuration(file, &embedding->yaml));
    embedding->hash =
        ikt_row_hash(ctx, *y, run->rows.first, run->rows.count, (size_t)embedding->q * sizeof **y);
    return ikt_embedding_hand_over(embedding, run->rows.count);
}

static ikt_status open_map(ikt_embedding *embedding, const char *path) {
    ikt_result_file *file = NULL;
    IKT_TRY(ikt_result_open(embedding->ctx, path, &file));
    const ikt_status st = read_map(embedding, file);
    ikt_result_close(&file);
    return st;
}

ikt_status ikt_embedding_read(ikt_context *ctx, const char *path, ikt_embedding **out) {
    const ikt_h5_host host = ikt_h5_host_keep();
    ikt_clear(ctx);
    IKT_TRY(ikt_embedding_new(ctx, out));
    const ikt_status st = ikt_embedding_report(*out, open_map(*out, path));
    if (st != IKT_OK) ikt_embedding_destroy(out);
    ikt_h5_host_restore(&host);
    return st;
}
