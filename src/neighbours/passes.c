/* Searches with cells of their own. See passes.h. */
#include "neighbours/passes.h"

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

/* COLLECTIVE. Lists by the slots of one order, of slots there, become those of another. */
static ikt_status bring_lists(ikt_context *ctx, const ikt_order *from, const ikt_order *to,
                              ikt_neighbours *lists) {
    const int64_t entries = lists->n_local * lists->k, number = sizeof *lists->row;
    const int64_t bytes = lists->k * number;
    void *part[] = {lists->row, lists->score};
    uint32_t *slot IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &slot, lists->n_local, sizeof *slot, "neighbours"));
    IKT_TRY(ikt_order_slots(ctx, to, slot));
    IKT_TRY(ikt_translate_indices(ctx, &from->rows, from->row, lists->row, entries));
    IKT_TRY(ikt_translate_indices(ctx, &to->rows, slot, lists->row, entries));
    for (int p = 0; p < 2; p++) {
        IKT_TRY(ikt_order_restore(ctx, from, part[p], bytes, part[p], bytes, bytes));
        IKT_TRY(ikt_order_apply(ctx, to, part[p], bytes, part[p], bytes, bytes));
    }
    return IKT_OK;
}

ikt_status ikt_pass_tiles(ikt_context *ctx, const ikt_pass_rows *rows, const ikt_cells *cells,
                          const ikt_order *order, ikt_tiles *out) {
    return rows->bytes ? ikt_tiles_bytes(ctx, cells, order, rows->bytes, cells->d, out)
                       : ikt_tiles_data(ctx, cells, order, rows->data, out);
}

/* COLLECTIVE. What a pass finds, by its own order. */
static ikt_status find_lists(ikt_context *ctx, const ikt_pass_rows *rows, const ikt_cells *cells,
                             const ikt_order *order, int64_t candidates, ikt_list_course *course) {
    ikt_tiles tiles IKT_AT_END(ikt_tiles_destroy) = {0};
    IKT_TRY(ikt_pass_tiles(ctx, rows, cells, order, &tiles));
    IKT_IN_STAGE(ctx, IKT_STAGE_NEIGHBOURS);
    return ikt_neighbours_search(ctx, cells, &tiles, candidates, course);
}

ikt_status ikt_pass_search(ikt_context *ctx, const ikt_pass_rows *rows, const ikt_order *order,
                           int64_t candidates, ikt_list_course *course) {
    ikt_cells cells IKT_AT_END(ikt_cells_destroy) = {0};
    ikt_order own IKT_AT_END(ikt_order_destroy) = {0};
    ikt_neighbours found IKT_AT_END(ikt_neighbours_destroy) = {0};
    ikt_list_course pass = {.lists = &found, .whole = course};
    IKT_TRY(ikt_pass_order(ctx, rows, course->progress.round + 1, &cells, &own));
    IKT_TRY(ikt_agree(ctx, ikt_neighbours_create(ctx, rows->rows, course->lists->k, &found)));
    IKT_TRY(find_lists(ctx, rows, &cells, &own, candidates, &pass));
    ikt_cells_destroy(&cells);
    IKT_IN_STAGE(ctx, IKT_STAGE_NEIGHBOURS);
    IKT_TRY(bring_lists(ctx, &own, order, &found));
    IKT_TRY(ikt_neighbours_join(ctx, course->lists, &found));
    ikt_list_note(course, 0, found.n_local);
    return IKT_OK;
}
