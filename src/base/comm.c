/* Our own small collectives over MPI, 64-bit clean.
 *
 * Transfers are cut into pieces that MPI's int counts can express. Concatenation beyond a piece is
 * one broadcast a rank, and exchange is pairwise messages. Advantage: any sizes. Disadvantage: as
 * many steps as ranks, so an exchange does not belong into an iteration (dist/halo.h does). */
#define _POSIX_C_SOURCE 200809L
#include "base/comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/context.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"

enum { TAG_RING = 101, LOOKS_AWAKE = 100 };

bool ikt_is_alone(const ikt_context *ctx) {
    return ctx->comm == MPI_COMM_NULL;
}

/* Prints the last words of this rank, after its warnings, and ends the job. */
static _Noreturn void end_job(const ikt_context *ctx, ikt_status status, char *message) {
    ikt_warnings_print(ctx);
    ikt_log_line(ctx, IKT_LOG_ERROR, NULL, message);
    if (ikt_is_alone(ctx)) exit((int)status);
    MPI_Abort(ctx->comm, (int)status);
    abort();
}

void ikt_abort_alone(const ikt_context *ctx) {
    char message[IKT_MESSAGE_MAX];
    snprintf(message, sizeof message, "%s", ctx->message);
    end_job(ctx, ctx->status, message);
}

void ikt_abort(const ikt_context *ctx, const char *what) {
    char message[IKT_MESSAGE_MAX];
    snprintf(message, sizeof message, "rank %d: %s", ctx->rank, what);
    end_job(ctx, IKT_ERR_INTERNAL, message);
}

static void check(const ikt_context *ctx, int code, const char *what) {
    if (code == MPI_SUCCESS) return;
    char reason[MPI_MAX_ERROR_STRING] = "", text[IKT_MESSAGE_MAX];
    int length = 0;
    MPI_Error_string(code, reason, &length);
    snprintf(text, sizeof text, "%s failed: %s", what, reason);
    ikt_abort(ctx, text);
}

/* LOCAL. MPI_Waitall; where ranks sleep, between looks once it has looked often. */
static void wait_for(const ikt_context *ctx, int count, MPI_Request *request) {
    const struct timespec pause = {0, 20000};
    if (!ctx->is_crowded) {
        check(ctx, MPI_Waitall(count, request, MPI_STATUSES_IGNORE), "MPI_Waitall");
        return;
    }
    for (int looks = 0, done = 0; !done;) {
        check(ctx, MPI_Testall(count, request, &done, MPI_STATUSES_IGNORE), "MPI_Testall");
        if (!done && looks == LOOKS_AWAKE) nanosleep(&pause, NULL);
        looks += looks < LOOKS_AWAKE;
    }
}

void ikt_meet(const ikt_context *ctx) {
    MPI_Request all_here;
    if (!ctx->is_crowded) return;
    check(ctx, MPI_Ibarrier(ctx->comm, &all_here), "MPI_Ibarrier");
    wait_for(ctx, 1, &all_here);
}

/* A call that waits for all ranks. */
#define COLLECT(ctx, call, what)                                                                   \
    do {                                                                                           \
        const double ikt_begin = ikt_now();                                                        \
        ikt_meet(ctx);                                                                             \
        const int ikt_code = (call);                                                               \
        ikt_wait_add(ctx, ikt_now() - ikt_begin);                                                  \
        check(ctx, ikt_code, what);                                                                \
    } while (0)

void ikt_set_piece_bytes(ikt_context *ctx, int64_t bytes) {
    ctx->piece_bytes = bytes < 8 ? 8 : bytes;
}

int64_t ikt_piece_bytes(const ikt_context *ctx) {
    return ctx->piece_bytes;
}

/* Elements of `size` bytes that fit one MPI call, as a legal count. */
static int64_t piece_of(const ikt_context *ctx, size_t size) {
    int64_t elements = ctx->piece_bytes / (int64_t)size;
    return elements < 1 ? 1 : elements;
}

/* Over all ranks, or over those before this one (then undefined on rank 0). */
static void reduce(ikt_context *ctx, void *values, int64_t count, MPI_Datatype type, MPI_Op op,
                   bool is_before) {
    if (ikt_is_alone(ctx)) return;
    const int64_t size = sizeof(int64_t), piece = piece_of(ctx, sizeof(int64_t)); /* or double */
    for (int64_t done = 0; done < count; done += piece) {
        const int now = (int)(count - done < piece ? count - done : piece);
        char *at = (char *)values + done * size;
        COLLECT(ctx,
                is_before ? MPI_Exscan(MPI_IN_PLACE, at, now, type, op, ctx->comm)
                          : MPI_Allreduce(MPI_IN_PLACE, at, now, type, op, ctx->comm),
                is_before ? "MPI_Exscan" : "MPI_Allreduce");
        ikt_traffic_collective(ctx, now * size, now * size);
    }
}

void ikt_sum_i64(ikt_context *ctx, int64_t *values, int64_t count) {
    reduce(ctx, values, count, MPI_INT64_T, MPI_SUM, false);
}

void ikt_min_i64(ikt_context *ctx, int64_t *values, int64_t count) {
    reduce(ctx, values, count, MPI_INT64_T, MPI_MIN, false);
}

void ikt_max_i64(ikt_context *ctx, int64_t *values, int64_t count) {
    reduce(ctx, values, count, MPI_INT64_T, MPI_MAX, false);
}

void ikt_or_u64(ikt_context *ctx, uint64_t *values, int64_t count) {
    reduce(ctx, values, count, MPI_UINT64_T, MPI_BOR, false);
}

bool ikt_min_soon(ikt_context *ctx, int64_t *value, double seconds) {
    if (ikt_is_alone(ctx)) return true;
    const struct timespec pause = {0, 1000000};
    const double begin = ikt_now();
    MPI_Request request;
    int done = 0;
    check(ctx, MPI_Iallreduce(MPI_IN_PLACE, value, 1, MPI_INT64_T, MPI_MIN, ctx->comm, &request),
          "MPI_Iallreduce");
    while (!done && seconds > 0) {
        check(ctx, MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (!done && ikt_now() > begin + seconds) return false;
        if (!done) nanosleep(&pause, NULL);
    }
    if (!done) wait_for(ctx, 1, &request);
    ikt_wait_add(ctx, ikt_now() - begin);
    ikt_traffic_collective(ctx, (int64_t)sizeof *value, (int64_t)sizeof *value);
    return true;
}

void ikt_min_f64(ikt_context *ctx, double *values, int64_t count) {
    reduce(ctx, values, count, MPI_DOUBLE, MPI_MIN, false);
}

void ikt_max_f64(ikt_context *ctx, double *values, int64_t count) {
    reduce(ctx, values, count, MPI_DOUBLE, MPI_MAX, false);
}

void ikt_sum_parts_i64(ikt_context *ctx, int64_t *values, const int64_t *counts) {
    if (ikt_is_alone(ctx)) return;
    const int64_t piece = piece_of(ctx, sizeof *values);
    int64_t total = 0, before = 0;
    int *parts = ctx->counts;
    for (int r = 0; r < ctx->size; r++) {
        parts[r] = (int)counts[r];
        before += r < ctx->rank ? counts[r] : 0;
        total += counts[r];
    }
    if (total <= piece) {
        COLLECT(ctx,
                MPI_Reduce_scatter(MPI_IN_PLACE, values, parts, MPI_INT64_T, MPI_SUM, ctx->comm),
                "MPI_Reduce_scatter");
        ikt_traffic_collective(ctx, total * 8, counts[ctx->rank] * 8);
        memmove(values + before, values, (size_t)counts[ctx->rank] * sizeof *values);
        return;
    }
    /* Parts that one MPI call cannot express are summed one after the other. */
    for (int r = 0; r < ctx->size; values += counts[r++])
        for (int64_t done = 0; done < counts[r]; done += piece) {
            const int64_t now = counts[r] - done < piece ? counts[r] - done : piece;
            const bool mine = r == ctx->rank;
            COLLECT(ctx,
                    MPI_Reduce(mine ? MPI_IN_PLACE : values + done, mine ? values + done : NULL,
                               (int)now, MPI_INT64_T, MPI_SUM, r, ctx->comm),
                    "MPI_Reduce");
            ikt_traffic_collective(ctx, now * 8, mine ? now * 8 : 0);
        }
}

int64_t ikt_sum_one(ikt_context *ctx, int64_t value) {
    ikt_sum_i64(ctx, &value, 1);
    return value;
}

int64_t ikt_max_one(ikt_context *ctx, int64_t value) {
    ikt_max_i64(ctx, &value, 1);
    return value;
}

void ikt_sums_before(ikt_context *ctx, int64_t *values, int64_t count) {
    reduce(ctx, values, count, MPI_INT64_T, MPI_SUM, true);
    if (ctx->rank == 0 && count > 0) memset(values, 0, (size_t)count * sizeof *values);
}

int64_t ikt_sum_before(ikt_context *ctx, int64_t value) {
    ikt_sums_before(ctx, &value, 1);
    return value;
}

void ikt_broadcast(ikt_context *ctx, void *data, int64_t bytes, int root) {
    if (ikt_is_alone(ctx)) return;
    for (int64_t done = 0; done < bytes; done += ctx->piece_bytes) {
        int64_t now = bytes - done < ctx->piece_bytes ? bytes - done : ctx->piece_bytes;
        COLLECT(ctx, MPI_Bcast((char *)data + done, (int)now, MPI_BYTE, root, ctx->comm),
                "MPI_Bcast");
        ikt_traffic_collective(ctx, ctx->rank == root ? now : 0, ctx->rank == root ? 0 : now);
    }
}

void ikt_gather_counts(ikt_context *ctx, int64_t mine, int64_t *all) {
    all[0] = mine;
    if (ikt_is_alone(ctx)) return;
    COLLECT(ctx, MPI_Allgather(&mine, 1, MPI_INT64_T, all, 1, MPI_INT64_T, ctx->comm),
            "MPI_Allgather");
    ikt_traffic_collective(ctx, (int64_t)sizeof mine, (ctx->size - 1) * (int64_t)sizeof mine);
}

/* The parts are concatenated in place; what fits one MPI call is one, and larger parts are bound by
 * bandwidth, not by the number of broadcasts. */
void ikt_allgather(ikt_context *ctx, const void *part, int64_t count, size_t size, void *all,
                   const int64_t *counts) {
    char *target = all;
    int64_t total = 0, before = 0;
    for (int r = 0; r < ctx->size; r++) {
        if (r == ctx->rank) before = total;
        total += counts[r] * (int64_t)size;
    }
    if (count > 0 && part != target + before) memmove(target + before, part, (size_t)count * size);
    if (ikt_is_alone(ctx)) return;
    if (total > ctx->piece_bytes) {
        for (int r = 0; r < ctx->size; r++) {
            ikt_broadcast(ctx, target, counts[r] * (int64_t)size, r);
            target += counts[r] * (int64_t)size;
        }
        return;
    }
    int *bytes = ctx->counts, *place = bytes + ctx->size;
    for (int r = 0; r < ctx->size; r++) {
        bytes[r] = (int)(counts[r] * (int64_t)size);
        place[r] = r > 0 ? place[r - 1] + bytes[r - 1] : 0;
    }
    COLLECT(
        ctx,
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, bytes, place, MPI_BYTE, ctx->comm),
        "MPI_Allgatherv");
    ikt_traffic_collective(ctx, bytes[ctx->rank], total - bytes[ctx->rank]);
}

void ikt_exchange_counts(ikt_context *ctx, const int64_t *send_counts, int64_t *recv_counts) {
    recv_counts[0] = send_counts[0];
    if (ikt_is_alone(ctx)) return;
    COLLECT(ctx, MPI_Alltoall(send_counts, 1, MPI_INT64_T, recv_counts, 1, MPI_INT64_T, ctx->comm),
            "MPI_Alltoall");
    int64_t others = (ctx->size - 1) * (int64_t)sizeof *send_counts;
    ikt_traffic_collective(ctx, others, others);
}

void ikt_send_receive(ikt_context *ctx, const void *send, int64_t send_bytes, int to, void *recv,
                      int64_t recv_bytes, int from) {
    if (ikt_is_alone(ctx)) { /* to itself, from itself */
        if (recv_bytes > 0) memmove(recv, send, (size_t)recv_bytes);
        return;
    }
    int64_t piece = ctx->piece_bytes, most = send_bytes > recv_bytes ? send_bytes : recv_bytes;
    for (int64_t done = 0; done < most; done += piece) {
        int64_t out = send_bytes - done < piece ? send_bytes - done : piece;
        int64_t in = recv_bytes - done < piece ? recv_bytes - done : piece;
        if (out < 0) out = 0;
        if (in < 0) in = 0;
        /* A side with nothing left sends to nobody, as its peer expects nothing from it. */
        const double begin = ikt_now();
        MPI_Request request[2];
        check(ctx,
              MPI_Irecv((char *)recv + (in ? done : 0), (int)in, MPI_BYTE,
                        in ? from : MPI_PROC_NULL, TAG_RING, ctx->comm, &request[0]),
              "MPI_Irecv");
        check(ctx,
              MPI_Isend((const char *)send + (out ? done : 0), (int)out, MPI_BYTE,
                        out ? to : MPI_PROC_NULL, TAG_RING, ctx->comm, &request[1]),
              "MPI_Isend");
        wait_for(ctx, 2, request);
        ikt_wait_add(ctx, ikt_now() - begin);
        if (to == ctx->rank) out = 0;
        if (from == ctx->rank) in = 0;
        ikt_traffic_messages(ctx, out > 0, out, in > 0, in);
    }
}

void ikt_exchange(ikt_context *ctx, const void *send, const int64_t *send_counts, void *recv,
                  const int64_t *recv_counts, size_t size) {
    /* Pairwise steps: in step s every rank sends to rank+s and receives from rank-s. Where the
     * parts of `to` and `from` begin moves along with them. */
    int64_t out = 0, in = 0, received = 0;
    for (int r = 0; r < ctx->size; r++) {
        if (r < ctx->rank) out += send_counts[r];
        if (r < ctx->rank) in += recv_counts[r];
        received += recv_counts[r];
    }
    for (int step = 0; step < ctx->size; step++) {
        int to = (ctx->rank + step) % ctx->size;
        int from = (ctx->rank - step + ctx->size) % ctx->size;
        ikt_send_receive(ctx, (const char *)send + out * (int64_t)size,
                         send_counts[to] * (int64_t)size, to, (char *)recv + in * (int64_t)size,
                         recv_counts[from] * (int64_t)size, from);
        out = to + 1 == ctx->size ? 0 : out + send_counts[to];
        in = from == 0 ? received : in;
        in -= recv_counts[(from - 1 + ctx->size) % ctx->size];
    }
}

void ikt_barrier(ikt_context *ctx) {
    if (ikt_is_alone(ctx)) return;
    COLLECT(ctx, MPI_Barrier(ctx->comm), "MPI_Barrier");
    ikt_traffic_collective(ctx, 0, 0);
}

/* --- point-to-point messages between all ranks, begun and ended apart ------------------------- */

enum { TAG_TRANSFER = 301 };

struct ikt_transfer {
    ikt_context *ctx;
    size_t bytes;
    MPI_Datatype item;
    MPI_Request *request; /* [2 * ranks] under way: receives, then sends */
    int receives, sends;
    int64_t received, sent; /* items */
};

static void check_transfer(const ikt_transfer *t, int code) {
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
    check_transfer(t, MPI_Type_contiguous((int)bytes, MPI_BYTE, &t->item));
    check_transfer(t, MPI_Type_commit(&t->item));
    return IKT_OK;
}

void ikt_transfer_destroy(ikt_transfer **transfer) {
    ikt_transfer *t = *transfer;
    if (!t) return;
    if (t->item != MPI_DATATYPE_NULL) check_transfer(t, MPI_Type_free(&t->item));
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
            check_transfer(t, MPI_Irecv(to, (int)recv_counts[r], t->item, r, TAG_TRANSFER, comm,
                                        &t->request[t->receives++]));
    }
    for (int r = 0; r < ranks; from += (size_t)send_counts[r++] * t->bytes) {
        t->sent += send_counts[r];
        if (send_counts[r] > 0)
            check_transfer(t, MPI_Isend(from, (int)send_counts[r], t->item, r, TAG_TRANSFER, comm,
                                        &t->request[t->receives + t->sends++]));
    }
}

void ikt_transfer_end(ikt_transfer *t) {
    const double begin = ikt_now();
    wait_for(t->ctx, t->receives + t->sends, t->request);
    ikt_wait_add(t->ctx, ikt_now() - begin);
    ikt_traffic_messages(t->ctx, t->sends, t->sent * (int64_t)t->bytes, t->receives,
                         t->received * (int64_t)t->bytes);
}
