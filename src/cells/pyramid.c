/* A near centre of a row, found from the top of a pyramid.
 *
 * Method: centres stand in an order in which near ones are near (locality.c). The means of 16
 * consecutive ones make a level above them, and so on up to some 64 means. A row is compared with
 * those of the top, then with the 16 below each of the best few, level by level down to the
 * centres. Advantage: about 250 distances a row at a million rows, and log(cells) more, where all
 * centres would be 16,384. Disadvantage: the centre found is near but not always the nearest: right
 * for cells that give candidates and an order, not for those of the Isolation kernel.
 */
#include "cells/cells.h"

#include <math.h>

#include "base/arrays.h"
#include "base/cpu.h"
#include "base/sort.h"
#include "metric/metric.h"

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
    int64_t left = count - group * GROUP;
    return left < GROUP ? left : GROUP;
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
    ikt_status st = ikt_alloc(ctx, &p, 1, sizeof *p, "cells");
    if (st == IKT_OK)
        *p = (ikt_pyramid){.metric = metric,
                           .isa = ikt_cpu_isa(),
                           .d = d,
                           .levels = 1,
                           .count = {count},
                           .packed = {centre}};
    while (st == IKT_OK && p->count[p->levels - 1] > TOP_MOST) {
        const int l = p->levels++;
        p->count[l] = groups_of(p->count[l - 1]);
        st =
            ikt_alloc(ctx, &p->means[l], ikt_packed_floats(p->count[l], d), sizeof(float), "cells");
        p->packed[l] = p->means[l];
        if (st == IKT_OK) find_means(p, l - 1, p->means[l]);
    }
    IKT_TRY(st);
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
