/* A plan, for people and as JSON. */
#ifndef IKT_APP_PLAN_PRINT_H
#define IKT_APP_PLAN_PRINT_H

#include "pipeline/memory_plan.h"
#include "pipeline/time_plan.h"

typedef struct {
    ikt_workload work;
    ikt_machine machine;
    ikt_memory_plan memory;
    ikt_time_plan time;
} ikt_plan;

/* LOCAL. */
void ikt_plan_print(const ikt_plan *plan);
void ikt_plan_json(const ikt_plan *plan);

#endif
