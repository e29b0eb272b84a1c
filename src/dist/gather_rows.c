/* Values of rows of other ranks: row numbers go to their owners, and values come back in the same
 * order. */
#include "dist/gather_rows.h"

#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "dist/shuffle.h"

static const char purpose[] = "rows of others";

ikt_status ikt_gather_rows(ikt_context *ctx, const ikt_rows *rows, const uint32_t *row,
                           int64_t count, const void *own, size_t bytes, void *value) {
    ikt_shuffle shuffle;
    uint32_t *asked = NULL; /* rows that others want, and their values */
    char *leaving = NULL;
    ikt_status st = ikt_agree(ctx, ikt_shuffle_create(ctx, purpose, &shuffle));
    if (st == IKT_OK) {
        ikt_shuffle_count_rows(&shuffle, rows, row, count);
        ikt_shuffle_meet(ctx, &shuffle);
        st = ikt_alloc(ctx, &asked, shuffle.received, sizeof *asked, purpose);
        if (st == IKT_OK) st = ikt_alloc(ctx, &leaving, shuffle.received, bytes, purpose);
        st = ikt_agree(ctx, st);
    }
    if (st == IKT_OK) {
        ikt_shuffle_send(ctx, &shuffle, row, asked, sizeof *asked);
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
        for (int64_t e = 0; e < shuffle.received; e++)
            memcpy(leaving + (size_t)e * bytes,
                   (const char *)own + (size_t)(asked[e] - rows->first) * bytes, bytes);
        ikt_shuffle_answer(ctx, &shuffle, leaving, value, bytes);
    }
    ikt_free(&asked);
    ikt_free(&leaving);
    ikt_shuffle_destroy(&shuffle);
    return st;
}

ikt_status ikt_share_rows(ikt_context *ctx, const ikt_rows *rows, const void *own, size_t bytes,
                          const char *memory, void *all) {
    int64_t *counts = NULL;
    void *values = NULL;
    ikt_status st = ikt_alloc(ctx, &values, rows->n, bytes, memory);
    if (st == IKT_OK) st = ikt_alloc(ctx, &counts, rows->ranks, sizeof *counts, memory);
    st = ikt_agree(ctx, st);
    for (int r = 0; st == IKT_OK && r < rows->ranks; r++)
        counts[r] = ikt_rows_count(rows, r);
    if (st == IKT_OK)
        ikt_allgather(ctx, own, rows->count, bytes, values, counts);
    else
        ikt_free(&values);
    ikt_free(&counts);
    memcpy(all, &values, sizeof values);
    return st;
}
