/* The positions of all rows on every rank: what sums over all pairs read.
 *
 * Advantage: no order of messages, one transfer an evaluation. Disadvantage: 8 q bytes a row of the
 * whole map on every rank.
 */
#ifndef IKT_KERNELSUM_REPLICA_H
#define IKT_KERNELSUM_REPLICA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"

enum { IKT_DIMENSIONS_MOST = 3 };

typedef struct {
    int q;           /* dimensions of the map */
    int64_t padded;  /* rows, rounded up to a multiple of 16 */
    int64_t *counts; /* [ranks] rows of each */
    float *all;      /* [n * q] as gathered */
    /* [padded] each, coordinates along axis 0 .. q - 1; the padding lies at 1e30, where the square
     * of a distance is infinite and a kernel exactly 0 */
    float *at[IKT_DIMENSIONS_MOST];
} ikt_replica;

/* LOCAL. Memory for the positions of a map in q dimensions. Errors: IKT_ERR_RESOURCE; free it then,
 * too. */
ikt_status ikt_replica_create(ikt_context *ctx, const ikt_rows *rows, int q, ikt_replica *out);

/* COLLECTIVE. Gathers the positions y[rows->count * q] of all ranks; false where a coordinate of
 * any rank is not finite. */
bool ikt_replica_fill(ikt_context *ctx, const ikt_rows *rows, const float *y,
                      const ikt_replica *replica);

/* COLLECTIVE. Charges of all rows on every rank.
 *   charge   [rows->count] of the own rows, divided by `scale`
 *   all      [n], receives them */
void ikt_replica_charges(ikt_context *ctx, const ikt_rows *rows, const double *charge, double scale,
                         const ikt_replica *replica, float *all);

/* LOCAL. */
void ikt_replica_destroy(ikt_replica *replica);

/* LOCAL. Bytes. */
int64_t ikt_replica_memory(const ikt_rows *rows, int q);

#endif
