/* The state of a finished run, in its result file, from which --extend goes on. */
#ifndef IKT_PIPELINE_FINISHED_H
#define IKT_PIPELINE_FINISHED_H

#include "checkpoint/loop_parts.h"
#include "pipeline/pipeline.h"

/* COLLECTIVE. Reads the state from output.file, if it is of the same data and settings.
 *   out   owned by the caller; empty on failure
 * Errors: IKT_ERR_USAGE (no state, other settings), IKT_ERR_DATA, IKT_ERR_FILE. */
ikt_status ikt_finished_read(ikt_context *ctx, const ikt_run *run, ikt_loop_state *out);

/* COLLECTIVE. Whether output.file holds the state of a run with these settings on n rows; whether
 * those were of the same data is not asked. Errors: as above. */
ikt_status ikt_finished_check(ikt_context *ctx, const ikt_settings *settings, int64_t n);

/* LOCAL. The state of a run that has finished, without times: it is the same in every equal run.
 *   out   no parts where the run has none; free with ikt_loop_parts_destroy
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_finished_parts(ikt_context *ctx, const ikt_run *run, ikt_loop_parts *out);

/* LOCAL, pure. What goes with them; lent. */
ikt_stage_head ikt_finished_head(const ikt_run *run);

#endif
