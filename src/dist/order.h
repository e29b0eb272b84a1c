/* Renumbering of the rows: from the order of the input to one in which similar rows are near.
 *
 * A row's new number is its slot. Ranks own slots as they own rows, in equal contiguous blocks
 * (rows.h), so that most neighbours of a row are on its own rank where slots are well chosen.
 */
#ifndef IKT_DIST_ORDER_H
#define IKT_DIST_ORDER_H

#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"
#include "dist/shuffle.h"

typedef struct {
    ikt_rows rows;       /* of rows and of slots */
    ikt_shuffle shuffle; /* of the own rows to the ranks that own their slots */
    uint32_t *leaving; /* [rows.count] own rows (local numbers) grouped by the owner of the slot */
    uint32_t *place;   /* [rows.count] own slot (local) of the rows as they arrive */
    uint32_t *row;     /* [rows.count] global row in each own slot */
} ikt_order;

/* COLLECTIVE. Plans the exchange.
 *   rows   of the rows, at most 2^32 - 1.
 *   slot   [rows->count] of each own row; over all ranks a permutation of 0 .. n - 1. Lent.
 * Errors: IKT_ERR_RESOURCE; empty then. Memory: 12 bytes a row. */
ikt_status ikt_order_create(ikt_context *ctx, const ikt_rows *rows, const uint32_t *slot,
                            ikt_order *out);
void ikt_order_destroy(ikt_order *order);

/* COLLECTIVE. Brings `bytes` bytes a row from the order of rows to that of slots, and back.
 *   in    [rows.count] of the one order, `in_stride` bytes from one to the next
 *   out   [rows.count] of the other, `out_stride` bytes apart; may be `in` itself with its stride
 * Rows travel in slices of at most 64 bytes, so that beside in and out 128 bytes a row are needed,
 * however long rows are. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_order_apply(ikt_context *ctx, const ikt_order *order, const void *in,
                           int64_t in_stride, void *out, int64_t out_stride, int64_t bytes);
ikt_status ikt_order_restore(ikt_context *ctx, const ikt_order *order, const void *in,
                             int64_t in_stride, void *out, int64_t out_stride, int64_t bytes);

/* COLLECTIVE. Slots of a few rows, the same on all ranks.
 *   row    [count] global rows, ascending, distinct
 *   slot   [count], receives their slots
 * Cost: n_local log(count). */
void ikt_order_find(ikt_context *ctx, const ikt_order *order, const int64_t *row, int64_t count,
                    int64_t *slot);

/* COLLECTIVE. The slots of the own rows.
 *   slot   [rows.count], receives the global slot of each
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_order_slots(ikt_context *ctx, const ikt_order *order, uint32_t *slot);

/* LOCAL. Bytes that an order of n_local rows holds, and those of a transfer. */
int64_t ikt_order_memory(int64_t n_local);
int64_t ikt_order_memory_transfer(int64_t n_local);

#endif
