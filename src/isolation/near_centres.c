/* Centres by coarse cell. See near_centres.h. */
#include "isolation/near_centres.h"

#include <string.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/rng.h"
#include "base/select.h"
#include "dist/rows.h"
#include "dist/shuffle.h"

enum {
    CENTRES_A_CELL = 64, /* four vectors of centres: a finer cell is more exact, but costs more */
    CELLS_MOST = 65536,  /* every rank holds them all, and brings them into order alone */
    CELLS_A_GROUP = 64,
    ROUNDS = 2,   /* in which centres choose anew among means */
    FEW_ROWS = 32 /* that are compared at a time: several for each pack of cells */
};

static const char purpose[] = "centres";

int64_t ikt_near_centres_cells(int64_t count) {
    const int64_t cells = count / CENTRES_A_CELL;
    return cells > CELLS_MOST ? CELLS_MOST : cells < 1 ? 1 : cells;
}

int64_t ikt_near_centres_groups(int64_t count) {
    return (ikt_near_centres_cells(count) + CELLS_A_GROUP - 1) / CELLS_A_GROUP;
}

static void copy_as_floats(const void *x, bool is_u8, int64_t first, int64_t count, float *out) {
    for (int64_t e = 0; e < count; e++)
        out[e] = is_u8 ? ((const uint8_t *)x)[first + e] : ((const float *)x)[first + e];
}

/* --- the cells of rows ------------------------------------------------------------------------ */

/* Columns of a block of distances: to all groups, or to the cells of one, which may begin within a
 * pack. */
static int64_t finder_columns(const ikt_near_centres *near) {
    int64_t most = near->groups;
    for (int64_t g = 0; g < near->groups; g++) {
        const int64_t cells = near->group_first[g + 1] - near->group_first[g];
        if (cells > most) most = cells;
    }
    return ikt_packed_rows(most) + IKT_PACK_ROWS;
}

void ikt_cell_finder_create(ikt_arrays *held, const ikt_near_centres *near, int64_t groups,
                            ikt_cell_finder *out) {
    const int64_t pairs = IKT_FINDER_ROWS * groups, d = near->d;
    out->groups = groups;
    out->x = ikt_claim(held, IKT_FINDER_ROWS * d, sizeof *out->x);
    out->some = ikt_claim(held, FEW_ROWS * d, sizeof *out->some);
    out->distance = ikt_claim(held, FEW_ROWS * finder_columns(near), sizeof *out->distance);
    out->group = ikt_claim(held, pairs, sizeof *out->group);
    out->order = ikt_claim(held, pairs, sizeof *out->order);
    out->first = ikt_claim(held, near->groups + 1, sizeof *out->first);
    out->best = ikt_claim(held, IKT_FINDER_ROWS, sizeof *out->best);
}

int64_t ikt_cell_finder_bytes(int64_t count, int64_t d) {
    const int64_t groups = ikt_near_centres_groups(count), number = sizeof(float);
    const int64_t columns = groups + 4 * CELLS_A_GROUP; /* groups differ in size */
    return IKT_FINDER_ROWS * (d * number + 2 * IKT_FINDER_GROUPS * number + 8) +
           FEW_ROWS * (d + columns) * number + (groups + 1) * 8;
}

/* The nearest `wanted` of the groups, in order; returns how many. `pair`: memory for finding them.
 */
static int64_t nearest_groups(const ikt_near_centres *near, const float *distance, int64_t wanted,
                              ikt_pair pair[IKT_SELECT_CAPACITY * IKT_FINDER_GROUPS]) {
    ikt_select nearest;
    ikt_select_begin(&nearest, near->isa, wanted, pair);
    ikt_select_floats(&nearest, -1, 0, near->groups, distance);
    ikt_select_end(&nearest);
    ikt_pairs_sort(pair, nearest.count);
    return nearest.count;
}

/* The nearest of the cells first .. end - 1, with its distance; UINT64_MAX where there is none. */
static ikt_pair nearest_cell(const ikt_near_centres *near, const float *distance, int64_t first,
                             int64_t end) {
    ikt_pair pair[IKT_SELECT_CAPACITY] = {UINT64_MAX};
    ikt_select nearest;
    ikt_select_begin(&nearest, near->isa, 1, pair);
    ikt_select_floats(&nearest, -1, first, end - first, distance);
    ikt_select_end(&nearest);
    return pair[0];
}

/* Notes the groups that are nearest to each row; returns how many for each. */
static int64_t find_groups(const ikt_near_centres *near, ikt_cell_finder *f, int64_t count) {
    const int64_t stride = ikt_packed_rows(near->groups);
    int64_t found = 0;
    for (int64_t r = 0; r < count; r += FEW_ROWS) {
        const int64_t rows = count - r < FEW_ROWS ? count - r : FEW_ROWS;
        near->metric->on(near->isa)->block(f->x + r * near->d, rows, near->group_packed,
                                           near->groups, near->d, f->distance);
        for (int64_t i = 0; i < rows; i++) {
            ikt_pair pair[IKT_SELECT_CAPACITY * IKT_FINDER_GROUPS];
            found = nearest_groups(near, f->distance + i * stride, f->groups, pair);
            for (int64_t e = 0; e < found; e++)
                f->group[(r + i) * found + e] = ikt_pair_number(pair[e]);
        }
    }
    return found;
}

/* Compares some rows with the cells of a group.
 *   pair    [rows] numbers of pairs of a row and a group, `each` for a row */
static void compare_cells(const ikt_near_centres *near, ikt_cell_finder *f, int64_t group,
                          const uint32_t *pair, int64_t rows, int64_t each) {
    const int64_t first = near->group_first[group], end = near->group_first[group + 1];
    const int64_t from = first / IKT_PACK_ROWS * IKT_PACK_ROWS, d = near->d;
    const int64_t stride = ikt_packed_rows(end - from);
    for (int64_t i = 0; i < rows; i++)
        memcpy(f->some + i * d, f->x + pair[i] / each * d, (size_t)d * sizeof *f->x);
    near->metric->on(near->isa)->block(f->some, rows, near->packed + from * d, end - from, d,
                                       f->distance);
    for (int64_t i = 0; i < rows; i++) {
        ikt_pair *best = &f->best[pair[i] / each];
        const ikt_pair here =
            nearest_cell(near, f->distance + i * stride + first - from, first, end);
        if (here < *best) *best = here;
    }
}

void ikt_cell_finder_find(const ikt_near_centres *near, ikt_cell_finder *f, const void *rows,
                          bool is_u8, int64_t count, uint32_t *cell) {
    copy_as_floats(rows, is_u8, 0, count * near->d, f->x);
    for (int64_t r = 0; r < count; r++)
        f->best[r] = UINT64_MAX;
    const int64_t each = find_groups(near, f, count);
    ikt_order_by_group(f->group, count * each, near->groups, f->first, f->order);
    for (int64_t g = 0; g < near->groups; g++)
        for (int64_t at = f->first[g]; at < f->first[g + 1]; at += FEW_ROWS) {
            const int64_t left = f->first[g + 1] - at;
            compare_cells(near, f, g, f->order + at, left < FEW_ROWS ? left : FEW_ROWS, each);
        }
    for (int64_t r = 0; r < count; r++)
        cell[r] = ikt_pair_number(f->best[r]);
}

/* --- the order -------------------------------------------------------------------------------- */

/* LOCAL. Brings cells in an order of locality into that of their groups. Every so many cells one is
 * the centre of a group.
 *   x        [cells * d] the centres of the cells by number
 *   sorted   [cells] their numbers in the order of locality
 *   order    [cells], receives them in the order of groups */
static ikt_status group_cells(ikt_context *ctx, const float *x, const uint32_t *sorted,
                              uint32_t *order, ikt_near_centres *near) {
    const int64_t cells = near->cells, groups = near->groups, d = near->d;
    IKT_ARRAYS(held, ctx, purpose);
    const float **row = ikt_claim(&held, groups, sizeof *row);
    float *distance = ikt_claim(&held, ikt_packed_rows(groups), sizeof *distance);
    uint32_t *group = ikt_claim(&held, cells, sizeof *group);
    IKT_TRY(held.status);
    for (int64_t g = 0; g < groups; g++) {
        near->group_drawn[g] = sorted[g * cells / groups];
        row[g] = x + near->group_drawn[g] * d;
    }
    ikt_pack_rows_from(row, groups, d, near->group_packed);
    for (int64_t i = 0; i < cells; i++) {
        ikt_pair nearest[IKT_SELECT_CAPACITY * IKT_FINDER_GROUPS];
        near->metric->on(near->isa)->block(x + sorted[i] * d, 1, near->group_packed, groups, d,
                                           distance);
        nearest_groups(near, distance, 1, nearest);
        group[i] = ikt_pair_number(nearest[0]);
    }
    ikt_order_by_group(group, cells, groups, near->group_first, order);
    for (int64_t i = 0; i < cells; i++)
        order[i] = sorted[order[i]];
    return IKT_OK;
}

static ikt_status allocate(ikt_context *ctx, bool has_means, ikt_near_centres *near) {
    const int64_t cells = near->cells, groups = near->groups, count = near->count, d = near->d;
    const int64_t packed = ikt_packed_floats(cells, d);
    const int64_t group_packed = ikt_packed_floats(groups, d);
    ikt_arrays *held = &near->held;
    *held = ikt_arrays_of(ctx, purpose);
    near->first = ikt_claim(held, cells + 1, sizeof *near->first);
    near->number = ikt_claim(held, count, sizeof *near->number);
    near->place = ikt_claim(held, count, sizeof *near->place);
    near->drawn = ikt_claim(held, cells, sizeof *near->drawn);
    near->packed = ikt_claim(held, packed, sizeof *near->packed);
    near->group_first = ikt_claim(held, groups + 1, sizeof *near->group_first);
    near->group_drawn = ikt_claim(held, groups, sizeof *near->group_drawn);
    near->group_packed = ikt_claim(held, group_packed, sizeof *near->group_packed);
    if (has_means) near->mean = ikt_claim(held, cells * d, sizeof *near->mean);
    return held->status;
}

/* LOCAL. Draws the centres of the cells and of their groups, and brings them into order. */
static ikt_status draw_cells(ikt_context *ctx, const void *x, bool is_u8, uint64_t seed,
                             ikt_near_centres *near) {
    const int64_t cells = near->cells, d = near->d, slots = ikt_draw_slots(cells);
    IKT_ARRAYS(held, ctx, purpose);
    int64_t *slot = ikt_claim(&held, slots, sizeof *slot);
    int64_t *drawn = ikt_claim(&held, cells, sizeof *drawn);
    uint32_t *sorted = ikt_claim(&held, cells, sizeof *sorted);
    uint32_t *order = ikt_claim(&held, cells, sizeof *order);
    const float **row = ikt_claim(&held, cells, sizeof *row);
    float *dense = ikt_claim(&held, cells * d, sizeof *dense);
    IKT_TRY(held.status);
    ikt_draw_subset(seed, IKT_RNG_CELLS, 0, near->count, cells, slot, slots, drawn);
    for (int64_t c = 0; c < cells; c++)
        copy_as_floats(x, is_u8, drawn[c] * d, d, dense + c * d);
    IKT_TRY(ikt_locality_order(ctx, dense, NULL, cells, d, sorted));
    IKT_TRY(group_cells(ctx, dense, sorted, order, near));
    for (int64_t g = 0; g < near->groups; g++)
        near->group_drawn[g] = (uint32_t)drawn[near->group_drawn[g]];
    for (int64_t c = 0; c < cells; c++) {
        near->drawn[c] = (uint32_t)drawn[order[c]];
        row[c] = dense + order[c] * d;
        if (near->mean) memcpy(near->mean + c * d, row[c], (size_t)d * sizeof *dense);
    }
    ikt_pack_rows_from(row, cells, d, near->packed);
    return IKT_OK;
}

/* COLLECTIVE. Gives every centre its cell, each rank a share of them, and its place.
 *   groups   see ikt_cell_finder_create */
static ikt_status place_centres(ikt_context *ctx, const void *x, bool is_u8, int64_t groups,
                                ikt_near_centres *near) {
    const ikt_rows share = ikt_rows_make(near->count, ikt_size(ctx), ikt_rank(ctx));
    const int64_t bytes = near->d * ikt_held_bytes(is_u8);
    const int threads = ikt_threads(ctx);
    uint32_t *cell IKT_AT_END(ikt_free) = NULL;
    IKT_ARRAYS(held, ctx, purpose);
    uint32_t *own = ikt_claim(&held, share.count, sizeof *own);
    ikt_cell_finder *finder = ikt_claim(&held, threads, sizeof *finder);
    for (int i = 0; finder && i < threads; i++)
        ikt_cell_finder_create(&held, near, groups, &finder[i]);
    IKT_TRY(ikt_arrays_agree(&held));
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t i = 0; i < share.count; i += IKT_FINDER_ROWS)
        ikt_cell_finder_find(
            near, &finder[omp_get_thread_num()], (const char *)x + (share.first + i) * bytes, is_u8,
            share.count - i < IKT_FINDER_ROWS ? share.count - i : IKT_FINDER_ROWS, own + i);
    IKT_TRY(ikt_share_rows(ctx, &share, own, sizeof *own, purpose, &cell));
    ikt_order_by_group(cell, near->count, near->cells, near->first, near->number);
    for (int64_t at = 0; at < near->count; at++)
        near->place[near->number[at]] = (uint32_t)at;
    return IKT_OK;
}

/* LOCAL. The means of the cells, by all threads: sums in the order of the centres' numbers. A cell
 * without centres stays where it was.
 *   x   [count * d] the centres by number */
static ikt_status find_means(ikt_context *ctx, const float *x, ikt_near_centres *near) {
    const int64_t d = near->d;
    const int threads = ikt_threads(ctx);
    IKT_ARRAYS(held, ctx, purpose);
    double *sums = ikt_claim(&held, threads * d, sizeof *sums);
    IKT_TRY(held.status);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t c = 0; c < near->cells; c++) {
        const int64_t first = near->first[c], end = near->first[c + 1];
        double *sum = sums + omp_get_thread_num() * d;
        memset(sum, 0, (size_t)d * sizeof *sum);
        for (int64_t at = first; at < end; at++)
            for (int64_t k = 0; k < d; k++)
                sum[k] += (double)x[near->number[at] * d + k];
        for (int64_t k = 0; first < end && k < d; k++)
            near->mean[c * d + k] = (float)(sum[k] / (double)(end - first));
    }
    return IKT_OK;
}

/* LOCAL. The means become what is chosen by, and are brought into an order again: groups are drawn
 * from them. */
static ikt_status choose_by_means(ikt_context *ctx, ikt_near_centres *near) {
    const int64_t cells = near->cells, d = near->d;
    IKT_ARRAYS(held, ctx, purpose);
    uint32_t *sorted = ikt_claim(&held, cells, sizeof *sorted);
    uint32_t *order = ikt_claim(&held, cells, sizeof *order);
    float *mean = ikt_claim(&held, cells * d, sizeof *mean);
    IKT_TRY(held.status);
    memcpy(mean, near->mean, (size_t)(cells * d) * sizeof *mean);
    for (int64_t c = 0; c < cells; c++)
        sorted[c] = (uint32_t)c;
    IKT_TRY(group_cells(ctx, mean, sorted, order, near));
    for (int64_t c = 0; c < cells; c++) {
        sorted[order[c]] = (uint32_t)c; /* where each cell is now */
        memcpy(near->mean + c * d, mean + order[c] * d, (size_t)d * sizeof *mean);
    }
    for (int64_t g = 0; g < near->groups; g++)
        near->group_drawn[g] = sorted[near->group_drawn[g]];
    ikt_pack_rows(near->mean, cells, d, near->packed);
    return IKT_OK;
}

/* COLLECTIVE. Some rounds of k-means. */
static ikt_status move_cells(ikt_context *ctx, const float *x, ikt_near_centres *near) {
    for (int round = 0; round < ROUNDS; round++) {
        ikt_status st = find_means(ctx, x, near);
        if (st == IKT_OK) st = choose_by_means(ctx, near);
        IKT_TRY(ikt_agree(ctx, st));
        const bool is_last = round + 1 == ROUNDS;
        IKT_TRY(place_centres(ctx, x, false, is_last ? IKT_FINDER_GROUPS : IKT_FINDER_FEW, near));
    }
    return ikt_agree(ctx, find_means(ctx, x, near));
}

ikt_status ikt_near_centres_create(ikt_context *ctx, const ikt_metric *metric, const void *x,
                                   bool is_u8, int64_t count, int64_t d, uint64_t seed,
                                   int64_t candidates, bool has_means, ikt_near_centres *out) {
    ikt_near_centres made IKT_AT_END(ikt_near_centres_destroy) = {
        .metric = metric,
        .isa = ikt_cpu_isa(),
        .count = count,
        .d = d,
        .cells = ikt_near_centres_cells(count),
        .groups = ikt_near_centres_groups(count),
        .candidates = candidates < count ? candidates : count};
    *out = (ikt_near_centres){0};
    ikt_status st = allocate(ctx, has_means, &made);
    if (st == IKT_OK) st = draw_cells(ctx, x, is_u8, seed, &made);
    IKT_TRY(ikt_agree(ctx, st));
    IKT_TRY(place_centres(ctx, x, is_u8, has_means ? IKT_FINDER_FEW : IKT_FINDER_GROUPS, &made));
    if (has_means) IKT_TRY(move_cells(ctx, x, &made));
    return ikt_give(out, made);
}

void ikt_near_centres_destroy(ikt_near_centres *near) {
    ikt_arrays_free(&near->held);
    *near = (ikt_near_centres){0};
}

int64_t ikt_near_centres_bytes(int64_t count, int64_t d) {
    const int64_t cells = ikt_near_centres_cells(count), groups = ikt_near_centres_groups(count);
    const int64_t number = sizeof(uint32_t), wide = sizeof(int64_t);
    /* In the order: numbers and places, the cells of the centres on the way; cells and groups,
     * packed, as means and, on the way, as rows, with what draws and orders them. */
    return count * 3 * number + cells * (d * 3 * (int64_t)sizeof(float) + 4 * number + 6 * wide) +
           groups * (d * (int64_t)sizeof(float) + number + 2 * wide);
}
