/* t-SNE: KL(P || Q), Q of the Student kernel (van der Maaten & Hinton 2008).
 *
 * f = p log(p / q), so g = -p / q and G = -1. With phi(y) = sum_j w(y - y_j), the repulsive sum
 * sum_j w_ij^2 (y_i - y_j) is -1/2 grad phi(y_i) (methods, section 3), and
 *     gradient_i = 4 sum_j p_ij w_ij (y_i - y_j) + (2 / Z) grad phi(y_i). */
#include <math.h>

#include "objective/divergence.h"

static ikt_pair_weight weight(const ikt_divergence_sums *sums) {
    (void)sums;
    return (ikt_pair_weight){IKT_PAIR_TSNE, 0, 0, 0};
}

static ikt_divergence_terms combine(const ikt_divergence_sums *sums) {
    const double z = sums->total[0];
    return (ikt_divergence_terms){4, {2 / z, 0}, sums->value + log(z)};
}

static const ikt_divergence divergence = {.has_trade_off = false,
                                          .has_balance = false,
                                          .n_kernels = 1,
                                          .kernel = {IKT_KERNEL_STUDENT},
                                          .weight = weight,
                                          .combine = combine};

/* A dense P with exact sums takes one pass for everything. */
static ikt_status create(ikt_context *ctx, const ikt_objective_inputs *inputs, ikt_objective *out) {
    if (!inputs->dense || inputs->options.repulsion != IKT_REPULSION_EXACT)
        return ikt_divergence_create(ctx, inputs, out);
    out->kind = &ikt_objective_dense_tsne;
    return out->kind->create(ctx, inputs, out);
}

const ikt_objective_kind ikt_objective_tsne = {IKT_DIVERGENCE_KIND, .name = "tsne",
                                               .value_name = "KL", .divergence = &divergence,
                                               .create = create};
