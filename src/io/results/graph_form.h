/* Names and versions of a kept graph (output.graph), for the files of io/ that read and write it.
 *
 *   /graph      a CSR group (csr_group.h) of the weights p_j|i: rows in the order of the input,
 *               those of a row ascending by column and summing to 1, zeros left out. Attribute
 *               values = "conditional"
 *   /position   [n] uint32, where rows were ordered by coarse cells: where each row was put
 *   /start      [n x q] where the run began at principal components: their scores, float64; where
 *               it began at landmarks: places among them, float32
 *   /labels     [n] int64, /marked, attribute label_names: as in data files, where the input had
 *               them
 *   attributes of the root: format = "iktsne-graph", format_version; version, input, settings,
 *               settings_given, seed, and what was learned while the graph was made
 *
 * Why p_j|i and not P: P = (A + A.T) / (2 n) is a line of scipy, while p_j|i is what a kernel says
 * of a row, takes 2/3 of the room, and is what the symmetrisation takes, so that own and foreign
 * graphs go one way. Why the order: sums along a row of P follow positions, and only with them does
 * a second run have the bits of the first.
 */
#ifndef IKT_IO_RESULTS_GRAPH_FORM_H
#define IKT_IO_RESULTS_GRAPH_FORM_H

/* Versions of the format; append only. */
typedef enum { IKT_GRAPH_FIRST = 1, IKT_GRAPH_CURRENT = IKT_GRAPH_FIRST } ikt_graph_version;

#define IKT_GRAPH_FORMAT      "iktsne-graph"
#define IKT_GRAPH_GROUP       "graph"
#define IKT_GRAPH_CONDITIONAL "conditional"

#endif
