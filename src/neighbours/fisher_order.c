/* An order of rows by their probabilities. See fisher_order.h. */
#include "neighbours/fisher_order.h"

#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "cells/cells.h"

static const char purpose[] = "fisher order";

/* LOCAL. Global numbers of the own rows in the new order. */
static ikt_status make_order(ikt_context *ctx, const ikt_fisher_rows *of, uint32_t *number) {
    const ikt_rows *rows = &of->rows;
    const ikt_class_lanes *shape = &of->job.shape;
    const ikt_class_support *support = of->leaves_out ? of->support : NULL;
    const int64_t count = rows->count, classes = shape->classes;
    int64_t supports = 0;
    IKT_ARRAYS(held, ctx, purpose);
    float *x = ikt_claim(&held, count * classes, sizeof *x);
    uint32_t *order = ikt_claim(&held, count, sizeof *order);
    IKT_TRY(held.status);
    for (int64_t i = 0; i < count; i++)
        memcpy(x + i * classes, of->root + i * shape->wide, (size_t)classes * sizeof *x);
    if (count > 0) IKT_TRY(ikt_locality_order(ctx, x, NULL, count, classes, order));
    for (int64_t i = 0; i < count; i++)
        supports += support && ikt_class_lane_of(support, rows->first + i) >= 0;
    for (int64_t i = 0, first = 0, next = supports; i < count; i++) {
        const int64_t row = rows->first + order[i];
        const bool is_support = support && ikt_class_lane_of(support, row) >= 0;
        number[is_support ? first++ : next++] = (uint32_t)row;
    }
    return IKT_OK;
}

/* LOCAL, in place. The row that stands in place i afterwards is the one that stands in number[i] -
 * first before; back, the other way round. Each cycle of the permutation is gone along once. */
static ikt_status permute(ikt_context *ctx, const ikt_rows *rows, const uint32_t *number, bool back,
                          int64_t floats, float *array) {
    const int64_t count = rows->count;
    const size_t bytes = (size_t)floats * sizeof *array;
    float *held = NULL, *other = NULL;
    IKT_ARRAYS(arrays, ctx, purpose);
    held = ikt_claim(&arrays, 2 * floats, sizeof *held);
    uint8_t *moved = ikt_claim(&arrays, count, sizeof *moved);
    IKT_TRY(arrays.status);
    other = held + floats;
    for (int64_t i = 0; i < count; i++) {
        if (moved[i]) continue;
        memcpy(held, array + i * floats, bytes);
        int64_t at = i;
        do {
            const int64_t from = (int64_t)number[at] - rows->first;
            moved[at] = 1;
            if (back) { /* what stands here belongs to `from` */
                memcpy(other, array + from * floats, bytes);
                memcpy(array + from * floats, held, bytes);
                memcpy(held, other, bytes);
            } else { /* the last of the cycle gets what stood in its first place */
                memcpy(array + at * floats, from == i ? held : array + from * floats, bytes);
            }
            at = from;
        } while (at != i);
    }
    return IKT_OK;
}

static ikt_status permute_all(ikt_context *ctx, const ikt_fisher_rows *rows,
                              const ikt_fisher_held *held, const uint32_t *number, bool back) {
    const ikt_class_lanes *shape = &rows->job.shape;
    IKT_TRY(permute(ctx, &rows->rows, number, back, shape->lanes, held->weight));
    IKT_TRY(permute(ctx, &rows->rows, number, back, shape->wide, held->root));
    return rows->d > 0 ? permute(ctx, &rows->rows, number, back, rows->d, held->x) : IKT_OK;
}

ikt_status ikt_fisher_search_ordered(ikt_context *ctx, const ikt_fisher_rows *rows,
                                     const ikt_fisher_held *held, ikt_list_course *course,
                                     ikt_fisher_proof *proof) {
    ikt_fisher_rows ordered = *rows;
    uint32_t *number IKT_AT_END(ikt_free) = NULL;
    ikt_status st = ikt_alloc(ctx, &number, rows->rows.count, sizeof *number, purpose);
    if (st == IKT_OK) st = make_order(ctx, rows, number);
    if (st == IKT_OK) st = permute_all(ctx, rows, held, number, false);
    st = ikt_agree(ctx, st);
    ordered.is_ordered = true;
    ordered.number = number;
    IKT_TRY(st);
    IKT_TRY(ikt_fisher_search(ctx, &ordered, NULL, NULL, course, proof));
    return ikt_agree(ctx, permute_all(ctx, rows, held, number, true));
}
