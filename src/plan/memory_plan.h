/* What a run will need, before it starts. */
#ifndef IKT_PLAN_MEMORY_PLAN_H
#define IKT_PLAN_MEMORY_PLAN_H

#include "plan/workload.h"

/* Predicted bytes per rank of the stages that hold the most; stages follow each other, so the peak
 * is `base` plus the largest of them. */
typedef struct {
    int64_t base;       /* the process with its libraries and their buffers */
    int64_t codes;      /* codes, and centres while they are computed */
    int64_t neighbours; /* codes or rows, lists, blocks under way */
    int64_t graph;      /* lists and symmetrisation, or the dense matrix */
    int64_t layout;     /* P, positions, grid */
    int64_t measures;   /* positions, and what the measures compute in */
    int64_t peak;
    const char *largest; /* name of the stage of the peak */
    const char *advice;  /* a setting that would need less */
} ikt_memory_plan;

/* LOCAL, pure. Prediction for the rank that has most.
 *   base   bytes that the process takes before it reads any data. */
ikt_memory_plan ikt_memory_plan_make(const ikt_workload *work, int64_t base);

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
} ikt_placing_size;

/* LOCAL, pure. The same for placing; there is neither P nor a measure of the input.
 *   base   with the old embedding, which has been read by then */
ikt_memory_plan ikt_memory_plan_placing(const ikt_placing_size *size, int64_t base);

/* COLLECTIVE. Logs the prediction and refuses a run that cannot fit on some rank.
 * Errors: IKT_ERR_RESOURCE with stage, need, what is there, and what would help. */
ikt_status ikt_memory_plan_check(ikt_context *ctx, const ikt_memory_plan *plan);

#endif
