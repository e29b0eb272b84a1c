/* From a matrix of all pairs in a file (io/sources/pairwise.h) to scores as a search would give
 * them: lists of the most similar rows, or those of every pair.
 *
 * The score of a distance d is d^2, the score of a similarity or of a probability w is -w: smaller
 * is more similar. Kinds of affinity whose scores are distances take the former; the kind `graph`
 * takes the latter.
 */
#ifndef IKT_AFFINITY_MATRIX_H
#define IKT_AFFINITY_MATRIX_H

#include "affinity/affinity.h"
#include "affinity/dense.h"
#include "io/sources/pairwise.h"
#include "neighbours/neighbours.h"

/* COLLECTIVE. The k best scores of each own row, ties to the lower row. The matrix need not be
 * symmetric.
 *   values   what the numbers are: distances, similarities or probabilities
 *   k        1 <= k < n
 *   out      free with ikt_neighbours_destroy; empty on failure
 * Errors: IKT_ERR_DATA naming row and column (those of ikt_pairwise_read; a number whose score is
 * too large or too small for a float; a distance of a row to itself), IKT_ERR_RESOURCE. */
ikt_status ikt_matrix_lists(ikt_context *ctx, const ikt_pairwise *pairs, const ikt_rows *rows,
                            ikt_edges values, int64_t k, ikt_neighbours *out);

/* COLLECTIVE. The scores of all pairs; those of a row with itself are 0.
 *   out   free with ikt_dense_destroy; empty on failure
 * Errors: the same; IKT_ERR_DATA where the matrix is not symmetric. */
ikt_status ikt_matrix_dense(ikt_context *ctx, const ikt_pairwise *pairs, const ikt_rows *rows,
                            ikt_edges values, ikt_dense *out);

#endif
