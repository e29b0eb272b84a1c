/* Point-to-point messages between all ranks, begun and ended apart. See transfer.h. */
#include "base/transfer.h"

#include "base/comm.h"
#include "base/context.h"
#include "base/memory.h"
#include "base/stage.h"

enum { TAG_TRANSFER = 301 };

struct ikt_transfer {
    ikt_context *ctx;
    size_t bytes;
    MPI_Datatype item;
    MPI_Request *request; /* [2 * ranks] under way: receives, then sends */
    int receives, sends;
    int64_t received, sent; /* items */
};

static void check(const ikt_transfer *t, int code) {
    if (code != MPI_SUCCESS) ikt_abort(t->ctx, "a transfer between ranks failed in MPI");
}

ikt_status ikt_transfer_create(ikt_context *ctx, size_t bytes, ikt_transfer **out) {
    ikt_transfer *t;
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, "transfer"));
    t = *out;
    t->ctx = ctx;
    t->bytes = bytes;
    t->item = MPI_DATATYPE_NULL;
    const ikt_status st =
        ikt_alloc(ctx, &t->request, 2 * ikt_size(ctx), sizeof *t->request, "transfer");
    if (st != IKT_OK) {
        ikt_transfer_destroy(out);
        return st;
    }
    check(t, MPI_Type_contiguous((int)bytes, MPI_BYTE, &t->item));
    check(t, MPI_Type_commit(&t->item));
    return IKT_OK;
}

void ikt_transfer_destroy(ikt_transfer **transfer) {
    ikt_transfer *t = *transfer;
    if (!t) return;
    if (t->item != MPI_DATATYPE_NULL) check(t, MPI_Type_free(&t->item));
    ikt_free_all(&t->request, transfer);
}

void ikt_transfer_begin(ikt_transfer *t, const void *send, const int64_t *send_counts, void *recv,
                        const int64_t *recv_counts) {
    const MPI_Comm comm = ikt_comm(t->ctx);
    const int ranks = ikt_size(t->ctx);
    const char *from = send;
    char *to = recv;
    t->receives = t->sends = 0;
    t->received = t->sent = 0;
    for (int r = 0; r < ranks; to += (size_t)recv_counts[r++] * t->bytes) {
        t->received += recv_counts[r];
        if (recv_counts[r] > 0)
            check(t, MPI_Irecv(to, (int)recv_counts[r], t->item, r, TAG_TRANSFER, comm,
                               &t->request[t->receives++]));
    }
    for (int r = 0; r < ranks; from += (size_t)send_counts[r++] * t->bytes) {
        t->sent += send_counts[r];
        if (send_counts[r] > 0)
            check(t, MPI_Isend(from, (int)send_counts[r], t->item, r, TAG_TRANSFER, comm,
                               &t->request[t->receives + t->sends++]));
    }
}

void ikt_transfer_end(ikt_transfer *t) {
    const double begin = ikt_now();
    check(t, MPI_Waitall(t->receives + t->sends, t->request, MPI_STATUSES_IGNORE));
    ikt_wait_add(t->ctx, ikt_now() - begin);
    ikt_traffic_messages(t->ctx, t->sends, t->sent * (int64_t)t->bytes, t->receives,
                         t->received * (int64_t)t->bytes);
}
