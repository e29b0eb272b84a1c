/* What a run cost: seconds of its stages, memory, transfers. For people, as JSON, and as
 * lines of the log. */
#ifndef IKT_APP_COST_PRINT_H
#define IKT_APP_COST_PRINT_H

#include "app/json.h"
#include "pipeline/outcome.h"

/* LOCAL. The table of stages: seconds of the slowest rank; mean, and which it was. */
void ikt_times_print(const ikt_run_cost *cost, int ranks);

/* LOCAL. Peaks that were measured, and the prediction per rank; the stage of the peak, and what it
 * went to. */
void ikt_memory_print(const ikt_run_cost *cost, int64_t predicted);

/* LOCAL. The members "peak_bytes_per_rank", "peak_bytes", "predicted_bytes_per_rank", "memory". */
void ikt_memory_json(ikt_json *json, const ikt_run_cost *cost, int64_t predicted);

/* LOCAL. The same table and peaks as lines of the log, where that is JSON; nothing otherwise. */
void ikt_cost_log(const ikt_context *ctx, const ikt_run_cost *cost, int64_t predicted);

/* LOCAL. One line: bytes, messages and collective calls per rank and iteration of the loop, and the
 * bytes of the whole run. Nothing is sent on one rank, and nothing is printed. */
void ikt_traffic_print(const ikt_run_cost *cost, int ranks);

/* LOCAL. The member "traffic": for the loop per iteration and for each stage, least, mean and most
 * over ranks. */
void ikt_traffic_json(ikt_json *json, const ikt_run_cost *cost);

#endif
