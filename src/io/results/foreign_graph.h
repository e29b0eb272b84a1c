/* A neighbour graph in a file of another format than HDF5: Matrix Market (.mtx, gzipped or not), or
 * an archive of scipy.sparse.save_npz (csr, csc or coo).
 *
 * Method: text that is not compressed is cut into as many ranges of bytes as there are ranks, each
 * rank parses its own, and entries go to the ranks of their rows, some at a time; what is
 * compressed is unpacked by rank 0. Each rank then holds its own rows. Advantage: parsing, which
 * takes longer than reading, is shared. Disadvantage: 12 bytes for each entry of the own rows, and
 * 16 while they are sorted, where HDF5 is read by blocks; an archive passes through one rank.
 */
#ifndef IKT_IO_RESULTS_FOREIGN_GRAPH_H
#define IKT_IO_RESULTS_FOREIGN_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct ikt_foreign_graph ikt_foreign_graph;

/* COLLECTIVE. Reads what stands before the entries.
 *   out   closed with ikt_foreign_graph_close; NULL on failure
 * Errors: IKT_ERR_FILE; IKT_ERR_DATA (damaged, dense, not square), with the line of a text. */
ikt_status ikt_foreign_graph_open(ikt_context *ctx, const char *path, ikt_foreign_graph **out);

/* LOCAL. Closes, frees and sets to NULL; accepts NULL. */
void ikt_foreign_graph_close(ikt_foreign_graph **graph);

/* LOCAL. Rows; entries, before those have been read at most; whether they have no values. */
int64_t ikt_foreign_graph_rows(const ikt_foreign_graph *graph);
int64_t ikt_foreign_graph_entries(const ikt_foreign_graph *graph);
bool ikt_foreign_graph_is_pattern(const ikt_foreign_graph *graph);

/* COLLECTIVE. Where the entries of own rows begin; reads them when it is called first.
 *   first, count   of the rows that ikt_rows_make gives this rank
 *   start          [count + 1], counted over all ranks
 * Errors: IKT_ERR_DATA naming line and column of the first line that is no entry, or how many
 * entries there are in place of those announced; IKT_ERR_FILE; IKT_ERR_RESOURCE. */
ikt_status ikt_foreign_graph_starts(ikt_foreign_graph *graph, int64_t first, int64_t count,
                                    int64_t *start);

/* LOCAL. Entries of own rows, once they have been read, in no order within a row.
 *   column, value   [start[count] - start[0]] */
void ikt_foreign_graph_edges(const ikt_foreign_graph *graph, int64_t first, int64_t count,
                             uint32_t *column, double *value);

#endif
