/* What is said to a person when a run is over: one paragraph, with the quality of the map first,
 * then time and memory, then what was written and what may be done next. */
#ifndef IKT_APP_SUMMARY_H
#define IKT_APP_SUMMARY_H

#include "evaluate/measure.h"
#include "pipeline/outcome.h"
#include "pipeline/pipeline.h"
#include "transform/transform.h"

/* LOCAL, rank 0. The paragraph of a run of `embed`.
 *   has_others   below it, the measures that it does not tell
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_run_summary_print(ikt_context *ctx, const ikt_run *run, const ikt_run_cost *cost,
                                 const ikt_measures *measures, bool has_others);

/* LOCAL, rank 0. The paragraph of `transform`.
 *   file, picture   what was written; picture may be ""
 *   model           the model's file
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_transform_summary_print(ikt_context *ctx, const ikt_transformed *done,
                                       const ikt_run_cost *cost, const char *model,
                                       const char *file, const char *picture);

#endif
