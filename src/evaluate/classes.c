/* Distinct labels: each rank sorts its own, the short lists are joined and sorted again. */
#include "evaluate/classes.h"

#include "base/comm.h"
#include "base/memory.h"
#include "base/sort.h"

ikt_status ikt_classes_find(ikt_context *ctx, const int64_t *labels, int64_t n_local,
                            ikt_classes *out) {
    int64_t *own = NULL, *counts = NULL, mine = 0, total = 0;
    *out = (ikt_classes){0, NULL};
    ikt_status st = ikt_alloc(ctx, &own, n_local, sizeof *own, "labels");
    if (st == IKT_OK) st = ikt_alloc(ctx, &counts, ikt_size(ctx), sizeof *counts, "labels");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        for (int64_t i = 0; i < n_local; i++)
            own[i] = labels[i];
        mine = ikt_sort_distinct_i64(own, n_local);
        ikt_gather_counts(ctx, mine, counts);
        for (int r = 0; r < ikt_size(ctx); r++)
            total += counts[r];
        st = ikt_agree(ctx, ikt_alloc(ctx, &out->label, total, sizeof *out->label, "labels"));
    }
    if (st == IKT_OK) {
        ikt_allgather(ctx, own, mine, sizeof *own, out->label, counts);
        out->count = ikt_sort_distinct_i64(out->label, total);
    }
    ikt_free(&own);
    ikt_free(&counts);
    if (st != IKT_OK) ikt_classes_destroy(out);
    return st;
}

void ikt_classes_destroy(ikt_classes *classes) {
    ikt_free(&classes->label);
    classes->count = 0;
}

int64_t ikt_classes_number(const ikt_classes *classes, int64_t label) {
    return ikt_find_i64(classes->label, classes->count, label);
}
