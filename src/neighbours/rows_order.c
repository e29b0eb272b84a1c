/* From data to positions. */
#include "neighbours/rows_order.h"

#include "base/memory.h"
#include "base/timer.h"

ikt_status ikt_rows_order(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows,
                          const ikt_model *model, const uint16_t *cell, ikt_cells *cells,
                          ikt_order *order) {
    uint32_t *position = NULL;
    ikt_stage_begin(ctx, IKT_STAGE_CELLS);
    ikt_status st =
        ikt_agree(ctx, ikt_alloc(ctx, &position, rows->count, sizeof *position, "cells"));
    if (st == IKT_OK)
        st = ikt_cells_create(ctx, data, model->coarse_row, model->spec.coarse, rows, cell, cells,
                              position);
    if (st == IKT_OK) st = ikt_order_create(ctx, rows, position, order);
    if (st != IKT_OK) ikt_cells_destroy(cells);
    ikt_free(&position);
    ikt_stage_end(ctx, IKT_STAGE_CELLS);
    return st;
}
