/* What a run would do, for people and as JSON. */
#ifndef IKT_APP_REHEARSAL_PRINT_H
#define IKT_APP_REHEARSAL_PRINT_H

#include "pipeline/rehearsal.h"

/* SAME-ARGS; rank 0 prints. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_rehearsal_print(ikt_context *ctx, const ikt_rehearsal *rehearsal);
ikt_status ikt_rehearsal_json(ikt_context *ctx, const ikt_rehearsal *rehearsal);

#endif
