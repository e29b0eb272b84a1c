/* Triplets that are drawn once: TriMap as published, and the reference for its other form.
 *
 * Method: for each row i, each of its m near rows j and each of m' places, a row k is drawn until
 * it is farther than j, at most 8 times; and s pairs of random rows. Every draw is a pure function
 * of (seed, row i, place, try). Each row then has lists of the triplets that it takes part in as i,
 * as j and as k, by ascending (i, place), wherever i is owned. Advantage: sums have one order, and
 * nothing is added to one number by two threads or ranks; nothing but the positions travels.
 * Disadvantage: a triplet is held, and evaluated, three times; the drawing fetches m m' + 2 s rows
 * for each row once, and every rank holds the positions of all rows.
 */
#ifndef IKT_SAMPLED_FIXED_TRIPLETS_H
#define IKT_SAMPLED_FIXED_TRIPLETS_H

#include "sampled/far_similarity.h"
#include "sampled/triplet.h"

/* A triplet as one of its rows has it, which is left out. */
typedef struct {
    uint32_t first, second; /* global rows: j and k of i; i and k of j; i and j of k */
    float weight;           /* above 0 */
} ikt_triplet_entry;

typedef enum { IKT_AS_ANCHOR, IKT_AS_NEAR, IKT_AS_FAR, IKT_TRIPLET_ROLES } ikt_triplet_role;

typedef struct {
    int64_t *start; /* [rows.count + 1] where the triplets of each own row begin */
    ikt_triplet_entry *entry;
} ikt_triplet_list;

typedef struct {
    ikt_rows rows;
    int64_t drawn; /* over all ranks, with those of weight 0, which are not in the lists */
    double mean;   /* weight of one, over all ranks */
    ikt_triplet_list as[IKT_TRIPLET_ROLES];
} ikt_fixed_triplets;

/* COLLECTIVE.
 *   lists   of the own rows' near rows, with D in place of scores
 * Errors: IKT_ERR_DATA where no triplet has a weight; IKT_ERR_RESOURCE. Destroy it in any case. */
ikt_status ikt_fixed_triplets_draw(ikt_context *ctx, const ikt_similarity *similarity,
                                   const ikt_neighbours *lists,
                                   const ikt_triplet_settings *settings, uint64_t seed,
                                   ikt_fixed_triplets *out);
void ikt_fixed_triplets_destroy(ikt_fixed_triplets *triplets);

/* LOCAL, pure. Bytes of triplets of n_local rows, and those that the drawing takes beside them. */
int64_t ikt_fixed_triplets_memory(int64_t n_local, const ikt_triplet_settings *settings);

#endif
