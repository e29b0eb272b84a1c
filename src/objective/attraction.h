/* Attraction along P: sum_j p_ij w_ij (y_i - y_j), w_ij = 1 / (1 + |y_i - y_j|^2), and, in the same
 * pass where it is wanted, the divergence's share sum_j p_ij log(p_ij / w_ij). */
#ifndef IKT_OBJECTIVE_ATTRACTION_H
#define IKT_OBJECTIVE_ATTRACTION_H

#include "affinity/dense.h"
#include "base/exact_sum.h"
#include "graph/graph.h"

/* LOCAL. Attraction on each own row along the sparse P.
 *   y           [(n_local + n_ghost) * 2] positions: own rows, then ghosts
 *   force       [n_local * 2], receives the sums
 *   divergence  receives, added to it, the sum over the own rows of p_ij log(p_ij (1 + |y_i -
 *               y_j|^2)); KL = that sum over all rows + log Z. NULL where it is not wanted.
 * The sum of a row is taken in 16 lanes over its forward and then its reverse entries, each in
 * global order: the same bits whatever the ranks, threads and vector width. The divergence is
 * summed in float within a row and exactly over rows: about 7 digits. Threads take pieces of
 * equally many entries. Cost: one read of P and one load of 8 bytes per entry. */
void ikt_attraction(ikt_context *ctx, const ikt_graph *graph, const float *y, float *force,
                    ikt_exact_sum *divergence);

/* LOCAL. The same along the dense P.
 *   y  [2 * stride of P] x of all rows and zeros up to the stride, then y of all rows and zeros */
void ikt_attraction_dense(ikt_context *ctx, const ikt_dense *dense, const float *y, float *force,
                          ikt_exact_sum *divergence);

#endif
