/* The boundary exchange: planned once, then point-to-point messages. See halo.h. */
#include "dist/halo.h"

#include <string.h>

#include "base/comm.h"
#include "base/context.h"
#include "base/memory.h"
#include "base/traffic.h"
#include "dist/shuffle.h"

enum { TAG_HALO = 201 };

/* Rows to pack from which on a second thread is worth waking. */
static const int64_t parallel_rows = 1 << 16;

typedef struct {
    int rank;
    int64_t first, count; /* rows in the send list, or ghosts */
} peer;

struct ikt_halo {
    ikt_context *ctx;
    int width;
    int64_t sent, received;
    int senders, receivers; /* peers that send to this rank, that receive from it */
    peer *from, *to;
    int32_t *send_row; /* local rows, by receiving rank */
    float *buffer;     /* sent * width */
    MPI_Datatype row_type;
    MPI_Request *request;
    int requests;
};

static void check(ikt_halo *halo, int code) {
    if (code != MPI_SUCCESS) ikt_abort(halo->ctx, "the boundary exchange failed in MPI");
}

/* Lists the ranks with a count, and where their parts begin. */
static int list_peers(const int64_t *counts, int size, peer *peers) {
    int found = 0;
    int64_t first = 0;
    for (int r = 0; r < size; r++) {
        if (counts[r] > 0) peers[found++] = (peer){r, first, counts[r]};
        first += counts[r];
    }
    return found;
}

/* COLLECTIVE. Asks the owners for the ghost rows, and learns which own rows others need. */
static ikt_status plan(ikt_halo *halo, const ikt_rows *distribution, const int64_t *ghost_row) {
    ikt_context *ctx = halo->ctx;
    const int size = ikt_size(ctx);
    int64_t *asked = NULL;
    ikt_shuffle requests;
    ikt_status st = ikt_shuffle_create(ctx, "halo", &requests);
    if (st == IKT_OK) st = ikt_alloc(ctx, &halo->from, size, sizeof *halo->from, "halo");
    if (st == IKT_OK) st = ikt_alloc(ctx, &halo->to, size, sizeof *halo->to, "halo");
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &halo->request, 2 * (int64_t)size, sizeof(MPI_Request), "halo");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        for (int64_t g = 0; g < halo->received; g++)
            ikt_shuffle_count(&requests, ikt_rows_owner(distribution, ghost_row[g]));
        ikt_shuffle_meet(ctx, &requests);
        halo->sent = requests.received;
        st = ikt_alloc(ctx, &asked, halo->sent, sizeof *asked, "halo");
        if (st == IKT_OK)
            st = ikt_alloc(ctx, &halo->send_row, halo->sent, sizeof *halo->send_row, "halo");
        if (st == IKT_OK)
            st = ikt_alloc(ctx, &halo->buffer, halo->sent * halo->width, sizeof(float), "halo");
        st = ikt_agree(ctx, st);
    }
    if (st == IKT_OK) {
        ikt_shuffle_send(ctx, &requests, ghost_row, asked, sizeof *asked);
        for (int64_t s = 0; s < halo->sent; s++)
            halo->send_row[s] = (int32_t)(asked[s] - distribution->first);
        halo->senders = list_peers(requests.send_counts, size, halo->from);
        halo->receivers = list_peers(requests.recv_counts, size, halo->to);
    }
    ikt_free(&asked);
    ikt_shuffle_destroy(&requests);
    return st;
}

ikt_status ikt_halo_create(ikt_context *ctx, const ikt_rows *distribution, const int64_t *ghost_row,
                           int64_t n_ghost, int width, ikt_halo **out) {
    *out = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, out, 1, sizeof **out, "halo")));
    ikt_halo *halo = *out;
    halo->ctx = ctx;
    halo->width = width;
    halo->received = n_ghost;
    check(halo, MPI_Type_contiguous(width, MPI_FLOAT, &halo->row_type));
    check(halo, MPI_Type_commit(&halo->row_type));
    const ikt_status st = plan(halo, distribution, ghost_row);
    if (st != IKT_OK) ikt_halo_destroy(out);
    return st;
}

void ikt_halo_destroy(ikt_halo **halo) {
    if (!*halo) return;
    check(*halo, MPI_Type_free(&(*halo)->row_type));
    ikt_free(&(*halo)->from);
    ikt_free(&(*halo)->to);
    ikt_free(&(*halo)->send_row);
    ikt_free(&(*halo)->buffer);
    ikt_free(&(*halo)->request);
    ikt_free(halo);
}

void ikt_halo_begin(ikt_halo *halo, const float *own, float *ghost) {
    MPI_Comm comm = ikt_comm(halo->ctx);
    size_t width = (size_t)halo->width;
    halo->requests = 0;
    for (int p = 0; p < halo->senders; p++) {
        peer from = halo->from[p];
        check(halo, MPI_Irecv(ghost + from.first * halo->width, (int)from.count, halo->row_type,
                              from.rank, TAG_HALO, comm, &halo->request[halo->requests++]));
    }
#pragma omp parallel for schedule(static)                                                          \
    num_threads(ikt_threads(halo->ctx)) if (halo->sent >= parallel_rows)
    for (int64_t s = 0; s < halo->sent; s++)
        memcpy(halo->buffer + (size_t)s * width, own + (size_t)halo->send_row[s] * width,
               width * sizeof(float));
    for (int p = 0; p < halo->receivers; p++) {
        peer to = halo->to[p];
        check(halo, MPI_Isend(halo->buffer + to.first * halo->width, (int)to.count, halo->row_type,
                              to.rank, TAG_HALO, comm, &halo->request[halo->requests++]));
    }
}

void ikt_halo_end(ikt_halo *halo) {
    check(halo, MPI_Waitall(halo->requests, halo->request, MPI_STATUSES_IGNORE));
    halo->requests = 0;
    int64_t row_bytes = halo->width * (int64_t)sizeof(float);
    ikt_traffic_messages(halo->ctx, halo->receivers, halo->sent * row_bytes, halo->senders,
                         halo->received * row_bytes);
}

int64_t ikt_halo_sent(const ikt_halo *halo) {
    return halo->sent;
}

int64_t ikt_halo_received(const ikt_halo *halo) {
    return halo->received;
}

int ikt_halo_messages(const ikt_halo *halo) {
    return halo->receivers;
}
