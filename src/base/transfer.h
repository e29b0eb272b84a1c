/* Items to all ranks in two halves, so that work goes on while they travel.
 *
 * Method: one message for each pair of ranks that have something for each other; how much is known
 * on both sides beforehand. Advantage: begin returns at once, and ranks that share nothing say
 * nothing to each other. Disadvantage: the counts have to be known; where they are not,
 * ikt_exchange_counts tells them.
 */
#ifndef IKT_BASE_TRANSFER_H
#define IKT_BASE_TRANSFER_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct ikt_transfer ikt_transfer;

/* LOCAL. For items of `bytes` bytes. Errors: IKT_ERR_RESOURCE; NULL then. */
ikt_status ikt_transfer_create(ikt_context *ctx, size_t bytes, ikt_transfer **out);
void ikt_transfer_destroy(ikt_transfer **transfer);

/* COLLECTIVE. Starts sending send_counts[r] items, consecutive by rank in `send`, to each rank r,
 * and receiving recv_counts[r] items from each, consecutive by rank in `recv`. Each count is below
 * 2^31, and is what the peer has for it; both are 0 for the rank itself. None of the four may be
 * touched until ikt_transfer_end. Other transfers may be under way, where all ranks begin them in
 * one order. */
void ikt_transfer_begin(ikt_transfer *transfer, const void *send, const int64_t *send_counts,
                        void *recv, const int64_t *recv_counts);
void ikt_transfer_end(ikt_transfer *transfer);

#endif
