/* Lists of a row's nearest distinct centres: how long they are, and how far they can be trusted.
 *
 * Dense rows and sparse ones share them and the table (centre_table.h) along which they are walked.
 */
#ifndef IKT_ISOLATION_CENTRE_LISTS_H
#define IKT_ISOLATION_CENTRE_LISTS_H

#include "base/select.h"
#include "isolation/kernel_f32_bound.h"
#include "isolation/model.h"

/* LOCAL, pure. Length of the lists: 99 of 100 rows find all their cells in it, and every row the
 * near centres that spec->near wants. */
int64_t ikt_list_length(int64_t centres, const ikt_model_spec *spec);

/* LOCAL. After 1, 4 and 16 chunks of centres keeps as many values of each row as are likely to hold
 * all of the final list's (four standard deviations); the others need not be looked at.
 *   kept     [rows], of lists of `length`
 *   chunks   of `chunk` centres each that have been seen, of `count` centres in all */
void ikt_list_tighten(ikt_select *kept, int64_t rows, int64_t length, int64_t chunks, int64_t chunk,
                      int64_t count);

/* LOCAL, pure. The pair below which every centre is in the list: a centre that is not has at least
 * the value of kept->limit, and the definition's rounding and that of the value are bounded
 * (kernel_f32_bound.h). */
ikt_pair ikt_list_certain(const ikt_select *kept, rounding round, bool is_manhattan, double x_norm,
                          double largest_norm);

/* LOCAL. Logs how lists have done.
 *   open   of `rows` rows of this rank, those that needed all centres */
void ikt_list_report(ikt_context *ctx, int64_t length, int64_t distinct, int64_t open,
                     int64_t rows);

#endif
