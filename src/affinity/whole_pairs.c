/* Pairs of rows with the probabilities of P. See whole_pairs.h. */
#include "affinity/whole_pairs.h"

#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/rng.h"

enum { PAIRS = IKT_WHOLE_PAIRS };

static const char purpose[] = "whole kernel";

ikt_status ikt_pair_draws_create(ikt_context *ctx, int64_t n, uint64_t seed, ikt_pair_draws *out) {
    int64_t **const array[] = {&out->row, &out->cell,   &out->total, &out->p,
                               &out->own, &out->chosen, &out->place};
    *out = (ikt_pair_draws){.key = NULL};
    IKT_TRY(ikt_alloc(ctx, &out->key, PAIRS, sizeof *out->key, purpose));
    for (size_t a = 0; a < sizeof array / sizeof *array; a++)
        IKT_TRY(ikt_alloc(ctx, array[a], PAIRS, sizeof **array[a], purpose));
    for (int64_t s = 0; s < PAIRS; s++) {
        out->key[s] = ikt_rng_u64(seed, IKT_RNG_PAIRS, s, 0);
        out->row[s] = ikt_rng_below(seed, IKT_RNG_PAIRS, s, 1, n);
        out->p[s] = -1;
    }
    return IKT_OK;
}

void ikt_pair_draws_destroy(ikt_pair_draws *d) {
    ikt_free_all(&d->key, &d->row, &d->cell, &d->total, &d->p, &d->chosen, &d->place, &d->own);
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

void ikt_pair_draws_offer(ikt_context *ctx, const ikt_whole *w, int64_t p, const int64_t *all,
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

static void looking_destroy(looking *l) {
    ikt_free_all(&l->wanted, &l->head, &l->next, &l->by_p, &l->begin, &l->second);
}

static ikt_status looking_create(ikt_context *ctx, const ikt_whole *w, looking *l) {
    IKT_TRY(ikt_alloc(ctx, &l->wanted, PAIRS, sizeof *l->wanted, purpose));
    IKT_TRY(ikt_alloc(ctx, &l->head, w->psi, sizeof *l->head, purpose));
    IKT_TRY(ikt_alloc(ctx, &l->next, PAIRS, sizeof *l->next, purpose));
    IKT_TRY(ikt_alloc(ctx, &l->by_p, PAIRS, sizeof *l->by_p, purpose));
    IKT_TRY(ikt_alloc(ctx, &l->begin, w->t + 2, sizeof *l->begin, purpose));
    return ikt_alloc(ctx, &l->second, PAIRS, sizeof *l->second, purpose);
}

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
    looking l IKT_AT_END(looking_destroy) = {.head = NULL};
    IKT_TRY(ikt_agree(ctx, looking_create(ctx, w, &l)));
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

ikt_status ikt_pair_draws_finish(ikt_context *ctx, const ikt_pair_draws *d, ikt_whole *w) {
    int64_t count = 0;
    ikt_whole_pairs *out = &w->sample;
    IKT_ARRAYS(held, ctx, purpose);
    int64_t *work = ikt_claim(&held, 4 * PAIRS, sizeof *work);
    out->row = ikt_claim_kept(&held, 2 * PAIRS, sizeof *out->row);
    out->log_p = ikt_claim_kept(&held, PAIRS, sizeof *out->log_p);
    ikt_status st = ikt_arrays_agree(&held);
    if (st == IKT_OK) st = find_second(ctx, d, w, work);
    for (int64_t s = 0; st == IKT_OK && s < PAIRS; s++) {
        if (d->p[s] < 0) continue; /* a row without similarity */
        out->row[2 * count] = d->row[s];
        out->row[2 * count + 1] = work[s];
        count++;
    }
    out->count = count;
    IKT_TRY(st);
    find_log_p(ctx, w, count, out->row, work, out->log_p);
    return IKT_OK;
}
