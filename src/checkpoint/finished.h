/* The state of a finished run, in its result file, from which --extend goes on. */
#ifndef IKT_CHECKPOINT_FINISHED_H
#define IKT_CHECKPOINT_FINISHED_H

#include "checkpoint/loop_parts.h"
#include "io/hdf5/stage_file.h"
#include "settings/settings.h"

/* COLLECTIVE. Reads the state from output.file, if it is of the same data and settings. A state of
 * another build of the same version is read with a warning.
 *   rows   of the data
 *   own    what the state has to agree with, of ikt_checkpoint_head
 *   out    owned by the caller; empty on failure
 * Errors: IKT_ERR_USAGE (no state, other settings), IKT_ERR_DATA, IKT_ERR_FILE. */
ikt_status ikt_finished_read(ikt_context *ctx, const ikt_settings *settings, const ikt_rows *rows,
                             const ikt_stage_head *own, ikt_loop_state *out);

/* COLLECTIVE. Whether output.file holds the state of a run with these settings on n rows; whether
 * those were of the same data is not asked. Errors: as above. */
ikt_status ikt_finished_check(ikt_context *ctx, const ikt_settings *settings, int64_t n);

/* LOCAL. The state of a run that has finished, without times: it is the same in every equal run.
 *   last    the loop's last state, without its trace; lent as long as the parts
 *   trace   of the run; lent likewise
 *   out     free with ikt_loop_parts_destroy
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_finished_parts(ikt_context *ctx, const ikt_rows *rows, const ikt_loop_state *last,
                              const ikt_trace *trace, ikt_loop_parts *out);

#endif
