/* TriMap: a map in which rows that are more alike lie nearer (Amid & Warmuth, TriMap: Large-scale
 * dimensionality reduction using triplets).
 *
 * The loss of a triplet is in sampled/triplet.h, D of a pair in sampled/far_similarity.h. A triplet
 * (i, j, k) has a weight that grows with L = D_ik - D_ij, and none where L <= 0. There are, for
 * each row i, m near rows j with m' far rows k each, and s pairs of random rows. What is minimised
 * is the sum over all of them, what is reported its mean. There are two ways of drawing them: once
 * (trimap_fixed.c), and anew in each epoch from a pool (trimap_pool.c).
 */
#ifndef IKT_OBJECTIVE_TRIMAP_H
#define IKT_OBJECTIVE_TRIMAP_H

#include "objective/objective.h"
#include "sampled/far_similarity.h"

/* One of the two ways. Both are made of the same: D of the rows, lists of near rows by it. */
typedef struct ikt_trimap_way ikt_trimap_way;

struct ikt_trimap_way {
    /* COLLECTIVE.
     *   lists   of the own rows, with D in place of scores
     * Errors: IKT_ERR_RESOURCE; destroy it then, too. */
    ikt_status (*create)(ikt_context *ctx, const ikt_objective_inputs *inputs,
                         ikt_similarity *similarity, ikt_neighbours *lists, ikt_objective *out);
    void (*destroy)(ikt_objective *objective);
    ikt_status (*evaluate)(ikt_objective *objective, int64_t iteration, bool want_value,
                           ikt_gradient *gradient, ikt_objective_terms *terms);
    void (*describe)(const ikt_objective *objective, char *text, size_t size);
    int64_t (*memory)(const ikt_objective_shape *shape);
};

extern const ikt_trimap_way ikt_trimap_fixed, ikt_trimap_pool;

/* COLLECTIVE. Refuses a map whose rows are all in one place, where every gradient is 0.
 *   y   [rows->count * q]
 * Errors: IKT_ERR_DATA. */
ikt_status ikt_trimap_check_start(ikt_context *ctx, const ikt_rows *rows, int q, const float *y);

#endif
