/* The candidates of a search among near cells. See candidates.h. */
#include "neighbours/candidates.h"

#include <stdbool.h>
#include <string.h>

#include <omp.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/sort.h"
#include "dist/shuffle.h"
#include "metric/metric.h"
#include "neighbours/neighbours.h"

enum { TOGETHER = 8 }; /* tiles whose distances to all centres are computed at once */

/* --- the probes of a tile --------------------------------------------------------------------- */

/* What choosing needs, and what one thread works with. */
typedef struct {
    const ikt_cells *cells;
    const ikt_tiles *tiles;
    int64_t candidates;
    ikt_probe_lists *lists;
    float *centre;   /* [TOGETHER * d] dense centres of the tiles' cells */
    float *distance; /* [TOGETHER * cells rounded up] from these to all centres */
    float *score;    /* [cells] nearest cells of a tile */
    uint32_t *near;  /* [cells] */
} chooser;

/* What has been chosen for one tile. */
typedef struct {
    ikt_probe *probe;
    int64_t count, rows;
} chosen;

/* Adds a cell, or what there is still space for, split where tiles end. `own` is where the tile's
 * stretch of its cell begins. */
static void add_cell(const chooser *c, int64_t cell, int64_t own, chosen *list) {
    const int64_t first = c->cells->first[cell], left = c->candidates - list->rows;
    int64_t begin = first, end = c->cells->first[cell + 1];
    const bool is_own = own >= begin && own < end;
    if (is_own && own - left / 2 > begin) begin = own - left / 2;
    if (end - begin > left)
        end = begin + left;
    else if (is_own)
        begin = end - left > first ? end - left : first;
    for (int64_t at = begin, tile_end; at < end; at = tile_end) {
        ikt_tile_at(c->cells, &c->tiles->scorer.rows, at, &tile_end);
        if (tile_end > end) tile_end = end;
        list->probe[list->count++] = (ikt_probe){(uint32_t)at, (uint32_t)tile_end};
        list->rows += tile_end - at;
    }
}

/* The `wanted` nearest cells by one row of distances, ascending. */
static void nearest_cells(const chooser *c, const float *distance, int64_t wanted) {
    ikt_best_clear(c->score, c->near, wanted);
    for (int64_t cell = 0; cell < c->cells->count; cell++)
        if (distance[cell] <= c->score[0] && c->cells->first[cell + 1] > c->cells->first[cell])
            ikt_best_offer(c->score, c->near, wanted, distance[cell], (uint32_t)cell);
    ikt_best_sort(c->score, c->near, wanted);
}

/* Looks at ever more cells until they hold enough rows. */
static void choose_one(const chooser *c, int64_t tile, const float *distance) {
    const int64_t count = c->cells->count, n = c->tiles->scorer.rows.n;
    const int64_t own = ikt_stretch_begin(c->cells, c->tiles->first[c->lists->first_tile + tile]);
    const int64_t enough = c->candidates < n ? c->candidates : n;
    chosen list = {c->lists->probe + tile * c->lists->capacity, 0, 0};
    int64_t wanted = 2 * enough * count / n + TOGETHER;
    for (;; wanted *= 4) {
        if (wanted > count) wanted = count;
        nearest_cells(c, distance, wanted);
        list.count = list.rows = 0;
        for (int64_t e = 0; e < wanted && c->near[e] < count && list.rows < enough; e++)
            add_cell(c, c->near[e], own, &list);
        if (list.rows >= enough || wanted == count) break;
    }
    c->lists->probes[tile] = list.count;
}

/* Chooses for `count` tiles of the lists, whose distances to all centres are computed together. */
static void choose_some(const chooser *c, int64_t from, int64_t count) {
    const ikt_cells *cells = c->cells;
    const int64_t d = cells->d, stride = ikt_packed_rows(cells->count);
    for (int64_t b = 0; b < count; b++) {
        const int64_t cell =
            ikt_cells_find(cells, c->tiles->first[c->lists->first_tile + from + b]);
        if (cells->is_sparse)
            cells->metric->sparse(&cells->sparse_pack, ikt_sparse_row_of(&cells->rows, cell),
                                  c->distance + b * stride);
        else
            memcpy(c->centre + b * d, cells->centre + cell * d, (size_t)d * sizeof(float));
    }
    if (!cells->is_sparse)
        cells->metric->block(ikt_cpu_isa(), c->centre, count, cells->packed, cells->count, d,
                             c->distance);
    for (int64_t b = 0; b < count; b++)
        choose_one(c, from + b, c->distance + b * stride);
}

static ikt_status alloc_chooser(ikt_context *ctx, chooser *c) {
    const ikt_cells *cells = c->cells;
    const int64_t distances = TOGETHER * ikt_packed_rows(cells->count);
    if (!cells->is_sparse)
        IKT_TRY(ikt_alloc(ctx, &c->centre, TOGETHER * cells->d, sizeof(float), "cells"));
    IKT_TRY(ikt_alloc(ctx, &c->distance, distances, sizeof(float), "cells"));
    IKT_TRY(ikt_alloc(ctx, &c->score, cells->count, sizeof *c->score, "cells"));
    return ikt_alloc(ctx, &c->near, cells->count, sizeof *c->near, "cells");
}

ikt_status ikt_probe_choose(ikt_context *ctx, const ikt_cells *cells, const ikt_tiles *tiles,
                            int64_t candidates, ikt_probe_lists *lists) {
    const int threads = ikt_threads(ctx);
    chooser *each = NULL; /* [threads] */
    ikt_status st = ikt_alloc(ctx, &each, threads, sizeof *each, "cells");
    for (int i = 0; st == IKT_OK && i < threads; i++) {
        each[i] = (chooser){cells, tiles, candidates, lists, NULL, NULL, NULL, NULL};
        st = alloc_chooser(ctx, &each[i]);
    }
    if (st == IKT_OK) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (int64_t from = 0; from < lists->count; from += TOGETHER)
            choose_some(&each[omp_get_thread_num()], from,
                        lists->count - from < TOGETHER ? lists->count - from : TOGETHER);
    }
    for (int i = 0; each && i < threads; i++) {
        ikt_free(&each[i].centre);
        ikt_free(&each[i].distance);
        ikt_free(&each[i].score);
        ikt_free(&each[i].near);
    }
    ikt_free(&each);
    return st;
}

int64_t ikt_probe_memory(int64_t cells, int threads) {
    return threads * (TOGETHER + 2) * (cells + IKT_PACK_ROWS) * (int64_t)sizeof(float);
}

/* --- tiles of other ranks --------------------------------------------------------------------- */

static bool is_own(const ikt_rows *rows, int64_t slot) {
    return slot >= rows->first && slot < rows->first + rows->count;
}

/* The first slots of foreign tiles among the probes, sorted, each once. */
static ikt_status list_foreign(ikt_context *ctx, const ikt_cells *cells, const ikt_rows *rows,
                               const ikt_probe_lists *lists, ikt_foreign *out) {
    int64_t found = 0, end;
    for (int pass = 0; pass < 2; pass++) { /* counts, then writes */
        if (pass == 1) IKT_TRY(ikt_alloc(ctx, &out->first, found, sizeof *out->first, "blocks"));
        found = 0;
        for (int64_t b = 0; b < lists->count; b++)
            for (int64_t e = 0; e < lists->probes[b]; e++) {
                const uint32_t at = lists->probe[b * lists->capacity + e].first;
                if (is_own(rows, at)) continue;
                if (pass == 1) out->first[found] = (uint32_t)ikt_tile_at(cells, rows, at, &end);
                found++;
            }
    }
    out->count = ikt_sort_distinct_u32(out->first, found);
    return IKT_OK;
}

/* An exchange of tiles. */
typedef struct {
    ikt_shuffle asks;          /* one item for each tile that is wanted */
    uint32_t *asked;           /* first slots of the tiles that others want */
    int64_t *coming, *leaving; /* [ranks] bytes */
    char *answer;              /* the tiles that others want */
} exchange;

/* What will come from whom. The tiles that are wanted are in the order of their owners. */
static ikt_status plan_exchange(ikt_context *ctx, const ikt_cells *cells, const ikt_tiles *tiles,
                                exchange *x, ikt_foreign *out) {
    const ikt_rows *rows = &tiles->scorer.rows;
    const int64_t ranks = ikt_size(ctx);
    IKT_TRY(ikt_shuffle_create(ctx, "blocks", &x->asks));
    IKT_TRY(ikt_alloc(ctx, &x->coming, ranks, sizeof(int64_t), "blocks"));
    IKT_TRY(ikt_alloc(ctx, &x->leaving, ranks, sizeof(int64_t), "blocks"));
    IKT_TRY(ikt_alloc(ctx, &out->offset, out->count + 1, sizeof *out->offset, "blocks"));
    for (int64_t e = 0; e < out->count; e++) {
        int64_t end;
        const int64_t first = ikt_tile_at(cells, rows, out->first[e], &end);
        const int64_t bytes = tiles->scorer.packed_bytes(&tiles->scorer, end - first);
        const int owner = ikt_rows_owner(rows, first);
        ikt_shuffle_count(&x->asks, owner);
        x->coming[owner] += bytes;
        out->offset[e + 1] = out->offset[e] + bytes;
    }
    return ikt_alloc(ctx, &out->data, out->offset[out->count], 1, "blocks");
}

/* COLLECTIVE. Learns what others want, and puts it together. */
static ikt_status answer(ikt_context *ctx, const ikt_tiles *tiles, const uint32_t *wanted,
                         exchange *x) {
    ikt_shuffle_meet(ctx, &x->asks);
    const int64_t asked = x->asks.received;
    int64_t bytes = 0;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &x->asked, asked, sizeof *wanted, "blocks")));
    ikt_shuffle_send(ctx, &x->asks, wanted, x->asked, sizeof *wanted);
    for (int64_t r = 0, e = 0; r < ikt_size(ctx); r++) {
        for (int64_t i = 0; i < x->asks.recv_counts[r]; i++, e++)
            x->leaving[r] += ikt_tile_bytes(tiles, ikt_tile_of(tiles, x->asked[e]));
        bytes += x->leaving[r];
    }
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &x->answer, bytes, 1, "blocks")));
    char *at = x->answer;
    for (int64_t e = 0; e < asked; e++) {
        const int64_t tile = ikt_tile_of(tiles, x->asked[e]);
        memcpy(at, tiles->data + tiles->offset[tile], (size_t)ikt_tile_bytes(tiles, tile));
        at += ikt_tile_bytes(tiles, tile);
    }
    return IKT_OK;
}

ikt_status ikt_foreign_fetch(ikt_context *ctx, const ikt_cells *cells, const ikt_tiles *tiles,
                             const ikt_probe_lists *lists, ikt_foreign *out) {
    exchange x = {0};
    *out = (ikt_foreign){0};
    ikt_status st = list_foreign(ctx, cells, &tiles->scorer.rows, lists, out);
    if (st == IKT_OK) st = plan_exchange(ctx, cells, tiles, &x, out);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = answer(ctx, tiles, out->first, &x);
    if (st == IKT_OK)
        ikt_exchange(ctx, x.answer, x.leaving, out->data, x.coming, 1);
    else
        ikt_foreign_destroy(out);
    ikt_shuffle_destroy(&x.asks);
    ikt_free(&x.asked);
    ikt_free(&x.coming);
    ikt_free(&x.leaving);
    ikt_free(&x.answer);
    return st;
}

void ikt_foreign_destroy(ikt_foreign *foreign) {
    ikt_free(&foreign->first);
    ikt_free(&foreign->offset);
    ikt_free(&foreign->data);
    foreign->count = 0;
}

const char *ikt_foreign_tile(const ikt_tiles *tiles, const ikt_foreign *foreign, int64_t slot) {
    if (is_own(&tiles->scorer.rows, slot))
        return tiles->data + tiles->offset[ikt_tile_of(tiles, slot)];
    const int64_t at = ikt_find_u32(foreign->first, foreign->count, (uint32_t)slot);
    return foreign->data + foreign->offset[at];
}
