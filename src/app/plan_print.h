/* A plan, for people and as JSON. */
#ifndef IKT_APP_PLAN_PRINT_H
#define IKT_APP_PLAN_PRINT_H

#include "app/json.h"
#include "pipeline/pipeline.h"
#include "plan/plan.h"

/* LOCAL. */
void ikt_plan_print(const ikt_plan *plan);
void ikt_plan_json(const ikt_plan *plan);

/* LOCAL. What ikt_plan_json writes, as members of an object that has been begun. */
void ikt_plan_json_members(ikt_json *json, const ikt_plan *plan);

/* What a run would do (--dry-run). */
/* SAME-ARGS; rank 0 prints. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_rehearsal_print(ikt_context *ctx, const ikt_rehearsal *rehearsal);
ikt_status ikt_rehearsal_json(ikt_context *ctx, const ikt_rehearsal *rehearsal);

#endif
