/* What objectives that compare any two rows are given (IKT_NEEDS_FEATURES), unless that is codes:
 * the rows themselves, the numbers of all pairs of a matrix, or those of the pairs that a sparse
 * graph joins. */
#ifndef IKT_PIPELINE_COMPARED_H
#define IKT_PIPELINE_COMPARED_H

#include "data/dataset.h"
#include "dist/order.h"
#include "io/sources/pairwise.h"
#include "pipeline/probabilities.h"

/* COLLECTIVE. The rows of the data set, or its distances where they are those of a matrix.
 *   order   the slots they are brought to; or NULL
 *   out     free with ikt_features_destroy in any case
 * Errors: those of reading, IKT_ERR_RESOURCE. */
ikt_status ikt_compared_rows(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows,
                             const ikt_order *order, ikt_features *out);

/* COLLECTIVE. All pairs of a matrix (input.graph): squares of distances, or D of similarities and
 * of probabilities as of the pairs of a graph (sampled/features.h), which similarity 0 does not
 * join. values   what the numbers are out      free with ikt_features_destroy in any case Errors:
 * IKT_ERR_DATA where the matrix is not symmetric, or a row has no similarity to another; those of
 * ikt_pairwise_check; IKT_ERR_RESOURCE. */
ikt_status ikt_compared_matrix(ikt_context *ctx, const ikt_pairwise *pairs, ikt_edges values,
                               const ikt_rows *rows, ikt_features *out);

/* COLLECTIVE. The pairs of a sparse graph (input.graph), in slots where it is ordered, with order
 * and start that a kept graph knows. Settings are settled.
 *   p   receives `joined`, order and start
 * Errors: those of ikt_pairs_load; IKT_ERR_DATA where a row is joined to none. */
ikt_status ikt_compared_graph(ikt_context *ctx, const ikt_settings *settings,
                              const ikt_rows *distribution, ikt_probabilities *p);

#endif
