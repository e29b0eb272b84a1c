/* How long a run may take. */
#ifndef IKT_SETTINGS_TIME_LIMIT_H
#define IKT_SETTINGS_TIME_LIMIT_H

#include <stdbool.h>

#include "base/status.h"

/* LOCAL, pure. A time as Slurm writes it: minutes, minutes:seconds, hours:minutes:seconds,
 * days-hours, days-hours:minutes or days-hours:minutes:seconds; digits only.
 *   seconds   receives the time
 * Returns false for any other text. */
bool ikt_time_parse(const char *text, double *seconds);

/* COLLECTIVE. Seconds from now until the run has to have ended.
 *   text      as run.max_time has it: a time, counted from the start of the process; "none"; or
 *             "auto": the end of the Slurm job, from SLURM_JOB_END_TIME, which Slurm sets since
 *             23.02, or else as `squeue` tells
 *   seconds   infinite where there is no limit
 * Errors: IKT_ERR_USAGE for any other text. */
ikt_status ikt_time_limit(ikt_context *ctx, const char *text, double *seconds);

#endif
