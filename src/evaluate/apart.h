/* Whether marked rows stand apart from the others in a map.
 *
 * Method: the mean distance of a row from its ten nearest in the map, divided by the median of that
 * over all rows. 1 is a row like any other; an outlier that the map shows has much more. The test
 * for outliers of Amid and Warmuth 2019 (TriMap), section 2, as a number.
 * Disadvantage: a small group of outliers hides each of its members.
 */
#ifndef IKT_EVALUATE_APART_H
#define IKT_EVALUATE_APART_H

#include "evaluate/measure.h"

/* COLLECTIVE. Appends "marked rows apart", the least of the ratios of the marked rows; nothing
 * where none is marked.
 *   marked   [n_marked] rows, the same on every rank
 * The median is over at most 2,000 rows. Errors: IKT_ERR_RESOURCE. Cost: n log n; every rank holds
 * the map. */
ikt_status ikt_measure_apart(ikt_context *ctx, const ikt_measured *what, const int64_t *marked,
                             int64_t n_marked, ikt_measures *out);

#endif
