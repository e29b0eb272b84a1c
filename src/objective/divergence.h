/* What a divergence between P and the map's Q is made of: the objectives as formulas.
 *
 * Each is E = sum over i != j of f(p_ij, q_ij), q_ij = w_ij / Z, Z = sum of w. With g = df/dq and
 * G = sum g q, and w' = dw / d(r^2), its gradient is
 *     grad_i = (4 / Z) sum_j (g_ij - G) w'_ij (y_i - y_j),
 * which splits into a sum over the support of P (attraction.h, the law of pairs) and sums of
 * kernels over all pairs (kernelsum.h). A divergence is one file with one such struct and one line
 * of the table in objective_table.c.
 */
#ifndef IKT_OBJECTIVE_DIVERGENCE_H
#define IKT_OBJECTIVE_DIVERGENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernelsum/kernelsum.h"
#include "objective/pair_law.h"

enum { IKT_KERNELS_MOST = 2 };

/* Known sums of an evaluation. */
typedef struct {
    int64_t n;
    double trade_off;               /* kappa, above 0 and below 1, where there is one */
    double total[IKT_KERNELS_MOST]; /* of each kernel over all pairs k != l; the first is Z */
    double value, balance;          /* of the law's terms over the support of P */
} ikt_divergence_sums;

/* The gradient is pull * (sums of the law's weights) + sum over kernels of field * grad phi. */
typedef struct {
    double pull, field[IKT_KERNELS_MOST];
    double value; /* of the objective; means something where the law's value was summed */
} ikt_divergence_terms;

typedef struct {
    const char *name;
    const char *value_name; /* "KL" where it is KL(P || Q), else "cost" */
    bool has_trade_off;
    bool has_balance; /* the law has such terms, which every evaluation needs */
    int n_kernels;
    ikt_kernel kernel[IKT_KERNELS_MOST]; /* summed over all pairs; the first gives Z */
    /* LOCAL, pure. The law of pairs once the totals are known, and what comes of its sums. */
    ikt_pair_law (*law)(const ikt_divergence_sums *sums);
    ikt_divergence_terms (*combine)(const ikt_divergence_sums *sums);
} ikt_divergence;

extern const ikt_divergence ikt_divergence_tsne, ikt_divergence_nerv, ikt_divergence_jse,
    ikt_divergence_sne;

/* In the order of the choices of layout.objective. */
typedef enum {
    IKT_OBJECTIVE_TSNE,
    IKT_OBJECTIVE_NERV,
    IKT_OBJECTIVE_JSE,
    IKT_OBJECTIVE_SNE,
    IKT_OBJECTIVES
} ikt_objective_kind;

/* LOCAL. Entry of the table. */
const ikt_divergence *ikt_divergence_of(ikt_objective_kind kind);

/* LOCAL. The floor under P in the second term of NeRV, for n points: 0.01 / (n (n - 1)), so that
 * all pairs together have a hundredth of the mass. */
double ikt_nerv_floor(int64_t n);

#endif
