/* Renumbering of the rows. See order.h.
 *
 * Method: the exchange is planned once (who sends how many rows to whom, and where each arriving
 * row belongs); a transfer packs, exchanges and places. Both orders have equal blocks, so as many
 * rows leave a rank as come. Advantage: any number of arrays follow for the price of their bytes.
 * Disadvantage: 12 bytes a row are kept as long as something has to be brought back. */
#include "dist/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"

enum { SLICE = 64 }; /* bytes of a row that travel at a time */

static ikt_status order_alloc(ikt_context *ctx, ikt_order *order) {
    int64_t count = order->rows.count, ranks = ikt_size(ctx);
    IKT_TRY(ikt_alloc(ctx, &order->leave_counts, ranks, sizeof(int64_t), "order"));
    IKT_TRY(ikt_alloc(ctx, &order->come_counts, ranks, sizeof(int64_t), "order"));
    IKT_TRY(ikt_alloc(ctx, &order->leaving, count, sizeof *order->leaving, "order"));
    IKT_TRY(ikt_alloc(ctx, &order->place, count, sizeof *order->place, "order"));
    return ikt_alloc(ctx, &order->row, count, sizeof *order->row, "order");
}

/* Groups the own rows by the rank that owns their position; `next` is room for [ranks] numbers. */
static void group_by_owner(ikt_order *order, const uint32_t *position, int64_t *next) {
    const ikt_rows *rows = &order->rows;
    int64_t before = 0;
    for (int64_t i = 0; i < rows->count; i++)
        order->leave_counts[ikt_rows_owner(rows, position[i])]++;
    for (int r = 0; r < rows->ranks; r++) {
        next[r] = before;
        before += order->leave_counts[r];
    }
    for (int64_t i = 0; i < rows->count; i++)
        order->leaving[next[ikt_rows_owner(rows, position[i])]++] = (uint32_t)i;
}

/* COLLECTIVE. Tells the owners the positions of what will come. */
static ikt_status tell_places(ikt_context *ctx, ikt_order *order, const uint32_t *position) {
    uint32_t *sent = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &sent, order->rows.count, sizeof *sent, "order")));
    for (int64_t e = 0; e < order->rows.count; e++)
        sent[e] = position[order->leaving[e]];
    ikt_exchange_counts(ctx, order->leave_counts, order->come_counts);
    ikt_exchange(ctx, sent, order->leave_counts, order->place, order->come_counts, sizeof *sent);
    for (int64_t e = 0; e < order->rows.count; e++)
        order->place[e] = (uint32_t)(order->place[e] - order->rows.first);
    ikt_free(&sent);
    return IKT_OK;
}

/* COLLECTIVE. Which row each own position holds. */
static ikt_status learn_rows(ikt_context *ctx, ikt_order *order) {
    uint32_t *own = NULL;
    ikt_status st = ikt_alloc(ctx, &own, order->rows.count, sizeof *own, "order");
    for (int64_t i = 0; st == IKT_OK && i < order->rows.count; i++)
        own[i] = (uint32_t)(order->rows.first + i);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK)
        st = ikt_order_apply(ctx, order, own, sizeof *own, order->row, sizeof *own, sizeof *own);
    ikt_free(&own);
    return st;
}

ikt_status ikt_order_create(ikt_context *ctx, const ikt_rows *rows, const uint32_t *position,
                            ikt_order *out) {
    int64_t *next = NULL;
    *out = (ikt_order){.rows = *rows};
    ikt_status st = order_alloc(ctx, out);
    if (st == IKT_OK) st = ikt_alloc(ctx, &next, rows->ranks, sizeof *next, "order");
    if (st == IKT_OK) group_by_owner(out, position, next);
    ikt_free(&next);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = tell_places(ctx, out, position);
    if (st == IKT_OK) st = learn_rows(ctx, out);
    if (st != IKT_OK) ikt_order_destroy(out);
    return st;
}

void ikt_order_destroy(ikt_order *order) {
    ikt_free(&order->leave_counts);
    ikt_free(&order->come_counts);
    ikt_free(&order->leaving);
    ikt_free(&order->place);
    ikt_free(&order->row);
}

/* One side of a transfer: entry e of the exchange is item index[e] of an array. */
typedef struct {
    const uint32_t *index;
    const int64_t *counts; /* [ranks] entries for each rank */
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
    side rows = {order->leaving, order->leave_counts, in_stride};
    side positions = {order->place, order->come_counts, out_stride};
    return transfer(ctx, order->rows.count, &rows, &positions, in, out, bytes);
}

ikt_status ikt_order_restore(ikt_context *ctx, const ikt_order *order, const void *in,
                             int64_t in_stride, void *out, int64_t out_stride, int64_t bytes) {
    side rows = {order->leaving, order->leave_counts, out_stride};
    side positions = {order->place, order->come_counts, in_stride};
    return transfer(ctx, order->rows.count, &positions, &rows, in, out, bytes);
}

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void ikt_order_find(ikt_context *ctx, const ikt_order *order, const int64_t *row, int64_t count,
                    int64_t *position) {
    for (int64_t e = 0; e < count; e++)
        position[e] = -1;
    for (int64_t i = 0; count > 0 && i < order->rows.count; i++) {
        int64_t wanted = order->row[i];
        const int64_t *found = bsearch(&wanted, row, (size_t)count, sizeof *row, by_number);
        if (found) position[found - row] = order->rows.first + i;
    }
    ikt_max_i64(ctx, position, count);
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
