/* Blocks of other ranks, fetched together.
 *
 * Method: the first positions that are wanted, sorted, go to the ranks that own them, which send
 * the blocks back in the same order; sizes follow from the positions. Advantage: two exchanges,
 * whatever is wanted. Disadvantage: what is wanted again in the next batch travels again. */
#include "neighbours/fetch.h"

#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"

/* What is asked of whom, and by whom. */
typedef struct {
    int64_t *ask_counts, *asked_counts; /* [ranks] blocks */
    int64_t *come_bytes, *leave_bytes;  /* [ranks] */
    uint32_t *asked;                    /* first positions that others want */
    int64_t n_asked, n_bytes;
    char *leaving;
} talk;

static void talk_free(talk *t) {
    ikt_free(&t->ask_counts);
    ikt_free(&t->asked_counts);
    ikt_free(&t->come_bytes);
    ikt_free(&t->leave_bytes);
    ikt_free(&t->asked);
    ikt_free(&t->leaving);
}

static ikt_status talk_alloc(ikt_context *ctx, talk *t) {
    int64_t ranks = ikt_size(ctx);
    IKT_TRY(ikt_alloc(ctx, &t->ask_counts, ranks, sizeof(int64_t), "blocks"));
    IKT_TRY(ikt_alloc(ctx, &t->asked_counts, ranks, sizeof(int64_t), "blocks"));
    IKT_TRY(ikt_alloc(ctx, &t->come_bytes, ranks, sizeof(int64_t), "blocks"));
    return ikt_alloc(ctx, &t->leave_bytes, ranks, sizeof(int64_t), "blocks");
}

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Foreign first positions among the probes, sorted, each once. */
static ikt_status list_foreign(ikt_context *ctx, const ikt_cells *cells, const ikt_rows *rows,
                               const ikt_probe_lists *lists, ikt_foreign *out) {
    int64_t found = 0, kept = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) IKT_TRY(ikt_alloc(ctx, &out->first, found, sizeof *out->first, "blocks"));
        found = 0;
        for (int64_t b = 0; b < lists->count; b++)
            for (int64_t e = 0; e < lists->probes[b]; e++) {
                uint32_t at = lists->probe[b * lists->room + e].first;
                int64_t end;
                if (at >= rows->first && at < rows->first + rows->count) continue;
                if (pass == 1) out->first[found] = (uint32_t)ikt_block_at(cells, rows, at, &end);
                found++;
            }
    }
    qsort(out->first, (size_t)found, sizeof *out->first, by_number);
    for (int64_t e = 0; e < found; e++)
        if (e == 0 || out->first[e] != out->first[e - 1]) out->first[kept++] = out->first[e];
    out->count = kept;
    return IKT_OK;
}

/* Sizes of what will come. */
static ikt_status expect(ikt_context *ctx, const ikt_cells *cells, const ikt_tiles *tiles, talk *t,
                         ikt_foreign *out) {
    IKT_TRY(ikt_alloc(ctx, &out->offset, out->count + 1, sizeof *out->offset, "blocks"));
    for (int64_t e = 0; e < out->count; e++) {
        int64_t end, first = ikt_block_at(cells, &tiles->rows, out->first[e], &end);
        int64_t bytes = tiles->bytes(tiles, end - first);
        int owner = ikt_rows_owner(&tiles->rows, first);
        t->ask_counts[owner]++;
        t->come_bytes[owner] += bytes;
        out->offset[e + 1] = out->offset[e] + bytes;
    }
    return ikt_alloc(ctx, &out->data, out->offset[out->count], 1, "blocks");
}

static int64_t own_block(const ikt_tiles *tiles, int64_t position) {
    int64_t low = 0, high = tiles->blocks; /* first[low] <= position < first[high] */
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (tiles->first[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int64_t own_bytes(const ikt_tiles *tiles, int64_t block) {
    return tiles->offset[block + 1] - tiles->offset[block];
}

/* COLLECTIVE. Learns what others want, and puts it together. */
static ikt_status answer(ikt_context *ctx, const ikt_tiles *tiles, const ikt_foreign *want,
                         talk *t) {
    ikt_exchange_counts(ctx, t->ask_counts, t->asked_counts);
    for (int r = 0; r < ikt_size(ctx); r++)
        t->n_asked += t->asked_counts[r];
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &t->asked, t->n_asked, sizeof *t->asked, "blocks")));
    ikt_exchange(ctx, want->first, t->ask_counts, t->asked, t->asked_counts, sizeof *t->asked);
    for (int64_t r = 0, e = 0; r < ikt_size(ctx); r++)
        for (int64_t i = 0; i < t->asked_counts[r]; i++, e++)
            t->leave_bytes[r] += own_bytes(tiles, own_block(tiles, t->asked[e]));
    for (int r = 0; r < ikt_size(ctx); r++)
        t->n_bytes += t->leave_bytes[r];
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &t->leaving, t->n_bytes, 1, "blocks")));
    char *at = t->leaving;
    for (int64_t e = 0; e < t->n_asked; e++) {
        int64_t block = own_block(tiles, t->asked[e]), bytes = own_bytes(tiles, block);
        memcpy(at, tiles->data + tiles->offset[block], (size_t)bytes);
        at += bytes;
    }
    return IKT_OK;
}

ikt_status ikt_foreign_fetch(ikt_context *ctx, const ikt_cells *cells, const ikt_tiles *tiles,
                             const ikt_probe_lists *lists, ikt_foreign *out) {
    talk t = {0};
    *out = (ikt_foreign){0};
    ikt_status st = talk_alloc(ctx, &t);
    if (st == IKT_OK) st = list_foreign(ctx, cells, &tiles->rows, lists, out);
    if (st == IKT_OK) st = expect(ctx, cells, tiles, &t, out);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = answer(ctx, tiles, out, &t);
    if (st == IKT_OK)
        ikt_exchange(ctx, t.leaving, t.leave_bytes, out->data, t.come_bytes, 1);
    else
        ikt_foreign_destroy(out);
    talk_free(&t);
    return st;
}

void ikt_foreign_destroy(ikt_foreign *foreign) {
    ikt_free(&foreign->first);
    ikt_free(&foreign->offset);
    ikt_free(&foreign->data);
    foreign->count = 0;
}

const char *ikt_foreign_block(const ikt_tiles *tiles, const ikt_foreign *foreign,
                              int64_t position) {
    if (position >= tiles->rows.first && position < tiles->rows.first + tiles->rows.count)
        return tiles->data + tiles->offset[own_block(tiles, position)];
    uint32_t wanted = (uint32_t)position;
    const uint32_t *found =
        bsearch(&wanted, foreign->first, (size_t)foreign->count, sizeof *foreign->first, by_number);
    return foreign->data + foreign->offset[found - foreign->first];
}
