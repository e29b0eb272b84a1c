/* Transposed entries, a batch of rows at a time. See transpose.h. */
#include "graph/transpose.h"

#include <string.h>

#include "base/comm.h"
#include "base/memory.h"

enum { BATCH_ENTRIES = 1 << 21 }; /* 25 MB to send */

static const char purpose[] = "symmetrise";

ikt_status ikt_transpose_begin(ikt_context *ctx, const ikt_rows *distribution,
                               const ikt_directed *rows, ikt_transpose *out) {
    const int64_t ranks = ikt_size(ctx);
    *out = (ikt_transpose){.ctx = ctx, .distribution = distribution, .rows = rows};
    IKT_TRY(ikt_alloc(ctx, &out->send_counts, ranks, sizeof(int64_t), purpose));
    IKT_TRY(ikt_alloc(ctx, &out->recv_counts, ranks, sizeof(int64_t), purpose));
    return ikt_alloc(ctx, &out->place, ranks, sizeof(int64_t), purpose);
}

void ikt_transpose_end(ikt_transpose *t) {
    ikt_free(&t->send_counts);
    ikt_free(&t->recv_counts);
    ikt_free(&t->place);
    ikt_free(&t->sent);
    ikt_free(&t->received);
}

/* Own rows first .. last - 1. */
typedef struct {
    int64_t first, last;
} batch;

/* The rows from `first` on that a batch takes. */
static batch next_batch(const ikt_transpose *t, int64_t first) {
    const int64_t *start = t->rows->start, count = t->distribution->count;
    batch b = {first, first};
    while (b.last < count && start[b.last + 1] - start[first] <= BATCH_ENTRIES)
        b.last++;
    if (b.last == first && first < count) b.last++;
    return b;
}

/* Whether an entry has to travel. */
static bool is_wanted(const ikt_transpose *t, int64_t e, bool only_positive) {
    return !ikt_transpose_is_own(t->distribution, t->rows->column[e]) &&
           (!only_positive || t->rows->value[e] > 0);
}

/* Counts what each rank gets, and makes room. */
static ikt_status count_sent(ikt_transpose *t, batch b, bool only_positive) {
    const ikt_directed *rows = t->rows;
    int64_t total = 0, ranks = ikt_size(t->ctx);
    memset(t->send_counts, 0, (size_t)ranks * sizeof *t->send_counts);
    for (int64_t e = rows->start[b.first]; e < rows->start[b.last]; e++)
        if (is_wanted(t, e, only_positive))
            t->send_counts[ikt_rows_owner(t->distribution, rows->column[e])]++;
    for (int64_t r = 0; r < ranks; r++) {
        t->place[r] = total;
        total += t->send_counts[r];
    }
    if (total <= t->sent_room) return IKT_OK;
    ikt_free(&t->sent);
    t->sent_room = 0;
    IKT_TRY(ikt_alloc(t->ctx, &t->sent, total, sizeof *t->sent, purpose));
    t->sent_room = total;
    return IKT_OK;
}

/* Fills `sent`, grouped by owner. */
static ikt_status fill(ikt_transpose *t, batch b, bool only_positive) {
    const ikt_directed *rows = t->rows;
    IKT_TRY(count_sent(t, b, only_positive));
    for (int64_t i = b.first; i < b.last; i++)
        for (int64_t e = rows->start[i]; e < rows->start[i + 1]; e++) {
            if (!is_wanted(t, e, only_positive)) continue;
            int owner = ikt_rows_owner(t->distribution, rows->column[e]);
            int64_t local = rows->column[e] - ikt_rows_first(t->distribution, owner);
            t->sent[t->place[owner]++] = (ikt_transposed){
                (uint32_t)local, (uint32_t)(t->distribution->first + i), rows->value[e]};
        }
    return IKT_OK;
}

/* COLLECTIVE. Sends the batch and receives the others': *count entries in t->received. */
static ikt_status exchange(ikt_transpose *t, batch b, bool only_positive, int64_t *count) {
    ikt_context *ctx = t->ctx;
    IKT_TRY(ikt_agree(ctx, fill(t, b, only_positive)));
    ikt_exchange_counts(ctx, t->send_counts, t->recv_counts);
    *count = 0;
    for (int r = 0; r < ikt_size(ctx); r++)
        *count += t->recv_counts[r];
    ikt_status st = IKT_OK;
    if (*count > t->received_room) {
        ikt_free(&t->received);
        st = ikt_alloc(ctx, &t->received, *count, sizeof *t->received, purpose);
        t->received_room = st == IKT_OK ? *count : 0;
    }
    IKT_TRY(ikt_agree(ctx, st));
    ikt_exchange(ctx, t->sent, t->send_counts, t->received, t->recv_counts, sizeof *t->sent);
    return IKT_OK;
}

/* Gives every received entry to `take`. The own rows are cut into as many shares as there should be
 * threads, and each share is the work of one thread. OpenMP may start fewer threads than it is
 * asked for (OMP_THREAD_LIMIT, OMP_DYNAMIC), so shares are dealt out by a loop, never by thread
 * number. */
static void apply(const ikt_transpose *t, int64_t count,
                  void (*take)(void *, const ikt_transposed *), void *self) {
    const int shares = ikt_threads(t->ctx);
#pragma omp parallel for schedule(static, 1) num_threads(shares)
    for (int s = 0; s < shares; s++) {
        const ikt_rows share = ikt_rows_make(t->distribution->count, shares, s);
        for (int64_t e = 0; e < count; e++)
            if (t->received[e].row >= share.first && t->received[e].row - share.first < share.count)
                take(self, &t->received[e]);
    }
}

ikt_status ikt_transpose_run(ikt_transpose *t, bool only_positive,
                             void (*take)(void *self, const ikt_transposed *), void *self) {
    int64_t done = 0, count;
    while (ikt_max_one(t->ctx, done < t->distribution->count)) {
        const batch b = next_batch(t, done);
        IKT_TRY(exchange(t, b, only_positive, &count));
        apply(t, count, take, self);
        done = b.last;
    }
    return IKT_OK;
}
