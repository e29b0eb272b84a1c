/* A near centre of any row. See cells.h.
 *
 * Method: centres stand in an order in which near ones are near. The means of 16 consecutive ones
 * make a level above them, and so on up to some 64 means. A row is compared with those of the top,
 * then with the 16 below each of the best few, level by level down to the centres. Advantage: about
 * 250 distances a row at a million rows, and log(cells) more, where all centres would be 16,384.
 * Disadvantage: the centre found is near but not always the nearest: right for cells that give
 * candidates and an order, not for those of the Isolation kernel.
 *
 * Wide rows are compared as bytes (metric/near_bytes.h), some hundreds at a time, those that want
 * the same group of nodes together: groups of float32, each read anew for every row, would be more
 * memory than the processor has time for. Bytes are off by what rounding takes away, so that they
 * are used only where a trial shows that they lead to centres as near as floats do. */
#include "cells/cells.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/cpu.h"
#include "base/log.h"
#include "base/sort.h"
#include "metric/near_bytes.h"

/* Nodes of a level that are followed down: fewer miss more nearest centres, more cost more. Rows
 * that come as bytes are searched in several passes, whose cells need not be so near: what one pass
 * cuts apart the next leaves together. */
enum { FOLLOWED = 16, FOLLOWED_BY_BYTES = 8 };

enum {
    GROUP = IKT_PACK_ROWS,
    TOP_MOST = 64,
    GROUPS_MOST = FOLLOWED > TOP_MOST / GROUP ? FOLLOWED : TOP_MOST / GROUP, /* of a level */
    LEVELS_MOST = 8,
    TOGETHER = 512,           /* rows that are brought together, at most, */
    TOGETHER_BYTES = 1 << 19, /* and the memory that they may take: it stays in the cache */
    FOUND_APART = 16,         /* rows that a thread finds one by one at a time */
    TRIED = 64,               /* centres that the trial looks for the nearest other one of */
    TRIED_VECTORS = 64        /* of centres that it looks at at a time */
};

/* How much farther the centres may be to which bytes lead, on average. */
static const double farther_most = 1.01;

/* The best nodes of a row on a level. */
typedef struct {
    ikt_pair node[FOLLOWED]; /* by value, ascending */
    int32_t count, most;
    float limit; /* the value of the last one, where there are `most` */
} near_nodes;

/* What a thread works with: rows as bytes, and who of them wants which group. */
typedef struct {
    int32_t *word;    /* [together * words] */
    near_nodes *near; /* [together] */
    int32_t *group;   /* [together * GROUPS_MOST] that each wants */
    int32_t *start;   /* [groups of the lowest level + 1] where those that want a group stand in */
    uint32_t *member; /* [together * GROUPS_MOST] */
    float *value;     /* [(together + IKT_KERNEL_ROWS) * GROUP] */
} byte_space;

struct ikt_pyramid {
    const ikt_metric *metric;
    ikt_isa isa;
    int64_t d;
    int levels;
    int64_t count[LEVELS_MOST];       /* nodes of each; level 0 are the centres */
    const float *packed[LEVELS_MOST]; /* in groups of 16 */
    float *means[LEVELS_MOST];        /* the same, where they belong to the pyramid */
    int32_t followed;                 /* nodes of a level */
    bool has_bytes;                   /* rows are compared as bytes: */
    const float *mean;                /* [d] that is taken away */
    ikt_near_bytes bytes[LEVELS_MOST];
    int64_t together;  /* rows */
    byte_space *space; /* [threads] */
    ikt_arrays held;   /* means, and these */
};

static int64_t groups_of(int64_t count) {
    return (count + GROUP - 1) / GROUP;
}

static int64_t group_size(int64_t count, int64_t group) {
    return ikt_smaller(count - group * GROUP, GROUP);
}

/* --- making ----------------------------------------------------------------------------------- */

/* The mean of each group of nodes x [count * d]. */
static void find_means(const float *x, int64_t count, int64_t d, float *means) {
    for (int64_t g = 0; g < groups_of(count); g++)
        for (int64_t c = 0; c < d; c++) {
            double sum = 0;
            for (int64_t i = 0; i < group_size(count, g); i++)
                sum += (double)x[(g * GROUP + i) * d + c];
            means[g * d + c] = (float)(sum / (double)group_size(count, g));
        }
}

/* LOCAL. The levels above the centres; and all of them as bytes, where there is a mean. */
static ikt_status create_levels(ikt_pyramid *p, const float *centre) {
    IKT_ARRAYS(work, p->held.ctx, "cells");
    const float *x = centre;
    const int64_t d = p->d;
    for (int l = 0;; l++) {
        const int64_t count = p->count[l], above = groups_of(count);
        if (p->mean)
            IKT_TRY(ikt_near_bytes_create(&p->held, x, NULL, count, d, p->mean, &p->bytes[l]));
        if (count <= TOP_MOST) break;
        float *means = ikt_claim(&work, above * d, sizeof *means);
        float *packed = ikt_claim(&p->held, ikt_packed_floats(above, d), sizeof *packed);
        IKT_TRY(work.status);
        IKT_TRY(p->held.status);
        find_means(x, count, d, means);
        ikt_pack_rows(means, above, d, packed);
        p->packed[l + 1] = packed;
        p->count[l + 1] = above;
        p->levels = l + 2;
        x = means;
    }
    return IKT_OK;
}

/* The least of the values of all centres but one, and whose it is. */
static void take_least(const float *value, int64_t count, int64_t own, int64_t first, float *least,
                       int64_t *nearest) {
    for (int64_t j = 0; j < count; j++)
        if (value[j] < *least && first + j != own) {
            *least = value[j];
            *nearest = first + j;
        }
}

/* LOCAL. Whether bytes lead to centres that are about as near as those that floats lead to: of some
 * centres, the nearest other one by bytes is looked for among all. */
static ikt_status try_bytes(ikt_pyramid *p, const float *centre) {
    const int64_t d = p->d, count = p->count[0], tried = ikt_smaller(TRIED, count);
    const int64_t vectors = p->bytes[0].vectors;
    double found[TRIED], nearest[TRIED], sum[2] = {0, 0};
    IKT_ARRAYS(work, p->held.ctx, "cells");
    byte_space *space = p->space;
    float *value = ikt_claim(&work, ikt_threads(work.ctx) * (1 + IKT_KERNEL_ROWS) * TRIED_VECTORS,
                             GROUP * sizeof *value);
    IKT_TRY(work.status);
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(work.ctx))
    for (int64_t i = 0; i < tried; i++) {
        const int thread = omp_get_thread_num();
        const int64_t own = i * count / tried;
        const float *x = centre + own * d;
        float *out = value + thread * (1 + IKT_KERNEL_ROWS) * TRIED_VECTORS * GROUP;
        float least[2] = {INFINITY, INFINITY};
        int64_t number[2] = {own, own};
        const uint32_t row = 0;
        ikt_near_bytes_rows(x, 1, d, p->mean, space[thread].word);
        for (int64_t v = 0, end; v < vectors; v = end) {
            end = ikt_smaller(v + TRIED_VECTORS, vectors);
            const int64_t now = ikt_smaller(count - v * GROUP, (end - v) * GROUP);
            p->metric->on(p->isa)->block(x, 1, p->packed[0] + v * GROUP * d, now, d, out);
            take_least(out, now, own, v * GROUP, &least[0], &number[0]);
            ikt_near_bytes_kernel_for(p->isa)->score_chosen(
                space[thread].word, &row, 1, &p->bytes[0], v, end, out, TRIED_VECTORS * GROUP);
            take_least(out, now, own, v * GROUP, &least[1], &number[1]);
        }
        nearest[i] = p->metric->exact(x, centre + number[0] * d, d);
        found[i] = p->metric->exact(x, centre + number[1] * d, d);
    }
    for (int64_t i = 0; i < tried; i++) {
        sum[0] += nearest[i];
        sum[1] += found[i];
    }
    p->has_bytes = sum[1] <= farther_most * sum[0] && sum[1] < INFINITY;
    ikt_log(work.ctx, IKT_LOG_DETAIL,
            "cells: centres are found by %s; those that bytes find are %.3f %% farther",
            p->has_bytes ? "bytes" : "floats", 100 * (sum[1] / sum[0] - 1));
    return IKT_OK;
}

/* LOCAL. */
static ikt_status create_spaces(ikt_pyramid *p) {
    const int64_t words = ikt_near_bytes_words(p->d);
    p->together = ikt_larger(ikt_smaller(TOGETHER, TOGETHER_BYTES / 4 / words), IKT_KERNEL_ROWS);
    p->space = ikt_claim(&p->held, ikt_threads(p->held.ctx), sizeof *p->space);
    for (byte_space *w = p->space; w && w < p->space + ikt_threads(p->held.ctx); w++) {
        w->word = ikt_claim(&p->held, p->together * words, sizeof *w->word);
        w->near = ikt_claim(&p->held, p->together, sizeof *w->near);
        w->group = ikt_claim(&p->held, p->together * GROUPS_MOST, sizeof *w->group);
        w->start = ikt_claim(&p->held, groups_of(p->count[0]) + 1, sizeof *w->start);
        w->member = ikt_claim(&p->held, p->together * GROUPS_MOST, sizeof *w->member);
        w->value = ikt_claim(&p->held, (p->together + IKT_KERNEL_ROWS) * GROUP, sizeof *w->value);
    }
    return p->held.status;
}

ikt_status ikt_pyramid_create(ikt_context *ctx, const ikt_cells *cells, const float *mean,
                              ikt_pyramid **out) {
    ikt_pyramid *p IKT_AT_END(ikt_pyramid_destroy) = NULL;
    *out = NULL;
    IKT_TRY(ikt_alloc(ctx, &p, 1, sizeof *p, "cells"));
    *p = (ikt_pyramid){.metric = cells->metric,
                       .isa = ikt_cpu_isa(),
                       .d = cells->d,
                       .levels = 1,
                       .followed = mean ? FOLLOWED_BY_BYTES : FOLLOWED,
                       .count = {cells->count},
                       .packed = {cells->packed},
                       .held = ikt_arrays_of(ctx, "cells")};
    const bool is_tried = !mean && cells->d >= IKT_BYTES_WORTH &&
                          ikt_bytes_suit(false, p->metric != &ikt_metric_euclidean, p->d);
    p->mean = mean;
    p->has_bytes = mean != NULL;
    if (is_tried) {
        float *own = ikt_claim(&p->held, p->d, sizeof *own);
        IKT_TRY(p->held.status);
        ikt_near_bytes_mean(ctx, cells->centre, p->count[0], p->d, own);
        p->mean = own;
    }
    if (p->mean) IKT_TRY(create_spaces(p));
    IKT_TRY(create_levels(p, cells->centre));
    if (is_tried) IKT_TRY(try_bytes(p, cells->centre));
    return ikt_give(out, p);
}

void ikt_pyramid_destroy(ikt_pyramid **pyramid) {
    if (*pyramid) ikt_arrays_free(&(*pyramid)->held);
    ikt_free(pyramid);
}

/* --- a level ---------------------------------------------------------------------------------- */

static void begin_nodes(near_nodes *n, int32_t most) {
    n->count = 0;
    n->most = most;
    n->limit = INFINITY;
}

/* Offers a row the nodes of a group. */
static void offer_group(near_nodes *n, const float *value, int64_t first, int64_t size) {
    for (int64_t i = 0; i < size; i++) {
        if (value[i] > n->limit) continue;
        const ikt_pair pair = ikt_pair_make(value[i], (uint32_t)(first + i));
        if (n->count == n->most && pair >= n->node[n->count - 1]) continue;
        int32_t to = n->count < n->most ? n->count++ : n->count - 1;
        for (; to > 0 && n->node[to - 1] > pair; to--)
            n->node[to] = n->node[to - 1];
        n->node[to] = pair;
        if (n->count == n->most) n->limit = ikt_pair_value(n->node[n->count - 1]);
    }
}

/* How many nodes of a level a row keeps. */
static int32_t kept_of(const ikt_pyramid *p, int level) {
    return level > 0 ? p->followed : 1;
}

/* --- one row, by floats ----------------------------------------------------------------------- */

/* The number of a centre near to row [d]. */
static uint32_t find_one(const ikt_pyramid *p, const float *row) {
    const int64_t d = p->d;
    int64_t groups = groups_of(p->count[p->levels - 1]);
    near_nodes near = {.count = 0};
    for (int level = p->levels - 1; level >= 0; level--) {
        float distance[GROUPS_MOST * GROUP];
        const float *packed[GROUPS_MOST] = {NULL};
        int64_t group[GROUPS_MOST];
        for (int64_t g = 0; g < groups; g++) {
            group[g] = level == p->levels - 1 ? g : ikt_pair_number(near.node[g]);
            packed[g] = p->packed[level] + group[g] * d * GROUP;
        }
        p->metric->on(p->isa)->groups(row, packed, groups, d, distance);
        begin_nodes(&near, kept_of(p, level));
        for (int64_t g = 0; g < groups; g++)
            offer_group(&near, distance + g * GROUP, group[g] * GROUP,
                        group_size(p->count[level], group[g]));
        groups = near.count;
    }
    return ikt_pair_number(near.node[0]);
}

/* --- many rows, by bytes ---------------------------------------------------------------------- */

/* The rows that want each group of a level, group by group. */
static void gather_members(byte_space *w, int64_t rows, int64_t groups) {
    memset(w->start, 0, (size_t)(groups + 1) * sizeof *w->start);
    for (int64_t r = 0; r < rows; r++)
        for (int32_t e = 0; e < w->near[r].count; e++)
            w->start[w->group[r * GROUPS_MOST + e] + 1]++;
    for (int64_t g = 0; g < groups; g++)
        w->start[g + 1] += w->start[g];
    for (int64_t r = 0; r < rows; r++)
        for (int32_t e = 0; e < w->near[r].count; e++)
            w->member[w->start[w->group[r * GROUPS_MOST + e]]++] = (uint32_t)r;
    for (int64_t g = groups; g > 0; g--) /* filling has moved them on */
        w->start[g] = w->start[g - 1];
    w->start[0] = 0;
}

/* The centres near to rows as words [rows * words]. */
static void find_many(const ikt_pyramid *p, byte_space *w, const int32_t *word, int64_t rows,
                      uint32_t *found) {
    const int64_t top = groups_of(p->count[p->levels - 1]);
    for (int64_t r = 0; r < rows; r++) {
        w->near[r].count = (int32_t)top;
        for (int64_t g = 0; g < top; g++)
            w->group[r * GROUPS_MOST + g] = (int32_t)g;
    }
    for (int level = p->levels - 1; level >= 0; level--) {
        const int64_t groups = groups_of(p->count[level]);
        gather_members(w, rows, groups);
        for (int64_t r = 0; r < rows; r++)
            begin_nodes(&w->near[r], kept_of(p, level));
        for (int64_t g = 0; g < groups; g++) {
            const uint32_t *row = w->member + w->start[g];
            const int64_t count = w->start[g + 1] - w->start[g];
            if (count == 0) continue;
            ikt_near_bytes_kernel_for(p->isa)->score_chosen(word, row, count, &p->bytes[level], g,
                                                            g + 1, w->value, GROUP);
            for (int64_t i = 0; i < count; i++)
                offer_group(&w->near[row[i]], w->value + i * GROUP, g * GROUP,
                            group_size(p->count[level], g));
        }
        for (int64_t r = 0; r < rows; r++)
            for (int32_t e = 0; e < w->near[r].count; e++)
                w->group[r * GROUPS_MOST + e] = (int32_t)ikt_pair_number(w->near[r].node[e]);
    }
    for (int64_t r = 0; r < rows; r++)
        found[r] = ikt_pair_number(w->near[r].node[0]);
}

void ikt_pyramid_find(const ikt_pyramid *p, const float *x, const int32_t *word, int64_t count,
                      uint32_t *found) {
    const int64_t words = ikt_near_bytes_words(p->d);
    const int64_t share = ikt_divide_up(count, ikt_threads(p->held.ctx));
    const int64_t together =
        p->has_bytes ? ikt_smaller(p->together, ikt_larger(share, IKT_KERNEL_ROWS)) : FOUND_APART;
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(p->held.ctx))
    for (int64_t first = 0; first < count; first += together) {
        const int64_t rows = ikt_smaller(together, count - first);
        byte_space *w = p->has_bytes ? &p->space[omp_get_thread_num()] : NULL;
        if (word) {
            find_many(p, w, word + first * words, rows, found + first);
        } else if (w) {
            ikt_near_bytes_rows(x + first * p->d, rows, p->d, p->mean, w->word);
            find_many(p, w, w->word, rows, found + first);
        } else {
            for (int64_t i = first; i < first + rows; i++)
                found[i] = find_one(p, x + i * p->d);
        }
    }
}

int64_t ikt_pyramid_compared(int64_t count, bool has_mean) {
    int64_t compared = 0;
    for (; count > TOP_MOST; count = groups_of(count))
        compared += (has_mean ? FOLLOWED_BY_BYTES : FOLLOWED) * GROUP;
    return compared + count;
}
