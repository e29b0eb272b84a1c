/* Exact nearest neighbours in the plane by a k-d tree.
 *
 * Advantage: exact for any distribution of the points, log n a query. Disadvantage: every rank
 * holds all positions and the whole tree, 20 bytes a point.
 */
#ifndef IKT_EVALUATE_TREE_H
#define IKT_EVALUATE_TREE_H

#include <stdint.h>

#include "base/status.h"

typedef struct {
    int64_t n;
    const float *y; /* [n * 2], lent */
    int64_t *order; /* [n] rows in the order of the leaves */
} ikt_tree;

/* LOCAL. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_tree_create(ikt_context *ctx, const float *y, int64_t n, ikt_tree *out);
void ikt_tree_destroy(ikt_tree *tree);

/* LOCAL. The k nearest other points of point `row`, by ascending (squared distance rounded to
 * float, row): score[k] and nearest[k]. k < n. */
void ikt_tree_nearest(const ikt_tree *tree, int64_t row, int64_t k, float *score, int64_t *nearest);

#endif
