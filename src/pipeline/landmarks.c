/* Where rows lie among landmarks. See start.h. */
#include "pipeline/start.h"

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

/* Lists of the nearest landmarks of a chunk of rows. */
static ikt_status lists_create(ikt_context *ctx, const ikt_landmarks *landmarks,
                               const ikt_rows *rows, ikt_neighbours *lists) {
    ikt_rows chunk = *rows;
    if (chunk.count > CHUNK) chunk.count = CHUNK;
    return ikt_neighbours_create(ctx, &chunk,
                                 landmarks->count < NEAREST ? landmarks->count : NEAREST, lists);
}

ikt_status ikt_landmarks_place_codes(ikt_context *ctx, const ikt_landmarks *landmarks,
                                     const ikt_rows *rows, const ikt_codes *codes, float *y) {
    int64_t *counts = NULL;
    char *theirs = NULL; /* codes of the landmarks, on every rank */
    ikt_neighbours lists = {0};
    ikt_stage_begin(ctx, IKT_STAGE_LANDMARKS);
    ikt_status st = ikt_alloc(ctx, &theirs, landmarks->count, (size_t)codes->stride, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &counts, rows->ranks, sizeof *counts, purpose);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        ikt_rows_gather(ctx, rows, landmarks->row, landmarks->count, codes->code,
                        (size_t)codes->stride, counts, theirs);
        st = lists_create(ctx, landmarks, rows, &lists);
        for (int64_t done = 0; st == IKT_OK && done < rows->count; done += CHUNK) {
            ikt_rows chunk = *rows;
            chunk.count = rows->count - done < CHUNK ? rows->count - done : CHUNK;
            ikt_codes own = *codes;
            own.n_local = lists.n_local = chunk.count;
            own.code = (char *)codes->code + done * codes->stride;
            const ikt_scorer scorer = ikt_scorer_codes(&own, &chunk);
            st = ikt_neighbours_among(ctx, &scorer, theirs, landmarks->count, &lists);
            if (st != IKT_OK) break;
            ikt_isolation_weights(ctx, &lists, codes->t, lists.score);
            average(ctx, landmarks, &lists, chunk.count, y + landmarks->q * done);
        }
        st = ikt_agree(ctx, st);
    }
    ikt_free(&counts);
    ikt_free(&theirs);
    ikt_neighbours_destroy(&lists);
    ikt_stage_end(ctx, IKT_STAGE_LANDMARKS);
    return st;
}

ikt_status ikt_landmarks_place_rows(ikt_context *ctx, const ikt_landmarks *landmarks,
                                    const ikt_rows *rows, ikt_dataset *data, float *y) {
    const int64_t d = ikt_dataset_columns(data), n = landmarks->count;
    const int64_t chunks = (ikt_rows_count(rows, 0) + CHUNK - 1) / CHUNK;
    float *packed = NULL, *x = NULL; /* the landmarks packed for distances, a chunk of rows */
    ikt_neighbours lists = {0};
    ikt_stage_begin(ctx, IKT_STAGE_LANDMARKS);
    ikt_status st = ikt_alloc(ctx, &packed, ikt_packed_floats(n, d), sizeof(float), purpose);
    if (st == IKT_OK) st = lists_create(ctx, landmarks, rows, &lists);
    if (st == IKT_OK) st = ikt_alloc(ctx, &x, (n > CHUNK ? n : CHUNK) * d, sizeof *x, purpose);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = ikt_dataset_gather_floats(data, landmarks->row, n, x);
    if (st == IKT_OK) ikt_pack_rows(x, n, d, packed);
    for (int64_t chunk = 0; st == IKT_OK && chunk < chunks; chunk++) { /* reading is collective */
        const int64_t done = chunk * CHUNK, left = rows->count - done;
        const int64_t count = left < 0 ? 0 : left < CHUNK ? left : CHUNK;
        const ikt_rows part = {count, 1, 0, count};
        st = ikt_dataset_read(data, count ? rows->first + done : 0, count, x);
        if (st != IKT_OK) break;
        const ikt_scorer scorer = ikt_scorer_rows(ikt_metric_of(data), x, d, &part);
        lists.n_local = count;
        if (count > 0) st = ikt_neighbours_among(ctx, &scorer, packed, n, &lists);
        if (count > 0 && st == IKT_OK) {
            ikt_gaussian_weights(ctx, &lists, perplexity, lists.score);
            average(ctx, landmarks, &lists, count, y + landmarks->q * done);
        }
        st = ikt_agree(ctx, st);
    }
    ikt_free(&packed);
    ikt_free(&x);
    ikt_neighbours_destroy(&lists);
    ikt_stage_end(ctx, IKT_STAGE_LANDMARKS);
    return st;
}
