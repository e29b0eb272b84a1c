/* NeRV, the type 1 mixture: E = (1 - k) KL(P || Q) + k KL(Q || P~) (Venna, Peltonen, Nybo, Aidos &
 * Kaski 2010; on joint probabilities with the Student kernel, as their t-NeRV).
 *
 * The second term punishes false neighbours, near in the map and far in the data. It needs p > 0:
 * P~ = max(P, e) with the floor e = 0.01 / (n (n - 1)) (ikt_nerv_floor). With l = log(p~ / e),
 * which is 0 off the support, g = -(1 - k) p / q + k (log(q / p~) + 1),   log(q / p~) = log w -
 * log(Z e) - l, G = -(1 - k) + k (C + 1),   C = KL(Q || P~) = (S2 - L) / Z - log(Z e), where S2 =
 * sum of w log w over all pairs and L = sum of l w over the support. The floor cancels: gradient_i
 * = 4 sum_support [(1 - k) p w + (k / Z) l w^2] (y_i - y_j)
 *                  + (2 / Z) [(1 - k) - k - (k / Z)(S2 - L)] grad phi + (2 k / Z) grad phi2,
 * phi2 being the sum of w log w, whose gradient is -2 (log w + 1) w^2 (y_i - y_j).
 * Advantage: two kernels over all pairs, both of which a grid can sum. Disadvantage: twice the cost
 * of repulsion. k -> 0 is t-SNE. */
#include <math.h>

#include "objective/divergence.h"

double ikt_nerv_floor(int64_t n) {
    return 0.01 / ((double)n * (double)(n - 1));
}

static ikt_pair_weight weight(const ikt_divergence_sums *sums) {
    const double k = sums->trade_off;
    return (ikt_pair_weight){IKT_PAIR_NERV, (float)(1 - k), (float)(k / sums->total[0]),
                             (float)(1 / ikt_nerv_floor(sums->n))};
}

static ikt_divergence_terms combine(const ikt_divergence_sums *sums) {
    const double k = sums->trade_off, z = sums->total[0];
    const double mean = (sums->total[1] - sums->balance) / z;
    const double dual = mean - log(z * ikt_nerv_floor(sums->n));
    return (ikt_divergence_terms){4,
                                  {2 / z * (1 - k - k - k * mean), 2 * k / z},
                                  (1 - k) * (sums->value + log(z)) + k * dual};
}

static const ikt_divergence divergence = {.has_trade_off = true,
                                          .has_balance = true,
                                          .n_kernels = 2,
                                          .kernel = {IKT_KERNEL_STUDENT, IKT_KERNEL_STUDENT_LOG},
                                          .weight = weight,
                                          .combine = combine};

const ikt_objective_kind ikt_objective_nerv = {IKT_DIVERGENCE_KIND, .name = "nerv",
                                               .value_name = "cost", .divergence = &divergence,
                                               .create = ikt_divergence_create};
