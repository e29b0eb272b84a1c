/* Entries of a distributed sparse matrix that travel, transposed, to the owners of their columns.
 */
#ifndef IKT_GRAPH_TRANSPOSE_H
#define IKT_GRAPH_TRANSPOSE_H

#include <stdbool.h>

#include "dist/shuffle.h"
#include "graph/graph.h"

/* An entry at the owner of its column. */
typedef struct {
    uint32_t row;    /* local number of the column it had, an own row here */
    uint32_t column; /* global number of the row it comes from */
    float value;
} ikt_transposed_entry;

/* Buffers, which grow to what a batch of rows needs: 12 bytes for each of 2^21 entries, or of the
 * longest row, and as much for what comes. */
typedef struct {
    ikt_context *ctx;
    const ikt_rows *distribution; /* lent */
    const ikt_directed *rows;     /* lent; values may change between two batches */
    ikt_shuffle shuffle;          /* of the entries of a batch */
    ikt_transposed_entry *sent, *received;
} ikt_transpose;

/* LOCAL. Errors: IKT_ERR_RESOURCE; free with ikt_transpose_end in any case. */
ikt_status ikt_transpose_begin(ikt_context *ctx, const ikt_rows *distribution,
                               const ikt_directed *rows, ikt_transpose *out);
void ikt_transpose_end(ikt_transpose *t);

/* COLLECTIVE. All entries that lead to rows of other ranks, a batch of rows at a time.
 *   only_positive   entries with values above 0 only
 *   take            LOCAL, is given every entry that comes; the entries of one row by one thread,
 *                   in an order that depends on the ranks, whatever threads OpenMP starts
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_transpose_run(ikt_transpose *t, bool only_positive,
                             void (*take)(void *self, const ikt_transposed_entry *), void *self);

#endif
