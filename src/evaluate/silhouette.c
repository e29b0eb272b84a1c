/* Silhouette of the labels in the map (Rousseeuw 1987), as scikit-learn defines it, on positions
 * scaled to [0, 1] along each axis like the other measures of clusters.
 *
 * a = mean distance of a row to the others of its class, b = the least mean distance to another
 * class; the mean over rows of (b - a) / max(a, b), 0 for a class of one row and for 0 / 0.
 * Method: the rows are laid out by class, so that a query adds up distances over consecutive rows,
 * in eight fixed lanes: the sums of a query do not depend on who computes them, and the mean over
 * queries is exact. Beyond settings->exact_limit rows a sample is looked from, at ALL rows.
 * Disadvantage: n distances a query; the sample's standard error is below 1 / sqrt(sample). */
#include <math.h>
#include <omp.h>

#include "base/exact_sum.h"
#include "base/memory.h"
#include "evaluate/family.h"

enum { LANES = 8, CLASSES_MOST = 10000 };

typedef struct {
    const ikt_measure_view *view;
    ikt_unit_box box;
    int64_t count, *query; /* of this rank */
    int64_t *begin;        /* [classes + 1] first row of each class in the layout */
    float *at;             /* [q * n] coordinates of the rows by class, axis after axis */
    double *mean;          /* [threads * classes] scratch: mean distances of a query */
    ikt_exact_sum *sum;    /* [threads] of silhouettes */
} work;

/* Rows by class, in each in their own order. `begin` is where the next row of a class goes, and in
 * the end where the class after it begins: moved up by one place. */
static void lay_out(work *w) {
    const ikt_measure_view *view = w->view;
    int64_t classes = view->classes.count;
    for (int64_t c = 1; c < classes; c++)
        w->begin[c] = w->begin[c - 1] + view->size[c - 1];
    for (int64_t i = 0; i < view->n; i++) {
        int64_t to = w->begin[view->class_of[i]]++;
        for (int64_t axis = 0; axis < view->q; axis++)
            w->at[axis * view->n + to] = view->y[view->q * i + axis];
    }
    for (int64_t c = classes; c > 0; c--)
        w->begin[c] = w->begin[c - 1];
    w->begin[0] = 0;
}

/* Distances from one place to the rows from `first` on, at most LANES. */
static inline void distances(const work *w, const float *from, int64_t first, int64_t count,
                             double *out) {
    double square[LANES] = {0};
    for (int64_t axis = 0; axis < w->view->q; axis++) {
        const float *at = w->at + axis * w->view->n + first;
        for (int64_t e = 0; e < count; e++) {
            double apart = ((double)at[e] - (double)from[axis]) * w->box.scale[axis];
            square[e] += apart * apart;
        }
    }
    for (int64_t e = 0; e < count; e++)
        out[e] = sqrt(square[e]);
}

static double sum_distances(const work *w, const float *from, int64_t first, int64_t end) {
    double lane[LANES] = {0}, away[LANES];
    for (; first + LANES <= end; first += LANES) {
        distances(w, from, first, LANES, away);
        for (int e = 0; e < LANES; e++)
            lane[e] += away[e];
    }
    distances(w, from, first, end - first, away);
    for (int64_t e = 0; e < end - first; e++)
        lane[e] += away[e];
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
           ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

static double silhouette(const work *w, int64_t row) {
    const ikt_measure_view *view = w->view;
    const int64_t own = view->class_of[row], classes = view->classes.count;
    double *mean = w->mean + omp_get_thread_num() * classes, near = INFINITY;
    if (view->size[own] == 1) return 0;
    for (int64_t c = 0; c < classes; c++) {
        double sum = sum_distances(w, view->y + view->q * row, w->begin[c], w->begin[c + 1]);
        mean[c] = sum / (double)(view->size[c] - (c == own)); /* 0 to itself */
        if (c != own && mean[c] < near) near = mean[c];
    }
    double larger = mean[own] > near ? mean[own] : near;
    return larger > 0 ? (near - mean[own]) / larger : 0;
}

static ikt_status compute(ikt_context *ctx, const ikt_measure_view *view, ikt_measures *out) {
    const int64_t queries = ikt_queries_count(view->settings, view->n);
    const int64_t classes = view->classes.count, threads = ikt_threads(ctx);
    const ikt_rows share = ikt_rows_make(queries, ikt_size(ctx), ikt_rank(ctx));
    work w = {.view = view, .count = share.count};
    ikt_status st;
    if (!ikt_measure_has_classes(ctx, view, CLASSES_MOST, "silhouettes", &st)) return st;
    st = ikt_alloc(ctx, &w.query, w.count, sizeof *w.query, "measures");
    if (st == IKT_OK) st = ikt_alloc(ctx, &w.begin, classes + 1, sizeof *w.begin, "measures");
    if (st == IKT_OK) st = ikt_alloc(ctx, &w.at, view->q * view->n, sizeof *w.at, "measures");
    if (st == IKT_OK) st = ikt_alloc(ctx, &w.mean, threads * classes, sizeof *w.mean, "measures");
    if (st == IKT_OK) st = ikt_alloc(ctx, &w.sum, threads, sizeof *w.sum, "measures");
    IKT_TRY_GOTO(st, done, ikt_agree(ctx, st));
    w.box = ikt_unit_box_of(view->y, view->n, view->q);
    lay_out(&w);
    ikt_queries_draw(view->settings, view->n, &share, w.query);
#pragma omp parallel for schedule(dynamic, 16) num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < w.count; e++)
        ikt_exact_sum_add(&w.sum[omp_get_thread_num()], silhouette(&w, w.query[e]));
    for (int64_t t = 1; t < threads; t++)
        ikt_exact_sum_merge(&w.sum[0], &w.sum[t]);
    ikt_exact_sum_reduce(ctx, w.sum, 1);
    const double value = ikt_exact_sum_value(w.sum) / (double)queries;
    st = ikt_agree(ctx,
                   ikt_measures_add(ctx, out, "silhouette", value, queries < view->n ? queries : 0,
                                    "of the labels, -1 to 1, higher is better; map scaled "
                                    "to [0, 1] along each axis"));
done:
    ikt_free(&w.query);
    ikt_free(&w.begin);
    ikt_free(&w.at);
    ikt_free(&w.mean);
    ikt_free(&w.sum);
    return st;
}

static int64_t memory(const ikt_measure_settings *settings, const ikt_measure_extent *extent) {
    int64_t queries = ikt_queries_count(settings, extent->n) / extent->ranks + 1;
    return queries * (int64_t)sizeof(int64_t) + extent->n * extent->q * (int64_t)sizeof(float) +
           extent->classes * (int64_t)sizeof(int64_t) +
           extent->threads *
               (extent->classes * (int64_t)sizeof(double) + (int64_t)sizeof(ikt_exact_sum));
}

const ikt_measure_family ikt_family_silhouette = {.name = "silhouette",
                                                  .help = "silhouette of the labels",
                                                  .needs = IKT_MEASURE_NEEDS_LABELS,
                                                  .compute = compute,
                                                  .memory = memory};
