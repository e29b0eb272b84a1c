/* k-means of positions, the same bits on any ranks and threads, and the family `kmeans`.
 *
 * Method: k-means++ (Arthur and Vassilvitskii 2007), then Lloyd's iterations; of several restarts
 * the one of least inertia. A first centre is drawn by exponential clocks: every row that is not
 * at a centre draws a time of rate (squared distance to its nearest centre), and the row whose
 * clock rings first wins, which has the probabilities of k-means++ and needs no order of the rows.
 * Means are exact sums, which rows that change their cluster are taken out of and put into. As in
 * scikit-learn an iteration is the last one when no row changes its cluster, or when the squared
 * moves of all centres add up to at most 1e-4 of the mean variance of the axes.
 * Advantage: rows stay where they are, and only those that change cost sums. Disadvantage: n k
 * distances an iteration, for every restart; a cluster that loses all rows keeps its centre.
 *
 * The family: normalised mutual information of k-means clusters of the map and the labels, as
 * LaptSNE reports it (section 4.1): k is the number of classes, positions are taken as they are.
 *
 * NMI = 2 I(U; V) / (H(U) + H(V)): the arithmetic mean of both entropies, scikit-learn's default.
 * All of it follows from one table of counts. Advantage: integers until the last formula.
 * Disadvantage: k-means wants round clusters of one size, and t-SNE's are often not: a low value
 * says that k-means does not find the classes, not that they are mixed. */

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/rng.h"
#include "base/sort.h"
#include "evaluate/family.h"

enum { ITERATIONS = 300, LANES = 16, CLASSES_MOST = 1000 };

typedef struct {
    ikt_context *ctx;
    const ikt_kmeans_settings *settings;
    const ikt_rows *rows;
    const float *y;
    int64_t q, k;        /* k: centres there are */
    double *centre;      /* [settings->k * q] */
    double *near;        /* [rows->count] squared distance to the nearest centre */
    int32_t *cluster;    /* [rows->count] number of it, -1: none yet */
    ikt_exact_sum *sum;  /* [(threads + 1) * settings->k * q] of coordinates, the last of all */
    int64_t *size;       /* [(threads + 1) * settings->k] rows */
    ikt_exact_sum *each; /* [threads] of one number a row */
    double tolerance;
} work;

/* Bytes for n_local rows, beside what is borrowed. */
static int64_t kmeans_memory(int64_t n_local, int64_t k, int64_t q, int threads) {
    int64_t sums = (int64_t)sizeof(ikt_exact_sum);
    return k * q * (int64_t)sizeof(double) + n_local * (int64_t)(sizeof(double) + sizeof(int32_t)) +
           (threads + 1) * k * (q * sums + (int64_t)sizeof(int64_t)) + threads * sums;
}

static double squared(const float *y, const double *centre, int64_t q) {
    double sum = 0;
    for (int64_t c = 0; c < q; c++) {
        double apart = (double)y[c] - centre[c];
        sum += apart * apart;
    }
    return sum;
}

/* COLLECTIVE. Total of the threads' sums of one number a row, which are emptied. */
static double collect_each(work *w) {
    for (int t = 1; t < ikt_threads(w->ctx); t++)
        ikt_exact_sum_merge(&w->each[0], &w->each[t]);
    ikt_exact_sum_reduce(w->ctx, w->each, 1);
    double total = ikt_exact_sum_value(w->each);
    memset(w->each, 0, (size_t)ikt_threads(w->ctx) * sizeof *w->each);
    return total;
}

/* COLLECTIVE. 1e-4 of the mean variance of the axes. */
static void find_tolerance(work *w) {
    const double n = (double)w->rows->n;
    double variance = 0;
    for (int64_t axis = 0; axis < w->q; axis++) {
        for (int64_t i = 0; i < w->rows->count; i++)
            ikt_exact_sum_add(w->each, (double)w->y[w->q * i + axis]);
        double mean = collect_each(w) / n;
        for (int64_t i = 0; i < w->rows->count; i++) {
            double apart = (double)w->y[w->q * i + axis] - mean;
            ikt_exact_sum_add(w->each, apart * apart);
        }
        variance += collect_each(w) / n / (double)w->q;
    }
    w->tolerance = 1e-4 * variance;
}

/* --- first centres ---------------------------------------------------------------------------- */

/* When the clock of a row rings; the first one of a thread, a rank or all. */
typedef struct {
    double time;
    int64_t row;
} ring;

static ring earlier(ring a, ring b) {
    return b.time < a.time || (b.time == a.time && b.row < a.row) ? b : a;
}

/* COLLECTIVE. The row whose clock rings first; -1 where none has a clock. */
static int64_t draw_row(const work *w, uint64_t draw) {
    ring first = {INFINITY, INT64_MAX};
#pragma omp parallel num_threads(ikt_threads(w->ctx))
    {
        ring mine = {INFINITY, INT64_MAX};
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < w->rows->count; i++) {
            if (!(w->near[i] > 0)) continue;
            const int64_t row = w->rows->first + i;
            const double u = ikt_rng_uniform(w->settings->seed, IKT_RNG_KMEANS, row, draw);
            mine = earlier(mine, (ring){-log1p(-u) / w->near[i], row});
        }
#pragma omp critical
        first = earlier(first, mine);
    }
    double time = first.time;
    ikt_min_f64(w->ctx, &time, 1);
    if (first.time != time) first.row = INT64_MAX;
    ikt_min_i64(w->ctx, &first.row, 1);
    return first.row == INT64_MAX ? -1 : first.row;
}

/* COLLECTIVE. Makes a row's place the next centre. */
static void add_centre(work *w, int64_t row) {
    double *centre = w->centre + w->k * w->q;
    const int owner = ikt_rows_owner(w->rows, row);
    if (owner == ikt_rank(w->ctx))
        for (int64_t c = 0; c < w->q; c++)
            centre[c] = (double)w->y[w->q * (row - w->rows->first) + c];
    ikt_broadcast(w->ctx, centre, w->q * (int64_t)sizeof *centre, owner);
    w->k++;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(w->ctx))
    for (int64_t i = 0; i < w->rows->count; i++) {
        double away = squared(w->y + w->q * i, centre, w->q);
        if (w->k == 1 || away < w->near[i]) w->near[i] = away;
    }
}

/* COLLECTIVE. The first centre is any row, each later one a row far from those before it. */
static void choose_centres(work *w, int64_t restart) {
    const int64_t k = w->settings->k, threads = ikt_threads(w->ctx);
    w->k = 0;
    memset(w->sum, 0, (size_t)(threads * k * w->q) * sizeof *w->sum);
    memset(w->size, 0, (size_t)(threads * k) * sizeof *w->size);
    for (int64_t i = 0; i < w->rows->count; i++) {
        w->near[i] = 1;
        w->cluster[i] = -1;
    }
    for (int64_t c = 0; c < k; c++) {
        int64_t row = draw_row(w, (uint64_t)(restart * k + c));
        if (row < 0) return;
        add_centre(w, row);
    }
}

/* --- Lloyd's iterations ----------------------------------------------------------------------- */

/* Puts a row into a cluster's sums, or takes it out: exact, so nothing stays behind. */
static void add_row(const work *w, int64_t i, int64_t cluster, int sign) {
    const int64_t at = omp_get_thread_num() * w->settings->k + cluster;
    if (cluster < 0) return;
    w->size[at] += sign;
    for (int64_t c = 0; c < w->q; c++)
        ikt_exact_sum_add(&w->sum[at * w->q + c], sign * (double)w->y[w->q * i + c]);
}

/* Nearest centres of rows first .. first + count - 1, in lanes that the compiler can make vectors
 * of; whole numbers are exact in doubles. How many changed. */
static int64_t assign_rows(const work *w, int64_t first, int64_t count) {
    double at[IKT_AXES_MOST][LANES] = {{0}}, least[LANES], best[LANES] = {0};
    int64_t changed = 0;
    for (int64_t e = 0; e < LANES; e++)
        least[e] = INFINITY;
    for (int64_t e = 0; e < count; e++)
        for (int64_t axis = 0; axis < w->q; axis++)
            at[axis][e] = (double)w->y[w->q * (first + e) + axis];
    for (int64_t c = 0; c < w->k; c++) {
        double away[LANES] = {0};
        for (int64_t axis = 0; axis < w->q; axis++)
            for (int e = 0; e < LANES; e++) {
                double apart = at[axis][e] - w->centre[c * w->q + axis];
                away[e] += apart * apart;
            }
        for (int e = 0; e < LANES; e++) {
            best[e] = away[e] < least[e] ? (double)c : best[e];
            least[e] = away[e] < least[e] ? away[e] : least[e];
        }
    }
    for (int64_t e = 0; e < count; e++) {
        int32_t before = w->cluster[first + e], now = (int32_t)best[e];
        w->near[first + e] = least[e];
        if (before == now) continue;
        add_row(w, first + e, before, -1);
        add_row(w, first + e, now, 1);
        w->cluster[first + e] = now;
        changed++;
    }
    return changed;
}

/* COLLECTIVE. Every row to its nearest centre; how many changed. */
static int64_t assign(work *w) {
    const int64_t n = w->rows->count;
    int64_t changed = 0;
#pragma omp parallel for schedule(static) reduction(+ : changed) num_threads(ikt_threads(w->ctx))
    for (int64_t first = 0; first < n; first += LANES)
        changed += assign_rows(w, first, n - first < LANES ? n - first : LANES);
    return ikt_sum_one(w->ctx, changed);
}

/* COLLECTIVE. Every centre to the mean of its rows; the sum of squared moves. The sums of all
 * threads and ranks stand behind those of the threads, which go on. */
static double move(work *w) {
    const int64_t k = w->settings->k, q = w->q, threads = ikt_threads(w->ctx);
    ikt_exact_sum *sum = w->sum + threads * k * q;
    int64_t *size = w->size + threads * k;
    double moved = 0;
    memcpy(sum, w->sum, (size_t)(k * q) * sizeof *sum);
    memcpy(size, w->size, (size_t)k * sizeof *size);
    for (int64_t t = 1; t < threads; t++) {
        for (int64_t c = 0; c < k; c++)
            size[c] += w->size[t * k + c];
        for (int64_t s = 0; s < w->k * q; s++)
            ikt_exact_sum_merge(&sum[s], &w->sum[t * k * q + s]);
    }
    ikt_sum_i64(w->ctx, size, k);
    ikt_exact_sum_reduce(w->ctx, sum, w->k * q);
    for (int64_t s = 0; s < w->k * q; s++) {
        if (size[s / q] == 0) continue;
        double mean = ikt_exact_sum_value(&sum[s]) / (double)size[s / q];
        moved += (mean - w->centre[s]) * (mean - w->centre[s]);
        w->centre[s] = mean;
    }
    return moved;
}

/* COLLECTIVE. One restart; its inertia. */
static double iterate(work *w, int64_t restart) {
    choose_centres(w, restart);
    for (int iteration = 0; iteration < ITERATIONS; iteration++) {
        if (assign(w) == 0) break;
        if (move(w) <= w->tolerance) break;
    }
    assign(w); /* to where the centres are now */
#pragma omp parallel for schedule(static) num_threads(ikt_threads(w->ctx))
    for (int64_t i = 0; i < w->rows->count; i++)
        ikt_exact_sum_add(&w->each[omp_get_thread_num()], w->near[i]);
    return collect_each(w);
}

ikt_status ikt_kmeans(ikt_context *ctx, const ikt_kmeans_settings *settings, const ikt_rows *rows,
                      const float *y, int64_t q, int32_t *cluster, double *inertia) {
    work w = {.ctx = ctx, .settings = settings, .rows = rows, .y = y, .q = q};
    const int64_t k = settings->k, n = rows->count, threads = ikt_threads(ctx);
    *inertia = INFINITY;
    IKT_ARRAYS(held, ctx, "measures");
    w.centre = ikt_claim(&held, k * q, sizeof *w.centre);
    w.near = ikt_claim(&held, n, sizeof *w.near);
    w.cluster = ikt_claim(&held, n, sizeof *w.cluster);
    w.sum = ikt_claim(&held, (threads + 1) * k * q, sizeof *w.sum);
    w.size = ikt_claim(&held, (threads + 1) * k, sizeof *w.size);
    w.each = ikt_claim(&held, threads, sizeof *w.each);
    IKT_TRY(ikt_arrays_agree(&held));
    find_tolerance(&w);
    for (int64_t restart = 0; restart < settings->restarts; restart++) {
        const double found = iterate(&w, restart);
        if (restart > 0 && !(found < *inertia)) continue;
        *inertia = found;
        memcpy(cluster, w.cluster, (size_t)n * sizeof *cluster);
    }
    return IKT_OK;
}

/* --- mutual information ----------------------------------------------------------------------- */

/* - sum p log p of counts at a stride, which add up to n. */
static double entropy(const int64_t *count, int64_t length, double n) {
    double sum = 0;
    for (int64_t e = 0; e < length; e++)
        if (count[e] > 0) sum -= (double)count[e] / n * log((double)count[e] / n);
    return sum;
}

/* table[classes * k]: rows of class a in cluster b; size[classes] rows of the classes, cluster[k]
 * of the clusters. */
static double normalised(const int64_t *table, const int64_t *size, int64_t classes,
                         const int64_t *cluster, int64_t k, double n) {
    double shared = 0;
    for (int64_t a = 0; a < classes; a++)
        for (int64_t b = 0; b < k; b++) {
            double count = (double)table[a * k + b];
            if (count > 0)
                shared += count / n * (log(count * n) - log((double)size[a] * (double)cluster[b]));
        }
    double mean = (entropy(size, classes, n) + entropy(cluster, k, n)) / 2;
    if (shared <= DBL_EPSILON) return 0;
    return shared / mean < 1 ? shared / mean : 1;
}

/* COLLECTIVE. NMI of the clusters cluster[rows.count], below k, and the labels. */
static ikt_status compare(ikt_context *ctx, const ikt_measure_view *view, const int32_t *cluster,
                          int64_t k, double *value) {
    const ikt_rows *rows = &view->what->rows;
    const int64_t classes = view->classes.count, cells = classes * k;
    int64_t *table IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &table, cells + k, sizeof *table, "measures"));
    int64_t *sizes = table + cells;
    for (int64_t i = 0; i < rows->count; i++) {
        table[view->class_of[rows->first + i] * k + cluster[i]]++;
        sizes[cluster[i]]++;
    }
    ikt_sum_i64(ctx, table, cells + k);
    *value = normalised(table, view->size, classes, sizes, k, (double)view->n);
    return IKT_OK;
}

/* Positions as they are. */
static ikt_unit_box box_of_map(int64_t q) {
    ikt_unit_box box = {.q = q};
    for (int64_t c = 0; c < q; c++)
        box.scale[c] = 1;
    return box;
}

/* COLLECTIVE. How far apart the clusters lie: silhouette and Davies-Bouldin, on positions as they
 * are. NaN where there is but one. */
static ikt_status judge(ikt_context *ctx, const ikt_measure_view *view, const int32_t *cluster,
                        double *silhouette, int64_t *queries, ikt_cluster_index *index) {
    const int64_t count = view->what->rows.count;
    ikt_measured found = *view->what;
    ikt_measure_view groups IKT_AT_END(ikt_measure_view_free) = {.what = NULL};
    int64_t *labels IKT_AT_END(ikt_free) = NULL;
    *silhouette = index->davies_bouldin = NAN;
    *queries = view->n;
    IKT_TRY(ikt_alloc_all(ctx, &labels, count, sizeof *labels, "measures"));
    for (int64_t i = 0; i < count; i++)
        labels[i] = cluster[i];
    found.labels = labels;
    found.has_labels = true;
    IKT_TRY(ikt_measure_view_make(ctx, view->settings, &found, &groups));
    if (groups.classes.count > 1 && groups.classes.count < view->n) {
        const ikt_unit_box box = box_of_map(view->q);
        IKT_TRY(ikt_cluster_indices(ctx, &groups, &box, index));
        IKT_TRY(ikt_cluster_silhouette(ctx, &groups, &box, silhouette, queries));
    }
    return IKT_OK;
}

/* COLLECTIVE. The measures of k clusters, under names that end so. */
static ikt_status add_clusters(ikt_context *ctx, const ikt_measure_view *view, int64_t k,
                               const char *ending, ikt_measures *out) {
    const ikt_measured *what = view->what;
    const ikt_kmeans_settings settings = {k, view->settings->restarts, view->settings->seed};
    const long long restarts = view->settings->restarts;
    double inertia, nmi, silhouette;
    int64_t queries;
    ikt_cluster_index index;
    IKT_ARRAYS(held, ctx, "measures");
    int32_t *cluster = ikt_claim(&held, what->rows.count, sizeof *cluster);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_kmeans(ctx, &settings, &what->rows, what->y, what->q, cluster, &inertia));
    IKT_TRY(compare(ctx, view, cluster, k, &nmi));
    IKT_TRY(judge(ctx, view, cluster, &silhouette, &queries, &index));
    const struct {
        const char *name, *about;
        double value;
        int64_t sample;
    } found[] = {{"NMI", "and the labels, arithmetic normalisation;", nmi, 0},
                 {"silhouette", "-1 to 1, higher is better; map as it is,", silhouette,
                  queries < view->n ? queries : 0},
                 {"Davies-Bouldin", "lower is better; map as it is,", index.davies_bouldin, 0}};
    for (int f = 0; f < 3; f++) {
        char note[160], name[48];
        snprintf(note, sizeof note, "of %lld k-means clusters%s %s best of %lld restarts",
                 (long long)k, f == 0 ? "" : ",", found[f].about, restarts);
        snprintf(name, sizeof name, "%s of k-means%s", found[f].name, ending);
        IKT_TRY(ikt_measures_add(ctx, out, name, found[f].value, found[f].sample, note));
    }
    return IKT_OK;
}

static ikt_status compute(ikt_context *ctx, const ikt_measure_view *view, ikt_measures *out) {
    const int64_t asked = view->settings->clusters;
    char ending[16];
    /* What one rank cannot note must not let the others begin the next clustering without it. */
    IKT_TRY(ikt_agree(ctx, add_clusters(ctx, view, view->classes.count, "", out)));
    if (asked == 0) return IKT_OK;
    snprintf(ending, sizeof ending, " (k %lld)", (long long)asked);
    return add_clusters(ctx, view, asked, ending, out);
}

static ikt_status check(ikt_context *ctx, const ikt_measure_settings *settings,
                        const ikt_measured *what) {
    const int64_t k = settings->clusters;
    if (k == 0 || (k >= 2 && k < what->rows.n && k <= CLASSES_MOST)) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE, "%lld k-means clusters of %lld rows: choose from 2 to %lld",
                    (long long)k, (long long)what->rows.n,
                    (long long)ikt_smaller(CLASSES_MOST, what->rows.n - 1));
}

static int64_t memory(const ikt_measure_settings *settings, const ikt_measure_extent *extent) {
    const int64_t own = (extent->n + extent->ranks - 1) / extent->ranks;
    const int64_t k = ikt_larger(extent->classes, settings->clusters);
    if (k > CLASSES_MOST) return 0;
    ikt_measure_extent groups = *extent;
    groups.classes = k;
    const int64_t judging = own * (int64_t)sizeof(int64_t) + ikt_measure_view_memory(&groups) +
                            ikt_larger(ikt_family_silhouette.memory(settings, &groups),
                                       ikt_family_clusters.memory(settings, &groups));
    return own * (int64_t)sizeof(int32_t) + (extent->classes + 1) * k * (int64_t)sizeof(int64_t) +
           ikt_larger(judging, kmeans_memory(own, k, extent->q, extent->threads));
}

const ikt_measure_family ikt_family_kmeans = {
    .name = "kmeans",
    .help = "k-means clusters of the map: normalised mutual information with the labels, "
            "silhouette and Davies-Bouldin",
    .needs = IKT_MEASURE_NEEDS_LABELS,
    .classes_most = CLASSES_MOST,
    .classes_for = "k-means clusters of the map",
    .check = check,
    .compute = compute,
    .memory = memory};
