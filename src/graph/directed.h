/* Directed weights p_j|i by rows of differing length: what P is made from.
 *
 * Lists of k neighbours become rows where they stand; a graph of another program has rows of any
 * length, hubs among them.
 */
#ifndef IKT_GRAPH_DIRECTED_H
#define IKT_GRAPH_DIRECTED_H

#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"
#include "neighbours/neighbours.h"

typedef struct {
    int64_t n_local;
    int64_t *start;   /* [n_local + 1] where the entries of each own row begin */
    uint32_t *column; /* [start[n_local]] global rows, never the row itself, none twice in a row */
    float *value;     /* [start[n_local]] p_j|i > 0 */
} ikt_directed;

/* LOCAL. Weighted lists as rows: zeros are dropped, and the gaps closed.
 *   lists   with weights p_j|i >= 0 in place of scores. Taken over: empty afterwards, also on a
 *           failure
 *   out     free with ikt_directed_destroy; empty on failure
 * Errors: IKT_ERR_RESOURCE. Memory: 8 bytes a row. */
ikt_status ikt_directed_from_lists(ikt_context *ctx, ikt_neighbours *lists, ikt_directed *out);

/* LOCAL. Sorts the entries of every row by column. Errors: IKT_ERR_RESOURCE. Memory: 8 bytes for
 * each entry of the longest row and thread. */
ikt_status ikt_directed_sort(ikt_context *ctx, const ikt_directed *rows);

void ikt_directed_destroy(ikt_directed *rows);

/* COLLECTIVE. Refuses weights that are not symmetric.
 *   rows        sorted
 *   tolerance   |p_ij - p_ji| may be so large a part of the larger one
 *   scale       what a weight is multiplied by in the message
 *   name        of the file, for the message
 * Errors: IKT_ERR_DATA with the first pair (lowest row, then column), IKT_ERR_RESOURCE.
 * Cost: every entry that leads to another rank travels once. */
ikt_status ikt_directed_check_symmetric(ikt_context *ctx, const ikt_rows *distribution,
                                        const ikt_directed *rows, double tolerance, double scale,
                                        const char *name);

#endif
