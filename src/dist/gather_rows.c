/* Values of rows of other ranks: numbers go to the owners, values come back in the same order. */
#include "dist/gather_rows.h"

#include <string.h>

#include "base/comm.h"
#include "base/memory.h"

static const char purpose[] = "rows of others";

typedef struct {
    int64_t *ask_counts, *asked_counts; /* [ranks] */
    uint32_t *asked;                    /* rows that others want */
    char *leaving;                      /* their values */
    int64_t n_asked;
} talk;

static void talk_free(talk *t) {
    ikt_free(&t->ask_counts);
    ikt_free(&t->asked_counts);
    ikt_free(&t->asked);
    ikt_free(&t->leaving);
}

static ikt_status talk_alloc(ikt_context *ctx, talk *t) {
    int64_t ranks = ikt_size(ctx);
    IKT_TRY(ikt_alloc(ctx, &t->ask_counts, ranks, sizeof(int64_t), purpose));
    return ikt_alloc(ctx, &t->asked_counts, ranks, sizeof(int64_t), purpose);
}

/* COLLECTIVE. Learns what others want. */
static ikt_status listen(ikt_context *ctx, const ikt_rows *rows, const uint32_t *row, int64_t count,
                         size_t bytes, talk *t) {
    for (int64_t e = 0; e < count; e++)
        t->ask_counts[ikt_rows_owner(rows, row[e])]++;
    ikt_exchange_counts(ctx, t->ask_counts, t->asked_counts);
    for (int r = 0; r < ikt_size(ctx); r++)
        t->n_asked += t->asked_counts[r];
    ikt_status st = ikt_alloc(ctx, &t->asked, t->n_asked, sizeof *t->asked, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &t->leaving, t->n_asked, bytes, purpose);
    IKT_TRY(ikt_agree(ctx, st));
    ikt_exchange(ctx, row, t->ask_counts, t->asked, t->asked_counts, sizeof *t->asked);
    return IKT_OK;
}

ikt_status ikt_gather_rows(ikt_context *ctx, const ikt_rows *rows, const uint32_t *row,
                           int64_t count, const void *own, size_t bytes, void *value) {
    talk t = {0};
    ikt_status st = ikt_agree(ctx, talk_alloc(ctx, &t));
    if (st == IKT_OK) st = listen(ctx, rows, row, count, bytes, &t);
    if (st == IKT_OK) {
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
        for (int64_t e = 0; e < t.n_asked; e++)
            memcpy(t.leaving + (size_t)e * bytes,
                   (const char *)own + (size_t)(t.asked[e] - rows->first) * bytes, bytes);
        ikt_exchange(ctx, t.leaving, t.asked_counts, value, t.ask_counts, bytes);
    }
    talk_free(&t);
    return st;
}
