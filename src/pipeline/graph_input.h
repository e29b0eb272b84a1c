/* A graph from a file in place of a kernel (input.graph): what it decides, and P from it. */
#ifndef IKT_PIPELINE_GRAPH_INPUT_H
#define IKT_PIPELINE_GRAPH_INPUT_H

#include "checkpoint/fingerprint.h"
#include "graph/graph.h"
#include "io/results/graph_file.h"
#include "io/sources/pairwise.h"
#include "pipeline/probabilities.h"
#include "plan/plan.h"

/* COLLECTIVE. Weights of the graph as p->rows, in slots where it is ordered, with what a kept
 * graph knows: order, start, facts. Settings are settled.
 *   data   or NULL
 * Errors: those of ikt_directed_load. */
ikt_status ikt_graph_weights(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                             const ikt_rows *distribution, ikt_probabilities *p);

/* SAME-ARGS. Refuses a graph of other rows. Errors: IKT_ERR_DATA. */
ikt_status ikt_graph_check_rows(ikt_context *ctx, const ikt_graph_file *file, const ikt_rows *rows);

/* COLLECTIVE. What goes with rows of edges that were read: the order of a kept graph, into whose
 * slots they come, its start, and what the log says of entries that were left out.
 *   facts   of the reading
 *   read    the rows, in the order of the file; then in slots; empty on failure
 * Errors: those of reading, IKT_ERR_RESOURCE. */
ikt_status ikt_graph_take_order(ikt_context *ctx, const ikt_graph_file *file,
                                const ikt_settings *settings, const ikt_rows *rows,
                                const ikt_graph_facts *facts, ikt_directed *read,
                                ikt_probabilities *p);

/* COLLECTIVE. "graph of 1000 rows, 30000 entries, hash 0123456789abcdef", or "pairs 1000 x 1000
 * float32, hash 0123456789abcdef" of a matrix: the same on any ranks.
 *   data   the text of ikt_fingerprint_input of the rows that go with it, which then follows; or ""
 *   text   receives both
 * A kept graph that was made of other data is warned of. Cost: one pass over the graph. Errors:
 * those of reading. */
ikt_status ikt_graph_fingerprint(ikt_context *ctx, const ikt_settings *settings, const char *data,
                                 char text[IKT_INPUT_TEXT]);

#endif
