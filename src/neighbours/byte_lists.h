/* Lists of wide rows that are searched as bytes.
 *
 * Method: passes and rounds compare rows as bytes (scorer.h) and keep half as many rows again as
 * are wanted; in the end these are compared by the distance itself, and the nearest are kept.
 * Advantage: a third of the memory of rows of float32 with their integers of 16 bits, and up to
 * four times the multiply-adds an instruction. Disadvantage: a row whose bytes put more than those
 * few before it is missed, so that bytes are for data in which a trial finds next to no such row.
 */
#ifndef IKT_NEIGHBOURS_BYTE_LISTS_H
#define IKT_NEIGHBOURS_BYTE_LISTS_H

#include "base/arrays.h"
#include "data/dataset.h"
#include "neighbours/neighbours.h"
#include "neighbours/tiles.h"

/* LOCAL, pure. Rows of a list by bytes for one of k among n rows; a search for it looks at more. */
static inline int64_t ikt_byte_lists_length(int64_t n, int64_t k) {
    return ikt_smaller(k + k / 2 + 8, n - 1);
}

/* LOCAL, pure. Whether bytes are worth a trial: of many wide rows that several passes compare by
 * Euclidean distances. */
bool ikt_byte_lists_suit(bool is_manhattan, int64_t n, int64_t d, int64_t passes);

/* LOCAL, pure. Bytes that the search takes, with its lists, but without what ikt_search_memory has.
 */
int64_t ikt_byte_lists_memory(const ikt_rows *rows, int64_t k, int64_t d);

/* COLLECTIVE. Makes bytes of the own rows, and tells what share of the k nearest of some rows are
 * not among their lists by bytes, both among all rows: the same on every rank, whatever the ranks.
 *   data    whose rows it reads, once
 *   held    claims the words
 *   bytes   has the mean; receives the words, and whether half precision holds the rows
 *   share   receives it; 1 where rows are longer than bytes can hold
 * Errors: IKT_ERR_RESOURCE, those of reading, IKT_STOPPED (ikt_watch_pause). */
ikt_status ikt_byte_lists_try(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows, int64_t k,
                              ikt_arrays *held, ikt_byte_rows *bytes, double *share);

/* COLLECTIVE. The nearest rows of lists by bytes, by the scores of the tiles.
 *   tiles   the rows themselves, in the same slots
 *   bytes   the lists, longer than those of `out`
 *   out     of the same rows, with "nothing yet" in every place; receives the lists, sorted
 * Errors: IKT_ERR_RESOURCE. Memory: rows of other ranks, 128 MiB of them at a time. */
ikt_status ikt_byte_lists_decide(ikt_context *ctx, const ikt_tiles *tiles,
                                 const ikt_neighbours *bytes, ikt_neighbours *out);

#endif
