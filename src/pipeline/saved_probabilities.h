/* Weighted neighbour lists, from which P follows, in the checkpoint of a run. */
#ifndef IKT_PIPELINE_SAVED_PROBABILITIES_H
#define IKT_PIPELINE_SAVED_PROBABILITIES_H

#include "pipeline/probabilities.h"

/* COLLECTIVE. Writes p->lists with weights in place of scores, and what was learned on the way,
 * where a checkpoint is due (base/watch.h). Errors: IKT_STOPPED, with all of it saved;
 * IKT_ERR_FILE. */
ikt_status ikt_probabilities_save(ikt_context *ctx, ikt_probabilities *p);

/* COLLECTIVE. Reads them back: everything of *p but P itself.
 * Where there are none nothing is changed, and p->is_found stays false.
 * Errors: those of ikt_checkpoint_find and of reading, IKT_ERR_RESOURCE. */
ikt_status ikt_probabilities_load(ikt_context *ctx, ikt_probabilities *p);

#endif
