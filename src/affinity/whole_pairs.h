/* Drawing pairs of rows with the probabilities of P, while the cells of one partitioning after the
 * other are counted. For whole.c.
 *
 * Method: the first row of a pair is drawn uniformly, the second from all that share cells with it,
 * as often as they do: a pair (i, j) then has the probability K_ij / (n s_i), whose mean over both
 * orders is P_ij. Which partitioning the second row comes from is drawn by weighted reservoir
 * sampling with one place (Chao 1982): after partitionings with 0 .. p rows beside i in its cell,
 * each is the chosen one in proportion to that number. Advantage: one pass over the partitionings;
 * each pair is independent of the others, which makes the error of an estimate plain; P need not be
 * known. Disadvantage: a second and a third pass look up the second rows, and how similar they are.
 */
#ifndef IKT_AFFINITY_WHOLE_PAIRS_H
#define IKT_AFFINITY_WHOLE_PAIRS_H

#include <stdbool.h>

#include "affinity/whole.h"

/* Pairs whose second row is not known yet. Arrays of [IKT_WHOLE_PAIRS], the same on all ranks but
 * for `own`. */
typedef struct {
    uint64_t *key;   /* of a pair's draws */
    int64_t *row;    /* the first row */
    int64_t *cell;   /* [ ] of the first row, in the partitioning that is offered */
    int64_t *total;  /* rows beside the first in its cells, of all partitionings so far */
    int64_t *p;      /* partitioning that the second row comes from; -1: there is none */
    int64_t *chosen; /* the cell there */
    int64_t *place;  /* of the second row among the others of that cell, by ascending row */
    int64_t *own;    /* of those, own rows of this rank */
} ikt_pair_draws;

/* LOCAL. Draws the first rows. Errors: IKT_ERR_RESOURCE; free it in any case. */
ikt_status ikt_pair_draws_create(ikt_context *ctx, int64_t n, uint64_t seed, ikt_pair_draws *out);
void ikt_pair_draws_destroy(ikt_pair_draws *draws);

/* COLLECTIVE. Offers partitioning p, each once and in ascending order.
 *   all, own   [psi] rows of each cell, over all ranks and of this one */
void ikt_pair_draws_offer(ikt_context *ctx, const ikt_whole *whole, int64_t p, const int64_t *all,
                          const int64_t *own, ikt_pair_draws *draws);

/* COLLECTIVE. The pairs, once all partitionings are offered.
 *   whole   with its totals; receives the pairs
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_pair_draws_finish(ikt_context *ctx, const ikt_pair_draws *draws, ikt_whole *whole);

#endif
