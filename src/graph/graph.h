/* The sparse symmetric matrix P of t-SNE, distributed by rows.
 *
 * p_ij = (p_j|i + p_i|j) / (2 n), sum over all i and j = 1 (Zhu & Ting 2021, equation 3); UMAP's
 * weights are united instead (ikt_symmetry) and divided by their total, so that every P is
 * symmetric and sums to 1. A rank holds whole rows, each in two parts: forward, the entries to the
 * row's own neighbours, which stay where the neighbour lists were; and reverse, those to rows that
 * have it among their neighbours but are not among its own. Two parts because nothing then has to
 * be copied to make space. Columns are local numbers: 0 .. n_local - 1 are the rank's own rows,
 * n_local + g is its g-th ghost, a row of another rank. Within a part of a row the columns are
 * ordered by GLOBAL number, whatever the ranks: sums along a row have one order everywhere.
 */
#ifndef IKT_GRAPH_GRAPH_H
#define IKT_GRAPH_GRAPH_H

#include <stdint.h>

#include "affinity/affinity.h"
#include "base/status.h"
#include "data/dataset.h"
#include "dist/order.h"
#include "dist/rows.h"
#include "io/results/graph_file.h"
#include "neighbours/neighbours.h"

/* Directed weights p_j|i by rows: what P is made from. Lists of k neighbours become rows where they
 * stand; a graph of another program has rows of any length, hubs among them. */
typedef struct {
    int64_t n_local;
    int64_t *start;   /* [n_local + 1] where the entries of each own row begin */
    uint32_t *column; /* [start[n_local]] global rows, never the row itself, none twice in a row */
    float *value;     /* [start[n_local]] p_j|i > 0 */
    ikt_symmetry symmetry; /* what they are made for; the mean unless the caller says otherwise */
} ikt_directed;

/* LOCAL. Weighted lists as rows: zeros are dropped, and the gaps closed.
 *   lists   with weights p_j|i >= 0 in place of scores. Taken over: empty afterwards, also on a
 *           failure
 *   out     free with ikt_directed_destroy; empty on failure
 * Errors: IKT_ERR_RESOURCE. Memory: 8 bytes a row. */
ikt_status ikt_directed_from_lists(ikt_context *ctx, ikt_neighbours *lists, ikt_directed *out);

/* LOCAL. The weights of rows without similarity, the same for each of their nearest rows; all other
 * rows have none. Errors: IKT_ERR_RESOURCE; free with ikt_directed_destroy in any case. */
ikt_status ikt_directed_from_zeros(ikt_context *ctx, const ikt_zero_similarity *zeros,
                                   const ikt_rows *rows, ikt_directed *out);

/* LOCAL. Sorts the entries of every row by column. Errors: IKT_ERR_RESOURCE. Memory: 16 bytes for
 * each entry of the longest row and thread, where it has more than 128. */
ikt_status ikt_directed_sort(ikt_context *ctx, const ikt_directed *rows);

void ikt_directed_destroy(ikt_directed *rows);

/* COLLECTIVE. The numbers of pairs, whichever end has them: afterwards each row has an entry for
 * every row that it had one for or that had one for it, and both entries of a pair hold the smaller
 * or the larger of the numbers that there were. Rows are sorted by column.
 *   takes_larger   the larger one
 *   rows           values of any kind, none of them NaN; empty on failure
 * Errors: IKT_ERR_RESOURCE. Memory at the peak, beside the rows as they come out: those entries
 * that are new, buffers of fixed size (transpose.h), 16 bytes a row. Cost: every entry that leads
 * to another rank travels twice. */
ikt_status ikt_directed_unite(ikt_context *ctx, const ikt_rows *distribution, bool takes_larger,
                              ikt_directed *rows);

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

/* COLLECTIVE. Rows and columns by slots instead.
 *   order   of the rows
 *   slot    [rows.count] of the own rows
 * Errors: IKT_ERR_RESOURCE; empty then. Memory beside the rows: 4 bytes an entry, and 8 for each of
 * a million of them. */
ikt_status ikt_directed_to_slots(ikt_context *ctx, const ikt_order *order, const uint32_t *slot,
                                 ikt_directed *rows);

/* Rows of entries, one behind the other. Where the neighbours of a row all count the same, an entry
 * of P is one number, or twice that for two rows that have each other: then a bit takes the place
 * of the value. */
typedef struct {
    int64_t *start;  /* [n_local + 1] where the entries of each own row begin */
    int32_t *column; /* [start[n_local]] local numbers */
    float *value;    /* [start[n_local]] p_ij > 0; or NULL, and p_ij is `once` or twice that */
    uint8_t *twice;  /* [start[n_local] / 8 + IKT_TWICE_SPARE] bit e % 8 of byte e / 8 tells which;
                        NULL where there are values */
    float once;
} ikt_csr;

/* Bytes behind the bits, which a kernel that looks at sixteen of them may read. */
enum { IKT_TWICE_SPARE = 4 };

/* LOCAL, pure. p_ij of entry e. */
static inline float ikt_csr_value(const ikt_csr *part, int64_t e) {
    if (part->value) return part->value[e];
    return part->twice[e / 8] >> (e % 8) & 1 ? 2 * part->once : part->once;
}

typedef struct {
    ikt_rows rows;
    ikt_csr forward, reverse;
    int64_t n_ghost;    /* foreign rows that occur as columns */
    int64_t *ghost_row; /* [n_ghost] their global numbers, ascending */
} ikt_graph;

/* COLLECTIVE. Symmetrises directed weights.
 *   rows     p_j|i, those of a row summing to 1, or all of them to n; for a union, weights from 0
 *            to 1. Taken over: empty afterwards, also on failure.
 * Errors: IKT_ERR_RESOURCE (memory; more than 2^31 rows and ghosts on one rank).
 * Memory at the peak, beside the rows and the reverse part (8 bytes an entry): buffers of fixed
 * size, 16 bytes a row and n/5 bytes for the numbers of the ghosts. */
ikt_status ikt_graph_from_directed(ikt_context *ctx, const ikt_rows *distribution,
                                   ikt_directed *rows, ikt_graph *out);

/* LOCAL. Puts bits in place of the values of a part where all of these are one number or twice that
 * (uniform.c); otherwise changes nothing. The last step of the above, on each rank and part.
 *   entries   start[n_local]
 * Errors: IKT_ERR_RESOURCE. Cost: the values are read once, and again where the largest one
 * does not tell that they stay. */
ikt_status ikt_csr_drop_values(ikt_context *ctx, ikt_csr *part, int64_t entries);

void ikt_graph_destroy(ikt_graph *graph);

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

/* --- from a graph in a file (load.c) ---------------------------------------------------------- */

/* What is told of a graph beside its weights. */
typedef struct {
    int64_t zero_similarity; /* rows without an edge, over all ranks */
    int64_t selves;          /* entries of rows with themselves, left out */
    int64_t zeros;           /* entries with the number 0 that are no edges, left out */
} ikt_graph_facts;

/* COLLECTIVE. Reads the own rows, checks them, and weighs them.
 *   file   of distribution->n rows
 *   rule   what the numbers are; its scale is found here
 *   data   of the same rows, or NULL: rows without an edge are tied to their k nearest rows there,
 *          and refused without it
 *   k      1 <= k < n
 *   out    in the order of the file, ascending by column; free with ikt_directed_destroy
 * Errors: IKT_ERR_DATA naming row and column (what sparse_group.h checks; below 0; twice the same
 * column; fewer edges than the kernel needs; not symmetric where it has to be; no edges), those of
 * reading, IKT_ERR_RESOURCE. Memory at the peak: 8 bytes an entry, and 24 for each of a block of
 * some million entries, which is at least the longest row. */
ikt_status ikt_directed_load(ikt_context *ctx, const ikt_graph_file *file,
                             const ikt_rows *distribution, const ikt_edge_rule *rule,
                             ikt_dataset *data, int64_t k, ikt_directed *out,
                             ikt_graph_facts *facts);

/* COLLECTIVE. Reads the own rows as numbers of pairs, not as weights.
 *   values   what the numbers are. Distances become their squares, in a unit that is a power of
 *            two; similarities and probabilities parts of the largest of all rows, at least
 *            FLT_MIN; of IKT_EDGES_NONE every one is 1
 *   out      in the order of the file, ascending by column; rows may be empty; free with
 *            ikt_directed_destroy
 * Errors: IKT_ERR_DATA as above, but for rows without or with few edges; those of reading,
 * IKT_ERR_RESOURCE. Memory: as above. Cost: two passes over the file. */
ikt_status ikt_pairs_load(ikt_context *ctx, const ikt_graph_file *file,
                          const ikt_rows *distribution, ikt_edges values, ikt_directed *out,
                          ikt_graph_facts *facts);

/* COLLECTIVE. Checksum of the edges, that is of rows, columns and numbers, the same on any ranks.
 *   values   what the numbers are, which says whether 0 is an edge
 * Errors: those of reading, IKT_ERR_RESOURCE. */
ikt_status ikt_graph_file_hash(ikt_context *ctx, const ikt_graph_file *file,
                               const ikt_rows *distribution, ikt_edges values, uint64_t *hash);

#endif
