/* Keeping what places new rows. */
#include "pipeline/keep.h"

#include <stdio.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/timer.h"
#include "iktsne/build.h"
#include "pipeline/outcome.h"

enum { CENTRE_BYTES = 16 << 20, FACTS_MOST = 8 };

static const char purpose[] = "model";

static ikt_model_shape shape_of(ikt_dataset *data, const ikt_rows *rows, const ikt_model *model,
                                int64_t centres, int64_t q) {
    const ikt_data_map preprocess = ikt_dataset_map(data);
    return (ikt_model_shape){.n = rows->n,
                             .q = q,
                             .d = preprocess.normaliser.d,
                             .columns = ikt_dataset_columns(data),
                             .centres = centres,
                             .t = model->t,
                             .psi = model->psi,
                             .is_u8 = ikt_dataset_is_u8(data),
                             .is_shifted = preprocess.normaliser.shift != NULL,
                             .is_reduced = preprocess.pca != NULL,
                             .is_unit = preprocess.normaliser.mode == IKT_NORMALISE_UNIT};
}

/* Every rank holds what is written here; one writes it. */
static ikt_status write_shared(ikt_context *ctx, ikt_model_writer *w, ikt_model_part part,
                               int64_t count, const void *rows) {
    return ikt_model_writer_part(w, part, 0, ikt_rank(ctx) == 0 ? count : 0, rows, 0);
}

static ikt_status write_preprocessing(ikt_context *ctx, ikt_model_writer *w, ikt_dataset *data) {
    const ikt_data_map map = ikt_dataset_map(data);
    const int64_t d = map.normaliser.d;
    if (map.normaliser.shift) {
        IKT_TRY(write_shared(ctx, w, IKT_MODEL_SHIFT, d, map.normaliser.shift));
        IKT_TRY(write_shared(ctx, w, IKT_MODEL_SCALE, d, map.normaliser.scale));
    }
    if (!map.pca) return IKT_OK;
    IKT_TRY(write_shared(ctx, w, IKT_MODEL_MEAN, d, map.pca->mean));
    return write_shared(ctx, w, IKT_MODEL_COMPONENTS, map.pca->k, map.pca->components);
}

/* COLLECTIVE. Coordinates of the distinct centres, some at a time. */
static ikt_status write_centres(ikt_context *ctx, ikt_model_writer *w, ikt_dataset *data,
                                const int64_t *row, int64_t count) {
    const int64_t bytes = ikt_dataset_columns(data) * (ikt_dataset_is_u8(data) ? 1 : 4);
    const int64_t block = bytes < CENTRE_BYTES ? CENTRE_BYTES / bytes : 1;
    char *rows = NULL;
    ikt_status st = ikt_agree(
        ctx, ikt_alloc(ctx, &rows, block < count ? block : count, (size_t)bytes, purpose));
    for (int64_t first = 0; st == IKT_OK && first < count; first += block) {
        int64_t now = count - first < block ? count - first : block;
        st = ikt_dataset_gather(ikt_dataset_model(data), row + first, now, rows);
        if (st == IKT_OK)
            st = ikt_model_writer_part(w, IKT_MODEL_CENTRES, first, ikt_rank(ctx) == 0 ? now : 0,
                                       rows, 0);
    }
    ikt_free(&rows);
    return st;
}

static ikt_status write_partitionings(ikt_context *ctx, ikt_model_writer *w, const ikt_model *model,
                                      const int64_t *row, int64_t count) {
    const int64_t all = model->t * model->psi;
    int32_t *number = NULL;
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &number, all, sizeof *number, purpose));
    for (int64_t e = 0; st == IKT_OK && e < all; e++)
        number[e] = (int32_t)ikt_find_i64(row, count, model->row[e]);
    if (st == IKT_OK) st = write_shared(ctx, w, IKT_MODEL_PARTITIONINGS, model->t, number);
    ikt_free(&number);
    return st;
}

ikt_status ikt_keep_codes(ikt_context *ctx, ikt_model_writer *writer, ikt_dataset *data,
                          const ikt_rows *rows, const ikt_model *model, const ikt_codes *codes,
                          int64_t q) {
    int64_t *row = NULL, count = 0;
    ikt_stage_begin(ctx, IKT_STAGE_WRITE);
    ikt_status st = ikt_agree(ctx, ikt_model_distinct(ctx, model, 0, model->t, &row, &count));
    if (st == IKT_OK) {
        const ikt_model_shape shape = shape_of(data, rows, model, count, q);
        st = ikt_model_writer_shape(writer, &shape);
    }
    if (st == IKT_OK) st = write_preprocessing(ctx, writer, data);
    if (st == IKT_OK) st = write_centres(ctx, writer, data, row, count);
    if (st == IKT_OK) st = write_partitionings(ctx, writer, model, row, count);
    if (st == IKT_OK)
        st = ikt_model_writer_part(writer, IKT_MODEL_CODES, rows->first, rows->count, codes->code,
                                   codes->stride);
    ikt_free(&row);
    ikt_stage_end(ctx, IKT_STAGE_WRITE);
    return st;
}

static void add(ikt_note *facts, int64_t *count, const char *name, const char *text) {
    snprintf(facts[*count].name, sizeof facts->name, "%s", name);
    snprintf(facts[*count].text, sizeof facts->text, "%s", text);
    ++*count;
}

static int64_t list_facts(const ikt_run *run, ikt_note *facts) {
    char text[64];
    int64_t count = 0;
    add(facts, &count, "version", IKT_VERSION);
    add(facts, &count, "commit", IKT_COMMIT);
    add(facts, &count, "compiler", IKT_COMPILER " " IKT_COMPILE_FLAGS);
    add(facts, &count, "instruction_set", ikt_isa_name(ikt_cpu_isa()));
    add(facts, &count, "input", run->input_name);
    snprintf(text, sizeof text, "%lld x %lld %s", (long long)run->rows.n, (long long)run->d,
             run->type);
    add(facts, &count, "input_shape", text);
    snprintf(text, sizeof text, "%016llx", (unsigned long long)run->hash);
    add(facts, &count, "embedding_hash", text);
    return count;
}

static ikt_status write_run(ikt_context *ctx, const ikt_run *run, const ikt_note *facts,
                            int64_t n_facts, const char *configuration) {
    const ikt_rows *rows = &run->rows;
    IKT_TRY(ikt_model_writer_part(run->model_writer, IKT_MODEL_EMBEDDING, rows->first, rows->count,
                                  run->embedding.y, 0));
    /* A rank without rows may hold no labels either: all ranks take the same path. */
    if (ikt_max_one(ctx, run->labels != NULL) > 0)
        IKT_TRY(ikt_model_writer_part(run->model_writer, IKT_MODEL_LABELS, rows->first, rows->count,
                                      run->labels, 0));
    return ikt_model_writer_notes(run->model_writer, configuration, facts, n_facts);
}

ikt_status ikt_run_keep(ikt_context *ctx, ikt_run *run) {
    ikt_note *facts = NULL;
    char *configuration = NULL;
    if (!run->model_writer) return IKT_OK;
    ikt_stage_begin(ctx, IKT_STAGE_WRITE);
    ikt_status st = ikt_alloc(ctx, &facts, FACTS_MOST, sizeof *facts, purpose);
    if (st == IKT_OK) st = ikt_run_configuration(ctx, run, &configuration);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = write_run(ctx, run, facts, list_facts(run, facts), configuration);
    st = ikt_model_writer_end(&run->model_writer, st);
    if (st == IKT_OK)
        ikt_log(ctx, IKT_LOG_STAGE, "model: %s; `iktsne transform` places new rows by it",
                run->settings.output.model);
    ikt_free(&facts);
    ikt_free(&configuration);
    ikt_stage_end(ctx, IKT_STAGE_WRITE);
    return st;
}
