/* Scales of distances. See scales.h. */
#include "sampled/scales.h"

#include <math.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "dist/shuffle.h"

static const char purpose[] = "triplets";

double ikt_scale_of(const float *square, int64_t k, int64_t from, int64_t to) {
    double sum = 0, last = 0;
    int64_t rank = 0, taken = 0;
    for (int64_t e = 0; e < k && rank < to; e++) {
        if (!(square[e] > 0)) continue;
        last = sqrt((double)square[e]);
        if (++rank < from) continue;
        sum += last;
        taken++;
    }
    return taken > 0 ? sum / (double)taken : last;
}

ikt_status ikt_scales_settle(ikt_context *ctx, const ikt_rows *rows, ikt_exact_sum *sum,
                             const char *whom, float *scale) {
    ikt_exact_sum_reduce(ctx, sum, 1);
    const double mean = ikt_exact_sum_value(sum) / (double)rows->n;
    if (!(mean > 0))
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "every row is equal to %s: there are no triplets of rows to lay out; "
                        "remove copies, or take fewer of them",
                        whom);
    const float least = (float)(IKT_SCALE_LEAST * mean);
    for (int64_t i = 0; i < rows->count; i++)
        scale[i] = fmaxf(scale[i], least);
    return IKT_OK;
}

ikt_status ikt_scales_fetch(ikt_context *ctx, const ikt_rows *rows, const uint32_t *row,
                            int64_t count, const float *scale, ikt_row_set *set, float **others) {
    const int64_t first = rows->first, end = first + rows->count;
    IKT_TRY(ikt_agree(ctx, ikt_row_set_create(ctx, rows->n, set)));
    for (int64_t e = 0; e < count; e++)
        if (row[e] < first || row[e] >= end) ikt_row_set_add(set, row[e]);
    ikt_row_set_number(set);
    IKT_ARRAYS(held, ctx, purpose);
    *others = ikt_claim_kept(&held, set->count, sizeof **others);
    uint32_t *ghost = ikt_claim(&held, set->count, sizeof *ghost);
    IKT_TRY(ikt_arrays_agree(&held));
    ikt_row_set_list(set, ghost);
    return ikt_gather_rows(ctx, rows, ghost, set->count, scale, sizeof *scale, *others);
}
