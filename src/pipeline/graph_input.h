/* A graph from a file in place of a kernel (input.graph): what it decides, and P from it. */
#ifndef IKT_PIPELINE_GRAPH_INPUT_H
#define IKT_PIPELINE_GRAPH_INPUT_H

#include "checkpoint/fingerprint.h"
#include "graph/load.h"
#include "io/results/graph_file.h"
#include "io/sources/pairwise.h"
#include "pipeline/probabilities.h"
#include "plan/plan.h"

/* What is known of the graph of a run before it is read. */
typedef struct {
    int64_t n, entries; /* rows; entries of the file */
    bool is_pairwise;   /* a matrix of all pairs, of which `entries` are used */
    bool is_kept;       /* by a run of ours (output.graph) */
    bool is_ordered;    /* its rows are in the slots of an order */
    ikt_graph_start start;
    int64_t q;    /* dimensions of the start */
    int64_t seed; /* of the run that kept it */
    char name[IKT_STRING_MAX + 64];
} ikt_graph_about;

/* COLLECTIVE. Looks at input.graph, and settles what follows from it: affinity.kind = graph and
 * what the numbers are; of a matrix of all pairs that holds distances, affinity.kind = gaussian
 * unless another kind that weighs distances is given; of a kept graph the settings that made it.
 * Nothing without input.graph.
 *   settings   as the user gave them
 *   about      .n = 0 without input.graph
 * Errors: those of ikt_graph_file_open; IKT_ERR_USAGE for settings that contradict the graph or do
 * not go with one. */
ikt_status ikt_graph_settle(ikt_context *ctx, ikt_settings *settings, ikt_graph_about *about);

/* SAME-ARGS. Adds to the shape of the data what a graph brings; nothing where about->n is 0.
 * Errors: IKT_ERR_DATA where the two have not as many rows. */
ikt_status ikt_graph_shape(ikt_context *ctx, const ikt_graph_about *about, ikt_data_shape *shape);

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

/* COLLECTIVE. Labels of the own rows, which are beside the graph or in a file of their own
 * (io/sources/labels.h).
 *   name      of the labels, as input.labels has it
 *   labels    [rows->count]
 *   present   whether there are any; only those of the default name may be missing
 *   names     a line a class, owned by the caller; NULL where classes have none
 * Errors: IKT_ERR_DATA, IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_graph_labels(ikt_context *ctx, const ikt_graph_file *file, const char *name,
                            const ikt_rows *rows, int64_t *labels, bool *present, char **names);

#endif
