/* Rows of which each rank holds a block of its own. See row_blocks.h. */
#include "dist/row_blocks.h"

#include <stdbool.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"

static const char purpose[] = "rows of the caller";
static const int64_t default_round_bytes = (int64_t)64 << 20;

ikt_status ikt_row_blocks_create(ikt_context *ctx, int64_t count, ikt_row_blocks *out) {
    const int64_t ranks = ikt_size(ctx);
    *out = (ikt_row_blocks){.round_bytes = default_round_bytes};
    IKT_ARRAYS(held, ctx, purpose);
    out->first = ikt_claim_kept(&held, ranks + 1, sizeof *out->first);
    out->request = ikt_claim_kept(&held, ranks, sizeof *out->request);
    out->give_counts = ikt_claim_kept(&held, ranks, sizeof *out->give_counts);
    out->counts = ikt_claim_kept(&held, ranks, sizeof *out->counts);
    ikt_status st = ikt_arrays_agree(&held);
    if (st != IKT_OK) {
        ikt_row_blocks_destroy(out);
        return st;
    }
    ikt_gather_counts(ctx, count, out->counts);
    for (int r = 0; r < ranks; r++)
        out->first[r + 1] = out->first[r] + out->counts[r];
    out->n = out->first[ranks];
    return IKT_OK;
}

void ikt_row_blocks_destroy(ikt_row_blocks *blocks) {
    ikt_free_all(&blocks->first, &blocks->request, &blocks->give_counts, &blocks->counts);
    blocks->n = 0;
}

static ikt_row_span block_of(const ikt_row_blocks *b, int rank) {
    return (ikt_row_span){b->first[rank], b->first[rank + 1] - b->first[rank]};
}

static ikt_row_span common(ikt_row_span a, ikt_row_span b) {
    const int64_t first = a.first > b.first ? a.first : b.first;
    const int64_t end_a = a.first + a.count, end_b = b.first + b.count;
    const int64_t count = (end_a < end_b ? end_a : end_b) - first;
    return (ikt_row_span){first, count > 0 ? count : 0};
}

/* The part of a request that is met in a round of `step` rows. */
static ikt_row_span part_of(ikt_row_span request, int64_t step, int64_t round) {
    const int64_t passed = round * step, left = request.count - passed;
    return (ikt_row_span){request.first + passed, left < 0 ? 0 : left < step ? left : step};
}

/* Counts the rows that travel in a round, both ways. Returns those that leave this rank, and packs
 * them, by rank, where `leaving` is not NULL. */
static int64_t plan_round(ikt_context *ctx, ikt_row_blocks *b, int64_t step, int64_t round,
                          const char *own, size_t bytes, char *leaving) {
    const int me = ikt_rank(ctx);
    const ikt_row_span mine = block_of(b, me), wanted = part_of(b->request[me], step, round);
    int64_t rows = 0;
    for (int r = 0; r < ikt_size(ctx); r++) {
        const ikt_row_span give = common(part_of(b->request[r], step, round), mine);
        b->give_counts[r] = give.count;
        b->counts[r] = common(wanted, block_of(b, r)).count;
        if (leaving && give.count > 0)
            memcpy(leaving + (size_t)rows * bytes, own + (size_t)(give.first - mine.first) * bytes,
                   (size_t)give.count * bytes);
        rows += give.count;
    }
    return rows;
}

/* COLLECTIVE. Rows travel, in rounds in which no rank sends more than planned or one for each. */
static ikt_status fetch(ikt_context *ctx, ikt_row_blocks *b, const void *own, size_t bytes,
                        char *rows) {
    const int64_t most_rows = b->round_bytes / (int64_t)bytes;
    int64_t longest = 0, step, most;
    char *leaving IKT_AT_END(ikt_free) = NULL;
    for (int r = 0; r < ikt_size(ctx); r++)
        longest = b->request[r].count > longest ? b->request[r].count : longest;
    for (step = longest;; step = step / 2) {
        most = 0;
        for (int64_t round = 0; round * step < longest; round++) {
            const int64_t now = plan_round(ctx, b, step, round, NULL, bytes, NULL);
            if (now > most) most = now;
        }
        if (step == 1 || ikt_max_one(ctx, most) <= most_rows) break;
    }
    IKT_TRY(ikt_alloc_all(ctx, &leaving, most, bytes, purpose));
    for (int64_t round = 0; round * step < longest; round++) {
        plan_round(ctx, b, step, round, own, bytes, leaving);
        ikt_exchange(ctx, leaving, b->give_counts, rows, b->counts, bytes);
        rows += (size_t)part_of(b->request[ikt_rank(ctx)], step, round).count * bytes;
    }
    return IKT_OK;
}

ikt_status ikt_row_blocks_read(ikt_context *ctx, ikt_row_blocks *b, const void *own, size_t bytes,
                               int64_t first, int64_t count, void *rows) {
    const ikt_row_span mine = {first, count};
    bool is_at_home = true; /* each rank wants rows of its own block only */
    for (int r = 0; r < ikt_size(ctx); r++)
        b->counts[r] = 1;
    ikt_allgather(ctx, &mine, 1, sizeof mine, b->request, b->counts);
    for (int r = 0; r < ikt_size(ctx); r++)
        is_at_home =
            is_at_home && common(b->request[r], block_of(b, r)).count == b->request[r].count;
    if (!is_at_home) return fetch(ctx, b, own, bytes, rows);
    const int64_t before = first - b->first[ikt_rank(ctx)];
    if (count > 0) memcpy(rows, (const char *)own + (size_t)before * bytes, (size_t)count * bytes);
    return IKT_OK;
}
