/* The sparse symmetric matrix P of t-SNE, distributed by rows.
 *
 * p_ij = (p_j|i + p_i|j) / (2 n), sum over all i and j = 1 (Zhu & Ting 2021, equation 3). A rank
 * holds whole rows, each in two parts: forward, the entries to the row's own neighbours, which stay
 * where the neighbour lists were; and reverse, those to rows that have it among their neighbours
 * but are not among its own. Two parts because nothing then has to be copied to make room.
 * Columns are local numbers: 0 .. n_local - 1 are the rank's own rows, n_local + g is its g-th
 * ghost, a row of another rank. Within a part of a row the columns are ordered by GLOBAL number,
 * whatever the ranks: sums along a row have one order everywhere.
 */
#ifndef IKT_GRAPH_GRAPH_H
#define IKT_GRAPH_GRAPH_H

#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"
#include "graph/directed.h"
#include "neighbours/neighbours.h"

/* Rows of entries, one behind the other. */
typedef struct {
    int64_t *start;  /* [n_local + 1] where the entries of each own row begin */
    int32_t *column; /* [start[n_local]] local numbers */
    float *value;    /* [start[n_local]] p_ij > 0 */
} ikt_csr;

typedef struct {
    ikt_rows rows;
    ikt_csr forward, reverse;
    int64_t n_ghost;    /* foreign rows that occur as columns */
    int64_t *ghost_row; /* [n_ghost] their global numbers, ascending */
} ikt_graph;

/* COLLECTIVE. Symmetrises directed weights.
 *   rows     p_j|i, those of a row summing to 1, or all of them to n. Taken over: empty afterwards,
 *            also on failure.
 * Errors: IKT_ERR_RESOURCE (memory; more than 2^31 rows and ghosts on one rank).
 * Memory at the peak, beside the rows and the reverse part (8 bytes an entry): buffers of fixed
 * size, 16 bytes a row and n/5 bytes for the numbers of the ghosts. */
ikt_status ikt_graph_from_directed(ikt_context *ctx, const ikt_rows *distribution,
                                   ikt_directed *rows, ikt_graph *out);

/* COLLECTIVE. The same from lists.
 *   lists    neighbours of the own rows, with weights p_j|i >= 0 in place of their scores, those of
 *            a row summing to 1; zeros are dropped. Taken over: empty afterwards, also on failure.
 */
ikt_status ikt_graph_symmetrise(ikt_context *ctx, const ikt_rows *rows, ikt_neighbours *lists,
                                ikt_graph *out);

void ikt_graph_destroy(ikt_graph *graph);

/* LOCAL. Lists the foreign rows among the columns as ghosts, ascending, and turns the columns,
 * which are global numbers (as uint32), into local ones: the last step of symmetrising. Errors:
 * IKT_ERR_RESOURCE. Memory: n/8 + n/16 bytes while it works. */
ikt_status ikt_graph_number_ghosts(ikt_context *ctx, ikt_graph *graph);

/* COLLECTIVE. Checks the invariants: columns in range and ascending by global number, positive
 * values, every row non-empty, p_ij = p_ji, and the sums of the following.
 * Errors: IKT_ERR_INTERNAL, naming the row where it is known. Cost: one pass with a binary search
 * per entry. */
ikt_status ikt_graph_check(ikt_context *ctx, const ikt_graph *graph);

/* COLLECTIVE. What every run checks: the entries of P sum to 1 within 1e-6, and each has a mirror
 * image of the same bits, on whichever rank (ikt_hash_entry).
 * Errors: IKT_ERR_INTERNAL. Cost: one pass, a few nanoseconds an entry. */
ikt_status ikt_graph_check_sums(ikt_context *ctx, const ikt_graph *graph);

/* LOCAL. Global number of a local column. */
int64_t ikt_graph_global(const ikt_graph *graph, int32_t column);

/* COLLECTIVE. Entries over all ranks. */
int64_t ikt_graph_entries(ikt_context *ctx, const ikt_graph *graph);

/* COLLECTIVE. Checksum of P (rows, global columns, values) that does not depend on the ranks. */
uint64_t ikt_graph_hash(ikt_context *ctx, const ikt_graph *graph);

#endif
