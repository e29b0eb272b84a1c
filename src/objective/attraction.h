/* Attraction along the sparse P: sum_j p_ij w_ij (y_i - y_j), w_ij = 1 / (1 + |y_i - y_j|^2). */
#ifndef IKT_OBJECTIVE_ATTRACTION_H
#define IKT_OBJECTIVE_ATTRACTION_H

#include "base/exact_sum.h"
#include "graph/graph.h"

/* LOCAL. Attraction on each own row.
 *   y      [(n_local + n_ghost) * 2] positions: own rows, then ghosts
 *   force  [n_local * 2], receives the sums
 * The sum of a row is taken in 16 lanes over its columns in global order: the same bits whatever
 * the ranks, threads and vector width. Cost: one read of P and one gather per entry. */
void ikt_attraction(ikt_context *ctx, const ikt_graph *graph, const float *y, float *force);

/* LOCAL. Adds sum_j p_ij log(p_ij (1 + |y_i - y_j|^2)) of the own rows to `sum`; the divergence is
 * KL = that sum over all rows + log Z. In double. */
void ikt_attraction_divergence(const ikt_graph *graph, const float *y, ikt_exact_sum *sum);

#endif
