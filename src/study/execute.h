/* One run of a study: the pipeline, what is measured, and the line that is left of it. */
#ifndef IKT_STUDY_EXECUTE_H
#define IKT_STUDY_EXECUTE_H

#include "study/plan.h"
#include "study/results.h"

/* COLLECTIVE over the group `ctx`. Makes the run with index `run`, writes its embedding below
 * OUTPUT/best and measures it. A run that fails is a result, too: the message is kept and the
 * context cleared.
 *   out   the same on every rank of the group
 * Errors: IKT_STOPPED alone, with a checkpoint from which a later session goes on; there is no
 * result then. */
ikt_status ikt_study_execute(ikt_context *ctx, const ikt_study *study, const ikt_study_plan *plan,
                             const char *output, int64_t run, ikt_study_result *out);

#endif
