/* The loops over the entries of P, one set for each instruction set.
 *
 * All give the same bits: sixteen lanes a row, multiplications and additions that are not fused,
 * true divisions. They differ in how the positions of the neighbours come into vectors. Each is
 * compiled for 1, 2 and 3 dimensions and for every kind of pair weight.
 */
#ifndef IKT_OBJECTIVE_ATTRACTION_KERNEL_H
#define IKT_OBJECTIVE_ATTRACTION_KERNEL_H

#include "affinity/dense.h"
#include "base/cpu.h"
#include "graph/graph.h"
#include "objective/attraction.h"

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
typedef void ikt_attract_sparse(const ikt_graph *graph, const ikt_attraction_job *job);
typedef void ikt_attract_dense(const ikt_dense *dense, const ikt_attraction_job *job);

typedef struct {
    ikt_attract_sparse *sparse;
    ikt_attract_dense *dense;
} ikt_attraction_kernel;

extern const ikt_attraction_kernel ikt_attraction_portable;
#if defined(__x86_64__)
extern const ikt_attraction_kernel ikt_attraction_avx2, ikt_attraction_avx512;
#endif

/* LOCAL. The kernel for an instruction set. */
const ikt_attraction_kernel *ikt_attraction_kernel_for(ikt_isa isa);

#endif
