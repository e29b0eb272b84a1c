/* The tree of boxes. See octree.h. */
#include "kernelsum/octree.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

enum { BITS = 21, RADIX_BITS = 11, RADIX = 1 << RADIX_BITS, LANES = 16 };

ikt_status ikt_octree_create(ikt_context *ctx, int64_t n, ikt_octree *out) {
    *out = (ikt_octree){.n = n, .padded = n + LANES};
    IKT_TRY(ikt_alloc(ctx, &out->key, n, sizeof *out->key, "repulsion"));
    IKT_TRY(ikt_alloc(ctx, &out->spare_key, n, sizeof *out->spare_key, "repulsion"));
    IKT_TRY(ikt_alloc(ctx, &out->row, n, sizeof *out->row, "repulsion"));
    IKT_TRY(ikt_alloc(ctx, &out->spare_row, n, sizeof *out->spare_row, "repulsion"));
    for (int c = 0; c < 3; c++)
        IKT_TRY(ikt_alloc(ctx, &out->at[c], out->padded, sizeof *out->at[c], "repulsion"));
    return IKT_OK;
}

void ikt_octree_destroy(ikt_octree *tree) {
    ikt_free(&tree->key);
    ikt_free(&tree->spare_key);
    ikt_free(&tree->row);
    ikt_free(&tree->spare_row);
    for (int c = 0; c < 3; c++)
        ikt_free(&tree->at[c]);
    ikt_free(&tree->node);
    ikt_free(&tree->moments);
}

/* --- the order -------------------------------------------------------------------------------- */

/* Puts two zeros before each of the 21 bits. */
static uint64_t spread_bits(uint64_t x) {
    x = (x | x << 32) & 0x1f00000000ffff;
    x = (x | x << 16) & 0x1f0000ff0000ff;
    x = (x | x << 8) & 0x100f00f00f00f00f;
    x = (x | x << 4) & 0x10c30c30c30c30c3;
    x = (x | x << 2) & 0x1249249249249249;
    return x;
}

/* The middle of the cube around the points, and their keys in it. */
static void make_keys(ikt_octree *tree, int q, const float *y) {
    const double cells = (double)(1 << BITS);
    double side = 0;
    for (int c = 0; c < 3; c++)
        tree->origin[c] = 0;
    for (int c = 0; c < q; c++) {
        float low = y[c], high = y[c];
        for (int64_t i = 1; i < tree->n; i++) {
            low = y[q * i + c] < low ? y[q * i + c] : low;
            high = y[q * i + c] > high ? y[q * i + c] : high;
        }
        tree->origin[c] = 0.5 * ((double)low + (double)high);
        side = fmax(side, (double)high - (double)low);
    }
    const double scale = side > 0 ? cells / side : 0;
    for (int64_t i = 0; i < tree->n; i++) {
        uint64_t key = 0;
        for (int c = 0; c < q; c++) {
            double place = ((double)y[q * i + c] - tree->origin[c]) * scale + cells / 2;
            place = fmin(fmax(place, 0), cells - 1);
            key |= spread_bits((uint64_t)place) << c;
        }
        tree->key[i] = key;
        tree->row[i] = (uint32_t)i;
    }
}

/* --- the nodes -------------------------------------------------------------------------------- */

/* Nodes of a stretch, without what comes from those below; or only counts them. */
static void add_nodes(ikt_octree *tree, int64_t first, int64_t end, int64_t parent, bool write) {
    const int64_t me = tree->count++;
    const uint64_t differ = tree->key[first] ^ tree->key[end - 1];
    const bool leaf = end - first <= IKT_OCTREE_LEAF || differ == 0;
    int shift = 0;
    if (write) {
        tree->moments[me] = (ikt_octree_moments){0};
        tree->node[me] = (ikt_octree_node){.is_leaf = leaf,
                                           .first = first,
                                           .end = end,
                                           .parent = parent,
                                           .low = {INFINITY, INFINITY, INFINITY},
                                           .high = {-INFINITY, -INFINITY, -INFINITY}};
    }
    while (!leaf && differ >> (shift + 1) != 0)
        shift++;
    shift = shift / 3 * 3; /* lowest of the first three bits that differ: of the eight children */
    for (int64_t at = first, to; !leaf && at < end; at = to) {
        const uint64_t child = tree->key[at] >> shift;
        IKT_FIND_FIRST(to, at + 1, end, tree->key[to] >> shift != child);
        add_nodes(tree, at, to, me, write);
    }
    if (write) tree->node[me].next = tree->count;
}

int64_t ikt_octree_order(ikt_octree *tree, int q, const float *y) {
    if (tree->n == 0) return 0;
    make_keys(tree, q, y);
    /* A stable counting sort by some bits of the keys at a time, so that equal keys keep the order
     * of rows. */
    for (int shift = 0; shift < 3 * BITS; shift += RADIX_BITS) {
        int64_t place[RADIX] = {0}, sum = 0;
        for (int64_t i = 0; i < tree->n; i++)
            place[tree->key[i] >> shift & (RADIX - 1)]++;
        if (place[tree->key[0] >> shift & (RADIX - 1)] == tree->n) continue; /* the same in all */
        for (int digit = 0; digit < RADIX; digit++) {
            const int64_t count = place[digit];
            place[digit] = sum;
            sum += count;
        }
        for (int64_t i = 0; i < tree->n; i++) {
            const int64_t to = place[tree->key[i] >> shift & (RADIX - 1)]++;
            tree->spare_key[to] = tree->key[i];
            tree->spare_row[to] = tree->row[i];
        }
        uint64_t *key = tree->key;
        uint32_t *row = tree->row;
        tree->key = tree->spare_key;
        tree->row = tree->spare_row;
        tree->spare_key = key;
        tree->spare_row = row;
    }
    for (int c = 0; c < q; c++)
        for (int64_t i = 0; i < tree->n; i++)
            tree->at[c][i] = y[q * (int64_t)tree->row[i] + c];
    tree->count = 0;
    add_nodes(tree, 0, tree->n, -1, false);
    return tree->count;
}

ikt_status ikt_octree_reserve(ikt_context *ctx, ikt_octree *tree, int64_t nodes) {
    if (nodes <= tree->capacity) return IKT_OK;
    ikt_free(&tree->node);
    ikt_free(&tree->moments);
    tree->capacity = 0;
    nodes += nodes / 4;
    IKT_TRY(ikt_alloc(ctx, &tree->node, nodes, sizeof *tree->node, "repulsion"));
    IKT_TRY(ikt_alloc(ctx, &tree->moments, nodes, sizeof *tree->moments, "repulsion"));
    tree->capacity = nodes;
    return IKT_OK;
}

/* Which axes the second moments belong to. */
static const int axis_a[6] = {0, 1, 2, 0, 0, 1}, axis_b[6] = {0, 1, 2, 1, 2, 2};

/* Sums of a node, about the middle of the cube, are added to those of the node above. */
static void add_to_parent(ikt_octree *tree, int64_t i) {
    const ikt_octree_moments *m = &tree->moments[i];
    if (tree->node[i].parent < 0) return;
    ikt_octree_moments *above = &tree->moments[tree->node[i].parent];
    above->mass += m->mass;
    for (int c = 0; c < 3; c++)
        above->first[c] += m->first[c];
    for (int k = 0; k < 6; k++)
        above->second[k] += m->second[k];
}

/* Moments of a leaf's points, or of their charges, about the middle of the cube. */
static void sum_leaf(const ikt_octree *tree, const ikt_octree_node *node, const float *charge,
                     ikt_octree_moments *m) {
    for (int64_t i = node->first; i < node->end; i++) {
        const double amount = charge ? (double)charge[i] : 1;
        double place[3];
        m->mass += amount;
        for (int c = 0; c < 3; c++) {
            place[c] = (double)tree->at[c][i] - tree->origin[c];
            m->first[c] += amount * place[c];
        }
        for (int k = 0; k < 6; k++)
            m->second[k] += amount * place[axis_a[k]] * place[axis_b[k]];
    }
}

/* The box around a leaf's points. */
static void bound_leaf(const ikt_octree *tree, ikt_octree_node *node) {
    for (int64_t i = node->first; i < node->end; i++)
        for (int c = 0; c < 3; c++) {
            const float at = tree->at[c][i];
            node->low[c] = at < node->low[c] ? at : node->low[c];
            node->high[c] = at > node->high[c] ? at : node->high[c];
        }
}

/* Centre, second moments about it as rounded, and radius. */
static void finish(const ikt_octree *tree, ikt_octree_node *node, const ikt_octree_moments *m) {
    double off[3], radius2 = 0;
    node->mass = (float)m->mass;
    for (int c = 0; c < 3; c++) {
        off[c] = m->first[c] / m->mass;
        node->centre[c] = (float)(off[c] + tree->origin[c]);
        const double centre = (double)node->centre[c];
        const double reach = fmax(centre - (double)node->low[c], (double)node->high[c] - centre);
        radius2 += reach * reach;
    }
    node->radius2 = (float)radius2;
    for (int k = 0; k < 6; k++)
        node->second[k] = (float)(m->second[k] - m->mass * off[axis_a[k]] * off[axis_b[k]]);
}

void ikt_octree_build(ikt_octree *tree) {
    tree->count = 0;
    if (tree->n == 0) return;
    add_nodes(tree, 0, tree->n, -1, true);
    for (int64_t i = tree->count - 1; i >= 0; i--) { /* those below come first */
        ikt_octree_node *node = &tree->node[i];
        if (node->is_leaf) {
            bound_leaf(tree, node);
            sum_leaf(tree, node, NULL, &tree->moments[i]);
        }
        finish(tree, node, &tree->moments[i]);
        add_to_parent(tree, i);
        for (int c = 0; c < 3 && node->parent >= 0; c++) {
            ikt_octree_node *above = &tree->node[node->parent];
            above->low[c] = node->low[c] < above->low[c] ? node->low[c] : above->low[c];
            above->high[c] = node->high[c] > above->high[c] ? node->high[c] : above->high[c];
        }
    }
}

void ikt_octree_charge(ikt_octree *tree, const float *charge) {
    memset(tree->moments, 0, (size_t)tree->count * sizeof *tree->moments);
    for (int64_t i = tree->count - 1; i >= 0; i--) { /* those below come first */
        const ikt_octree_node *node = &tree->node[i];
        ikt_octree_moments *m = &tree->moments[i];
        double off[3];
        if (node->is_leaf) sum_leaf(tree, node, charge, m);
        add_to_parent(tree, i);
        /* From the middle of the cube to the centre of the node. */
        for (int c = 0; c < 3; c++)
            off[c] = (double)node->centre[c] - tree->origin[c];
        for (int k = 0; k < 6; k++) {
            const int a = axis_a[k], b = axis_b[k];
            m->second[k] += m->mass * off[a] * off[b] - m->first[a] * off[b] - off[a] * m->first[b];
        }
        for (int c = 0; c < 3; c++)
            m->first[c] -= m->mass * off[c];
    }
}
