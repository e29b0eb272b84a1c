/* Repulsion from negative samples: the forces that sixteen rows of a tile take from a few far rows.
 *
 * Of a row i and a far row k at distance d, along each axis,
 *     -(u_i + u_k) clip(2 b gamma w / (soft + d^2) (y_i - y_k)),   w = 1 / (1 + a d^(2 b)),
 * u being what the row adds to the weight of a pair. clip cuts a coordinate to a greatest
 * magnitude. A far row that is the row itself lies at distance 0 and adds nothing.
 * Method: one row in each lane, far rows one after the other in a given order, so that a row's sum
 * has one order whatever the width of a register. True divisions, nothing is fused.
 */
#ifndef IKT_OBJECTIVE_NEGATIVES_H
#define IKT_OBJECTIVE_NEGATIVES_H

#include <stdint.h>

#include "base/cpu.h"
#include "kernelsum/replica.h"
#include "sampled/pool.h"

typedef struct {
    float log_a, b;
    float strength;   /* 2 b gamma */
    float soft, clip; /* `soft` keeps the force finite where rows meet */
} ikt_negative_force;

typedef struct {
    int q; /* dimensions: 1, 2 or 3 */
    ikt_negative_force force;
    const float *at[IKT_DIMENSIONS_MOST]; /* [IKT_TILE] coordinates of the rows of the tile */
    const float *weight;                  /* [IKT_TILE] u of these rows */
    int64_t far;                          /* how many far rows there are */
    const float *far_at; /* [far * (q + 1)] coordinates and u of each, one after the other */
    float *sum[IKT_DIMENSIONS_MOST]; /* [IKT_TILE] receives the forces */
} ikt_negatives_job;

/* LOCAL. All give the same bits. */
typedef void ikt_negatives_kernel(const ikt_negatives_job *job);

IKT_KERNELS(ikt_negatives_kernel, ikt_negatives_kernel)

#endif
