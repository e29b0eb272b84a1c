/* Permutations: each number goes to the rank that owns it, which counts. See permutation.h. */
#include "dist/permutation.h"

#include "base/comm.h"
#include "base/memory.h"

static const char purpose[] = "order";

typedef struct {
    int64_t *send, *receive, *next; /* [ranks] */
    uint32_t *sent, *received;
    uint8_t *seen; /* [rows->count] */
} room;

static void room_free(room *r) {
    ikt_free(&r->send);
    ikt_free(&r->receive);
    ikt_free(&r->next);
    ikt_free(&r->sent);
    ikt_free(&r->received);
    ikt_free(&r->seen);
}

static ikt_status room_alloc(ikt_context *ctx, const ikt_rows *rows, room *r) {
    const int64_t ranks = rows->ranks;
    IKT_TRY(ikt_alloc(ctx, &r->send, ranks, sizeof *r->send, purpose));
    IKT_TRY(ikt_alloc(ctx, &r->receive, ranks, sizeof *r->receive, purpose));
    IKT_TRY(ikt_alloc(ctx, &r->next, ranks, sizeof *r->next, purpose));
    IKT_TRY(ikt_alloc(ctx, &r->sent, rows->count, sizeof *r->sent, purpose));
    IKT_TRY(ikt_alloc(ctx, &r->received, rows->count, sizeof *r->received, purpose));
    return ikt_alloc(ctx, &r->seen, rows->count, sizeof *r->seen, purpose);
}

/* LOCAL. Groups the numbers by owner; false where one is out of range. */
static bool group(const ikt_rows *rows, const uint32_t *position, room *r) {
    int64_t before = 0;
    for (int64_t i = 0; i < rows->count; i++) {
        if (position[i] >= rows->n) return false;
        r->send[ikt_rows_owner(rows, position[i])]++;
    }
    for (int rank = 0; rank < rows->ranks; rank++) {
        r->next[rank] = before;
        before += r->send[rank];
    }
    for (int64_t i = 0; i < rows->count; i++)
        r->sent[r->next[ikt_rows_owner(rows, position[i])]++] = position[i];
    return true;
}

/* LOCAL. Whether as many come as there are own rows. */
static bool is_complete(const ikt_rows *rows, const room *r) {
    int64_t total = 0;
    for (int rank = 0; rank < rows->ranks; rank++)
        total += r->receive[rank];
    return total == rows->count;
}

/* LOCAL. Whether no number comes twice; then all do once. */
static bool is_distinct(const ikt_rows *rows, room *r) {
    for (int64_t i = 0; i < rows->count; i++)
        if (r->seen[r->received[i] - rows->first]++ > 0) return false;
    return true;
}

/* COLLECTIVE. */
static bool all(ikt_context *ctx, bool mine) {
    return ikt_max_one(ctx, !mine) == 0;
}

ikt_status ikt_permutation_check(ikt_context *ctx, const ikt_rows *rows, const uint32_t *position,
                                 bool *is_one) {
    room r = {0};
    ikt_status st = ikt_agree(ctx, room_alloc(ctx, rows, &r));
    *is_one = st == IKT_OK && all(ctx, group(rows, position, &r));
    if (*is_one) {
        ikt_exchange_counts(ctx, r.send, r.receive);
        *is_one = all(ctx, is_complete(rows, &r));
    }
    if (*is_one) {
        ikt_exchange(ctx, r.sent, r.send, r.received, r.receive, sizeof *r.sent);
        *is_one = all(ctx, is_distinct(rows, &r));
    }
    room_free(&r);
    return st;
}
