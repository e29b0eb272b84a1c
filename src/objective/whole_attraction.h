/* Attraction along the whole Isolation kernel, sampled: sum_j P_ij w_ij (y_i - y_j), in which P is
 * never formed (affinity/whole.h).
 *
 * Method: an iteration takes some partitionings (whole_draw.h). For each the rows are grouped by
 * cell, by a counting sort that keeps their order; large cells are cut into blocks, and pairs
 * within blocks are summed (whole_draw.h). Cells with rows on several ranks are computed by one of
 * them, which is sent the positions of the others' rows and sends forces back. A row gets one force
 * from each partitioning; they are added in the order of the draw.
 * Advantage: n m b pairs an iteration for m partitionings and blocks of b rows, whatever the sizes
 * of cells; the same bits on any ranks and threads. With all partitionings and no cell larger than
 * a block it is the gradient of the dense P. Disadvantage: the gradient is noisy otherwise. A cell
 * is computed by one rank, so there should be many more cells than ranks.
 */
#ifndef IKT_OBJECTIVE_WHOLE_ATTRACTION_H
#define IKT_OBJECTIVE_WHOLE_ATTRACTION_H

#include <stdbool.h>
#include <stdint.h>

#include "affinity/whole.h"
#include "kernelsum/kernelsum.h"
#include "objective/whole_draw.h"

typedef struct ikt_whole_attraction ikt_whole_attraction;

/* COLLECTIVE.
 *   whole    borrowed until it is destroyed
 *   kernel   of the map: not w log w
 * Errors: IKT_ERR_RESOURCE; *out is NULL then. */
ikt_status ikt_whole_attraction_create(ikt_context *ctx, const ikt_whole *whole, int q,
                                       ikt_kernel kernel, const ikt_whole_sampling *sampling,
                                       ikt_whole_attraction **out);
void ikt_whole_attraction_destroy(ikt_whole_attraction **attraction);

/* LOCAL, pure. ikt_whole_step of its sampling. */
double ikt_whole_attraction_step(const ikt_whole_attraction *attraction, int64_t iteration);

/* COLLECTIVE. Draws what the iteration takes, and starts sending positions to the ranks that
 * compute cells of the own rows. The end adds the attraction to `force`.
 *   y       [n_local * q] positions of the own rows, not to be changed before the end
 *   force   [n_local * q] */
void ikt_whole_attraction_begin(ikt_whole_attraction *attraction, int64_t iteration,
                                const float *y);
void ikt_whole_attraction_end(ikt_whole_attraction *attraction, float *force);

/* LOCAL, pure. Bytes of a rank.
 *   cut   share of its rows whose cell another rank computes */
int64_t ikt_whole_attraction_memory(int64_t n_local, int q, int64_t psi,
                                    const ikt_whole_sampling *sampling, double cut, int threads);

/* The divergence between the whole kernel and the map, estimated on the kernel's sample of pairs.
 */
typedef struct {
    double value; /* estimate of (sum of P log(P / w)) / (sum of P), with w the map's kernel */
    double error; /* its standard error */
} ikt_whole_value;

/* COLLECTIVE. The same on every rank. Cost: one reduction of 2 q numbers a pair.
 *   y   [n_local * q] positions of the own rows
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_whole_value_estimate(ikt_context *ctx, const ikt_whole *whole, int q,
                                    ikt_kernel kernel, const float *y, ikt_whole_value *out);

#endif
