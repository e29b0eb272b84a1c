/* k-means of positions, the same bits on any ranks and threads.
 *
 * Method: k-means++ (Arthur and Vassilvitskii 2007), then Lloyd's iterations; of several restarts
 * the one of least inertia. A first centre is drawn by exponential clocks: every row that is not
 * at a centre draws a time of rate (squared distance to its nearest centre), and the row whose
 * clock rings first wins, which has the probabilities of k-means++ and needs no order of the rows.
 * Means are exact sums, which rows that change their cluster are taken out of and put into. As in
 * scikit-learn an iteration is the last one when no row changes its cluster, or when the squared
 * moves of all centres add up to at most 1e-4 of the mean variance of the axes.
 * Advantage: rows stay where they are, and only those that change cost sums. Disadvantage: n k
 * distances an iteration, for every restart; a cluster that loses all rows keeps its centre.
 */
#ifndef IKT_EVALUATE_KMEANS_H
#define IKT_EVALUATE_KMEANS_H

#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"

typedef struct {
    int64_t k;        /* clusters, >= 1; fewer are made where rows are in fewer places */
    int64_t restarts; /* >= 1 */
    uint64_t seed;
} ikt_kmeans_settings;

/* COLLECTIVE.
 *   y         [rows->count * q] finite positions, 1 <= q <= IKT_AXES_MOST; lent.
 *   cluster   [rows->count], receives numbers below k; among equally near centres the lowest.
 *   inertia   receives the sum of squared distances to the own centre; the same on all ranks.
 * Errors: IKT_ERR_RESOURCE. Cost: n k distances an iteration, at most 300
 * iterations a restart. Memory: ikt_kmeans_memory. */
ikt_status ikt_kmeans(ikt_context *ctx, const ikt_kmeans_settings *settings, const ikt_rows *rows,
                      const float *y, int64_t q, int32_t *cluster, double *inertia);

/* LOCAL. Bytes for n_local rows, beside what is lent. */
int64_t ikt_kmeans_memory(int64_t n_local, int64_t k, int64_t q, int threads);

#endif
