/* Davies-Bouldin and Calinski-Harabasz of the labels in the map, as scikit-learn defines them, on
 * positions scaled to [0, 1] along each axis, as the Isolation kernel paper does (section 5.1).
 *
 * Two passes over the points: means of the classes, then distances to them; all sums are exact, so
 * the values do not depend on ranks or threads. */
#include <math.h>

#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/log.h"
#include "base/memory.h"
#include "evaluate/classes.h"
#include "evaluate/measure.h"

typedef struct {
    double low[2], scale[2]; /* position -> [0, 1] */
} unit_square;

typedef struct {
    double centre[2], spread; /* mean position, mean distance to it */
    double squares;           /* sum of squared distances to it */
    int64_t size;             /* rows */
} cluster;

/* What the two passes over the points add to. */
typedef struct {
    const ikt_classes *classes;
    unit_square square;
    ikt_exact_sum *sum; /* [2 * classes]: x and y; then distance and squared distance */
    int64_t *size;      /* [classes] */
    cluster *cluster;   /* [classes] */
} work;

/* Distances between all pairs of centres are looked at; more classes than this are no labels. */
enum { CLASSES_MOST = 10000 };

static unit_square find_square(ikt_context *ctx, const ikt_measured *what) {
    double least[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
    for (int64_t e = 0; e < 2 * what->map.count; e++) {
        least[e % 2] = fmin(least[e % 2], (double)what->y[e]);
        least[2 + e % 2] = fmin(least[2 + e % 2], -(double)what->y[e]);
    }
    ikt_min_f64(ctx, least, 4);
    unit_square square;
    for (int c = 0; c < 2; c++) {
        double width = -least[2 + c] - least[c];
        square.low[c] = least[c];
        square.scale[c] = width > 0 ? 1 / width : 0;
    }
    return square;
}

static void scaled(const unit_square *square, const float *y, double *out) {
    for (int c = 0; c < 2; c++)
        out[c] = ((double)y[c] - square->low[c]) * square->scale[c];
}

static void find_centres(ikt_context *ctx, const ikt_measured *what, work *w) {
    for (int64_t i = 0; i < what->map.count; i++) {
        double y[2];
        int64_t c = ikt_classes_number(w->classes, what->labels[i]);
        scaled(&w->square, what->y + 2 * i, y);
        ikt_exact_sum_add(&w->sum[2 * c], y[0]);
        ikt_exact_sum_add(&w->sum[2 * c + 1], y[1]);
        w->size[c]++;
    }
    ikt_exact_sum_reduce(ctx, w->sum, 2 * w->classes->count);
    ikt_sum_i64(ctx, w->size, w->classes->count);
    for (int64_t c = 0; c < w->classes->count; c++) {
        w->cluster[c].size = w->size[c];
        for (int axis = 0; axis < 2; axis++)
            w->cluster[c].centre[axis] =
                ikt_exact_sum_value(&w->sum[2 * c + axis]) / (double)w->size[c];
    }
    for (int64_t s = 0; s < 2 * w->classes->count; s++)
        ikt_exact_sum_clear(&w->sum[s]);
}

static double distance(const double *a, const double *b) {
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]));
}

static void find_spreads(ikt_context *ctx, const ikt_measured *what, work *w) {
    for (int64_t i = 0; i < what->map.count; i++) {
        double y[2];
        int64_t c = ikt_classes_number(w->classes, what->labels[i]);
        scaled(&w->square, what->y + 2 * i, y);
        double away = distance(y, w->cluster[c].centre);
        ikt_exact_sum_add(&w->sum[2 * c], away);
        ikt_exact_sum_add(&w->sum[2 * c + 1], away * away);
    }
    ikt_exact_sum_reduce(ctx, w->sum, 2 * w->classes->count);
    for (int64_t c = 0; c < w->classes->count; c++) {
        w->cluster[c].spread = ikt_exact_sum_value(&w->sum[2 * c]) / (double)w->size[c];
        w->cluster[c].squares = ikt_exact_sum_value(&w->sum[2 * c + 1]);
    }
}

/* Mean over clusters of the worst ratio of spreads to distance. As in scikit-learn, pairs of
 * coinciding centres do not count, and 0 is the answer where all spreads or all distances are
 * below 1e-8. */
static double davies_bouldin(const cluster *clusters, int64_t count) {
    double sum = 0, widest = 0, farthest = 0;
    for (int64_t a = 0; a < count; a++) {
        double worst = 0;
        for (int64_t b = 0; b < count; b++) {
            double apart = distance(clusters[a].centre, clusters[b].centre);
            if (apart > 0) worst = fmax(worst, (clusters[a].spread + clusters[b].spread) / apart);
            farthest = fmax(farthest, apart);
        }
        sum += worst;
        widest = fmax(widest, clusters[a].spread);
    }
    return widest <= 1e-8 || farthest <= 1e-8 ? 0 : sum / (double)count;
}

/* Scatter between clusters over scatter within, each by its degrees of freedom. */
static double calinski_harabasz(const cluster *clusters, int64_t count, double n) {
    double mean[2] = {0, 0}, between = 0, within = 0;
    for (int64_t c = 0; c < count; c++)
        for (int axis = 0; axis < 2; axis++)
            mean[axis] += (double)clusters[c].size * clusters[c].centre[axis] / n;
    for (int64_t c = 0; c < count; c++) {
        double apart = distance(clusters[c].centre, mean);
        between += (double)clusters[c].size * apart * apart;
        within += clusters[c].squares;
    }
    if (!(within > 0)) return 1; /* as scikit-learn: every cluster is a point */
    return between * (n - (double)count) / (within * ((double)count - 1));
}

static ikt_status report(ikt_context *ctx, const cluster *clusters, int64_t count, int64_t n,
                         ikt_measures *out) {
    IKT_TRY(ikt_measures_add(ctx, out, "Davies-Bouldin", davies_bouldin(clusters, count), 0,
                             "lower is better; map scaled to the unit square"));
    return ikt_measures_add(ctx, out, "Calinski-Harabasz",
                            calinski_harabasz(clusters, count, (double)n), 0,
                            "higher is better; map scaled to the unit square");
}

static ikt_status allocate(ikt_context *ctx, work *w) {
    int64_t count = w->classes->count;
    IKT_TRY(ikt_alloc(ctx, &w->sum, 2 * count, sizeof *w->sum, "measures"));
    IKT_TRY(ikt_alloc(ctx, &w->size, count, sizeof *w->size, "measures"));
    return ikt_alloc(ctx, &w->cluster, count, sizeof *w->cluster, "measures");
}

static ikt_status compute(ikt_context *ctx, const ikt_measured *what, const ikt_classes *classes,
                          ikt_measures *out) {
    work w = {.classes = classes};
    ikt_status st = ikt_agree(ctx, allocate(ctx, &w));
    if (st == IKT_OK) {
        w.square = find_square(ctx, what);
        find_centres(ctx, what, &w);
        find_spreads(ctx, what, &w);
        st = ikt_agree(ctx, report(ctx, w.cluster, classes->count, what->map.n, out));
    }
    ikt_free(&w.sum);
    ikt_free(&w.size);
    ikt_free(&w.cluster);
    return st;
}

/* SAME-ARGS. Labels that do not make clusters: an error where the measure was asked for by name,
 * else a warning and nothing. */
static ikt_status refuse(ikt_context *ctx, const ikt_measure_settings *settings, int64_t count,
                         int64_t n) {
    static const char *const text =
        "Davies-Bouldin and Calinski-Harabasz need 2 to %lld classes, fewer than the %lld rows; "
        "the labels have %lld";
    long long most = CLASSES_MOST, rows = n, found = count;
    if (settings->only) return ikt_fail(ctx, IKT_ERR_DATA, text, most, rows, found);
    ikt_log(ctx, IKT_LOG_WARN, text, most, rows, found);
    return IKT_OK;
}

ikt_status ikt_measure_clusters(ikt_context *ctx, const ikt_measure_settings *settings,
                                const ikt_measured *what, ikt_measures *out) {
    ikt_classes classes;
    IKT_TRY(ikt_classes_find(ctx, what->labels, what->map.count, &classes));
    int64_t count = classes.count, n = what->map.n;
    ikt_status st = count >= 2 && count < n && count <= CLASSES_MOST
                        ? compute(ctx, what, &classes, out)
                        : refuse(ctx, settings, count, n);
    ikt_classes_destroy(&classes);
    return st;
}
