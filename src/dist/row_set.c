/* A set of rows as bits. */
#include "dist/row_set.h"

#include "base/memory.h"

ikt_status ikt_row_set_create(ikt_context *ctx, int64_t n, ikt_row_set *out) {
    *out = (ikt_row_set){.words = n / 64 + 1};
    IKT_TRY(ikt_alloc(ctx, &out->mark, out->words, sizeof *out->mark, "sets of rows"));
    return ikt_alloc(ctx, &out->before, out->words, sizeof *out->before, "sets of rows");
}

void ikt_row_set_destroy(ikt_row_set *set) {
    ikt_free(&set->mark);
    ikt_free(&set->before);
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
