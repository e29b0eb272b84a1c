/* A start from landmarks. */
#include "pipeline/landmarks.h"

#include <string.h>

#include "affinity/affinity.h"
#include "base/comm.h"
#include "base/draw.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "metric/metric.h"
#include "neighbours/exact.h"
#include "pipeline/embedding.h"

/* Landmarks that place a row, and the perplexity of a Gaussian kernel on them. */
enum { NEAREST = 10 };
static const double perplexity = 3;

/* Rows whose landmarks are found at a time. */
enum { CHUNK = 16384 };

static const char purpose[] = "landmarks";

void ikt_landmarks_destroy(ikt_landmarks *landmarks) {
    ikt_free(&landmarks->row);
    ikt_free(&landmarks->y);
    landmarks->count = 0;
}

/* --- their own embedding ---------------------------------------------------------------------- */

static ikt_status draw(ikt_context *ctx, uint64_t seed, int64_t n, ikt_landmarks *landmarks) {
    int64_t *slot = NULL, slots = ikt_draw_slots(landmarks->count);
    ikt_status st = ikt_alloc(ctx, &landmarks->row, landmarks->count, sizeof(int64_t), purpose);
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &landmarks->y, landmarks->q * landmarks->count, sizeof(float), purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &slot, slots, sizeof *slot, purpose);
    if (st == IKT_OK)
        ikt_draw_subset(seed, IKT_RNG_LANDMARK, 0, n, landmarks->count, slot, slots,
                        landmarks->row);
    ikt_free(&slot);
    return ikt_agree(ctx, st);
}

/* COLLECTIVE. Gathers what the ranks have of the positions. */
static ikt_status share(ikt_context *ctx, const ikt_rows *rows, const float *own,
                        ikt_landmarks *landmarks) {
    int64_t *counts = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &counts, rows->ranks, sizeof *counts, purpose)));
    for (int rank = 0; rank < rows->ranks; rank++)
        counts[rank] = ikt_rows_count(rows, rank);
    ikt_allgather(ctx, own, rows->count, (size_t)landmarks->q * sizeof *own, landmarks->y, counts);
    ikt_free(&counts);
    return IKT_OK;
}

static ikt_status embed_rows(ikt_context *ctx, ikt_settings *settings, ikt_source *source,
                             ikt_landmarks *landmarks) {
    const ikt_rows rows = ikt_rows_make(landmarks->count, ikt_size(ctx), ikt_rank(ctx));
    ikt_dataset *data = NULL;
    ikt_embed_result embedding = {0};
    ikt_status st = ikt_dataset_create(ctx, source, &settings->preprocess, &data);
    if (st == IKT_OK)
        st = ikt_embed_dataset(ctx, settings, data, &rows, &(ikt_embed_options){0}, &embedding);
    if (st == IKT_OK) st = share(ctx, &rows, embedding.y, landmarks);
    ikt_embed_result_destroy(&embedding);
    ikt_dataset_destroy(&data);
    return st;
}

static ikt_status embed_dense(ikt_context *ctx, ikt_settings *settings, ikt_dataset *data,
                              ikt_landmarks *landmarks) {
    const int64_t columns = ikt_dataset_columns(data);
    const ikt_type type = ikt_dataset_is_u8(data) ? IKT_TYPE_U8 : IKT_TYPE_F32;
    ikt_source *source = NULL;
    void *rows = NULL;
    ikt_status st = ikt_agree(
        ctx, ikt_alloc(ctx, &rows, landmarks->count * columns, ikt_type_size(type), purpose));
    if (st == IKT_OK) st = ikt_dataset_gather(data, landmarks->row, landmarks->count, rows);
    if (st == IKT_OK)
        st = ikt_source_from_memory(ctx, rows, landmarks->count, columns, type, &source);
    if (st == IKT_OK) st = embed_rows(ctx, settings, source, landmarks);
    ikt_source_close(&source);
    ikt_free(&rows);
    return st;
}

/* Rows of kernels as rows of a source. */
static ikt_status widen(ikt_context *ctx, const ikt_sparse *from, ikt_sparse_rows *to) {
    const int64_t entries = from->start[from->count];
    IKT_TRY(ikt_sparse_rows_reserve(ctx, from->count, entries, to));
    to->count = from->count;
    memcpy(to->start, from->start, (size_t)(from->count + 1) * sizeof *to->start);
    for (int64_t e = 0; e < entries; e++) {
        to->column[e] = from->column[e];
        to->value[e] = (double)from->value[e];
    }
    return IKT_OK;
}

static ikt_status embed_sparse(ikt_context *ctx, ikt_settings *settings, ikt_dataset *data,
                               ikt_landmarks *landmarks) {
    ikt_source *source = NULL;
    ikt_sparse gathered = {0};
    ikt_sparse_rows rows = {0};
    ikt_status st = ikt_dataset_gather_sparse(data, landmarks->row, landmarks->count, &gathered);
    if (st == IKT_OK) st = ikt_agree(ctx, widen(ctx, &gathered, &rows));
    if (st == IKT_OK) st = ikt_source_from_sparse(ctx, &rows, gathered.d, IKT_TYPE_F32, &source);
    if (st == IKT_OK) st = embed_rows(ctx, settings, source, landmarks);
    ikt_source_close(&source);
    ikt_sparse_destroy(&gathered);
    ikt_sparse_rows_destroy(&rows);
    return st;
}

ikt_status ikt_landmarks_make(ikt_context *ctx, const ikt_settings *settings, int64_t count,
                              ikt_dataset *data, ikt_landmarks *out) {
    ikt_settings subset = ikt_settings_of_landmarks(settings, count);
    *out = (ikt_landmarks){.count = count, .q = (int)settings->layout.dimensions};
    ikt_log_numbers(ctx, IKT_LOG_STAGE, (ikt_log_number[]){IKT_LOG_INT("rows", out->count), {0}},
                    "landmarks: %lld rows are embedded first", (long long)out->count);
    ikt_stage_begin(ctx, IKT_STAGE_LANDMARKS);
    ikt_status st = draw(ctx, (uint64_t)settings->run.seed, ikt_dataset_rows(data), out);
    if (st == IKT_OK)
        st = ikt_dataset_is_sparse(data) ? embed_sparse(ctx, &subset, data, out)
                                         : embed_dense(ctx, &subset, data, out);
    ikt_stage_end(ctx, IKT_STAGE_LANDMARKS);
    if (st != IKT_OK) ikt_landmarks_destroy(out);
    return st;
}

/* --- all rows among them ---------------------------------------------------------------------- */

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

static int64_t nearest_count(const ikt_landmarks *landmarks) {
    return landmarks->count < NEAREST ? landmarks->count : NEAREST;
}

static ikt_status lists_create(ikt_context *ctx, const ikt_landmarks *landmarks,
                               const ikt_rows *rows, ikt_neighbours *lists) {
    ikt_rows chunk = *rows;
    if (chunk.count > CHUNK) chunk.count = CHUNK;
    return ikt_neighbours_create(ctx, &chunk, nearest_count(landmarks), lists);
}

/* The codes of the landmarks on every rank: each has those of its own rows. */
static ikt_status gather_codes(ikt_context *ctx, const ikt_landmarks *landmarks,
                               const ikt_rows *rows, const ikt_codes *codes, ikt_codes *out) {
    const size_t stride = (size_t)codes->stride;
    int64_t *counts = NULL, own = 0;
    char *mine = NULL;
    *out = *codes;
    out->n_local = landmarks->count;
    ikt_status st = ikt_alloc(ctx, &out->code, landmarks->count, stride, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &counts, rows->ranks, sizeof *counts, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &mine, landmarks->count, stride, purpose);
    st = ikt_agree(ctx, st);
    for (int64_t l = 0; st == IKT_OK && l < landmarks->count; l++) {
        int64_t i = landmarks->row[l] - rows->first;
        counts[ikt_rows_owner(rows, landmarks->row[l])]++;
        if (i >= 0 && i < rows->count)
            memcpy(mine + (size_t)own++ * stride, (const char *)codes->code + (size_t)i * stride,
                   stride);
    }
    if (st == IKT_OK) ikt_allgather(ctx, mine, own, stride, out->code, counts);
    ikt_free(&counts);
    ikt_free(&mine);
    if (st != IKT_OK) ikt_codes_destroy(out);
    return st;
}

static ikt_status place_codes(ikt_context *ctx, const ikt_landmarks *landmarks,
                              const ikt_rows *rows, const ikt_codes *codes, const ikt_codes *theirs,
                              float *y) {
    ikt_neighbours lists;
    ikt_status st = lists_create(ctx, landmarks, rows, &lists);
    for (int64_t done = 0; st == IKT_OK && done < rows->count; done += CHUNK) {
        ikt_rows chunk = *rows;
        chunk.count = rows->count - done < CHUNK ? rows->count - done : CHUNK;
        ikt_codes own = *codes;
        own.n_local = lists.n_local = chunk.count;
        own.code = (char *)codes->code + done * codes->stride;
        const ikt_scorer scorer = ikt_scorer_codes(&own, &chunk);
        st = ikt_neighbours_among(ctx, &scorer, theirs->code, landmarks->count, &lists);
        if (st != IKT_OK) break;
        ikt_isolation_weights(ctx, &lists, codes->t, lists.score);
        average(ctx, landmarks, &lists, chunk.count, y + landmarks->q * done);
    }
    ikt_neighbours_destroy(&lists);
    return st;
}

ikt_status ikt_landmarks_place_codes(ikt_context *ctx, const ikt_landmarks *landmarks,
                                     const ikt_rows *rows, const ikt_codes *codes, float *y) {
    ikt_codes theirs;
    ikt_stage_begin(ctx, IKT_STAGE_LANDMARKS);
    ikt_status st = gather_codes(ctx, landmarks, rows, codes, &theirs);
    if (st == IKT_OK) {
        st = ikt_agree(ctx, place_codes(ctx, landmarks, rows, codes, &theirs, y));
        ikt_codes_destroy(&theirs);
    }
    ikt_stage_end(ctx, IKT_STAGE_LANDMARKS);
    return st;
}

/* The landmarks packed for distances, and room for a chunk of rows. */
typedef struct {
    const ikt_metric *metric;
    float *packed, *rows;
    ikt_neighbours lists;
} row_room;

static ikt_status room_create(ikt_context *ctx, const ikt_landmarks *landmarks,
                              const ikt_rows *rows, int64_t d, row_room *room) {
    IKT_TRY(ikt_alloc(ctx, &room->packed, ikt_packed_floats(landmarks->count, d), sizeof(float),
                      purpose));
    IKT_TRY(lists_create(ctx, landmarks, rows, &room->lists));
    int64_t most = landmarks->count > CHUNK ? landmarks->count : CHUNK;
    return ikt_alloc(ctx, &room->rows, most * d, sizeof(float), purpose);
}

static ikt_status place_chunk(ikt_context *ctx, const ikt_landmarks *landmarks, row_room *room,
                              int64_t d, int64_t count, float *y) {
    const ikt_rows chunk = {count, 1, 0, count};
    const ikt_scorer scorer = ikt_scorer_rows(room->metric, room->rows, d, &chunk);
    room->lists.n_local = count;
    IKT_TRY(ikt_neighbours_among(ctx, &scorer, room->packed, landmarks->count, &room->lists));
    ikt_gaussian_weights(ctx, &room->lists, perplexity, room->lists.score);
    average(ctx, landmarks, &room->lists, count, y);
    return IKT_OK;
}

ikt_status ikt_landmarks_place_rows(ikt_context *ctx, const ikt_landmarks *landmarks,
                                    const ikt_rows *rows, ikt_dataset *data, float *y) {
    const int64_t d = ikt_dataset_columns(data);
    const int64_t chunks = (ikt_rows_count(rows, 0) + CHUNK - 1) / CHUNK;
    row_room room = {.metric = ikt_metric_of(data)};
    ikt_stage_begin(ctx, IKT_STAGE_LANDMARKS);
    ikt_status st = ikt_agree(ctx, room_create(ctx, landmarks, rows, d, &room));
    if (st == IKT_OK)
        st = ikt_dataset_gather_floats(data, landmarks->row, landmarks->count, room.rows);
    if (st == IKT_OK) ikt_pack_rows(room.rows, landmarks->count, d, room.packed);
    for (int64_t chunk = 0; st == IKT_OK && chunk < chunks; chunk++) { /* reading is collective */
        int64_t done = chunk * CHUNK, left = rows->count - done;
        int64_t count = left < 0 ? 0 : left < CHUNK ? left : CHUNK;
        st = ikt_dataset_read(data, count ? rows->first + done : 0, count, room.rows);
        if (st != IKT_OK) break;
        if (count > 0) st = place_chunk(ctx, landmarks, &room, d, count, y + landmarks->q * done);
        st = ikt_agree(ctx, st);
    }
    ikt_free(&room.packed);
    ikt_free(&room.rows);
    ikt_neighbours_destroy(&room.lists);
    ikt_stage_end(ctx, IKT_STAGE_LANDMARKS);
    return st;
}
