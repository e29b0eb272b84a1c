/* The loops over the entries of P, one set for each instruction set.
 *
 * All give the same bits: sixteen lanes a row, multiplications and additions that are not fused,
 * true divisions. They differ in how the positions of the neighbours come into vectors.
 */
#ifndef IKT_OBJECTIVE_ATTRACTION_KERNEL_H
#define IKT_OBJECTIVE_ATTRACTION_KERNEL_H

#include "affinity/dense.h"
#include "base/cpu.h"
#include "graph/graph.h"

/* LOCAL. Own rows first .. last - 1.
 *   y           positions: sparse, of each local number; dense, x of all rows up to the stride of
 * P, then y force       [n_local * 2], receives the sums of these rows divergence  [last - first],
 * receives sum_j p_ij log(p_ij (1 + |y_i - y_j|^2)) of each of these rows; NULL where it is not
 * wanted */
typedef void ikt_attract_sparse(const ikt_graph *graph, const float *y, int64_t first, int64_t last,
                                float *force, float *divergence);
typedef void ikt_attract_dense(const ikt_dense *dense, const float *y, int64_t first, int64_t last,
                               float *force, float *divergence);

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
