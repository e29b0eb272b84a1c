/* Distinct labels: each rank sorts its own, the short lists are joined and sorted again. */
#include "evaluate/classes.h"

#include "base/arrays.h"
#include "base/comm.h"
#include "base/sort.h"

ikt_status ikt_classes_find(ikt_context *ctx, const int64_t *labels, int64_t n_local,
                            ikt_classes *out) {
    int64_t mine = 0, total = 0;
    ikt_classes made IKT_AT_END(ikt_classes_destroy) = {0, NULL};
    *out = (ikt_classes){0};
    IKT_ARRAYS(held, ctx, "labels");
    int64_t *own = ikt_claim(&held, n_local, sizeof *own);
    int64_t *counts = ikt_claim(&held, ikt_size(ctx), sizeof *counts);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t i = 0; i < n_local; i++)
        own[i] = labels[i];
    mine = ikt_sort_distinct_i64(own, n_local);
    ikt_gather_counts(ctx, mine, counts);
    for (int r = 0; r < ikt_size(ctx); r++)
        total += counts[r];
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &made.label, total, sizeof *made.label, "labels")));
    ikt_allgather(ctx, own, mine, sizeof *own, made.label, counts);
    made.count = ikt_sort_distinct_i64(made.label, total);
    return ikt_give(out, made);
}

void ikt_classes_destroy(ikt_classes *classes) {
    ikt_free(&classes->label);
    classes->count = 0;
}

int64_t ikt_classes_number(const ikt_classes *classes, int64_t label) {
    return ikt_find_i64(classes->label, classes->count, label);
}
