/* What a divergence between P and the map's Q is made of: the objectives as formulas.
 *
 * Each is E = sum over i != j of f(p_ij, q_ij), q_ij = w_ij / Z, Z = sum of w. With g = df/dq and
 * G = sum g q, and w' = dw / d(r^2), its gradient is
 *     grad_i = (4 / Z) sum_j (g_ij - G) w'_ij (y_i - y_j),
 * which splits into a sum over the support of P (attraction.h, the weight of a pair) and sums of
 * kernels over all pairs (kernelsum.h). A divergence is one such struct and one line of the
 * table in objective.c.
 */
#ifndef IKT_OBJECTIVE_DIVERGENCE_H
#define IKT_OBJECTIVE_DIVERGENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "objective/attraction.h"
#include "objective/objective.h"

enum { IKT_KERNELS_MOST = 2 };

/* Known sums of an evaluation. */
typedef struct {
    int64_t n;
    double trade_off;               /* kappa, above 0 and below 1, where there is one */
    double total[IKT_KERNELS_MOST]; /* of each kernel over all pairs k != l; the first is Z */
    double value, balance;          /* of the terms of pairs over the support of P */
} ikt_divergence_sums;

/* The gradient is attraction * (sums of the pairs' weights) + sum over kernels of
 * field * grad phi. */
typedef struct {
    double attraction, field[IKT_KERNELS_MOST];
    double value; /* of the objective; means something where the pairs' values were summed */
} ikt_divergence_terms;

struct ikt_divergence {
    bool has_trade_off;
    bool has_degrees; /* of freedom other than 1 */
    bool has_balance; /* pairs have such terms, which every evaluation needs */
    int n_kernels;
    /* Summed over all pairs with 1 degree of freedom; the first gives Z. */
    ikt_kernel_kind kernel[IKT_KERNELS_MOST];
    ikt_pair_kind pair; /* where its weight has no constants, and `weight` is NULL */
    /* LOCAL, pure. The weight of pairs once the totals are known, and what comes of its sums. */
    ikt_pair_weight (*weight)(const ikt_divergence_sums *sums);
    ikt_divergence_terms (*combine)(const ikt_divergence_sums *sums);
};

/* The evaluation that all divergences share: functions of an ikt_objective_kind. */
ikt_status ikt_divergence_resolve(ikt_context *ctx, const ikt_objective_kind *kind, int64_t n,
                                  int q, ikt_objective_options *options);
ikt_status ikt_divergence_create(ikt_context *ctx, const ikt_objective_inputs *inputs,
                                 ikt_objective *out);
void ikt_divergence_destroy(ikt_objective *objective);
ikt_status ikt_divergence_evaluate(ikt_objective *objective, int64_t iteration, bool want_value,
                                   ikt_gradient *gradient, ikt_objective_terms *terms);
void ikt_divergence_describe(const ikt_objective *objective, char *text, size_t size);
int64_t ikt_divergence_memory(const ikt_objective_kind *kind, const ikt_objective_shape *shape);
void *ikt_divergence_state_array(ikt_objective *objective, int64_t iteration, int k);

/* What every objective of this kind says of itself, for its struct: all but the names, the
 * divergence and `create`. */
#define IKT_DIVERGENCE_KIND                                                                        \
    .needs = IKT_NEEDS_P, .has_exaggeration = true, .optimiser = &ikt_optimiser_momentum,          \
    .resolve = ikt_divergence_resolve, .destroy = ikt_divergence_destroy,                          \
    .evaluate = ikt_divergence_evaluate, .describe = ikt_divergence_describe,                      \
    .memory = ikt_divergence_memory

/* LOCAL, pure. What sums of its first kernel by FFT are made with. */
ikt_fft_settings ikt_divergence_fft(const ikt_divergence *divergence,
                                    const ikt_objective_options *options);

/* COLLECTIVE. A total over all pairs, above all the normalisation Z: the sum over all rows of
 * phi - self, each cut to 2^-30; the same on any ranks and threads.
 *   phi    [n_local] sums of the kernel, the point itself included: below 2^32 in magnitude
 *   self   the kernel at distance 0, what the point itself adds
 * NaN where a phi of any rank is not finite. */
double ikt_normalisation(ikt_context *ctx, const double *phi, double self, int64_t n_local);

/* LOCAL, pure. What the sum Z of a kernel over the n (n - 1) pairs tells of the map. */
ikt_map_condition ikt_map_condition_of(double z, int64_t n);

/* t-SNE with a dense P and exact sums, attraction and repulsion in one pass over all pairs
 * (dense_tsne.c): what ikt_divergence_create gives with exact sums, to rounding, in about half the
 * time. Positions are replicated on every rank. t-SNE's own `create` makes it where it can. With a
 * regulariser that pulls at the map the value is not KL alone. */
extern const ikt_objective_kind ikt_objective_dense_tsne, ikt_objective_dense_regularised;

/* LOCAL. The floor under P in the second term of NeRV, for n points: 0.01 / (n (n - 1)), so that
 * all pairs together have a hundredth of the mass. */
double ikt_nerv_floor(int64_t n);

#endif
