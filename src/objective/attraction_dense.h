/* Attraction along the dense P: the same sums as attraction.h over all columns. */
#ifndef IKT_OBJECTIVE_ATTRACTION_DENSE_H
#define IKT_OBJECTIVE_ATTRACTION_DENSE_H

#include "affinity/dense.h"
#include "base/exact_sum.h"

/* LOCAL. Attraction on each own row.
 *   y      [n * 2] positions of all rows
 *   force  [n_local * 2], receives the sums
 * Lanes in global order as in ikt_attraction: the same bits for any ranks and threads. */
void ikt_attraction_dense(ikt_context *ctx, const ikt_dense *dense, const float *y, float *force);

/* LOCAL. Adds sum_j p_ij log(p_ij (1 + |y_i - y_j|^2)) of the own rows to `sum`. */
void ikt_attraction_dense_divergence(const ikt_dense *dense, const float *y, ikt_exact_sum *sum);

#endif
