/* The time that a run may take: as Slurm writes times, and as it is left to the job. */
#ifndef IKT_BASE_TIME_LIMIT_H
#define IKT_BASE_TIME_LIMIT_H

#include <stdbool.h>

#include "base/status.h"

/* LOCAL, pure. A time as Slurm writes it: minutes, minutes:seconds, hours:minutes:seconds,
 * days-hours, days-hours:minutes or days-hours:minutes:seconds; digits only.
 *   seconds   receives the time
 * Returns false for any other text. */
bool ikt_time_parse(const char *text, double *seconds);

/* LOCAL, rank 0. Seconds until the Slurm job ends: from SLURM_JOB_END_TIME, which Slurm sets since
 * 23.02, or else as `squeue` tells. Infinite outside of jobs, in jobs without an end, and, with a
 * warning, where it is not known.
 *   may_ask   whether a process may be started to ask `squeue` */
double ikt_slurm_time_left(ikt_context *ctx, bool may_ask);

#endif
