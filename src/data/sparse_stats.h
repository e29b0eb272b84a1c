/* Least, largest, mean and variance of the columns of sparse rows, their zeros included.
 *
 * Method: extremes in one pass; where mean and variance are wanted, a second one adds up values and
 * squares as integers, after scaling each column to its largest magnitude, in units of 2^-61.
 * Integers add up to the same in any order. Advantage: 50 bytes a column, where exact sums of
 * doubles (linalg/column_stats.h) take 1.1 kB, too much for a million columns. Disadvantage: a
 * second pass, and the variance is a difference of two sums: of a column without a zero whose
 * values lie within 1e-8 of one another little of it is left.
 */
#ifndef IKT_DATA_SPARSE_STATS_H
#define IKT_DATA_SPARSE_STATS_H

#include <stdbool.h>

#include "io/sources/source.h"
#include "linalg/column_stats.h"

/* COLLECTIVE. Statistics of a sparse source, the same on all ranks.
 *   with_variance   whether mean and variance are wanted; they are NULL otherwise
 *   out             free with ikt_column_stats_free, also after a failure
 * Errors: those of ikt_source_read_sparse. Cost: the entries over the ranks, once or twice. */
ikt_status ikt_sparse_stats_compute(ikt_context *ctx, ikt_source *source, bool with_variance,
                                    ikt_column_stats *out);

#endif
