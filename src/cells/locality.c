/* An order of points in which near ones stand near each other, and a near one of any row in it.
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

/* --- a near centre of a row ------------------------------------------------------------------- */

/* Found from the top of a pyramid.
 *
 * Method: centres stand in an order in which near ones are near. The means of 16 consecutive ones
 * make a level above them, and so on up to some 64 means. A row is compared with those of the top,
 * then with the 16 below each of the best few, level by level down to the centres. Advantage: about
 * 250 distances a row at a million rows, and log(cells) more, where all centres would be 16,384.
 * Disadvantage: the centre found is near but not always the nearest: right for cells that give
 * candidates and an order, not for those of the Isolation kernel. */

/* Nodes of a level that are followed down: fewer miss more nearest centres, more cost more. */
enum { FOLLOWED = 16 };

enum {
    GROUP = IKT_PACK_ROWS,
    TOP_MOST = 64,
    GROUPS_MOST = FOLLOWED > TOP_MOST / GROUP ? FOLLOWED : TOP_MOST / GROUP, /* of a level */
    LEVELS_MOST = 8,
};

struct ikt_pyramid {
    const ikt_metric *metric;
    ikt_isa isa;
    int64_t d;
    int levels;
    int64_t count[LEVELS_MOST];       /* nodes of each; level 0 are the centres */
    const float *packed[LEVELS_MOST]; /* in groups of 16 */
    float *means[LEVELS_MOST];        /* the same, where they belong to the pyramid */
};

static int64_t groups_of(int64_t count) {
    return (count + GROUP - 1) / GROUP;
}

static int64_t group_size(int64_t count, int64_t group) {
    return ikt_smaller(count - group * GROUP, GROUP);
}

/* The mean of each group of a level, in groups again. */
static void find_means(const ikt_pyramid *p, int level, float *means) {
    const int64_t d = p->d, count = p->count[level];
    for (int64_t g = 0; g < groups_of(count); g++)
        for (int64_t c = 0; c < d; c++) {
            const float *x = p->packed[level] + (g * d + c) * GROUP;
            double sum = 0;
            for (int64_t i = 0; i < group_size(count, g); i++)
                sum += (double)x[i];
            means[(g / GROUP * d + c) * GROUP + g % GROUP] =
                (float)(sum / (double)group_size(count, g));
        }
}

ikt_status ikt_pyramid_create(ikt_context *ctx, const ikt_metric *metric, const float *centre,
                              int64_t count, int64_t d, ikt_pyramid **out) {
    ikt_pyramid *p IKT_AT_END(ikt_pyramid_destroy) = NULL;
    *out = NULL;
    IKT_TRY(ikt_alloc(ctx, &p, 1, sizeof *p, "cells"));
    *p = (ikt_pyramid){.metric = metric,
                       .isa = ikt_cpu_isa(),
                       .d = d,
                       .levels = 1,
                       .count = {count},
                       .packed = {centre}};
    while (p->count[p->levels - 1] > TOP_MOST) {
        const int l = p->levels++;
        float **means = &p->means[l];
        p->count[l] = groups_of(p->count[l - 1]);
        IKT_TRY(ikt_alloc(ctx, means, ikt_packed_floats(p->count[l], d), sizeof **means, "cells"));
        p->packed[l] = *means;
        find_means(p, l - 1, *means);
    }
    return ikt_give(out, p);
}

void ikt_pyramid_destroy(ikt_pyramid **pyramid) {
    for (int l = 0; *pyramid && l < LEVELS_MOST; l++)
        ikt_free(&(*pyramid)->means[l]);
    ikt_free(pyramid);
}

/* The `most` best nodes of a level among those of the given groups, sorted. */
static int64_t follow(const ikt_pyramid *p, int level, const float *row, const int64_t *group,
                      int64_t groups, int64_t most, ikt_pair *best) {
    float distance[GROUPS_MOST * GROUP], limit = INFINITY; /* of the last of the best */
    const float *packed[GROUPS_MOST] = {NULL};
    int64_t kept = 0;
    for (int64_t g = 0; g < groups; g++)
        packed[g] = p->packed[level] + group[g] * p->d * GROUP;
    p->metric->on(p->isa)->groups(row, packed, groups, p->d, distance);
    for (int64_t g = 0; g < groups; g++) {
        const int64_t size = group_size(p->count[level], group[g]);
        for (int64_t i = 0; i < size; i++) {
            if (distance[g * GROUP + i] > limit) continue;
            const ikt_pair pair =
                ikt_pair_make(distance[g * GROUP + i], (uint32_t)(group[g] * GROUP + i));
            if (kept == most && pair >= best[kept - 1]) continue;
            int64_t to = kept < most ? kept++ : kept - 1;
            for (; to > 0 && best[to - 1] > pair; to--)
                best[to] = best[to - 1];
            best[to] = pair;
            if (kept == most) limit = ikt_pair_value(best[kept - 1]);
        }
    }
    return kept;
}

int64_t ikt_pyramid_find(const ikt_pyramid *p, const float *row) {
    ikt_pair best[FOLLOWED];
    int64_t group[GROUPS_MOST], groups = groups_of(p->count[p->levels - 1]);
    for (int64_t g = 0; g < groups; g++)
        group[g] = g;
    for (int level = p->levels - 1; level > 0; level--) {
        groups = follow(p, level, row, group, groups, FOLLOWED, best);
        for (int64_t g = 0; g < groups; g++)
            group[g] = ikt_pair_number(best[g]);
    }
    follow(p, 0, row, group, groups, 1, best);
    return ikt_pair_number(best[0]);
}

int64_t ikt_pyramid_compared(int64_t count) {
    int64_t compared = 0;
    for (; count > TOP_MOST; count = groups_of(count))
        compared += FOLLOWED * GROUP;
    return compared + count;
}
