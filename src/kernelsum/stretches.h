/* Points dealt out by place: each rank gets those of a stretch of the Z-order curve.
 *
 * Method: every rank sorts its rows along the curve (octree.h) and shows 256 of its keys; those of
 * all ranks, sorted, say where stretches of about equally many points end. An end is moved back to
 * where the leaf of the tree begins that it would cut, which the numbers of points in the boxes
 * around it tell, summed over the ranks. Points then travel once there, and what was found for them
 * once back. Advantage: a rank has n / ranks points, 24 bytes each; stretches are equal to 1 / 256,
 * whatever the map looks like. Disadvantage: rows that are near each other in slots need not be so
 * in the map, and nearly all of them travel.
 */
#ifndef IKT_KERNELSUM_STRETCHES_H
#define IKT_KERNELSUM_STRETCHES_H

#include <stdbool.h>

#include "dist/shuffle.h"
#include "kernelsum/octree.h"

/* A point on its way. */
typedef struct {
    uint64_t key;
    float at[3];
    uint32_t reserved;
} ikt_traveller;

typedef struct {
    ikt_shuffle shuffle;     /* own rows that go to each rank, points that come from each */
    uint32_t *order;         /* [rows.count] own rows in the order of keys, as they leave */
    ikt_traveller *leaving;  /* [rows.count] */
    ikt_traveller *arriving; /* [room] */
    int64_t room;
    uint64_t *sample; /* [ranks * 256] */
    int64_t *samples; /* [ranks] of each */
    uint64_t *begin;  /* [ranks + 1] the first key of each rank */
    int64_t *around;  /* [ranks][22] points in the boxes around the beginnings */
} ikt_stretches;

/* LOCAL. Errors: IKT_ERR_RESOURCE; free it then, too. */
ikt_status ikt_stretches_create(ikt_context *ctx, const ikt_rows *rows, ikt_stretches *out);
void ikt_stretches_destroy(ikt_stretches *stretches);

/* COLLECTIVE. Deals out the points y[rows->count * q]; the tree receives the origin, its stretch
 * and its points, sorted, with `row` the number of each among those that arrived. `finite` is false
 * where a coordinate of any rank is not: then nothing else has happened.
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_stretches_deal(ikt_context *ctx, const ikt_rows *rows, int q, const float *y,
                              ikt_stretches *stretches, ikt_octree *tree, bool *finite);

/* COLLECTIVE. A number of each row to the rank that has its point: in [rows->count] in the order of
 * rows as they leave, out [tree->n] as they arrive; and back what was found. */
void ikt_stretches_send(ikt_context *ctx, const ikt_stretches *stretches, const void *in, void *out,
                        size_t bytes);
void ikt_stretches_answer(ikt_context *ctx, const ikt_stretches *stretches, const void *in,
                          void *out, size_t bytes);

#endif
