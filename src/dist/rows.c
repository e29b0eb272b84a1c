/* Ownership of rows: the first n % ranks ranks own one row more than the others. Sets of rows. */
#include "dist/rows.h"

#include <string.h>

#include "base/comm.h"
#include "base/memory.h"

ikt_rows ikt_rows_make(int64_t n, int ranks, int rank) {
    ikt_rows rows = {n, ranks, 0, 0};
    rows.first = ikt_rows_first(&rows, rank);
    rows.count = ikt_rows_count(&rows, rank);
    return rows;
}

int64_t ikt_rows_first(const ikt_rows *rows, int rank) {
    int64_t base = rows->n / rows->ranks, more = rows->n % rows->ranks;
    return rank * base + (rank < more ? rank : more);
}

int64_t ikt_rows_count(const ikt_rows *rows, int rank) {
    return rows->n / rows->ranks + (rank < rows->n % rows->ranks ? 1 : 0);
}

int ikt_rows_owner(const ikt_rows *rows, int64_t row) {
    int64_t base = rows->n / rows->ranks, more = rows->n % rows->ranks;
    int64_t in_larger = more * (base + 1); /* rows in the blocks of base + 1 */
    if (row < in_larger) return (int)(row / (base + 1));
    return (int)(more + (row - in_larger) / base);
}

void ikt_rows_gather(ikt_context *ctx, const ikt_rows *rows, const int64_t *row, int64_t count,
                     const void *own, size_t bytes, int64_t *counts, void *all) {
    char *mine = NULL; /* those of this rank lie side by side */
    memset(counts, 0, (size_t)rows->ranks * sizeof *counts);
    for (int64_t e = 0; e < count; e++) {
        counts[ikt_rows_owner(rows, row[e])]++;
        if (!ikt_is_own(rows, row[e])) continue;
        char *to = (char *)all + (size_t)e * bytes;
        if (!mine) mine = to;
        memcpy(to, (const char *)own + (size_t)(row[e] - rows->first) * bytes, bytes);
    }
    ikt_allgather(ctx, mine, counts[ikt_rank(ctx)], bytes, all, counts);
}

ikt_status ikt_row_set_create(ikt_context *ctx, int64_t n, ikt_row_set *out) {
    *out = (ikt_row_set){.words = n / 64 + 1};
    IKT_TRY(ikt_alloc(ctx, &out->mark, out->words, sizeof *out->mark, "sets of rows"));
    return ikt_alloc(ctx, &out->before, out->words, sizeof *out->before, "sets of rows");
}

void ikt_row_set_destroy(ikt_row_set *set) {
    ikt_free_all(&set->mark, &set->before);
    set->words = set->count = 0;
}

void ikt_row_set_add(ikt_row_set *set, uint32_t row) {
    uint64_t bit = UINT64_C(1) << (row % 64), *word = &set->mark[row / 64], seen;
#pragma omp atomic read
    seen = *word;
    if (seen & bit) return; /* most are members already: no write, no contention */
#pragma omp atomic update
    *word |= bit;
}

void ikt_row_set_number(ikt_row_set *set) {
    set->count = 0;
    for (int64_t w = 0; w < set->words; w++) {
        set->before[w] = (uint32_t)set->count;
        set->count += __builtin_popcountll(set->mark[w]);
    }
}

void ikt_row_set_list(const ikt_row_set *set, uint32_t *row) {
    for (int64_t w = 0; w < set->words; w++)
        for (uint64_t left = set->mark[w]; left; left &= left - 1)
            *row++ = (uint32_t)(64 * w + __builtin_ctzll(left));
}
