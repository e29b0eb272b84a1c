/* The part of the tree of boxes over all points whose points this rank has.
 *
 * Method: points are sorted along the Z-order curve (Morton 1966) of a cube around them, 21 bits an
 * axis, ties by row; a node is a stretch of that order with a common prefix of its keys, so that a
 * node and all below it are neighbours in memory. Points in less than three dimensions have zeros
 * for the rest: the tree is then one of four, or of two. A rank has the points of a stretch of the
 * curve that cuts no leaf; it builds all nodes that lie wholly within it, which are
 * those of the boxes, as large as they can be, that make up the stretch: a forest.
 * Advantage: a pure function of the positions, built without pointers in one pass over sorted keys;
 * a node is the same whichever rank builds it.
 * Disadvantage: what reaches over several stretches is put together afterwards (essential.h).
 */
#ifndef IKT_KERNELSUM_OCTREE_H
#define IKT_KERNELSUM_OCTREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arrays.h"
#include "dist/shuffle.h"

enum {
    IKT_OCTREE_LEAF = 32, /* most points of a leaf, unless they share a key */
    IKT_OCTREE_BITS = 21, /* of a key along each axis */
    IKT_OCTREE_ROOTS = 2 * 7 * IKT_OCTREE_BITS + 1 /* most boxes that make up a stretch */
};

#define IKT_OCTREE_KEYS (UINT64_C(1) << 3 * IKT_OCTREE_BITS) /* a key is below this */

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
    int64_t n, room;             /* points, and how many there is memory for */
    uint64_t *key, *spare_key;   /* [room] */
    uint32_t *row, *spare_row;   /* [room] what each point is called, before and after the sort */
    float *at[3];                /* [room] positions in the order of keys */
    ikt_octree_node *node;       /* [count], those of one root behind those of the other */
    ikt_octree_moments *moments; /* [count] */
    int64_t count, capacity;     /* nodes, and how many there is memory for */
    int roots;                   /* boxes of the stretch that have points */
    int64_t root[IKT_OCTREE_ROOTS];           /* [roots] their nodes, ascending */
    ikt_octree_moments raw[IKT_OCTREE_ROOTS]; /* [roots] about the middle of the cube */
    double origin[3];                         /* middle of the cube */
    uint64_t low, high;                       /* the stretch: keys low .. high - 1 */
    ikt_arrays held_points, held_nodes;
} ikt_octree;

/* Which axes the second moments belong to. */
static const int ikt_octree_axis_a[6] = {0, 1, 2, 0, 0, 1};
static const int ikt_octree_axis_b[6] = {0, 1, 2, 1, 2, 2};

/* LOCAL. Memory for so many points; what was in it is lost where there was less. Errors:
 * IKT_ERR_RESOURCE. */
ikt_status ikt_octree_claim_points(ikt_context *ctx, ikt_octree *tree, int64_t points);
ikt_status ikt_octree_claim_nodes(ikt_context *ctx, ikt_octree *tree, int64_t nodes);
void ikt_octree_destroy(ikt_octree *tree);

/* LOCAL, pure. How many nodes the sorted points will make. */
int64_t ikt_octree_count(ikt_octree *tree);

/* LOCAL. Builds the nodes, of points that are in `at`. */
void ikt_octree_build(ikt_octree *tree);

/* LOCAL. Sets the moments of all nodes to those of charges about the nodes' centres.
 *   charge   [n] in the order of keys */
void ikt_octree_charge(ikt_octree *tree, const float *charge);

/* LOCAL, pure. What a node has of the sums over its points, about the middle of the cube: centre,
 * second moments, radius (its box is there); and such sums of charges about its centre. */
void ikt_octree_finish(const double origin[3], ikt_octree_node *node, const ikt_octree_moments *m);
void ikt_octree_shift(const double origin[3], const ikt_octree_node *node, ikt_octree_moments *m);
void ikt_octree_add(ikt_octree_moments *sum, const ikt_octree_moments *m);
void ikt_octree_extend(ikt_octree_node *node, const ikt_octree_node *by);

/* Points dealt out by place: each rank gets those of a stretch of the Z-order curve.
 *
 * Method: every rank sorts its rows along the curve and shows 256 of its keys; those of
 * all ranks, sorted, say where stretches of about equally many points end. An end is moved back to
 * where the leaf of the tree begins that it would cut, which the numbers of points in the boxes
 * around it tell, summed over the ranks. Points then travel once there, and what was found for them
 * once back. Advantage: a rank has n / ranks points, 24 bytes each; stretches are equal to 1 / 256,
 * whatever the map looks like. Disadvantage: rows that are near each other in slots need not be so
 * in the map, and nearly all of them travel.
 */

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
    ikt_arrays held;  /* all but `arriving` */
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

#endif
