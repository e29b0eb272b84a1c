/* Dissimilarities of a batch of rows to all rows. See code_distances.h. */
#include "evaluate/distances.h"

#include <string.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "isolation/similarity.h"

ikt_status ikt_code_distances_create(ikt_context *ctx, const ikt_rows *rows, const ikt_codes *codes,
                                     int64_t room, ikt_code_distances *out) {
    int64_t ranks = ikt_size(ctx), asked = ranks * room;
    *out = (ikt_code_distances){.rows = *rows, .codes = codes, .room = room, .stride = rows->n};
    IKT_TRY(ikt_alloc(ctx, &out->distance, room * rows->n, sizeof(float), "measures"));
    IKT_TRY(ikt_alloc(ctx, &out->asked, asked, sizeof(int64_t), "measures"));
    IKT_TRY(ikt_alloc(ctx, &out->code, asked * codes->stride, 1, "measures"));
    IKT_TRY(ikt_alloc(ctx, &out->out, asked * rows->count, sizeof(uint16_t), "measures"));
    IKT_TRY(ikt_alloc(ctx, &out->in, room * rows->n, sizeof(uint16_t), "measures"));
    IKT_TRY(ikt_alloc(ctx, &out->counts, ranks, sizeof(int64_t), "measures"));
    IKT_TRY(ikt_alloc(ctx, &out->leave, ranks, sizeof(int64_t), "measures"));
    return ikt_alloc(ctx, &out->come, ranks, sizeof(int64_t), "measures");
}

void ikt_code_distances_destroy(ikt_code_distances *work) {
    ikt_free(&work->distance);
    ikt_free(&work->asked);
    ikt_free(&work->code);
    ikt_free(&work->out);
    ikt_free(&work->in);
    ikt_free(&work->counts);
    ikt_free(&work->leave);
    ikt_free(&work->come);
}

int64_t ikt_code_distances_memory(int64_t n, int64_t stride, int64_t room, int ranks) {
    int64_t own = (n + ranks - 1) / ranks, asked = ranks * room;
    return room * n * (int64_t)(sizeof(float) + sizeof(uint16_t)) +
           asked * ((int64_t)sizeof(int64_t) + stride + own * (int64_t)sizeof(uint16_t)) +
           3 * ranks * (int64_t)sizeof(int64_t);
}

/* COLLECTIVE. Codes of all queries on every rank: the owner's bytes, added to the others' zeros.
 * Strides are multiples of 64, so the bytes are whole integers. */
static void share_codes(ikt_context *ctx, ikt_code_distances *w, int64_t total) {
    const int64_t stride = w->codes->stride;
    for (int64_t q = 0; q < total; q++) {
        int64_t i = w->asked[q] - w->rows.first;
        if (i >= 0 && i < w->rows.count)
            memcpy(w->code + q * stride, (const char *)w->codes->code + i * stride, (size_t)stride);
        else
            memset(w->code + q * stride, 0, (size_t)stride);
    }
    ikt_sum_i64(ctx, (int64_t *)(void *)w->code, total * stride / (int64_t)sizeof(int64_t));
}

enum { BLOCK = 4096 }; /* own rows against which all queries go at a time */

/* Counts of equal cells of all queries with the own rows. */
static void count_equal(ikt_context *ctx, const ikt_code_distances *w, int64_t total) {
    const ikt_code_shape shape = {w->codes->t, w->codes->stride, w->codes->width};
    const int64_t blocks = (w->rows.count + BLOCK - 1) / BLOCK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(ctx))
    for (int64_t b = 0; b < blocks; b++) {
        int64_t first = b * BLOCK,
                rows = w->rows.count - first < BLOCK ? w->rows.count - first : BLOCK;
        ikt_similarity_block(ikt_cpu_isa(), shape, w->code, total,
                             (const char *)w->codes->code + first * shape.stride, rows,
                             w->out + first, w->rows.count);
    }
}

/* From what came, rank after rank, to one row of distances a query. */
static void place(ikt_context *ctx, ikt_code_distances *w, int64_t count) {
    const int64_t n = w->rows.n, t = w->codes->t;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t q = 0; q < count; q++)
        for (int r = 0; r < ikt_size(ctx); r++) {
            int64_t first = ikt_rows_first(&w->rows, r), rows = ikt_rows_count(&w->rows, r);
            const uint16_t *equal = w->in + count * first + q * rows;
            for (int64_t j = 0; j < rows; j++)
                w->distance[q * n + first + j] = (float)(t - equal[j]);
        }
}

ikt_status ikt_code_distances_fill(ikt_context *ctx, ikt_code_distances *w, const int64_t *row,
                                   int64_t count) {
    int64_t total = 0;
    ikt_gather_counts(ctx, count, w->counts);
    for (int r = 0; r < ikt_size(ctx); r++) {
        total += w->counts[r];
        w->leave[r] = w->counts[r] * w->rows.count;
        w->come[r] = count * ikt_rows_count(&w->rows, r);
    }
    ikt_allgather(ctx, row, count, sizeof *row, w->asked, w->counts);
    share_codes(ctx, w, total);
    count_equal(ctx, w, total);
    ikt_exchange(ctx, w->out, w->leave, w->in, w->come, sizeof *w->out);
    place(ctx, w, count);
    return IKT_OK;
}
