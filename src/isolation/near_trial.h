/* Whether bytes choose the near centres that floats choose, tried on some of the centres.
 *
 * The nearest `length` centres of each of some are found among all others, by both forms. A centre
 * that bytes miss at place r of the order of distance is the cell of a partitioning of psi of the
 * `count` centres with probability q (1 - q)^r, q = psi / count; the sum of these is the share of
 * cells that would be others.
 */
#ifndef IKT_ISOLATION_NEAR_TRIAL_H
#define IKT_ISOLATION_NEAR_TRIAL_H

#include "isolation/near_form.h"
#include "isolation/row_lists.h"

/* LOCAL. The same on every rank.
 *   lists   whose centres stand by place
 *   plain   the form of lists->centres
 *   bytes   that of `points`, the same centres
 *   share   receives the share of cells that would be others
 * Errors: IKT_ERR_RESOURCE. Cost: two values for each pair of a centre and one of 120, on every
 * rank, by at most fifteen threads. */
ikt_status ikt_near_trial(const ikt_row_lists *lists, const ikt_near_form *plain,
                          const ikt_near_form *bytes, const ikt_near_points *points, double *share);

#endif
