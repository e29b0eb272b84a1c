/* Normalised mutual information of k-means clusters of the map and the labels, as LaptSNE reports
 * it (section 4.1): k is the number of classes, positions are taken as they are.
 *
 * NMI = 2 I(U; V) / (H(U) + H(V)): the arithmetic mean of both entropies, scikit-learn's default.
 * All of it follows from one table of counts. Advantage: integers until the last formula.
 * Disadvantage: k-means wants round clusters of one size, and t-SNE's are often not: a low value
 * says that k-means does not find the classes, not that they are mixed. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/comm.h"
#include "base/memory.h"
#include "evaluate/family.h"
#include "evaluate/kmeans.h"

enum { CLASSES_MOST = 1000 };

/* - sum p log p of counts at a stride, which add up to n. */
static double entropy(const int64_t *count, int64_t length, double n) {
    double sum = 0;
    for (int64_t e = 0; e < length; e++)
        if (count[e] > 0) sum -= (double)count[e] / n * log((double)count[e] / n);
    return sum;
}

/* table[k * k]: rows of class a in cluster b; size[k] rows of the classes, cluster[k] of clusters.
 */
static double normalised(const int64_t *table, const int64_t *size, const int64_t *cluster,
                         int64_t k, double n) {
    double shared = 0;
    for (int64_t a = 0; a < k; a++)
        for (int64_t b = 0; b < k; b++) {
            double count = (double)table[a * k + b];
            if (count > 0)
                shared += count / n * (log(count * n) - log((double)size[a] * (double)cluster[b]));
        }
    double mean = (entropy(size, k, n) + entropy(cluster, k, n)) / 2;
    if (shared <= DBL_EPSILON) return 0;
    return shared / mean < 1 ? shared / mean : 1;
}

typedef struct {
    int32_t *cluster; /* [rows.count] */
    int64_t *table;   /* [classes * classes], then [classes] rows of each cluster */
} work;

static double compare(ikt_context *ctx, const ikt_measure_view *view, const work *w) {
    const int64_t k = view->classes.count;
    const ikt_rows *rows = &view->what->rows;
    int64_t *size = w->table + k * k;
    for (int64_t i = 0; i < rows->count; i++) {
        w->table[view->class_of[rows->first + i] * k + w->cluster[i]]++;
        size[w->cluster[i]]++;
    }
    ikt_sum_i64(ctx, w->table, k * k + k);
    return normalised(w->table, view->size, size, k, (double)view->n);
}

static ikt_status report(ikt_context *ctx, const ikt_measure_view *view, double value,
                         ikt_measures *out) {
    char note[160];
    snprintf(note, sizeof note,
             "of %lld k-means clusters and the labels, arithmetic normalisation; best of %lld "
             "restarts",
             (long long)view->classes.count, (long long)view->settings->restarts);
    return ikt_agree(ctx, ikt_measures_add(ctx, out, "NMI of k-means", value, 0, note));
}

static ikt_status compute(ikt_context *ctx, const ikt_measure_view *view, ikt_measures *out) {
    const int64_t k = view->classes.count;
    const ikt_measured *what = view->what;
    work w = {NULL, NULL};
    double inertia;
    ikt_status st;
    if (!ikt_measure_has_classes(ctx, view, CLASSES_MOST, "k-means clusters of the map", &st))
        return st;
    const ikt_kmeans_settings settings = {k, view->settings->restarts, view->settings->seed};
    st = ikt_alloc(ctx, &w.cluster, what->rows.count, sizeof *w.cluster, "measures");
    if (st == IKT_OK) st = ikt_alloc(ctx, &w.table, k * k + k, sizeof *w.table, "measures");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK)
        st = ikt_kmeans(ctx, &settings, &what->rows, what->y, what->q, w.cluster, &inertia);
    if (st == IKT_OK) st = report(ctx, view, compare(ctx, view, &w), out);
    ikt_free(&w.cluster);
    ikt_free(&w.table);
    return st;
}

static int64_t memory(const ikt_measure_settings *settings, const ikt_measure_extent *extent) {
    (void)settings;
    int64_t own = (extent->n + extent->ranks - 1) / extent->ranks, k = extent->classes;
    if (k > CLASSES_MOST) return 0;
    return own * (int64_t)sizeof(int32_t) + (k * k + k) * (int64_t)sizeof(int64_t) +
           ikt_kmeans_memory(own, k, extent->q, extent->threads);
}

const ikt_measure_family ikt_family_kmeans = {
    .name = "kmeans",
    .help = "normalised mutual information of k-means clusters of the map and the labels",
    .needs = IKT_MEASURE_NEEDS_LABELS,
    .compute = compute,
    .memory = memory};
