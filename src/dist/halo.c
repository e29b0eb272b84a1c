/* The boundary exchange: planned once, then point-to-point messages. See halo.h. */
#include "dist/halo.h"

#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "dist/shuffle.h"

/* Rows to pack from which on a second thread is worth waking. */
static const int64_t parallel_rows = 1 << 16;

struct ikt_halo {
    ikt_context *ctx;
    int width;
    ikt_shuffle asked; /* sent: the ghosts, by owner; received: own rows that others need */
    int32_t *send_row; /* [asked.received] local rows, by the rank that needs them */
    float *buffer;     /* [asked.received * width] */
    ikt_transfer *transfer;
};

ikt_status ikt_halo_create(ikt_context *ctx, const ikt_rows *distribution, const int64_t *ghost_row,
                           int64_t n_ghost, int width, ikt_halo **out) {
    ikt_halo *made IKT_AT_END(ikt_halo_destroy) = NULL;
    *out = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &made, 1, sizeof *made, "halo"));
    ikt_halo *halo = made;
    ikt_shuffle *shuffle = &halo->asked;
    halo->ctx = ctx;
    halo->width = width;
    /* Asks the owners for the ghost rows, and learns which own rows others need. */
    ikt_status st = ikt_shuffle_create(ctx, "halo", shuffle);
    if (st == IKT_OK) st = ikt_transfer_create(ctx, (size_t)width * sizeof(float), &halo->transfer);
    IKT_TRY(ikt_agree(ctx, st));
    for (int64_t g = 0; g < n_ghost; g++)
        ikt_shuffle_count(shuffle, ikt_rows_owner(distribution, ghost_row[g]));
    ikt_shuffle_group(ctx, shuffle);
    ikt_shuffle_meet(ctx, shuffle);
    const int64_t needed = shuffle->received;
    IKT_ARRAYS(held, ctx, "halo");
    int64_t *asked = ikt_claim(&held, needed, sizeof *asked);
    halo->send_row = ikt_claim_kept(&held, needed, sizeof *halo->send_row);
    halo->buffer = ikt_claim_kept(&held, needed * width, sizeof *halo->buffer);
    IKT_TRY(ikt_arrays_agree(&held));
    ikt_shuffle_send(ctx, shuffle, ghost_row, asked, sizeof *asked);
    for (int64_t s = 0; s < needed; s++)
        halo->send_row[s] = (int32_t)(asked[s] - distribution->first);
    return ikt_give(out, made);
}

void ikt_halo_destroy(ikt_halo **halo) {
    if (!*halo) return;
    ikt_transfer_destroy(&(*halo)->transfer);
    ikt_shuffle_destroy(&(*halo)->asked);
    ikt_free_all(&(*halo)->send_row, &(*halo)->buffer, halo);
}

void ikt_halo_begin(ikt_halo *halo, const float *own, float *ghost) {
    const ikt_shuffle *asked = &halo->asked;
    const int64_t sent = asked->received;
    const size_t width = (size_t)halo->width;
#pragma omp parallel for schedule(static)                                                          \
    num_threads(ikt_threads(halo->ctx)) if (sent >= parallel_rows)
    for (int64_t s = 0; s < sent; s++)
        memcpy(halo->buffer + (size_t)s * width, own + (size_t)halo->send_row[s] * width,
               width * sizeof(float));
    ikt_transfer_begin(halo->transfer, halo->buffer, asked->recv_counts, ghost, asked->send_counts);
}

void ikt_halo_end(ikt_halo *halo) {
    ikt_transfer_end(halo->transfer);
}
