/* What the loop minimises: an objective gives a gradient and, when asked, its value.
 *
 * A new objective is one struct of this kind; the loop does not change.
 */
#ifndef IKT_OBJECTIVE_OBJECTIVE_H
#define IKT_OBJECTIVE_OBJECTIVE_H

#include <stdbool.h>

#include "affinity/dense.h"
#include "base/status.h"
#include "graph/graph.h"
#include "kernelsum/kernelsum.h"

typedef struct {
    bool want_value; /* in: compute `value` */
    double value;    /* out: the objective (KL divergence), NaN when not wanted */
    double z;        /* out: normalisation sum over k != l of 1 / (1 + |y_k - y_l|^2) */
} ikt_objective_terms;

/* The gradient of the own rows as two fields, which whoever uses it adds on the way:
 *   gradient[e] = pull * attraction[e] + push * repulsion[e],  e < 2 n_local.
 * Early exaggeration is a factor on `pull`. */
typedef struct {
    const float *attraction, *repulsion; /* [n_local * 2], of the objective */
    float pull, push;
} ikt_gradient;

typedef struct ikt_objective {
    void *self;
    float *y; /* [n_local * 2] the positions, in the objective's own table: they are changed here */
    /* COLLECTIVE. Gradient at `y`; its fields are valid until the next call. Every rank gets the
     * same `terms`; a position that is not finite makes z NaN. */
    void (*evaluate)(void *self, ikt_gradient *gradient, ikt_objective_terms *terms);
    void (*destroy)(void *self);
} ikt_objective;

/* COLLECTIVE. t-SNE: KL divergence of the sparse P from the Student distribution of the map
 * (van der Maaten & Hinton 2008).
 *   graph   P; lent until destroy.
 *   sums    how repulsion is summed (exact or FFT); lent until destroy.
 *   out     receives the objective, all positions zero. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_tsne_create(ikt_context *ctx, const ikt_graph *graph, ikt_kernelsum *sums,
                           ikt_objective *out);

/* COLLECTIVE. The same with a dense P in row blocks; positions are replicated on every rank. */
ikt_status ikt_tsne_dense_create(ikt_context *ctx, const ikt_dense *dense, ikt_kernelsum *sums,
                                 ikt_objective *out);

/* LOCAL. Frees what create made; accepts an empty struct. */
void ikt_objective_destroy(ikt_objective *objective);

#endif
