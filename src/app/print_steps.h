/* The steps of a run with what they take. */
#ifndef IKT_APP_PRINT_STEPS_H
#define IKT_APP_PRINT_STEPS_H

#include "plan/plan.h"
#include "recipe/steps.h"

/* LOCAL, rank 0. Each step with the values that it takes and makes, and memory, time and the name
 * by which a stopped run goes on from it, of the stage under which it is counted. */
void ikt_steps_print(const ikt_steps *steps, const ikt_plan *plan);

#endif
