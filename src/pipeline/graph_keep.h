/* Keeping the graph of a run (output.graph): weights, order, start, and the settings that made it.
 *
 * Weights are written while they are there, in the order of the input; the start once it is known,
 * and then the file gets its name: it is whole before the loop begins.
 */
#ifndef IKT_PIPELINE_GRAPH_KEEP_H
#define IKT_PIPELINE_GRAPH_KEEP_H

#include "pipeline/probabilities.h"

/* What is known before P is, the same on every rank; lent. */
typedef struct {
    const ikt_settings *settings; /* as the user gave them */
    const char *input;            /* of ikt_fingerprint_input */
    const char *label_names;      /* a line a class, or NULL */
    int64_t *marked;              /* [n_marked] rows */
    int64_t n_marked;
} ikt_graph_origin;

/* COLLECTIVE. Begins the file of output.graph.
 *   out   NULL without output.graph, with dense P, and where a graph of these data and settings is
 *         there already, which then is left as it is
 * Errors: IKT_ERR_USAGE (dense P, the file is another output's), IKT_ERR_FILE. */
ikt_status ikt_graph_keep_begin(ikt_context *ctx, const ikt_graph_origin *origin,
                                ikt_graph_writer **out);

/* COLLECTIVE. Writes p->weights to options->graph_writer, and what belongs to them.
 *   settings   with what is resolved in *p put in place of "auto"
 * Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE. Memory: where rows are in slots 4 bytes an entry, and 8
 * for each of a million; otherwise nothing. */
ikt_status ikt_graph_keep_rows(ikt_context *ctx, const ikt_settings *settings,
                               const ikt_probabilities_options *options, ikt_probabilities *p);

/* COLLECTIVE. Completes the file and says so; nothing where *writer is NULL. Errors: IKT_ERR_FILE.
 */
ikt_status ikt_graph_keep_end(ikt_context *ctx, ikt_graph_writer **writer);

#endif
