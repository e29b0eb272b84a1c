/* Slots by fine cells, and the search among near ones. See fine.h.
 *
 * Method of the search: own rows are taken in batches. A row's candidates are the rows of the fine
 * cells near to it, known by their slots alone; those of other ranks are fetched, and each row
 * scores its candidates. Advantage: candidates are chosen for each row by itself, some hundreds of
 * them find what thousands of a coarse cell do; no list of the cells' rows is kept. Disadvantage:
 * codes are read row by row, so a score costs some times what it does in a search by tiles. */
#include "neighbours/fine.h"

#include <string.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/log.h"
#include "neighbours/foreign.h"

static const char purpose[] = "fine cells";

/* --- slots ------------------------------------------------------------------------------------ */

ikt_status ikt_fine_cells_create(ikt_context *ctx, const ikt_rows *rows, ikt_code_places *places,
                                 ikt_cells *cells, ikt_order *order, ikt_fine_cells *out) {
    const int64_t near = places->near, bytes = near * (int64_t)sizeof *places->list;
    ikt_fine_cells made IKT_AT_END(ikt_fine_cells_destroy) = {
        .cells = places->centres, .near = near, .list = places->list};
    ikt_cells coarse IKT_AT_END(ikt_cells_destroy) = {.count = places->cells};
    *out = (ikt_fine_cells){0};
    *cells = (ikt_cells){0};
    IKT_ARRAYS(held, ctx, purpose);
    made.first = ikt_claim_kept(&held, made.cells + 1, sizeof *made.first);
    uint32_t *slot = ikt_claim(&held, rows->count, sizeof *slot);
    coarse.first = ikt_claim_kept(&held, coarse.count + 1, sizeof *coarse.first);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_cells_number(ctx, rows, places->list, near, made.cells, made.first, slot));
    for (int64_t c = 0; c <= coarse.count; c++)
        coarse.first[c] = made.first[places->first[c]];
    IKT_TRY(ikt_order_create(ctx, rows, slot, order));
    ikt_arrays_free(&held);
    IKT_TRY(ikt_order_apply(ctx, order, places->list, bytes, places->list, bytes, bytes));
    *cells = coarse;
    coarse = (ikt_cells){0};
    return ikt_give(out, made);
}

void ikt_fine_cells_destroy(ikt_fine_cells *fine) {
    ikt_free(&fine->first);
    fine->cells = 0;
}

int64_t ikt_fine_cells_memory(int64_t cells) {
    return 3 * cells * (int64_t)sizeof(int64_t); /* two arrays, and sums on their way */
}

/* --- candidates ------------------------------------------------------------------------------- */

typedef struct {
    ikt_context *ctx;
    const ikt_fine_cells *fine;
    const ikt_tiles *tiles;
    const ikt_rows *rows; /* of the slots */
    int64_t candidates;
    ikt_list_course *course;
    int64_t first, end;    /* own rows of the batch, local numbers */
    ikt_foreign foreign;   /* candidates of other ranks */
    ikt_number_set wanted; /* while they are collected */
    /* [threads] each: */
    ikt_number_set *seen; /* of a row with few candidates */
    uint32_t *candidate;  /* [candidates] */
    const char **plain;   /* [candidates] */
    float *score;         /* [candidates] */
    char *scratch;        /* [scorer.scratch_bytes] */
    ikt_arrays held;      /* these */
} search;

/* Adds the slots around the own one until there are enough, where the cells near to a row hold too
 * few: `count` are there already. */
static int64_t add_around(const search *s, int64_t slot, int64_t count, ikt_number_set *seen,
                          uint32_t *candidate) {
    const int64_t n = s->rows->n, enough = s->candidates < n - 1 ? s->candidates : n - 1;
    ikt_number_set_empty(seen);
    for (int64_t c = 0; c < count; c++)
        ikt_number_set_add(seen, candidate[c]);
    for (int64_t away = 1; count < enough; away++)
        for (int side = -1; side <= 1 && count < enough; side += 2) {
            const int64_t at = slot + side * away;
            if (at >= 0 && at < n && ikt_number_set_add(seen, (uint32_t)at))
                candidate[count++] = (uint32_t)at;
        }
    return count;
}

/* The candidates of an own row: of the fine cells near to it, but not itself. Of an own cell that
 * holds too many rows those around it are taken, of others the first. Returns their number, which
 * is more than k. */
static int64_t choose(const search *s, int64_t i, ikt_number_set *seen, uint32_t *candidate) {
    const ikt_fine_cells *fine = s->fine;
    const int64_t slot = s->rows->first + i, least = s->course->lists->k + 1;
    int64_t count = 0;
    for (int64_t e = 0; e < fine->near && count < s->candidates; e++) {
        const uint32_t cell = fine->list[i * fine->near + e];
        if (cell == UINT32_MAX) break;
        const int64_t left = s->candidates - count, last = fine->first[cell + 1];
        int64_t begin = fine->first[cell];
        const bool is_own = slot >= begin && slot < last;
        if (is_own && slot - left / 2 > begin) begin = slot - left / 2;
        if (is_own && last - left > fine->first[cell] && last - left < begin) begin = last - left;
        for (int64_t at = begin; at < last && count < s->candidates; at++)
            if (at != slot) candidate[count++] = (uint32_t)at;
    }
    return count < least ? add_around(s, slot, count, seen, candidate) : count;
}

/* Whether a run before this one has made the list of own row i. */
static bool is_through(const search *s, int64_t i) {
    return ikt_list_done(s->course, i, i + 1);
}

/* COLLECTIVE. Fetches the candidates of the batch that other ranks own. */
static ikt_status fetch_foreign(search *s) {
    s->foreign = (ikt_foreign){.bytes = s->tiles->scorer.row_bytes};
    if (ikt_size(s->ctx) == 1) return IKT_OK;
    ikt_number_set_empty(&s->wanted);
    for (int64_t i = s->first; i < s->end; i++) {
        if (is_through(s, i)) continue;
        const int64_t count = choose(s, i, &s->seen[0], s->candidate);
        for (int64_t c = 0; c < count; c++)
            if (!ikt_is_own(s->rows, s->candidate[c]))
                ikt_number_set_add(&s->wanted, s->candidate[c]);
    }
    return ikt_foreign_fetch(s->ctx, s->rows, &s->wanted, s->tiles->data, s->foreign.bytes,
                             &s->foreign);
}

/* --- the search ------------------------------------------------------------------------------- */

static void search_row(const search *s, int64_t i) {
    const ikt_scorer *scorer = &s->tiles->scorer;
    ikt_neighbours *lists = s->course->lists;
    const int64_t thread = omp_get_thread_num(), k = lists->k, bytes = scorer->row_bytes;
    uint32_t *candidate = s->candidate + thread * s->candidates, *row = lists->row + i * k;
    const char **plain = s->plain + thread * s->candidates;
    float *score = s->score + thread * s->candidates, *best = lists->score + i * k;
    const int64_t count = choose(s, i, &s->seen[thread], candidate);
    for (int64_t c = 0; c < count; c++)
        plain[c] = ikt_foreign_value(&s->foreign, s->rows, s->tiles->data, candidate[c]);
    scorer->score_one(scorer, s->tiles->data + i * bytes, plain, count,
                      s->scratch + thread * scorer->scratch_bytes, score);
    ikt_best_clear(best, row, k);
    for (int64_t c = 0; c < count; c++)
        ikt_best_offer(best, row, k, score[c], candidate[c]);
}

/* COLLECTIVE. */
static ikt_status search_create(search *s, int64_t rows) {
    ikt_context *ctx = s->ctx;
    const int64_t threads = ikt_threads(ctx), all = threads * s->candidates;
    s->held = ikt_arrays_of(ctx, purpose);
    s->seen = ikt_claim(&s->held, threads, sizeof *s->seen);
    s->candidate = ikt_claim(&s->held, all, sizeof *s->candidate);
    s->plain = ikt_claim(&s->held, all, sizeof *s->plain);
    s->score = ikt_claim(&s->held, all, sizeof *s->score);
    s->scratch = ikt_claim(&s->held, threads * s->tiles->scorer.scratch_bytes, 1);
    for (int64_t t = 0; s->seen && t < threads; t++)
        ikt_number_set_create(&s->held, s->candidates, &s->seen[t]);
    const int64_t foreign = ikt_foreign_most(rows, s->candidates, s->rows->n - s->rows->count);
    if (ikt_size(ctx) > 1) ikt_number_set_create(&s->held, foreign, &s->wanted);
    return ikt_arrays_agree(&s->held);
}

static void search_destroy(search *s) {
    ikt_arrays_free(&s->held);
}

/* COLLECTIVE. All rows, in batches; ranks that have finished help others. */
static ikt_status search_all(search *s, int64_t rows) {
    const int64_t most = ikt_rows_count(s->rows, 0), own = s->rows->count;
    for (int64_t done = 0; done < most; done += rows) {
        s->first = done < own ? done : own;
        s->end = done + rows < own ? done + rows : own;
        ikt_status st = fetch_foreign(s);
        if (st == IKT_OK) {
#pragma omp parallel for schedule(dynamic, 64) num_threads(ikt_threads(s->ctx))
            for (int64_t i = s->first; i < s->end; i++)
                if (!is_through(s, i)) search_row(s, i);
            ikt_list_note(s->course, s->first, s->end);
        }
        ikt_foreign_destroy(&s->foreign);
        IKT_TRY(st);
        ikt_progress(s->ctx, "rows searched", done + rows < most ? done + rows : most, most, NULL);
        IKT_TRY(ikt_list_pause(s->ctx, s->course));
    }
    return IKT_OK;
}

ikt_status ikt_neighbours_fine(ikt_context *ctx, const ikt_fine_cells *fine, const ikt_tiles *tiles,
                               int64_t candidates, ikt_list_course *course) {
    search s IKT_AT_END(search_destroy) = {.ctx = ctx,
                                           .fine = fine,
                                           .tiles = tiles,
                                           .rows = &tiles->scorer.rows,
                                           .candidates = candidates,
                                           .course = course};
    const int64_t rows =
        ikt_foreign_batch(ctx, ikt_rows_count(s.rows, 0), candidates, tiles->scorer.row_bytes);
    IKT_TRY(search_create(&s, rows));
    return search_all(&s, rows);
}

int64_t ikt_fine_search_memory(int64_t n_local, int64_t candidates, int64_t row_bytes, int ranks,
                               int threads) {
    const int64_t each = sizeof(uint32_t) + sizeof(char *) + sizeof(float);
    const int64_t rows = ikt_foreign_batch(NULL, n_local, candidates, row_bytes);
    const int64_t own = threads * (candidates * each + ikt_number_set_bytes(candidates));
    if (ranks == 1) return own;
    const int64_t foreign = ikt_foreign_most(rows, candidates, (ranks - 1) * n_local);
    return own + ikt_number_set_bytes(foreign) + foreign * (row_bytes + (int64_t)sizeof(uint32_t));
}
