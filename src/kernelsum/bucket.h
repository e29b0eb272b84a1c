/* Sums at a few points that are near each other, by walking a tree of boxes.
 *
 * Method: the points go down the tree (octree.h) together. A node whose radius is small beside its
 * distance from them, or beside the width of the kernel, counts as its mass at its centre with its
 * second moments; of other leaves every point counts. Both are listed, and lists of fixed length
 * are summed in sixteen lanes of float. With u = y - centre, w = 1 / (1 + u^2), S the second
 * moments and T their trace, the expansion of sum_j w(y - y_j) to second order is
 *     m w - w^2 T + 4 w^3 u.Su,
 * whose gradient is summed with it.
 * Advantage: one walk for many points, and loops of the kind that exact sums have. Disadvantage:
 * what is near one of the points is near for all.
 */
#ifndef IKT_KERNELSUM_BUCKET_H
#define IKT_KERNELSUM_BUCKET_H

#include "base/cpu.h"
#include "kernelsum/octree.h"

/* What is summed at a point of the tree's order. */
typedef struct {
    double phi;        /* sum of the Student kernel */
    float gradient[3]; /* of phi; zeros where the points have fewer dimensions */
} ikt_bucket_result;

/* LOCAL. Sums at the points of a leaf, in buckets of IKT_OCTREE_LEAF.
 *   isa      to compute with; the result does not depend on it
 *   opening  square of the largest radius of a node that counts as a whole, relative to 1 + the
 *            square of its distance
 *   out      [leaf->end - leaf->first] */
void ikt_bucket_sum_leaf(const ikt_octree *tree, ikt_isa isa, float opening,
                         const ikt_octree_node *leaf, ikt_bucket_result *out);

/* LOCAL. Bytes on the stack of a thread. */
int64_t ikt_bucket_memory(void);

#endif
