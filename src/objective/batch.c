/* Mini-batches. See batch.h. */
#include "objective/batch.h"

#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/rng.h"
#include "base/sort.h"

static const char purpose[] = "batch";

struct ikt_batch {
    ikt_context *ctx;
    ikt_batch_settings settings;
    ikt_rows rows;
    int64_t *nearest;      /* [rows.count * neighbours] numbers of rows */
    int64_t *drawn, *slot; /* [count]; [slots] of ikt_draw_subset */
    int64_t slots;
    int64_t *own, *all, *counts; /* [count * neighbours] twice; [ranks] */
    uint8_t *moves;              /* [rows.count] */
    ikt_arrays held;             /* these */
};

/* --- nearest rows ----------------------------------------------------------------------------- */

/* The k largest of an own row's entries, the largest first, of equal ones that of the lower row.
 *   value, row   [count] in any order; put in order as far as is needed */
static void choose(int64_t count, float *value, int64_t *row, int64_t k, int64_t *nearest) {
    for (int64_t c = 0; c < k; c++) {
        int64_t best = c;
        for (int64_t e = c + 1; e < count; e++)
            if (value[e] > value[best] || (value[e] == value[best] && row[e] < row[best])) best = e;
        const float largest = value[best];
        nearest[c] = row[best];
        value[best] = value[c];
        row[best] = row[c];
        value[c] = largest;
        row[c] = nearest[c];
    }
}

/* The entries of own row i; returns how many there are. */
static int64_t entries_of(const ikt_graph *graph, const ikt_dense *dense, int64_t i, float *value,
                          int64_t *row) {
    int64_t count = 0;
    for (int64_t j = 0; dense && j < dense->rows.n; j++) {
        const float p = dense->value[i * dense->stride + j];
        if (!(p > 0)) continue;
        value[count] = p;
        row[count++] = j;
    }
    for (int part = 0; graph && part < 2; part++) {
        const ikt_csr *csr = part == 0 ? &graph->forward : &graph->reverse;
        for (int64_t e = csr->start[i]; e < csr->start[i + 1]; e++) {
            const int64_t column = csr->column[e];
            value[count] = ikt_csr_value(csr, e);
            row[count++] = column < graph->rows.count
                               ? graph->rows.first + column
                               : graph->ghost_row[column - graph->rows.count];
        }
    }
    return count;
}

/* Entries of the longest own row, and of the shortest. */
static void lengths(const ikt_graph *graph, const ikt_dense *dense, int64_t *longest,
                    int64_t *shortest) {
    *longest = dense ? dense->rows.n : 0;
    *shortest = dense ? dense->rows.n - 1 : INT64_MAX;
    for (int64_t i = 0; graph && i < graph->rows.count; i++) {
        const int64_t length = graph->forward.start[i + 1] - graph->forward.start[i] +
                               graph->reverse.start[i + 1] - graph->reverse.start[i];
        *longest = ikt_larger(*longest, length);
        *shortest = ikt_smaller(*shortest, length);
    }
    for (int64_t i = 0; dense && i < dense->rows.count; i++) {
        int64_t length = 0;
        for (int64_t j = 0; j < dense->rows.n; j++)
            length += dense->value[i * dense->stride + j] > 0;
        *shortest = ikt_smaller(*shortest, length);
    }
}

ikt_status ikt_batch_check(ikt_context *ctx, int64_t neighbours, int64_t entries) {
    if (neighbours <= entries) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "layout.batch_neighbours = %lld, but a row of P has %lld entries only: take "
                    "fewer, or affinity.neighbours more",
                    (long long)neighbours, (long long)entries);
}

/* COLLECTIVE. */
static ikt_status find_nearest(ikt_batch *b, const ikt_graph *graph, const ikt_dense *dense) {
    const int64_t k = b->settings.neighbours;
    int64_t longest, shortest;
    lengths(graph, dense, &longest, &shortest);
    IKT_ARRAYS(held, b->ctx, purpose);
    int64_t *row = ikt_claim(&held, longest, sizeof *row);
    float *value = ikt_claim(&held, longest, sizeof *value);
    const ikt_status st = held.status;
    IKT_TRY(ikt_agree(b->ctx, st == IKT_OK ? ikt_batch_check(b->ctx, k, shortest) : st));
    for (int64_t i = 0; i < b->rows.count; i++)
        choose(entries_of(graph, dense, i, value, row), value, row, k, b->nearest + i * k);
    return IKT_OK;
}

/* --- making ----------------------------------------------------------------------------------- */

/* COLLECTIVE. */
static ikt_status allocate(ikt_batch *b) {
    ikt_arrays *held = &b->held;
    const int64_t m = b->settings.count, k = b->settings.neighbours;
    b->slots = ikt_draw_slots(m);
    b->nearest = ikt_claim(held, b->rows.count * k, sizeof *b->nearest);
    b->drawn = ikt_claim(held, m, sizeof *b->drawn);
    b->slot = ikt_claim(held, b->slots, sizeof *b->slot);
    b->own = ikt_claim(held, ikt_smaller(m, b->rows.count) * k, sizeof *b->own);
    b->all = ikt_claim(held, m * k, sizeof *b->all);
    b->counts = ikt_claim(held, b->rows.ranks, sizeof *b->counts);
    b->moves = ikt_claim(held, b->rows.count, sizeof *b->moves);
    return ikt_arrays_agree(held);
}

ikt_status ikt_batch_create(ikt_context *ctx, const ikt_batch_settings *settings,
                            const ikt_graph *graph, const ikt_dense *dense, ikt_batch **out) {
    ikt_batch *made IKT_AT_END(ikt_batch_destroy) = NULL;
    *out = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &made, 1, sizeof *made, purpose));
    *made = (ikt_batch){.ctx = ctx,
                        .settings = *settings,
                        .rows = graph ? graph->rows : dense->rows,
                        .held = ikt_arrays_of(ctx, purpose)};
    IKT_TRY(allocate(made));
    IKT_TRY(find_nearest(made, graph, dense));
    return ikt_give(out, made);
}

void ikt_batch_destroy(ikt_batch **batch) {
    if (!*batch) return;
    ikt_arrays_free(&(*batch)->held);
    ikt_free(batch);
}

int64_t ikt_batch_memory(const ikt_batch_settings *settings, int64_t n_local) {
    const int64_t m = settings->count, k = settings->neighbours;
    return (8 * k + 1) * n_local +
           8 * (m + ikt_draw_slots(m) + m * k + ikt_smaller(m, n_local) * k);
}

/* --- drawing ---------------------------------------------------------------------------------- */

const uint8_t *ikt_batch_draw(ikt_batch *b, int64_t iteration) {
    const ikt_rows *rows = &b->rows;
    const int64_t m = b->settings.count, k = b->settings.neighbours;
    int64_t mine = 0;
    ikt_draw_subset(b->settings.seed, IKT_RNG_BATCH, iteration, rows->n, m, b->slot, b->slots,
                    b->drawn);
    memset(b->moves, 0, (size_t)rows->count);
    memset(b->counts, 0, (size_t)rows->ranks * sizeof *b->counts);
    for (int64_t d = 0; d < m; d++) {
        const int64_t i = b->drawn[d] - rows->first;
        b->counts[ikt_rows_owner(rows, b->drawn[d])] += k;
        if (i < 0 || i >= rows->count) continue;
        b->moves[i] = 1;
        memcpy(b->own + mine, b->nearest + i * k, (size_t)k * sizeof *b->own);
        mine += k;
    }
    ikt_allgather(b->ctx, b->own, mine, sizeof *b->own, b->all, b->counts);
    for (int64_t e = 0; e < m * k; e++) {
        const int64_t i = b->all[e] - rows->first;
        if (i >= 0 && i < rows->count) b->moves[i] = 1;
    }
    return b->moves;
}
