/* Distances of a batch of rows to all rows, in the input after preprocessing.
 *
 * Method: the rows of the input are streamed in blocks, of which each rank reads and preprocesses
 * an equal part and gets the others' by an allgather; each rank then takes the distances of its own
 * queries to the block.
 * Advantage: a pass over the input costs one read however many ranks there are, and no rank holds
 * more than a block. Disadvantage: every batch of queries is a pass of its own.
 */
#ifndef IKT_EVALUATE_INPUT_DISTANCES_H
#define IKT_EVALUATE_INPUT_DISTANCES_H

#include <stdint.h>

#include "base/status.h"
#include "data/dataset.h"

typedef struct {
    ikt_dataset *data;
    int64_t n, d;
    int64_t room;    /* queries that fit */
    int64_t stride;  /* floats from query to query in `distance` */
    float *distance; /* [room * stride] squared distance of query q to row j: q * stride + j */
    float *query;    /* [room * d] coordinates of the queries */
    int64_t block;   /* rows streamed at a time */
    float *part;     /* [own part of a block * d], with several ranks */
    float *rows;     /* [block * d] */
    float *packed;   /* the same, packed for the kernel by tiles */
    float *tile;     /* [threads] results of the kernel */
    int64_t *counts; /* [ranks] rows of a block that each reads */
} ikt_input_distances;

/* LOCAL. Work space for `room` queries at a time. Errors: IKT_ERR_RESOURCE; what was allocated is
 * freed with ikt_input_distances_destroy. */
ikt_status ikt_input_distances_create(ikt_context *ctx, ikt_dataset *data, int64_t room,
                                      ikt_input_distances *out);
void ikt_input_distances_destroy(ikt_input_distances *work);

/* LOCAL. Bytes of the work space for n rows of d columns. */
int64_t ikt_input_distances_memory(int64_t n, int64_t d, int64_t room, int ranks, int threads);

/* COLLECTIVE. Fills work->distance for this rank's queries; 0 from a row to itself.
 *   row   [count] ascending global rows, count <= room, may be 0; every rank its own.
 * Errors: those of reading. */
ikt_status ikt_input_distances_fill(ikt_context *ctx, ikt_input_distances *work, const int64_t *row,
                                    int64_t count);

#endif
