/* An order of points in which near ones stand near each other.
 *
 * Method: the points are halved across the line between two that are far apart, at the median of
 * their projections, and so on in each half. Advantage: any dimension, balanced, no parameters.
 * Disadvantage: points near a cut have near ones on its other side, farther away in the order. */
#include "cells/cells.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/arrays.h"
#include "base/cpu.h"
#include "base/sort.h"
#include "metric/metric.h"

enum { LANES = 16 }; /* sums in lanes: the same bits at any vector width */

typedef struct {
    float key;
    uint32_t point;
} ranked;

typedef struct {
    const float *x;         /* dense points, or NULL */
    const ikt_sparse *rows; /* sparse points, or NULL */
    int64_t d;
    float *direction; /* [d] */
    ranked *rank;     /* [count] */
} sorter;

static float add_lanes(float *lane) {
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            lane[l] += lane[l + half];
    return lane[0];
}

/* Squared distance of two points, or their product. */
static inline float sum_dense(const float *a, const float *b, int64_t d, bool is_distance) {
    float lane[LANES] = {0};
    int64_t c = 0;
    for (; c + LANES <= d; c += LANES)
        for (int l = 0; l < LANES; l++)
            lane[l] +=
                is_distance ? (a[c + l] - b[c + l]) * (a[c + l] - b[c + l]) : a[c + l] * b[c + l];
    for (int l = 0; c + l < d; l++)
        lane[l] +=
            is_distance ? (a[c + l] - b[c + l]) * (a[c + l] - b[c + l]) : a[c + l] * b[c + l];
    return add_lanes(lane);
}

/* The same two of sparse points: columns that a point lacks would add zeros. */

static float sparse_distance(ikt_sparse_row a, ikt_sparse_row b) {
    float lane[LANES] = {0};
    int64_t i = 0, j = 0;
    while (i < a.count || j < b.count) {
        const int32_t x = i < a.count ? a.column[i] : INT32_MAX;
        const int32_t y = j < b.count ? b.column[j] : INT32_MAX;
        const float gap = (x <= y ? a.value[i] : 0) - (y <= x ? b.value[j] : 0);
        lane[(x < y ? x : y) % LANES] += gap * gap;
        i += x <= y;
        j += y <= x;
    }
    return add_lanes(lane);
}

static float sparse_product(ikt_sparse_row a, const float *b) {
    float lane[LANES] = {0};
    for (int64_t e = 0; e < a.count; e++)
        lane[a.column[e] % LANES] += a.value[e] * b[a.column[e]];
    return add_lanes(lane);
}

static const float *point_of(const sorter *s, int64_t place) {
    return s->x + (int64_t)s->rank[place].point * s->d;
}

static ikt_sparse_row row_of(const sorter *s, int64_t place) {
    return ikt_sparse_row_of(s->rows, s->rank[place].point);
}

/* Projections of the points first .. last - 1 on the line from `one` to `other`. The direction of
 * sparse points is zero before and after. */
static void project(sorter *s, int64_t first, int64_t last, int64_t one, int64_t other) {
    if (!s->rows) {
        const float *a = point_of(s, one), *b = point_of(s, other);
        for (int64_t c = 0; c < s->d; c++)
            s->direction[c] = b[c] - a[c];
        for (int64_t i = first; i < last; i++)
            s->rank[i].key = sum_dense(point_of(s, i), s->direction, s->d, false);
        return;
    }
    const ikt_sparse_row a = row_of(s, one), b = row_of(s, other);
    ikt_sparse_fill(b, s->direction);
    for (int64_t e = 0; e < a.count; e++)
        s->direction[a.column[e]] -= a.value[e];
    for (int64_t i = first; i < last; i++)
        s->rank[i].key = sparse_product(row_of(s, i), s->direction);
    ikt_sparse_clear(a, s->direction);
    ikt_sparse_clear(b, s->direction);
}

/* The place in first .. last - 1 whose point is farthest from that of `from`. */
static int64_t farthest(const sorter *s, int64_t first, int64_t last, int64_t from) {
    int64_t best = first;
    float most = -1;
    for (int64_t i = first; i < last; i++) {
        const float distance = s->rows ? sparse_distance(row_of(s, i), row_of(s, from))
                                       : sum_dense(point_of(s, i), point_of(s, from), s->d, true);
        if (distance > most) {
            most = distance;
            best = i;
        }
    }
    return best;
}

static int by_key(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return IKT_COMPARE(x->point, y->point);
}

/* Recursion depth is log2(count): the halves are equal. */
static void halve(sorter *s, int64_t first, int64_t last) {
    if (last - first < 3) return;
    int64_t one = farthest(s, first, last, first), other = farthest(s, first, last, one);
    project(s, first, last, one, other);
    qsort(s->rank + first, (size_t)(last - first), sizeof *s->rank, by_key);
    int64_t middle = first + (last - first) / 2;
    halve(s, first, middle);
    halve(s, middle, last);
}

ikt_status ikt_locality_order(ikt_context *ctx, const float *x, const ikt_sparse *rows,
                              int64_t count, int64_t d, uint32_t *order) {
    sorter s = {.x = x, .rows = rows, .d = d};
    IKT_ARRAYS(held, ctx, "cells");
    s.direction = ikt_claim(&held, d, sizeof *s.direction);
    s.rank = ikt_claim(&held, count, sizeof *s.rank);
    IKT_TRY(held.status);
    for (int64_t i = 0; i < count; i++)
        s.rank[i].point = (uint32_t)i;
    halve(&s, 0, count);
    for (int64_t i = 0; i < count; i++)
        order[i] = s.rank[i].point;
    return IKT_OK;
}
