/* What a run sent and received, for people and as JSON. */
#ifndef IKT_APP_TRAFFIC_PRINT_H
#define IKT_APP_TRAFFIC_PRINT_H

#include "app/json.h"
#include "pipeline/outcome.h"

/* LOCAL. One line: bytes, messages and collective calls per rank and iteration of the loop, and the
 * bytes of the whole run. Nothing is sent on one rank, and nothing is printed. */
void ikt_traffic_print(const ikt_run_cost *cost, int ranks);

/* LOCAL. The member "traffic": for the loop per iteration and for each stage, least, mean and most
 * over ranks. */
void ikt_traffic_json(ikt_json *json, const ikt_run_cost *cost);

#endif
