/* Exact nearest neighbours in one to three dimensions by a k-d tree with bucket leaves.
 *
 * Method: the points are halved again and again, each time along the longest side of the box round
 * them, in a total order by (coordinate, row). A node keeps the box of its points and the lowest of
 * their rows, so a search leaves it aside as soon as no point in it can come before the worst kept
 * one by (distance, row).
 * Advantage: exact, some log n a query however uneven the density, and for any number of points in
 * the same place. Disadvantage: every rank holds the whole tree; a grid of cells would be quicker
 * where the density is even. Points have room for three coordinates whatever their number: with
 * 32-bit rows that costs no more than two did, and one code serves all.
 */
#ifndef IKT_EVALUATE_TREE_H
#define IKT_EVALUATE_TREE_H

#include <stdint.h>

#include "base/sort.h"
#include "base/status.h"

enum { IKT_AXES_MOST = 3 }; /* of a map */

typedef struct {
    float at[IKT_AXES_MOST]; /* 0 along the axes that the map does not have */
    uint32_t row;
} ikt_tree_point;

typedef struct {
    float low[IKT_AXES_MOST], high[IKT_AXES_MOST]; /* the box of its points */
    uint32_t lowest;                               /* the lowest of their rows */
} ikt_tree_node;

/* Nodes are numbered as in a heap: children of i are 2 i and 2 i + 1, the root is 1. All leaves
 * are `levels` below the root; node i of level l holds the (i - 2^l)-th of 2^l equal shares of
 * the points. */
typedef struct {
    int64_t n, q;
    int levels;
    ikt_tree_point *point; /* [n] in the order of the leaves */
    ikt_tree_node *node;   /* [2^(levels + 1)] */
} ikt_tree;

/* LOCAL. The tree of rows 0 .. n - 1, built by all threads; the same on any number of them.
 *   y   [n * q] finite positions, 1 <= q <= IKT_AXES_MOST, n < 2^32; borrowed for the call.
 * Errors: IKT_ERR_RESOURCE; *out is empty then. Cost: n log n. */
ikt_status ikt_tree_create(ikt_context *ctx, const float *y, int64_t n, int64_t q, ikt_tree *out);
void ikt_tree_destroy(ikt_tree *tree);

/* LOCAL. Bytes of a tree of n points: some 20 a point. */
int64_t ikt_tree_memory(int64_t n);

/* LOCAL; any number of threads at once. The k nearest rows other than `row` itself to the place
 * `at`, by ascending (squared distance, row). The distance is computed in double precision and
 * rounded to float.
 *   at        [q], usually the position of `row`.
 *   k         1 <= k < n.
 *   score     [k], receives the squared distances; nearest[k] the rows. */
void ikt_tree_nearest(const ikt_tree *tree, const float *at, int64_t row, int64_t k, float *score,
                      uint32_t *nearest);

/* LOCAL. Squared distance of two positions as all measures take it: in double precision, axis after
 * axis, rounded to float. */
static inline float ikt_embedding_distance(const float *a, const float *b, int64_t q) {
    double sum = 0;
    for (int64_t c = 0; c < q; c++) {
        double apart = (double)a[c] - (double)b[c];
        sum += apart * apart;
    }
    return (float)sum;
}

/* LOCAL. The same from one place to all of y[n * q]: distance[n]. */
void ikt_embedding_distances(const float *y, int64_t n, int64_t q, const float *at,
                             float *distance);

/* --- ranks of many floats at once, by radix sort ---------------------------------------------- */

/* Work space for n values, and room for two arrays of ranks: 24 bytes a value. */
typedef struct {
    int64_t n;
    ikt_pair *pair;   /* [2 * n] */
    int32_t *rank[2]; /* [n], for the caller */
} ikt_radix;

/* LOCAL. n < 2^31. Errors: IKT_ERR_RESOURCE; what was allocated is freed with ikt_radix_destroy. */
ikt_status ikt_radix_create(ikt_context *ctx, int64_t n, ikt_radix *out);
void ikt_radix_destroy(ikt_radix *radix);

/* LOCAL. Bytes of the work space for n values. */
int64_t ikt_radix_memory(int64_t n);

/* LOCAL. rank[j] = position of value[j] in ascending order; equal values keep their order;
 * -0 equals 0, and NaNs come last. */
void ikt_radix_ranks(ikt_radix *radix, const float *value, int32_t *rank);

#endif
