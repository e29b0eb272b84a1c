/* clang-format off */
/* Attraction along P: sum_j weight_ij (y_i - y_j) over the support of P.
 *
 * A pair has a weight and up to two other terms, functions of p_ij and r^2 = |y_i - y_j|^2. With w
 * the kernel of the map (1 / (1 + r^2), for SNE exp(-r^2), for the tailed one v^a with b = 1 / a):
 *   kind   weight                                         balance    value
 *   tsne   p w                                            -          p log(p / w)
 *   tailed p v,  v = 1 / (1 + b r^2)                      -          p (log p + a log(1 + b r^2))
 *   nerv   a p w + b l w^2,  l = log max(c p, 1)          l w        p log(p / w)
 *   jse    l w^2,  l = log(1 + a p / w)                   l w        p (log(c p / w) - l)
 *   sne    p                                              -          p (log p + r^2)
 *   curve  p 2 b (1 - w) / r^2,  w = 1 / (1 + e^a r^(2b)) -         -p log w
 * The forces of curve are cut to a magnitude of c along an axis, before they are multiplied by p.
 *
 * Where the constants come from: docs/objectives.md, objective.c. */
/* clang-format on */
#ifndef IKT_OBJECTIVE_ATTRACTION_H
#define IKT_OBJECTIVE_ATTRACTION_H

#include <stdint.h>

#include "affinity/dense.h"
#include "base/cpu.h"
#include "base/exact_sum.h"
#include "graph/graph.h"
#include "kernelsum/replica.h"
#include "sampled/pool.h"

typedef enum {
    IKT_PAIR_TSNE,
    IKT_PAIR_NERV,
    IKT_PAIR_JSE,
    IKT_PAIR_SNE,
    IKT_PAIR_TAILED,
    IKT_PAIR_CURVE
} ikt_pair_kind;

typedef struct {
    ikt_pair_kind kind;
    float a, b, c;
} ikt_pair_weight;

/* Sums over all own rows that come out of the pass; each is added to. */
typedef struct {
    ikt_exact_sum value, balance;
} ikt_pair_totals;

/* LOCAL. The attraction of each own row along the sparse P, in q = 1, 2 or 3 dimensions.
 *   y        [(n_local + n_ghost) * q] positions: own rows, then ghosts; q times their number is
 *            below 2^31
 *   force    [n_local * q], receives the sums
 *   totals   receives, added to it, the sums of value and balance over the own rows; NULL where
 *            they are not wanted, which for t-SNE saves a logarithm an entry
 * The sum of a row is taken in 16 lanes over its forward and then its reverse entries, each in
 * global order: the same bits whatever the ranks, threads and vector width. Value and balance are
 * summed in float within a row and exactly over rows: about 7 digits. Threads take pieces of
 * equally many entries. Cost: one read of P and one load of 4 q bytes per entry. */
void ikt_attraction(ikt_context *ctx, const ikt_graph *graph, int q, const ikt_pair_weight *pair,
                    const float *y, float *force, ikt_pair_totals *totals);

/* LOCAL. The same along the dense P.
 *   at  q arrays [stride of P]: coordinates of all rows, then any numbers */
void ikt_attraction_dense(ikt_context *ctx, const ikt_dense *dense, int q,
                          const ikt_pair_weight *pair, const float *const *at, float *force,
                          ikt_pair_totals *totals);

/* --- the loops over the entries of P, one set for each instruction set --------------------------
 *
 * All give the same bits: sixteen lanes a row, multiplications and additions that are not fused,
 * true divisions. They differ in how the positions of the neighbours come into vectors. Each is
 * compiled for 1, 2 and 3 dimensions and for every kind of pair weight. */

/* What is summed for the own rows first .. last - 1. */
typedef struct {
    int q; /* dimensions: 1, 2 or 3 */
    const ikt_pair_weight *pair;
    const float *y;         /* sparse: [local numbers * q] positions */
    const float *const *at; /* dense: q arrays [stride of P], coordinates of all rows */
    int64_t first, last;
    float *force; /* [n_local * q], receives the attraction of these rows */
    /* [last - first], receive the terms of each of these rows; value may be NULL where it is not
     * wanted, balance where the pairs have none */
    float *value, *balance;
} ikt_attraction_job;

/* LOCAL. */
typedef struct {
    void (*sparse)(const ikt_graph *graph, const ikt_attraction_job *job);
    void (*dense)(const ikt_dense *dense, const ikt_attraction_job *job);
} ikt_attraction_kernel;

IKT_KERNELS(const ikt_attraction_kernel, ikt_attraction_kernel)

/* Repulsion from negative samples: the forces that sixteen rows of a tile take from a few far rows.
 *
 * Of a row i and a far row k at distance d, along each axis,
 *     -(u_i + u_k) clip(2 b gamma w / (soft + d^2) (y_i - y_k)),   w = 1 / (1 + a d^(2 b)),
 * u being what the row adds to the weight of a pair. clip cuts a coordinate to a greatest
 * magnitude. A far row that is the row itself lies at distance 0 and adds nothing.
 * Method: one row in each lane, far rows one after the other in a given order, so that a row's sum
 * has one order whatever the width of a register. True divisions, nothing is fused.
 */

typedef struct {
    float log_a, b;
    float strength;   /* 2 b gamma */
    float soft, clip; /* `soft` keeps the force finite where rows meet */
} ikt_negative_force;

typedef struct {
    int q; /* dimensions: 1, 2 or 3 */
    ikt_negative_force force;
    const float *at[IKT_DIMENSIONS_MOST]; /* [IKT_TILE] coordinates of the rows of the tile */
    const float *weight;                  /* [IKT_TILE] u of these rows */
    int64_t far;                          /* how many far rows there are */
    const float *far_at; /* [far * (q + 1)] coordinates and u of each, one after the other */
    float *sum[IKT_DIMENSIONS_MOST]; /* [IKT_TILE] receives the forces */
} ikt_negatives_job;

/* LOCAL. All give the same bits. */
typedef void ikt_negatives_kernel(const ikt_negatives_job *job);

IKT_KERNELS(ikt_negatives_kernel, ikt_negatives_kernel)

#endif
