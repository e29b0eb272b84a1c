/* What verbs print on standard output, for people and as JSON: measures, what a run cost, a plan,
 * and what a run would do. Only rank 0 calls what is LOCAL here. */
#ifndef IKT_APP_PRINT_H
#define IKT_APP_PRINT_H

#include "app/json.h"
#include "evaluate/measure.h"
#include "pipeline/outcome.h"
#include "pipeline/pipeline.h"
#include "plan/plan.h"
#include "recipe/recipe.h"
#include "transform/transform.h"

/* LOCAL. A measure as a line: its name in words, its value ("none" where there is none), the name
 * that the field and JSON have, and how to read it. */
void ikt_measure_print(const ikt_measure *measure);

/* LOCAL. Measures as a table, a line each; and as an object
 * "measures": {name: {"value": ..., "sample": ..., "note": ...}}. */
void ikt_measures_print(const ikt_measures *measures);
void ikt_measures_json(ikt_json *json, const ikt_measures *measures);

/* LOCAL. The facts of a run, but not its circumstances, as members of the object that is open. */
void ikt_facts_json(ikt_json *json, const ikt_notes *facts);

/* LOCAL. The table of stages: seconds of the slowest rank; mean, and which it was. As JSON the
 * member "seconds", of the slowest rank. */
void ikt_times_print(const ikt_run_cost *cost, int ranks);
void ikt_times_json(ikt_json *json, const ikt_run_cost *cost);

/* LOCAL. Peaks of memory that were measured, and the prediction per rank; the stage of the peak,
 * and what it went to. As JSON the members "peak_bytes_per_rank", "peak_bytes",
 * "predicted_bytes_per_rank", "memory". */
void ikt_memory_print(const ikt_run_cost *cost, int64_t predicted);
void ikt_memory_json(ikt_json *json, const ikt_run_cost *cost, int64_t predicted);

/* LOCAL. Transfers: one line with bytes, messages and collective calls per rank and iteration of
 * the loop, and the bytes of the whole run; nothing on one rank, which sends nothing. As JSON the
 * member "traffic": for the loop per iteration and for each stage, least, mean and most over
 * ranks. */
void ikt_traffic_print(const ikt_run_cost *cost, int ranks);
void ikt_traffic_json(ikt_json *json, const ikt_run_cost *cost);

/* LOCAL. Times and peaks as lines of the log, where that is JSON; nothing otherwise. */
void ikt_cost_log(const ikt_context *ctx, const ikt_run_cost *cost, int64_t predicted);

/* LOCAL. */
void ikt_plan_print(const ikt_plan *plan, const ikt_recommendation *recommendation);
void ikt_plan_json(const ikt_plan *plan, const ikt_recommendation *recommendation);

/* SAME-ARGS; rank 0 prints what a run would do (--dry-run). Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_rehearsal_print(ikt_context *ctx, const ikt_rehearsal *rehearsal, bool as_json);

/* --- the steps of a run ----------------------------------------------------------------------- */

/* LOCAL, rank 0. Each step with the values that it takes and makes, and memory, time and the name
 * by which a stopped run goes on from it, of the stage under which it is counted. */
void ikt_steps_print(const ikt_steps *steps, const ikt_plan *plan);

/* LOCAL, rank 0. The same as JSON. */
void ikt_steps_json(const ikt_steps *steps, const ikt_plan *plan);

/* --- the paragraph at the end of a run (summary.c) -------------------------------------------- */

/* One paragraph for a person, with the quality of the map first, then time and memory, then what
 * was written and what may be done next. */

/* LOCAL, rank 0. The paragraph of a run of `embed`.
 *   has_others   below it, the measures that it does not tell
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_run_summary_print(ikt_context *ctx, const ikt_run *run, const ikt_run_cost *cost,
                                 const ikt_measures *measures, bool has_others);

/* LOCAL, rank 0. The paragraph of `transform`.
 *   file, picture   what was written; picture may be ""
 *   model           the model's file
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_transform_summary_print(ikt_context *ctx, const ikt_transformed *done,
                                       const ikt_run_cost *cost, const char *model,
                                       const char *file, const char *picture);

#endif
