/* Choosing and fetching candidates. See near_tiles.h. */
#include "neighbours/near_tiles.h"

#include <stdbool.h>
#include <string.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/select.h"
#include "base/sort.h"
#include "dist/shuffle.h"
#include "metric/metric.h"
#include "metric/near_bytes.h"

enum {
    TOGETHER = IKT_KERNEL_ROWS, /* tiles whose distances to all centres are computed at once */
    NEAREST_ROWS = 1024,        /* candidates that come first */
    FETCH_BYTES = 256 << 20,    /* that a batch may fetch from others */
    BATCH_LEAST = 8,            /* tiles of a batch */
    BATCH_MOST = 4096
};

static const char purpose[] = "blocks";

/* --- the probes of a tile --------------------------------------------------------------------- */

/* The slots of a cell, or of it what there is still space for. `own` is where the tile's stretch of
 * its cell begins: of an own cell that is too large only the part around the tile is taken, so that
 * equal rows in any number cost no more than others. */
static uint64_t piece_of(const ikt_cells *cells, int64_t cell, int64_t own, int64_t left) {
    const int64_t first = cells->first[cell];
    int64_t begin = first, end = cells->first[cell + 1];
    const bool is_own = own >= begin && own < end;
    if (is_own && own - left / 2 > begin) begin = own - left / 2;
    if (end - begin > left)
        end = begin + left;
    else if (is_own)
        begin = end - left > first ? end - left : first;
    return (uint64_t)begin << 32 | (uint64_t)(end - begin);
}

static int64_t rows_of(uint64_t piece) {
    return (int64_t)(uint32_t)piece;
}

/* Lists the pieces of the nearest cells, by distance, until they hold enough rows; looks at ever
 * more cells until they do. Returns how many pieces there are. */
static int64_t choose_pieces(const ikt_near_tiles *s, const ikt_probe_space *w, int64_t tile,
                             const float *distance) {
    const ikt_cells *cells = s->cells;
    const int64_t n = s->tiles->scorer.rows.n;
    const int64_t own = ikt_stretch_begin(cells, s->tiles->first[s->first_tile + tile]);
    const int64_t enough = s->candidates < n ? s->candidates : n;
    for (int64_t wanted = 2 * enough * cells->count / n + TOGETHER;; wanted *= 4) {
        int64_t found = 0, count = 0;
        ikt_select kept;
        if (wanted > cells->count) wanted = cells->count;
        ikt_select_begin(&kept, ikt_cpu_isa(), wanted, w->near);
        ikt_select_floats(&kept, -1, 0, cells->count, distance);
        ikt_select_end(&kept);
        ikt_pairs_sort_by_upper(w->near, w->work, kept.count);
        ikt_pairs_sort(w->near, kept.count); /* equal distances by cell */
        for (; count < kept.count && found < enough; count++) {
            w->piece[count] =
                piece_of(cells, ikt_pair_number(w->near[count]), own, s->candidates - found);
            found += rows_of(w->piece[count]);
        }
        if (found >= enough || wanted == cells->count) return count;
    }
}

/* Pieces become probes: those side by side are joined, and cut where ranks end. */
static void add_probes(const ikt_near_tiles *s, const ikt_probe_space *w, uint64_t *piece,
                       int64_t count, int64_t tile) {
    const ikt_rows *rows = &s->tiles->scorer.rows;
    ikt_probe *probe = s->probe + tile * s->candidates;
    int64_t probes = s->probes[tile];
    int64_t at = -1, end = -1; /* where the last probe ends, and where it has to at the latest */
    ikt_pairs_sort_by_upper(piece, w->work, count);
    for (int64_t e = 0; e < count; e++) {
        int64_t first = (int64_t)(piece[e] >> 32), left = rows_of(piece[e]);
        while (left > 0) {
            if (first != at || first == end) {
                end = ikt_smaller(first + IKT_TILE_ROWS,
                                  ikt_rows_first(rows, ikt_rows_owner(rows, first) + 1));
                probe[probes++].first = (uint32_t)first;
            }
            at = ikt_smaller(first + left, end);
            probe[probes - 1].end = (uint32_t)at;
            left -= at - first;
            first = at;
        }
    }
    s->probes[tile] = probes;
}

static void choose_one(const ikt_near_tiles *s, const ikt_probe_space *w, int64_t tile,
                       const float *distance) {
    const int64_t pieces = choose_pieces(s, w, tile, distance);
    int64_t first = 0;
    for (int64_t rows = 0; first < pieces && rows < NEAREST_ROWS; first++)
        rows += rows_of(w->piece[first]);
    s->probes[tile] = 0;
    add_probes(s, w, w->piece, first, tile);
    add_probes(s, w, w->piece + first, pieces - first, tile);
}

/* Chooses for some tiles of the batch, whose distances to all centres are computed together. */
static void choose_some(const ikt_near_tiles *s, const ikt_probe_space *w, int64_t from) {
    const ikt_cells *cells = s->cells;
    const int64_t d = cells->d, stride = ikt_packed_rows(cells->count);
    const int64_t count = s->count - from < TOGETHER ? s->count - from : TOGETHER;
    for (int64_t b = 0; b < count; b++) {
        const int64_t cell = ikt_cells_find(cells, s->tiles->first[s->first_tile + from + b]);
        if (cells->is_sparse)
            cells->metric->on(ikt_cpu_isa())
                ->sparse(&cells->sparse_pack, ikt_sparse_row_of(&cells->rows, cell),
                         w->distance + b * stride);
        else
            memcpy(w->centre + b * d, cells->centre + cell * d, (size_t)d * sizeof(float));
    }
    if (s->mean) {
        uint32_t row[TOGETHER];
        for (int64_t b = 0; b < count; b++)
            row[b] = (uint32_t)b;
        ikt_near_bytes_rows(w->centre, count, d, s->mean, w->word);
        ikt_near_bytes_kernel_for(ikt_cpu_isa())
            ->score_chosen(w->word, row, count, &s->centres, 0, s->centres.vectors, w->distance,
                           stride);
    } else if (!cells->is_sparse) {
        cells->metric->on(ikt_cpu_isa())
            ->block(w->centre, count, cells->packed, cells->count, d, w->distance);
    }
    for (int64_t b = 0; b < count; b++)
        choose_one(s, w, from + b, w->distance + b * stride);
}

/* --- tiles of other ranks --------------------------------------------------------------------- */

/* An exchange of tiles. */
typedef struct {
    ikt_shuffle asks;          /* one item for each tile that is wanted */
    uint32_t *asked;           /* first slots of the tiles that others want */
    int64_t *coming, *leaving; /* [ranks] rows */
} exchange;

/* What will come from whom. The tiles that are wanted are listed by their first slots, sorted, each
 * once, and so in the order of their owners. */
static ikt_status plan_exchange(ikt_near_tiles *s, exchange *x) {
    ikt_context *ctx = s->ctx;
    const ikt_rows *rows = &s->tiles->scorer.rows;
    ikt_foreign_tiles *out = &s->foreign;
    const int64_t ranks = ikt_size(ctx);
    int64_t found = 0, end;
    for (int pass = 0; pass < 2; pass++) { /* counts, then writes */
        if (pass == 1) IKT_TRY(ikt_alloc(ctx, &out->first, found, sizeof *out->first, purpose));
        found = 0;
        for (int64_t b = 0; b < s->count; b++)
            for (int64_t e = 0; e < s->probes[b]; e++) {
                const ikt_probe probe = s->probe[b * s->candidates + e];
                if (ikt_is_own(rows, probe.first)) continue;
                for (int64_t at = probe.first; at < probe.end; at = end, found++) {
                    const int64_t first = ikt_tile_at(s->cells, rows, at, &end);
                    if (pass == 1) out->first[found] = (uint32_t)first;
                }
            }
    }
    out->count = ikt_sort_distinct_u32(out->first, found);
    IKT_TRY(ikt_shuffle_create(ctx, purpose, &x->asks));
    IKT_TRY(ikt_alloc(ctx, &x->coming, ranks, sizeof(int64_t), purpose));
    IKT_TRY(ikt_alloc(ctx, &x->leaving, ranks, sizeof(int64_t), purpose));
    IKT_TRY(ikt_alloc(ctx, &out->row, out->count + 1, sizeof *out->row, purpose));
    for (int64_t e = 0; e < out->count; e++) {
        const int64_t first = ikt_tile_at(s->cells, rows, out->first[e], &end);
        const int owner = ikt_rows_owner(rows, first);
        ikt_shuffle_count(&x->asks, owner);
        x->coming[owner] += end - first;
        out->row[e + 1] = out->row[e] + end - first;
    }
    for (int p = 0; p < s->parts; p++)
        IKT_TRY(ikt_alloc(ctx, &out->data[p], out->row[out->count] * s->part[p].bytes, 1, purpose));
    return IKT_OK;
}

/* COLLECTIVE. Learns what others want. */
static ikt_status learn_asked(const ikt_near_tiles *s, exchange *x) {
    const ikt_tiles *tiles = s->tiles;
    ikt_context *ctx = s->ctx;
    ikt_shuffle_meet(ctx, &x->asks);
    const int64_t asked = x->asks.received;
    IKT_TRY(ikt_alloc_all(ctx, &x->asked, asked, sizeof *x->asked, purpose));
    ikt_shuffle_send(ctx, &x->asks, s->foreign.first, x->asked, sizeof *x->asked);
    for (int64_t r = 0, e = 0; r < ikt_size(ctx); r++)
        for (int64_t i = 0; i < x->asks.recv_counts[r]; i++, e++) {
            const int64_t tile = ikt_tile_of(tiles, x->asked[e]);
            x->leaving[r] += tiles->first[tile + 1] - tiles->first[tile];
        }
    return IKT_OK;
}

/* COLLECTIVE. Puts a part of what others want together, and exchanges it. */
static ikt_status exchange_part(ikt_near_tiles *s, const exchange *x, int part) {
    const ikt_tiles *tiles = s->tiles;
    const ikt_row_part *from = &s->part[part];
    ikt_context *ctx = s->ctx;
    char *answer IKT_AT_END(ikt_free) = NULL, *at;
    int64_t rows = 0;
    for (int r = 0; r < ikt_size(ctx); r++)
        rows += x->leaving[r];
    IKT_TRY(ikt_alloc_all(ctx, &answer, rows * from->bytes, 1, purpose));
    at = answer;
    for (int64_t e = 0; e < x->asks.received; e++) {
        const int64_t tile = ikt_tile_of(tiles, x->asked[e]);
        const int64_t first = tiles->first[tile], end = tiles->first[tile + 1];
        const size_t bytes = (size_t)((end - first) * from->bytes);
        memcpy(at, from->data + (first - tiles->scorer.rows.first) * from->bytes, bytes);
        at += bytes;
    }
    ikt_exchange(ctx, answer, x->leaving, s->foreign.data[part], x->coming, (size_t)from->bytes);
    return IKT_OK;
}

static void exchange_destroy(exchange *x) {
    ikt_shuffle_destroy(&x->asks);
    ikt_free_all(&x->asked, &x->coming, &x->leaving);
}

/* COLLECTIVE. Fetches every tile of another rank that is among the probes, once each: the first
 * slots, sorted, go to the ranks that own them, which send the tiles back in the same order; sizes
 * follow from the slots. Advantage: few exchanges, whatever is wanted. Disadvantage: what is wanted
 * again in the next batch travels again. */
static ikt_status fetch_foreign(ikt_near_tiles *s) {
    exchange x IKT_AT_END(exchange_destroy) = {.coming = NULL};
    IKT_TRY(ikt_agree(s->ctx, plan_exchange(s, &x)));
    IKT_TRY(learn_asked(s, &x));
    for (int p = 0; p < s->parts; p++)
        IKT_TRY(exchange_part(s, &x, p));
    return IKT_OK;
}

int64_t ikt_near_tiles_place(const ikt_near_tiles *near, uint32_t slot) {
    const ikt_rows *rows = &near->tiles->scorer.rows;
    const ikt_foreign_tiles *f = &near->foreign;
    int64_t at;
    if (ikt_is_own(rows, slot)) return slot - rows->first;
    IKT_FIND_FIRST(at, 1, f->count, f->first[at] > slot);
    return f->row[at - 1] + slot - f->first[at - 1];
}

const char *ikt_near_tiles_row(const ikt_near_tiles *near, int part, uint32_t slot) {
    const ikt_row_part *p = &near->part[part];
    const char *data =
        ikt_is_own(&near->tiles->scorer.rows, slot) ? p->data : near->foreign.data[part];
    return data + ikt_near_tiles_place(near, slot) * p->bytes;
}

/* --- batches ---------------------------------------------------------------------------------- */

ikt_status ikt_near_tiles_fetch(ikt_near_tiles *s, int64_t done, const ikt_list_course *course) {
    const int64_t left = s->tiles->count - done;
    s->first_tile = done;
    s->count = left < 0 ? 0 : left < s->most ? left : s->most;
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(s->ctx))
    for (int64_t from = 0; from < s->count; from += TOGETHER)
        choose_some(s, &s->space[omp_get_thread_num()], from);
    for (int64_t t = 0; t < s->count; t++) /* what a run before this one has done */
        if (ikt_list_done(course, ikt_near_tiles_begin(s, t), ikt_near_tiles_begin(s, t + 1)))
            s->probes[t] = 0;
    return fetch_foreign(s);
}

void ikt_near_tiles_let_go(ikt_near_tiles *near) {
    ikt_free_all(&near->foreign.first, &near->foreign.row);
    for (int p = 0; p < near->parts; p++)
        ikt_free(&near->foreign.data[p]);
    near->foreign.count = 0;
}

static int64_t batch_tiles(int64_t bytes, int64_t candidates, int64_t row_bytes) {
    const int64_t tiles = bytes / (candidates * row_bytes);
    return tiles < BATCH_LEAST ? BATCH_LEAST : tiles > BATCH_MOST ? BATCH_MOST : tiles;
}

ikt_status ikt_near_tiles_create(ikt_context *ctx, const ikt_cells *cells, const ikt_tiles *tiles,
                                 int64_t candidates, const ikt_row_part *part, int parts,
                                 ikt_near_tiles *out) {
    const int64_t piece = ikt_piece_bytes(ctx) < FETCH_BYTES ? ikt_piece_bytes(ctx) : FETCH_BYTES;
    const int64_t distances = TOGETHER * ikt_packed_rows(cells->count);
    const int64_t centre = cells->is_sparse ? 0 : TOGETHER * cells->d;
    int64_t row_bytes = 0;
    *out = (ikt_near_tiles){
        .ctx = ctx, .cells = cells, .tiles = tiles, .candidates = candidates, .parts = parts};
    for (int p = 0; p < parts; p++) {
        out->part[p] = part[p];
        row_bytes += part[p].bytes;
    }
    out->most = batch_tiles(piece, candidates, row_bytes);
    ikt_arrays *held = &out->held;
    *held = ikt_arrays_of(ctx, purpose);
    out->probes = ikt_claim(held, out->most, sizeof *out->probes);
    out->probe = ikt_claim(held, out->most * candidates, sizeof *out->probe);
    out->space = ikt_claim(held, ikt_threads(ctx), sizeof *out->space);
    held->purpose = "cells";
    if (tiles->scorer.keeps_packed) {
        float *mean = ikt_claim(held, cells->d, sizeof *mean);
        IKT_TRY(held->status);
        ikt_near_bytes_mean(ctx, cells->centre, cells->count, cells->d, mean);
        out->mean = mean;
        IKT_TRY(ikt_near_bytes_create(held, cells->centre, NULL, cells->count, cells->d, mean,
                                      &out->centres));
    }
    const int64_t words = out->mean ? TOGETHER * ikt_near_bytes_words(cells->d) : 0;
    for (int t = 0; held->status == IKT_OK && t < ikt_threads(ctx); t++) {
        ikt_probe_space *w = &out->space[t];
        w->centre = ikt_claim(held, centre, sizeof *w->centre);
        w->word = ikt_claim(held, words, sizeof *w->word);
        w->distance = ikt_claim(held, distances, sizeof *w->distance);
        w->near = ikt_claim(held, cells->count + IKT_SELECT_BEYOND, sizeof *w->near);
        w->piece = ikt_claim(held, cells->count, sizeof *w->piece);
        w->work = ikt_claim(held, cells->count, sizeof *w->work);
    }
    return held->status;
}

void ikt_near_tiles_destroy(ikt_near_tiles *near) {
    ikt_arrays_free(&near->held);
}

int64_t ikt_near_tiles_batch(int64_t candidates, int64_t row_bytes) {
    return batch_tiles(FETCH_BYTES, candidates, row_bytes);
}

int64_t ikt_near_tiles_memory(int64_t cells, int64_t candidates, int64_t row_bytes, int threads) {
    return ikt_near_tiles_batch(candidates, row_bytes) * candidates *
               (row_bytes + (int64_t)sizeof(ikt_probe)) +
           threads * (cells + IKT_PACK_ROWS) *
               (int64_t)(TOGETHER * sizeof(float) + 3 * sizeof(uint64_t));
}
