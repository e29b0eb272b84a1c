/* Named stages on the monotonic clock; cost.h reports them over ranks. */
#ifndef IKT_BASE_TIMER_H
#define IKT_BASE_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Stages of a run. A stage's depth is given in timer.c; those that follow a stage and are deeper
 * are its children, which are part of it. */
typedef enum {
    IKT_STAGE_TOTAL,
    IKT_STAGE_READ,
    IKT_STAGE_PREPROCESS,
    IKT_STAGE_PCA,
    IKT_STAGE_LANDMARKS,
    IKT_STAGE_CODES,
    IKT_STAGE_CELLS,
    IKT_STAGE_ORDER,
    IKT_STAGE_NEIGHBOURS,
    IKT_STAGE_RECALL,
    IKT_STAGE_AFFINITY,
    IKT_STAGE_GRAPH,
    IKT_STAGE_LAYOUT,
    IKT_STAGE_ATTRACTION,
    IKT_STAGE_REPULSION,
    IKT_STAGE_SPREAD,
    IKT_STAGE_GRID_SUM,
    IKT_STAGE_FFT,
    IKT_STAGE_GATHER,
    IKT_STAGE_HALO,
    IKT_STAGE_STEP,
    IKT_STAGE_WRITE,
    IKT_STAGE_PICTURE,
    IKT_STAGE_MEASURES,
    IKT_STAGE_COUNT
} ikt_stage;

/* LOCAL. Seconds on a monotonic clock with an arbitrary origin. */
double ikt_now(void);

/* LOCAL. Starts and stops a stage; may be repeated (times add up) and nested. The end of a stage
 * ends those that began within it and were left by a failure. Stages within IKT_STAGE_LANDMARKS
 * are not recorded: their time is that of the landmarks. The end of a stage that succeeded is a
 * line of the log: with its seconds on rank 0, the first time and where it took a tenth of one;
 * other ends are details. */
void ikt_stage_begin(ikt_context *ctx, ikt_stage stage);
void ikt_stage_end(ikt_context *ctx, ikt_stage stage);

/* LOCAL. Whether the stage runs. */
bool ikt_stage_is_open(const ikt_context *ctx, ikt_stage stage);

/* LOCAL. The stage of the first depth that runs; IKT_STAGE_TOTAL where none does. */
ikt_stage ikt_stage_current(const ikt_context *ctx);

/* LOCAL. The stage begun last of those that run; IKT_STAGE_TOTAL where none does. */
ikt_stage ikt_stage_innermost(const ikt_context *ctx);

/* LOCAL. Seconds this rank has spent in a stage; name ("codes"); depth in the tree (0 = total). */
double ikt_stage_seconds(const ikt_context *ctx, ikt_stage stage);
const char *ikt_stage_name(ikt_stage stage);
int ikt_stage_depth(ikt_stage stage);

#endif
