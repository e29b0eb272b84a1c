/* UMAP (McInnes, Healy & Melville 2018, section 3.2) by negative samples: a and b of min_dist and
 * spread, gamma = 1, M = 5, and m = M / 2, as its program moves a row away from its negative
 * samples but not these from the row (Damrich & Hamprecht 2021). */
#include "objective/umap.h"

#include <math.h>
#include <stddef.h>

#include "objective/negative_sampling.h"

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

static ikt_status resolve(ikt_context *ctx, const ikt_objective_kind *kind, int64_t n, int q,
                          ikt_objective_options *options) {
    ikt_negative_settings *s = &options->own.umap;
    const bool has_a = s->a > IKT_AUTO_REAL, has_b = s->b > IKT_AUTO_REAL;
    if (has_a != has_b)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "umap.%s is given and umap.%s is not: they are two parameters of one curve "
                        "and are given together, or follow from umap.min_dist and umap.spread",
                        has_a ? "a" : "b", has_a ? "b" : "a");
    if (!has_a && s->min_dist > s->spread)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "umap.min_dist = %g must not be larger than umap.spread = %g", s->min_dist,
                        s->spread);
    if (!has_a) {
        const ikt_umap_curve curve = ikt_umap_curve_fit(s->min_dist, s->spread);
        s->a = curve.a;
        s->b = curve.b;
    }
    return ikt_negatives_resolve(ctx, kind, n, q, options);
}

static const ikt_key keys[] = {
    IKT_NEGATIVE_KEY(min_dist, IKT_KEY_REAL, "0.1", 0, 1e6, 0, "",
                     "The distance in the map up to which rows count as being together: small "
                     "values give tight clumps, large ones an even picture. At most umap.spread"),
    IKT_NEGATIVE_KEY(spread, IKT_KEY_REAL, "1", 1e-6, 1e6, 0, "",
                     "The distance over which similarity in the map falls by the factor e, beyond "
                     "min_dist: the scale of the map"),
    IKT_NEGATIVE_KEY(a, IKT_KEY_REAL, "auto", 1e-9, 1e9, 1, "",
                     "The parameter a of the map's similarity 1 / (1 + a d^(2 b)); auto is fitted "
                     "to min_dist and spread"),
    IKT_NEGATIVE_KEY(b, IKT_KEY_REAL, "auto", 0.1, 10, 1, "",
                     "The parameter b of the map's similarity; auto is fitted to min_dist and "
                     "spread"),
    IKT_NEGATIVE_KEY(repulsion, IKT_KEY_REAL, "1", 0, 1e6, 0, "",
                     "The weight of the repulsion by negative samples (called repulsion_strength "
                     "elsewhere)"),
    IKT_NEGATIVE_KEYS};

static const ikt_section section = {"umap", "The objective of UMAP (layout.objective: umap)", keys,
                                    sizeof keys / sizeof *keys};

static const ikt_negative_kind negatives = {
    .has_curve = true, .soft = 0.001, .clip = 4, .share = 0.5, .usual_far = 32};

const ikt_objective_kind ikt_objective_umap = {.name = "umap",
                                               .section = &section,
                                               .keys = offsetof(ikt_objective_own, umap),
                                               .negatives = &negatives,
                                               .resolve = resolve,
                                               .iterations = 500,
                                               .many_iterations = 1000,
                                               IKT_NEGATIVE_SAMPLING_KIND};
