/* Rows of differing length on their way from one order to another (order.h): entries of 4 bytes. */
#ifndef IKT_DIST_REDISTRIBUTE_H
#define IKT_DIST_REDISTRIBUTE_H

#include <stdint.h>

#include "base/status.h"
#include "dist/order.h"

typedef enum { IKT_TO_SLOTS, IKT_TO_ROWS } ikt_direction;

/* COLLECTIVE. Where the entries of each row begin in the other order.
 *   from   [rows.count + 1] in the order that is left
 *   to     [rows.count + 1] in the other
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_redistribute_starts(ikt_context *ctx, const ikt_order *order,
                                   ikt_direction direction, const int64_t *from, int64_t *to);

/* COLLECTIVE. Brings the entries there.
 *   in     [from[rows.count]] entries of 4 bytes, counted from from[0] = 0
 *   out    [to[rows.count]]
 * Batches of about a million entries a rank travel at a time. Errors: IKT_ERR_RESOURCE. Memory
 * beside in and out: 8 bytes an entry of a batch, which is at least the longest row to each rank.
 */
ikt_status ikt_redistribute_entries(ikt_context *ctx, const ikt_order *order,
                                    ikt_direction direction, const int64_t *from, const void *in,
                                    const int64_t *to, void *out);

#endif
