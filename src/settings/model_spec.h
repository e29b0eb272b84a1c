/* Which model of the Isolation kernel the settings of a run mean. */
#ifndef IKT_SETTINGS_MODEL_SPEC_H
#define IKT_SETTINGS_MODEL_SPEC_H

#include "isolation/model.h"
#include "settings/settings.h"

/* SAME-ARGS. Resolves what is "auto", and adds the coarse cells where rows are searched for among
 * near ones.
 *   n       rows that are coded
 *   drawn   rows that centres are drawn from: n, or those of isolation.model_from
 * Errors: IKT_ERR_USAGE for psi or pool that do not suit the rows. */
ikt_status ikt_model_spec_make(ikt_context *ctx, const ikt_settings *settings, int64_t n,
                               int64_t drawn, ikt_model_spec *out);

#endif
