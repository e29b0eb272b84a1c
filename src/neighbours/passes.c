/* Searches with cells of their own. See passes.h. */
#include "neighbours/passes.h"

#include <math.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/timer.h"
#include "isolation/model.h"
#include "neighbours/search.h"

ikt_status ikt_pass_order(ikt_context *ctx, const ikt_pass_rows *rows, int64_t draw,
                          ikt_cells *cells, ikt_order *order) {
    const int64_t n = rows->rows->n;
    /* A model without a partitioning but that of the cells. */
    const ikt_model_spec spec = {
        .seed = draw == 0 ? rows->seed : ikt_rng_u64(rows->seed, IKT_RNG_CELLS, draw, 0),
        .n = n,
        .psi = 1,
        .coarse = ikt_cells_choose(n, 0)};
    ikt_model *centres IKT_AT_END(ikt_model_destroy) = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_model_create(ctx, &spec, &centres)));
    return ikt_rows_order(ctx, rows->data, rows->rows, centres->coarse_row, spec.coarse, NULL,
                          rows->bytes, cells, order);
}

/* A pass under way. */
typedef struct {
    ikt_context *ctx;
    const ikt_pass_rows *rows;
    const ikt_order *order;  /* whose slots the lists of the course are of */
    ikt_list_course *course; /* of all passes */
    ikt_cells cells;
    ikt_order own;        /* of this pass, */
    ikt_neighbours found; /* whose slots these are of: what has not been joined yet */
} pass;

static void pass_destroy(pass *p) {
    ikt_cells_destroy(&p->cells);
    ikt_order_destroy(&p->own);
    ikt_neighbours_destroy(&p->found);
}

/* COLLECTIVE. What was found, by the slots of the pass, as slots of the run. Places in which there
 * is nothing yet stay so; their scores are infinite. */
static ikt_status bring_lists(const pass *p) {
    ikt_context *ctx = p->ctx;
    const ikt_order *from = &p->own, *to = p->order;
    const ikt_neighbours *lists = &p->found;
    const int64_t entries = lists->n_local * lists->k, number = sizeof *lists->row;
    const int64_t bytes = lists->k * number;
    void *part[] = {lists->row, lists->score};
    uint32_t *slot IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &slot, lists->n_local, sizeof *slot, "neighbours"));
    IKT_TRY(ikt_order_slots(ctx, to, slot));
    for (int64_t e = 0; e < entries; e++)
        if (isinf(lists->score[e])) lists->row[e] = 0; /* some name that can be asked for */
    IKT_TRY(ikt_translate_indices(ctx, &from->rows, from->row, lists->row, entries));
    IKT_TRY(ikt_translate_indices(ctx, &to->rows, slot, lists->row, entries));
    for (int64_t e = 0; e < entries; e++)
        if (isinf(lists->score[e])) lists->row[e] = UINT32_MAX;
    for (int i = 0; i < 2; i++) {
        IKT_TRY(ikt_order_restore(ctx, from, part[i], bytes, part[i], bytes, bytes));
        IKT_TRY(ikt_order_apply(ctx, to, part[i], bytes, part[i], bytes, bytes));
    }
    return IKT_OK;
}

ikt_status ikt_pass_tiles(ikt_context *ctx, const ikt_pass_rows *rows, const ikt_cells *cells,
                          const ikt_order *order, ikt_tiles *out) {
    return rows->bytes ? ikt_tiles_bytes(ctx, cells, order, rows->bytes, cells->d, out)
                       : ikt_tiles_data(ctx, cells, order, rows->data, out);
}

/* COLLECTIVE. Joins what was found with the lists of the course, and empties it. A list is the same
 * whether its rows are joined at once or as they are found, and joining again changes nothing. */
static ikt_status join(pass *p) {
    IKT_TRY(bring_lists(p));
    IKT_TRY(ikt_neighbours_join(p->ctx, p->course->lists, &p->found));
    ikt_neighbours_clear(p->ctx, &p->found);
    return IKT_OK;
}

/* COLLECTIVE. A checkpoint within the pass: in place of what was found, the lists of the course,
 * which have it then, too; and which slots of the pass are done. */
static ikt_status save(void *self, const ikt_neighbours *found, const ikt_list_progress *progress) {
    pass *p = self;
    const ikt_list_course *course = p->course;
    (void)found;
    (void)progress;
    IKT_TRY(join(p));
    return course->hooks->save(course->hooks->self, course->lists, &course->progress);
}

/* COLLECTIVE. The cells of the pass, and the rows by them: nothing of it is saved, but it may be
 * stopped. */
static ikt_status begin(pass *p, ikt_tiles *tiles) {
    ikt_context *ctx = p->ctx;
    ikt_list_course *course = p->course;
    const ikt_saver saver = ikt_list_saver(course);
    IKT_MAY_PAUSE(ctx, &saver, &course->has_worked);
    IKT_TRY(ikt_pass_order(ctx, p->rows, course->progress.round + 1, &p->cells, &p->own));
    return ikt_pass_tiles(ctx, p->rows, &p->cells, &p->own, tiles);
}

/* COLLECTIVE. What the pass finds, by its own order. */
static ikt_status find_lists(pass *p, int64_t candidates, ikt_tiles *tiles) {
    ikt_list_course *course = p->course;
    const ikt_list_hooks hooks = {p, course->hooks ? course->hooks->where : NULL, NULL, save};
    IKT_TRY(begin(p, tiles));
    IKT_TRY(ikt_agree(p->ctx,
                      ikt_neighbours_create(p->ctx, p->rows->rows, course->lists->k, &p->found)));
    IKT_IN_STAGE(p->ctx, IKT_STAGE_NEIGHBOURS);
    ikt_list_course searching = {.hooks = course->hooks ? &hooks : NULL,
                                 .progress = {.done = course->progress.done},
                                 .lists = &p->found,
                                 .has_worked = course->has_worked};
    IKT_TRY(ikt_neighbours_search(p->ctx, &p->cells, tiles, candidates, &searching));
    course->has_worked = searching.has_worked;
    return IKT_OK;
}

/* COLLECTIVE. Rows as bytes from the slots of the pass to their own order, where the next one finds
 * them. */
static ikt_status bring_back(const pass *p) {
    const ikt_byte_rows *bytes = p->rows->bytes;
    if (!bytes) return IKT_OK;
    const int64_t row = ikt_near_bytes_words(p->cells.d) * (int64_t)sizeof *bytes->word;
    IKT_IN_STAGE(p->ctx, IKT_STAGE_ORDER);
    return ikt_order_restore(p->ctx, &p->own, bytes->word, row, bytes->word, row, row);
}

ikt_status ikt_pass_search(ikt_context *ctx, const ikt_pass_rows *rows, const ikt_order *order,
                           int64_t candidates, ikt_tiles *tiles, ikt_list_course *course) {
    pass p IKT_AT_END(pass_destroy) = {.ctx = ctx, .rows = rows, .order = order, .course = course};
    const bool is_done = ikt_list_done(course, 0, course->lists->n_local);
    if (ikt_max_one(ctx, !is_done) == 0) return IKT_OK; /* by a run that was stopped */
    IKT_TRY(find_lists(&p, candidates, tiles));
    IKT_TRY(bring_back(&p));
    ikt_cells_destroy(&p.cells);
    IKT_IN_STAGE(ctx, IKT_STAGE_NEIGHBOURS);
    IKT_TRY(join(&p));
    ikt_list_note(course, 0, course->lists->n_local);
    return IKT_OK;
}
