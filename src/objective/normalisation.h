/* Z, the normalisation of t-SNE, from the sums of the Student kernel at the points. */
#ifndef IKT_OBJECTIVE_NORMALISATION_H
#define IKT_OBJECTIVE_NORMALISATION_H

#include <stdint.h>

#include "base/status.h"

/* COLLECTIVE. Z = sum over all rows of phi - 1, each cut to 2^-30: the same on every rank, for
 * any ranks and threads.
 *   phi  [n_local] sums of the kernel, the point itself included: below 2^32
 * NaN where a phi of any rank is not finite. */
double ikt_normalisation(ikt_context *ctx, const double *phi, int64_t n_local);

#endif
