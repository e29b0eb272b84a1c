/* Rows by distance in the map: a balanced k-d tree in two arrays, and ranks. See tree.h. */
#include "evaluate/tree.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/arrays.h"
#include "neighbours/neighbours.h"

enum { LEAF = 16 }; /* a leaf holds LEAF / 2 .. LEAF points (fewer only where n is small) */

/* With q a constant the compiler makes a loop of its own for each number of axes. */
static inline void distances(const float *y, int64_t n, int64_t q, const float *at, float *out) {
    for (int64_t j = 0; j < n; j++)
        out[j] = ikt_embedding_distance(y + q * j, at, q);
}

void ikt_embedding_distances(const float *y, int64_t n, int64_t q, const float *at,
                             float *distance) {
    if (q == 1) distances(y, n, 1, at, distance);
    if (q == 2) distances(y, n, 2, at, distance);
    if (q == 3) distances(y, n, 3, at, distance);
}

static int levels_for(int64_t n) {
    int levels = 0;
    while (n >> levels > LEAF)
        levels++;
    return levels;
}

int64_t ikt_tree_memory(int64_t n) {
    int64_t nodes = (int64_t)2 << levels_for(n);
    return n * (int64_t)sizeof(ikt_tree_point) + nodes * (int64_t)sizeof(ikt_tree_node);
}

/* Where the points of share `index` of 2^level begin; the product stays below 2^63 for n < 2^33. */
static int64_t share_begin(const ikt_tree *tree, int level, int64_t index) {
    return (tree->n * index) >> level;
}

static bool before(const ikt_tree_point *a, const ikt_tree_point *b, int axis) {
    return a->at[axis] < b->at[axis] || (a->at[axis] == b->at[axis] && a->row < b->row);
}

/* Brings the points that belong before `place` before it (quickselect on a total order). */
static void select_place(ikt_tree_point *point, int axis, int64_t low, int64_t high,
                         int64_t place) {
    while (low < high) {
        const ikt_tree_point pivot = point[low + (high - low) / 2];
        int64_t i = low, j = high; /* in the end [low .. j] is before [i .. high] */
        while (i <= j) {
            while (before(&point[i], &pivot, axis))
                i++;
            while (before(&pivot, &point[j], axis))
                j--;
            if (i > j) break;
            const ikt_tree_point old = point[i];
            point[i++] = point[j];
            point[j--] = old;
        }
        if (place > j && place < i) return;
        if (place <= j)
            high = j;
        else
            low = i;
    }
}

static ikt_tree_node bound(const ikt_tree_point *point, int64_t count) {
    ikt_tree_node node = {
        {INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, UINT32_MAX};
    for (int64_t e = 0; e < count; e++) {
        for (int axis = 0; axis < IKT_AXES_MOST; axis++) {
            node.low[axis] = fminf(node.low[axis], point[e].at[axis]);
            node.high[axis] = fmaxf(node.high[axis], point[e].at[axis]);
        }
        if (point[e].row < node.lowest) node.lowest = point[e].row;
    }
    return node;
}

/* Bounds the points of a node, and halves them along the longest side of their box. */
static void make_node(ikt_tree *tree, int level, int64_t index) {
    const int64_t low = share_begin(tree, level, index), high = share_begin(tree, level, index + 1);
    ikt_tree_node *node = &tree->node[((int64_t)1 << level) + index];
    *node = bound(tree->point + low, high - low);
    if (level == tree->levels) return;
    int longest = 0;
    double most = -1;
    for (int axis = 0; axis < IKT_AXES_MOST; axis++) {
        const double side = (double)node->high[axis] - (double)node->low[axis];
        if (side > most) {
            most = side;
            longest = axis;
        }
    }
    const int64_t middle = share_begin(tree, level + 1, 2 * index + 1);
    select_place(tree->point, longest, low, high - 1, middle);
}

ikt_status ikt_tree_create(ikt_context *ctx, const float *y, int64_t n, int64_t q, ikt_tree *out) {
    ikt_tree made IKT_AT_END(ikt_tree_destroy) = {n, q, levels_for(n), NULL, NULL};
    *out = (ikt_tree){0};
    IKT_TRY(ikt_alloc(ctx, &made.point, n, sizeof *made.point, "measures"));
    IKT_TRY(ikt_alloc(ctx, &made.node, (int64_t)2 << made.levels, sizeof *made.node, "measures"));
    for (int64_t i = 0; i < n; i++) {
        made.point[i].row = (uint32_t)i;
        for (int64_t c = 0; c < q; c++)
            made.point[i].at[c] = y[q * i + c];
    }
    for (int level = 0; level <= made.levels; level++) {
#pragma omp parallel for schedule(dynamic) num_threads(ikt_threads(ctx))
        for (int64_t index = 0; index < (int64_t)1 << level; index++)
            make_node(&made, level, index);
    }
    return ikt_give(out, made);
}

void ikt_tree_destroy(ikt_tree *tree) {
    ikt_free_all(&tree->point, &tree->node);
    tree->n = 0;
}

typedef struct {
    const ikt_tree *tree;
    float at[IKT_AXES_MOST];
    int64_t row, k;
    float *score;
    uint32_t *nearest;
} query;

/* Squared distance to the node's box. Every rounding is monotonic, also the one of
 * ikt_embedding_distance, so no point in the box is nearer than this says. */
static float box_distance(const query *q, int64_t node) {
    const ikt_tree_node *box = &q->tree->node[node];
    double sum = 0;
    for (int axis = 0; axis < IKT_AXES_MOST; axis++) {
        double below = (double)box->low[axis] - (double)q->at[axis];
        double above = (double)q->at[axis] - (double)box->high[axis];
        double away = below > above ? below : above;
        sum += away > 0 ? away * away : 0;
    }
    return (float)sum;
}

static bool earlier(float a_score, int64_t a_row, float b_score, int64_t b_row) {
    return a_score < b_score || (a_score == b_score && a_row < b_row);
}

/* `nearest[0]` is the worst kept: a node matters only if its bound comes before that. */
static void search(query *q, int64_t node, int level, float bound_score) {
    const ikt_tree_node *all = q->tree->node;
    if (!earlier(bound_score, all[node].lowest, q->score[0], q->nearest[0])) return;
    if (level == q->tree->levels) {
        const int64_t leaf = node - ((int64_t)1 << level);
        const int64_t end = share_begin(q->tree, level, leaf + 1);
        for (int64_t e = share_begin(q->tree, level, leaf); e < end; e++) {
            const ikt_tree_point *point = &q->tree->point[e];
            if (point->row != q->row)
                ikt_best_offer(q->score, q->nearest, q->k,
                               ikt_embedding_distance(point->at, q->at, IKT_AXES_MOST), point->row);
        }
        return;
    }
    int64_t left = 2 * node, right = left + 1;
    float to_left = box_distance(q, left), to_right = box_distance(q, right);
    if (earlier(to_left, all[left].lowest, to_right, all[right].lowest)) {
        search(q, left, level + 1, to_left);
        search(q, right, level + 1, to_right);
    } else {
        search(q, right, level + 1, to_right);
        search(q, left, level + 1, to_left);
    }
}

void ikt_tree_nearest(const ikt_tree *tree, const float *at, int64_t row, int64_t k, float *score,
                      uint32_t *nearest) {
    query q = {tree, {0}, row, k, score, nearest};
    memcpy(q.at, at, (size_t)tree->q * sizeof *at);
    ikt_best_clear(score, nearest, k);
    search(&q, 1, 0, box_distance(&q, 1));
    ikt_best_sort(score, nearest, k);
}

/* --- ranks ------------------------------------------------------------------------------------ */

ikt_status ikt_radix_create(ikt_context *ctx, int64_t n, ikt_radix *out) {
    *out = (ikt_radix){.n = n};
    IKT_TRY(ikt_alloc(ctx, &out->pair, 2 * n, sizeof *out->pair, "measures"));
    for (int side = 0; side < 2; side++)
        IKT_TRY(ikt_alloc(ctx, &out->rank[side], n, sizeof *out->rank[side], "measures"));
    return IKT_OK;
}

void ikt_radix_destroy(ikt_radix *radix) {
    ikt_free_all(&radix->pair, &radix->rank[0], &radix->rank[1]);
}

int64_t ikt_radix_memory(int64_t n) {
    return n * (int64_t)(2 * sizeof(ikt_pair) + 2 * sizeof(int32_t));
}

void ikt_radix_ranks(ikt_radix *r, const float *value, int32_t *rank) {
    static const uint64_t last = (uint64_t)UINT32_MAX << 32;
    for (int64_t j = 0; j < r->n; j++) /* adding 0 makes -0 a 0 */
        r->pair[j] =
            isnan(value[j]) ? last | (uint64_t)j : ikt_pair_make(value[j] + 0.0f, (uint32_t)j);
    ikt_pairs_sort_by_upper(r->pair, r->pair + r->n, r->n);
    for (int64_t place = 0; place < r->n; place++)
        rank[ikt_pair_number(r->pair[place])] = (int32_t)place;
}
