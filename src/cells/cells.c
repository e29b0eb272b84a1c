/* The coarse cells of a data set. See cells.h. */
#include "cells/cells.h"

#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/sort.h"
#include "base/timer.h"
#include "base/watch.h"
#include "linalg/blocks.h"
#include "metric/near_bytes.h"

enum { CELLS_LEAST = 16, CELLS_MOST = 65536, CHUNK = 8192, BYTE_CHUNK = 65536 };

int64_t ikt_cells_choose(int64_t n, int64_t pool) {
    int64_t wanted = (int64_t)(16 * sqrt((double)n)), count = CELLS_LEAST;
    while (2 * count <= wanted && 2 * count <= CELLS_MOST)
        count *= 2;
    for (int halved = 0; pool > 0 && count > pool && count > CELLS_LEAST && halved < 2; halved++)
        count /= 2;
    return ikt_smaller(count, n);
}

int64_t ikt_cells_pool(int64_t n, int64_t pool) {
    int64_t cells = ikt_cells_choose(n, pool);
    return pool > 0 && pool < cells ? cells : pool;
}

/* COLLECTIVE. Fetches the centres and puts them in the order of locality: centre and packed of the
 * cells, or rows and sparse_pack; and the new number of each cell in `number`. */
static ikt_status load_centres(ikt_context *ctx, ikt_dataset *data, const int64_t *centre_row,
                               ikt_cells *cells, uint32_t *number) {
    const int64_t count = cells->count, d = cells->d;
    const int64_t dense = cells->is_sparse ? 0 : count * d;
    const int64_t packed = cells->is_sparse ? 0 : ikt_packed_floats(count, d);
    ikt_dataset *from = ikt_dataset_model(data);
    ikt_sparse sparse IKT_AT_END(ikt_sparse_destroy) = {0};
    IKT_ARRAYS(held, ctx, "cells");
    uint32_t *order = ikt_claim(&held, count, sizeof *order);
    int64_t *row = ikt_claim(&held, count, sizeof *row);
    float *x = ikt_claim(&held, dense, sizeof *x);
    cells->centre = ikt_claim_kept(&held, dense, sizeof *x);
    cells->packed = ikt_claim_kept(&held, packed, sizeof *x);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(cells->is_sparse ? ikt_dataset_gather_sparse(from, centre_row, count, &sparse)
                             : ikt_dataset_gather_floats(from, centre_row, count, x));
    IKT_TRY(ikt_agree(
        ctx, ikt_locality_order(ctx, x, cells->is_sparse ? &sparse : NULL, count, d, order)));
    for (int64_t c = 0; c < count; c++) {
        number[order[c]] = (uint32_t)c;
        row[c] = order[c];
        if (!cells->is_sparse)
            memcpy(cells->centre + c * d, x + order[c] * d, (size_t)d * sizeof *x);
    }
    if (!cells->is_sparse) {
        ikt_pack_rows(cells->centre, count, d, cells->packed);
        return IKT_OK;
    }
    ikt_status st = ikt_sparse_choose(ctx, &sparse, row, count, &cells->rows);
    if (st == IKT_OK) st = ikt_sparse_pack_create(ctx, &cells->rows, &cells->sparse_pack);
    return ikt_agree(ctx, st);
}

/* COLLECTIVE. Gives each own row a near cell. */
static ikt_status find_cells(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows,
                             const ikt_byte_rows *bytes, const ikt_cells *cells, uint32_t *cell) {
    const int64_t d = cells->d, words = ikt_near_bytes_words(d), chunk = bytes ? BYTE_CHUNK : CHUNK;
    const ikt_row_range own = {rows->first, rows->count};
    const int64_t steps = ikt_stream_steps(ctx, own.count, chunk);
    ikt_pyramid *pyramid IKT_AT_END(ikt_pyramid_destroy) = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_pyramid_create(ctx, cells, bytes ? bytes->mean : NULL, &pyramid)));
    IKT_ARRAYS(held, ctx, "cells");
    float *x = bytes ? NULL : ikt_claim(&held, chunk * d, sizeof *x);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t step = 0; step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, chunk, step);
        const int64_t i = at.first - own.first;
        if (x) IKT_TRY(ikt_dataset_read(data, at.first, at.count, x));
        ikt_pyramid_find(pyramid, x, bytes ? bytes->word + i * words : NULL, at.count, cell + i);
        IKT_TRY(ikt_watch_pause(ctx));
    }
    return IKT_OK;
}

ikt_status ikt_cells_number(ikt_context *ctx, const ikt_rows *rows, const uint32_t *cell,
                            int64_t stride, int64_t count, int64_t *first, uint32_t *slot) {
    int64_t *next IKT_AT_END(ikt_free) = NULL; /* slot of the next own row of each cell */
    IKT_TRY(ikt_alloc_all(ctx, &next, count, sizeof *next, "cells"));
    for (int64_t i = 0; i < rows->count; i++)
        next[cell[i * stride]]++;
    /* Sizes of the cells over all ranks give their first slots; the rows of the ranks before come
     * first in each. */
    first[0] = 0;
    memcpy(first + 1, next, (size_t)count * sizeof *next);
    ikt_sum_i64(ctx, first + 1, count);
    ikt_sums_before(ctx, next, count);
    for (int64_t c = 0; c < count; c++) {
        next[c] += first[c];
        first[c + 1] += first[c];
    }
    for (int64_t i = 0; i < rows->count; i++)
        slot[i] = (uint32_t)next[cell[i * stride]]++;
    return IKT_OK;
}

ikt_status ikt_cells_create(ikt_context *ctx, ikt_dataset *data, const int64_t *centre_row,
                            int64_t count, const ikt_rows *rows, const uint16_t *cell,
                            const ikt_byte_rows *bytes, ikt_cells *out, uint32_t *slot) {
    ikt_cells made IKT_AT_END(ikt_cells_destroy) = {
        .metric = ikt_metric_of(data), .count = count, .d = ikt_dataset_columns(data)};
    made.is_sparse = cell && ikt_dataset_is_sparse(data);
    *out = (ikt_cells){0};
    IKT_ARRAYS(held, ctx, "cells");
    uint32_t *number = ikt_claim(&held, count, sizeof *number);
    uint32_t *own = ikt_claim(&held, rows->count, sizeof *own);
    made.first = ikt_claim_kept(&held, count + 1, sizeof *made.first);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(load_centres(ctx, data, centre_row, &made, number));
    if (!cell) IKT_TRY(find_cells(ctx, data, rows, bytes, &made, own));
    for (int64_t i = 0; cell && i < rows->count; i++)
        own[i] = number[cell[i]];
    IKT_TRY(ikt_cells_number(ctx, rows, own, 1, count, made.first, slot));
    return ikt_give(out, made);
}

void ikt_cells_destroy(ikt_cells *cells) {
    ikt_free_all(&cells->first, &cells->centre, &cells->packed);
    ikt_sparse_destroy(&cells->rows);
    ikt_sparse_pack_destroy(&cells->sparse_pack);
    cells->count = 0;
}

ikt_status ikt_rows_order(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows,
                          const int64_t *centre_row, int64_t count, const uint16_t *cell,
                          const ikt_byte_rows *bytes, ikt_cells *cells, ikt_order *order) {
    ikt_cells made IKT_AT_END(ikt_cells_destroy) = {0};
    *cells = made;
    IKT_IN_STAGE(ctx, IKT_STAGE_CELLS);
    IKT_ARRAYS(held, ctx, "cells");
    uint32_t *slot = ikt_claim(&held, rows->count, sizeof *slot);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_cells_create(ctx, data, centre_row, count, rows, cell, bytes, &made, slot));
    IKT_TRY(ikt_order_create(ctx, rows, slot, order));
    return ikt_give(cells, made);
}
