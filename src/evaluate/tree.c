/* A k-d tree without nodes: a range of `order` is split at its middle, along the axis that the
 * depth says, until it is a leaf. The middle point itself is the split. */
#include "evaluate/tree.h"

#include "base/memory.h"
#include "neighbours/neighbours.h"

enum { LEAF = 12 };

static int before(const float *y, int axis, int64_t a, int64_t b) {
    float ya = y[2 * a + axis], yb = y[2 * b + axis];
    return ya < yb || (ya == yb && a < b);
}

/* Moves the element that belongs to `place` there, smaller ones before it (quickselect). */
static void select_place(const float *y, int axis, int64_t *order, int64_t low, int64_t high,
                         int64_t place) {
    while (low < high) {
        int64_t pivot = order[(low + high) / 2], i = low, j = high;
        while (i <= j) {
            while (before(y, axis, order[i], pivot))
                i++;
            while (before(y, axis, pivot, order[j]))
                j--;
            if (i <= j) {
                int64_t swap = order[i];
                order[i++] = order[j];
                order[j--] = swap;
            }
        }
        if (place <= j)
            high = j;
        else if (place >= i)
            low = i;
        else
            return;
    }
}

static void build(const float *y, int axis, int64_t *order, int64_t low, int64_t high) {
    while (high - low > LEAF) {
        int64_t middle = low + (high - low) / 2;
        select_place(y, axis, order, low, high - 1, middle);
        axis = 1 - axis;
        build(y, axis, order, low, middle);
        low = middle + 1;
    }
}

ikt_status ikt_tree_create(ikt_context *ctx, const float *y, int64_t n, ikt_tree *out) {
    *out = (ikt_tree){n, y, NULL};
    IKT_TRY(ikt_alloc(ctx, &out->order, n, sizeof *out->order, "measures"));
    for (int64_t i = 0; i < n; i++)
        out->order[i] = i;
    build(y, 0, out->order, 0, n);
    return IKT_OK;
}

void ikt_tree_destroy(ikt_tree *tree) {
    ikt_free(&tree->order);
}

typedef struct {
    const ikt_tree *tree;
    int64_t row, k;
    double at[2];
    float *score;
    int64_t *nearest;
} query;

static void offer(query *q, int64_t row) {
    if (row == q->row) return;
    double dx = (double)q->tree->y[2 * row] - q->at[0];
    double dy = (double)q->tree->y[2 * row + 1] - q->at[1];
    ikt_best_offer(q->score, q->nearest, q->k, (float)(dx * dx + dy * dy), row);
}

/* Rounding is monotonic: a side whose boundary is farther than the worst kept has nothing. */
static void search(query *q, int axis, int64_t low, int64_t high) {
    if (high - low <= LEAF) {
        for (int64_t e = low; e < high; e++)
            offer(q, q->tree->order[e]);
        return;
    }
    int64_t middle = low + (high - low) / 2, split = q->tree->order[middle];
    double away = q->at[axis] - (double)q->tree->y[2 * split + axis];
    int left_first = away < 0;
    offer(q, split);
    if (left_first)
        search(q, 1 - axis, low, middle);
    else
        search(q, 1 - axis, middle + 1, high);
    if ((float)(away * away) > q->score[0]) return;
    if (left_first)
        search(q, 1 - axis, middle + 1, high);
    else
        search(q, 1 - axis, low, middle);
}

void ikt_tree_nearest(const ikt_tree *tree, int64_t row, int64_t k, float *score,
                      int64_t *nearest) {
    query q = {tree,  row,    k, {(double)tree->y[2 * row], (double)tree->y[2 * row + 1]},
               score, nearest};
    ikt_best_clear(score, nearest, k);
    search(&q, 0, 0, tree->n);
    ikt_best_sort(score, nearest, k);
}
