/* Permutations: each number goes to the rank that owns it, which counts. See permutation.h. */
#include "dist/permutation.h"

#include "base/comm.h"
#include "base/memory.h"
#include "dist/shuffle.h"

static const char purpose[] = "order";

/* COLLECTIVE. Whether `mine` holds on all ranks. */
static bool all(ikt_context *ctx, bool mine) {
    return ikt_max_one(ctx, !mine) == 0;
}

static bool are_in_range(const ikt_rows *rows, const uint32_t *slot) {
    for (int64_t i = 0; i < rows->count; i++)
        if (slot[i] >= rows->n) return false;
    return true;
}

/* COLLECTIVE. Where as many numbers come to each rank as it has rows, and none twice, all come
 * once.
 *   sent, received   [rows->count]
 *   seen             [rows->count] zeros */
static bool is_permutation(ikt_context *ctx, const ikt_rows *rows, const uint32_t *slot,
                           ikt_shuffle *shuffle, uint32_t *sent, uint32_t *received,
                           uint8_t *seen) {
    bool is_distinct = true;
    if (!all(ctx, are_in_range(rows, slot))) return false;
    ikt_shuffle_count_rows(shuffle, rows, slot, rows->count);
    ikt_shuffle_group(ctx, shuffle);
    ikt_shuffle_meet(ctx, shuffle);
    if (!all(ctx, shuffle->received == rows->count)) return false;
    for (int64_t i = 0; i < rows->count; i++)
        sent[ikt_shuffle_next(shuffle, ikt_rows_owner(rows, slot[i]))] = slot[i];
    ikt_shuffle_send(ctx, shuffle, sent, received, sizeof *sent);
    for (int64_t i = 0; i < rows->count && is_distinct; i++)
        is_distinct = seen[received[i] - rows->first]++ == 0;
    return all(ctx, is_distinct);
}

ikt_status ikt_permutation_check(ikt_context *ctx, const ikt_rows *rows, const uint32_t *slot,
                                 bool *is_one) {
    ikt_shuffle shuffle;
    uint32_t *sent = NULL, *received = NULL;
    uint8_t *seen = NULL;
    ikt_status st = ikt_shuffle_create(ctx, purpose, &shuffle);
    if (st == IKT_OK) st = ikt_alloc(ctx, &sent, rows->count, sizeof *sent, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &received, rows->count, sizeof *received, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &seen, rows->count, sizeof *seen, purpose);
    st = ikt_agree(ctx, st);
    *is_one = st == IKT_OK && is_permutation(ctx, rows, slot, &shuffle, sent, received, seen);
    ikt_shuffle_destroy(&shuffle);
    ikt_free(&sent);
    ikt_free(&received);
    ikt_free(&seen);
    return st;
}
