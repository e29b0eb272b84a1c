/* Exact search. See exact.h. */
#include "neighbours/exact.h"

#include <string.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/select.h"
#include "base/sort.h"

enum {
    STREAM_BYTES = 32 << 20, /* of a block of a stream */
    KEPT_BYTES = 16 << 20,   /* of what the own rows keep that are scored together */
    OWN_ROWS = 64,           /* own rows and others of a tile of scores: both and their scores */
    OTHERS = 256,            /* stay in the second-level cache */
    OWN_LEAST = 8 /* own rows of a tile where they are few, so that all threads have some */
};

static const char purpose[] = "neighbour blocks";

/* --- scores of a block of others -------------------------------------------------------------- */

/* The own rows that are scored, and who is shown the scores. */
typedef struct {
    ikt_context *ctx;
    const ikt_scorer *scorer;
    int64_t first, end; /* own rows, local numbers */
    ikt_score_visitor visit;
    void *self;
    float *tile; /* [threads * OWN_ROWS * OTHERS] */
} scoring;

/* Scores of the tiles of all threads. */
static int64_t tile_floats(const ikt_context *ctx) {
    return (int64_t)ikt_threads(ctx) * OWN_ROWS * OTHERS;
}

/* All own rows against nb packed rows, of which the first has the global number `row`. */
static void score_block(const scoring *s, const void *packed, int64_t row, int64_t nb) {
    const ikt_scorer *scorer = s->scorer;
    const int64_t share = ikt_divide_up(s->end - s->first, ikt_threads(s->ctx));
    const int64_t together = ikt_smaller(ikt_larger(share, OWN_LEAST), OWN_ROWS);
#pragma omp parallel for schedule(dynamic) num_threads(ikt_threads(s->ctx))
    for (int64_t first = s->first; first < s->end; first += together) {
        const int64_t na = ikt_smaller(s->end - first, together);
        const char *plain = (const char *)scorer->plain + first * scorer->row_bytes;
        float *tile = s->tile + (int64_t)omp_get_thread_num() * OWN_ROWS * OTHERS;
        for (int64_t from = 0; from < nb; from += OTHERS) {
            const int64_t others = nb - from < OTHERS ? nb - from : OTHERS;
            scorer->score(scorer, plain, na,
                          (const char *)packed + scorer->packed_bytes(scorer, from), others, tile);
            s->visit(s->self, first, na, row + from, others, tile, ikt_score_stride(others));
        }
    }
}

/* The lists that are offered scores. */
typedef struct {
    ikt_neighbours *lists;
    const int64_t *own; /* the global number of every own row, which is not offered to itself; NULL:
                           others are of another set */
} best_lists;

static void offer_scores(void *self, int64_t first, int64_t na, int64_t row, int64_t nb,
                         const float *scores, int64_t stride) {
    const best_lists *best = self;
    const int64_t k = best->lists->k;
    for (int64_t a = first; a < first + na; a++)
        ikt_best_offer_row(best->lists->score + a * k, best->lists->row + a * k, k,
                           best->own ? best->own[a] : -1, row, nb, scores + (a - first) * stride);
}

static void clear_lists(ikt_neighbours *lists, int64_t first, int64_t end) {
    for (int64_t i = first; i < end; i++)
        ikt_best_clear(lists->score + i * lists->k, lists->row + i * lists->k, lists->k);
}

/* --- blocks of all ranks ---------------------------------------------------------------------- */

static int64_t block_count(const ikt_rows *rows, int rank, int64_t block) {
    const int64_t left = ikt_rows_count(rows, rank) - block * IKT_EXACT_BLOCK_ROWS;
    return left < 0 ? 0 : left < IKT_EXACT_BLOCK_ROWS ? left : IKT_EXACT_BLOCK_ROWS;
}

/* COLLECTIVE. Own rows first .. end - 1, others on each rank and maybe none, against all rows. Each
 * own block goes once round the ring: after as many steps as there are ranks every rank has seen
 * the block of every rank. */
static ikt_status score_against_all(ikt_context *ctx, const ikt_scorer *scorer, int64_t first,
                                    int64_t end, ikt_score_visitor visit, void *self) {
    scoring s = {ctx, scorer, first, end, visit, self, NULL};
    const ikt_rows *rows = &scorer->rows;
    const int rank = ikt_rank(ctx), size = ikt_size(ctx);
    const int64_t bytes = scorer->packed_bytes(scorer, IKT_EXACT_BLOCK_ROWS);
    const int64_t most = ikt_rows_count(rows, 0); /* rank 0 owns the most rows */
    const int64_t blocks = (most + IKT_EXACT_BLOCK_ROWS - 1) / IKT_EXACT_BLOCK_ROWS;
    IKT_ARRAYS(held, ctx, purpose);
    char *here = ikt_claim(&held, bytes, 1), *next = ikt_claim(&held, bytes, 1);
    s.tile = ikt_claim(&held, tile_floats(ctx), sizeof *s.tile);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t own = block_count(rows, rank, block), from = block * IKT_EXACT_BLOCK_ROWS;
        const char *plain = (const char *)scorer->plain + from * scorer->row_bytes;
        if (scorer->pack)
            scorer->pack(scorer, plain, own, here);
        else if (own > 0)
            memcpy(here, plain, (size_t)(own * scorer->row_bytes));
        for (int step = 0; step < size; step++) {
            const int owner = (rank + step) % size, following = (rank + step + 1) % size;
            const int64_t nb = block_count(rows, owner, block);
            const int64_t coming = block_count(rows, following, block);
            if (nb > 0) score_block(&s, here, ikt_rows_first(rows, owner) + from, nb);
            if (step + 1 == size) break;
            ikt_send_receive(ctx, here, nb ? scorer->packed_bytes(scorer, nb) : 0,
                             (rank + size - 1) % size, next,
                             coming ? scorer->packed_bytes(scorer, coming) : 0, (rank + 1) % size);
            char *swap = here;
            here = next;
            next = swap;
        }
        ikt_progress(ctx, "blocks", block + 1, blocks, NULL);
        if (block + 1 < blocks) IKT_TRY(ikt_watch_pause(ctx));
    }
    return IKT_OK;
}

ikt_status ikt_score_all(ikt_context *ctx, const ikt_scorer *scorer, ikt_score_visitor visit,
                         void *self) {
    return score_against_all(ctx, scorer, 0, scorer->rows.count, visit, self);
}

/* What some own rows keep of the scores that they are shown: in buffers, so that a score that is
 * kept costs no search for its place, as it does in a list. */
typedef struct {
    int64_t first, end; /* these rows, local numbers */
    int64_t first_row;  /* global number of own row 0; a row is not offered to itself */
    ikt_select *kept;   /* [end - first] */
    ikt_pair *pair;     /* their memory */
} kept_rows;

static void keep_scores(void *self, int64_t first, int64_t na, int64_t row, int64_t nb,
                        const float *scores, int64_t stride) {
    const kept_rows *kept = self;
    for (int64_t a = first; a < first + na; a++)
        ikt_select_floats(&kept->kept[a - kept->first], kept->first_row + a, row, nb,
                          scores + (a - first) * stride);
}

/* COLLECTIVE. The lists of some own rows, others on each rank and maybe none. */
static ikt_status make_lists(ikt_context *ctx, const ikt_scorer *scorer, kept_rows *kept,
                             ikt_list_course *course) {
    ikt_neighbours *lists = course->lists;
    const int64_t k = lists->k, count = kept->end - kept->first;
    const ikt_saver saver = ikt_list_saver(course);
    for (int64_t r = 0; r < count; r++)
        ikt_select_begin(&kept->kept[r], scorer->isa, k, kept->pair + r * IKT_SELECT_CAPACITY * k);
    IKT_MAY_PAUSE(ctx, &saver, &course->has_worked);
    IKT_TRY(score_against_all(ctx, scorer, kept->first, kept->end, keep_scores, kept));
    clear_lists(lists, kept->first, kept->end);
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t r = 0; r < count; r++) {
        const int64_t at = (kept->first + r) * k;
        ikt_select_end(&kept->kept[r]);
        ikt_best_write(lists->score + at, lists->row + at, kept->kept[r].pair, kept->kept[r].count);
    }
    return IKT_OK;
}

/* Rows whose lists are made together, where others' rows come round once more for the next: so many
 * that passing them round is little beside scoring. The same on all ranks. */
static int64_t rows_together(const ikt_rows *rows, int64_t k) {
    const int64_t scores = INT64_C(1) << 34, least = 1024;
    const int64_t kept = KEPT_BYTES / (IKT_SELECT_CAPACITY * k * (int64_t)sizeof(ikt_pair));
    return ikt_smaller(ikt_larger(ikt_smaller(scores / rows->n, kept), least),
                       ikt_rows_count(rows, 0));
}

int64_t ikt_exact_memory(const ikt_rows *rows, int64_t k) {
    return rows_together(rows, k) *
           (int64_t)(sizeof(ikt_select) + IKT_SELECT_CAPACITY * (size_t)k * sizeof(ikt_pair));
}

ikt_status ikt_neighbours_exact(ikt_context *ctx, const ikt_scorer *scorer,
                                ikt_list_course *course) {
    const int64_t own = scorer->rows.count, most = ikt_rows_count(&scorer->rows, 0);
    const int64_t k = course->lists->k, rows = rows_together(&scorer->rows, k);
    kept_rows some = {.first_row = scorer->rows.first};
    IKT_ARRAYS(held, ctx, purpose);
    some.kept = ikt_claim(&held, rows, sizeof *some.kept);
    some.pair = ikt_claim(&held, rows * IKT_SELECT_CAPACITY * k, sizeof *some.pair);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t done = 0; done < most; done += rows) {
        const int64_t first = ikt_smaller(done, own), end = ikt_smaller(done + rows, own);
        some.first = first;
        some.end = ikt_list_done(course, first, end) ? first : end; /* by a run that was stopped */
        IKT_TRY(make_lists(ctx, scorer, &some, course));
        ikt_list_note(course, first, end);
        if (done + rows < most) IKT_TRY(ikt_list_pause(ctx, course));
    }
    return IKT_OK;
}

/* --- rows of another set ---------------------------------------------------------------------- */

ikt_status ikt_neighbours_offer(ikt_context *ctx, const ikt_scorer *scorer, const int64_t *own,
                                const void *packed, int64_t row, int64_t count,
                                ikt_neighbours *lists) {
    best_lists best = {lists, own};
    scoring s = {ctx, scorer, 0, scorer->rows.count, offer_scores, &best, NULL};
    IKT_ARRAYS(held, ctx, purpose);
    s.tile = ikt_claim(&held, tile_floats(ctx), sizeof *s.tile);
    IKT_TRY(held.status);
    score_block(&s, packed, row, count);
    return IKT_OK;
}

ikt_status ikt_neighbours_among(ikt_context *ctx, const ikt_scorer *scorer, const void *packed,
                                int64_t few, ikt_neighbours *lists) {
    clear_lists(lists, 0, lists->n_local);
    IKT_TRY(ikt_neighbours_offer(ctx, scorer, NULL, packed, 0, few, lists));
    ikt_neighbours_sort(ctx, lists);
    return IKT_OK;
}

ikt_status ikt_neighbours_stream(ikt_context *ctx, const ikt_scorer *scorer,
                                 const ikt_row_stream *rows, ikt_neighbours *lists) {
    const int64_t bytes = (int64_t)rows->row_bytes;
    int64_t step = bytes < STREAM_BYTES ? STREAM_BYTES / bytes : 1;
    if (step > rows->n) step = rows->n;
    const int64_t most = ikt_rows_make(step, ikt_size(ctx), 0).count;
    char *packed = NULL;
    IKT_ARRAYS(held, ctx, purpose);
    char *share = ikt_claim(&held, most, rows->row_bytes);
    char *block = ikt_claim(&held, step, rows->row_bytes);
    if (scorer->pack) packed = ikt_claim(&held, scorer->packed_bytes(scorer, step), 1);
    int64_t *counts = ikt_claim(&held, ikt_size(ctx), sizeof *counts); /* rows of each share */
    IKT_TRY(ikt_arrays_agree(&held));
    clear_lists(lists, 0, lists->n_local);
    for (int64_t first = 0; first < rows->n; first += step) {
        const int64_t count = rows->n - first < step ? rows->n - first : step;
        const ikt_rows part = ikt_rows_make(count, ikt_size(ctx), ikt_rank(ctx));
        for (int rank = 0; rank < ikt_size(ctx); rank++)
            counts[rank] = ikt_rows_count(&part, rank);
        IKT_TRY(rows->read(rows->self, first + part.first, part.count, share));
        ikt_allgather(ctx, share, part.count, rows->row_bytes, block, counts);
        if (packed) scorer->pack(scorer, block, count, packed);
        IKT_TRY(ikt_agree(ctx, ikt_neighbours_offer(ctx, scorer, NULL, packed ? packed : block,
                                                    first, count, lists)));
        ikt_progress(ctx, "old rows compared", first + count, rows->n, NULL);
    }
    ikt_neighbours_sort(ctx, lists);
    return IKT_OK;
}
