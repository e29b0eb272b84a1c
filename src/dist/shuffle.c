/* Items on their way to the ranks they belong to. See shuffle.h. */
#include "dist/shuffle.h"

#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"

ikt_status ikt_shuffle_create(ikt_context *ctx, const char *purpose, ikt_shuffle *out) {
    const int64_t ranks = ikt_size(ctx);
    *out = (ikt_shuffle){0};
    IKT_TRY(ikt_alloc(ctx, &out->send_counts, ranks, sizeof *out->send_counts, purpose));
    IKT_TRY(ikt_alloc(ctx, &out->recv_counts, ranks, sizeof *out->recv_counts, purpose));
    return ikt_alloc(ctx, &out->place, ranks, sizeof *out->place, purpose);
}

void ikt_shuffle_destroy(ikt_shuffle *shuffle) {
    ikt_free_all(&shuffle->send_counts, &shuffle->recv_counts, &shuffle->place);
}

void ikt_shuffle_clear(ikt_context *ctx, ikt_shuffle *shuffle) {
    memset(shuffle->send_counts, 0, (size_t)ikt_size(ctx) * sizeof *shuffle->send_counts);
    shuffle->sent = shuffle->received = 0;
}

void ikt_shuffle_count_rows(ikt_shuffle *shuffle, const ikt_rows *rows, const uint32_t *row,
                            int64_t count) {
    for (int64_t e = 0; e < count; e++)
        ikt_shuffle_count(shuffle, ikt_rows_owner(rows, row[e]));
}

void ikt_shuffle_group(ikt_context *ctx, ikt_shuffle *shuffle) {
    shuffle->sent = 0;
    for (int r = 0; r < ikt_size(ctx); r++) {
        shuffle->place[r] = shuffle->sent;
        shuffle->sent += shuffle->send_counts[r];
    }
}

void ikt_shuffle_meet(ikt_context *ctx, ikt_shuffle *shuffle) {
    ikt_exchange_counts(ctx, shuffle->send_counts, shuffle->recv_counts);
    shuffle->received = 0;
    for (int r = 0; r < ikt_size(ctx); r++)
        shuffle->received += shuffle->recv_counts[r];
}

void ikt_shuffle_send(ikt_context *ctx, const ikt_shuffle *shuffle, const void *in, void *out,
                      size_t bytes) {
    ikt_exchange(ctx, in, shuffle->send_counts, out, shuffle->recv_counts, bytes);
}

void ikt_shuffle_answer(ikt_context *ctx, const ikt_shuffle *shuffle, const void *in, void *out,
                        size_t bytes) {
    ikt_exchange(ctx, in, shuffle->recv_counts, out, shuffle->send_counts, bytes);
}

ikt_status ikt_gather_rows(ikt_context *ctx, const ikt_rows *rows, const uint32_t *row,
                           int64_t count, const void *own, size_t bytes, void *value) {
    ikt_shuffle shuffle IKT_AT_END(ikt_shuffle_destroy) = {0};
    IKT_TRY(ikt_agree(ctx, ikt_shuffle_create(ctx, "rows of others", &shuffle)));
    ikt_shuffle_count_rows(&shuffle, rows, row, count);
    ikt_shuffle_meet(ctx, &shuffle);
    IKT_ARRAYS(held, ctx, "rows of others"); /* rows that others want, and their values */
    uint32_t *asked = ikt_claim(&held, shuffle.received, sizeof *asked);
    char *leaving = ikt_claim(&held, shuffle.received, bytes);
    IKT_TRY(ikt_arrays_agree(&held));
    ikt_shuffle_send(ctx, &shuffle, row, asked, sizeof *asked);
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < shuffle.received; e++)
        memcpy(leaving + (size_t)e * bytes,
               (const char *)own + (size_t)(asked[e] - rows->first) * bytes, bytes);
    ikt_shuffle_answer(ctx, &shuffle, leaving, value, bytes);
    return IKT_OK;
}

ikt_status ikt_share_rows(ikt_context *ctx, const ikt_rows *rows, const void *own, size_t bytes,
                          const char *memory, void *all) {
    void *values IKT_AT_END(ikt_free) = NULL;
    memcpy(all, &values, sizeof values);
    IKT_ARRAYS(held, ctx, memory);
    values = ikt_claim_kept(&held, rows->n, bytes);
    int64_t *counts = ikt_claim(&held, rows->ranks, sizeof *counts);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int r = 0; r < rows->ranks; r++)
        counts[r] = ikt_rows_count(rows, r);
    ikt_allgather(ctx, own, rows->count, bytes, values, counts);
    memcpy(all, &values, sizeof values);
    values = NULL;
    return IKT_OK;
}
