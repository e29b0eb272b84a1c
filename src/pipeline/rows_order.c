/* From data to positions. The cell of a row is its code in a model of one partitioning. */
#include "pipeline/rows_order.h"

#include "base/memory.h"
#include "base/timer.h"
#include "isolation/codes.h"

/* COLLECTIVE. The cell of each own row, and the model that it belongs to. */
static ikt_status find_cells(ikt_context *ctx, ikt_dataset *data, const ikt_row_map *map,
                             const ikt_model *model, uint16_t *cell) {
    ikt_codes codes = {0};
    IKT_TRY(ikt_codes_compute(ctx, data, map, model, &codes));
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < map->count; i++)
        cell[i] = (uint16_t)ikt_codes_cell(&codes, i, 0);
    ikt_codes_destroy(&codes);
    return IKT_OK;
}

/* COLLECTIVE. From cells to positions and the plan of the exchange. */
static ikt_status make_order(ikt_context *ctx, ikt_dataset *data, const ikt_row_map *map,
                             const ikt_model *model, const uint16_t *cell, ikt_cells *cells,
                             ikt_order *order) {
    uint32_t *position = NULL;
    ikt_status st =
        ikt_agree(ctx, ikt_alloc(ctx, &position, map->count, sizeof *position, "cells"));
    if (st == IKT_OK)
        st = ikt_cells_create(ctx, data, model->row, model->psi, map, cell, cells, position);
    if (st == IKT_OK) st = ikt_order_create(ctx, map, position, order);
    if (st != IKT_OK) ikt_cells_destroy(cells);
    ikt_free(&position);
    return st;
}

ikt_status ikt_rows_order(ikt_context *ctx, ikt_dataset *data, const ikt_row_map *map,
                          uint64_t seed, ikt_cells *cells, ikt_order *order) {
    ikt_model *model = NULL;
    uint16_t *cell = NULL;
    ikt_stage_begin(ctx, IKT_STAGE_CELLS);
    ikt_status st = ikt_model_create(ctx, seed, map->n, ikt_cells_choose(map->n), 1, &model);
    if (st == IKT_OK) st = ikt_alloc(ctx, &cell, map->count, sizeof *cell, "cells");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = find_cells(ctx, data, map, model, cell);
    if (st == IKT_OK) st = make_order(ctx, data, map, model, cell, cells, order);
    ikt_model_destroy(&model);
    ikt_free(&cell);
    ikt_stage_end(ctx, IKT_STAGE_CELLS);
    return st;
}
