/* An order of points in which near ones stand near each other. */
#ifndef IKT_NEIGHBOURS_LOCALITY_H
#define IKT_NEIGHBOURS_LOCALITY_H

#include <stdint.h>

#include "base/status.h"
#include "linalg/sparse.h"

/* LOCAL, a pure function of the points; one thread.
 *   x       [count * d] coordinates
 *   order   [count], receives the points' numbers in their new order
 * Errors: IKT_ERR_RESOURCE. Cost: count log2(count) (3 d + log2(count)). */
ikt_status ikt_locality_order(ikt_context *ctx, const float *x, int64_t count, int64_t d,
                              uint32_t *order);

/* LOCAL. The same order for sparse points as for the same ones held dense. Memory: d floats. */
ikt_status ikt_locality_order_sparse(ikt_context *ctx, const ikt_sparse *x, uint32_t *order);

#endif
