/* From P to what the loop minimises. */
#ifndef IKT_PIPELINE_OBJECTIVE_MAKE_H
#define IKT_PIPELINE_OBJECTIVE_MAKE_H

#include "objective/objective.h"
#include "pipeline/probabilities.h"

/* An objective and the sums that it uses. */
typedef struct {
    ikt_objective objective;
    ikt_kernelsum *sums[IKT_KERNELS_MOST]; /* NULL where it does without */
} ikt_made_objective;

/* COLLECTIVE. The objective of the settings, which are resolved, on P; how repulsion is summed goes
 * to the log. A dense P with exact sums of t-SNE takes one pass for everything.
 *   out   free with ikt_objective_release, also after a failure.
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_objective_make(ikt_context *ctx, const ikt_probabilities *p,
                              const ikt_layout_settings *settings, ikt_made_objective *out);
void ikt_objective_release(ikt_made_objective *made);

#endif
