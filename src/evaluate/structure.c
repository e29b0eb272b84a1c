/* Measures of the structure that a map keeps of the data as a whole, after the tests of Amid and
 * Warmuth 2019 (TriMap), section 2, which look at pictures: whether it keeps the arrangement of
 * another map, and whether marked rows stand apart from the others.
 *
 * Arrangement: the classes of a part of the data, or of shifted copies of it, against the map of
 * the whole. The centres of the classes that both maps have are brought onto each other by the
 * translation, rotation, reflection and scaling that fit best (Procrustes); what is left is the
 * error: 0 the same arrangement, 1 none at all. Centres count alike, however large their classes.
 * Advantage: maps of different rows can be compared. Disadvantage: says nothing of what is within
 * a class; with three classes or fewer hardly anything is left to differ.
 *
 * Marked rows: the mean distance of a row from its ten nearest in the map, divided by the median of
 * that over all rows. 1 is a row like any other; an outlier that the map shows has much more.
 * Disadvantage: a small group of outliers hides each of its members.
 */
#include "evaluate/measure.h"

#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/rng.h"
#include "base/sort.h"
#include "dist/shuffle.h"
#include "evaluate/family.h"
#include "linalg/procrustes.h"

enum { AXES = IKT_PROCRUSTES_MOST, TRIPLETS = 5, QUERIES_MOST = 20000, CLASSES_LEAST = 3 };

double ikt_procrustes_error(const double *a, const double *b, int64_t count, int64_t q) {
    double mean_a[AXES] = {0}, mean_b[AXES] = {0}, aa = 0, bb = 0;
    double m[AXES * AXES] = {0}, u[AXES * AXES], v[AXES * AXES], s[AXES], fit = 0;
    for (int64_t i = 0; i < count; i++)
        for (int64_t c = 0; c < q; c++) {
            mean_a[c] += a[i * q + c] / (double)count;
            mean_b[c] += b[i * q + c] / (double)count;
        }
    for (int64_t i = 0; i < count; i++)
        for (int64_t r = 0; r < q; r++) {
            const double x = a[i * q + r] - mean_a[r], y = b[i * q + r] - mean_b[r];
            aa += x * x;
            bb += y * y;
            for (int64_t c = 0; c < q; c++)
                m[r * q + c] += x * (b[i * q + c] - mean_b[c]);
        }
    if (!(aa > 0) || !(bb > 0)) return NAN;
    ikt_small_svd((int)q, m, u, s, v);
    for (int64_t c = 0; c < q; c++)
        fit += s[c];
    return fmax(1 - fit * fit / (aa * bb), 0);
}

/* Centres of the classes in rows first .. past - 1, and rows[c] of each; both are zero before. */
static void class_centres(const ikt_measure_view *map, int64_t first, int64_t past, double *at,
                          int64_t *rows) {
    const int64_t q = map->q;
    for (int64_t i = first; i < past; i++) {
        const int64_t c = map->class_of[i];
        if (c < 0) continue;
        rows[c]++;
        for (int64_t a = 0; a < q; a++)
            at[c * q + a] += (double)map->y[i * q + a];
    }
    for (int64_t c = 0; c < map->classes.count; c++)
        for (int64_t a = 0; a < q && rows[c] > 0; a++)
            at[c * q + a] /= (double)rows[c];
}

/* The error of a range of rows against the whole reference, from the centres of the classes that
 * both have, by ascending label; NaN with too few of them. */
static ikt_status error_of(ikt_context *ctx, const ikt_measure_view *map, int64_t first,
                           int64_t past, const ikt_measure_view *reference, double *error) {
    const int64_t in_a = reference->classes.count, in_b = map->classes.count, q = map->q;
    int64_t both = 0;
    *error = NAN;
    IKT_ARRAYS(held, ctx, "measures");
    double *a = ikt_claim(&held, (in_a + in_b) * q, sizeof *a);
    int64_t *rows = ikt_claim(&held, in_a + in_b, sizeof *rows);
    IKT_TRY(held.status);
    double *b = a + in_a * q;
    class_centres(reference, 0, reference->n, a, rows);
    class_centres(map, first, past, b, rows + in_a);
    for (int64_t c = 0; c < in_a; c++) {
        const int64_t same = ikt_classes_number(&map->classes, reference->classes.label[c]);
        if (same < 0 || rows[in_a + same] == 0) continue;
        memmove(a + both * q, a + c * q, (size_t)q * sizeof *a);
        memmove(b + both * q, b + same * q, (size_t)q * sizeof *b);
        both++;
    }
    if (both >= CLASSES_LEAST) *error = ikt_procrustes_error(a, b, both, q);
    return IKT_OK;
}

static double squared_distance(const ikt_measure_view *map, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t c = 0; c < map->q; c++) {
        const double off = (double)map->y[i * map->q + c] - (double)map->y[j * map->q + c];
        sum += off * off;
    }
    return sum;
}

/* The share of triplets whose two rows of one half are the nearer ones; equal distances count half.
 */
static double halves_apart(const ikt_measure_view *w, uint64_t seed) {
    const int64_t half = w->n / 2, step = (w->n + QUERIES_MOST - 1) / QUERIES_MOST;
    int64_t twice = 0, count = 0;
    for (int64_t i = 0; i < w->n; i += step)
        for (uint64_t t = 0; t < TRIPLETS; t++) {
            const int64_t own = i < half ? 0 : half;
            /* Another row of the same half: one of half - 1. */
            int64_t j = own + ikt_rng_below(seed, IKT_RNG_COPIES, i, 2 * t, half - 1);
            if (j >= i) j++;
            const int64_t l = half - own + ikt_rng_below(seed, IKT_RNG_COPIES, i, 2 * t + 1, half);
            const double near = squared_distance(w, i, j), far = squared_distance(w, i, l);
            twice += near < far ? 2 : near == far;
            count++;
        }
    return (double)twice / (2 * (double)count);
}

/* LOCAL. From the views of both maps. */
static ikt_status compare_views(ikt_context *ctx, const ikt_measure_view *map,
                                const ikt_measure_view *reference, uint64_t seed,
                                ikt_measures *out) {
    const bool is_copies = map->n == 2 * reference->n && reference->n > 1;
    const int64_t part = is_copies ? map->n / 2 : map->n;
    for (int copy = 0; copy <= is_copies; copy++) {
        double error;
        IKT_TRY(error_of(ctx, map, copy * part, (copy + 1) * part, reference, &error));
        if (isnan(error)) continue;
        IKT_TRY(ikt_measures_add(
            ctx, out, copy ? "arrangement error, second copy" : "arrangement error", error, 0,
            "what is left after fitting the classes' centres onto those of the reference; 0 is "
            "the same arrangement"));
    }
    if (!is_copies) return IKT_OK;
    return ikt_measures_add(ctx, out, "copies apart", halves_apart(map, seed),
                            map->n > QUERIES_MOST ? QUERIES_MOST : 0,
                            "share of triplets that keep the copies apart; 0.5 mixed, 1 apart");
}

ikt_status ikt_measure_arrangement(ikt_context *ctx, const ikt_measured *map,
                                   const ikt_measured *reference, uint64_t seed,
                                   ikt_measures *out) {
    const ikt_measure_settings settings = ikt_measure_defaults();
    ikt_measure_view a IKT_AT_END(ikt_measure_view_free) = {.n = 0};
    ikt_measure_view b IKT_AT_END(ikt_measure_view_free) = {.n = 0};
    if (map->q != reference->q)
        return ikt_fail(ctx, IKT_ERR_USAGE, "maps of %lld and %lld dimensions cannot be compared",
                        (long long)map->q, (long long)reference->q);
    if (!map->has_labels || !reference->has_labels) return IKT_OK;
    IKT_TRY(ikt_measure_view_make(ctx, &settings, map, &a));
    IKT_TRY(ikt_measure_view_make(ctx, &settings, reference, &b));
    return ikt_agree(ctx, compare_views(ctx, &a, &b, seed, out));
}

/* --- marked rows ------------------------------------------------------------------------------ */

enum { NEAREST_MOST = 10, APART_MOST = 2000 };

/* Mean distance of a row from its k nearest. */
static double spacing(const ikt_tree *tree, const float *y, int64_t q, int64_t row, int64_t k) {
    float score[NEAREST_MOST];
    uint32_t nearest[NEAREST_MOST];
    double sum = 0;
    ikt_tree_nearest(tree, y + q * row, row, k, score, nearest);
    for (int64_t e = 0; e < k; e++)
        sum += sqrt((double)score[e]);
    return sum / (double)k;
}

/* LOCAL. With all positions y [n * q]. */
static ikt_status find_apart(ikt_context *ctx, const float *y, int64_t n, int64_t q,
                             const int64_t *marked, int64_t n_marked, ikt_measures *out) {
    const int64_t k = ikt_smaller(n - 1, NEAREST_MOST), step = (n + APART_MOST - 1) / APART_MOST;
    const int64_t queries = (n + step - 1) / step;
    double least = INFINITY;
    ikt_tree tree IKT_AT_END(ikt_tree_destroy) = {0};
    IKT_TRY(ikt_tree_create(ctx, y, n, q, &tree));
    IKT_ARRAYS(held, ctx, "measures");
    float *usual = ikt_claim(&held, queries, sizeof *usual);
    IKT_TRY(held.status);
    for (int64_t i = 0; i < queries; i++)
        usual[i] = (float)spacing(&tree, y, q, i * step, k);
    const double median = ikt_median(usual, queries);
    for (int64_t m = 0; m < n_marked; m++)
        least = fmin(least, spacing(&tree, y, q, marked[m], k) / median);
    return ikt_measures_add(ctx, out, "marked rows apart", median > 0 ? least : NAN,
                            step > 1 ? queries : 0,
                            "distance from the ten nearest in the map, in medians of all rows; 1 "
                            "like any other, outliers more");
}

ikt_status ikt_measure_apart(ikt_context *ctx, const ikt_measured *what, const int64_t *marked,
                             int64_t n_marked, ikt_measures *out) {
    const int64_t n = what->rows.n, q = what->q;
    float *y IKT_AT_END(ikt_free) = NULL;
    if (n_marked == 0 || n < 2) return IKT_OK;
    IKT_TRY(ikt_share_rows(ctx, &what->rows, what->y, (size_t)q * sizeof *y, "measures", &y));
    return ikt_agree(ctx, find_apart(ctx, y, n, q, marked, n_marked, out));
}
