/* What a run will need, before it starts. */
#ifndef IKT_PLAN_MEMORY_PLAN_H
#define IKT_PLAN_MEMORY_PLAN_H

#include "base/timer.h"
#include "plan/workload.h"

/* Predicted bytes per rank of the stages that hold the most; stages follow each other, so the peak
 * is `base` plus the largest of them. */
typedef struct {
    int64_t base;                   /* the process with its libraries and their buffers */
    int64_t stage[IKT_STAGE_COUNT]; /* beyond that; 0: never the most */
    int64_t peak;
    ikt_stage largest;  /* of the peak */
    const char *advice; /* a setting that would need less */
} ikt_memory_plan;

/* LOCAL, pure. Prediction for the rank that has most.
 *   base   bytes that the process takes before it reads any data. */
ikt_memory_plan ikt_memory_plan_make(const ikt_workload *work, int64_t base);

/* LOCAL, pure. Whether a stage is among those that plans predict. */
bool ikt_memory_plan_has(int stage);

/* What placing new rows into a finished embedding has to do. */
typedef struct {
    int64_t n, q;    /* old rows, dimensions of the map */
    int64_t rows;    /* new rows of the rank that has most */
    int64_t columns; /* of what the kernels read */
    int64_t k;       /* neighbours of a new row */
    bool is_u8;
    ikt_model_spec model; /* t, psi and distinct centres */
    double span;          /* of the map */
    int threads;
} ikt_out_of_sample_size;

/* LOCAL, pure. The same for placing; there is neither P nor a measure of the input.
 *   base   with the old embedding, which has been read by then */
ikt_memory_plan ikt_memory_plan_out_of_sample(const ikt_out_of_sample_size *size, int64_t base);

/* COLLECTIVE. Logs the prediction and refuses a run that cannot fit on some rank.
 * Errors: IKT_ERR_RESOURCE with stage, need, what is there, and what would help. */
ikt_status ikt_memory_plan_check(ikt_context *ctx, const ikt_memory_plan *plan);

#endif
