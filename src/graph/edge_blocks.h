/* A graph in a file, a block of whole rows at a time, checked and sorted. */
#ifndef IKT_GRAPH_EDGE_BLOCKS_H
#define IKT_GRAPH_EDGE_BLOCKS_H

#include <stdbool.h>

#include "affinity/edges.h"
#include "graph/load.h"

/* Rows first .. first + count - 1 of the file. */
typedef struct {
    int64_t first, count;
    const int64_t *start; /* [count + 1] where entries of a row begin in the file */
    const int64_t *edges; /* [count] of each row, which stand at the beginning of its entries */
    uint32_t *column;     /* [start[count] - start[0]] ascending within a row */
    double *value;        /* [start[count] - start[0]] */
} ikt_edge_block;

/* COLLECTIVE. Goes through the own rows.
 *   start   [rows->count + 1] of ikt_graph_file_starts
 *   rule    says which numbers are edges
 *   facts   receives what was left out, on this rank
 *   take    LOCAL, is given one block after another
 * Errors: those of reading and of `take`; IKT_ERR_DATA naming row and column of a number below 0
 * where there may be none, or of a column that comes twice; IKT_ERR_RESOURCE. */
ikt_status ikt_edge_blocks_read(ikt_context *ctx, const ikt_graph_file *file, const ikt_rows *rows,
                                const int64_t *start, const ikt_edge_rule *rule,
                                ikt_graph_facts *facts,
                                ikt_status (*take)(void *self, const ikt_edge_block *block),
                                void *self);

#endif
