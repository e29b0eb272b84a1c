/* All runs of a study, made by groups of ranks that take them from the queue. */
#ifndef IKT_STUDY_WORKERS_H
#define IKT_STUDY_WORKERS_H

#include "study/plan.h"

/* COLLECTIVE. Makes all runs that are not done: the ranks divide into groups, which take runs from
 * the queue until it is empty, the longest first.
 *   ranks   of a group; at least 1, at most those there are
 *   retry   make failed runs again
 * Errors: IKT_ERR_FILE, IKT_ERR_USAGE (results.csv), IKT_ERR_RESOURCE, IKT_STOPPED; a failing run
 * is none. */
ikt_status ikt_study_execute_all(ikt_context *ctx, const ikt_study_plan *plan, int64_t ranks,
                                 bool retry);

#endif
