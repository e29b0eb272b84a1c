/* Renumbering of the rows. See order.h.
 *
 * Method: the exchange is planned once (who sends how many rows to whom, and where each arriving
 * row belongs); a transfer packs, exchanges and places. Both orders have equal blocks, so as many
 * rows leave a rank as come. Advantage: any number of arrays follow for the price of their bytes.
 * Disadvantage: 12 bytes a row are kept as long as something has to be brought back. */
#include "dist/order.h"

#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/sort.h"

enum { SLICE = 64 }; /* bytes of a row that travel at a time */

static ikt_status order_alloc(ikt_context *ctx, ikt_order *order) {
    const int64_t count = order->rows.count;
    IKT_TRY(ikt_shuffle_create(ctx, "order", &order->shuffle));
    IKT_TRY(ikt_alloc(ctx, &order->leaving, count, sizeof *order->leaving, "order"));
    IKT_TRY(ikt_alloc(ctx, &order->place, count, sizeof *order->place, "order"));
    return ikt_alloc(ctx, &order->row, count, sizeof *order->row, "order");
}

/* COLLECTIVE. Groups the own rows by the owners of their slots, and tells these the slots.
 *   sent   [rows.count] room */
static void plan(ikt_context *ctx, ikt_order *order, const uint32_t *slot, uint32_t *sent) {
    const ikt_rows *rows = &order->rows;
    ikt_shuffle *shuffle = &order->shuffle;
    ikt_shuffle_count_rows(shuffle, rows, slot, rows->count);
    ikt_shuffle_group(ctx, shuffle);
    for (int64_t i = 0; i < rows->count; i++)
        order->leaving[ikt_shuffle_next(shuffle, ikt_rows_owner(rows, slot[i]))] = (uint32_t)i;
    for (int64_t e = 0; e < rows->count; e++)
        sent[e] = slot[order->leaving[e]];
    ikt_shuffle_meet(ctx, shuffle);
    ikt_shuffle_send(ctx, shuffle, sent, order->place, sizeof *sent);
    for (int64_t e = 0; e < rows->count; e++)
        order->place[e] = (uint32_t)(order->place[e] - rows->first);
}

ikt_status ikt_order_create(ikt_context *ctx, const ikt_rows *rows, const uint32_t *slot,
                            ikt_order *out) {
    uint32_t *number = NULL;
    *out = (ikt_order){.rows = *rows};
    ikt_status st = order_alloc(ctx, out);
    if (st == IKT_OK) st = ikt_alloc(ctx, &number, rows->count, sizeof *number, "order");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        plan(ctx, out, slot, number);
        for (int64_t i = 0; i < rows->count; i++)
            number[i] = (uint32_t)(rows->first + i);
        st = ikt_order_apply(ctx, out, number, sizeof *number, out->row, sizeof *number,
                             sizeof *number);
    }
    ikt_free(&number);
    if (st != IKT_OK) ikt_order_destroy(out);
    return st;
}

void ikt_order_destroy(ikt_order *order) {
    ikt_shuffle_destroy(&order->shuffle);
    ikt_free(&order->leaving);
    ikt_free(&order->place);
    ikt_free(&order->row);
}

/* One side of a transfer: entry e of the exchange is item index[e] of an array. */
typedef struct {
    const uint32_t *index;
    const int64_t *counts; /* [ranks] entries that each rank sends or gets */
    int64_t stride;        /* bytes from item to item */
} side;

static void pack(ikt_context *ctx, int64_t count, const side *from, const char *in, int64_t bytes,
                 char *packed) {
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < count; e++)
        memcpy(packed + e * bytes, in + from->index[e] * from->stride, (size_t)bytes);
}

static void unpack(ikt_context *ctx, int64_t count, const side *to, const char *packed,
                   int64_t bytes, char *out) {
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < count; e++)
        memcpy(out + to->index[e] * to->stride, packed + e * bytes, (size_t)bytes);
}

static ikt_status transfer(ikt_context *ctx, int64_t count, const side *from, const side *to,
                           const void *in, void *out, int64_t bytes) {
    char *sent = NULL, *received = NULL;
    int64_t room = count * (bytes < SLICE ? bytes : SLICE);
    ikt_status st = ikt_alloc(ctx, &sent, room, 1, "order");
    if (st == IKT_OK) st = ikt_alloc(ctx, &received, room, 1, "order");
    st = ikt_agree(ctx, st);
    for (int64_t done = 0; st == IKT_OK && done < bytes; done += SLICE) {
        int64_t slice = bytes - done < SLICE ? bytes - done : SLICE;
        pack(ctx, count, from, (const char *)in + done, slice, sent);
        ikt_exchange(ctx, sent, from->counts, received, to->counts, (size_t)slice);
        unpack(ctx, count, to, received, slice, (char *)out + done);
    }
    ikt_free(&sent);
    ikt_free(&received);
    return st;
}

ikt_status ikt_order_apply(ikt_context *ctx, const ikt_order *order, const void *in,
                           int64_t in_stride, void *out, int64_t out_stride, int64_t bytes) {
    side rows = {order->leaving, order->shuffle.send_counts, in_stride};
    side slots = {order->place, order->shuffle.recv_counts, out_stride};
    return transfer(ctx, order->rows.count, &rows, &slots, in, out, bytes);
}

ikt_status ikt_order_restore(ikt_context *ctx, const ikt_order *order, const void *in,
                             int64_t in_stride, void *out, int64_t out_stride, int64_t bytes) {
    side rows = {order->leaving, order->shuffle.send_counts, out_stride};
    side slots = {order->place, order->shuffle.recv_counts, in_stride};
    return transfer(ctx, order->rows.count, &slots, &rows, in, out, bytes);
}

void ikt_order_find(ikt_context *ctx, const ikt_order *order, const int64_t *row, int64_t count,
                    int64_t *slot) {
    for (int64_t e = 0; e < count; e++)
        slot[e] = -1;
    for (int64_t i = 0; count > 0 && i < order->rows.count; i++) {
        const int64_t at = ikt_find_i64(row, count, order->row[i]);
        if (at >= 0) slot[at] = order->rows.first + i;
    }
    ikt_max_i64(ctx, slot, count);
}

int64_t ikt_order_memory(int64_t n_local) {
    return 12 * n_local;
}

int64_t ikt_order_memory_transfer(int64_t n_local) {
    return 2 * SLICE * n_local;
}

ikt_status ikt_order_slots(ikt_context *ctx, const ikt_order *order, uint32_t *slot) {
    const int64_t bytes = sizeof *slot;
    for (int64_t i = 0; i < order->rows.count; i++)
        slot[i] = (uint32_t)(order->rows.first + i);
    return ikt_order_restore(ctx, order, slot, bytes, slot, bytes, bytes);
}
