/* How well the most similar rows tell a row's label, before anything is placed: what an embedding's
 * k-nearest-neighbour accuracy is to be compared with. */
#ifndef IKT_EVALUATE_ACCURACY_H
#define IKT_EVALUATE_ACCURACY_H

#include "dist/rows.h"
#include "neighbours/neighbours.h"

/* COLLECTIVE. Share of rows whose label the majority of their k best neighbours has (of fewer where
 * lists are shorter); among equal votes the smallest label counts, as in measure.h.
 *   lists      neighbours by score, in any order
 *   labels     [rows->count] of the own rows, in the order of the lists
 *   accuracy   the same on every rank
 * Errors: IKT_ERR_RESOURCE. Memory: labels of all rows, 8 n bytes. */
ikt_status ikt_list_label_accuracy(ikt_context *ctx, const ikt_rows *rows,
                                   const ikt_neighbours *lists, const int64_t *labels, int64_t k,
                                   double *accuracy);

/* LOCAL. The most frequent of `count` >= 1 votes, the smallest of several; sorts them. */
int64_t ikt_votes_majority(int64_t *votes, int64_t count);

#endif
