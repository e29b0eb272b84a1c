/* Davies-Bouldin and Calinski-Harabasz of the labels in the map, as scikit-learn defines them, on
 * positions scaled to [0, 1] along each axis, as the Isolation kernel paper does. */
#include <math.h>

#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/memory.h"
#include "evaluate/classes.h"
#include "evaluate/measure.h"

typedef struct {
    double low[2], scale[2]; /* position -> [0, 1] */
} unit_square;

typedef struct {
    double centre[2], spread; /* mean position, mean distance to it */
    double squares;           /* sum of squared distances to it */
    double size;              /* rows */
} cluster;

enum { SUMS = 3 }; /* per class and pass: x, y, rows; then distance, squared distance */

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

static void find_centres(ikt_context *ctx, const ikt_measured *what, const unit_square *square,
                         const ikt_classes *classes, ikt_exact_sum *sum, cluster *clusters) {
    for (int64_t i = 0; i < what->map.count; i++) {
        double y[2];
        ikt_exact_sum *own = sum + SUMS * ikt_classes_number(classes, what->labels[i]);
        scaled(square, what->y + 2 * i, y);
        ikt_exact_sum_add(&own[0], y[0]);
        ikt_exact_sum_add(&own[1], y[1]);
        ikt_exact_sum_add(&own[2], 1);
    }
    ikt_exact_sum_reduce(ctx, sum, SUMS * classes->count);
    for (int64_t c = 0; c < classes->count; c++) {
        clusters[c].size = ikt_exact_sum_value(&sum[SUMS * c + 2]);
        for (int axis = 0; axis < 2; axis++)
            clusters[c].centre[axis] =
                ikt_exact_sum_value(&sum[SUMS * c + axis]) / clusters[c].size;
    }
    for (int64_t s = 0; s < SUMS * classes->count; s++)
        ikt_exact_sum_clear(&sum[s]);
}

static double distance(const double *a, const double *b) {
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]));
}

static void find_spreads(ikt_context *ctx, const ikt_measured *what, const unit_square *square,
                         const ikt_classes *classes, ikt_exact_sum *sum, cluster *clusters) {
    for (int64_t i = 0; i < what->map.count; i++) {
        double y[2];
        int64_t number = ikt_classes_number(classes, what->labels[i]);
        scaled(square, what->y + 2 * i, y);
        double away = distance(y, clusters[number].centre);
        ikt_exact_sum_add(&sum[SUMS * number], away);
        ikt_exact_sum_add(&sum[SUMS * number + 1], away * away);
    }
    ikt_exact_sum_reduce(ctx, sum, SUMS * classes->count);
    for (int64_t c = 0; c < classes->count; c++) {
        clusters[c].spread = ikt_exact_sum_value(&sum[SUMS * c]) / clusters[c].size;
        clusters[c].squares = ikt_exact_sum_value(&sum[SUMS * c + 1]);
    }
}

/* Mean over clusters of the worst ratio of spreads to distance; coinciding centres do not count. */
static double davies_bouldin(const cluster *clusters, int64_t count) {
    double sum = 0;
    for (int64_t a = 0; a < count; a++) {
        double worst = 0;
        for (int64_t b = 0; b < count; b++) {
            double apart = distance(clusters[a].centre, clusters[b].centre);
            if (a != b && apart > 0)
                worst = fmax(worst, (clusters[a].spread + clusters[b].spread) / apart);
        }
        sum += worst;
    }
    return sum / (double)count;
}

/* Scatter between clusters over scatter within, each by its degrees of freedom. */
static double calinski_harabasz(const cluster *clusters, int64_t count, double n) {
    double mean[2] = {0, 0}, between = 0, within = 0;
    for (int64_t c = 0; c < count; c++)
        for (int axis = 0; axis < 2; axis++)
            mean[axis] += clusters[c].size * clusters[c].centre[axis] / n;
    for (int64_t c = 0; c < count; c++) {
        double apart = distance(clusters[c].centre, mean);
        between += clusters[c].size * apart * apart;
        within += clusters[c].squares;
    }
    if (!(within > 0)) return 1; /* as scikit-learn: every cluster is a point */
    return between * (n - (double)count) / (within * ((double)count - 1));
}

static ikt_status compute(ikt_context *ctx, const ikt_measured *what, const ikt_classes *classes,
                          ikt_measures *out) {
    ikt_exact_sum *sum = NULL;
    cluster *clusters = NULL;
    ikt_status st = ikt_alloc(ctx, &sum, SUMS * classes->count, sizeof *sum, "measures");
    if (st == IKT_OK) st = ikt_alloc(ctx, &clusters, classes->count, sizeof *clusters, "measures");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        unit_square square = find_square(ctx, what);
        find_centres(ctx, what, &square, classes, sum, clusters);
        find_spreads(ctx, what, &square, classes, sum, clusters);
        st = ikt_measures_add(ctx, out, "Davies-Bouldin", davies_bouldin(clusters, classes->count),
                              0, "lower is better; map scaled to the unit square");
    }
    if (st == IKT_OK)
        st = ikt_measures_add(ctx, out, "Calinski-Harabasz",
                              calinski_harabasz(clusters, classes->count, (double)what->map.n), 0,
                              "higher is better; map scaled to the unit square");
    ikt_free(&sum);
    ikt_free(&clusters);
    return ikt_agree(ctx, st);
}

ikt_status ikt_measure_clusters(ikt_context *ctx, const ikt_measure_settings *settings,
                                const ikt_measured *what, ikt_measures *out) {
    (void)settings;
    ikt_classes classes;
    IKT_TRY(ikt_classes_find(ctx, what->labels, what->map.count, &classes));
    ikt_status st = IKT_OK; /* both need 2 classes and fewer classes than rows */
    if (classes.count >= 2 && classes.count < what->map.n) st = compute(ctx, what, &classes, out);
    ikt_classes_destroy(&classes);
    return st;
}
