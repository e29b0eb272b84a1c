/* Where rows lie among landmarks. See landmarks.h. */
#include "pipeline/landmarks.h"

#include <string.h>

#include "affinity/affinity.h"
#include "base/comm.h"
#include "base/memory.h"
#include "base/timer.h"
#include "metric/metric.h"
#include "neighbours/exact.h"

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
