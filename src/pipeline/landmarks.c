/* A start from landmarks: a random subset is embedded first, and every row begins at the weighted
 * mean of the landmarks that it is most similar to, after Kobak & Berens 2019 (start of a large
 * embedding from that of a subset). Advantage: the few landmarks find a good arrangement of the
 * clusters, which a large map cannot rearrange any more. Disadvantage: what no landmark stands for
 * has no place; and each row is compared with every landmark, m n scores. See line.h. */
#include <string.h>

#include "affinity/affinity.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/timer.h"
#include "dist/shuffle.h"
#include "metric/metric.h"
#include "neighbours/exact.h"
#include "pipeline/line.h"

/* Landmarks that place a row, and the perplexity of a Gaussian kernel on them. */
enum { NEAREST = 10 };
static const double perplexity = 3;

/* Rows whose landmarks are found at a time. */
enum { CHUNK = 16384 };

static const char purpose[] = "landmarks";

void ikt_landmarks_destroy(ikt_landmarks *landmarks) {
    ikt_free_all(&landmarks->row, &landmarks->y);
    landmarks->count = 0;
}

/* --- the same line on a subset of the rows ---------------------------------------------------- */

/* The landmarks' rows as they are in the data set, in memory. */
typedef struct {
    void *dense;
    ikt_sparse_rows sparse;
    ikt_source *source; /* of one of the two */
} landmark_rows;

static void landmark_rows_destroy(landmark_rows *rows) {
    ikt_source_close(&rows->source);
    ikt_free(&rows->dense);
    ikt_sparse_rows_destroy(&rows->sparse);
}

static ikt_status gather_dense(ikt_context *ctx, ikt_dataset *data, const ikt_landmarks *landmarks,
                               landmark_rows *out) {
    const int64_t count = landmarks->count, columns = ikt_dataset_columns(data);
    const ikt_type type = ikt_held_type(ikt_dataset_is_u8(data));
    IKT_TRY(ikt_alloc_all(ctx, &out->dense, count * columns, ikt_type_size(type), purpose));
    IKT_TRY(ikt_dataset_gather(data, landmarks->row, count, out->dense));
    return ikt_source_from_memory(ctx, out->dense, count, columns, type, &out->source);
}

static ikt_status gather_sparse(ikt_context *ctx, ikt_dataset *data, const ikt_landmarks *landmarks,
                                landmark_rows *out) {
    const int64_t count = landmarks->count;
    ikt_sparse gathered IKT_AT_END(ikt_sparse_destroy) = {0};
    ikt_sparse_rows *to = &out->sparse;
    IKT_TRY(ikt_dataset_gather_sparse(data, landmarks->row, count, &gathered));
    const int64_t entries = gathered.start[count];
    IKT_TRY(ikt_agree(ctx, ikt_sparse_rows_reserve(ctx, count, entries, to)));
    to->count = count;
    memcpy(to->start, gathered.start, (size_t)(count + 1) * sizeof *to->start);
    for (int64_t e = 0; e < entries; e++) {
        to->column[e] = gathered.column[e];
        to->value[e] = (double)gathered.value[e];
    }
    return ikt_source_from_sparse(ctx, to, gathered.d, IKT_TYPE_F32, &out->source);
}

/* COLLECTIVE. Draws landmarks and embeds them. */
static ikt_status embed_landmarks(ikt_line *line, ikt_landmarks *out) {
    ikt_context *ctx = line->ctx;
    const ikt_settings *settings = line->settings;
    const ikt_rows rows = ikt_rows_make(out->count, ikt_size(ctx), ikt_rank(ctx));
    ikt_settings subset = ikt_settings_of_landmarks(settings, out->count);
    landmark_rows gathered IKT_AT_END(landmark_rows_destroy) = {.dense = NULL};
    ikt_dataset *part IKT_AT_END(ikt_dataset_destroy) = NULL;
    ikt_embed_result embedding IKT_AT_END(ikt_embed_result_destroy) = {0};
    IKT_ARRAYS(held, ctx, "initial");
    out->row = ikt_claim_kept(&held, out->count, sizeof *out->row);
    ikt_draw_claimed(&held, (uint64_t)settings->run.seed, IKT_RNG_LANDMARK, 0,
                     ikt_dataset_rows(line->data), out->count, out->row);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_dataset_is_sparse(line->data) ? gather_sparse(ctx, line->data, out, &gathered)
                                              : gather_dense(ctx, line->data, out, &gathered));
    IKT_TRY(ikt_dataset_create(ctx, gathered.source, &subset.preprocess, &part));
    IKT_TRY(ikt_embed_dataset(ctx, &subset, part, &rows, &(ikt_embed_options){0}, &embedding));
    return ikt_share_rows(ctx, &rows, embedding.y, (size_t)out->q * sizeof *out->y, purpose,
                          &out->y);
}

/* COLLECTIVE. Nothing where the loop goes on from a state, or rows have been placed. */
ikt_status ikt_step_landmarks(ikt_line *line) {
    const ikt_layout_settings *layout = &line->settings->layout;
    if (line->from || line->start) return IKT_OK;
    line->landmarks = (ikt_landmarks){.count = layout->landmarks, .q = (int)layout->dimensions};
    ikt_log_numbers(line->ctx, IKT_LOG_STAGE,
                    IKT_LOG_NUMBERS(IKT_LOG_INT("rows", layout->landmarks)),
                    "landmarks: %lld rows are embedded first", (long long)layout->landmarks);
    IKT_IN_STAGE(line->ctx, IKT_STAGE_LANDMARKS);
    return embed_landmarks(line, &line->landmarks);
}

/* --- places among them ------------------------------------------------------------------------ */

/* Weighted means of the positions of the landmarks in lists whose scores have become weights. */
static void average(ikt_context *ctx, const ikt_landmarks *landmarks, const ikt_neighbours *lists,
                    int64_t count, float *y) {
    const int64_t k = lists->k;
    const int q = landmarks->q;
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < count; i++) {
        double sum[3] = {0, 0, 0};
        for (int64_t e = i * k; e < (i + 1) * k; e++)
            for (int c = 0; c < q; c++)
                sum[c] +=
                    (double)lists->score[e] * (double)landmarks->y[q * (int64_t)lists->row[e] + c];
        for (int c = 0; c < q; c++)
            y[q * i + c] = (float)sum[c];
    }
}

/* Lists of the nearest landmarks of a chunk of rows. */
static ikt_status lists_create(ikt_context *ctx, const ikt_landmarks *landmarks,
                               const ikt_rows *rows, ikt_neighbours *lists) {
    ikt_rows chunk = *rows;
    chunk.count = ikt_smaller(chunk.count, CHUNK);
    return ikt_neighbours_create(ctx, &chunk, ikt_smaller(landmarks->count, NEAREST), lists);
}

/* LOCAL. Places of the own rows by their codes and those of the landmarks, some at a time. */
static ikt_status place_codes(ikt_context *ctx, const ikt_landmarks *landmarks,
                              const ikt_rows *rows, const ikt_codes *codes, const char *theirs,
                              float *y) {
    ikt_neighbours lists IKT_AT_END(ikt_neighbours_destroy) = {0};
    IKT_TRY(lists_create(ctx, landmarks, rows, &lists));
    for (int64_t done = 0; done < rows->count; done += CHUNK) {
        ikt_rows chunk = *rows;
        chunk.count = ikt_smaller(rows->count - done, CHUNK);
        ikt_codes own = *codes;
        own.n_local = lists.n_local = chunk.count;
        own.code = (char *)codes->code + done * codes->stride;
        const ikt_scorer scorer = ikt_scorer_codes(&own, &chunk);
        IKT_TRY(ikt_neighbours_among(ctx, &scorer, theirs, landmarks->count, &lists));
        ikt_isolation_weights(ctx, &lists, codes->t, lists.score);
        average(ctx, landmarks, &lists, chunk.count, y + landmarks->q * done);
    }
    return IKT_OK;
}

ikt_status ikt_landmarks_place_codes(ikt_context *ctx, const ikt_landmarks *landmarks,
                                     const ikt_rows *rows, const ikt_codes *codes, float *y) {
    const size_t stride = (size_t)codes->stride;
    IKT_IN_STAGE(ctx, IKT_STAGE_LANDMARKS);
    IKT_ARRAYS(held, ctx, purpose);
    char *theirs = ikt_claim(&held, landmarks->count, stride); /* on every rank */
    int64_t *counts = ikt_claim(&held, rows->ranks, sizeof *counts);
    IKT_TRY(ikt_arrays_agree(&held));
    ikt_rows_gather(ctx, rows, landmarks->row, landmarks->count, codes->code, stride, counts,
                    theirs);
    return ikt_agree(ctx, place_codes(ctx, landmarks, rows, codes, theirs, y));
}

/* LOCAL. Places of some rows x[count * d] by their distances to the landmarks, packed. */
static ikt_status place_rows(ikt_context *ctx, const ikt_landmarks *landmarks,
                             const ikt_dataset *data, const float *packed, const float *x,
                             int64_t count, ikt_neighbours *lists, float *y) {
    const ikt_rows part = {count, 1, 0, count};
    const ikt_scorer scorer =
        ikt_scorer_rows(ikt_metric_of(data), x, ikt_dataset_columns(data), &part);
    lists->n_local = count;
    if (count == 0) return IKT_OK;
    IKT_TRY(ikt_neighbours_among(ctx, &scorer, packed, landmarks->count, lists));
    ikt_gaussian_weights(ctx, lists, perplexity, lists->score);
    average(ctx, landmarks, lists, count, y);
    return IKT_OK;
}

ikt_status ikt_landmarks_place_rows(ikt_context *ctx, const ikt_landmarks *landmarks,
                                    const ikt_rows *rows, ikt_dataset *data, float *y) {
    const int64_t d = ikt_dataset_columns(data), n = landmarks->count;
    const int64_t chunks = (ikt_rows_count(rows, 0) + CHUNK - 1) / CHUNK;
    const ikt_row_range own = {rows->first, rows->count};
    ikt_neighbours lists IKT_AT_END(ikt_neighbours_destroy) = {0};
    IKT_IN_STAGE(ctx, IKT_STAGE_LANDMARKS);
    IKT_ARRAYS(held, ctx, purpose);
    float *packed = ikt_claim(&held, ikt_packed_floats(n, d), sizeof *packed);
    float *x = ikt_claim(&held, ikt_larger(n, CHUNK) * d, sizeof *x);
    if (held.status == IKT_OK) held.status = lists_create(ctx, landmarks, rows, &lists);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_dataset_gather_floats(data, landmarks->row, n, x));
    ikt_pack_rows(x, n, d, packed);
    for (int64_t chunk = 0; chunk < chunks; chunk++) { /* reading is collective */
        const ikt_row_range at = ikt_stream_step(own, CHUNK, chunk);
        float *to = y + landmarks->q * (at.first - own.first);
        IKT_TRY(ikt_dataset_read(data, at.first, at.count, x));
        IKT_TRY(ikt_agree(ctx, place_rows(ctx, landmarks, data, packed, x, at.count, &lists, to)));
    }
    return IKT_OK;
}
