/* Search in the Fisher metric among near cells. See fisher_search.h; read ikt_fisher_search_near,
 * at the end, first. */

#include <math.h>
#include <string.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/sort.h"
#include "cells/cells.h"
#include "dist/order.h"
#include "io/sources/source.h"
#include "isolation/model.h"
#include "neighbours/fisher_batch.h"
#include "neighbours/fisher_search.h"
#include "neighbours/near_tiles.h"
#include "neighbours/second_neighbours.h"

/* A round over neighbours of neighbours in the Fisher metric (second_neighbours.h).
 *
 * The candidates of a row are a block (fisher_batch.h), which the bounds of the search leave little
 * of. */

enum { CANDIDATES = IKT_REFINE_CANDIDATES };

/* What of a candidate is fetched. */
enum { WEIGHT, ROOT, NUMBER, X, PARTS };

static const char refine_purpose[] = "refine";

/* What one thread works with. */
typedef struct {
    ikt_number_set seen;   /* slots */
    ikt_number_set listed; /* numbers */
    ikt_fisher_batch batch;
} workspace;

typedef struct {
    const ikt_fisher_rows *rows;
    ikt_second_neighbours round;
    ikt_neighbours *lists;
    workspace *space; /* [threads] */
} refinement;

/* --- a row ------------------------------------------------------------------------------------ */

/* The candidates of own slot i as the block of a thread; none is in its list, `number` [k]. */
static void gather_candidates(const refinement *r, int64_t i, const uint32_t *number,
                              workspace *w) {
    const ikt_second_neighbours *round = &r->round;
    ikt_fisher_block *block = &w->batch.block;
    uint32_t slot[CANDIDATES];
    ikt_number_set_empty(&w->seen);
    ikt_number_set_empty(&w->listed);
    ikt_number_set_add(&w->seen, (uint32_t)(r->rows->rows.first + i));
    for (int64_t e = 0; e < r->lists->k; e++)
        ikt_number_set_add(&w->listed, number[e]);
    const int64_t candidates = ikt_second_neighbours_of(round, i, &w->seen, slot);
    int64_t count = 0;
    for (int64_t c = 0; c < candidates; c++) {
        const uint32_t its = *(const uint32_t *)ikt_second_neighbours_part(round, NUMBER, slot[c]);
        if (!ikt_number_set_add(&w->listed, its)) continue;
        block->number[count] = its;
        block->weight[count] = ikt_second_neighbours_part(round, WEIGHT, slot[c]);
        block->root[count] = ikt_second_neighbours_part(round, ROOT, slot[c]);
        if (r->rows->d > 0) block->x[count] = ikt_second_neighbours_part(round, X, slot[c]);
        count++;
    }
    block->count = count;
}

/* The list in own slot i is sorted before and a heap, worst first, afterwards. */
static void refine_row(const void *self, int64_t i, int thread) {
    const refinement *r = self;
    const int64_t k = r->lists->k, lanes = r->rows->job.shape.lanes, d = r->rows->d;
    const int64_t row = ((const uint32_t *)(const void *)r->round.part[NUMBER].data)[i];
    workspace *w = &r->space[thread];
    ikt_fisher_batch *b = &w->batch;
    b->count = 1;
    b->row = &row;
    b->at = &i;
    b->weight = r->rows->weight + i * lanes;
    b->root = r->rows->root + i * r->rows->job.shape.wide;
    b->x = d > 0 ? r->rows->x + i * d : NULL;
    gather_candidates(r, i, r->lists->row + i * k, w);
    ikt_best_reverse(r->lists->score + i * k, r->lists->row + i * k, k);
    ikt_fisher_own_begin(b);
    ikt_fisher_block_begin(b, &b->block, true, d > 0);
    ikt_fisher_tiles(b, true, 0, 1, &b->block, b->scratch);
    ikt_fisher_visit(b, IKT_FISHER_REST, 0, 0, &b->block, b->scratch);
}

/* --- the round -------------------------------------------------------------------------------- */

static ikt_status refinement_create(ikt_context *ctx, refinement *r, ikt_arrays *held) {
    const int64_t threads = ikt_threads(ctx), k = r->lists->k;
    r->space = ikt_claim(held, threads, sizeof *r->space);
    for (workspace *w = r->space; w && w < r->space + threads; w++) {
        w->batch = (ikt_fisher_batch){.ctx = ctx,
                                      .held = held,
                                      .rows = r->rows,
                                      .k = k,
                                      .best = r->lists->score,
                                      .best_row = r->lists->row,
                                      .threads = 1};
        IKT_TRY(ikt_fisher_batch_create(&w->batch, 1, CANDIDATES, true));
        ikt_number_set_create(held, CANDIDATES + 1, &w->seen);
        ikt_number_set_create(held, CANDIDATES + k, &w->listed);
    }
    return held->status;
}

static void refinement_destroy(refinement *r) {
    ikt_second_neighbours_end(&r->round);
}

/* COLLECTIVE. What was set aside are numbers of rows, and becomes slots. */
static ikt_status make_slots(ikt_context *ctx, const refinement *r, const ikt_order *order) {
    const int64_t n_local = r->lists->n_local;
    uint32_t *slot IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &slot, n_local, sizeof *slot, refine_purpose));
    IKT_TRY(ikt_order_slots(ctx, order, slot));
    return ikt_translate_indices(ctx, &r->rows->rows, slot, r->round.nearest,
                                 n_local * r->round.near);
}

/* COLLECTIVE. One round: each row is compared with the IKT_REFINE_NEAR near rows of its
 * IKT_REFINE_NEAR near rows, as the lists were before the round, and keeps the k best of
 * both. (Dong, Moses, Li, WWW 2011, with a round for all rows at once, as in search.h.)
 *   rows     held by slots
 *   order    of rows and slots
 *   course   in round course->progress.round, which may have been begun: its lists, by slots, of
 *            numbers of rows, in any order, are improved in place, unsorted
 *   lengths  the pairs whose distance was computed on this rank are added to it
 * Errors: IKT_ERR_RESOURCE, IKT_STOPPED. Cost: at most IKT_REFINE_NEAR^2 bounds a row, and few
 * distances. */
static ikt_status ikt_fisher_refine(ikt_context *ctx, const ikt_fisher_rows *rows,
                                    const ikt_order *order, ikt_list_course *course,
                                    int64_t *lengths) {
    const ikt_class_lanes *shape = &rows->job.shape;
    const int64_t size = sizeof(float);
    const ikt_row_part part[PARTS] = {[WEIGHT] = {(const char *)rows->weight, shape->lanes * size},
                                      [ROOT] = {(const char *)rows->root, shape->wide * size},
                                      [NUMBER] = {(const char *)order->row, sizeof *order->row},
                                      [X] = {(const char *)rows->x, rows->d * size}};
    refinement r IKT_AT_END(refinement_destroy) = {.rows = rows, .lists = course->lists};
    IKT_ARRAYS(held, ctx, refine_purpose);
    IKT_TRY(ikt_agree(ctx, refinement_create(ctx, &r, &held)));
    IKT_TRY(ikt_second_neighbours_begin(ctx, &rows->rows, course, part, rows->d > 0 ? PARTS : X, 0,
                                        &r.round));
    if (r.round.is_new) IKT_TRY(make_slots(ctx, &r, order));
    IKT_TRY(ikt_second_neighbours_run(&r.round, NULL, refine_row, &r));
    for (int t = 0; t < ikt_threads(ctx); t++)
        *lengths += r.space[t].batch.scratch->lengths;
    return IKT_OK;
}

/* LOCAL, pure. Bytes that a round takes at most.
 *   n_local   of the rank that has the most */
static int64_t ikt_fisher_refine_memory(int64_t n_local, int64_t k, int64_t lanes, int64_t wide,
                                        int64_t d, int ranks, int threads) {
    const int64_t number = sizeof(uint32_t), row_bytes = (lanes + wide + d + 1) * number;
    return number * n_local + ikt_second_neighbours_memory(n_local, row_bytes, PARTS, ranks) +
           threads * (2 * ikt_number_set_bytes(CANDIDATES + k + 1) +
                      ikt_fisher_batch_memory(1, CANDIDATES, 1, lanes, wide, d, 1));
}

static const char purpose[] = "fisher cells";

typedef struct {
    ikt_context *ctx;
    ikt_fisher_rows rows; /* in slots */
    const uint32_t *number;
    ikt_near_tiles near;
    ikt_fisher_batch *batch; /* [threads] */
    ikt_list_course *course;
} search;

/* --- cells and slots -------------------------------------------------------------------------- */

/* Rows as points whose squared distances are the bound.
 *   y   [rows.count * columns] */
static void place(const ikt_fisher_rows *rows, int64_t columns, float *y) {
    const ikt_class_lanes *shape = &rows->job.shape;
    const float scale = (float)(sqrt(rows->euclidean) / 2);
    for (int64_t i = 0; i < rows->rows.count; i++) {
        float *to = y + i * columns;
        memcpy(to, rows->root + i * shape->wide, (size_t)shape->classes * sizeof *to);
        for (int64_t c = shape->classes; c < columns; c++)
            to[c] = scale * rows->x[i * rows->d + c - shape->classes];
    }
}

/* COLLECTIVE. The cells of these points, and the order of rows by them. */
static ikt_status make_cells(ikt_context *ctx, const ikt_fisher_rows *rows, uint64_t seed,
                             ikt_cells *cells, ikt_order *order) {
    const int64_t columns = rows->job.shape.classes + (rows->euclidean > 0 ? rows->d : 0);
    const ikt_preprocess_settings as_they_are = {.normalise = IKT_NORMALISE_NONE};
    const ikt_model_spec spec = {
        .seed = seed, .n = rows->rows.n, .psi = 1, .coarse = ikt_cells_choose(rows->rows.n, 0)};
    ikt_model *centres IKT_AT_END(ikt_model_destroy) = NULL;
    ikt_source *source IKT_AT_END(ikt_source_close) = NULL;
    ikt_dataset *points IKT_AT_END(ikt_dataset_destroy) = NULL;
    float *y IKT_AT_END(ikt_free) = NULL;
    ikt_status st = ikt_alloc(ctx, &y, rows->rows.count * columns, sizeof *y, purpose);
    if (st == IKT_OK) st = ikt_model_create(ctx, &spec, &centres);
    IKT_TRY(ikt_agree(ctx, st));
    place(rows, columns, y);
    IKT_TRY(ikt_source_from_rows(ctx, y, NULL, rows->rows.count, columns, IKT_TYPE_F32, &source));
    IKT_TRY(ikt_dataset_create(ctx, source, &as_they_are, &points));
    return ikt_rows_order(ctx, points, &rows->rows, centres->coarse_row, spec.coarse, NULL, NULL,
                          cells, order);
}

/* COLLECTIVE. One array to the slots of its rows, or back, in its place. */
static ikt_status move(ikt_context *ctx, const ikt_order *order, ikt_direction where, void *array,
                       int64_t bytes) {
    return where == IKT_TO_SLOTS ? ikt_order_apply(ctx, order, array, bytes, array, bytes, bytes)
                                 : ikt_order_restore(ctx, order, array, bytes, array, bytes, bytes);
}

static ikt_status move_held(ikt_context *ctx, const ikt_order *order, ikt_direction where,
                            const ikt_fisher_rows *rows, const ikt_fisher_held *held) {
    const int64_t size = sizeof(float);
    IKT_TRY(move(ctx, order, where, held->weight, rows->job.shape.lanes * size));
    IKT_TRY(move(ctx, order, where, held->root, rows->job.shape.wide * size));
    return rows->d > 0 ? move(ctx, order, where, held->x, rows->d * size) : IKT_OK;
}

/* --- a tile ----------------------------------------------------------------------------------- */

/* All rows that a tile is compared with, as one block. */
static void gather(const search *s, int64_t tile, ikt_fisher_batch *b) {
    const ikt_near_tiles *near = &s->near;
    ikt_fisher_block *block = &b->block;
    const int64_t lanes = b->rows->job.shape.lanes, wide = b->rows->job.shape.wide, d = b->rows->d;
    int64_t count = 0;
    for (int64_t e = 0; e < near->probes[tile]; e++) {
        const ikt_probe at = near->probe[tile * near->candidates + e];
        const int64_t rows = at.end - at.first;
        const float *weight = (const void *)ikt_near_tiles_row(near, WEIGHT, at.first);
        const float *root = (const void *)ikt_near_tiles_row(near, ROOT, at.first);
        const float *x = d > 0 ? (const void *)ikt_near_tiles_row(near, X, at.first) : NULL;
        memcpy(block->number + count, ikt_near_tiles_row(near, NUMBER, at.first),
               (size_t)rows * sizeof *block->number);
        for (int64_t j = 0; j < rows; j++, count++) {
            block->weight[count] = weight + j * lanes;
            block->root[count] = root + j * wide;
            if (d > 0) block->x[count] = x + j * d;
        }
    }
    block->count = count;
    ikt_fisher_block_begin(b, block, true, d > 0);
}

/* Some own rows of a tile against all of it: what comes first is selected, then all is offered.
 *   row, at   [count] their numbers and local slots */
static void search_rows(ikt_fisher_batch *b, const int64_t *row, const int64_t *at, int64_t count) {
    const ikt_fisher_rows *rows = b->rows;
    ikt_fisher_scratch *s = b->scratch;
    b->count = count;
    b->row = row;
    b->at = at;
    b->weight = rows->weight + at[0] * rows->job.shape.lanes;
    b->root = rows->root + at[0] * rows->job.shape.wide;
    b->x = rows->d > 0 ? rows->x + at[0] * rows->d : NULL;
    ikt_fisher_own_begin(b);
    ikt_fisher_tiles(b, true, 0, count, &b->block, s);
    for (int64_t a = 0; a < count; a++) {
        ikt_best_clear(ikt_fisher_best(b, a), b->best_row + at[a] * b->k, b->k);
        ikt_fisher_select_begin(b, a);
        ikt_fisher_visit(b, IKT_FISHER_SELECT, a, a, &b->block, s);
        ikt_fisher_select_end(b, a, FISHER_NEAR * b->k);
        ikt_fisher_visit(b, IKT_FISHER_FIRST, a, a, &b->block, s);
        ikt_fisher_visit(b, IKT_FISHER_REST, a, a, &b->block, s);
    }
}

static void search_tile(const search *s, int64_t tile, ikt_fisher_batch *b) {
    const int64_t end = ikt_near_tiles_begin(&s->near, tile + 1);
    int64_t row[FISHER_OWN_ROWS], at[FISHER_OWN_ROWS];
    gather(s, tile, b);
    for (int64_t i = ikt_near_tiles_begin(&s->near, tile); i < end; i += FISHER_OWN_ROWS) {
        const int64_t count = ikt_smaller(end - i, FISHER_OWN_ROWS);
        for (int64_t a = 0; a < count; a++) {
            row[a] = s->number[i + a];
            at[a] = i + a;
        }
        search_rows(b, row, at, count);
    }
}

/* --- the search ------------------------------------------------------------------------------- */

static ikt_status create(search *s, const ikt_cells *cells, const ikt_tiles *tiles,
                         ikt_arrays *held) {
    ikt_context *ctx = s->ctx;
    const ikt_fisher_rows *rows = &s->rows;
    const int64_t size = sizeof(float), k = s->course->lists->k;
    const ikt_row_part part[] = {
        [WEIGHT] = {(const char *)rows->weight, rows->job.shape.lanes * size},
        [ROOT] = {(const char *)rows->root, rows->job.shape.wide * size},
        [NUMBER] = {(const char *)s->number, sizeof *s->number},
        [X] = {(const char *)rows->x, rows->d * size}};
    const int64_t most = ikt_smaller(rows->among, rows->rows.n);
    IKT_TRY(
        ikt_near_tiles_create(ctx, cells, tiles, most, part, rows->d > 0 ? X + 1 : X, &s->near));
    s->batch = ikt_claim(held, ikt_threads(ctx), sizeof *s->batch);
    for (int t = 0; s->batch && t < ikt_threads(ctx); t++) {
        s->batch[t] = (ikt_fisher_batch){.ctx = ctx,
                                         .held = held,
                                         .rows = rows,
                                         .k = k,
                                         .selected = FISHER_NEAR * k,
                                         .has_near = true,
                                         .best = s->course->lists->score,
                                         .best_row = s->course->lists->row,
                                         .threads = 1};
        IKT_TRY(ikt_fisher_batch_create(&s->batch[t], FISHER_OWN_ROWS, most, true));
    }
    return held->status;
}

/* COLLECTIVE. The batch of own tiles that begins at tile `done`. */
static ikt_status search_batch(search *s, int64_t done) {
    ikt_near_tiles *near = &s->near;
    ikt_status st = ikt_near_tiles_fetch(near, done, s->course);
    if (st == IKT_OK) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(s->ctx))
        for (int64_t t = 0; t < near->count; t++)
            if (near->probes[t] > 0) search_tile(s, t, &s->batch[omp_get_thread_num()]);
        if (near->count > 0)
            ikt_list_note(s->course, ikt_near_tiles_begin(near, 0),
                          ikt_near_tiles_begin(near, near->count));
    }
    ikt_near_tiles_let_go(near);
    return st;
}

static void end_tiles(ikt_near_tiles **near) {
    ikt_near_tiles_destroy(*near);
}

/* COLLECTIVE. All lists, in slots. */
static ikt_status search_slots(search *s, const ikt_cells *cells, int64_t *lengths) {
    ikt_context *ctx = s->ctx;
    ikt_tiles tiles IKT_AT_END(ikt_tiles_destroy) = {.count = 0};
    ikt_near_tiles *near IKT_AT_END(end_tiles) = &s->near;
    IKT_ARRAYS(held, ctx, purpose);
    ikt_status st = ikt_tiles_bare(ctx, cells, &s->rows.rows, &tiles);
    if (st == IKT_OK) st = create(s, cells, &tiles, &held);
    IKT_TRY(ikt_agree(ctx, st));
    const int64_t most = ikt_max_one(ctx, tiles.count), batch = near->most;
    for (int64_t done = 0; done < most; done += batch) {
        IKT_TRY(search_batch(s, done));
        ikt_progress(ctx, "blocks of rows", ikt_smaller(done + batch, most), most, NULL);
        IKT_TRY(ikt_list_pause(ctx, s->course));
    }
    for (int t = 0; t < ikt_threads(ctx); t++)
        *lengths += s->batch[t].scratch->lengths;
    return IKT_OK;
}

/* COLLECTIVE. The search and the rounds behind it, from where they were left off. */
static ikt_status make_lists(search *s, const ikt_cells *cells, const ikt_order *order,
                             int64_t rounds, int64_t *lengths) {
    ikt_list_course *course = s->course;
    while (course->progress.round <= rounds) {
        IKT_TRY(course->progress.round > 0
                    ? ikt_fisher_refine(s->ctx, &s->rows, order, course, lengths)
                    : search_slots(s, cells, lengths));
        ikt_list_course_next(course);
    }
    return IKT_OK;
}

ikt_status ikt_fisher_search_near(ikt_context *ctx, const ikt_fisher_rows *rows,
                                  const ikt_fisher_held *held, const ikt_fisher_cells *how,
                                  ikt_list_course *course, ikt_fisher_proof *proof) {
    ikt_neighbours *lists = course->lists;
    const int64_t bytes = lists->k * (int64_t)sizeof(float);
    ikt_cells cells IKT_AT_END(ikt_cells_destroy) = {0};
    ikt_order order IKT_AT_END(ikt_order_destroy) = {0};
    search s = {.ctx = ctx, .rows = *rows, .course = course};
    s.rows.candidates = IKT_CANDIDATES_ALL; /* all that are near */
    *proof = (ikt_fisher_proof){.rows = rows->rows.n};
    IKT_TRY(make_cells(ctx, rows, how->seed, &cells, &order));
    s.number = order.row;
    IKT_TRY(move_held(ctx, &order, IKT_TO_SLOTS, rows, held));
    IKT_TRY(make_lists(&s, &cells, &order, how->rounds, &proof->lengths));
    ikt_cells_destroy(&cells);
    ikt_sum_i64(ctx, &proof->lengths, 1);
    IKT_TRY(move(ctx, &order, IKT_TO_ROWS, lists->row, bytes));
    IKT_TRY(move(ctx, &order, IKT_TO_ROWS, lists->score, bytes));
    return move_held(ctx, &order, IKT_TO_ROWS, rows, held);
}

int64_t ikt_fisher_near_memory(int64_t n, int64_t n_local, int64_t among, int64_t k, int64_t lanes,
                               int64_t wide, int64_t d, int ranks, int threads) {
    const int64_t size = sizeof(float), columns = wide + d, cells = ikt_cells_choose(n, 0);
    const int64_t points = n_local * columns * size + 3 * cells * columns * size;
    const int64_t each = ikt_fisher_batch_memory(FISHER_OWN_ROWS, ikt_smaller(among, n),
                                                 FISHER_NEAR * k, lanes, wide, d, 1);
    const int64_t refined = ikt_fisher_refine_memory(n_local, k, lanes, wide, d, ranks, threads);
    const int64_t searched =
        cells * columns * 2 * size + threads * each +
        ikt_near_tiles_memory(cells, among, (lanes + wide + d + 1) * size, threads);
    return ikt_order_memory(n_local) + ikt_larger(points, ikt_larger(searched, refined));
}
