/* Totals over all pairs, above all the normalisation Z, from the sums of a kernel at the points. */
#ifndef IKT_OBJECTIVE_NORMALISATION_H
#define IKT_OBJECTIVE_NORMALISATION_H

#include <stdint.h>

#include "base/status.h"

/* COLLECTIVE. Sum over all rows of phi - self, each cut to 2^-30: the same on every rank, for any
 * ranks and threads.
 *   phi   [n_local] sums of the kernel, the point itself included: below 2^32 in magnitude
 *   self  the kernel at distance 0, what the point itself adds
 * NaN where a phi of any rank is not finite. */
double ikt_normalisation(ikt_context *ctx, const double *phi, double self, int64_t n_local);

#endif
