/* What is made of a finished run: its file, its picture, its measures, its summary. */
#ifndef IKT_PIPELINE_OUTCOME_H
#define IKT_PIPELINE_OUTCOME_H

#include "base/timer.h"
#include "pipeline/pipeline.h"

/* COLLECTIVE. Writes output.file (io/results/result.h). Errors: IKT_ERR_FILE. */
ikt_status ikt_run_write(ikt_context *ctx, const ikt_run *run);

/* LOCAL. The configuration as used, as YAML, but for what names this run's own machine. *text is
 * freed with ikt_free. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_run_configuration(ikt_context *ctx, const ikt_run *run, char **text);

/* COLLECTIVE. Draws output.picture; nothing when that is empty. Errors: IKT_ERR_FILE. */
ikt_status ikt_run_picture(ikt_context *ctx, const ikt_run *run);

/* What a run cost, the same on every rank. */
typedef struct {
    ikt_stage_times times[IKT_STAGE_COUNT];
    ikt_traffic traffic[IKT_STAGE_COUNT];
    ikt_memory_peaks memory;
    int64_t accounted_bytes; /* most that a rank allocated through our account */
} ikt_run_cost;

/* COLLECTIVE. */
void ikt_run_cost_collect(ikt_context *ctx, ikt_run_cost *cost);

#endif
