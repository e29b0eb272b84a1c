/* Neighbour search that looks at near cells only.
 *
 * Method: own tiles are taken in batches. For each tile the probes are chosen, the slots that it is
 * compared with; tiles of other ranks among them are fetched, and the rows of the tile get the
 * nearest of all of them, tile by tile (nearest.h), with the scores that exact search uses.
 * Advantage: dense work in cache at the kernel's full speed, no random access to rows, cost n times
 * a constant; the candidates follow from the data alone. Disadvantage: a row at the rim of its cell
 * shares the candidates of the rows in the middle. */
#include "neighbours/search.h"

#include <stdbool.h>
#include <string.h>

#include <omp.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sort.h"
#include "dist/shuffle.h"
#include "metric/metric.h"
#include "neighbours/nearest.h"

enum {
    TOGETHER = 8,            /* tiles whose distances to all centres are computed at once */
    FETCH_BYTES = 256 << 20, /* that a batch may fetch from others */
    BATCH_LEAST = 8,         /* tiles of a batch */
    BATCH_MOST = 4096
};

static const char purpose[] = "blocks";

/* A run of slots within one tile. */
typedef struct {
    uint32_t first, end;
} probe;

/* Tiles of other ranks. */
typedef struct {
    int64_t count;
    uint32_t *first;    /* [count] their first slots, ascending */
    int64_t *row;       /* [count + 1] rows before each */
    char *data;         /* the plain rows */
    int64_t *offset;    /* [count + 1] integers into `quantised` */
    int32_t *quantised; /* the tiles, packed; NULL without a quantiser */
} foreign_tiles;

/* What one thread works with. */
typedef struct {
    float *centre;   /* [TOGETHER * d] dense centres of the tiles' cells */
    float *distance; /* [TOGETHER * cells rounded up] from these to all centres */
    float *near_by;  /* [cells] distances of the nearest cells of a tile */
    uint32_t *near;  /* [cells] */
    ikt_nearest_rows nearest;
} workspace;

typedef struct {
    ikt_context *ctx;
    const ikt_cells *cells;
    const ikt_tiles *tiles;
    int64_t candidates;
    int64_t first_tile, count; /* own tiles of the batch */
    int64_t *probes;           /* [count] probes of each */
    probe *probe;              /* [count * candidates], nearest cell first */
    foreign_tiles foreign;
    ikt_list_course *course;
    ikt_neighbours *out; /* its lists */
    workspace *space;    /* [threads] */
} search;

/* --- the probes of a tile --------------------------------------------------------------------- */

/* Adds the slots of a cell, or of it what there is still space for, to the probes of a tile, split
 * where tiles end. `own` is where the tile's stretch of its cell begins: of an own cell that is too
 * large only the part around the tile is taken, so that equal rows in any number cost no more than
 * others. Returns how many rows are left to be found. */
static int64_t add_cell(const search *s, int64_t cell, int64_t own, int64_t left, int64_t tile) {
    const int64_t first = s->cells->first[cell];
    int64_t begin = first, end = s->cells->first[cell + 1];
    const bool is_own = own >= begin && own < end;
    if (is_own && own - left / 2 > begin) begin = own - left / 2;
    if (end - begin > left)
        end = begin + left;
    else if (is_own)
        begin = end - left > first ? end - left : first;
    for (int64_t at = begin, tile_end; at < end; at = tile_end) {
        ikt_tile_at(s->cells, &s->tiles->scorer.rows, at, &tile_end);
        if (tile_end > end) tile_end = end;
        s->probe[tile * s->candidates + s->probes[tile]++] =
            (probe){(uint32_t)at, (uint32_t)tile_end};
    }
    return left - (end - begin);
}

/* Chooses the probes of a tile: the slots of the nearest cells, the own one first, until they hold
 * enough rows; looks at ever more cells until they do. */
static void choose_one(const search *s, const workspace *w, int64_t tile, const float *distance) {
    const ikt_cells *cells = s->cells;
    const int64_t n = s->tiles->scorer.rows.n;
    const int64_t own = ikt_stretch_begin(cells, s->tiles->first[s->first_tile + tile]);
    const int64_t enough = s->candidates < n ? s->candidates : n;
    for (int64_t wanted = 2 * enough * cells->count / n + TOGETHER;; wanted *= 4) {
        int64_t left = s->candidates;
        if (wanted > cells->count) wanted = cells->count;
        ikt_best_clear(w->near_by, w->near, wanted);
        for (int64_t cell = 0; cell < cells->count; cell++)
            if (distance[cell] <= w->near_by[0] && cells->first[cell + 1] > cells->first[cell])
                ikt_best_offer(w->near_by, w->near, wanted, distance[cell], (uint32_t)cell);
        ikt_best_sort(w->near_by, w->near, wanted);
        s->probes[tile] = 0;
        for (int64_t e = 0;
             e < wanted && w->near[e] < cells->count && s->candidates - left < enough; e++)
            left = add_cell(s, w->near[e], own, left, tile);
        if (s->candidates - left >= enough || wanted == cells->count) return;
    }
}

/* Chooses for some tiles of the batch, whose distances to all centres are computed together. */
static void choose_some(const search *s, const workspace *w, int64_t from) {
    const ikt_cells *cells = s->cells;
    const int64_t d = cells->d, stride = ikt_packed_rows(cells->count);
    const int64_t count = s->count - from < TOGETHER ? s->count - from : TOGETHER;
    for (int64_t b = 0; b < count; b++) {
        const int64_t cell = ikt_cells_find(cells, s->tiles->first[s->first_tile + from + b]);
        if (cells->is_sparse)
            cells->metric->sparse(&cells->sparse_pack, ikt_sparse_row_of(&cells->rows, cell),
                                  w->distance + b * stride);
        else
            memcpy(w->centre + b * d, cells->centre + cell * d, (size_t)d * sizeof(float));
    }
    if (!cells->is_sparse)
        cells->metric->block(ikt_cpu_isa(), w->centre, count, cells->packed, cells->count, d,
                             w->distance);
    for (int64_t b = 0; b < count; b++)
        choose_one(s, w, from + b, w->distance + b * stride);
}

/* --- tiles of other ranks --------------------------------------------------------------------- */

static bool is_own(const ikt_rows *rows, int64_t slot) {
    return slot >= rows->first && slot < rows->first + rows->count;
}

/* An exchange of tiles. */
typedef struct {
    ikt_shuffle asks;          /* one item for each tile that is wanted */
    uint32_t *asked;           /* first slots of the tiles that others want */
    int64_t *coming, *leaving; /* [ranks] bytes */
    char *answer;              /* the tiles that others want */
} exchange;

/* What will come from whom. The tiles that are wanted are listed by their first slots, sorted, each
 * once, and so in the order of their owners. */
static ikt_status plan_exchange(search *s, exchange *x) {
    ikt_context *ctx = s->ctx;
    const ikt_scorer *scorer = &s->tiles->scorer;
    const ikt_rows *rows = &scorer->rows;
    foreign_tiles *out = &s->foreign;
    const int64_t ranks = ikt_size(ctx);
    int64_t found = 0, end;
    for (int pass = 0; pass < 2; pass++) { /* counts, then writes */
        if (pass == 1) IKT_TRY(ikt_alloc(ctx, &out->first, found, sizeof *out->first, purpose));
        found = 0;
        for (int64_t b = 0; b < s->count; b++)
            for (int64_t e = 0; e < s->probes[b]; e++) {
                const uint32_t at = s->probe[b * s->candidates + e].first;
                if (is_own(rows, at)) continue;
                if (pass == 1) out->first[found] = (uint32_t)ikt_tile_at(s->cells, rows, at, &end);
                found++;
            }
    }
    out->count = ikt_sort_distinct_u32(out->first, found);
    IKT_TRY(ikt_shuffle_create(ctx, purpose, &x->asks));
    IKT_TRY(ikt_alloc(ctx, &x->coming, ranks, sizeof(int64_t), purpose));
    IKT_TRY(ikt_alloc(ctx, &x->leaving, ranks, sizeof(int64_t), purpose));
    IKT_TRY(ikt_alloc(ctx, &out->row, out->count + 1, sizeof *out->row, purpose));
    IKT_TRY(ikt_alloc(ctx, &out->offset, out->count + 1, sizeof *out->offset, purpose));
    for (int64_t e = 0; e < out->count; e++) {
        const int64_t first = ikt_tile_at(s->cells, rows, out->first[e], &end);
        const int owner = ikt_rows_owner(rows, first);
        ikt_shuffle_count(&x->asks, owner);
        x->coming[owner] += (end - first) * scorer->row_bytes;
        out->row[e + 1] = out->row[e] + end - first;
        out->offset[e + 1] = out->offset[e] + ikt_quantised_size(scorer->d, end - first);
    }
    if (s->tiles->quantised)
        IKT_TRY(ikt_alloc(ctx, &out->quantised, out->offset[out->count], sizeof *out->quantised,
                          purpose));
    return ikt_alloc(ctx, &out->data, out->row[out->count] * scorer->row_bytes, 1, purpose);
}

/* COLLECTIVE. Learns what others want, and puts it together. */
static ikt_status answer(ikt_context *ctx, const ikt_tiles *tiles, const uint32_t *wanted,
                         exchange *x) {
    ikt_shuffle_meet(ctx, &x->asks);
    const int64_t asked = x->asks.received;
    int64_t bytes = 0;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &x->asked, asked, sizeof *wanted, purpose)));
    ikt_shuffle_send(ctx, &x->asks, wanted, x->asked, sizeof *wanted);
    for (int64_t r = 0, e = 0; r < ikt_size(ctx); r++) {
        for (int64_t i = 0; i < x->asks.recv_counts[r]; i++, e++)
            x->leaving[r] += ikt_tile_bytes(tiles, ikt_tile_of(tiles, x->asked[e]));
        bytes += x->leaving[r];
    }
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &x->answer, bytes, 1, purpose)));
    char *at = x->answer;
    for (int64_t e = 0; e < asked; e++) {
        const int64_t tile = ikt_tile_of(tiles, x->asked[e]);
        memcpy(at, ikt_tile_plain(tiles, tile), (size_t)ikt_tile_bytes(tiles, tile));
        at += ikt_tile_bytes(tiles, tile);
    }
    return IKT_OK;
}

/* LOCAL. What came plain; integers would travel for longer than it takes to make them. */
static void quantise_foreign(search *s) {
    const foreign_tiles *f = &s->foreign;
    const int64_t bytes = s->tiles->scorer.row_bytes;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(s->ctx))
    for (int64_t e = 0; e < f->count; e++)
        ikt_quantise_pack(&s->tiles->quantiser,
                          (const float *)(const void *)(f->data + f->row[e] * bytes),
                          f->row[e + 1] - f->row[e], f->quantised + f->offset[e]);
}

/* COLLECTIVE. Fetches every tile of another rank that is among the probes, once each: the first
 * slots, sorted, go to the ranks that own them, which send the tiles back in the same order; sizes
 * follow from the slots. Advantage: two exchanges, whatever is wanted. Disadvantage: what is wanted
 * again in the next batch travels again. */
static ikt_status fetch_foreign(search *s) {
    ikt_context *ctx = s->ctx;
    exchange x = {0};
    s->foreign = (foreign_tiles){0};
    ikt_status st = ikt_agree(ctx, plan_exchange(s, &x));
    if (st == IKT_OK) st = answer(ctx, s->tiles, s->foreign.first, &x);
    if (st == IKT_OK) ikt_exchange(ctx, x.answer, x.leaving, s->foreign.data, x.coming, 1);
    if (st == IKT_OK && s->foreign.quantised) quantise_foreign(s);
    ikt_shuffle_destroy(&x.asks);
    ikt_free(&x.asked);
    ikt_free(&x.coming);
    ikt_free(&x.leaving);
    ikt_free(&x.answer);
    return st;
}

/* --- the search ------------------------------------------------------------------------------- */

/* Where a row lies, own or fetched. */
static const char *find_row(const void *self, uint32_t slot) {
    const search *s = self;
    const ikt_scorer *scorer = &s->tiles->scorer;
    if (is_own(&scorer->rows, slot))
        return s->tiles->data + (slot - scorer->rows.first) * scorer->row_bytes;
    const foreign_tiles *f = &s->foreign;
    int64_t at;
    IKT_FIND_FIRST(at, 1, f->count, f->first[at] > slot);
    return f->data + (f->row[at - 1] + slot - f->first[at - 1]) * scorer->row_bytes;
}

/* The rows of a probe. */
static ikt_candidates candidates_of(const search *s, probe at) {
    const ikt_tiles *tiles = s->tiles;
    int64_t end, begin = ikt_tile_at(s->cells, &tiles->scorer.rows, at.first, &end);
    ikt_candidates c = {.plain = find_row(s, (uint32_t)begin),
                        .first = (uint32_t)begin,
                        .count = end - begin,
                        .from = at.first - begin,
                        .end = at.end - begin};
    if (!tiles->quantised) return c;
    if (is_own(&tiles->scorer.rows, begin))
        c.quantised = tiles->quantised + tiles->offset[ikt_tile_of(tiles, begin)];
    else {
        const foreign_tiles *f = &s->foreign;
        c.quantised = f->quantised + f->offset[ikt_find_u32(f->first, f->count, c.first)];
    }
    return c;
}

/* Compares an own tile of the batch with its probes, and writes the lists of its rows. */
static void search_tile(const search *s, workspace *w, int64_t tile) {
    const ikt_tiles *tiles = s->tiles;
    const int64_t t = s->first_tile + tile, first = tiles->first[t];
    const int64_t list = (first - tiles->scorer.rows.first) * s->out->k;
    const ikt_row_finder finder = {s, find_row};
    ikt_nearest_rows_begin(&w->nearest, ikt_tile_plain(tiles, t), first,
                           tiles->first[t + 1] - first);
    do {
        for (int64_t e = 0; e < s->probes[tile]; e++) {
            const ikt_candidates c = candidates_of(s, s->probe[tile * s->candidates + e]);
            ikt_nearest_rows_offer(&w->nearest, &c);
        }
    } while (ikt_nearest_rows_next(&w->nearest, &finder, s->out->score + list, s->out->row + list));
}

/* First own row of a tile of the batch, as a local number. */
static int64_t tile_row(const search *s, int64_t tile) {
    return s->tiles->first[s->first_tile + tile] - s->tiles->scorer.rows.first;
}

/* COLLECTIVE. The batch of at most `tiles` own tiles that begins at tile `done`; ranks that have
 * finished help others. */
static ikt_status search_batch(search *s, int64_t done, int64_t tiles) {
    const int64_t left = s->tiles->count - done;
    s->first_tile = done;
    s->count = left < 0 ? 0 : left < tiles ? left : tiles;
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(s->ctx))
    for (int64_t from = 0; from < s->count; from += TOGETHER)
        choose_some(s, &s->space[omp_get_thread_num()], from);
    for (int64_t t = 0; t < s->count; t++) /* what a run before this one has done */
        if (ikt_list_done(s->course, tile_row(s, t), tile_row(s, t + 1))) s->probes[t] = 0;
    const ikt_status st = fetch_foreign(s);
    if (st == IKT_OK) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(s->ctx))
        for (int64_t t = 0; t < s->count; t++)
            if (s->probes[t] > 0) search_tile(s, &s->space[omp_get_thread_num()], t);
        if (s->count > 0) ikt_list_note(s->course, tile_row(s, 0), tile_row(s, s->count));
    }
    ikt_free(&s->foreign.first);
    ikt_free(&s->foreign.row);
    ikt_free(&s->foreign.data);
    ikt_free(&s->foreign.offset);
    ikt_free(&s->foreign.quantised);
    return st;
}

static ikt_status allocate(search *s, int64_t tiles) {
    ikt_context *ctx = s->ctx;
    const ikt_cells *cells = s->cells;
    const int64_t distances = TOGETHER * ikt_packed_rows(cells->count);
    const int64_t centre = cells->is_sparse ? 0 : TOGETHER * cells->d;
    IKT_TRY(ikt_alloc(ctx, &s->probes, tiles, sizeof *s->probes, purpose));
    IKT_TRY(ikt_alloc(ctx, &s->probe, tiles * s->candidates, sizeof *s->probe, purpose));
    IKT_TRY(ikt_alloc(ctx, &s->space, ikt_threads(ctx), sizeof *s->space, purpose));
    for (workspace *w = s->space; w < s->space + ikt_threads(ctx); w++) {
        IKT_TRY(ikt_alloc(ctx, &w->centre, centre, sizeof *w->centre, "cells"));
        IKT_TRY(ikt_alloc(ctx, &w->distance, distances, sizeof *w->distance, "cells"));
        IKT_TRY(ikt_alloc(ctx, &w->near_by, cells->count, sizeof *w->near_by, "cells"));
        IKT_TRY(ikt_alloc(ctx, &w->near, cells->count, sizeof *w->near, "cells"));
        IKT_TRY(ikt_nearest_rows_create(ctx, &s->tiles->scorer, &s->tiles->quantiser, s->out->k,
                                        &w->nearest));
    }
    return IKT_OK;
}

static int64_t batch_tiles(int64_t bytes, int64_t candidates, int64_t row_bytes) {
    const int64_t tiles = bytes / (candidates * row_bytes);
    return tiles < BATCH_LEAST ? BATCH_LEAST : tiles > BATCH_MOST ? BATCH_MOST : tiles;
}

ikt_status ikt_neighbours_search(ikt_context *ctx, const ikt_cells *cells, const ikt_tiles *tiles,
                                 int64_t candidates, ikt_list_course *course) {
    search s = {.ctx = ctx,
                .cells = cells,
                .tiles = tiles,
                .candidates = candidates,
                .course = course,
                .out = course->lists};
    const int64_t piece = ikt_piece_bytes(ctx) < FETCH_BYTES ? ikt_piece_bytes(ctx) : FETCH_BYTES;
    const int64_t batch = batch_tiles(piece, candidates, tiles->scorer.row_bytes);
    ikt_status st = ikt_agree(ctx, allocate(&s, batch));
    const int64_t most = st == IKT_OK ? ikt_max_one(ctx, tiles->count) : 0;
    for (int64_t done = 0; st == IKT_OK && done < most; done += batch) {
        st = search_batch(&s, done, batch);
        ikt_progress(ctx, "blocks of rows", done + batch < most ? done + batch : most, most, NULL);
        if (st == IKT_OK) st = ikt_list_pause(ctx, course);
    }
    for (int i = 0; s.space && i < ikt_threads(ctx); i++) {
        ikt_free(&s.space[i].centre);
        ikt_free(&s.space[i].distance);
        ikt_free(&s.space[i].near_by);
        ikt_free(&s.space[i].near);
        ikt_nearest_rows_destroy(&s.space[i].nearest);
    }
    ikt_free(&s.space);
    ikt_free(&s.probes);
    ikt_free(&s.probe);
    return st;
}

int64_t ikt_search_memory(const ikt_search_shape *shape) {
    const int64_t bytes = shape->row_bytes + shape->quantised_bytes;
    const int64_t tiles = batch_tiles(FETCH_BYTES, shape->candidates, shape->row_bytes);
    return tiles * shape->candidates * (bytes + (int64_t)sizeof(probe)) +
           shape->threads * ikt_nearest_rows_memory(shape->row_bytes, shape->k) +
           shape->threads * (TOGETHER + 2) * (shape->cells + IKT_PACK_ROWS) *
               (int64_t)sizeof(float);
}
