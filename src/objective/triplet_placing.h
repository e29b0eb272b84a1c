/* Places for new points in a finished map of TriMap: each minimises the loss of its own triplets,
 * the old points fixed.
 *
 * A row x of the data would be the anchor of triplets with its m near rows j and far rows k drawn
 * at random, and of random triplets. With L and w of sampled/triplet.h and l the loss of weight 1,
 * its place y minimises what they cost on average,
 *     E(y) = m' sum_j mean_k w(D_xk - D_xj) l(|y - y_j|^2, |y - y_k|^2)
 *          + s mean_(k, k') w(|D_xk - D_xk'|) l(the nearer of both first),
 * k running over some hundred old rows and (k, k') over pairs of these, which are the same for all
 * new points: a function of the seed. That x would be the near or the far row of other rows'
 * triplets, too, is left out: both pull and push of it, so that one without the other would move
 * the point off. New points do not see each other: a place depends on its own row alone, not on the
 * batch, the ranks or the threads.
 * Method: a point starts at the mean of its near rows' places, weighted by their triplets, or at
 * the place of one of them, whichever has the least E, and descends by BFGS (point_search.h).
 * Advantage: E is smooth, its value never rises, and a near row that lies in another cluster than
 * the others, which would draw the mean between clusters, is given up as in the map itself.
 * Disadvantage: E is a mean over the far rows that were drawn; its standard error falls with the
 * root of their number.
 */
#ifndef IKT_OBJECTIVE_TRIPLET_PLACING_H
#define IKT_OBJECTIVE_TRIPLET_PLACING_H

#include <stdint.h>

#include "base/arrays.h"
#include "neighbours/neighbours.h"
#include "sampled/triplet.h"

/* The old points; borrowed. */
typedef struct {
    const float *y; /* [n * q] */
    int q;
    ikt_triplet_settings settings; /* of the map; `neighbours` may be other than they were there */
    double most;                   /* of L, where triplets are weighed by ratios */
    uint64_t seed;                 /* of the map */
    int64_t n_far;                 /* at least 2 */
    const int64_t *far;            /* [n_far] old points */
} ikt_placed_triplets;

/* --- the triplets of one point ---------------------------------------------------------------- */

typedef struct {
    const ikt_placed_triplets *old;
    int64_t m, stride; /* near rows, far rows rounded up to whole vectors */
    int64_t pairs;
    double *near;    /* [m * q] places */
    double *far;     /* [q * stride] places by coordinate */
    int32_t *pair;   /* [pairs * 2] far rows */
    float *weight;   /* [m * stride] of triplets with near rows; all weights sum to 1, */
    float *of_pair;  /* [pairs] below 0 where the second row of the pair is the nearer one; */
    double total;    /* or did before: 0 if no triplet has a weight */
    double *of_near; /* [m] sums of `weight` */
    double *square;  /* [stride] work space: 1 + |y - y_k|^2, or the square itself */
    double *push;    /* [stride] work space */
    ikt_arrays held; /* these arrays */
} ikt_point_triplets;

/* LOCAL. Draws the pairs; no point yet. Errors: IKT_ERR_RESOURCE; destroy it in any case. */
ikt_status ikt_point_triplets_create(ikt_context *ctx, const ikt_placed_triplets *old,
                                     ikt_point_triplets *out);
void ikt_point_triplets_destroy(ikt_point_triplets *triplets);

/* LOCAL. Those of a point.
 *   row, d   [m] its near rows, and D to them
 *   far_d    [n_far] D to the far rows */
void ikt_point_triplets_set(ikt_point_triplets *triplets, const uint32_t *row, const float *d,
                            const float *far_d);

/* LOCAL. E divided by the sum of the weights, at y [q]; its gradient [q]; half the coefficient by
 * which near rows attract. */
double ikt_point_triplets_loss(ikt_point_triplets *triplets, const float *y, double *gradient,
                               double *curvature);

/* --- all points ------------------------------------------------------------------------------- */

/* LOCAL. Places of near->n_local new points.
 *   near        old rows by ascending (D, row), with D in place of scores; k of it is
 *               old->settings.neighbours
 *   far_d       [n_local * n_far] D to the far rows
 *   trials      most evaluations of E for a point, at least 2: its starts count
 *   y           [n_local * q], receives the places
 *   cost        [n_local], receives E there, as a mean over triplets; 0 for a point without any
 *               triplet of weight, whose place is the mean of its near rows'
 *   unsettled   is increased by the points that the limit of trials stopped
 * Errors: IKT_ERR_RESOURCE. Memory: ikt_triplets_placing_memory. */
ikt_status ikt_triplets_place(ikt_context *ctx, const ikt_placed_triplets *old,
                              const ikt_neighbours *near, const float *far_d, int64_t trials,
                              float *y, double *cost, int64_t *unsettled);

/* LOCAL, pure. Bytes while points are placed. */
int64_t ikt_triplets_placing_memory(int64_t m, int64_t n_far, int q, int threads);

#endif
