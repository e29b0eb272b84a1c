/* The value of TriMap where its triplets are drawn anew all the time: the mean loss of triplets
 * that are drawn once, so that values of different iterations can be compared.
 *
 * Method: some thousand rows, each with its near rows and four far ones of the same sample; of
 * these each two make a random triplet. Weights are computed once. Sums are exact. Advantage: a few
 * thousandths of the mean at the cost of a thousandth of an iteration for large n. Disadvantage: it
 * is the mean over other triplets than those of the gradient.
 */
#ifndef IKT_OBJECTIVE_TRIMAP_VALUE_H
#define IKT_OBJECTIVE_TRIMAP_VALUE_H

#include "sampled/far_similarity.h"
#include "sampled/near_edges.h"
#include "sampled/pool.h"
#include "sampled/triplet_settings.h"

enum { IKT_TRIMAP_VALUE_FAR = 4 };

typedef struct {
    ikt_triplet_settings settings;
    double most;     /* of L over the sample: weights by ratios need it */
    ikt_pool pool;   /* the rows of the sample */
    int32_t *far;    /* [pool.count * 4] places of far rows in the pool */
    float *l;        /* [pool.count * 4 * m] L of near triplets */
    float *l_random; /* [pool.count * 2] of random ones; below 0 where the second row is nearer */
    float *y;        /* [pool.size * q] positions of the sample */
} ikt_trimap_value;

/* COLLECTIVE. Errors: IKT_ERR_RESOURCE; destroy it in any case. */
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
