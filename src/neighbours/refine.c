/* Neighbours of neighbours.
 *
 * Method: the numbers of each row's nearest neighbours are set aside. Own rows are taken in
 * batches: the near numbers of foreign neighbours are fetched, which tells the candidates; then the
 * rows of foreign candidates are; then each row scores its candidates, each once. Lists are
 * improved in place, since candidates come from what was set aside.
 * Advantage: candidates are chosen for each row by itself, so it finds what the cells of a search
 * have cut apart. Disadvantage: rows are read at random places, so a score costs some times what it
 * does in a search. */
#include "neighbours/search.h"

#include <string.h>

#include <omp.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "neighbours/foreign.h"

enum { NEAR = IKT_REFINE_NEAR, CANDIDATES = NEAR * NEAR };

static const char purpose[] = "refine";

typedef struct {
    ikt_context *ctx;
    ikt_tiles *tiles;
    const ikt_rows *rows; /* of the tiles */
    int64_t row_bytes;    /* of a plain row */
    ikt_list_course *course;
    ikt_neighbours *lists;  /* its lists */
    int64_t near;           /* of a row: at most NEAR */
    uint32_t *nearest;      /* [n_local * near] numbers, as the lists were; of the course */
    int64_t first, end;     /* own rows of the batch, local numbers */
    ikt_foreign numbers;    /* nearest of foreign rows */
    ikt_foreign candidates; /* foreign candidates, plain */
    ikt_number_set wanted;  /* while they are collected */
    ikt_number_set *seen;   /* [threads] */
    char *scratch;          /* [threads * scorer.some_bytes] */
} refinement;

static const uint32_t *nearest_of(const refinement *r, uint32_t row) {
    return ikt_foreign_value(&r->numbers, r->rows, r->nearest, row);
}

/* --- what a batch wants from others ----------------------------------------------------------- */

static void want(refinement *r, const uint32_t *row) {
    for (int64_t e = 0; e < r->near; e++)
        if (!ikt_is_own(r->rows, row[e])) ikt_number_set_add(&r->wanted, row[e]);
}

/* Whether a run before this one has improved the list of own row i. */
static bool is_through(const refinement *r, int64_t i) {
    return ikt_list_done(r->course, i, i + 1);
}

/* COLLECTIVE. Nothing travels on one rank. */
static ikt_status fetch_all(refinement *r) {
    r->numbers = (ikt_foreign){.bytes = r->near * (int64_t)sizeof *r->nearest};
    r->candidates = (ikt_foreign){.bytes = r->row_bytes};
    if (ikt_size(r->ctx) == 1) return IKT_OK;
    ikt_number_set_empty(&r->wanted);
    for (int64_t i = r->first; i < r->end; i++)
        if (!is_through(r, i)) want(r, r->nearest + i * r->near);
    IKT_TRY(
        ikt_foreign_fetch(r->ctx, r->rows, &r->wanted, r->nearest, r->numbers.bytes, &r->numbers));
    ikt_number_set_empty(&r->wanted);
    for (int64_t i = r->first; i < r->end; i++)
        for (int64_t e = 0; e < r->near && !is_through(r, i); e++)
            want(r, nearest_of(r, r->nearest[i * r->near + e]));
    return ikt_foreign_fetch(r->ctx, r->rows, &r->wanted, r->tiles->data, r->row_bytes,
                             &r->candidates);
}

/* --- a row ------------------------------------------------------------------------------------ */

/* The list of own row i is sorted before and a heap, worst first, afterwards. */
static void refine_row(const refinement *r, int64_t i, ikt_number_set *seen, char *scratch) {
    const int64_t k = r->lists->k;
    float *list = r->lists->score + i * k, score[CANDIDATES];
    uint32_t *row = r->lists->row + i * k, candidate[CANDIDATES];
    const char *plain[CANDIDATES];
    int64_t count = 0;
    ikt_number_set_empty(seen);
    ikt_number_set_add(seen, (uint32_t)(r->rows->first + i));
    for (int64_t e = 0; e < k; e++)
        ikt_number_set_add(seen, row[e]);
    for (int64_t e = 0; e < r->near; e++) {
        const uint32_t *theirs = nearest_of(r, r->nearest[i * r->near + e]);
        for (int64_t f = 0; f < r->near; f++)
            if (ikt_number_set_add(seen, theirs[f])) candidate[count++] = theirs[f];
    }
    for (int64_t c = 0; c < count; c++)
        plain[c] = ikt_foreign_value(&r->candidates, r->rows, r->tiles->data, candidate[c]);
    r->tiles->scorer.score_some(&r->tiles->scorer, r->tiles->data + i * r->row_bytes, plain, count,
                                scratch, score);
    ikt_best_reverse(list, row, k);
    for (int64_t c = 0; c < count; c++)
        ikt_best_offer(list, row, k, score[c], candidate[c]);
}

/* --- the round -------------------------------------------------------------------------------- */

/* Members of sets: of a row, candidates, list and itself; of a batch, candidates of all its rows.
 */
static int64_t row_members(int64_t k) {
    return CANDIDATES + k + 1;
}

static int64_t batch_members(int64_t n_local, int64_t row_bytes) {
    return CANDIDATES * ikt_foreign_batch(NULL, n_local, CANDIDATES, row_bytes);
}

static ikt_status allocate(refinement *r, bool is_begun) {
    ikt_context *ctx = r->ctx;
    const int64_t threads = ikt_threads(ctx), entries = r->lists->n_local * r->near;
    uint32_t **nearest = &r->course->progress.nearest;
    IKT_TRY(ikt_alloc(ctx, &r->seen, threads, sizeof *r->seen, purpose));
    for (int64_t t = 0; t < threads; t++)
        IKT_TRY(ikt_number_set_create(ctx, row_members(r->lists->k), &r->seen[t]));
    if (ikt_size(ctx) > 1)
        IKT_TRY(ikt_number_set_create(ctx, batch_members(ikt_rows_count(r->rows, 0), r->row_bytes),
                                      &r->wanted));
    if (!is_begun) IKT_TRY(ikt_alloc(ctx, nearest, entries, sizeof **nearest, purpose));
    return ikt_alloc(ctx, &r->scratch, threads * r->tiles->scorer.some_bytes, 1, purpose);
}

/* COLLECTIVE. All rows, in batches. */
static ikt_status refine_all(refinement *r) {
    const int64_t most = ikt_rows_count(r->rows, 0), own = r->rows->count;
    const int64_t rows = ikt_foreign_batch(r->ctx, most, CANDIDATES, r->row_bytes);
    ikt_status st = IKT_OK;
    for (int64_t done = 0; done < most && st == IKT_OK; done += rows) {
        r->first = done < own ? done : own;
        r->end = done + rows < own ? done + rows : own;
        st = fetch_all(r);
        if (st == IKT_OK) {
#pragma omp parallel for schedule(dynamic, 64) num_threads(ikt_threads(r->ctx))
            for (int64_t i = r->first; i < r->end; i++)
                if (!is_through(r, i))
                    refine_row(r, i, &r->seen[omp_get_thread_num()],
                               r->scratch + omp_get_thread_num() * r->tiles->scorer.some_bytes);
            ikt_list_note(r->course, r->first, r->end);
        }
        ikt_foreign_destroy(&r->numbers);
        ikt_foreign_destroy(&r->candidates);
        IKT_TRY(st);
        ikt_progress(r->ctx, "rows refined", done + rows < most ? done + rows : most, most, NULL);
        st = ikt_list_pause(r->ctx, r->course);
    }
    return st;
}

ikt_status ikt_neighbours_refine(ikt_context *ctx, ikt_tiles *tiles, ikt_list_course *course) {
    ikt_neighbours *lists = course->lists;
    refinement r = {.ctx = ctx,
                    .tiles = tiles,
                    .rows = &tiles->scorer.rows,
                    .row_bytes = tiles->scorer.row_bytes,
                    .course = course,
                    .lists = lists,
                    .near = lists->k < NEAR ? lists->k : NEAR};
    const bool is_begun = course->progress.nearest != NULL; /* some lists are improved already */
    ikt_status st = ikt_agree(ctx, allocate(&r, is_begun));
    r.nearest = course->progress.nearest;
    course->progress.near = r.near;
    if (st == IKT_OK && !is_begun) { /* lists in order, and their first entries set aside */
        ikt_neighbours_sort(ctx, lists);
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
        for (int64_t i = 0; i < lists->n_local; i++)
            memcpy(r.nearest + i * r.near, lists->row + i * lists->k,
                   (size_t)r.near * sizeof *r.nearest);
    }
    if (st == IKT_OK) st = refine_all(&r);
    for (int64_t t = 0; r.seen && t < ikt_threads(ctx); t++)
        ikt_number_set_destroy(&r.seen[t]);
    ikt_free(&r.seen);
    ikt_number_set_destroy(&r.wanted);
    ikt_free(&r.scratch);
    return st;
}

int64_t ikt_refine_memory(int64_t n_local, int64_t k, int64_t row_bytes, int ranks, int threads) {
    const int64_t number = sizeof(uint32_t);
    int64_t bytes = number * NEAR * n_local + threads * ikt_number_set_bytes(row_members(k));
    if (ranks == 1) return bytes;
    return bytes + ikt_number_set_bytes(batch_members(n_local, row_bytes)) +
           ikt_foreign_batch(NULL, n_local, CANDIDATES, row_bytes) * CANDIDATES *
               (row_bytes + number);
}
