/* JSE, the type 2 mixture, a generalised Jensen-Shannon divergence (Lee, Renard, Bernard, Dupont &
 * Verleysen 2013; on joint probabilities): with Z' = k P + (1 - k) Q,
 *     E = KL(P || Z') / (1 - k) + KL(Q || Z') / k.
 * k -> 0 is KL(P || Q), t-SNE; k -> 1 is KL(Q || P); k = 1/2 is four times the Jensen-Shannon
 * divergence.
 *
 * g = log(q / z') / k. Off the support of P it is the constant g0 = -log(1 - k) / k; on it, with
 * r = k p / ((1 - k) q) and l = log(1 + r), g - g0 = -l / k. So with B = sum of l w over the
 * support g0 - G = B / (k Z), gradient_i = (4 / (k Z)) sum_support l w^2 (y_i - y_j) + (2 / Z) B /
 * (k Z) grad phi. Advantage: p need not be positive, and any way of summing the Student kernel over
 * all pairs will do: exact for a sparse P, at the price of t-SNE. Disadvantage: a sum over all
 * ranks more an evaluation, and a logarithm an entry of P. */
#include <math.h>

#include "objective/divergence.h"

static ikt_pair_weight weight(const ikt_divergence_sums *sums) {
    const double k = sums->trade_off, z = sums->total[0];
    return (ikt_pair_weight){IKT_PAIR_JSE, (float)(k * z / (1 - k)), 0, (float)z};
}

static ikt_divergence_terms combine(const ikt_divergence_sums *sums) {
    const double k = sums->trade_off, z = sums->total[0], balance = sums->balance / z;
    const double rest = log1p(-k);
    return (ikt_divergence_terms){4 / (k * z),
                                  {2 / z * balance / k, 0},
                                  (sums->value - rest) / (1 - k) - (rest + balance) / k};
}

static const ikt_divergence divergence = {.has_trade_off = true,
                                          .has_balance = true,
                                          .n_kernels = 1,
                                          .kernel = {IKT_KERNEL_STUDENT},
                                          .weight = weight,
                                          .combine = combine};

const ikt_objective_kind ikt_objective_jse = {IKT_DIVERGENCE_KIND, .name = "jse",
                                              .value_name = "cost", .divergence = &divergence,
                                              .create = ikt_divergence_create};
