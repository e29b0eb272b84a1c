/* What a run refuses before its first long stage, apart from what reading the data tells.
 *
 * Used by the run itself and by its rehearsal (rehearsal.h).
 */
#ifndef IKT_SETTINGS_CHECKS_H
#define IKT_SETTINGS_CHECKS_H

#include <stdbool.h>

#include "settings/settings.h"

/* COLLECTIVE. Whether the output files that are named can be written and are not the data.
 *   needs_file   whether output.file has to be named
 * Errors: IKT_ERR_USAGE, IKT_ERR_FILE. */
ikt_status ikt_check_outputs(ikt_context *ctx, const ikt_settings *settings, bool needs_file);

/* SAME-ARGS. Whether the other settings allow output.model, where it is wanted.
 * Errors: IKT_ERR_USAGE. */
ikt_status ikt_check_model(ikt_context *ctx, const ikt_settings *settings);

/* SAME-ARGS. Whether the other settings allow rows that are held sparse, once that is known.
 * Errors: IKT_ERR_USAGE. */
ikt_status ikt_check_sparse(ikt_context *ctx, const ikt_settings *settings, bool is_sparse);

/* COLLECTIVE. What run.checkpoint and run.max_time ask for.
 *   is_watched   whether the run obeys signals and time
 *   seconds      left for it; infinite without a limit
 * Errors: IKT_ERR_USAGE. */
ikt_status ikt_check_limits(ikt_context *ctx, const ikt_run_settings *run, bool *is_watched,
                            double *seconds);

/* LOCAL, pure. What output.file will take at most. */
int64_t ikt_check_result_bytes(ikt_context *ctx, const ikt_settings *settings, int64_t n);

/* COLLECTIVE. As soon as the rows are counted: a disk that is full now will hardly be emptier after
 * the run. Nothing without output.file. Errors: IKT_ERR_FILE. */
ikt_status ikt_check_room(ikt_context *ctx, const ikt_settings *settings, int64_t n);

#endif
