/* Rows of differing length in another order. See redistribute.h.
 *
 * Method: both sides know the lengths of all rows that one has for the other, and the sequence in
 * which they come (that of the order's exchange); so both cut it into the same batches, and nothing
 * but entries travels. */
#include "dist/redistribute.h"

#include <stdbool.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"

enum { BATCH = 1 << 20 /* entries a rank */, ENTRY = 4 /* bytes */ };

static const char purpose[] = "order";

/* One side of the exchange: item e of the sequence is local row index[e], whose entries are at
 * start; those with rank r are [first[r], first[r] + counts[r]) of the sequence. */
typedef struct {
    const uint32_t *index;
    const int64_t *counts, *start;
    int64_t *done; /* [ranks] items of each rank's part that have travelled */
    int64_t *upto; /* [ranks] and those when this batch has */
    int64_t *size; /* [ranks] entries of this batch */
    char *buffer;
    int64_t room; /* entries */
} side;

static void side_free(side *s) {
    ikt_free(&s->done);
    ikt_free(&s->upto);
    ikt_free(&s->size);
    ikt_free(&s->buffer);
}

static ikt_status side_alloc(ikt_context *ctx, side *s) {
    const int64_t ranks = ikt_size(ctx);
    IKT_TRY(ikt_alloc(ctx, &s->done, ranks, sizeof *s->done, purpose));
    IKT_TRY(ikt_alloc(ctx, &s->upto, ranks, sizeof *s->upto, purpose));
    return ikt_alloc(ctx, &s->size, ranks, sizeof *s->size, purpose);
}

static int64_t length_of(const side *s, int64_t item) {
    const uint32_t row = s->index[item];
    return s->start[row + 1] - s->start[row];
}

/* How far each rank's part goes in this batch: rows of up to `share` entries, at least one. Both
 * sides come to the same, as they see the same lengths. Returns the entries of all parts. */
static int64_t cut_batch(side *s, int ranks, int64_t share) {
    int64_t total = 0, first = 0;
    for (int r = 0; r < ranks; r++) {
        int64_t item = s->done[r], size = 0;
        while (item < s->counts[r]) {
            const int64_t next = length_of(s, first + item);
            if (size > 0 && size + next > share) break;
            size += next;
            item++;
        }
        s->upto[r] = item;
        s->size[r] = size;
        total += size;
        first += s->counts[r];
    }
    return total;
}

static ikt_status make_room(ikt_context *ctx, side *s, int64_t entries) {
    if (entries <= s->room) return IKT_OK;
    ikt_free(&s->buffer);
    s->room = 0;
    IKT_TRY(ikt_alloc(ctx, &s->buffer, entries, ENTRY, purpose));
    s->room = entries;
    return IKT_OK;
}

/* Copies the rows of the batch between array and buffer. */
static void copy_batch(const side *s, int ranks, char *array, bool to_buffer) {
    int64_t first = 0, at = 0;
    for (int r = 0; r < ranks; r++) {
        for (int64_t item = s->done[r]; item < s->upto[r]; item++) {
            const int64_t bytes = ENTRY * length_of(s, first + item);
            char *row = array + ENTRY * s->start[s->index[first + item]];
            if (bytes > 0 && to_buffer) memcpy(s->buffer + at, row, (size_t)bytes);
            if (bytes > 0 && !to_buffer) memcpy(row, s->buffer + at, (size_t)bytes);
            at += bytes;
        }
        first += s->counts[r];
    }
}

static bool is_left(const side *s, int ranks) {
    for (int r = 0; r < ranks; r++)
        if (s->done[r] < s->counts[r]) return true;
    return false;
}

static void advance(side *s, int ranks) {
    memcpy(s->done, s->upto, (size_t)ranks * sizeof *s->done);
}

/* COLLECTIVE. */
static ikt_status bring(ikt_context *ctx, side *out_of, side *into, const void *in, void *out) {
    const int ranks = ikt_size(ctx);
    const int64_t share = BATCH / ranks;
    while (ikt_max_one(ctx, is_left(out_of, ranks) || is_left(into, ranks)) > 0) {
        ikt_status st = make_room(ctx, out_of, cut_batch(out_of, ranks, share));
        if (st == IKT_OK) st = make_room(ctx, into, cut_batch(into, ranks, share));
        IKT_TRY(ikt_agree(ctx, st));
        copy_batch(out_of, ranks, (char *)(uintptr_t)in, true); /* only read */
        ikt_exchange(ctx, out_of->buffer, out_of->size, into->buffer, into->size, ENTRY);
        copy_batch(into, ranks, out, false);
        advance(out_of, ranks);
        advance(into, ranks);
    }
    return IKT_OK;
}

ikt_status ikt_redistribute_entries(ikt_context *ctx, const ikt_order *order,
                                    ikt_direction direction, const int64_t *from, const void *in,
                                    const int64_t *to, void *out) {
    side rows = {.index = order->leaving, .counts = order->shuffle.send_counts};
    side slots = {.index = order->place, .counts = order->shuffle.recv_counts};
    side *out_of = direction == IKT_TO_SLOTS ? &rows : &slots;
    side *into = direction == IKT_TO_SLOTS ? &slots : &rows;
    out_of->start = from;
    into->start = to;
    ikt_status st = side_alloc(ctx, out_of);
    if (st == IKT_OK) st = side_alloc(ctx, into);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = bring(ctx, out_of, into, in, out);
    side_free(out_of);
    side_free(into);
    return st;
}

ikt_status ikt_redistribute_starts(ikt_context *ctx, const ikt_order *order,
                                   ikt_direction direction, const int64_t *from, int64_t *to) {
    const int64_t count = order->rows.count, bytes = sizeof *to;
    for (int64_t i = 0; i < count; i++)
        to[i + 1] = from[i + 1] - from[i];
    IKT_TRY(direction == IKT_TO_SLOTS
                ? ikt_order_apply(ctx, order, to + 1, bytes, to + 1, bytes, bytes)
                : ikt_order_restore(ctx, order, to + 1, bytes, to + 1, bytes, bytes));
    to[0] = 0;
    for (int64_t i = 0; i < count; i++)
        to[i + 1] += to[i];
    return IKT_OK;
}
