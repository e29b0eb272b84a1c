/* One partitioning of the forest form: a random tree that isolates sampled rows.
 *
 * Liu, Ting & Zhou 2008 (isolation forest), as a kernel Ting, Zhu & Zhou 2018 (KDD). A node holds
 * sampled rows. It draws a column at random among those in which its rows differ, a value at random
 * between their least and greatest there, and sends rows with greater values to one side and the
 * others to the other, until rows stand alone or are equal in all columns. A leaf is a cell.
 * There is no limit of height: a partitioning of the kernel isolates each of psi rows (Zhu & Ting
 * 2021, section 4.1), so that psi alone says how sharp it is, as in the Voronoi form. A limit of
 * log2(psi) levels belongs to the scoring of anomalies, where the length of short paths is all that
 * matters; here it would lump sampled rows together.
 * Advantage: a row meets some 2 ln(psi) single coordinates where it has psi distances, whatever
 * d; scales of columns do not matter. Disadvantage: cells are boxes along the columns, which follow
 * the data less well than Voronoi cells, and a draw sees one column of many.
 */
#ifndef IKT_ISOLATION_TREE_H
#define IKT_ISOLATION_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arrays.h"
#include "base/status.h"

/* Nodes of a tree stand breadth first, so that those that every row passes share a few cache lines.
 * Leaves lead to themselves: rows can be led down together until none moves. */
typedef struct {
    float threshold;    /* rows with a greater value go to `below` + 1; a leaf: infinite */
    uint32_t attribute; /* column that is looked at; a leaf: 0 */
    uint32_t below;     /* the node for the others; a leaf: itself */
    uint32_t cell;      /* a leaf: its number among the leaves, in their order */
} ikt_tree_node;

/* Rows as they are read: bytes or floats. All values are finite. */
typedef struct {
    const void *x; /* [rows * d] */
    int64_t d;
    bool is_u8;
} ikt_tree_rows;

/* What the draws of a tree are keyed by. */
typedef struct {
    uint64_t seed;
    int64_t partitioning;
} ikt_tree_key;

/* Work space for growing, for one thread. */
typedef struct {
    uint32_t *sample;            /* [psi] rows, those of a node together */
    uint32_t *first, *count;     /* [nodes] of each node: where its rows are in `sample` */
    uint64_t *key;               /* [nodes] what its draws are keyed by */
    uint32_t *attribute, *drawn; /* [d] columns in the order of the draw; what was drawn */
} ikt_tree_workspace;

/* LOCAL, pure. Nodes that a tree on psi rows has at most. */
int64_t ikt_tree_nodes(int64_t psi);

/* LOCAL. The arrays are claimed in `held`. */
void ikt_tree_workspace_create(ikt_arrays *held, int64_t psi, int64_t d, ikt_tree_workspace *out);
int64_t ikt_tree_workspace_bytes(int64_t psi, int64_t d);

/* LOCAL, thread-safe, pure: the tree depends on the key and on the values of the sampled rows, not
 * on their order.
 *   space  space->sample[0 .. psi - 1] are the sampled rows, numbers into `rows`
 *   node   [ikt_tree_nodes(psi)], receives the tree
 * Returns its number of leaves: at most psi, and exactly the number of different rows.
 * Cost: psi 2 ln(psi) coordinates, times the columns tried until one differs. */
int64_t ikt_tree_grow(const ikt_tree_key *key, const ikt_tree_rows *rows, int64_t psi,
                      ikt_tree_workspace *space, ikt_tree_node *node);

/* LOCAL, thread-safe. The leaves that rows first .. first + count - 1 fall into.
 *   cell   [count] */
void ikt_tree_cells(const ikt_tree_node *tree, const ikt_tree_rows *rows, int64_t first,
                    int64_t count, uint32_t *cell);

/* LOCAL, pure. Nodes that a row passes in a tree on psi rows, about: as in a random search tree. */
double ikt_tree_depth(int64_t psi);

#endif
