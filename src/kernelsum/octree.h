/* A tree of boxes over all points, the same on every rank.
 *
 * Method: points are sorted along the Z-order curve (Morton 1966) of a cube around them, 21 bits an
 * axis, ties by row; a node is a stretch of that order with a common prefix of its keys, so that a
 * node and all below it are neighbours in memory. Points in less than three dimensions have zeros
 * for the rest: the tree is then one of four, or of two.
 * Advantage: a pure function of the positions, built without pointers in one pass over sorted keys.
 * Disadvantage: every rank sorts all points.
 */
#ifndef IKT_KERNELSUM_OCTREE_H
#define IKT_KERNELSUM_OCTREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum { IKT_OCTREE_LEAF = 32 /* most points of a leaf, unless they share a key */ };

/* Nodes stand in depth-first order, a node before those below it. */
typedef struct {
    float centre[3];       /* of mass */
    float mass;            /* points */
    float second[6];       /* sums over the points of xx, yy, zz, xy, xz, yz about the centre */
    float radius2;         /* no point is farther from the centre: square of that distance */
    float low[3], high[3]; /* box around the points */
    bool is_leaf;
    int64_t first, end; /* points, in the order of keys */
    int64_t parent;     /* -1: none */
    int64_t next;       /* the first node that is not below this one */
} ikt_octree_node;

/* Sums over the points of a node: what the above is made from and, after ikt_octree_charge, the
 * moments of charges about the centre. */
typedef struct {
    double mass, first[3], second[6];
} ikt_octree_moments;

typedef struct {
    int64_t n;
    int64_t padded;              /* n and 16 more */
    uint64_t *key, *spare_key;   /* [n] */
    uint32_t *row, *spare_row;   /* [n] row of each point */
    float *at[3];                /* [padded] positions in the order of keys */
    ikt_octree_node *node;       /* [count] */
    ikt_octree_moments *moments; /* [count] */
    int64_t count, capacity;     /* nodes, and how many there is memory for */
    double origin[3];            /* middle of the cube */
} ikt_octree;

/* LOCAL. Memory for n points, below 2^32. Errors: IKT_ERR_RESOURCE; free it then, too. */
ikt_status ikt_octree_create(ikt_context *ctx, int64_t n, ikt_octree *out);
void ikt_octree_destroy(ikt_octree *tree);

/* LOCAL, pure. Sorts the points y[n * q] and counts the nodes that the tree will have. */
int64_t ikt_octree_order(ikt_octree *tree, int q, const float *y);

/* LOCAL. Builds the tree of the sorted points. Memory for its nodes is made first where there is
 * less: `nodes` is equal on all ranks, so that all may agree on the outcome in the same call.
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_octree_reserve(ikt_context *ctx, ikt_octree *tree, int64_t nodes);
void ikt_octree_build(ikt_octree *tree);

/* LOCAL. Sets the moments of all nodes to those of charges about the nodes' centres.
 *   charge   [n] in the order of keys */
void ikt_octree_charge(ikt_octree *tree, const float *charge);

#endif
