/* Renumbering of the rows. See order.h.
 *
 * Method: the exchange is planned once (who sends how many rows to whom, and where each arriving
 * row belongs); a transfer packs, exchanges and places. Both orders have equal blocks, so as many
 * rows leave a rank as come. Of rows of differing length both sides know the lengths and the
 * sequence in which they come, so both cut it into the same batches, and nothing but entries
 * travels. Advantage: any number of arrays follow for the price of their bytes. Disadvantage: 12
 * bytes a row are kept as long as something has to be brought back. */
#include "dist/order.h"

#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/sort.h"

enum {
    SLICE = 64,      /* bytes of a row that travel at a time */
    BATCH = 1 << 20, /* entries a rank, of rows of differing length */
    ENTRY = 4        /* bytes */
};

static const char purpose[] = "order";

/* --- the order -------------------------------------------------------------------------------- */

ikt_status ikt_order_create(ikt_context *ctx, const ikt_rows *rows, const uint32_t *slot,
                            ikt_order *out) {
    const int64_t count = rows->count;
    ikt_order made IKT_AT_END(ikt_order_destroy) = {.rows = *rows};
    ikt_shuffle *shuffle = &made.shuffle;
    *out = (ikt_order){.rows = *rows};
    IKT_ARRAYS(held, ctx, purpose);
    held.status = ikt_shuffle_create(ctx, purpose, shuffle);
    made.leaving = ikt_claim_kept(&held, count, sizeof *made.leaving);
    made.place = ikt_claim_kept(&held, count, sizeof *made.place);
    made.row = ikt_claim_kept(&held, count, sizeof *made.row);
    uint32_t *sent = ikt_claim(&held, count, sizeof *sent); /* slots, and then row numbers */
    IKT_TRY(ikt_arrays_agree(&held));
    /* The owners of slots are told these, row by row. */
    ikt_shuffle_count_rows(shuffle, rows, slot, count);
    ikt_shuffle_group(ctx, shuffle);
    for (int64_t i = 0; i < count; i++)
        made.leaving[ikt_shuffle_next(shuffle, ikt_rows_owner(rows, slot[i]))] = (uint32_t)i;
    for (int64_t e = 0; e < count; e++)
        sent[e] = slot[made.leaving[e]];
    ikt_shuffle_meet(ctx, shuffle);
    ikt_shuffle_send(ctx, shuffle, sent, made.place, sizeof *sent);
    for (int64_t e = 0; e < count; e++)
        made.place[e] = (uint32_t)(made.place[e] - rows->first);
    for (int64_t i = 0; i < count; i++)
        sent[i] = (uint32_t)(rows->first + i);
    IKT_TRY(ikt_order_apply(ctx, &made, sent, sizeof *sent, made.row, sizeof *sent, sizeof *sent));
    return ikt_give(out, made);
}

void ikt_order_destroy(ikt_order *order) {
    ikt_shuffle_destroy(&order->shuffle);
    ikt_free_all(&order->leaving, &order->place, &order->row);
}

int64_t ikt_order_memory(int64_t n_local) {
    return 12 * n_local;
}

int64_t ikt_order_memory_transfer(int64_t n_local) {
    return 2 * SLICE * n_local;
}

/* --- transfers -------------------------------------------------------------------------------- */

/* One side of a transfer: item e of the exchange is row index[e] of an array. */
typedef struct {
    const uint32_t *index;
    const int64_t *counts; /* [ranks] items that each rank sends or gets */
    /* Rows of differing length: */
    const int64_t *start; /* [rows.count + 1] */
    int64_t *done;        /* [ranks] items of each rank's part that have travelled; */
    int64_t *upto, *size; /* those when this batch has, and its entries */
    char *buffer;
} side;

static side side_of(const ikt_order *order, bool is_slots) {
    return is_slots ? (side){.index = order->place, .counts = order->shuffle.recv_counts}
                    : (side){.index = order->leaving, .counts = order->shuffle.send_counts};
}

static ikt_status transfer(ikt_context *ctx, const ikt_order *order, ikt_direction direction,
                           const void *in, int64_t in_stride, void *out, int64_t out_stride,
                           int64_t bytes) {
    const side from = side_of(order, direction == IKT_TO_ROWS);
    const side to = side_of(order, direction == IKT_TO_SLOTS);
    const int64_t count = order->rows.count, packed = count * (bytes < SLICE ? bytes : SLICE);
    IKT_ARRAYS(held, ctx, purpose);
    char *sent = ikt_claim(&held, packed, 1);
    char *received = ikt_claim(&held, packed, 1);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t done = 0; done < bytes; done += SLICE) {
        const int64_t slice = bytes - done < SLICE ? bytes - done : SLICE;
        const char *source = (const char *)in + done;
        char *target = (char *)out + done;
#pragma omp parallel for num_threads(ikt_threads(ctx))
        for (int64_t e = 0; e < count; e++)
            memcpy(sent + e * slice, source + from.index[e] * in_stride, (size_t)slice);
        ikt_exchange(ctx, sent, from.counts, received, to.counts, (size_t)slice);
#pragma omp parallel for num_threads(ikt_threads(ctx))
        for (int64_t e = 0; e < count; e++)
            memcpy(target + to.index[e] * out_stride, received + e * slice, (size_t)slice);
    }
    return IKT_OK;
}

ikt_status ikt_order_apply(ikt_context *ctx, const ikt_order *order, const void *in,
                           int64_t in_stride, void *out, int64_t out_stride, int64_t bytes) {
    return transfer(ctx, order, IKT_TO_SLOTS, in, in_stride, out, out_stride, bytes);
}

ikt_status ikt_order_restore(ikt_context *ctx, const ikt_order *order, const void *in,
                             int64_t in_stride, void *out, int64_t out_stride, int64_t bytes) {
    return transfer(ctx, order, IKT_TO_ROWS, in, in_stride, out, out_stride, bytes);
}

/* How far each rank's part goes in this batch: rows of up to `share` entries, at least one. Both
 * sides come to the same, as they see the same lengths. Returns the entries of all parts. */
static int64_t cut_batch(side *s, int ranks, int64_t share) {
    int64_t total = 0, first = 0;
    for (int r = 0; r < ranks; r++) {
        int64_t item = s->done[r], size = 0;
        for (; item < s->counts[r]; item++) {
            const uint32_t row = s->index[first + item];
            const int64_t next = s->start[row + 1] - s->start[row];
            if (size > 0 && size + next > share) break;
            size += next;
        }
        s->upto[r] = item;
        s->size[r] = size;
        total += size;
        first += s->counts[r];
    }
    return total;
}

/* Copies the rows of the batch between array and buffer. */
static void copy_batch(const side *s, int ranks, char *array, bool to_buffer) {
    int64_t first = 0, at = 0;
    for (int r = 0; r < ranks; r++) {
        for (int64_t item = s->done[r]; item < s->upto[r]; item++) {
            const int64_t *start = s->start + s->index[first + item];
            const int64_t bytes = ENTRY * (start[1] - start[0]);
            char *row = array + ENTRY * start[0];
            if (bytes > 0 && to_buffer) memcpy(s->buffer + at, row, (size_t)bytes);
            if (bytes > 0 && !to_buffer) memcpy(row, s->buffer + at, (size_t)bytes);
            at += bytes;
        }
        first += s->counts[r];
    }
}

ikt_status ikt_redistribute_entries(ikt_context *ctx, const ikt_order *order,
                                    ikt_direction direction, const int64_t *from, const void *in,
                                    const int64_t *to, void *out) {
    const int ranks = ikt_size(ctx);
    side sides[2] = {side_of(order, direction == IKT_TO_ROWS),
                     side_of(order, direction == IKT_TO_SLOTS)};
    sides[0].start = from;
    sides[1].start = to;
    char *buffer IKT_AT_END(ikt_free) = NULL, *other IKT_AT_END(ikt_free) = NULL;
    IKT_ARRAYS(held, ctx, purpose);
    for (side *s = sides; s < sides + 2; s++) {
        s->done = ikt_claim(&held, ranks, sizeof *s->done);
        s->upto = ikt_claim(&held, ranks, sizeof *s->upto);
        s->size = ikt_claim(&held, ranks, sizeof *s->size);
    }
    IKT_TRY(ikt_arrays_agree(&held));
    for (bool is_left = true; is_left;) {
        const int64_t leaving = cut_batch(&sides[0], ranks, BATCH / ranks);
        const int64_t coming = cut_batch(&sides[1], ranks, BATCH / ranks);
        ikt_status st = ikt_reserve(ctx, &buffer, leaving, ENTRY, purpose);
        if (st == IKT_OK) st = ikt_reserve(ctx, &other, coming, ENTRY, purpose);
        IKT_TRY(ikt_agree(ctx, st));
        sides[0].buffer = buffer;
        sides[1].buffer = other;
        copy_batch(&sides[0], ranks, (char *)(uintptr_t)in, true); /* only read */
        ikt_exchange(ctx, sides[0].buffer, sides[0].size, sides[1].buffer, sides[1].size, ENTRY);
        copy_batch(&sides[1], ranks, out, false);
        is_left = false;
        for (side *s = sides; s < sides + 2; s++)
            for (int r = 0; r < ranks; r++) {
                s->done[r] = s->upto[r];
                is_left = is_left || s->done[r] < s->counts[r];
            }
        is_left = ikt_max_one(ctx, is_left) > 0;
    }
    return IKT_OK;
}

ikt_status ikt_redistribute_starts(ikt_context *ctx, const ikt_order *order,
                                   ikt_direction direction, const int64_t *from, int64_t *to) {
    const int64_t count = order->rows.count, bytes = sizeof *to;
    for (int64_t i = 0; i < count; i++)
        to[i + 1] = from[i + 1] - from[i];
    IKT_TRY(transfer(ctx, order, direction, to + 1, bytes, to + 1, bytes, bytes));
    to[0] = 0;
    for (int64_t i = 0; i < count; i++)
        to[i + 1] += to[i];
    return IKT_OK;
}

/* --- numbers ---------------------------------------------------------------------------------- */

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

ikt_status ikt_order_slots(ikt_context *ctx, const ikt_order *order, uint32_t *slot) {
    const int64_t bytes = sizeof *slot;
    for (int64_t i = 0; i < order->rows.count; i++)
        slot[i] = (uint32_t)(order->rows.first + i);
    return ikt_order_restore(ctx, order, slot, bytes, slot, bytes, bytes);
}

ikt_status ikt_translate_indices(ikt_context *ctx, const ikt_rows *rows, const uint32_t *name,
                                 uint32_t *number, int64_t count) {
    uint32_t *row IKT_AT_END(ikt_free) = NULL,
                  *names IKT_AT_END(ikt_free) = NULL; /* of the others */
    ikt_row_set others IKT_AT_END(ikt_row_set_destroy) = {0};
    ikt_status st = ikt_row_set_create(ctx, rows->n, &others);
    if (st == IKT_OK) {
#pragma omp parallel for num_threads(ikt_threads(ctx))
        for (int64_t e = 0; e < count; e++)
            if (!ikt_is_own(rows, number[e])) ikt_row_set_add(&others, number[e]);
        ikt_row_set_number(&others);
        st = ikt_alloc(ctx, &row, others.count, sizeof *row, purpose);
    }
    if (st == IKT_OK) st = ikt_alloc(ctx, &names, others.count, sizeof *names, purpose);
    IKT_TRY(ikt_agree(ctx, st));
    ikt_row_set_list(&others, row);
    IKT_TRY(ikt_gather_rows(ctx, rows, row, others.count, name, sizeof *name, names));
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < count; e++)
        number[e] = ikt_is_own(rows, number[e]) ? name[number[e] - rows->first]
                                                : names[ikt_row_set_place(&others, number[e])];
    return IKT_OK;
}

/* Numbers go to their owners. Where each gets as many as it has rows, and none twice, all come. */
ikt_status ikt_permutation_check(ikt_context *ctx, const ikt_rows *rows, const uint32_t *slot,
                                 bool *is_one) {
    const int64_t count = rows->count;
    ikt_shuffle shuffle IKT_AT_END(ikt_shuffle_destroy) = {0};
    bool is_good = true;
    IKT_ARRAYS(held, ctx, purpose);
    held.status = ikt_shuffle_create(ctx, purpose, &shuffle);
    uint32_t *sent = ikt_claim(&held, count, sizeof *sent);
    uint32_t *received = ikt_claim(&held, count, sizeof *received);
    uint8_t *seen = ikt_claim(&held, count, sizeof *seen);
    ikt_status st = ikt_arrays_agree(&held);
    for (int64_t i = 0; st == IKT_OK && i < count; i++)
        is_good = is_good && slot[i] < rows->n;
    *is_one = st == IKT_OK && ikt_max_one(ctx, !is_good) == 0;
    if (*is_one) {
        ikt_shuffle_count_rows(&shuffle, rows, slot, count);
        ikt_shuffle_group(ctx, &shuffle);
        ikt_shuffle_meet(ctx, &shuffle);
        *is_one = ikt_max_one(ctx, shuffle.received != count) == 0;
    }
    if (*is_one) {
        for (int64_t i = 0; i < count; i++)
            sent[ikt_shuffle_next(&shuffle, ikt_rows_owner(rows, slot[i]))] = slot[i];
        ikt_shuffle_send(ctx, &shuffle, sent, received, sizeof *sent);
        for (int64_t i = 0; i < count && is_good; i++)
            is_good = seen[received[i] - rows->first]++ == 0;
        *is_one = ikt_max_one(ctx, !is_good) == 0;
    }
    return st;
}
