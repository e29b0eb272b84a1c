/* Cells of partitionings in tiles, their sizes over all ranks, and who computes them. See whole.h.
 */
#include "affinity/whole.h"

#include <string.h>

#include <omp.h>

#include "affinity/whole_pairs.h"
#include "base/arrays.h"
#include "base/comm.h"

static const char purpose[] = "whole kernel";

/* --- tiles ------------------------------------------------------------------------------------ */

static int64_t tile_rows(int64_t n_local, int64_t tile) {
    const int64_t left = n_local - tile * IKT_WHOLE_TILE;
    return left < IKT_WHOLE_TILE ? left : IKT_WHOLE_TILE;
}

/* The rows of a tile, whose entries take no more space by partitionings than by rows.
 *   space   [IKT_WHOLE_TILE * stride] work space */
static void turn_tile(const ikt_codes *codes, int64_t tile, char *space) {
    const int64_t first = tile * IKT_WHOLE_TILE, rows = tile_rows(codes->n_local, tile);
    const ikt_codes turned = {.code = space, .stride = codes->width, .width = codes->width};
    for (int64_t p = 0; p < codes->t; p++)
        for (int64_t i = 0; i < rows; i++)
            ikt_code_set(&turned, p * rows + i, 0, (uint32_t)ikt_code_entry(codes, first + i, p));
    memcpy((char *)codes->code + first * codes->stride, space,
           (size_t)(codes->t * rows * codes->width));
}

/* LOCAL. */
static ikt_status turn(ikt_context *ctx, const ikt_codes *codes) {
    const int64_t tiles = (codes->n_local + IKT_WHOLE_TILE - 1) / IKT_WHOLE_TILE;
    const int64_t bytes = IKT_WHOLE_TILE * codes->stride;
    char *space IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_alloc(ctx, &space, ikt_threads(ctx) * bytes, 1, purpose));
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t tile = 0; tile < tiles; tile++)
        turn_tile(codes, tile, space + omp_get_thread_num() * bytes);
    return IKT_OK;
}

void ikt_whole_cells(const ikt_whole *whole, int64_t p, int64_t first, int64_t count,
                     uint32_t *cell) {
    const int64_t tile = first / IKT_WHOLE_TILE, rows = tile_rows(whole->rows.count, tile);
    const int64_t at = p * rows + first % IKT_WHOLE_TILE;
    const char *from =
        whole->code + tile * IKT_WHOLE_TILE * whole->stride + at * (int64_t)whole->width;
    if (whole->width == 4) {
        memcpy(cell, from, (size_t)count * sizeof *cell);
    } else if (whole->width == 2) {
        const uint16_t *middle = (const void *)from;
        for (int64_t i = 0; i < count; i++)
            cell[i] = middle[i];
    } else {
        const uint8_t *narrow = (const void *)from;
        for (int64_t i = 0; i < count; i++)
            cell[i] = narrow[i];
    }
}

/* --- sizes and owners of cells ---------------------------------------------------------------- */

/* Counts of some partitionings at a time. */
typedef struct {
    int64_t first, count; /* partitionings */
    int64_t *own, *all;   /* [most * psi] rows of each cell: of this rank, of all */
    int64_t *best;        /* [most * psi] on several ranks: who has most of them */
    int64_t most;         /* partitionings that there is space for */
    int64_t capacity;     /* entries of whole->owner that there is space for */
} counting;

enum { COUNTS = 1 << 20 };

static int64_t counted_at_once(int64_t psi, int64_t t) {
    const int64_t most = COUNTS / psi < 1 ? 1 : COUNTS / psi;
    return most < t ? most : t;
}

static void count_own(ikt_context *ctx, const ikt_whole *w, const counting *c) {
    memset(c->own, 0, (size_t)(c->count * w->psi) * sizeof *c->own);
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(ctx))
    for (int64_t p = 0; p < c->count; p++) {
        int64_t *own = c->own + p * w->psi;
        uint32_t cell[IKT_WHOLE_TILE];
        for (int64_t first = 0; first < w->rows.count; first += IKT_WHOLE_TILE) {
            const int64_t rows = tile_rows(w->rows.count, first / IKT_WHOLE_TILE);
            ikt_whole_cells(w, c->first + p, first, rows, cell);
            for (int64_t i = 0; i < rows; i++)
                own[cell[i]]++;
        }
    }
}

/* COLLECTIVE. Sizes over all ranks, and which rank has most of a cell: the count and, among those
 * with as many, the lowest rank, in one number that is largest for it. */
static void meet(ikt_context *ctx, ikt_whole *w, const counting *c) {
    const int64_t cells = c->count * w->psi, ranks = ikt_size(ctx), rank = ikt_rank(ctx);
    memcpy(c->all, c->own, (size_t)cells * sizeof *c->all);
    ikt_sum_i64(ctx, c->all, cells);
    for (int64_t e = 0; e < cells; e++)
        if (c->all[e] > w->largest) w->largest = c->all[e];
    if (ranks == 1) return;
    for (int64_t e = 0; e < cells; e++)
        c->best[e] = c->own[e] > 0 ? c->own[e] * ranks + ranks - 1 - rank : -1;
    ikt_max_i64(ctx, c->best, cells);
}

static void add_totals(ikt_context *ctx, const ikt_whole *w, const counting *c) {
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t first = 0; first < w->rows.count; first += IKT_WHOLE_TILE) {
        const int64_t rows = tile_rows(w->rows.count, first / IKT_WHOLE_TILE);
        uint32_t cell[IKT_WHOLE_TILE];
        for (int64_t p = 0; p < c->count; p++) {
            const int64_t *all = c->all + p * w->psi;
            ikt_whole_cells(w, c->first + p, first, rows, cell);
            for (int64_t i = 0; i < rows; i++)
                w->total[first + i] += all[cell[i]] - 1;
        }
    }
}

/* LOCAL. Notes the owners of the cells that have own rows, and how many of these leave for them. */
static ikt_status note_owners(ikt_context *ctx, ikt_whole *w, counting *c) {
    const int64_t ranks = ikt_size(ctx), cells = c->count * w->psi;
    int64_t held = 0;
    for (int64_t e = 0; e < cells; e++)
        held += c->own[e] > 0;
    held += w->first[c->first];
    if (held > c->capacity) {
        c->capacity = held + held / 2;
        IKT_TRY(ikt_resize(ctx, &w->owner, c->capacity, sizeof *w->owner, purpose));
    }
    for (int64_t p = c->first; p < c->first + c->count; p++) {
        int64_t at = w->first[p];
        for (int64_t e = (p - c->first) * w->psi; e < (p - c->first + 1) * w->psi; e++) {
            if (c->own[e] == 0) continue;
            const int32_t owner = (int32_t)(ranks - 1 - c->best[e] % ranks);
            w->owner[at++] = owner;
            if (owner != ikt_rank(ctx)) w->leaving[owner * w->t + p] += c->own[e];
        }
        w->first[p + 1] = at;
    }
    return IKT_OK;
}

void ikt_whole_owners(const ikt_whole *whole, int64_t p, const uint32_t *count, int32_t *owner) {
    const int32_t *next = whole->owner + whole->first[p];
    for (int64_t c = 0; c < whole->psi; c++)
        if (count[c] > 0) owner[c] = *next++;
}

/* LOCAL. */
static ikt_status allocate(ikt_context *ctx, ikt_whole *w, counting *c) {
    const int64_t ranks = ikt_size(ctx);
    c->most = counted_at_once(w->psi, w->t);
    IKT_TRY(ikt_alloc(ctx, &c->own, c->most * w->psi, sizeof *c->own, purpose));
    IKT_TRY(ikt_alloc(ctx, &c->all, c->most * w->psi, sizeof *c->all, purpose));
    IKT_TRY(ikt_alloc(ctx, &w->total, w->rows.count, sizeof *w->total, purpose));
    if (ranks == 1) return IKT_OK;
    IKT_TRY(ikt_alloc(ctx, &c->best, c->most * w->psi, sizeof *c->best, purpose));
    IKT_TRY(ikt_alloc(ctx, &w->first, w->t + 1, sizeof *w->first, purpose));
    IKT_TRY(ikt_alloc(ctx, &w->leaving, ranks * w->t, sizeof *w->leaving, purpose));
    return ikt_alloc(ctx, &w->coming, ranks * w->t, sizeof *w->coming, purpose);
}

/* COLLECTIVE. Sizes, totals and owners, some partitionings at a time; draws see each on its way. */
static ikt_status count_cells(ikt_context *ctx, ikt_whole *w, ikt_pair_draws *draws) {
    counting c = {.capacity = 0};
    ikt_status st = ikt_agree(ctx, allocate(ctx, w, &c));
    for (c.first = 0; st == IKT_OK && c.first < w->t; c.first += c.most) {
        c.count = w->t - c.first < c.most ? w->t - c.first : c.most;
        count_own(ctx, w, &c);
        meet(ctx, w, &c);
        add_totals(ctx, w, &c);
        for (int64_t p = 0; p < c.count; p++)
            ikt_pair_draws_offer(ctx, w, c.first + p, c.all + p * w->psi, c.own + p * w->psi,
                                 draws);
        if (ikt_size(ctx) > 1) st = ikt_agree(ctx, note_owners(ctx, w, &c));
    }
    ikt_free_all(&c.own, &c.all, &c.best);
    return st;
}

/* COLLECTIVE. How many rows come from each rank, which knows how many leave; the rows without
 * similarity, and the mean of all. */
static ikt_status count_rows(ikt_context *ctx, ikt_whole *w) {
    int64_t sum[2] = {0}, *counts IKT_AT_END(ikt_free) = NULL;
    for (int64_t i = 0; i < w->rows.count; i++) {
        sum[0] += w->total[i] == 0;
        sum[1] += w->total[i];
    }
    ikt_sum_i64(ctx, sum, 2);
    w->zero = sum[0];
    w->others = (double)sum[1] / ((double)w->rows.n * (double)w->t);
    if (ikt_size(ctx) == 1) return IKT_OK;
    IKT_TRY(ikt_alloc_all(ctx, &counts, ikt_size(ctx), sizeof *counts, purpose));
    for (int r = 0; r < ikt_size(ctx); r++)
        counts[r] = w->t;
    ikt_exchange(ctx, w->leaving, counts, w->coming, counts, sizeof *w->leaving);
    return IKT_OK;
}

/* --- the whole -------------------------------------------------------------------------------- */

ikt_status ikt_whole_create(ikt_context *ctx, const ikt_rows *rows, int64_t psi, uint64_t seed,
                            ikt_codes *codes, ikt_whole *out) {
    ikt_pair_draws draws IKT_AT_END(ikt_pair_draws_destroy) = {.key = NULL};
    ikt_whole made IKT_AT_END(ikt_whole_destroy) = {
        .rows = *rows, .t = codes->t, .psi = psi, .width = codes->width, .stride = codes->stride};
    *out = (ikt_whole){0};
    ikt_status st = turn(ctx, codes);
    if (st == IKT_OK) st = ikt_pair_draws_create(ctx, rows->n, seed, &draws);
    st = ikt_agree(ctx, st);
    made.code = codes->code;
    codes->code = NULL;
    ikt_codes_destroy(codes);
    IKT_TRY(st);
    IKT_TRY(count_cells(ctx, &made, &draws));
    IKT_TRY(count_rows(ctx, &made));
    IKT_TRY(ikt_pair_draws_finish(ctx, &draws, &made));
    return ikt_give(out, made);
}

void ikt_whole_destroy(ikt_whole *w) {
    ikt_free_all(&w->code, &w->total, &w->first, &w->owner, &w->leaving, &w->coming, &w->sample.row,
                 &w->sample.log_p);
}

/* Cells that have own rows: where rows are in an order in which similar ones are near, those of
 * their share, and as many again at its borders. */
static int64_t held_cells(int64_t n_local, int64_t psi, int ranks) {
    const int64_t share = 2 * (psi / ranks) + 1, held = share < psi ? share : psi;
    return held < n_local ? held : n_local;
}

int64_t ikt_whole_memory(int64_t n_local, int64_t psi, int64_t t, int ranks) {
    const int64_t pairs = IKT_WHOLE_PAIRS * (int64_t)(2 * sizeof(int64_t) + sizeof(double));
    const int64_t own = n_local * (int64_t)sizeof(int64_t) + pairs;
    if (ranks == 1) return own;
    return own + t * (int64_t)(2 * (size_t)ranks + 1) * (int64_t)sizeof(int64_t) +
           t * held_cells(n_local, psi, ranks) * 3 / 2 * (int64_t)sizeof(int32_t);
}

int64_t ikt_whole_memory_peak(int64_t n_local, int64_t psi, int64_t t, int ranks, int threads) {
    const int64_t counts = (ranks == 1 ? 2 : 3) * counted_at_once(psi, t) * psi;
    const int64_t draws = IKT_WHOLE_PAIRS * 16;
    const int64_t tiles = threads * (int64_t)IKT_WHOLE_TILE * ikt_codes_memory(1, psi, t);
    const int64_t counting_bytes = (counts + draws) * (int64_t)sizeof(int64_t);
    return ikt_whole_memory(n_local, psi, t, ranks) +
           (tiles > counting_bytes ? tiles : counting_bytes);
}
