/* Cells of partitionings in tiles, their sizes over all ranks, and who computes them. See whole.h.
 */
#include "affinity/whole.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/rng.h"

/* Drawing pairs of rows with the probabilities of P, while the cells of one partitioning after the
 * other are counted.
 *
 * Method: the first row of a pair is drawn uniformly, the second from all that share cells with it,
 * as often as they do: a pair (i, j) then has the probability K_ij / (n s_i), whose mean over both
 * orders is P_ij. Which partitioning the second row comes from is drawn by weighted reservoir
 * sampling with one place (Chao 1982): after partitionings with 0 .. p rows beside i in its cell,
 * each is the chosen one in proportion to that number. Advantage: one pass over the partitionings;
 * each pair is independent of the others, which makes the error of an estimate plain; P need not be
 * known. Disadvantage: a second and a third pass look up the second rows, and how similar they are.
 */

/* Pairs whose second row is not known yet. Arrays of [IKT_WHOLE_PAIRS], the same on all ranks but
 * for `own`. */
typedef struct {
    uint64_t *key;   /* of a pair's draws */
    int64_t *row;    /* the first row */
    int64_t *cell;   /* [ ] of the first row, in the partitioning that is offered */
    int64_t *total;  /* rows beside the first in its cells, of all partitionings so far */
    int64_t *p;      /* partitioning that the second row comes from; -1: there is none */
    int64_t *chosen; /* the cell there */
    int64_t *place;  /* of the second row among the others of that cell, by ascending row */
    int64_t *own;    /* of those, own rows of this rank */
} ikt_pair_draws;

enum { PAIRS = IKT_WHOLE_PAIRS };

static const char purpose[] = "whole kernel";

/* LOCAL. Draws the first rows; the arrays are claimed in `held`. */
static ikt_status draw_first(ikt_arrays *held, int64_t n, uint64_t seed, ikt_pair_draws *out) {
    int64_t **const array[] = {&out->row, &out->cell,   &out->total, &out->p,
                               &out->own, &out->chosen, &out->place};
    out->key = ikt_claim(held, PAIRS, sizeof *out->key);
    for (size_t a = 0; a < sizeof array / sizeof *array; a++)
        *array[a] = ikt_claim(held, PAIRS, sizeof **array[a]);
    IKT_TRY(held->status);
    for (int64_t s = 0; s < PAIRS; s++) {
        out->key[s] = ikt_rng_u64(seed, IKT_RNG_PAIRS, s, 0);
        out->row[s] = ikt_rng_below(seed, IKT_RNG_PAIRS, s, 1, n);
        out->p[s] = -1;
    }
    return IKT_OK;
}

/* COLLECTIVE. Cells of some rows in one partitioning, which their owners tell all others. */
static void find_cells(ikt_context *ctx, const ikt_whole *w, int64_t p, const int64_t *row,
                       int64_t count, int64_t *cell) {
    for (int64_t s = 0; s < count; s++) {
        uint32_t own = 0;
        if (ikt_is_own(&w->rows, row[s])) ikt_whole_cells(w, p, row[s] - w->rows.first, 1, &own);
        cell[s] = own;
    }
    ikt_sum_i64(ctx, cell, count);
}

/* COLLECTIVE. Offers partitioning p, each once and in ascending order.
 *   all, own   [psi] rows of each cell, over all ranks and of this one */
static void pair_draws_offer(ikt_context *ctx, const ikt_whole *w, int64_t p, const int64_t *all,
                             const int64_t *own, ikt_pair_draws *d) {
    find_cells(ctx, w, p, d->row, PAIRS, d->cell);
    for (int64_t s = 0; s < PAIRS; s++) {
        const int64_t cell = d->cell[s], others = all[cell] - 1;
        if (others == 0) continue;
        d->total[s] += others;
        if (ikt_rng_scale(ikt_rng_mix(d->key[s], 2 * (uint64_t)p), d->total[s]) >= others) continue;
        d->p[s] = p;
        d->chosen[s] = cell;
        d->place[s] = ikt_rng_scale(ikt_rng_mix(d->key[s], 2 * (uint64_t)p + 1), others);
        d->own[s] = own[cell] - ikt_is_own(&w->rows, d->row[s]);
    }
}

/* --- the second rows -------------------------------------------------------------------------- */

/* Pairs that look for their second row among the own ones. */
typedef struct {
    int64_t *wanted; /* [PAIRS] rows of the cell to pass before it; -1: it is on another rank */
    int32_t *head;   /* [psi] the first pair that waits for a row of a cell, or -1 */
    int32_t *next;   /* [PAIRS] the next one */
    int32_t *by_p;   /* [PAIRS] pairs, those of a partitioning behind one another */
    int64_t *begin;  /* [t + 1] where they begin */
    int64_t *second; /* [PAIRS] receives the rows; 0 where another rank has it */
} looking;

/* Groups the pairs whose second row is here by their partitioning. */
static void group(const ikt_pair_draws *d, int64_t t, looking *l) {
    for (int64_t s = 0; s < PAIRS; s++)
        if (l->wanted[s] >= 0) l->begin[d->p[s] + 2]++;
    for (int64_t p = 0; p < t; p++)
        l->begin[p + 2] += l->begin[p + 1];
    for (int32_t s = 0; s < PAIRS; s++)
        if (l->wanted[s] >= 0) l->by_p[l->begin[d->p[s] + 1]++] = s;
}

/* Passes the own rows in ascending order; pairs of their cells count down to the one they want. */
static void look_through(const ikt_whole *w, const ikt_pair_draws *d, int64_t p, looking *l) {
    uint32_t cell[IKT_WHOLE_TILE];
    if (l->begin[p] == l->begin[p + 1]) return;
    memset(l->head, -1, (size_t)w->psi * sizeof *l->head);
    for (int64_t e = l->begin[p]; e < l->begin[p + 1]; e++) {
        const int32_t s = l->by_p[e];
        l->next[s] = l->head[d->chosen[s]];
        l->head[d->chosen[s]] = s;
    }
    for (int64_t i = 0; i < w->rows.count; i++) {
        const int64_t left = w->rows.count - i;
        if (i % IKT_WHOLE_TILE == 0)
            ikt_whole_cells(w, p, i, left < IKT_WHOLE_TILE ? left : IKT_WHOLE_TILE, cell);
        for (int32_t s = l->head[cell[i % IKT_WHOLE_TILE]]; s >= 0; s = l->next[s])
            if (d->row[s] != w->rows.first + i && l->wanted[s]-- == 0)
                l->second[s] = w->rows.first + i;
    }
}

/* COLLECTIVE. Which rows the places are. */
static ikt_status find_second(ikt_context *ctx, const ikt_pair_draws *d, const ikt_whole *w,
                              int64_t *second) {
    IKT_ARRAYS(held, ctx, purpose);
    looking l = {.wanted = ikt_claim(&held, PAIRS, sizeof *l.wanted),
                 .head = ikt_claim(&held, w->psi, sizeof *l.head),
                 .next = ikt_claim(&held, PAIRS, sizeof *l.next),
                 .by_p = ikt_claim(&held, PAIRS, sizeof *l.by_p),
                 .begin = ikt_claim(&held, w->t + 2, sizeof *l.begin),
                 .second = ikt_claim(&held, PAIRS, sizeof *l.second)};
    IKT_TRY(ikt_arrays_agree(&held));
    memcpy(l.wanted, d->own, PAIRS * sizeof *l.wanted);
    ikt_sums_before(ctx, l.wanted, PAIRS); /* of the cell's rows, on lower ranks */
    for (int64_t s = 0; s < PAIRS; s++) {
        const int64_t place = d->place[s] - l.wanted[s];
        l.wanted[s] = d->p[s] >= 0 && place >= 0 && place < d->own[s] ? place : -1;
    }
    group(d, w->t, &l);
    for (int64_t p = 0; p < w->t; p++)
        look_through(w, d, p, &l);
    memcpy(second, l.second, PAIRS * sizeof *second);
    ikt_sum_i64(ctx, second, PAIRS);
    return IKT_OK;
}

/* --- how similar they are --------------------------------------------------------------------- */

/* COLLECTIVE. log P of the pairs.
 *   work   [4 * count] work space */
static void find_log_p(ikt_context *ctx, const ikt_whole *w, int64_t count, const int64_t *row,
                       int64_t *work, double *log_p) {
    int64_t *cell = work, *total = work + 2 * count;
    for (int64_t s = 0; s < 2 * count; s++)
        total[s] = ikt_is_own(&w->rows, row[s]) ? w->total[row[s] - w->rows.first] : 0;
    ikt_sum_i64(ctx, total, 2 * count);
    for (int64_t p = 0; p < w->t; p++) {
        find_cells(ctx, w, p, row, 2 * count, cell);
        for (int64_t s = 0; s < count; s++)
            log_p[s] += cell[2 * s] == cell[2 * s + 1];
    }
    for (int64_t s = 0; s < count; s++)
        log_p[s] = log(log_p[s] * (1 / (double)total[2 * s] + 1 / (double)total[2 * s + 1]) /
                       (2 * (double)w->rows.n));
}

/* COLLECTIVE. The pairs, once all partitionings are offered.
 *   whole   with its totals; receives the pairs
 * Errors: IKT_ERR_RESOURCE. */
static ikt_status pair_draws_finish(ikt_context *ctx, const ikt_pair_draws *d, ikt_whole *w) {
    int64_t count = 0;
    ikt_whole_pairs *out = &w->sample;
    IKT_ARRAYS(held, ctx, purpose);
    int64_t *work = ikt_claim(&held, 4 * PAIRS, sizeof *work);
    out->row = ikt_claim_kept(&held, 2 * PAIRS, sizeof *out->row);
    out->log_p = ikt_claim_kept(&held, PAIRS, sizeof *out->log_p);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(find_second(ctx, d, w, work));
    for (int64_t s = 0; s < PAIRS; s++) {
        if (d->p[s] < 0) continue; /* a row without similarity */
        out->row[2 * count] = d->row[s];
        out->row[2 * count + 1] = work[s];
        count++;
    }
    out->count = count;
    find_log_p(ctx, w, count, out->row, work, out->log_p);
    return IKT_OK;
}

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

/* COLLECTIVE. */
static ikt_status allocate(ikt_context *ctx, ikt_whole *w, counting *c, ikt_arrays *held) {
    const int64_t ranks = ikt_size(ctx);
    c->most = counted_at_once(w->psi, w->t);
    c->own = ikt_claim(held, c->most * w->psi, sizeof *c->own);
    c->all = ikt_claim(held, c->most * w->psi, sizeof *c->all);
    w->total = ikt_claim_kept(held, w->rows.count, sizeof *w->total);
    if (ranks > 1) {
        c->best = ikt_claim(held, c->most * w->psi, sizeof *c->best);
        w->first = ikt_claim_kept(held, w->t + 1, sizeof *w->first);
        w->leaving = ikt_claim_kept(held, ranks * w->t, sizeof *w->leaving);
        w->coming = ikt_claim_kept(held, ranks * w->t, sizeof *w->coming);
    }
    return ikt_arrays_agree(held);
}

/* COLLECTIVE. Sizes, totals and owners, some partitionings at a time; draws see each on its way. */
static ikt_status count_cells(ikt_context *ctx, ikt_whole *w, ikt_pair_draws *draws) {
    counting c = {.capacity = 0};
    IKT_ARRAYS(held, ctx, purpose);
    IKT_TRY(allocate(ctx, w, &c, &held));
    for (c.first = 0; c.first < w->t; c.first += c.most) {
        c.count = w->t - c.first < c.most ? w->t - c.first : c.most;
        count_own(ctx, w, &c);
        meet(ctx, w, &c);
        add_totals(ctx, w, &c);
        for (int64_t p = 0; p < c.count; p++)
            pair_draws_offer(ctx, w, c.first + p, c.all + p * w->psi, c.own + p * w->psi, draws);
        if (ikt_size(ctx) > 1) IKT_TRY(ikt_agree(ctx, note_owners(ctx, w, &c)));
    }
    return IKT_OK;
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
    ikt_pair_draws draws = {.key = NULL};
    IKT_ARRAYS(held, ctx, purpose);
    ikt_whole made IKT_AT_END(ikt_whole_destroy) = {
        .rows = *rows, .t = codes->t, .psi = psi, .width = codes->width, .stride = codes->stride};
    *out = (ikt_whole){0};
    ikt_status st = turn(ctx, codes);
    if (st == IKT_OK) st = draw_first(&held, rows->n, seed, &draws);
    st = ikt_agree(ctx, st);
    made.code = codes->code;
    codes->code = NULL;
    ikt_codes_destroy(codes);
    IKT_TRY(st);
    IKT_TRY(count_cells(ctx, &made, &draws));
    IKT_TRY(count_rows(ctx, &made));
    IKT_TRY(pair_draws_finish(ctx, &draws, &made));
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
