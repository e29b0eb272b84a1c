/* What a rank walks: the tree over all points, of which it holds its own part and of the others
 * what its places may open (a locally essential tree, Warren & Salmon 1992).
 *
 * Method: ranks show each other boxes around the places at which they will sum, 64 or more of them,
 * and the sums over the points of their roots (octree.h). A node that is far for every box of a
 * rank (ikt_far) is far for every bucket within, in floats as in numbers, because a distance to a
 * larger box is not larger: it is sent to that rank without those below it, others with them, and
 * opened leaves with their points. Boxes that reach over several stretches are put together on
 * every rank from the roots of all, in one order. Advantage: a walk meets the same nodes in the
 * same order as in the whole tree, and so gives the same bits. Disadvantage: 24 bytes a box and 144
 * a root, some hundreds of each rank, go to every rank.
 */
#ifndef IKT_KERNELSUM_ESSENTIAL_H
#define IKT_KERNELSUM_ESSENTIAL_H

#include <stdbool.h>

#include "dist/shuffle.h"
#include "kernelsum/octree.h"

enum { IKT_FEW_POINTS = 4 /* of a node that are summed sooner than its moments */ };

/* When a node counts as a whole: where the square of its radius is below opening (width +
 * distance^2); its derivatives are small then beside the kernel. */
typedef struct {
    float opening, width;
} ikt_far_rule;

typedef struct {
    float low[3], high[3];
} ikt_box;

/* LOCAL, pure. Whether the node counts as a whole for all that is in the box. */
static inline bool ikt_far(ikt_far_rule rule, const ikt_octree_node *node, const ikt_box *box) {
    float distance2 = 0;
    for (int c = 0; c < 3; c++) {
        float below = box->low[c] - node->centre[c], above = node->centre[c] - box->high[c];
        float gap = below > above ? below : above;
        if (gap > 0) distance2 += gap * gap;
    }
    return node->radius2 < rule.opening * (rule.width + distance2);
}

typedef struct ikt_essential_root ikt_essential_root;
typedef struct ikt_essential_node ikt_essential_node;

typedef struct {
    /* What is walked. Of one rank alone it is the octree itself. Nodes of others that are never
     * opened have no points here: first 0, end how many there are. */
    const ikt_octree_node *node;
    const ikt_octree_moments *moments;
    int64_t count;
    const float *at[3];  /* own points in the order of keys, then those that others sent */
    const float *charge; /* of these; NULL: all are 1 */
    /* How it is made. */
    ikt_octree_node *all_nodes;
    ikt_octree_moments *all_moments;
    int64_t capacity;
    float *all_at[3], *all_charge;
    int64_t room, charge_room;       /* points that there is memory for */
    ikt_shuffle nodes, points;       /* that go to each rank and come from it */
    int32_t *sent_node, *sent_point; /* of the octree, by the rank that gets them */
    ikt_essential_node *leaving, *arriving;
    ikt_octree_moments *leaving_moments, *arriving_moments;
    float *leaving_points, *arriving_points; /* [3 a point] */
    int64_t leaving_room, arriving_room, leaving_points_room, arriving_points_room;
    int64_t moments_out_room, moments_in_room;
    ikt_essential_root *root; /* [roots] of all ranks, in the order of keys */
    int64_t roots, roots_room;
    ikt_box *box; /* of all ranks */
    int64_t boxes_room;
    int64_t *root_counts, *box_counts; /* [ranks] */
} ikt_essential;

/* LOCAL. Errors: IKT_ERR_RESOURCE; free it then, too. */
ikt_status ikt_essential_create(ikt_context *ctx, ikt_essential *out);
void ikt_essential_destroy(ikt_essential *e);

/* COLLECTIVE. From the octree's nodes to what is walked.
 *   target   [targets * q] places at which this rank will sum; NULL: at its points
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_essential_make(ikt_context *ctx, const ikt_octree *tree, ikt_far_rule rule, int q,
                              const float *target, int64_t targets, ikt_essential *e);

/* COLLECTIVE. Charges, after ikt_octree_charge: moments and points of others have them, too.
 *   charge   [tree->n] own ones in the order of keys; borrowed until the next evaluation
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_essential_charge(ikt_context *ctx, const ikt_octree *tree, const float *charge,
                                ikt_essential *e);

#endif
