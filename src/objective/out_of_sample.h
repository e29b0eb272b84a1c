/* Places for new points in a finished map: each minimises its own divergence, the old points fixed.
 *
 * For new point i with conditional probabilities p_j|i over old points,
 *     KL_i = sum_j p_j|i log(p_j|i / q_j|i),  q_j|i = w_ij / phi(y_i),
 *     grad KL_i = 2 sum_j p_j|i v_ij (y_i - y_j) + grad phi(y_i) / phi(y_i),
 * w being the kernel of the map, v_ij = 1 / (1 + |y_i - y_j|^2 / alpha) for alpha degrees of
 * freedom (w itself for 1, 1 for the Gaussian kernel), and phi the field of all old points. New
 * points do not see each other: a place depends on its own row alone, not on the batch, the ranks
 * or the threads. Method: a point starts at the mean of its neighbours' places, weighted by p, or
 * at the place of the neighbour that lies most central among the first ten, whichever has the lower
 * KL_i. It then descends by BFGS in its q coordinates (point_search.h): inverse Hessian from
 * 1 / (2 sum p v), the curvature of the quadratic above the attraction. All points of a chunk take
 * their trial at once, so the field is asked in batches. Advantage: no rate to choose, some ten
 * trials a point; KL_i never rises, so none ends above its start. Disadvantage: a local minimum,
 * like all of t-SNE.
 */
#ifndef IKT_OBJECTIVE_OUT_OF_SAMPLE_H
#define IKT_OBJECTIVE_OUT_OF_SAMPLE_H

#include <stdint.h>

#include "base/status.h"
#include "kernelsum/field.h"
#include "neighbours/neighbours.h"

/* The old points; borrowed. */
typedef struct {
    const ikt_field *field; /* of all of them */
    const float *y;         /* [n * q] */
    int q;
    ikt_kernel kernel; /* of the field */
} ikt_placed;

/* LOCAL. Places of lists->n_local new points.
 *   lists        old rows, with p_j|i in place of scores; each list sums to 1
 *   trials       most evaluations of KL_i for a point, at least 2: its starts count
 *   y            [n_local * q], receives the places
 *   divergence   [n_local], receives KL_i there
 * Returns in *unsettled, where not NULL, how many points the limit of trials stopped.
 * Errors: IKT_ERR_RESOURCE. Memory: some 5 MiB. */
ikt_status ikt_out_of_sample_place(ikt_context *ctx, const ikt_placed *old,
                                   const ikt_neighbours *lists, int64_t trials, float *y,
                                   double *divergence, int64_t *unsettled);

#endif
