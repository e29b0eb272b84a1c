/* What the loop minimises: an objective gives a gradient and, when asked, its value.
 *
 * A new objective is one struct of this kind; the loop does not change. Those that compare P with
 * the map's Q are formulas (divergence.h) that share one way of being evaluated.
 */
#ifndef IKT_OBJECTIVE_OBJECTIVE_H
#define IKT_OBJECTIVE_OBJECTIVE_H

#include <stdbool.h>

#include "affinity/dense.h"
#include "base/status.h"
#include "graph/graph.h"
#include "kernelsum/kernelsum.h"
#include "objective/divergence.h"

typedef struct {
    bool want_value; /* in: compute `value` */
    double value;    /* out: the objective, NaN when not wanted */
    double z;        /* out: normalisation, sum over k != l of the kernel */
} ikt_objective_terms;

/* The gradient of the own rows as two fields, which whoever uses it adds on the way:
 *   gradient[e] = pull * attraction[e] + push * repulsion[e],  e < q n_local.
 * Early exaggeration is a factor on `pull`. */
typedef struct {
    const float *attraction, *repulsion; /* [n_local * q], of the objective */
    float pull, push;
} ikt_gradient;

typedef struct ikt_objective {
    void *self;
    float *y; /* [n_local * q] the positions, in the objective's own table: they are changed here */
    int q;    /* dimensions */
    const char *value_name; /* "KL" or "cost" */
    /* COLLECTIVE. Gradient at `y`; its fields are valid until the next call. Every rank gets the
     * same `terms`; a position that is not finite makes z NaN. */
    void (*evaluate)(void *self, ikt_gradient *gradient, ikt_objective_terms *terms);
    void (*destroy)(void *self);
} ikt_objective;

/* What an objective compares, and how. Everything that is pointed to is lent until destroy. */
typedef struct {
    ikt_objective_kind kind;
    double trade_off;       /* where the objective has one */
    const ikt_graph *graph; /* P, sparse; */
    const ikt_dense *dense; /* or dense, in row blocks; the other is NULL */
    /* How each kernel of the divergence is summed over all pairs, in the same dimensions. */
    ikt_kernelsum *sums[IKT_KERNELS_MOST];
} ikt_objective_spec;

/* COLLECTIVE. The objective, all positions zero. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_objective_create(ikt_context *ctx, const ikt_objective_spec *spec,
                                ikt_objective *out);

/* COLLECTIVE. t-SNE with a dense P and exact sums in q dimensions, attraction and repulsion in one
 * pass over all pairs (dense_tsne.c): what ikt_objective_create gives with exact sums, to rounding,
 * in about half the time. Positions are replicated on every rank. */
ikt_status ikt_tsne_dense_exact_create(ikt_context *ctx, const ikt_dense *dense, int q,
                                       ikt_objective *out);

/* COLLECTIVE. t-SNE by ikt_objective_create, with the sparse P or the dense one. */
ikt_status ikt_tsne_create(ikt_context *ctx, const ikt_graph *graph, ikt_kernelsum *sums,
                           ikt_objective *out);
ikt_status ikt_tsne_dense_create(ikt_context *ctx, const ikt_dense *dense, ikt_kernelsum *sums,
                                 ikt_objective *out);

/* LOCAL. Frees what create made; accepts an empty struct. */
void ikt_objective_destroy(ikt_objective *objective);

#endif
