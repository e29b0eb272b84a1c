/* The sections umap and largevis. */
#include "sampled/negative_settings.h"

#include <math.h>
#include <stddef.h>

#include "sampled/pool.h"

/* The fit of UMAP's curve.
 *
 * Method: Levenberg and Marquardt's damped Gauss-Newton steps on (log a, log b), which keep both
 * above 0, with distances in units of the spread, as a scale of d changes nothing but a.
 * Advantage: two unknowns, some ten steps to the last digits. Disadvantage: none that matters here;
 * the sum of squares has one valley. */

enum { POINTS = 300, STEPS = 200 };

/* The sum of squares at (log a, log b), and what Gauss and Newton make of it: J^T J and J^T r. */
typedef struct {
    double squares, square[3], slope[2]; /* square: of (a, a), (a, b), (b, b) */
} normal;

static normal look(double min_dist, double log_a, double log_b) {
    const double a = exp(log_a), b = exp(log_b);
    normal sum = {0, {0, 0, 0}, {0, 0}};
    for (int e = 0; e < POINTS; e++) {
        const double d = 3.0 * e / (POINTS - 1);
        const double wanted = d < min_dist ? 1 : exp(-(d - min_dist));
        const double power = a * pow(d, 2 * b), w = 1 / (1 + power), r = w - wanted;
        const double by_a = -power * w * w;
        const double by_b = d > 0 ? by_a * 2 * b * log(d) : 0;
        sum.squares += r * r;
        sum.square[0] += by_a * by_a;
        sum.square[1] += by_a * by_b;
        sum.square[2] += by_b * by_b;
        sum.slope[0] += by_a * r;
        sum.slope[1] += by_b * r;
    }
    return sum;
}

ikt_umap_curve ikt_umap_curve_fit(double min_dist, double spread) {
    const double least = min_dist / spread;
    double log_a = 0, log_b = 0, damping = 1e-3;
    normal at = look(least, log_a, log_b);
    for (int step = 0; step < STEPS && damping < 1e12; step++) {
        const double aa = at.square[0] * (1 + damping), bb = at.square[2] * (1 + damping);
        const double ab = at.square[1], determinant = aa * bb - ab * ab;
        const double move_a = -(bb * at.slope[0] - ab * at.slope[1]) / determinant;
        const double move_b = -(aa * at.slope[1] - ab * at.slope[0]) / determinant;
        const normal there = look(least, log_a + move_a, log_b + move_b);
        if (there.squares <= at.squares) {
            log_a += move_a;
            log_b += move_b;
            at = there;
            damping *= 0.1;
            if (fabs(move_a) + fabs(move_b) < 1e-12) break;
        } else {
            damping *= 10;
        }
    }
    const double b = exp(log_b);
    return (ikt_umap_curve){exp(log_a) / pow(spread, 2 * b), b};
}

enum { USUAL_POOL = 4096, USUAL_FAR = 32, USUAL_FAR_OF_LARGEVIS = 64 };

#define NEGATIVES_HELP                                                                             \
    "The negative samples of an edge, M: how many rows drawn at random a row is repelled by for "  \
    "each row that it is attracted to"
#define POOL_HELP                                                                                  \
    "The rows of the pool that negative samples are taken from. All ranks hold their positions; "  \
    "auto is 4096, or all rows where there are fewer"
#define FAR_HELP                                                                                   \
    "The rows of the pool that each sixteen consecutive rows meet in an iteration. Their force "   \
    "stands for that of all negative samples: more rows make it less noisy and take longer. auto " \
    "is 32 for umap and 64 for largevis, whose repulsion is stronger, or all of a smaller pool"
#define REDRAW_HELP                                                                                \
    "The iterations after which the pool is drawn anew. A pool that is kept for long shapes the "  \
    "map"

#define UMAP(name, type, fallback, low, high, is_auto, unit, help)                                 \
    {                                                                                              \
#name, type, offsetof(ikt_umap_settings, name), fallback, low, high, is_auto, NULL, unit,  \
            help                                                                                   \
    }
#define SAMPLE(of, name, fallback, low, high, is_auto, unit, help)                                 \
    {                                                                                              \
#name, IKT_KEY_INT, offsetof(of, sample.name), fallback, low, high, is_auto, NULL, unit,   \
            help                                                                                   \
    }

static const ikt_key umap_keys[] = {
    UMAP(min_dist, IKT_KEY_REAL, "0.1", 0, 1e6, 0, "",
         "The distance in the map up to which rows count as being together: small values give "
         "tight clumps, large ones an even picture. At most umap.spread"),
    UMAP(spread, IKT_KEY_REAL, "1", 1e-6, 1e6, 0, "",
         "The distance over which similarity in the map falls by the factor e, beyond min_dist: "
         "the scale of the map"),
    UMAP(a, IKT_KEY_REAL, "auto", 1e-9, 1e9, 1, "",
         "The parameter a of the map's similarity 1 / (1 + a d^(2 b)); auto is fitted to min_dist "
         "and spread"),
    UMAP(b, IKT_KEY_REAL, "auto", 0.1, 10, 1, "",
         "The parameter b of the map's similarity; auto is fitted to min_dist and spread"),
    UMAP(repulsion, IKT_KEY_REAL, "1", 0, 1e6, 0, "",
         "The weight of the repulsion by negative samples (called repulsion_strength elsewhere)"),
    SAMPLE(ikt_umap_settings, negatives, "5", 1, 10000, 0, "rows", NEGATIVES_HELP),
    SAMPLE(ikt_umap_settings, pool, "auto", 1, 1e9, 1, "rows", POOL_HELP),
    SAMPLE(ikt_umap_settings, far_rows, "auto", 1, 65536, 1, "rows", FAR_HELP),
    SAMPLE(ikt_umap_settings, redraw, "1", 1, 1e7, 0, "iterations", REDRAW_HELP)};

const ikt_section ikt_umap_section = {"umap", "The objective of UMAP (layout.objective: umap)",
                                      umap_keys, sizeof umap_keys / sizeof *umap_keys};

static const ikt_key largevis_keys[] = {
    {"repulsion", IKT_KEY_REAL, offsetof(ikt_largevis_settings, repulsion), "7", 0, 1e6, 0, NULL,
     "", "The weight gamma of the repulsion by negative samples"},
    SAMPLE(ikt_largevis_settings, negatives, "5", 1, 10000, 0, "rows", NEGATIVES_HELP),
    SAMPLE(ikt_largevis_settings, pool, "auto", 1, 1e9, 1, "rows", POOL_HELP),
    SAMPLE(ikt_largevis_settings, far_rows, "auto", 1, 65536, 1, "rows", FAR_HELP),
    SAMPLE(ikt_largevis_settings, redraw, "1", 1, 1e7, 0, "iterations", REDRAW_HELP)};

const ikt_section ikt_largevis_section = {
    "largevis", "The objective of LargeVis (layout.objective: largevis)", largevis_keys,
    sizeof largevis_keys / sizeof *largevis_keys};

static ikt_status resolve_sample(ikt_context *ctx, const char *section, int64_t n,
                                 int64_t usual_far, ikt_negative_settings *sample) {
    if (sample->pool == IKT_AUTO_INT) sample->pool = n < USUAL_POOL ? n : USUAL_POOL;
    if (sample->pool > n)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s.pool = %lld, but there are only %lld rows to draw: choose at most "
                        "that, or auto",
                        section, (long long)sample->pool, (long long)n);
    if (sample->far_rows == IKT_AUTO_INT)
        sample->far_rows = usual_far < sample->pool ? usual_far : sample->pool;
    if (sample->far_rows > sample->pool)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s.far_rows = %lld, but the pool has only %lld rows: choose at most that",
                        section, (long long)sample->far_rows, (long long)sample->pool);
    return IKT_OK;
}

ikt_status ikt_umap_resolve(ikt_context *ctx, int64_t n, ikt_umap_settings *settings) {
    const bool has_a = settings->a > IKT_AUTO_REAL, has_b = settings->b > IKT_AUTO_REAL;
    if (has_a != has_b)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "umap.%s is given and umap.%s is not: they are two parameters of one curve "
                        "and are given together, or follow from umap.min_dist and umap.spread",
                        has_a ? "a" : "b", has_a ? "b" : "a");
    if (!has_a && settings->min_dist > settings->spread)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "umap.min_dist = %g must not be larger than umap.spread = %g",
                        settings->min_dist, settings->spread);
    if (!has_a) {
        const ikt_umap_curve curve = ikt_umap_curve_fit(settings->min_dist, settings->spread);
        settings->a = curve.a;
        settings->b = curve.b;
    }
    return resolve_sample(ctx, "umap", n, USUAL_FAR, &settings->sample);
}

ikt_status ikt_largevis_resolve(ikt_context *ctx, int64_t n, ikt_largevis_settings *settings) {
    return resolve_sample(ctx, "largevis", n, USUAL_FAR_OF_LARGEVIS, &settings->sample);
}
