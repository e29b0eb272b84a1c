/* Symmetric SNE: KL(P || Q), Q of the Gaussian kernel w = exp(-r^2) (Hinton & Roweis 2003; Cook,
 * Sutskever, Mnih & Hinton 2007).
 *
 * w' = -w, so gradient_i = 4 sum_j p_ij (y_i - y_j) + (2 / Z) grad phi(y_i): attraction that does
 * not weaken with distance, repulsion that does not reach far. For the record, and to see what the
 * heavy tail of t-SNE is for: clusters crowd together. */
#include <math.h>

#include "objective/divergence.h"

static ikt_pair_weight weight(const ikt_divergence_sums *sums) {
    (void)sums;
    return (ikt_pair_weight){IKT_PAIR_SNE, 0, 0, 0};
}

static ikt_divergence_terms combine(const ikt_divergence_sums *sums) {
    const double z = sums->total[0];
    return (ikt_divergence_terms){4, {2 / z, 0}, sums->value + log(z)};
}

static const ikt_divergence divergence = {.has_trade_off = false,
                                          .has_balance = false,
                                          .n_kernels = 1,
                                          .kernel = {IKT_KERNEL_GAUSSIAN},
                                          .weight = weight,
                                          .combine = combine};

const ikt_objective_kind ikt_objective_sne = {IKT_DIVERGENCE_KIND, .name = "sne",
                                              .value_name = "KL", .divergence = &divergence,
                                              .create = ikt_divergence_create};
