/* Symmetric SNE: KL(P || Q), Q of the Gaussian kernel w = exp(-r^2) (Hinton & Roweis 2003; Cook,
 * Sutskever, Mnih & Hinton 2007).
 *
 * w' = -w, so gradient_i = 4 sum_j p_ij (y_i - y_j) + (2 / Z) grad phi(y_i): attraction that does
 * not weaken with distance, repulsion that does not reach far. For the record, and to see what the
 * heavy tail of t-SNE is for: clusters crowd together. */
#include <math.h>

#include "objective/divergence.h"

static ikt_pair_law law(const ikt_divergence_sums *sums) {
    (void)sums;
    return (ikt_pair_law){IKT_LAW_SNE, 0, 0, 0};
}

static ikt_divergence_terms combine(const ikt_divergence_sums *sums) {
    const double z = sums->total[0];
    return (ikt_divergence_terms){4, {2 / z, 0}, sums->value + log(z)};
}

const ikt_divergence ikt_divergence_sne = {"sne", "KL",   false, false, 1, {IKT_KERNEL_GAUSSIAN},
                                           law,   combine};
