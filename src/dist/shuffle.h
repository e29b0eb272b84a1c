/* Items on their way to the ranks they belong to, and answers on their way back.
 *
 * Method: every rank counts its items by the rank they go to, all ranks tell each other the counts,
 * and the items travel grouped by receiver. They arrive grouped by sender, each group in the order
 * in which its sender had it. Advantage: one exchange, and what comes back is in the order of what
 * was sent. Disadvantage: 24 bytes a rank; items have to be grouped before they leave.
 *
 *     ikt_shuffle_create -> ikt_shuffle_count(_rows) -> ikt_shuffle_meet -> ikt_shuffle_send
 */
#ifndef IKT_DIST_SHUFFLE_H
#define IKT_DIST_SHUFFLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"

typedef struct {
    int64_t *send_counts;   /* [ranks] items that go to each rank */
    int64_t *recv_counts;   /* [ranks] items that come from each rank */
    int64_t *place;         /* [ranks] where the next item for each rank belongs; see next below */
    int64_t sent, received; /* all of them */
} ikt_shuffle;

/* LOCAL. No items yet.
 *   purpose   of the memory account
 * Errors: IKT_ERR_RESOURCE; free with ikt_shuffle_destroy in any case. */
ikt_status ikt_shuffle_create(ikt_context *ctx, const char *purpose, ikt_shuffle *out);
void ikt_shuffle_destroy(ikt_shuffle *shuffle);

/* LOCAL. Forgets the items, to begin anew. */
void ikt_shuffle_clear(ikt_context *ctx, ikt_shuffle *shuffle);

/* LOCAL. Counts one item, or one for each of `count` rows, which goes to its owner. */
static inline void ikt_shuffle_count(ikt_shuffle *shuffle, int rank) {
    shuffle->send_counts[rank]++;
}
void ikt_shuffle_count_rows(ikt_shuffle *shuffle, const ikt_rows *rows, const uint32_t *row,
                            int64_t count);

/* LOCAL. Once all are counted: `sent`, and the place of the first item for each rank. */
void ikt_shuffle_group(ikt_context *ctx, ikt_shuffle *shuffle);

/* LOCAL. The place, among the items sent, of the next one that goes to a rank. */
static inline int64_t ikt_shuffle_next(ikt_shuffle *shuffle, int rank) {
    return shuffle->place[rank]++;
}

/* COLLECTIVE. Tells all ranks what comes: recv_counts and `received`. */
void ikt_shuffle_meet(ikt_context *ctx, ikt_shuffle *shuffle);

/* COLLECTIVE. The items there, and one answer for each of them back, `bytes` bytes an item.
 *   send: in [sent], out [received]     answer: in [received], out [sent] */
void ikt_shuffle_send(ikt_context *ctx, const ikt_shuffle *shuffle, const void *in, void *out,
                      size_t bytes);
void ikt_shuffle_answer(ikt_context *ctx, const ikt_shuffle *shuffle, const void *in, void *out,
                        size_t bytes);

/* COLLECTIVE. Fetches values of rows of other ranks, once; values that are wanted again and again
 * travel by halo.h.
 *   rows    ownership of the rows
 *   row     [count] global rows, ascending, distinct, none owned by this rank; borrowed
 *   own     [rows->count] values of the own rows, `bytes` bytes each; borrowed
 *   value   [count] values of the rows asked for
 * Errors: IKT_ERR_RESOURCE. Memory: 4 bytes and a value for each that others ask this rank for. */
ikt_status ikt_gather_rows(ikt_context *ctx, const ikt_rows *rows, const uint32_t *row,
                           int64_t count, const void *own, size_t bytes, void *value);

/* COLLECTIVE. Values of all rows on every rank.
 *   own       [rows->count] values of the own rows, `bytes` bytes each; borrowed
 *   purpose   of the memory (base/memory.h)
 *   all       ADDRESS of a pointer that receives [rows->n] values, owned by the caller; NULL on
 *             failure
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_share_rows(ikt_context *ctx, const ikt_rows *rows, const void *own, size_t bytes,
                          const char *purpose, void *all);

#endif
