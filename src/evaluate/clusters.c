/* Measures of the clusters that labels make in the map, as scikit-learn defines them, on positions
 * scaled to [0, 1] along each axis, as the Isolation kernel paper does (section 5.1).
 *
 * Davies-Bouldin and Calinski-Harabasz (family `clusters`): two passes over the points: means of
 * the classes, then distances to them; all sums are exact, so the values do not depend on ranks or
 * threads.
 *
 * Silhouette (Rousseeuw 1987): a = mean distance of a row to the others of its class, b = the least
 * mean distance to another class; the mean over rows of (b - a) / max(a, b), 0 for a class of one
 * row and for 0 / 0. Method: the rows are laid out by class, so that a query adds up distances over
 * consecutive rows, in eight fixed lanes: the sums of a query do not depend on who computes them,
 * and the mean over queries is exact. Beyond settings->exact_limit rows a sample is looked from, at
 * ALL rows. Disadvantage: n distances a query; the sample's standard error is below
 * 1 / sqrt(sample). */
#include <math.h>
#include <omp.h>

#include "base/arrays.h"
#include "base/exact_sum.h"
#include "evaluate/family.h"

/* Distances between all pairs of centres are looked at; more classes than this are no labels. */
enum { CLASSES_MOST = 10000, SUMS = IKT_AXES_MOST, LANES = 8 };

/* --- Davies-Bouldin and Calinski-Harabasz ----------------------------------------------------- */

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

/* One position, in double precision. */
static void scale(const ikt_unit_box *box, const float *y, double *out) {
    for (int64_t c = 0; c < box->q; c++)
        out[c] = ((double)y[c] - box->low[c]) * box->scale[c];
}

static void find_centres(ikt_context *ctx, work *w) {
    const ikt_measured *what = w->view->what;
    const int64_t q = what->q;
    for (int64_t i = 0; i < what->rows.count; i++) {
        double at[IKT_AXES_MOST];
        const int64_t c = w->view->class_of[what->rows.first + i];
        scale(&w->box, what->y + q * i, at);
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
        const int64_t c = w->view->class_of[what->rows.first + i];
        scale(&w->box, what->y + what->q * i, at);
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

ikt_status ikt_cluster_indices(ikt_context *ctx, const ikt_measure_view *view,
                               const ikt_unit_box *box, ikt_cluster_index *out) {
    work w = {.view = view, .box = *box, .count = view->classes.count};
    IKT_ARRAYS(held, ctx, "measures");
    w.sum = ikt_claim(&held, SUMS * w.count, sizeof *w.sum);
    w.cluster = ikt_claim(&held, w.count, sizeof *w.cluster);
    IKT_TRY(ikt_arrays_agree(&held));
    find_centres(ctx, &w);
    find_spreads(ctx, &w);
    *out = (ikt_cluster_index){davies_bouldin(&w), calinski_harabasz(&w)};
    return IKT_OK;
}

static ikt_status compute_clusters(ikt_context *ctx, const ikt_measure_view *view,
                                   ikt_measures *out) {
    ikt_cluster_index found;
    const ikt_unit_box box = ikt_unit_box_of(view->y, view->n, view->q);
    IKT_TRY(ikt_cluster_indices(ctx, view, &box, &found));
    IKT_TRY(ikt_measures_add(ctx, out, "Davies-Bouldin", found.davies_bouldin, 0,
                             "lower is better; map scaled to [0, 1] along each axis"));
    return ikt_measures_add(ctx, out, "Calinski-Harabasz", found.calinski_harabasz, 0,
                            "higher is better; map scaled to [0, 1] along each axis");
}

static int64_t memory_of_clusters(const ikt_measure_settings *settings,
                                  const ikt_measure_extent *extent) {
    (void)settings;
    return extent->classes * (int64_t)(SUMS * sizeof(ikt_exact_sum) + sizeof(cluster));
}

const ikt_measure_family ikt_family_clusters = {
    .name = "clusters",
    .help = "Davies-Bouldin and Calinski-Harabasz of the labels",
    .needs = IKT_MEASURE_NEEDS_LABELS,
    .is_cheap = true,
    .classes_most = CLASSES_MOST,
    .classes_for = "Davies-Bouldin and Calinski-Harabasz",
    .compute = compute_clusters,
    .memory = memory_of_clusters};

/* --- silhouette ------------------------------------------------------------------------------- */

typedef struct {
    const ikt_measure_view *view;
    ikt_unit_box box;
    int64_t count, *query; /* of this rank */
    int64_t *begin;        /* [classes + 1] first row of each class in the layout */
    int32_t *order;        /* [n] the rows by class */
    float *at;             /* [q * n] coordinates of the rows by class, axis after axis */
    double *mean;          /* [threads * classes] scratch: mean distances of a query */
    ikt_exact_sum *sum;    /* [threads] of silhouettes */
} layout;

/* Distances from one place to the rows from `first` on, at most LANES. */
static inline void distances(const layout *w, const float *from, int64_t first, int64_t count,
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

static double sum_distances(const layout *w, const float *from, int64_t first, int64_t end) {
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

static double silhouette(const layout *w, int64_t row) {
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

ikt_status ikt_cluster_silhouette(ikt_context *ctx, const ikt_measure_view *view,
                                  const ikt_unit_box *box, double *value, int64_t *queries) {
    *queries = ikt_queries_count(view->settings, view->n);
    const int64_t classes = view->classes.count, threads = ikt_threads(ctx);
    const ikt_rows share = ikt_rows_make(*queries, ikt_size(ctx), ikt_rank(ctx));
    layout w = {.view = view, .box = *box, .count = share.count};
    IKT_ARRAYS(held, ctx, "measures");
    w.query = ikt_claim(&held, w.count, sizeof *w.query);
    ikt_measure_by_class(&held, view, &w.begin, &w.order);
    w.at = ikt_claim(&held, view->q * view->n, sizeof *w.at);
    w.mean = ikt_claim(&held, threads * classes, sizeof *w.mean);
    w.sum = ikt_claim(&held, threads, sizeof *w.sum);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t axis = 0; axis < view->q; axis++)
        for (int64_t at = 0; at < view->n; at++)
            w.at[axis * view->n + at] = view->y[view->q * w.order[at] + axis];
    ikt_queries_draw(view->settings->seed, view->n, &share, w.query);
#pragma omp parallel for schedule(dynamic, 16) num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < w.count; e++)
        ikt_exact_sum_add(&w.sum[omp_get_thread_num()], silhouette(&w, w.query[e]));
    for (int64_t t = 1; t < threads; t++)
        ikt_exact_sum_merge(&w.sum[0], &w.sum[t]);
    ikt_exact_sum_reduce(ctx, w.sum, 1);
    *value = ikt_exact_sum_value(w.sum) / (double)*queries;
    return IKT_OK;
}

static ikt_status compute_silhouette(ikt_context *ctx, const ikt_measure_view *view,
                                     ikt_measures *out) {
    double value;
    int64_t queries;
    const ikt_unit_box box = ikt_unit_box_of(view->y, view->n, view->q);
    IKT_TRY(ikt_cluster_silhouette(ctx, view, &box, &value, &queries));
    return ikt_measures_add(ctx, out, "silhouette", value, queries < view->n ? queries : 0,
                            "of the labels, -1 to 1, higher is better; map scaled to [0, 1] along "
                            "each axis");
}

static int64_t memory_of_silhouette(const ikt_measure_settings *settings,
                                    const ikt_measure_extent *extent) {
    int64_t queries = ikt_queries_count(settings, extent->n) / extent->ranks + 1;
    const int64_t row = extent->q * (int64_t)sizeof(float) + (int64_t)sizeof(int32_t);
    return queries * (int64_t)sizeof(int64_t) + extent->n * row +
           extent->classes * (int64_t)sizeof(int64_t) +
           extent->threads *
               (extent->classes * (int64_t)sizeof(double) + (int64_t)sizeof(ikt_exact_sum));
}

const ikt_measure_family ikt_family_silhouette = {.name = "silhouette",
                                                  .help = "silhouette of the labels",
                                                  .needs = IKT_MEASURE_NEEDS_LABELS,
                                                  .classes_most = CLASSES_MOST,
                                                  .classes_for = "silhouettes",
                                                  .compute = compute_silhouette,
                                                  .memory = memory_of_silhouette};
