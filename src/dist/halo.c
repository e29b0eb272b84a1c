/* The boundary exchange: planned once, then point-to-point messages. See halo.h. */
#include "dist/halo.h"

#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/context.h"
#include "base/stage.h"
#include "dist/shuffle.h"

enum { TAG_HALO = 201 };

/* Rows to pack from which on a second thread is worth waking. */
static const int64_t parallel_rows = 1 << 16;

struct ikt_halo {
    ikt_context *ctx;
    int width;
    ikt_shuffle asked; /* sent: the ghosts, by owner; received: own rows that others need */
    int32_t *send_row; /* [asked.received] local rows, by the rank that needs them */
    float *buffer;     /* [asked.received * width] */
    MPI_Datatype row_type;
    MPI_Request *request; /* [2 * ranks] of an exchange under way: receives, then sends */
    int receives, sends;
};

static void check(const ikt_halo *halo, int code) {
    if (code != MPI_SUCCESS) ikt_abort(halo->ctx, "the boundary exchange failed in MPI");
}

ikt_status ikt_halo_create(ikt_context *ctx, const ikt_rows *distribution, const int64_t *ghost_row,
                           int64_t n_ghost, int width, ikt_halo **out) {
    ikt_halo *made IKT_AT_END(ikt_halo_destroy) = NULL;
    *out = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &made, 1, sizeof *made, "halo"));
    ikt_halo *halo = made;
    ikt_shuffle *shuffle = &halo->asked;
    int64_t needed = 0;
    const int64_t ranks = ikt_size(ctx);
    halo->ctx = ctx;
    halo->width = width;
    check(halo, MPI_Type_contiguous(width, MPI_FLOAT, &halo->row_type));
    check(halo, MPI_Type_commit(&halo->row_type));
    /* Asks the owners for the ghost rows, and learns which own rows others need. */
    ikt_status st = ikt_shuffle_create(ctx, "halo", shuffle);
    if (st == IKT_OK) st = ikt_alloc(ctx, &halo->request, 2 * ranks, sizeof *halo->request, "halo");
    st = ikt_agree(ctx, st);
    IKT_TRY(st);
    for (int64_t g = 0; g < n_ghost; g++)
        ikt_shuffle_count(shuffle, ikt_rows_owner(distribution, ghost_row[g]));
    ikt_shuffle_group(ctx, shuffle);
    ikt_shuffle_meet(ctx, shuffle);
    needed = shuffle->received;
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
    check(*halo, MPI_Type_free(&(*halo)->row_type));
    ikt_shuffle_destroy(&(*halo)->asked);
    ikt_free_all(&(*halo)->send_row, &(*halo)->buffer, &(*halo)->request, halo);
}

void ikt_halo_begin(ikt_halo *halo, const float *own, float *ghost) {
    const MPI_Comm comm = ikt_comm(halo->ctx);
    const int64_t *from = halo->asked.send_counts, *to = halo->asked.recv_counts;
    const int64_t sent = halo->asked.received;
    const size_t width = (size_t)halo->width;
    const int ranks = ikt_size(halo->ctx);
    const float *packed = halo->buffer;
    halo->receives = halo->sends = 0;
    for (int r = 0; r < ranks; ghost += from[r++] * halo->width)
        if (from[r] > 0)
            check(halo, MPI_Irecv(ghost, (int)from[r], halo->row_type, r, TAG_HALO, comm,
                                  &halo->request[halo->receives++]));
#pragma omp parallel for schedule(static)                                                          \
    num_threads(ikt_threads(halo->ctx)) if (sent >= parallel_rows)
    for (int64_t s = 0; s < sent; s++)
        memcpy(halo->buffer + (size_t)s * width, own + (size_t)halo->send_row[s] * width,
               width * sizeof(float));
    for (int r = 0; r < ranks; packed += to[r++] * halo->width)
        if (to[r] > 0)
            check(halo, MPI_Isend(packed, (int)to[r], halo->row_type, r, TAG_HALO, comm,
                                  &halo->request[halo->receives + halo->sends++]));
}

void ikt_halo_end(ikt_halo *halo) {
    const int64_t row_bytes = halo->width * (int64_t)sizeof(float);
    const double begin = ikt_now();
    check(halo, MPI_Waitall(halo->receives + halo->sends, halo->request, MPI_STATUSES_IGNORE));
    ikt_wait_add(halo->ctx, ikt_now() - begin);
    ikt_traffic_messages(halo->ctx, halo->sends, halo->asked.received * row_bytes, halo->receives,
                         halo->asked.sent * row_bytes);
}
