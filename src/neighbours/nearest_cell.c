/* The cell of every row: a nearest centre, found from the top of a pyramid.
 *
 * Method: centres stand in an order in which near ones are near (locality.c). The means of 16
 * consecutive ones make a level above them, and so on up to some 64 means. A row is compared with
 * those of the top, then with the 16 below each of the best few, level by level down to the
 * centres. Advantage: about 250 distances a row at a million rows, and log(cells) more, where all
 * centres would be 16,384. Disadvantage: the centre found is near but not always the nearest: right
 * for cells that give candidates and an order, not for those of the Isolation kernel.
 */
#include "neighbours/cells.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "base/sort.h"
#include "linalg/blocks.h"
#include "metric/metric.h"

/* Nodes of a level that are followed down: fewer miss more nearest centres, more cost more. */
enum { FOLLOWED = 16 };

enum { GROUP = IKT_PACK_ROWS, TOP_MOST = 64, LEVELS_MOST = 8, CHUNK = 8192 };

typedef struct {
    const ikt_metric *metric;
    int64_t d;
    int levels;
    int64_t count[LEVELS_MOST];       /* nodes of each; level 0 are the centres */
    const float *packed[LEVELS_MOST]; /* in groups of 16 */
    float *means[LEVELS_MOST];        /* the same, where they belong to the pyramid */
} pyramid;

static int64_t groups_of(int64_t count) {
    return (count + GROUP - 1) / GROUP;
}

static int64_t group_size(int64_t count, int64_t group) {
    int64_t left = count - group * GROUP;
    return left < GROUP ? left : GROUP;
}

/* The mean of each group of a level, in groups again. */
static void find_means(const pyramid *p, int level, float *means) {
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

static ikt_status pyramid_make(ikt_context *ctx, const ikt_metric *metric, const float *centre,
                               int64_t count, int64_t d, pyramid *out) {
    *out = (pyramid){.metric = metric, .d = d, .levels = 1, .count = {count}, .packed = {centre}};
    ikt_status st = IKT_OK;
    while (st == IKT_OK && out->count[out->levels - 1] > TOP_MOST) {
        const int l = out->levels++;
        out->count[l] = groups_of(out->count[l - 1]);
        st = ikt_alloc(ctx, &out->means[l], ikt_packed_floats(out->count[l], d), sizeof(float),
                       "cells");
        out->packed[l] = out->means[l];
        if (st == IKT_OK) find_means(out, l - 1, out->means[l]);
    }
    return st;
}

/* The `most` best nodes of a level among those of the given groups, sorted. */
static int64_t follow(const pyramid *p, ikt_isa isa, int level, const float *row,
                      const int64_t *group, int64_t groups, int64_t most, ikt_pair *best) {
    int64_t kept = 0;
    for (int64_t g = 0; g < groups; g++) {
        float distance[GROUP];
        const int64_t size = group_size(p->count[level], group[g]);
        p->metric->block(isa, row, 1, p->packed[level] + group[g] * p->d * GROUP, size, p->d,
                         distance);
        for (int64_t i = 0; i < size; i++) {
            const ikt_pair pair = ikt_pair_make(distance[i], (uint32_t)(group[g] * GROUP + i));
            if (kept == most && pair >= best[kept - 1]) continue;
            int64_t to = kept < most ? kept++ : kept - 1;
            for (; to > 0 && best[to - 1] > pair; to--)
                best[to] = best[to - 1];
            best[to] = pair;
        }
    }
    return kept;
}

static uint16_t find(const pyramid *p, ikt_isa isa, const float *row) {
    ikt_pair best[FOLLOWED];
    int64_t group[TOP_MOST / GROUP + FOLLOWED], groups = groups_of(p->count[p->levels - 1]);
    for (int64_t g = 0; g < groups; g++)
        group[g] = g;
    for (int level = p->levels - 1; level > 0; level--) {
        groups = follow(p, isa, level, row, group, groups, FOLLOWED, best);
        for (int64_t g = 0; g < groups; g++)
            group[g] = ikt_pair_number(best[g]);
    }
    follow(p, isa, 0, row, group, groups, 1, best);
    return (uint16_t)ikt_pair_number(best[0]);
}

ikt_status ikt_nearest_cells(ikt_context *ctx, ikt_dataset *data, const ikt_rows *distribution,
                             const float *centre, int64_t count, uint16_t *cell) {
    const int64_t d = ikt_dataset_columns(data);
    const ikt_row_range own = {distribution->first, distribution->count};
    const int64_t steps = ikt_stream_steps(ctx, own.count, CHUNK);
    const ikt_isa isa = ikt_cpu_isa();
    float *rows = NULL;
    pyramid p;
    ikt_status st = pyramid_make(ctx, ikt_metric_of(data), centre, count, d, &p);
    if (st == IKT_OK) st = ikt_alloc(ctx, &rows, CHUNK * d, sizeof *rows, "cells");
    st = ikt_agree(ctx, st);
    for (int64_t step = 0; st == IKT_OK && step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, CHUNK, step);
        st = ikt_dataset_read(data, at.first, at.count, rows);
        if (st != IKT_OK) break;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
        for (int64_t i = 0; i < at.count; i++)
            cell[at.first - own.first + i] = find(&p, isa, rows + i * d);
    }
    ikt_free(&rows);
    for (int l = 0; l < LEVELS_MOST; l++)
        ikt_free(&p.means[l]);
    return st;
}

int64_t ikt_nearest_cell_compared(int64_t count) {
    int64_t compared = 0;
    for (; count > TOP_MOST; count = groups_of(count))
        compared += FOLLOWED * GROUP;
    return compared + count;
}
