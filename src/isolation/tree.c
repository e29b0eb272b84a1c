/* Growing a tree, and leading rows down. See tree.h.
 *
 * A node's draws are keyed by the way that leads to it, so the tree is that of the plain recursive
 * definition although it is grown level by level and needs no stack, however deep it gets. */
#include "isolation/tree.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "io/numbers/element.h"

/* What a node draws: the keys of the nodes below, its value, and columns from here on. */
enum { DRAW_KEYS = 0, DRAW_VALUE = 2, DRAW_COLUMNS = 3 };

int64_t ikt_tree_nodes(int64_t psi) {
    return 2 * psi - 1;
}

double ikt_tree_depth(int64_t psi) {
    return 1 + 2 * log((double)psi);
}

void ikt_tree_workspace_create(ikt_arrays *held, int64_t psi, int64_t d, ikt_tree_workspace *out) {
    const int64_t nodes = ikt_tree_nodes(psi);
    out->sample = ikt_claim(held, psi, sizeof *out->sample);
    out->first = ikt_claim(held, nodes, sizeof *out->first);
    out->count = ikt_claim(held, nodes, sizeof *out->count);
    out->key = ikt_claim(held, nodes, sizeof *out->key);
    out->attribute = ikt_claim(held, d, sizeof *out->attribute);
    out->drawn = ikt_claim(held, d, sizeof *out->drawn);
}

int64_t ikt_tree_workspace_bytes(int64_t psi, int64_t d) {
    return 4 * psi + 16 * ikt_tree_nodes(psi) + 8 * d;
}

/* --- growing ---------------------------------------------------------------------------------- */

typedef struct {
    const ikt_tree_rows *rows;
    ikt_tree_workspace *space;
    ikt_tree_node *node;
    int64_t partitioning;
    int64_t nodes, leaves; /* so far */
} grower;

static float value_at(const ikt_tree_rows *rows, uint32_t row, int64_t column) {
    const int64_t at = (int64_t)row * rows->d + column;
    return rows->is_u8 ? (float)((const uint8_t *)rows->x)[at] : ((const float *)rows->x)[at];
}

/* Whether all rows of the node are the same bytes: a quick way out where many rows coincide. */
static bool is_one_row(const grower *g, const uint32_t *row, uint32_t count) {
    const int64_t bytes = g->rows->d * ikt_held_bytes(g->rows->is_u8);
    const char *x = g->rows->x;
    for (uint32_t i = 1; i < count; i++)
        if (memcmp(x + row[0] * bytes, x + row[i] * bytes, (size_t)bytes) != 0) return false;
    return true;
}

static void swap(uint32_t *a, uint32_t *b) {
    uint32_t kept = *a;
    *a = *b;
    *b = kept;
}

/* A column in which the node's rows differ, all of these being equally likely; -1 where there is
 * none. Columns are drawn without replacement until one does. */
static int64_t draw_column(const grower *g, int64_t v, float *low, float *high) {
    const uint32_t *row = g->space->sample + g->space->first[v];
    uint32_t *attribute = g->space->attribute, *drawn = g->space->drawn;
    int64_t tried = 0, found = -1;
    for (; found < 0 && tried < g->rows->d; tried++) {
        drawn[tried] =
            (uint32_t)(tried + ikt_rng_below(g->space->key[v], IKT_RNG_TREE, g->partitioning,
                                             (uint64_t)(DRAW_COLUMNS + tried), g->rows->d - tried));
        swap(&attribute[tried], &attribute[drawn[tried]]);
        *low = *high = value_at(g->rows, row[0], attribute[tried]);
        for (uint32_t i = 1; i < g->space->count[v]; i++) {
            const float value = value_at(g->rows, row[i], attribute[tried]);
            if (value < *low) *low = value;
            if (value > *high) *high = value;
        }
        if (*low < *high) found = attribute[tried];
    }
    while (tried-- > 0) /* so that the next node begins from the same order */
        swap(&attribute[tried], &attribute[drawn[tried]]);
    return found;
}

static void add_node(grower *g, uint64_t key, uint32_t first, uint32_t count) {
    g->space->key[g->nodes] = key;
    g->space->first[g->nodes] = first;
    g->space->count[g->nodes++] = count;
}

/* Makes a node a leaf, or an inner node whose rows that are not greater than a threshold in some
 * column go to one node below and the others to the next. */
static void split(grower *g, int64_t v) {
    const uint64_t key = g->space->key[v];
    const uint32_t first = g->space->first[v], count = g->space->count[v];
    uint32_t *row = g->space->sample + first, left = 0;
    float low = 0, high = 0;
    int64_t column = -1;
    if (count > 1 && !is_one_row(g, row, count)) column = draw_column(g, v, &low, &high);
    if (column < 0) {
        g->node[v] = (ikt_tree_node){INFINITY, 0, (uint32_t)v, (uint32_t)g->leaves++};
        return;
    }
    /* A uniform value from low to high, as the greatest float not above it: at least one row is not
     * greater, and at least one is, however close the two are. */
    const double share = ikt_rng_uniform(key, IKT_RNG_TREE, g->partitioning, DRAW_VALUE);
    const double value = (double)low + share * ((double)high - (double)low);
    float threshold = (float)value;
    if ((double)threshold > value) threshold = nextafterf(threshold, -INFINITY);
    if (!(threshold < high)) threshold = nextafterf(high, -INFINITY);
    for (uint32_t i = 0; i < count; i++) /* rows that are not greater come to the front */
        if (value_at(g->rows, row[i], column) <= threshold) swap(&row[i], &row[left++]);
    g->node[v] = (ikt_tree_node){threshold, (uint32_t)column, (uint32_t)g->nodes, 0};
    add_node(g, ikt_rng_u64(key, IKT_RNG_TREE, g->partitioning, DRAW_KEYS), first, left);
    add_node(g, ikt_rng_u64(key, IKT_RNG_TREE, g->partitioning, DRAW_KEYS + 1), first + left,
             count - left);
}

int64_t ikt_tree_grow(const ikt_tree_key *key, const ikt_tree_rows *rows, int64_t psi,
                      ikt_tree_workspace *space, ikt_tree_node *node) {
    grower g = {.rows = rows, .space = space, .node = node, .partitioning = key->partitioning};
    for (int64_t c = 0; c < rows->d; c++)
        space->attribute[c] = (uint32_t)c;
    add_node(&g, key->seed, 0, (uint32_t)psi);
    for (int64_t v = 0; v < g.nodes; v++) /* nodes are added as others are split */
        split(&g, v);
    return g.leaves;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Rows led down together: the loads of one wait while those of the others go on. */
enum { TOGETHER = 16 };

#define WALK(name, type)                                                                           \
    static void name(const ikt_tree_node *tree, const type *x, int64_t d, uint32_t *at) {          \
        uint32_t moved;                                                                            \
        do {                                                                                       \
            moved = 0;                                                                             \
            for (int r = 0; r < TOGETHER; r++) {                                                   \
                const ikt_tree_node *node = tree + at[r];                                          \
                uint32_t greater = (float)x[r * d + node->attribute] > node->threshold;            \
                uint32_t next = node->below + greater;                                             \
                moved |= next ^ at[r];                                                             \
                at[r] = next;                                                                      \
            }                                                                                      \
        } while (moved);                                                                           \
    }

WALK(walk_u8, uint8_t)
WALK(walk_f32, float)

void ikt_tree_cells(const ikt_tree_node *tree, const ikt_tree_rows *rows, int64_t first,
                    int64_t count, uint32_t *cell) {
    const int64_t whole = count / TOGETHER * TOGETHER;
    for (int64_t i = 0; i < whole; i += TOGETHER) {
        uint32_t at[TOGETHER] = {0};
        if (rows->is_u8)
            walk_u8(tree, (const uint8_t *)rows->x + (first + i) * rows->d, rows->d, at);
        else
            walk_f32(tree, (const float *)rows->x + (first + i) * rows->d, rows->d, at);
        for (int r = 0; r < TOGETHER; r++)
            cell[i + r] = tree[at[r]].cell;
    }
    for (int64_t i = whole; i < count; i++) { /* the last rows, fewer than TOGETHER */
        const ikt_tree_node *at = tree;
        while (at != tree + at->below)
            at = tree + at->below +
                 (value_at(rows, (uint32_t)(first + i), at->attribute) > at->threshold);
        cell[i] = at->cell;
    }
}
