/* Neighbours of neighbours. See second_neighbours.h. */
#include "neighbours/second_neighbours.h"

#include <math.h>
#include <string.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/sort.h"
#include "neighbours/reverse_neighbours.h"
#include "neighbours/search.h"

enum { NEAR = IKT_REFINE_NEAR, CANDIDATES = IKT_REFINE_CANDIDATES };

static const char purpose[] = "refine";

static const uint32_t *nearest_of(const ikt_second_neighbours *r, uint32_t slot) {
    return ikt_foreign_value(&r->numbers, r->rows, r->nearest, slot);
}

/* --- what a batch wants from others ----------------------------------------------------------- */

/* Returns how many are wanted that were not. */
static int64_t want(ikt_second_neighbours *r, const uint32_t *slot) {
    int64_t added = 0;
    for (int64_t e = 0; e < r->near; e++)
        if (!ikt_is_own(r->rows, slot[e])) added += ikt_number_set_add(&r->wanted, slot[e]);
    return added;
}

/* Whether a run before this one has improved the list in own slot i. */
static bool is_through(const ikt_second_neighbours *r, int64_t i) {
    return ikt_list_done(r->course, i, i + 1);
}

/* COLLECTIVE. Nothing travels on one rank. */
static ikt_status fetch_all(ikt_second_neighbours *r) {
    r->numbers = (ikt_foreign){.bytes = r->near * (int64_t)sizeof *r->nearest};
    for (int p = 0; p < r->parts; p++)
        r->foreign[p] = (ikt_foreign){.bytes = r->part[p].bytes};
    if (ikt_size(r->ctx) == 1) return IKT_OK;
    ikt_number_set_empty(&r->wanted);
    for (int64_t i = r->first; i < r->end; i++)
        if (!is_through(r, i)) want(r, r->nearest + i * r->near);
    IKT_TRY(
        ikt_foreign_fetch(r->ctx, r->rows, &r->wanted, r->nearest, r->numbers.bytes, &r->numbers));
    ikt_number_set_empty(&r->wanted);
    int64_t wanted = 0;
    for (int64_t i = r->first; i < r->end; i++) {
        if (is_through(r, i)) continue;
        if (wanted + CANDIDATES > r->foreign_most) r->end = i; /* the rest is of the next batch */
        for (int64_t e = 0; e < r->near && i < r->end; e++)
            wanted += want(r, nearest_of(r, r->nearest[i * r->near + e]));
    }
    for (int p = 0; p < r->parts; p++)
        IKT_TRY(ikt_foreign_fetch(r->ctx, r->rows, &r->wanted, r->part[p].data, r->part[p].bytes,
                                  &r->foreign[p]));
    return IKT_OK;
}

static void let_go(ikt_second_neighbours *r) {
    ikt_foreign_destroy(&r->numbers);
    for (int p = 0; p < r->parts; p++)
        ikt_foreign_destroy(&r->foreign[p]);
}

/* --- the round -------------------------------------------------------------------------------- */

int64_t ikt_second_neighbours_of(const ikt_second_neighbours *r, int64_t i, ikt_number_set *seen,
                                 uint32_t *slot) {
    int64_t count = 0;
    for (int64_t e = 0; e < r->near; e++) {
        const uint32_t *theirs = nearest_of(r, r->nearest[i * r->near + e]);
        for (int64_t f = 0; f < r->near; f++)
            if (ikt_number_set_add(seen, theirs[f])) slot[count++] = theirs[f];
    }
    return count;
}

ikt_status ikt_second_neighbours_run(ikt_second_neighbours *r, ikt_status (*arrive)(void *self),
                                     void (*improve)(const void *self, int64_t i, int thread),
                                     void *self) {
    const int64_t own = r->rows->count;
    const int64_t rows = ikt_foreign_batch(r->ctx, ikt_rows_count(r->rows, 0), 1, 1);
    ikt_status st = IKT_OK;
    if (r->is_new)
        IKT_TRY(ikt_reverse_neighbours_add(r->ctx, r->rows, r->course->lists, r->near, false,
                                           r->nearest));
    for (int64_t done = 0; st == IKT_OK && ikt_max_one(r->ctx, own - done) > 0; done = r->end) {
        r->first = done;
        r->end = ikt_smaller(done + rows, own);
        st = fetch_all(r);
        if (st == IKT_OK && arrive) st = ikt_agree(r->ctx, arrive(self));
        if (st == IKT_OK) {
#pragma omp parallel for schedule(dynamic, 16) num_threads(ikt_threads(r->ctx))
            for (int64_t i = r->first; i < r->end; i++)
                if (!is_through(r, i)) improve(self, i, omp_get_thread_num());
            ikt_list_note(r->course, r->first, r->end);
        }
        let_go(r);
        IKT_TRY(st);
        ikt_progress(r->ctx, "rows refined", r->end, own, NULL);
        st = ikt_list_pause(r->ctx, r->course);
    }
    return st;
}

/* Foreign rows among those that the rows of a batch follow, at most. */
static int64_t first_most(int64_t n_local, int64_t others) {
    return ikt_smaller(ikt_foreign_batch(NULL, n_local, 1, 1) * NEAR, others);
}

/* Foreign rows that a batch may want: as many as fit, but those of one own row in any case. Batches
 * are cut where they have them: which rows are near each other says how soon.
 *   ctx   whose pieces a test may have made small, which makes batches small; or NULL */
static int64_t foreign_rows(const ikt_context *ctx, int64_t row_bytes) {
    const int64_t most =
        ctx && ikt_piece_bytes(ctx) < IKT_FOREIGN_BYTES ? ikt_piece_bytes(ctx) : IKT_FOREIGN_BYTES;
    return ikt_larger(most / row_bytes, CANDIDATES);
}

/* Members of the set of what is wanted. */
static int64_t wanted_most(const ikt_second_neighbours *r, const ikt_rows *rows) {
    const int64_t others = rows->n - rows->count;
    return ikt_larger(first_most(ikt_rows_count(rows, 0), others),
                      ikt_smaller(r->foreign_most, others));
}

ikt_status ikt_second_neighbours_begin(ikt_context *ctx, const ikt_rows *rows,
                                       ikt_list_course *course, const ikt_row_part *part, int parts,
                                       int64_t extra, ikt_second_neighbours *r) {
    ikt_neighbours *lists = course->lists;
    uint32_t **nearest = &course->progress.nearest;
    int64_t row_bytes = extra;
    *r = (ikt_second_neighbours){.ctx = ctx,
                                 .rows = rows,
                                 .course = course,
                                 .parts = parts,
                                 .near = ikt_second_neighbours_near(lists->k),
                                 .is_new = *nearest == NULL};
    for (int p = 0; p < parts; p++) {
        r->part[p] = part[p];
        row_bytes += part[p].bytes;
    }
    r->foreign_most = foreign_rows(ctx, row_bytes);
    r->held = ikt_arrays_of(ctx, purpose);
    if (ikt_size(ctx) > 1) ikt_number_set_create(&r->held, wanted_most(r, rows), &r->wanted);
    if (r->is_new) *nearest = ikt_claim_kept(&r->held, lists->n_local * r->near, sizeof **nearest);
    IKT_TRY(ikt_arrays_agree(&r->held));
    r->nearest = *nearest;
    course->progress.near = r->near;
    if (!r->is_new) return IKT_OK;
    ikt_neighbours_sort(ctx, lists);
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < lists->n_local; i++) {
        const uint32_t *list = lists->row + i * lists->k;
        for (int64_t e = 0; e < r->near; e++) /* a short list's first entry fills the rest */
            r->nearest[i * r->near + e] = list[e < lists->k ? e : 0];
    }
    return IKT_OK;
}

void ikt_second_neighbours_end(ikt_second_neighbours *r) {
    ikt_arrays_free(&r->held);
}

int64_t ikt_second_neighbours_set_bytes(int64_t n_local, int64_t row_bytes, int ranks) {
    const int64_t others = (ranks - 1) * n_local, first = first_most(n_local, others);
    const int64_t second = ikt_smaller(foreign_rows(NULL, row_bytes), others);
    return ranks == 1 ? 0 : ikt_number_set_bytes(ikt_larger(first, second));
}

int64_t ikt_second_neighbours_memory(int64_t n_local, int64_t row_bytes, int parts, int ranks) {
    const int64_t number = sizeof(uint32_t), bytes = number * NEAR * n_local;
    const int64_t reversed = ikt_reverse_neighbours_memory(n_local, NEAR, ranks);
    if (ranks == 1) return bytes + reversed;
    const int64_t others = (ranks - 1) * n_local, first = first_most(n_local, others);
    const int64_t second = ikt_smaller(foreign_rows(NULL, row_bytes), others);
    const int64_t fetched = first * (NEAR + 1) * number + second * (row_bytes + parts * number);
    return bytes + ikt_second_neighbours_set_bytes(n_local, row_bytes, ranks) +
           ikt_larger(reversed, fetched);
}

/* --- with the scores of a search -------------------------------------------------------------- */

/* The candidates of a row, for one thread. */
typedef struct {
    uint32_t slot[CANDIDATES];
    const char *plain[CANDIDATES];
    const int32_t *quantised[CANDIDATES];
    int32_t product[CANDIDATES], kept[CANDIDATES];
    float score[CANDIDATES];
} candidate_space;

/* By Euclidean distances candidates are compared as integers of 16 bits first, and those that are
 * not out then are scored (metric/quantise.h). */
typedef struct {
    const ikt_scorer *scorer;
    const ikt_quantiser *quantiser; /* NULL: every candidate is scored */
    ikt_second_neighbours round;
    ikt_neighbours *lists;
    ikt_number_set *seen;   /* [threads] */
    char *scratch;          /* [threads * scorer.scratch_bytes] */
    int64_t integers;       /* of a quantised row */
    int32_t *quantised;     /* [own rows * integers], */
    int32_t *foreign;       /* and the foreign rows of a batch */
    candidate_space *space; /* [threads] */
} refinement;

/* LOCAL. The foreign rows of a batch as integers. */
static ikt_status quantise_foreign(void *self) {
    refinement *r = self;
    const ikt_foreign *rows = &r->round.foreign[0];
    IKT_TRY(ikt_reserve(r->round.ctx, &r->foreign, rows->count * r->integers, sizeof *r->foreign,
                        purpose));
    ikt_quantise_rows(r->round.ctx, r->quantiser, (const float *)(const void *)rows->value,
                      rows->count, r->foreign);
    return IKT_OK;
}

/* Where the integers of a row lie. */
static const int32_t *quantised_of(const refinement *r, uint32_t slot, const char *plain) {
    const ikt_rows *rows = r->round.rows;
    if (ikt_is_own(rows, slot)) return r->quantised + (slot - rows->first) * r->integers;
    return r->foreign + (plain - r->round.foreign[0].value) / r->scorer->row_bytes * r->integers;
}

/* Leaves of the candidates of own row i those that may be nearer than the last of its list. */
static int64_t filter(const refinement *r, int64_t i, float last, candidate_space *c,
                      int64_t count) {
    if (!r->quantiser || !(last < INFINITY)) return count;
    for (int64_t e = 0; e < count; e++)
        c->quantised[e] = quantised_of(r, c->slot[e], c->plain[e]);
    const int64_t left =
        ikt_quantised_near(r->quantiser, r->scorer->isa, r->quantised + i * r->integers,
                           c->quantised, count, last, c->product, c->kept);
    for (int64_t e = 0; e < left; e++) {
        c->slot[e] = c->slot[c->kept[e]];
        c->plain[e] = c->plain[c->kept[e]];
    }
    return left;
}

/* The list of own row i is sorted before and a heap, worst first, afterwards. */
static void refine_row(const void *self, int64_t i, int thread) {
    const refinement *r = self;
    const ikt_scorer *scorer = r->scorer;
    const int64_t k = r->lists->k;
    float *list = r->lists->score + i * k;
    uint32_t *row = r->lists->row + i * k;
    candidate_space *space = &r->space[thread];
    ikt_number_set *seen = &r->seen[thread];
    ikt_number_set_empty(seen);
    ikt_number_set_add(seen, (uint32_t)(scorer->rows.first + i));
    for (int64_t e = 0; e < k; e++)
        ikt_number_set_add(seen, row[e]);
    int64_t count = ikt_second_neighbours_of(&r->round, i, seen, space->slot);
    for (int64_t c = 0; c < count; c++)
        space->plain[c] = ikt_second_neighbours_part(&r->round, 0, space->slot[c]);
    count = filter(r, i, list[k - 1], space, count);
    scorer->score_one(scorer, r->round.part[0].data + i * scorer->row_bytes, space->plain, count,
                      r->scratch + thread * scorer->scratch_bytes, space->score);
    ikt_best_reverse(list, row, k);
    for (int64_t c = 0; c < count; c++)
        ikt_best_offer(list, row, k, space->score[c], space->slot[c]);
}

/* Members of the set of a row: candidates, list and itself. */
static int64_t row_members(int64_t k) {
    return CANDIDATES + k + 1;
}

static void refinement_destroy(refinement *r) {
    ikt_second_neighbours_end(&r->round);
    ikt_free(&r->foreign);
}

/* LOCAL. Room for all of it, in place of what the search alone needed. */
static void claim_all(refinement *r, ikt_tiles *tiles, int64_t threads, ikt_arrays *held) {
    const int64_t own = tiles->scorer.rows.count;
    ikt_free(&tiles->packed);
    if (tiles->quantiser.unit > 0) {
        r->quantiser = &tiles->quantiser;
        r->integers = ikt_quantised_row(tiles->scorer.d);
        r->quantised = ikt_claim(held, own * r->integers, sizeof *r->quantised);
    }
    r->seen = ikt_claim(held, threads, sizeof *r->seen);
    r->space = ikt_claim(held, threads, sizeof *r->space);
    r->scratch = ikt_claim(held, threads * r->scorer->scratch_bytes, 1);
    for (int64_t t = 0; r->seen && t < threads; t++)
        ikt_number_set_create(held, row_members(r->lists->k), &r->seen[t]);
}

ikt_status ikt_second_neighbours_score(ikt_context *ctx, ikt_tiles *tiles,
                                       ikt_list_course *course) {
    refinement r IKT_AT_END(refinement_destroy) = {.scorer = &tiles->scorer,
                                                   .lists = course->lists};
    const ikt_row_part plain = {tiles->data, tiles->scorer.row_bytes};
    const float *x = (const float *)(const void *)tiles->data;
    IKT_ARRAYS(held, ctx, purpose);
    claim_all(&r, tiles, ikt_threads(ctx), &held);
    IKT_TRY(ikt_arrays_agree(&held));
    if (r.quantiser) ikt_quantise_rows(ctx, r.quantiser, x, tiles->scorer.rows.count, r.quantised);
    IKT_TRY(ikt_second_neighbours_begin(ctx, &tiles->scorer.rows, course, &plain, 1,
                                        r.integers * (int64_t)sizeof *r.foreign, &r.round));
    return ikt_second_neighbours_run(&r.round, r.quantiser ? quantise_foreign : NULL, refine_row,
                                     &r);
}

int64_t ikt_second_neighbours_score_memory(int64_t n_local, int64_t k, int64_t row_bytes,
                                           int64_t quantised_bytes, int ranks, int threads) {
    return threads * (ikt_number_set_bytes(row_members(k)) + (int64_t)sizeof(candidate_space)) +
           n_local * quantised_bytes +
           ikt_second_neighbours_memory(n_local, row_bytes + quantised_bytes, 1, ranks);
}
