/* t-SNE: KL(P || Q), Q of the Student kernel (van der Maaten & Hinton 2008).
 *
 * f = p log(p / q), so g = -p / q and G = -1. With phi(y) = sum_j w(y - y_j), the repulsive sum
 * sum_j w_ij^2 (y_i - y_j) is -1/2 grad phi(y_i) (methods, section 3), and
 *     gradient_i = 4 sum_j p_ij w_ij (y_i - y_j) + (2 / Z) grad phi(y_i). */
#include <math.h>

#include "objective/divergence.h"

static ikt_pair_law law(const ikt_divergence_sums *sums) {
    (void)sums;
    return (ikt_pair_law){IKT_LAW_TSNE, 0, 0, 0};
}

static ikt_divergence_terms combine(const ikt_divergence_sums *sums) {
    const double z = sums->total[0];
    return (ikt_divergence_terms){4, {2 / z, 0}, sums->value + log(z)};
}

const ikt_divergence ikt_divergence_tsne = {"tsne", "KL",   false, false, 1, {IKT_KERNEL_STUDENT},
                                            law,    combine};
