/* A round over neighbours of neighbours in the Fisher metric. See fisher_refine.h.
 *
 * Batches of own rows fetch what they want from other ranks, once each. The candidates of a row are
 * a block (fisher_batch.h), which the bounds of the search leave little of. */
#include "neighbours/fisher_refine.h"

#include <string.h>

#include <omp.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/number.h"
#include "neighbours/fisher_batch.h"
#include "neighbours/foreign.h"
#include "neighbours/search.h"

enum { NEAR = IKT_REFINE_NEAR, CANDIDATES = NEAR * NEAR };

/* What of a candidate is fetched. */
enum { WEIGHT, ROOT, NUMBER, X, PARTS };

static const char purpose[] = "refine";

/* What one thread works with. */
typedef struct {
    ikt_number_set seen;   /* slots */
    ikt_number_set listed; /* numbers */
    ikt_fisher_batch batch;
} workspace;

typedef struct {
    ikt_context *ctx;
    const ikt_fisher_rows *rows;
    ikt_list_course *course;
    ikt_neighbours *lists; /* its lists */
    int64_t near;          /* of a row: at most NEAR */
    uint32_t *nearest;     /* [n_local * near] slots, as the lists were; of the course */
    const char *own[PARTS];
    int64_t bytes[PARTS], row_bytes;
    int parts;
    int64_t first, end;      /* own slots of the batch, local numbers */
    ikt_foreign numbers;     /* nearest of foreign slots */
    ikt_foreign part[PARTS]; /* foreign candidates */
    ikt_number_set wanted;   /* while they are collected */
    workspace *space;        /* [threads] */
} refinement;

static const uint32_t *nearest_of(const refinement *r, uint32_t slot) {
    return ikt_foreign_value(&r->numbers, &r->rows->rows, r->nearest, slot);
}

static const void *part_of(const refinement *r, int part, uint32_t slot) {
    return ikt_foreign_value(&r->part[part], &r->rows->rows, r->own[part], slot);
}

/* --- what a batch wants from others ----------------------------------------------------------- */

static void want(refinement *r, const uint32_t *slot) {
    for (int64_t e = 0; e < r->near; e++)
        if (!ikt_is_own(&r->rows->rows, slot[e])) ikt_number_set_add(&r->wanted, slot[e]);
}

/* Whether a run before this one has improved the list in own slot i. */
static bool is_through(const refinement *r, int64_t i) {
    return ikt_list_done(r->course, i, i + 1);
}

/* COLLECTIVE. Nothing travels on one rank. */
static ikt_status fetch_all(refinement *r) {
    const ikt_rows *rows = &r->rows->rows;
    r->numbers = (ikt_foreign){.bytes = r->near * (int64_t)sizeof *r->nearest};
    for (int p = 0; p < r->parts; p++)
        r->part[p] = (ikt_foreign){.bytes = r->bytes[p]};
    if (ikt_size(r->ctx) == 1) return IKT_OK;
    ikt_number_set_empty(&r->wanted);
    for (int64_t i = r->first; i < r->end; i++)
        if (!is_through(r, i)) want(r, r->nearest + i * r->near);
    IKT_TRY(ikt_foreign_fetch(r->ctx, rows, &r->wanted, r->nearest, r->numbers.bytes, &r->numbers));
    ikt_number_set_empty(&r->wanted);
    for (int64_t i = r->first; i < r->end; i++)
        for (int64_t e = 0; e < r->near && !is_through(r, i); e++)
            want(r, nearest_of(r, r->nearest[i * r->near + e]));
    for (int p = 0; p < r->parts; p++)
        IKT_TRY(ikt_foreign_fetch(r->ctx, rows, &r->wanted, r->own[p], r->bytes[p], &r->part[p]));
    return IKT_OK;
}

static void let_go(refinement *r) {
    ikt_foreign_destroy(&r->numbers);
    for (int p = 0; p < r->parts; p++)
        ikt_foreign_destroy(&r->part[p]);
}

/* --- a row ------------------------------------------------------------------------------------ */

/* The candidates of own slot i as the block of a thread; none is in its list, `number` [k]. */
static void gather(const refinement *r, int64_t i, const uint32_t *number, workspace *w) {
    ikt_fisher_block *block = &w->batch.block;
    const uint32_t *mine = r->nearest + i * r->near;
    int64_t count = 0;
    ikt_number_set_empty(&w->seen);
    ikt_number_set_empty(&w->listed);
    ikt_number_set_add(&w->seen, (uint32_t)(r->rows->rows.first + i));
    for (int64_t e = 0; e < r->lists->k; e++)
        ikt_number_set_add(&w->listed, number[e]);
    for (int64_t e = 0; e < r->near; e++) {
        const uint32_t *theirs = nearest_of(r, mine[e]);
        for (int64_t f = 0; f < r->near; f++) {
            if (!ikt_number_set_add(&w->seen, theirs[f])) continue;
            const uint32_t its = *(const uint32_t *)part_of(r, NUMBER, theirs[f]);
            if (!ikt_number_set_add(&w->listed, its)) continue;
            block->number[count] = its;
            block->weight[count] = part_of(r, WEIGHT, theirs[f]);
            block->root[count] = part_of(r, ROOT, theirs[f]);
            if (r->rows->d > 0) block->x[count] = part_of(r, X, theirs[f]);
            count++;
        }
    }
    block->count = count;
}

/* The list in own slot i is sorted before and a heap, worst first, afterwards. */
static void refine_row(const refinement *r, int64_t i, workspace *w) {
    const int64_t k = r->lists->k, lanes = r->rows->job.shape.lanes, d = r->rows->d;
    const int64_t row = ((const uint32_t *)(const void *)r->own[NUMBER])[i];
    ikt_fisher_batch *b = &w->batch;
    b->count = 1;
    b->row = &row;
    b->at = &i;
    b->weight = r->rows->weight + i * lanes;
    b->root = r->rows->root + i * r->rows->job.shape.wide;
    b->x = d > 0 ? r->rows->x + i * d : NULL;
    gather(r, i, r->lists->row + i * k, w);
    ikt_best_reverse(r->lists->score + i * k, r->lists->row + i * k, k);
    ikt_fisher_own_begin(b);
    ikt_fisher_block_begin(b, &b->block, true, d > 0);
    ikt_fisher_tiles(b, true, 0, 1, &b->block, b->scratch);
    ikt_fisher_visit(b, IKT_FISHER_REST, 0, 0, &b->block, b->scratch);
}

/* --- the round -------------------------------------------------------------------------------- */

static int64_t batch_members(int64_t n_local, int64_t row_bytes) {
    return CANDIDATES * ikt_foreign_batch(NULL, n_local, CANDIDATES, row_bytes);
}

static ikt_status allocate(refinement *r) {
    ikt_context *ctx = r->ctx;
    const int64_t threads = ikt_threads(ctx), k = r->lists->k;
    if (ikt_size(ctx) > 1)
        IKT_TRY(ikt_number_set_create(
            ctx, batch_members(ikt_rows_count(&r->rows->rows, 0), r->row_bytes), &r->wanted));
    IKT_TRY(ikt_alloc(ctx, &r->space, threads, sizeof *r->space, purpose));
    for (workspace *w = r->space; w < r->space + threads; w++) {
        w->batch = (ikt_fisher_batch){.ctx = ctx,
                                      .rows = r->rows,
                                      .k = k,
                                      .best = r->lists->score,
                                      .best_row = r->lists->row,
                                      .threads = 1};
        IKT_TRY(ikt_fisher_batch_create(&w->batch, 1, CANDIDATES, true));
        IKT_TRY(ikt_number_set_create(ctx, CANDIDATES + 1, &w->seen));
        IKT_TRY(ikt_number_set_create(ctx, CANDIDATES + k, &w->listed));
    }
    return IKT_OK;
}

static void destroy(refinement *r, int64_t *lengths) {
    for (int t = 0; r->space && t < ikt_threads(r->ctx); t++) {
        workspace *w = &r->space[t];
        if (w->batch.scratch) *lengths += w->batch.scratch->lengths;
        ikt_fisher_batch_destroy(&w->batch);
        ikt_number_set_destroy(&w->seen);
        ikt_number_set_destroy(&w->listed);
    }
    ikt_free(&r->space);
    ikt_number_set_destroy(&r->wanted);
}

/* COLLECTIVE. Sorts the lists and sets their first entries aside, as slots. */
static ikt_status set_aside(refinement *r, const ikt_order *order) {
    ikt_context *ctx = r->ctx;
    const int64_t n_local = r->lists->n_local, entries = n_local * r->near;
    uint32_t *slot = NULL, **nearest = &r->course->progress.nearest;
    ikt_status st = ikt_alloc(ctx, nearest, entries, sizeof **nearest, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &slot, n_local, sizeof *slot, purpose);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = ikt_order_slots(ctx, order, slot);
    if (st == IKT_OK) {
        ikt_neighbours_sort(ctx, r->lists);
        for (int64_t i = 0; i < n_local; i++)
            memcpy(*nearest + i * r->near, r->lists->row + i * r->lists->k,
                   (size_t)r->near * sizeof **nearest);
        st = ikt_translate_indices(ctx, &r->rows->rows, slot, *nearest, entries);
    }
    ikt_free(&slot);
    return st;
}

/* COLLECTIVE. All rows, in batches. */
static ikt_status refine_all(refinement *r) {
    const int64_t most = ikt_rows_count(&r->rows->rows, 0), own = r->rows->rows.count;
    const int64_t rows = ikt_foreign_batch(r->ctx, most, CANDIDATES, r->row_bytes);
    ikt_status st = IKT_OK;
    for (int64_t done = 0; done < most && st == IKT_OK; done += rows) {
        r->first = ikt_smaller(done, own);
        r->end = ikt_smaller(done + rows, own);
        st = fetch_all(r);
        if (st == IKT_OK) {
#pragma omp parallel for schedule(dynamic, 64) num_threads(ikt_threads(r->ctx))
            for (int64_t i = r->first; i < r->end; i++)
                if (!is_through(r, i)) refine_row(r, i, &r->space[omp_get_thread_num()]);
            ikt_list_note(r->course, r->first, r->end);
        }
        let_go(r);
        IKT_TRY(st);
        ikt_progress(r->ctx, "rows refined", ikt_smaller(done + rows, most), most, NULL);
        st = ikt_list_pause(r->ctx, r->course);
    }
    return st;
}

ikt_status ikt_fisher_refine(ikt_context *ctx, const ikt_fisher_rows *rows, const ikt_order *order,
                             ikt_list_course *course, int64_t *lengths) {
    const ikt_class_lanes *shape = &rows->job.shape;
    const int64_t size = sizeof(float);
    refinement r = {.ctx = ctx,
                    .rows = rows,
                    .course = course,
                    .lists = course->lists,
                    .near = ikt_smaller(course->lists->k, NEAR),
                    .own = {[WEIGHT] = (const char *)rows->weight,
                            [ROOT] = (const char *)rows->root,
                            [NUMBER] = (const char *)order->row,
                            [X] = (const char *)rows->x},
                    .bytes = {[WEIGHT] = shape->lanes * size,
                              [ROOT] = shape->wide * size,
                              [NUMBER] = sizeof *order->row,
                              [X] = rows->d * size},
                    .parts = rows->d > 0 ? PARTS : X};
    for (int p = 0; p < r.parts; p++)
        r.row_bytes += r.bytes[p];
    ikt_status st = ikt_agree(ctx, allocate(&r));
    course->progress.near = r.near;
    if (st == IKT_OK && !course->progress.nearest) st = set_aside(&r, order);
    r.nearest = course->progress.nearest;
    if (st == IKT_OK) st = refine_all(&r);
    destroy(&r, lengths);
    return st;
}

int64_t ikt_fisher_refine_memory(int64_t n_local, int64_t k, int64_t lanes, int64_t wide, int64_t d,
                                 int ranks, int threads) {
    const int64_t number = sizeof(uint32_t), row_bytes = (lanes + wide + d + 1) * number;
    const int64_t bytes = number * (NEAR + 1) * n_local +
                          threads * (2 * ikt_number_set_bytes(CANDIDATES + k + 1) +
                                     ikt_fisher_batch_memory(1, CANDIDATES, 1, lanes, wide, d, 1));
    if (ranks == 1) return bytes;
    return bytes + ikt_number_set_bytes(batch_members(n_local, row_bytes)) +
           ikt_foreign_batch(NULL, n_local, CANDIDATES, row_bytes) * CANDIDATES *
               (row_bytes + (int64_t)PARTS * number);
}
