/* The fit of UMAP's curve. See umap_curve.h.
 *
 * Method: Levenberg and Marquardt's damped Gauss-Newton steps on (log a, log b), which keep both
 * above 0, with distances in units of the spread, as a scale of d changes nothing but a.
 * Advantage: two unknowns, some ten steps to the last digits. Disadvantage: none that matters here;
 * the sum of squares has one valley. */
#include "sampled/umap_curve.h"

#include <math.h>

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
