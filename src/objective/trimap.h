/* TriMap: a map in which rows that are more alike lie nearer (Amid & Warmuth, TriMap: Large-scale
 * dimensionality reduction using triplets).
 *
 * The loss of a triplet is in sampled/triplet.h, D of a pair in sampled/far_similarity.h. A triplet
 * (i, j, k) has a weight that grows with L = D_ik - D_ij, and none where L <= 0. There are, for
 * each row i, m near rows j with m' far rows k each, and s pairs of random rows. What is minimised
 * is the sum over all of them, what is reported its mean. There are two ways of drawing them: once
 * (trimap.c), and anew in each epoch from a pool (trimap_pool.c).
 */
#ifndef IKT_OBJECTIVE_TRIMAP_H
#define IKT_OBJECTIVE_TRIMAP_H

#include "objective/objective.h"
#include "sampled/far_similarity.h"
#include "sampled/near_edges.h"
#include "sampled/pool.h"
#include "sampled/triplet.h"

/* What the objective is replaced by as it is made: one of the two ways. */
extern const ikt_objective_kind ikt_trimap_fixed, ikt_trimap_pool;

#define IKT_TRIMAP_KIND                                                                            \
    .name = "trimap", .value_name = "cost", .optimiser = &ikt_optimiser_delta_bar_delta

/* COLLECTIVE. What both are made of. The lists of the inputs are destroyed.
 *   similarity   what tells D of any two rows; owned by the caller, also after a failure
 *   near         lists of the own rows, with D in place of scores; likewise
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_trimap_begin(ikt_context *ctx, const ikt_objective_inputs *inputs,
                            ikt_similarity *similarity, ikt_neighbours *near);

/* LOCAL, pure. What rows are compared by, for people. */
const char *ikt_trimap_compared_by(const ikt_objective_inputs *inputs);

/* COLLECTIVE. Refuses a map whose rows are all in one place, where every gradient is 0.
 *   y   [rows->count * q]
 * Errors: IKT_ERR_DATA. */
ikt_status ikt_trimap_check_start(ikt_context *ctx, const ikt_rows *rows, int q, const float *y);

/* LOCAL, pure. What the gradient is multiplied by, so that one learning rate suits all rules: the
 * inverse of the mean weight; and where forces grow with distances towards those of springs (t' =
 * 1) or of a loss without a logarithm (t = 0), the smaller of t and t' - 1, but no less than the
 * inverse of the triplets that a row is the anchor of. */
float ikt_trimap_scale(const ikt_triplet_settings *settings, double mean);

/* LOCAL. Where forces have no bound of their own (t < 1, t' < 2), shortens the gradient of a row
 * that is longer than the m m' + s triplets of an anchor could make it if each had a force of 20
 * mean weights: rows would overshoot what pulls them, farther each time, until numbers overflow.
 * What is 0 stays 0, so that a map at rest is the same.
 *   mean   weight of a triplet
 *   a, b   [rows * q] whose sum is the gradient; b may be NULL */
void ikt_trimap_limit(const ikt_objective_inputs *inputs, double mean, float *a, float *b);

/* The value of TriMap where its triplets are drawn anew all the time: the mean loss of triplets
 * that are drawn once, so that values of different iterations can be compared.
 *
 * Method: some thousand rows, each with its near rows and four far ones of the same sample; of
 * these each two make a random triplet. Weights are computed once. Sums are exact. Advantage: a few
 * thousandths of the mean at the cost of a thousandth of an iteration for large n. Disadvantage: it
 * is the mean over other triplets than those of the gradient.
 */

enum { IKT_TRIMAP_VALUE_FAR = 4 };

typedef struct {
    ikt_triplet_settings settings;
    double most;     /* of L over the sample: weights by ratios need it */
    double mean;     /* of the weights of the sample, by which the gradient is divided */
    ikt_pool pool;   /* the rows of the sample */
    int32_t *far;    /* [pool.count * 4] places of far rows in the pool */
    float *l;        /* [pool.count * 4 * m] L of near triplets */
    float *l_random; /* [pool.count * 2] of random ones; below 0 where the second row is nearer */
    float *y;        /* [pool.size * q] positions of the sample */
} ikt_trimap_value;

/* COLLECTIVE. Errors: IKT_ERR_RESOURCE, IKT_ERR_DATA where all weights are 0; destroy it in any
 * case. */
ikt_status ikt_trimap_value_create(ikt_context *ctx, const ikt_rows *rows, int q, uint64_t seed,
                                   const ikt_triplet_settings *settings,
                                   const ikt_similarity *similarity, const ikt_near_edges *edges,
                                   ikt_trimap_value *out);
void ikt_trimap_value_destroy(ikt_trimap_value *value);

/* COLLECTIVE. The mean loss.
 *   y   [local numbers * q] positions of own rows and ghosts of `edges` */
double ikt_trimap_value_of(ikt_context *ctx, const ikt_trimap_value *value,
                           const ikt_near_edges *edges, int q, const float *y);

/* LOCAL, pure. Bytes while it lives. */
int64_t ikt_trimap_value_memory(const ikt_rows *rows, int q, int64_t m);

#endif
