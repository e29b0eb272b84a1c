/* Renumbering of the rows: from the order of the input to one in which similar rows are near.
 *
 * A row's new number is its slot. Ranks own slots as they own rows, in equal contiguous blocks
 * (rows.h), so that most neighbours of a row are on its own rank where slots are well chosen.
 */
#ifndef IKT_DIST_ORDER_H
#define IKT_DIST_ORDER_H

#include <stdbool.h>
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

typedef enum { IKT_TO_SLOTS, IKT_TO_ROWS } ikt_direction;

/* COLLECTIVE. Rows of differing length in the other order: where the entries of each row begin.
 *   from   [rows.count + 1] in the order that is left
 *   to     [rows.count + 1] in the other
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_redistribute_starts(ikt_context *ctx, const ikt_order *order,
                                   ikt_direction direction, const int64_t *from, int64_t *to);

/* COLLECTIVE. Brings their entries of 4 bytes there.
 *   in     [from[rows.count]] entries, counted from from[0] = 0
 *   out    [to[rows.count]]
 * Batches of about a million entries a rank travel at a time. Errors: IKT_ERR_RESOURCE. Memory
 * beside in and out: 8 bytes an entry of a batch, which is at least the longest row to each rank.
 */
ikt_status ikt_redistribute_entries(ikt_context *ctx, const ikt_order *order,
                                    ikt_direction direction, const int64_t *from, const void *in,
                                    const int64_t *to, void *out);

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

/* COLLECTIVE. Replaces numbers by the new names of what they number, for instance rows by their
 * slots. Names of other ranks are asked for once each.
 *   rows     who owns which old name
 *   name     [rows->count] new names of the own old ones; borrowed
 *   number   [count] old names below rows->n, in any order, any number of times; replaced
 * Errors: IKT_ERR_RESOURCE. Memory: n/5 bytes, 8 for each name of another rank that occurs. */
ikt_status ikt_translate_indices(ikt_context *ctx, const ikt_rows *rows, const uint32_t *name,
                                 uint32_t *number, int64_t count);

/* COLLECTIVE. Whether numbers that a file gives for rows are a renumbering.
 *   slot     [rows->count] the new number of each own row
 *   is_one   receives whether each of 0 .. n - 1 occurs once over all ranks; the same on all
 * Errors: IKT_ERR_RESOURCE. Memory: 9 bytes a row. */
ikt_status ikt_permutation_check(ikt_context *ctx, const ikt_rows *rows, const uint32_t *slot,
                                 bool *is_one);

/* LOCAL. Bytes that an order of n_local rows holds, and those of a transfer. */
int64_t ikt_order_memory(int64_t n_local);
int64_t ikt_order_memory_transfer(int64_t n_local);

#endif
