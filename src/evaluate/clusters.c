/* Davies-Bouldin and Calinski-Harabasz of the labels in the map, as scikit-learn defines them, on
 * positions scaled to [0, 1] along each axis, as the Isolation kernel paper does (section 5.1).
 *
 * Two passes over the points: means of the classes, then distances to them; all sums are exact, so
 * the values do not depend on ranks or threads. */
#include <math.h>

#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/memory.h"
#include "evaluate/family.h"

typedef struct {
    double centre[IKT_AXES_MOST], spread; /* mean position, mean distance to it */
    double squares;                       /* sum of squared distances to it */
} cluster;

/* The sums of the two passes over the points. */
typedef struct {
    const ikt_measure_view *view;
    ikt_unit_box box;
    int64_t count;      /* classes */
    ikt_exact_sum *sum; /* [AXES * count]: coordinates; then distance and squared distance */
    cluster *cluster;   /* [count] */
} work;

/* Distances between all pairs of centres are looked at; more classes than this are no labels. */
enum { CLASSES_MOST = 10000, SUMS = IKT_AXES_MOST };

static int64_t class_at(const work *w, int64_t i) {
    return w->view->class_of[w->view->what->rows.first + i];
}

static void find_centres(ikt_context *ctx, work *w) {
    const ikt_measured *what = w->view->what;
    const int64_t q = what->q;
    for (int64_t i = 0; i < what->rows.count; i++) {
        double at[IKT_AXES_MOST];
        int64_t c = class_at(w, i);
        ikt_unit_box_scale(&w->box, what->y + q * i, at);
        for (int64_t axis = 0; axis < q; axis++)
            ikt_exact_sum_add(&w->sum[SUMS * c + axis], at[axis]);
    }
    ikt_exact_sum_reduce(ctx, w->sum, SUMS * w->count);
    for (int64_t c = 0; c < w->count; c++)
        for (int64_t axis = 0; axis < q; axis++)
            w->cluster[c].centre[axis] =
                ikt_exact_sum_value(&w->sum[SUMS * c + axis]) / (double)w->view->size[c];
    for (int64_t s = 0; s < SUMS * w->count; s++)
        w->sum[s] = (ikt_exact_sum){{0}, 0, 0};
}

static double squared(const double *a, const double *b, int64_t q) {
    double sum = 0;
    for (int64_t c = 0; c < q; c++)
        sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sum;
}

static void find_spreads(ikt_context *ctx, work *w) {
    const ikt_measured *what = w->view->what;
    for (int64_t i = 0; i < what->rows.count; i++) {
        double at[IKT_AXES_MOST];
        int64_t c = class_at(w, i);
        ikt_unit_box_scale(&w->box, what->y + what->q * i, at);
        double away = sqrt(squared(at, w->cluster[c].centre, what->q));
        ikt_exact_sum_add(&w->sum[SUMS * c], away);
        ikt_exact_sum_add(&w->sum[SUMS * c + 1], away * away);
    }
    ikt_exact_sum_reduce(ctx, w->sum, SUMS * w->count);
    for (int64_t c = 0; c < w->count; c++) {
        w->cluster[c].spread = ikt_exact_sum_value(&w->sum[SUMS * c]) / (double)w->view->size[c];
        w->cluster[c].squares = ikt_exact_sum_value(&w->sum[SUMS * c + 1]);
    }
}

/* Mean over clusters of the worst ratio of spreads to distance. As in scikit-learn, pairs of
 * coinciding centres do not count, and 0 is the answer where all spreads or all distances are
 * below 1e-8. */
static double davies_bouldin(const work *w) {
    const cluster *clusters = w->cluster;
    double sum = 0, widest = 0, farthest = 0;
    for (int64_t a = 0; a < w->count; a++) {
        double worst = 0;
        for (int64_t b = 0; b < w->count; b++) {
            double apart = sqrt(squared(clusters[a].centre, clusters[b].centre, w->view->q));
            if (apart > 0) worst = fmax(worst, (clusters[a].spread + clusters[b].spread) / apart);
            farthest = fmax(farthest, apart);
        }
        sum += worst;
        widest = fmax(widest, clusters[a].spread);
    }
    return widest <= 1e-8 || farthest <= 1e-8 ? 0 : sum / (double)w->count;
}

/* Scatter between clusters over scatter within, each by its degrees of freedom. */
static double calinski_harabasz(const work *w) {
    const int64_t q = w->view->q;
    double mean[IKT_AXES_MOST] = {0}, between = 0, within = 0, n = (double)w->view->n;
    for (int64_t c = 0; c < w->count; c++)
        for (int64_t axis = 0; axis < q; axis++)
            mean[axis] += (double)w->view->size[c] * w->cluster[c].centre[axis] / n;
    for (int64_t c = 0; c < w->count; c++) {
        between += (double)w->view->size[c] * squared(w->cluster[c].centre, mean, q);
        within += w->cluster[c].squares;
    }
    if (!(within > 0)) return 1; /* as scikit-learn: every cluster is a point */
    return between * (n - (double)w->count) / (within * ((double)w->count - 1));
}

static ikt_status report(ikt_context *ctx, const work *w, ikt_measures *out) {
    IKT_TRY(ikt_measures_add(ctx, out, "Davies-Bouldin", davies_bouldin(w), 0,
                             "lower is better; map scaled to [0, 1] along each axis"));
    return ikt_measures_add(ctx, out, "Calinski-Harabasz", calinski_harabasz(w), 0,
                            "higher is better; map scaled to [0, 1] along each axis");
}

static ikt_status allocate(ikt_context *ctx, work *w) {
    IKT_TRY(ikt_alloc(ctx, &w->sum, SUMS * w->count, sizeof *w->sum, "measures"));
    return ikt_alloc(ctx, &w->cluster, w->count, sizeof *w->cluster, "measures");
}

static ikt_status compute(ikt_context *ctx, const ikt_measure_view *view, ikt_measures *out) {
    work w = {.view = view, .count = view->classes.count};
    ikt_status st;
    if (!ikt_measure_has_classes(ctx, view, CLASSES_MOST, "Davies-Bouldin and Calinski-Harabasz",
                                 &st))
        return st;
    st = ikt_agree(ctx, allocate(ctx, &w));
    if (st == IKT_OK) {
        w.box = ikt_unit_box_of(view->y, view->n, view->q);
        find_centres(ctx, &w);
        find_spreads(ctx, &w);
        st = ikt_agree(ctx, report(ctx, &w, out));
    }
    ikt_free(&w.sum);
    ikt_free(&w.cluster);
    return st;
}

static int64_t memory(const ikt_measure_settings *settings, const ikt_measure_extent *extent) {
    (void)settings;
    return extent->classes * (int64_t)(SUMS * sizeof(ikt_exact_sum) + sizeof(cluster));
}

const ikt_measure_family ikt_family_clusters = {
    .name = "clusters",
    .help = "Davies-Bouldin and Calinski-Harabasz of the labels",
    .needs = IKT_MEASURE_NEEDS_LABELS,
    .is_cheap = true,
    .compute = compute,
    .memory = memory};
