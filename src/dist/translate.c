/* New names for numbers: those of other ranks are asked for once each. See translate.h. */
#include "dist/translate.h"

#include <stdbool.h>

#include "base/memory.h"
#include "dist/gather_rows.h"
#include "dist/row_set.h"

static const char purpose[] = "order";

static bool is_own(const ikt_rows *rows, uint32_t row) {
    return row >= rows->first && row < rows->first + rows->count;
}

static void collect(ikt_context *ctx, const ikt_rows *rows, const uint32_t *number, int64_t count,
                    ikt_row_set *others) {
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < count; e++)
        if (!is_own(rows, number[e])) ikt_row_set_add(others, number[e]);
    ikt_row_set_number(others);
}

ikt_status ikt_translate_indices(ikt_context *ctx, const ikt_rows *rows, const uint32_t *name,
                                 uint32_t *number, int64_t count) {
    uint32_t *row = NULL, *pulled = NULL;
    ikt_row_set others;
    ikt_status st = ikt_row_set_create(ctx, rows->n, &others);
    if (st == IKT_OK) collect(ctx, rows, number, count, &others);
    if (st == IKT_OK) st = ikt_alloc(ctx, &row, others.count, sizeof *row, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &pulled, others.count, sizeof *pulled, purpose);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        ikt_row_set_list(&others, row);
        st = ikt_gather_rows(ctx, rows, row, others.count, name, sizeof *name, pulled);
    }
    if (st == IKT_OK) {
#pragma omp parallel for num_threads(ikt_threads(ctx))
        for (int64_t e = 0; e < count; e++)
            number[e] = is_own(rows, number[e]) ? name[number[e] - rows->first]
                                                : pulled[ikt_row_set_place(&others, number[e])];
    }
    ikt_free(&row);
    ikt_free(&pulled);
    ikt_row_set_destroy(&others);
    return st;
}
