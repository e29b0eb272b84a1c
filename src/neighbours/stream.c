/* The most similar of many rows that pass by in blocks. */
#include "neighbours/stream.h"

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "neighbours/among.h"

enum { BLOCK_BYTES = 32 << 20 };

typedef struct {
    char *share, *block;
    int64_t *counts; /* [ranks] rows of each */
} room;

static ikt_status make_room(ikt_context *ctx, int64_t rows, size_t row_bytes, room *r) {
    const int64_t share = ikt_rows_make(rows, ikt_size(ctx), 0).count;
    IKT_TRY(ikt_alloc(ctx, &r->share, share, row_bytes, "neighbour blocks"));
    IKT_TRY(ikt_alloc(ctx, &r->block, rows, row_bytes, "neighbour blocks"));
    return ikt_alloc(ctx, &r->counts, ikt_size(ctx), sizeof *r->counts, "neighbour blocks");
}

/* COLLECTIVE. Rows first .. first + count - 1 on every rank. */
static ikt_status fetch(ikt_context *ctx, const ikt_row_stream *rows, int64_t first, int64_t count,
                        room *r) {
    const ikt_rows share = ikt_rows_make(count, ikt_size(ctx), ikt_rank(ctx));
    for (int rank = 0; rank < ikt_size(ctx); rank++)
        r->counts[rank] = ikt_rows_count(&share, rank);
    IKT_TRY(rows->read(rows->self, first + share.first, share.count, r->share));
    ikt_allgather(ctx, r->share, share.count, rows->row_bytes, r->block, r->counts);
    return IKT_OK;
}

static void clear(ikt_neighbours *lists) {
    for (int64_t i = 0; i < lists->n_local; i++)
        ikt_best_clear(lists->score + i * lists->k, lists->row + i * lists->k, lists->k);
}

ikt_status ikt_neighbours_stream(ikt_context *ctx, const ikt_scorer *scorer,
                                 const ikt_row_stream *rows, ikt_neighbours *lists) {
    const int64_t bytes = (int64_t)rows->row_bytes;
    int64_t step = bytes < BLOCK_BYTES ? BLOCK_BYTES / bytes : 1;
    if (step > rows->n) step = rows->n;
    room r = {NULL, NULL, NULL};
    clear(lists);
    ikt_status st = ikt_agree(ctx, make_room(ctx, step, rows->row_bytes, &r));
    for (int64_t first = 0; st == IKT_OK && first < rows->n; first += step) {
        const int64_t count = rows->n - first < step ? rows->n - first : step;
        st = fetch(ctx, rows, first, count, &r);
        if (st == IKT_OK)
            st = ikt_agree(ctx,
                           ikt_neighbours_offer_block(ctx, scorer, r.block, first, count, lists));
        ikt_progress(ctx, "old rows compared", first + count, rows->n, NULL);
    }
    if (st == IKT_OK) ikt_neighbours_sort(ctx, lists);
    ikt_free(&r.share);
    ikt_free(&r.block);
    ikt_free(&r.counts);
    return st;
}
