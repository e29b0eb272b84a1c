/* Named stages on the monotonic clock; cost.h reports them over ranks. */
#ifndef IKT_BASE_TIMER_H
#define IKT_BASE_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* The stages of a run, one row each. The row makes a stage known to the timer, the log and the
 * report, to checkpoints and to the tables that are indexed by it (the memory plan:
 * plan/memory_plan.c). ROW(ID, name, depth, saved) depth   in the tree of stages; those that follow
 * a stage and are deeper are its children, which are part of it saved   what a checkpoint calls the
 * stage; NULL: nothing of it is saved */
/* clang-format off */
#define IKT_STAGE_TABLE(ROW) \
    ROW(TOTAL, "total", 0, NULL) \
    ROW(READ, "read", 1, NULL) \
    ROW(PREPROCESS, "preprocess", 1, NULL) \
    ROW(PCA, "pca", 1, NULL) \
    ROW(LANDMARKS, "landmarks", 1, NULL) \
    ROW(CODES, "codes", 1, "codes") \
    ROW(CELLS, "cells", 1, NULL) \
    ROW(ORDER, "order", 1, NULL) \
    ROW(NEIGHBOURS, "neighbours", 1, "neighbours") \
    ROW(RECALL, "recall", 1, NULL) \
    ROW(AFFINITY, "affinity", 1, "probabilities") \
    ROW(GRAPH, "graph", 1, NULL) \
    ROW(LAYOUT, "layout", 1, "loop") \
    ROW(ATTRACTION, "attraction", 2, NULL) \
    ROW(REPULSION, "repulsion", 2, NULL) \
    ROW(SPREAD, "spread", 3, NULL) \
    ROW(GRID_SUM, "grid sum", 3, NULL) \
    ROW(FFT, "fft", 3, NULL) \
    ROW(GATHER, "gather", 3, NULL) \
    ROW(HALO, "halo", 2, NULL) \
    ROW(STEP, "step", 2, NULL) \
    ROW(WRITE, "write", 1, NULL) \
    ROW(PICTURE, "picture", 1, NULL) \
    ROW(MEASURES, "measures", 1, NULL)
/* clang-format on */

#define IKT_STAGE_ID(id, name, depth, saved) IKT_STAGE_##id,
typedef enum { IKT_STAGE_TABLE(IKT_STAGE_ID) IKT_STAGE_COUNT } ikt_stage;
#undef IKT_STAGE_ID

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

/* LOCAL. The seconds that this rank has spent in a stage. */
double ikt_stage_seconds(const ikt_context *ctx, ikt_stage stage);

/* LOCAL, pure. What the table says of a stage. */
const char *ikt_stage_name(ikt_stage stage);
const char *ikt_stage_saved(ikt_stage stage);
int ikt_stage_depth(ikt_stage stage);

#endif
