/* The Fisher distance of two rows: how far the classes' probabilities change on the straight line
 * from one to the other.
 *
 * A row is its *log-weights*: for each row s_l of a support (class_model.h) the logarithm, to the
 * base 2, of its share of the weights there, log2(w_l / sum of w). On the line x(t) from x_i to x_j
 * they are linear in t up to a summand that all have in common, so that the probability of class c
 * at x(t) is
 *     p_c(t) = sum over l of class c of 2^z_l / sum over all l of 2^z_l,  z = (1 - t) a_i + t a_j.
 * The length of the line in the Fisher metric is twice the length of the curve sqrt(p(t)) on the
 * unit sphere (Schulz, Brinkrolf & Hammer 2017, with the curve in place of their sum). T points
 * cut it into N = T + 1 equal pieces t_q = q / N:
 *   arc         the sum of 2 x the great-circle arcs between the points: never above the length,
 *               grows where N is a multiple of a smaller N, error O(N^-2)
 *   trapezoid   of the speed v(t) = 2 |d sqrt(p) / dt| at the ends of the pieces, error O(N^-2)
 *   outer       of the speed at the outer end of each piece, as the paper has it; N is even. The
 *               middle, where the boundary of two classes mostly lies, is not looked at. O(N^-1)
 * The last two are for comparison with the paper only.
 *
 * Log-weights stand in the order of the classes, those of a class in groups of sixteen lanes, what
 * the last group lacks with weight 0 (IKT_NO_WEIGHT). A sum over a class is sixteen lanes that are
 * added pairwise; that over the classes is another. The exponential and the arc sine are made of
 * additions and multiplications. So a distance has the same bits on every instruction set, and
 * d(i, j) = d(j, i) where the caller gives the lower row first.
 */
#ifndef IKT_METRIC_SEGMENT_H
#define IKT_METRIC_SEGMENT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"

enum { IKT_POINTS_MOST = 1000, IKT_CLASSES_MOST = 1024 };

/* Order of the choices of fisher.rule. */
typedef enum { IKT_RULE_ARC, IKT_RULE_OUTER, IKT_RULE_TRAPEZOID } ikt_segment_rule;

/* Log-weight of an entry that has none, and of a lane without an entry. */
#define IKT_NO_WEIGHT (-1e30f)

/* Where the classes stand in a row of log-weights. */
typedef struct {
    int64_t lanes; /* of a row of log-weights: a multiple of 16 */
    int classes;
    int wide;             /* classes, rounded up to a multiple of 16 */
    const int64_t *first; /* [classes + 1] first lane of each class, a multiple of 16; borrowed */
} ikt_class_lanes;

/* LOCAL, pure. sqrt(p) at one point of a line.
 *   low, high    [lanes] log-weights of its ends, aligned to 64 bytes
 *   root         [wide], receives the square roots of the probabilities; 0 from `classes` on */
typedef void ikt_segment_roots(const ikt_class_lanes *shape, const float *low, const float *high,
                               float t, float *root);

/* LOCAL, pure. The square of the speed v(t), arguments as above. */
typedef double ikt_segment_speed(const ikt_class_lanes *shape, const float *low, const float *high,
                                 float t);

/* LOCAL, pure. Half of the way to the weights in the middle of lines: half[l] = 2^(weight[l] / 2),
 * of `lanes` log-weights. */
typedef void ikt_segment_halves(const float *weight, int64_t lanes, float *half);

/* LOCAL, pure. sqrt(p) in the middle of a line, from the halves of its ends: products in place of
 * exponentials, for bounds; what is kept comes from `roots`. Returns the sum of all weights; where
 * that is below 1e-30 what is in root[wide] means nothing. */
typedef float ikt_segment_middle(const ikt_class_lanes *shape, const float *half,
                                 const float *other, float *root);

/* LOCAL, pure. |a - b|^2 of two roots[wide]: the square of the chord. */
typedef float ikt_segment_chord(const float *a, const float *b, int wide);

/* LOCAL, pure. The sum of the arcs between `points` points: see ikt_segment_distance.
 *   root   [points * wide] work space */
typedef float ikt_segment_arcs(const ikt_class_lanes *shape, int points, const float *low,
                               const float *high, const float *root_low, const float *root_high,
                               float limit, float *root);

typedef struct {
    ikt_segment_roots *roots;
    ikt_segment_speed *speed;
    ikt_segment_halves *halves;
    ikt_segment_middle *middle;
    ikt_segment_chord *chord;
    ikt_segment_arcs *arcs;
} ikt_segment_kernel;

/* All give the same bits. */
IKT_KERNELS(const ikt_segment_kernel, ikt_segment_kernel)

/* LOCAL, pure. The Fisher length 4 asin(h / 2) of the arc over a chord, from its square h^2, which
 * is cut to 2. asin(x) = x f(x^2), f through the Chebyshev nodes of 0 <= x^2 <= 1/2: to 1e-9 of
 * itself before rounding. */
static inline float ikt_segment_arc(float squared) {
    const float u = 0.25f * (squared < 2 ? squared : 2), v = u * u;
    const float low = (1.0f + 0.166666761f * u) + v * (0.0749938115f + 0.0447978675f * u);
    const float high =
        (0.0284338016f + 0.0362081751f * u) + v * (-0.0410680883f + 0.160831779f * u);
    const float top = -0.195546269f + 0.14315106f * u;
    return 4 * sqrtf(u) * (low + v * v * (high + v * v * top));
}

/* LOCAL, pure. The square of the chord under an arc of that length; infinite from pi on. */
double ikt_segment_chord_of(double length);

/* How distances are summed up. */
typedef struct {
    const ikt_segment_kernel *kernel;
    ikt_class_lanes shape;
    ikt_segment_rule rule;
    int points; /* T */
} ikt_segment_job;

/* LOCAL, pure. Floats of scratch memory that ikt_segment_distance needs. */
int64_t ikt_segment_scratch(const ikt_class_lanes *shape, int points);

/* LOCAL, pure. The distance of two rows.
 *   low, high             [lanes] log-weights, the lower row first
 *   root_low, root_high   [wide] their sqrt(p), as `roots` gives them with t = 0
 *   limit                 arc: a distance that is found to be above it need not be known. What is
 *                         known without it has the same bits whatever the limit is
 *   scratch               [ikt_segment_scratch]
 * Returns the distance, or infinity where it is above the limit. */
float ikt_segment_distance(const ikt_segment_job *job, const float *low, const float *high,
                           const float *root_low, const float *root_high, float limit,
                           float *scratch);

#endif
