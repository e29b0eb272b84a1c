/* A round over neighbours of neighbours in the Fisher metric. See fisher_refine.h and
 * second_neighbours.h.
 *
 * The candidates of a row are a block (fisher_batch.h), which the bounds of the search leave little
 * of. */
#include "neighbours/fisher_refine.h"

#include "base/arrays.h"
#include "base/comm.h"
#include "neighbours/fisher_batch.h"
#include "neighbours/second_neighbours.h"

enum { CANDIDATES = IKT_REFINE_CANDIDATES };

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
    const ikt_fisher_rows *rows;
    ikt_second_neighbours round;
    ikt_neighbours *lists;
    workspace *space; /* [threads] */
} refinement;

/* --- a row ------------------------------------------------------------------------------------ */

/* The candidates of own slot i as the block of a thread; none is in its list, `number` [k]. */
static void gather(const refinement *r, int64_t i, const uint32_t *number, workspace *w) {
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
    gather(r, i, r->lists->row + i * k, w);
    ikt_best_reverse(r->lists->score + i * k, r->lists->row + i * k, k);
    ikt_fisher_own_begin(b);
    ikt_fisher_block_begin(b, &b->block, true, d > 0);
    ikt_fisher_tiles(b, true, 0, 1, &b->block, b->scratch);
    ikt_fisher_visit(b, IKT_FISHER_REST, 0, 0, &b->block, b->scratch);
}

/* --- the round -------------------------------------------------------------------------------- */

static ikt_status allocate(ikt_context *ctx, refinement *r) {
    const int64_t threads = ikt_threads(ctx), k = r->lists->k;
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

static void destroy(ikt_context *ctx, refinement *r, int64_t *lengths) {
    for (int t = 0; r->space && t < ikt_threads(ctx); t++) {
        workspace *w = &r->space[t];
        if (w->batch.scratch) *lengths += w->batch.scratch->lengths;
        ikt_fisher_batch_destroy(&w->batch);
        ikt_number_set_destroy(&w->seen);
        ikt_number_set_destroy(&w->listed);
    }
    ikt_free(&r->space);
    ikt_second_neighbours_end(&r->round);
}

/* COLLECTIVE. What was set aside are numbers of rows, and becomes slots. */
static ikt_status make_slots(ikt_context *ctx, const refinement *r, const ikt_order *order) {
    const int64_t n_local = r->lists->n_local;
    uint32_t *slot IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &slot, n_local, sizeof *slot, purpose)));
    IKT_TRY(ikt_order_slots(ctx, order, slot));
    return ikt_translate_indices(ctx, &r->rows->rows, slot, r->round.nearest,
                                 n_local * r->round.near);
}

ikt_status ikt_fisher_refine(ikt_context *ctx, const ikt_fisher_rows *rows, const ikt_order *order,
                             ikt_list_course *course, int64_t *lengths) {
    const ikt_class_lanes *shape = &rows->job.shape;
    const int64_t size = sizeof(float);
    const ikt_row_part part[PARTS] = {[WEIGHT] = {(const char *)rows->weight, shape->lanes * size},
                                      [ROOT] = {(const char *)rows->root, shape->wide * size},
                                      [NUMBER] = {(const char *)order->row, sizeof *order->row},
                                      [X] = {(const char *)rows->x, rows->d * size}};
    refinement r = {.rows = rows, .lists = course->lists};
    bool is_new;
    ikt_status st = ikt_agree(ctx, allocate(ctx, &r));
    if (st == IKT_OK)
        st = ikt_second_neighbours_begin(ctx, &rows->rows, course, part, rows->d > 0 ? PARTS : X,
                                         &r.round, &is_new);
    if (st == IKT_OK && is_new) st = make_slots(ctx, &r, order);
    if (st == IKT_OK) st = ikt_second_neighbours_run(&r.round, refine_row, &r);
    destroy(ctx, &r, lengths);
    return st;
}

int64_t ikt_fisher_refine_memory(int64_t n_local, int64_t k, int64_t lanes, int64_t wide, int64_t d,
                                 int ranks, int threads) {
    const int64_t number = sizeof(uint32_t), row_bytes = (lanes + wide + d + 1) * number;
    return number * n_local + ikt_second_neighbours_memory(n_local, row_bytes, PARTS, ranks) +
           threads * (2 * ikt_number_set_bytes(CANDIDATES + k + 1) +
                      ikt_fisher_batch_memory(1, CANDIDATES, 1, lanes, wide, d, 1));
}
