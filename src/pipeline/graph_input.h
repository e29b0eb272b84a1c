/* A graph from a file in place of a kernel (input.graph): what it decides, and P from it. */
#ifndef IKT_PIPELINE_GRAPH_INPUT_H
#define IKT_PIPELINE_GRAPH_INPUT_H

#include "checkpoint/fingerprint.h"
#include "io/results/graph_file.h"
#include "pipeline/probabilities.h"
#include "plan/workload.h"

/* What is known of the graph of a run before it is read. */
typedef struct {
    int64_t n, entries; /* rows; entries of the file */
    bool is_kept;       /* by a run of ours (output.graph) */
    bool is_ordered;    /* its rows are in positions of an order */
    ikt_graph_start start;
    int64_t q;    /* dimensions of the start */
    int64_t seed; /* of the run that kept it */
    char name[IKT_STRING_MAX + 64];
} ikt_graph_about;

/* COLLECTIVE. Looks at input.graph, and settles what follows from it: affinity.kind = graph and
 * what the numbers are; of a kept graph the settings that made it. Nothing without input.graph.
 *   settings   as the user gave them
 *   about      .n = 0 without input.graph
 * Errors: those of ikt_graph_file_open; IKT_ERR_USAGE for settings that contradict the graph or do
 * not go with one. */
ikt_status ikt_graph_settle(ikt_context *ctx, ikt_settings *settings, ikt_graph_about *about);

/* SAME-ARGS. Adds to the shape of the data what a graph brings; nothing where about->n is 0.
 * Errors: IKT_ERR_DATA where the two have not as many rows. */
ikt_status ikt_graph_shape(ikt_context *ctx, const ikt_graph_about *about, ikt_data_shape *shape);

/* COLLECTIVE. Weights of the graph as p->rows, in positions where it is ordered, with what a kept
 * graph knows: order, start, facts. Settings are settled.
 *   data   or NULL
 * Errors: those of ikt_directed_load. */
ikt_status ikt_graph_weights(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                             const ikt_rows *distribution, ikt_probabilities *p);

/* COLLECTIVE. "graph of 1000 rows, 30000 entries, hash 0123456789abcdef": the same on any ranks.
 *   data   the text of ikt_fingerprint_input of the rows that go with it, which then follows; or ""
 *   text   receives both
 * A kept graph that was made of other data is warned of. Cost: one pass over the graph. Errors:
 * those of reading. */
ikt_status ikt_graph_fingerprint(ikt_context *ctx, const ikt_settings *settings, const char *data,
                                 char text[IKT_INPUT_TEXT]);

/* What there may be beside a graph. */
typedef struct {
    int64_t *labels;   /* [distribution->count], or NULL where there are none */
    char *label_names; /* a line a class, or NULL */
    int64_t *marked, n_marked;
} ikt_graph_companions;

/* COLLECTIVE. Labels and marked rows beside the graph, for runs without input.file; labels also
 * from a file of their own (io/sources/labels.h).
 *   out   free with ikt_graph_companions_free; empty on failure
 * Errors: IKT_ERR_DATA, IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_graph_companions_read(ikt_context *ctx, const ikt_input_settings *input,
                                     const ikt_rows *distribution, ikt_graph_companions *out);
void ikt_graph_companions_free(ikt_graph_companions *c);

#endif
