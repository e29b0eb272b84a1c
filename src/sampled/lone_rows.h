/* Lone rows: rows far from all others, of which the Isolation kernel knows nothing.
 *
 * Its outermost cells reach to infinity: such a row shares them with rows at the rim, and is as
 * similar to these as any. Triplets would then draw it among them. So a row whose scale s_i, the
 * mean distance to some of the nearest rows of its list (triplet.h), is more than five times the
 * median of theirs is its own near row, so that its triplets draw it nowhere and keep others away,
 * and shares no cell with the rows that list it. That is the local outlier factor (Breunig et al.,
 * LOF: Identifying density-based local outliers, 2000), of scales in place of densities: below 2
 * for nearly all rows of most data, and 8 to some hundreds for a row far outside. Where more than
 * one row in a hundred is alone (and more than one), that is how the data are, and none counts as
 * such. A row whose list has hardly any distance above 0 has no median to be compared with.
 *
 * Method: distances of the listed pairs alone. Advantage: k distances a row, and no bit of a map
 * changes where no row is alone. Disadvantage: ranks hold their rows meanwhile.
 */
#ifndef IKT_SAMPLED_LONE_ROWS_H
#define IKT_SAMPLED_LONE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "data/dataset.h"
#include "dist/order.h"
#include "neighbours/neighbours.h"

/* COLLECTIVE. Makes lone rows their own near rows, and gives them in the lists of others the score
 * of rows that share no cell; says in the log how many they are. Nothing is done where there are no
 * lists, or no rows to measure (ikt_lone_rows_are_sought).
 *   rows, order   of the lists; order NULL: that of the data
 *   from, to      as in ikt_scale_of
 *   apart         that score
 *   lists         with numbers of differing cells as scores
 * Errors: IKT_ERR_RESOURCE, those of reading. Memory: the own rows, and ikt_lone_rows_memory. */
ikt_status ikt_lone_rows_part(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows,
                              const ikt_order *order, int64_t from, int64_t to, float apart,
                              ikt_neighbours *lists);

/* LOCAL, pure. Whether there is something to do: lists for triplets, made by codes, of dense rows.
 * Sparse ones would become dense, and of a matrix of all pairs there are none. */
bool ikt_lone_rows_are_sought(bool has_lists, bool has_codes, bool is_sparse, bool is_pairs);

/* LOCAL, pure. Bytes, beside rows and lists, as predicted. */
int64_t ikt_lone_rows_memory(const ikt_rows *rows, int64_t k, int64_t row_bytes);

#endif
