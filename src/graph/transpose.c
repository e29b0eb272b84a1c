/* Transposed entries, a batch of rows at a time. See transpose.h. */
#include "graph/transpose.h"

#include "base/comm.h"
#include "base/memory.h"

enum { BATCH_ENTRIES = 1 << 21 }; /* 25 MB to send */

static const char purpose[] = "symmetrise";

ikt_status ikt_transpose_begin(ikt_context *ctx, const ikt_rows *distribution,
                               const ikt_directed *rows, ikt_transpose *out) {
    *out = (ikt_transpose){.ctx = ctx, .distribution = distribution, .rows = rows};
    return ikt_shuffle_create(ctx, purpose, &out->shuffle);
}

void ikt_transpose_end(ikt_transpose *t) {
    ikt_shuffle_destroy(&t->shuffle);
    ikt_free_all(&t->sent, &t->received);
}

/* Whether an entry has to travel. */
static bool is_wanted(const ikt_transpose *t, int64_t e, bool only_positive) {
    return !ikt_is_own(t->distribution, t->rows->column[e]) &&
           (!only_positive || t->rows->value[e] > 0);
}

/* Fills `sent` with the entries of own rows first .. last - 1, grouped by the owners of the
 * columns. */
static ikt_status fill(ikt_transpose *t, int64_t first, int64_t last, bool only_positive) {
    const ikt_directed *rows = t->rows;
    ikt_shuffle_clear(t->ctx, &t->shuffle);
    for (int64_t e = rows->start[first]; e < rows->start[last]; e++)
        if (is_wanted(t, e, only_positive))
            ikt_shuffle_count(&t->shuffle, ikt_rows_owner(t->distribution, rows->column[e]));
    ikt_shuffle_group(t->ctx, &t->shuffle);
    IKT_TRY(ikt_reserve(t->ctx, &t->sent, t->shuffle.sent, sizeof *t->sent, purpose));
    for (int64_t i = first; i < last; i++)
        for (int64_t e = rows->start[i]; e < rows->start[i + 1]; e++) {
            if (!is_wanted(t, e, only_positive)) continue;
            int owner = ikt_rows_owner(t->distribution, rows->column[e]);
            int64_t local = rows->column[e] - ikt_rows_first(t->distribution, owner);
            t->sent[ikt_shuffle_next(&t->shuffle, owner)] = (ikt_transposed_entry){
                (uint32_t)local, (uint32_t)(t->distribution->first + i), rows->value[e]};
        }
    return IKT_OK;
}

ikt_status ikt_transpose_run(ikt_transpose *t, bool only_positive,
                             void (*take)(void *self, const ikt_transposed_entry *), void *self) {
    ikt_context *ctx = t->ctx;
    const int64_t *start = t->rows->start, rows = t->distribution->count;
    const int shares = ikt_threads(ctx);
    int64_t first = 0, last = 0;
    if (ikt_size(ctx) == 1) return IKT_OK;
    while (ikt_max_one(ctx, first < rows)) {
        while (last < rows && start[last + 1] - start[first] <= BATCH_ENTRIES)
            last++;
        if (last == first && first < rows) last++;
        IKT_TRY(ikt_agree(ctx, fill(t, first, last, only_positive)));
        ikt_shuffle_meet(ctx, &t->shuffle);
        const int64_t count = t->shuffle.received;
        IKT_TRY(
            ikt_agree(ctx, ikt_reserve(ctx, &t->received, count, sizeof *t->received, purpose)));
        ikt_shuffle_send(ctx, &t->shuffle, t->sent, t->received, sizeof *t->sent);
        /* OpenMP may start fewer threads than it is asked for (OMP_THREAD_LIMIT, OMP_DYNAMIC): the
         * own rows are cut into shares that a loop deals out, never the number of a thread. */
#pragma omp parallel for schedule(static, 1) num_threads(shares)
        for (int s = 0; s < shares; s++) {
            const ikt_rows share = ikt_rows_make(rows, shares, s);
            for (int64_t e = 0; e < count; e++)
                if (t->received[e].row >= share.first &&
                    t->received[e].row - share.first < share.count)
                    take(self, &t->received[e]);
        }
        first = last;
    }
    return IKT_OK;
}
