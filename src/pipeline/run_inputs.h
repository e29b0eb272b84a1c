/* What a run has read, by role: each with a checksum of its contents, by which checkpoints,
 * `--extend` and a kept graph tell whether they are of the same files, wherever these lie, and
 * which the result names.
 */
#ifndef IKT_PIPELINE_RUN_INPUTS_H
#define IKT_PIPELINE_RUN_INPUTS_H

#include "pipeline/pipeline.h"

/* COLLECTIVE. Reads what the run reads once for its checksums, and notes them in run->inputs and
 * run->input_fingerprint.
 *   source   the rows; NULL: there is a graph alone
 *   run      with settings, rows, labels and graph
 * Errors: those of reading. Cost: one pass over the rows, those of isolation.model_from, the graph,
 * and the positions to start from. */
ikt_status ikt_run_inputs_note(ikt_context *ctx, ikt_source *source, ikt_run *run);

/* LOCAL. What of them P depends on, as text: not the positions to start from. */
void ikt_run_inputs_of_graph(const ikt_run *run, char text[IKT_INPUTS_TEXT]);

#endif
