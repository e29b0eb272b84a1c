/* Exact search: every own row is compared with all rows there are.
 *
 * It is the search whose candidates are all rows, with the scores of scorer.h and the lists of
 * neighbours.h, and ties go to the lower row as they do among near cells (search.h).
 * Method: blocks of packed rows come by, each is scored against all own rows tile by tile, and each
 * list keeps its best. The blocks are those of all ranks, which pass round a ring; or some rows
 * that every rank holds; or a stream of rows that no rank holds. Advantage: the lists are exact and
 * unique, and a rank holds two blocks of others, however many there are. Disadvantage: n_local n
 * scores; right up to about 10^5 rows.
 */
#ifndef IKT_NEIGHBOURS_EXACT_H
#define IKT_NEIGHBOURS_EXACT_H

#include <stddef.h>

#include "neighbours/neighbours.h"
#include "neighbours/scorer.h"

/* Rows of a block that passes round the ring. */
enum { IKT_EXACT_BLOCK_ROWS = 1024 };

/* Receives a tile of scores: own rows first .. first + na - 1 (local numbers) against the global
 * rows row .. row + nb - 1; score[a * stride + b]. Called from several threads, never at once for
 * the same own row. */
typedef void (*ikt_score_visitor)(void *self, int64_t first, int64_t na, int64_t row, int64_t nb,
                                  const float *score, int64_t stride);

/* COLLECTIVE. Shows every pair (own row, any row) to `visit` exactly once, in an order that depends
 * on the ranks: what a visitor keeps must not depend on it.
 * Cost: n_local * n scores; memory: two packed blocks and a tile a thread.
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_score_all(ikt_context *ctx, const ikt_scorer *scorer, ikt_score_visitor visit,
                         void *self);

/* COLLECTIVE. Exact search over all pairs, into the lists of a course (round 0), of which some may
 * be done. The result is unique: ties go to the lower global row; the lists are not sorted.
 * Errors: IKT_ERR_RESOURCE, IKT_STOPPED. Cost: n_local * n scores. */
ikt_status ikt_neighbours_exact(ikt_context *ctx, const ikt_scorer *scorer,
                                ikt_list_course *course);

/* LOCAL, pure. Bytes that exact search takes on rank 0 beside rows, lists and blocks of them. */
int64_t ikt_exact_memory(const ikt_rows *rows, int64_t k);

/* LOCAL. Offers packed rows to the lists of the scorer's own rows.
 *   own      [scorer->rows.count] the global number of each own row, which is not offered to
 *            itself; NULL: the packed rows are of another set
 *   packed   `count` rows, the first with the global number `row`
 * Errors: IKT_ERR_RESOURCE. Cost: rows.count * count scores over the threads. */
ikt_status ikt_neighbours_offer(ikt_context *ctx, const ikt_scorer *scorer, const int64_t *own,
                                const void *packed, int64_t row, int64_t count,
                                ikt_neighbours *lists);

/* LOCAL. For each own row of the scorer the lists->k most similar of `few` rows that this rank
 * holds.
 *   packed   the few rows, packed by a scorer of this kind
 *   lists    of scorer->rows.count rows; receives numbers below `few` in place of global rows, by
 *            ascending (score, number). What they held before is forgotten.
 * Errors: IKT_ERR_RESOURCE. Cost: rows.count * few scores over the threads. */
ikt_status ikt_neighbours_among(ikt_context *ctx, const ikt_scorer *scorer, const void *packed,
                                int64_t few, ikt_neighbours *lists);

/* Where the rows of a stream come from. */
typedef struct {
    void *self;
    int64_t n;        /* rows, the same on all ranks */
    size_t row_bytes; /* of a plain row */
    /* COLLECTIVE. Plain rows first .. first + count - 1; ranks ask for different ones, or none.
     * Returns an agreed status. */
    ikt_status (*read)(void *self, int64_t first, int64_t count, void *plain);
} ikt_row_stream;

/* COLLECTIVE. For each own row of the scorer the lists->k most similar of the stream's rows, by
 * ascending (score, row); places that stay empty have row UINT32_MAX. Each rank reads its share of
 * a block of the stream, and the shares are joined, and packed, on every rank.
 *   scorer   whose plain rows are those of the stream
 *   lists    of scorer->rows.count rows; what they held before is forgotten
 * Errors: IKT_ERR_RESOURCE, those of reading. Memory: 64 MiB, 96 where rows have to be packed. */
ikt_status ikt_neighbours_stream(ikt_context *ctx, const ikt_scorer *scorer,
                                 const ikt_row_stream *rows, ikt_neighbours *lists);

#endif
