/* The loss of a triplet and its gradient. See triplet.h. */
#include "sampled/triplet.h"

#include <math.h>

double ikt_log_t(double t, double log_of) {
    return t == 1 ? log_of : expm1((1 - t) * log_of) / (1 - t);
}

double ikt_log_exp_t(double t_prime, double square) {
    const double a = t_prime - 1;
    return a == 0 ? -square : -log1p(a * square) / a;
}

static ikt_triplet_terms usual(double u_square, double v_square) {
    const double a = 1 + u_square, b = 1 + v_square, both = a + b;
    return (ikt_triplet_terms){a / both, 2 * (b / both) / both, 2 * (a / both) / both};
}

ikt_triplet_terms ikt_triplet(const ikt_triplet_rule *rule, double u_square, double v_square) {
    const double t = rule->t, a = rule->t_prime - 1;
    if (t == 2 && a == 1) return usual(u_square, v_square);
    const double l =
        ikt_log_exp_t(rule->t_prime, v_square) - ikt_log_exp_t(rule->t_prime, u_square);
    const double e = exp(-fabs(l)), rest = log1p(e); /* log(1 + r) = max(l, 0) + rest */
    const double h = exp((l > 0 ? (1 - t) * l : l) - t * rest);
    return (ikt_triplet_terms){ikt_log_t(t, fmax(l, 0) + rest), 2 * h / (1 + a * u_square),
                               2 * h / (1 + a * v_square)};
}

double ikt_triplet_weight(ikt_triplet_weighing weighing, double l, double most) {
    if (!(l > 0)) return 0;
    if (weighing == IKT_TRIPLET_UNIT) return 1;
    if (weighing == IKT_TRIPLET_RATIO) return exp(fmin(l - most, 0)) + IKT_TRIPLET_RATIO_LEAST;
    return 2 * (sqrt(1 + l) - 1);
}
