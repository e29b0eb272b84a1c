/* The most similar of many rows that no rank holds: they pass by in blocks.
 *
 * Method: each rank reads its share of a block, the shares are joined, and every rank offers the
 * whole block to the lists of its own rows. Advantage: exact, and memory is that of one block
 * whatever the number of rows. Disadvantage: n_local n scores, and all rows go to every rank once.
 */
#ifndef IKT_NEIGHBOURS_STREAM_H
#define IKT_NEIGHBOURS_STREAM_H

#include "neighbours/neighbours.h"

/* Where the rows come from. */
typedef struct {
    void *self;
    int64_t n;        /* rows, the same on all ranks */
    size_t row_bytes; /* of a packed row */
    /* COLLECTIVE. Packed rows first .. first + count - 1; ranks ask for different ones, or none.
     * Returns an agreed status. */
    ikt_status (*read)(void *self, int64_t first, int64_t count, void *packed);
} ikt_row_stream;

/* COLLECTIVE. For each own row of the scorer the lists->k most similar of the stream's rows, by
 * ascending (score, row); places that stay empty have row UINT32_MAX.
 *   scorer   whose packed rows are those of the stream
 *   lists    of scorer->rows.count rows; what they held before is forgotten
 * Errors: IKT_ERR_RESOURCE, those of reading. Memory: 64 MiB. */
ikt_status ikt_neighbours_stream(ikt_context *ctx, const ikt_scorer *scorer,
                                 const ikt_row_stream *rows, ikt_neighbours *lists);

#endif
