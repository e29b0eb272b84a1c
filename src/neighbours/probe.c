/* Which blocks of rows a block is scored against. See probe.h. */
#include "neighbours/probe.h"

#include <stdbool.h>

#include <omp.h>
#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "linalg/distance.h"
#include "neighbours/neighbours.h"

enum { TOGETHER = 8 }; /* blocks whose distances to all centres are computed at once */

/* Room of one thread. */
typedef struct {
    float *centre;   /* [TOGETHER * d] dense centres of the blocks' cells */
    float *distance; /* [TOGETHER * count rounded up] */
    float *score;    /* [count] nearest cells */
    uint32_t *near;  /* [count] */
} room;

typedef struct {
    const ikt_cells *cells;
    const ikt_tiles *tiles;
    int64_t candidates;
    int64_t stride; /* of distances */
    ikt_probe_lists *lists;
} chooser;

/* What has been chosen for one block. */
typedef struct {
    ikt_probe *probe;
    int64_t count, rows;
} chosen;

/* Adds the positions from .. end - 1, split where blocks end. */
static void add_run(const chooser *c, int64_t from, int64_t end, chosen *list) {
    int64_t block_end;
    for (int64_t at = from; at < end; at = block_end) {
        ikt_block_at(c->cells, &c->tiles->rows, at, &block_end);
        if (block_end > end) block_end = end;
        list->probe[list->count++] = (ikt_probe){(uint32_t)at, (uint32_t)block_end};
        list->rows += block_end - at;
    }
}

/* Adds a cell, or what there is still room for. `own` is where the block's stretch of its cell
 * begins. */
static void add_cell(const chooser *c, int64_t cell, int64_t own, chosen *list) {
    int64_t begin = c->cells->first[cell], end = c->cells->first[cell + 1];
    int64_t left = c->candidates - list->rows;
    bool is_own = own >= begin && own < end;
    if (is_own && own - left / 2 > begin) begin = own - left / 2;
    if (end - begin > left)
        end = begin + left;
    else if (is_own && end - left > c->cells->first[cell])
        begin = end - left;
    else if (is_own)
        begin = c->cells->first[cell];
    add_run(c, begin, end, list);
}

/* The `wanted` nearest cells by one row of distances, ascending. */
static void nearest_cells(const chooser *c, const float *distance, int64_t wanted, room *r) {
    ikt_best_clear(r->score, r->near, wanted);
    for (int64_t cell = 0; cell < c->cells->count; cell++)
        if (distance[cell] <= r->score[0] && c->cells->first[cell + 1] > c->cells->first[cell])
            ikt_best_offer(r->score, r->near, wanted, distance[cell], (uint32_t)cell);
    ikt_best_sort(r->score, r->near, wanted);
}

/* Looks at ever more cells until they hold enough rows. */
static void choose_one(const chooser *c, int64_t block, const float *distance, room *r) {
    int64_t count = c->cells->count, n = c->tiles->rows.n;
    int64_t own = ikt_stretch_begin(c->cells, c->tiles->first[c->lists->first_block + block]);
    int64_t enough = c->candidates < n ? c->candidates : n;
    chosen list = {c->lists->probe + block * c->lists->room, 0, 0};
    int64_t wanted = 2 * enough * count / n + TOGETHER;
    for (;; wanted *= 4) {
        if (wanted > count) wanted = count;
        nearest_cells(c, distance, wanted, r);
        list.count = list.rows = 0;
        for (int64_t e = 0; e < wanted && r->near[e] < count && list.rows < enough; e++)
            add_cell(c, r->near[e], own, &list);
        if (list.rows >= enough || wanted == count) break;
    }
    c->lists->probes[block] = list.count;
}

/* Distances of the centres of some blocks' cells to all centres.
 *   cell   [count] of each block */
static void measure(const chooser *c, const int64_t *cell, int64_t count, room *r) {
    const int64_t d = c->cells->d;
    for (int64_t b = 0; b < count && !c->cells->is_sparse; b++)
        memcpy(r->centre + b * d, c->cells->centre + cell[b] * d, (size_t)d * sizeof(float));
    if (!c->cells->is_sparse)
        ikt_distance_block(ikt_cpu_isa(), r->centre, count, c->cells->packed, c->cells->count, d,
                           r->distance);
    for (int64_t b = 0; b < count && c->cells->is_sparse; b++)
        ikt_sparse_pack_distances(&c->cells->sparse_pack,
                                  ikt_sparse_row_of(&c->cells->rows, cell[b]),
                                  r->distance + b * c->stride);
}

static void choose_some(const chooser *c, int64_t from, int64_t count, room *r) {
    int64_t cell[TOGETHER];
    for (int64_t b = 0; b < count; b++)
        cell[b] = ikt_cells_find(c->cells, c->tiles->first[c->lists->first_block + from + b]);
    measure(c, cell, count, r);
    for (int64_t b = 0; b < count; b++)
        choose_one(c, from + b, r->distance + b * c->stride, r);
}

static void free_rooms(room *rooms, int threads) {
    for (int i = 0; rooms && i < threads; i++) {
        ikt_free(&rooms[i].centre);
        ikt_free(&rooms[i].distance);
        ikt_free(&rooms[i].score);
        ikt_free(&rooms[i].near);
    }
    ikt_free(&rooms);
}

static ikt_status make_rooms(ikt_context *ctx, const ikt_cells *cells, room **out) {
    int64_t distances = TOGETHER * ikt_packed_rows(cells->count);
    IKT_TRY(ikt_alloc(ctx, out, ikt_threads(ctx), sizeof **out, "cells"));
    for (int i = 0; i < ikt_threads(ctx); i++) {
        room *r = &(*out)[i];
        if (!cells->is_sparse)
            IKT_TRY(ikt_alloc(ctx, &r->centre, TOGETHER * cells->d, sizeof(float), "cells"));
        IKT_TRY(ikt_alloc(ctx, &r->distance, distances, sizeof(float), "cells"));
        IKT_TRY(ikt_alloc(ctx, &r->score, cells->count, sizeof *r->score, "cells"));
        IKT_TRY(ikt_alloc(ctx, &r->near, cells->count, sizeof *r->near, "cells"));
    }
    return IKT_OK;
}

ikt_status ikt_probe_choose(ikt_context *ctx, const ikt_cells *cells, const ikt_tiles *tiles,
                            int64_t candidates, ikt_probe_lists *lists) {
    const chooser c = {cells, tiles, candidates, ikt_packed_rows(cells->count), lists};
    room *rooms = NULL;
    ikt_status st = make_rooms(ctx, cells, &rooms);
    if (st == IKT_OK) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(ctx))
        for (int64_t from = 0; from < lists->count; from += TOGETHER)
            choose_some(&c, from, lists->count - from < TOGETHER ? lists->count - from : TOGETHER,
                        &rooms[omp_get_thread_num()]);
    }
    free_rooms(rooms, ikt_threads(ctx));
    return st;
}

int64_t ikt_probe_memory(int64_t cells, int threads) {
    return threads * (TOGETHER + 2) * (cells + IKT_PACK_ROWS) * (int64_t)sizeof(float);
}
