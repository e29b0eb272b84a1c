/* All runs of a study, made by groups of ranks that take them from the queue. */
#ifndef IKT_STUDY_WORKERS_H
#define IKT_STUDY_WORKERS_H

#include "study/plan.h"
#include "study/results.h"

/* What the whole of a study is made with. */
typedef struct {
    int64_t ranks; /* of a group; at least 1, at most those there are */
    bool retry;    /* make failed runs again */
} ikt_study_effort;

/* COLLECTIVE over the group `ctx`. Makes the run with index `run`, writes its embedding below
 * OUTPUT/best and measures it. A run that fails is a result, too: the message is kept and the
 * context cleared.
 *   out   the same on every rank of the group
 * Errors: IKT_STOPPED alone, with a checkpoint from which a later session goes on; there is no
 * result then. */
ikt_status ikt_study_execute(ikt_context *ctx, const ikt_study *study, const ikt_study_plan *plan,
                             const char *output, int64_t run, ikt_study_result *out);

/* COLLECTIVE. Makes all runs that are not done: the ranks divide into groups, which take runs from
 * the queue until it is empty, the longest first. Errors: IKT_ERR_FILE, IKT_ERR_USAGE
 * (results.csv), IKT_ERR_RESOURCE; a failing run is none. */
ikt_status ikt_study_execute_all(ikt_context *ctx, const ikt_study *study,
                                 const ikt_study_plan *plan, const char *output,
                                 const ikt_study_effort *effort);

#endif
