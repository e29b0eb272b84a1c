/* Which colour each point has.
 *
 * Classes are found by a sorted list a rank, then the lists are joined; labels may be any integers.
 * Advantage over counting: no assumption on their range. Disadvantage: inserting shifts the list,
 * which is why the number of classes is limited. */
#include "plot/colouring.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/sort.h"

enum { LEVELS = 1024 }; /* colours of numbers; one more is for missing ones */

typedef struct {
    ikt_class entry[IKT_CLASSES_MAX];
    int64_t n;
} class_list;

/* Place of the label in the list, or where it would be inserted. */
static int64_t place_of(const ikt_class *entry, int64_t n, int64_t label) {
    int64_t at;
    IKT_FIND_FIRST(at, 0, n, entry[at].label >= label);
    return at;
}

static bool list_add(class_list *list, int64_t label, int64_t count) {
    int64_t at = place_of(list->entry, list->n, label);
    if (at == list->n || list->entry[at].label != label) {
        if (list->n == IKT_CLASSES_MAX) return false;
        memmove(&list->entry[at + 1], &list->entry[at],
                (size_t)(list->n - at) * sizeof *list->entry);
        list->entry[at] = (ikt_class){label, 0};
        list->n++;
    }
    list->entry[at].count += count;
    return true;
}

static ikt_status too_many(ikt_context *ctx, const ikt_plot_points *points) {
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s has more than %d different classes; colour by it as a number instead",
                    points->column ? points->column : "the column of labels", IKT_CLASSES_MAX);
}

static ikt_status list_local(ikt_context *ctx, const ikt_plot_points *points, class_list *list) {
    for (int64_t i = 0; i < points->rows->count; i++)
        if (!list_add(list, points->labels[i], 1)) return too_many(ctx, points);
    return IKT_OK;
}

/* COLLECTIVE. The union of the ranks' lists, with the counts added up, on every rank. */
static ikt_status list_join(ikt_context *ctx, const ikt_plot_points *points, class_list *list) {
    int64_t *counts = NULL, total = 0;
    ikt_class *all = NULL;
    ikt_status st = ikt_alloc(ctx, &counts, ikt_size(ctx), sizeof *counts, "picture");
    IKT_TRY_GOTO(st, done, ikt_agree(ctx, st));
    ikt_gather_counts(ctx, list->n, counts);
    for (int r = 0; r < ikt_size(ctx); r++)
        total += counts[r];
    st = ikt_alloc(ctx, &all, total, sizeof *all, "picture");
    IKT_TRY_GOTO(st, done, ikt_agree(ctx, st));
    ikt_allgather(ctx, list->entry, list->n, sizeof *all, all, counts);
    list->n = 0;
    for (int64_t i = 0; i < total && st == IKT_OK; i++) /* equal on all ranks: no agreement */
        if (!list_add(list, all[i].label, all[i].count)) st = too_many(ctx, points);
done:
    ikt_free(&all);
    ikt_free(&counts);
    return st;
}

static ikt_status allocate(ikt_context *ctx, ikt_colouring *out, int64_t n, int64_t colours,
                           int64_t classes) {
    out->n_colours = colours;
    out->n_classes = classes;
    IKT_TRY(ikt_alloc(ctx, &out->colour, colours, sizeof *out->colour, "picture"));
    IKT_TRY(ikt_alloc(ctx, &out->linear, colours, sizeof *out->linear, "picture"));
    IKT_TRY(ikt_alloc(ctx, &out->classes, classes, sizeof *out->classes, "picture"));
    if (n < 0) return IKT_OK;
    return ikt_alloc(ctx, &out->index, n, sizeof *out->index, "picture");
}

/* Colours of the (sorted) classes, and of each point. */
static void colour_classes(const ikt_plot_points *points, const class_list *list, bool black,
                           ikt_colouring *out) {
    memcpy(out->classes, list->entry, (size_t)list->n * sizeof *list->entry);
    for (int64_t c = 0; c < list->n; c++)
        out->colour[c] = ikt_palette_class(c, list->n, black);
    for (int64_t i = 0; i < points->rows->count; i++)
        out->index[i] = (uint16_t)place_of(out->classes, list->n, points->labels[i]);
}

static ikt_status by_class(ikt_context *ctx, const ikt_plot_points *points, bool black,
                           ikt_colouring *out) {
    class_list *list = NULL;
    out->kind = IKT_COLOUR_CLASSES;
    ikt_status st = ikt_alloc(ctx, &list, 1, sizeof *list, "picture");
    if (st == IKT_OK) st = list_local(ctx, points, list);
    IKT_TRY_GOTO(st, done, ikt_agree(ctx, st));
    IKT_TRY_GOTO(st, done, list_join(ctx, points, list));
    st = allocate(ctx, out, points->rows->count, list->n > 0 ? list->n : 1, list->n);
    IKT_TRY_GOTO(st, done, ikt_agree(ctx, st));
    colour_classes(points, list, black, out);
done:
    ikt_free(&list);
    return st;
}

/* COLLECTIVE. Least and largest finite value, and how many are not finite. */
static void value_range(ikt_context *ctx, const ikt_plot_points *points, ikt_colouring *out) {
    double limits[2] = {INFINITY, INFINITY};
    int64_t missing = 0;
    for (int64_t i = 0; i < points->rows->count; i++) {
        double value = points->values[i];
        missing += !isfinite(value);
        if (!isfinite(value)) continue;
        limits[0] = fmin(limits[0], value);
        limits[1] = fmin(limits[1], -value);
    }
    ikt_min_f64(ctx, limits, 2);
    out->missing = ikt_sum_one(ctx, missing);
    bool any = isfinite(limits[0]);
    /* Adding zero makes -0 a plain 0, whichever rank it came from. */
    out->least = any ? limits[0] + 0.0 : NAN;
    out->largest = any ? 0.0 - limits[1] : NAN;
}

/* Halves first: the span of two doubles may not be a double. */
static double position_of(double value, double least, double largest) {
    double span = largest / 2 - least / 2;
    return span > 0 ? (value / 2 - least / 2) / span : 0.5;
}

static ikt_status by_value(ikt_context *ctx, const ikt_plot_points *points, const ikt_theme *theme,
                           bool black, ikt_colouring *out) {
    out->kind = IKT_COLOUR_VALUES;
    IKT_TRY(ikt_agree(ctx, allocate(ctx, out, points->rows->count, LEVELS + 1, 0)));
    value_range(ctx, points, out);
    for (int level = 0; level < LEVELS; level++)
        out->colour[level] = ikt_palette_value((double)level / (LEVELS - 1), black);
    out->colour[LEVELS] = theme->missing;
    for (int64_t i = 0; i < points->rows->count; i++) {
        double value = points->values[i];
        double at = isfinite(value) ? position_of(value, out->least, out->largest) : 0;
        out->index[i] = isfinite(value) ? (uint16_t)lround(at * (LEVELS - 1)) : LEVELS;
    }
    return IKT_OK;
}

static ikt_status plain(ikt_context *ctx, const ikt_theme *theme, ikt_colouring *out) {
    out->kind = IKT_COLOUR_PLAIN;
    IKT_TRY(ikt_agree(ctx, allocate(ctx, out, -1, 1, 0)));
    out->colour[0] = theme->plain;
    return IKT_OK;
}

ikt_status ikt_colouring_create(ikt_context *ctx, const ikt_plot_points *points,
                                const ikt_theme *theme, bool black, ikt_colouring *out) {
    *out = (ikt_colouring){.kind = IKT_COLOUR_PLAIN, .black = black, .least = NAN, .largest = NAN};
    ikt_status st = points->labels   ? by_class(ctx, points, black, out)
                    : points->values ? by_value(ctx, points, theme, black, out)
                                     : plain(ctx, theme, out);
    if (st != IKT_OK) {
        ikt_colouring_destroy(out);
        return st;
    }
    for (int64_t c = 0; c < out->n_colours; c++)
        out->linear[c] = ikt_linear_of(out->colour[c]);
    return IKT_OK;
}

void ikt_colouring_destroy(ikt_colouring *colouring) {
    ikt_free(&colouring->index);
    ikt_free(&colouring->colour);
    ikt_free(&colouring->linear);
    ikt_free(&colouring->classes);
}
