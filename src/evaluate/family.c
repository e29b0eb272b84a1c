/* What families share: positions and classes of all rows on every rank, the list of results, the
 * unit box, medians. See family.h. */
#include "evaluate/family.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/sort.h"
#include "dist/shuffle.h"
#include "evaluate/measure.h"

/* COLLECTIVE. Classes of all rows, and how many rows each has. */
static ikt_status find_classes(ikt_context *ctx, ikt_measure_view *view) {
    const ikt_measured *what = view->what;
    IKT_TRY(ikt_classes_find(ctx, what->labels, what->rows.count, &view->classes));
    int64_t none = 0; /* labels that stand for none, which come first */
    while (none < view->classes.count && view->classes.label[none] < what->least)
        none++;
    view->classes.count -= none;
    memmove(view->classes.label, view->classes.label + none,
            (size_t)view->classes.count * sizeof *view->classes.label);
    IKT_ARRAYS(held, ctx, "measures");
    int32_t *own = ikt_claim(&held, what->rows.count, sizeof *own);
    view->size = ikt_claim_kept(&held, view->classes.count, sizeof *view->size);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t i = 0; i < what->rows.count; i++)
        own[i] = (int32_t)ikt_classes_number(&view->classes, what->labels[i]);
    IKT_TRY(ikt_share_rows(ctx, &what->rows, own, sizeof *own, "measures", &view->class_of));
    for (int64_t i = 0; i < view->n; i++) {
        if (view->class_of[i] < 0) continue;
        view->size[view->class_of[i]]++;
        view->labelled++;
    }
    return IKT_OK;
}

static ikt_status make_view(ikt_context *ctx, const ikt_measured *what, ikt_measure_view *view) {
    if (view->n > INT32_MAX)
        return ikt_fail(
            ctx, IKT_ERR_RESOURCE,
            "measures number rows by 31 bits, which is too few for %lld rows; evaluate fewer rows",
            (long long)view->n);
    IKT_TRY(ikt_share_rows(ctx, &what->rows, what->y, (size_t)what->q * sizeof *view->y, "measures",
                           &view->y));
    return what->has_labels ? find_classes(ctx, view) : IKT_OK;
}

ikt_status ikt_measure_view_make(ikt_context *ctx, const ikt_measure_settings *settings,
                                 const ikt_measured *what, ikt_measure_view *view) {
    *view = (ikt_measure_view){.settings = settings, .what = what, .n = what->rows.n, .q = what->q};
    const ikt_status st = make_view(ctx, what, view);
    if (st != IKT_OK) ikt_measure_view_free(view);
    return st;
}

void ikt_measure_view_free(ikt_measure_view *view) {
    ikt_free_all(&view->y, &view->class_of, &view->size);
    ikt_classes_destroy(&view->classes);
}

int64_t ikt_measure_view_memory(const ikt_measure_extent *extent) {
    int64_t bytes = extent->n * extent->q * (int64_t)sizeof(float);
    if (extent->classes > 0)
        bytes +=
            extent->n * (int64_t)sizeof(int32_t) + extent->classes * (int64_t)(2 * sizeof(int64_t));
    return bytes;
}

void ikt_measure_by_class(ikt_arrays *held, const ikt_measure_view *view, int64_t **begin,
                          int32_t **order) {
    const int64_t classes = view->classes.count;
    int64_t *first = *begin = ikt_claim(held, classes + 1, sizeof *first);
    int32_t *row = *order = ikt_claim(held, view->n, sizeof *row);
    if (held->status != IKT_OK) return;
    for (int64_t c = 1; c < classes; c++)
        first[c] = first[c - 1] + view->size[c - 1];
    for (int64_t i = 0; i < view->n; i++)
        row[first[view->class_of[i]]++] = (int32_t)i;
    /* Now `first` of a class is that of the class after it. */
    memmove(first + 1, first, (size_t)classes * sizeof *first);
    first[0] = 0;
}

ikt_status ikt_measure_refuse(ikt_context *ctx, const ikt_measure_settings *settings,
                              const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (settings->only && !settings->leaves_out) return ikt_fail(ctx, IKT_ERR_DATA, "%s", text);
    ikt_log(ctx, IKT_LOG_WARN, "%s", text);
    return IKT_OK;
}

/* --- the list of results ---------------------------------------------------------------------- */

ikt_status ikt_measures_add(ikt_context *ctx, ikt_measures *measures, const char *name,
                            double value, int64_t sample, const char *note) {
    if (measures->count == measures->capacity) {
        int64_t capacity = measures->capacity + 16;
        IKT_TRY(ikt_resize(ctx, &measures->list, capacity, sizeof *measures->list, "measures"));
        measures->capacity = capacity;
    }
    ikt_measure *m = &measures->list[measures->count++];
    *m = (ikt_measure){.value = value, .sample = sample};
    snprintf(m->name, sizeof m->name, "%s", name);
    snprintf(m->note, sizeof m->note, "%s", note);
    return IKT_OK;
}

void ikt_measures_destroy(ikt_measures *measures) {
    ikt_free(&measures->list);
    ikt_rank_curve_destroy(&measures->curve);
    measures->count = measures->capacity = 0;
}

void ikt_rank_curve_destroy(ikt_rank_curve *curve) {
    ikt_free_all(&curve->overlap, &curve->rescaled);
    curve->count = 0;
}

/* --- the unit box, and order statistics ------------------------------------------------------- */

ikt_unit_box ikt_unit_box_of(const float *y, int64_t n, int64_t q) {
    ikt_unit_box box = {.q = q};
    for (int64_t c = 0; c < q; c++) {
        float low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < n; i++) {
            float value = y[q * i + c];
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        double width = (double)high - (double)low;
        box.low[c] = (double)low;
        box.scale[c] = width > 0 ? 1 / width : 0;
    }
    return box;
}

float ikt_order_statistic(float *values, int64_t count, int64_t place) {
    int64_t low = 0, high = count - 1;
    while (low < high) {
        const float pivot = values[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (pivot < values[j])
                j--;
            if (i > j) break;
            const float old = values[i];
            values[i++] = values[j];
            values[j--] = old;
        }
        if (place > j && place < i) break;
        if (place <= j)
            high = j;
        else
            low = i;
    }
    return values[place];
}

double ikt_median(float *values, int64_t count) {
    double upper = (double)ikt_order_statistic(values, count, count / 2);
    if (count % 2 == 1) return upper;
    return (upper + (double)ikt_order_statistic(values, count, count / 2 - 1)) / 2;
}

/* --- classes ---------------------------------------------------------------------------------- */

/* Method: each rank sorts its own labels and drops repetitions; the short lists are joined on every
 * rank and sorted again. Labels are any 64-bit integers, also negative ones.
 * Disadvantage: as many labels as rows put all of them on every rank. */

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
    IKT_TRY(ikt_alloc_all(ctx, &made.label, total, sizeof *made.label, "labels"));
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
