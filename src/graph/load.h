/* Directed weights p_j|i from a graph in a file. */
#ifndef IKT_GRAPH_LOAD_H
#define IKT_GRAPH_LOAD_H

#include "affinity/affinity.h"
#include "data/dataset.h"
#include "graph/graph.h"
#include "io/results/graph_file.h"

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
 * two; similarities and probabilities parts of the largest of all rows, at least FLT_MIN; of
 *            IKT_EDGES_NONE every one is 1
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
