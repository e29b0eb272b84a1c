/* What a run would take, before it is run. */
#ifndef IKT_PLAN_PLAN_H
#define IKT_PLAN_PLAN_H

#include "plan/memory_plan.h"
#include "plan/time_plan.h"

typedef struct {
    ikt_workload work;
    ikt_machine machine;
    ikt_memory_plan memory;
    ikt_time_plan time;
} ikt_plan;

/* SAME-ARGS. Memory and time of plan->work on plan->machine.
 *   base   bytes that the process takes before it reads any data
 * Errors: IKT_ERR_USAGE, as an embedding would. */
ikt_status ikt_plan_make(ikt_context *ctx, int64_t base, ikt_plan *plan);

/* LOCAL. The settings of a workload with everything resolved that data, ranks and threads decide:
 * what a run would write into its provenance. */
void ikt_plan_settings(const ikt_workload *work, ikt_settings *out);

#endif
