/* Centres by coarse cell. See near_centres.h. */
#include "isolation/near_centres.h"

#include <string.h>

#include <omp.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "dist/rows.h"
#include "dist/shuffle.h"

enum {
    CENTRES_A_CELL = 96, /* the rows of a tile of lists: many share what they are compared with */
    CELLS_MOST = 16384,  /* every cell is compared with every other */
    PROBES_FACTOR = 4    /* cells that may be needed beside the average number: some are small */
};

static const char purpose[] = "centres";

int64_t ikt_near_centres_cells(int64_t count) {
    const int64_t cells = count / CENTRES_A_CELL;
    return cells > CELLS_MOST ? CELLS_MOST : cells < 1 ? 1 : cells;
}

/* Cells that a row is compared with, at most. */
static int64_t probes_of(int64_t count, int64_t candidates) {
    const int64_t cells = ikt_near_centres_cells(count);
    const int64_t wanted = PROBES_FACTOR * (candidates * cells / count + 1) + PROBES_FACTOR;
    return candidates == 0 ? 0 : wanted < cells ? wanted : cells;
}

static const float *float_row(const void *x, bool is_u8, int64_t row, int64_t d, float *scratch) {
    if (!is_u8) return (const float *)x + row * d;
    for (int64_t k = 0; k < d; k++)
        scratch[k] = ((const uint8_t *)x)[row * d + k];
    return scratch;
}

int64_t ikt_near_centres_cell(const ikt_near_centres *near, const void *row, bool is_u8,
                              float *scratch) {
    return ikt_pyramid_find(near->pyramid, float_row(row, is_u8, 0, near->d, scratch));
}

/* LOCAL. Draws the centres of the cells, brings them into order and makes what finds cells.
 *   dense   receives [cells * d] the centres of the cells in their order */
static ikt_status draw_cells(ikt_context *ctx, const ikt_metric *metric, const void *x, bool is_u8,
                             uint64_t seed, ikt_near_centres *near, float *dense) {
    const int64_t cells = near->cells, d = near->d, slots = ikt_draw_slots(cells);
    int64_t *slot = NULL, *drawn = NULL;
    uint32_t *order = NULL;
    float *unordered = NULL;
    ikt_status st = ikt_alloc(ctx, &slot, slots, sizeof *slot, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &drawn, cells, sizeof *drawn, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &order, cells, sizeof *order, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &unordered, cells * d, sizeof *unordered, purpose);
    if (st == IKT_OK) {
        ikt_draw_subset(seed, IKT_RNG_CELLS, 0, near->count, cells, slot, slots, drawn);
        for (int64_t c = 0; c < cells; c++) {
            const float *row = float_row(x, is_u8, drawn[c], d, unordered + c * d);
            if (!is_u8) memcpy(unordered + c * d, row, (size_t)d * sizeof *row);
        }
        st = ikt_locality_order(ctx, unordered, NULL, cells, d, order);
    }
    for (int64_t c = 0; st == IKT_OK && c < cells; c++)
        memcpy(dense + c * d, unordered + order[c] * d, (size_t)d * sizeof *dense);
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &near->packed, ikt_packed_floats(cells, d), sizeof *dense, purpose);
    if (st == IKT_OK) {
        ikt_pack_rows(dense, cells, d, near->packed);
        st = ikt_pyramid_create(ctx, metric, near->packed, cells, d, &near->pyramid);
    }
    ikt_free(&slot);
    ikt_free(&drawn);
    ikt_free(&order);
    ikt_free(&unordered);
    return st;
}

/* COLLECTIVE. Gives every centre its cell, each rank a share of them, and its place. */
static ikt_status place_centres(ikt_context *ctx, const void *x, bool is_u8,
                                ikt_near_centres *near) {
    const ikt_rows share = ikt_rows_make(near->count, ikt_size(ctx), ikt_rank(ctx));
    const int64_t d = near->d, element = is_u8 ? 1 : (int64_t)sizeof(float);
    uint32_t *own = NULL, *cell = NULL;
    float *scratch = NULL;
    ikt_status st = ikt_alloc(ctx, &own, share.count, sizeof *own, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &scratch, ikt_threads(ctx) * d, sizeof *scratch, purpose);
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &near->first, near->cells + 1, sizeof *near->first, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &near->number, near->count, sizeof(uint32_t), purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &near->place, near->count, sizeof(uint32_t), purpose);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
#pragma omp parallel for schedule(dynamic, 256) num_threads(ikt_threads(ctx))
        for (int64_t i = 0; i < share.count; i++)
            own[i] = (uint32_t)ikt_near_centres_cell(
                near, (const char *)x + (share.first + i) * d * element, is_u8,
                scratch + omp_get_thread_num() * d);
        st = ikt_share_rows(ctx, &share, own, sizeof *own, purpose, &cell);
    }
    if (st == IKT_OK) {
        int64_t *first = near->first;
        for (int64_t i = 0; i < near->count; i++)
            first[cell[i] + 1]++;
        for (int64_t c = 0; c < near->cells; c++)
            first[c + 1] += first[c];
        for (int64_t i = 0; i < near->count; i++) {
            near->place[i] = (uint32_t)first[cell[i]]++;
            near->number[near->place[i]] = (uint32_t)i;
        }
        for (int64_t c = near->cells; c > 0; c--)
            first[c] = first[c - 1]; /* the loop before has moved them on */
        first[0] = 0;
    }
    ikt_free(&own);
    ikt_free(&scratch);
    ikt_free(&cell);
    return st;
}

/* The nearest cells of one cell that hold enough centres.
 *   distance   [cells] from its centre to all
 *   pair       [IKT_SELECT_CAPACITY * probes] work space */
static void choose_probes(const ikt_near_centres *near, const float *distance, ikt_pair *pair,
                          uint32_t *probe) {
    ikt_select s;
    ikt_select_begin(&s, ikt_cpu_isa(), near->probes, pair);
    ikt_select_floats(&s, -1, 0, near->cells, distance);
    ikt_select_end(&s);
    ikt_pairs_sort(s.pair, s.count);
    int64_t left = near->candidates;
    for (int64_t e = 0; e < near->probes; e++) {
        const int64_t cell = e < s.count ? ikt_pair_number(s.pair[e]) : 0;
        const bool is_wanted = e < s.count && left > 0;
        probe[e] = is_wanted ? (uint32_t)cell : UINT32_MAX;
        if (is_wanted) left -= near->first[cell + 1] - near->first[cell];
    }
}

/* COLLECTIVE. What the rows of each cell are compared with; each rank chooses for a share. */
static ikt_status find_probes(ikt_context *ctx, const ikt_metric *metric, const float *dense,
                              ikt_near_centres *near) {
    const ikt_rows share = ikt_rows_make(near->cells, ikt_size(ctx), ikt_rank(ctx));
    const int64_t probes = near->probes, stride = ikt_packed_rows(near->cells), d = near->d;
    const int64_t pairs = IKT_SELECT_CAPACITY * probes;
    const int threads = ikt_threads(ctx);
    uint32_t *own = NULL;
    float *distance = NULL;
    ikt_pair *pair = NULL;
    ikt_status st = ikt_alloc(ctx, &own, share.count * probes, sizeof *own, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &distance, threads * stride, sizeof *distance, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &pair, threads * pairs, sizeof *pair, purpose);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads)
        for (int64_t c = 0; c < share.count; c++) {
            float *all = distance + omp_get_thread_num() * stride;
            metric->block(ikt_cpu_isa(), dense + (share.first + c) * d, 1, near->packed,
                          near->cells, d, all);
            choose_probes(near, all, pair + omp_get_thread_num() * pairs, own + c * probes);
        }
        st = ikt_share_rows(ctx, &share, own, (size_t)probes * sizeof *own, purpose, &near->probe);
    }
    ikt_free(&own);
    ikt_free(&distance);
    ikt_free(&pair);
    return st;
}

ikt_status ikt_near_centres_create(ikt_context *ctx, const ikt_metric *metric, const void *x,
                                   bool is_u8, int64_t count, int64_t d, uint64_t seed,
                                   int64_t candidates, ikt_near_centres *out) {
    float *dense = NULL;
    *out = (ikt_near_centres){.count = count,
                              .d = d,
                              .cells = ikt_near_centres_cells(count),
                              .candidates = candidates < count ? candidates : 0};
    out->probes = probes_of(count, out->candidates);
    ikt_status st = ikt_alloc(ctx, &dense, out->cells * d, sizeof *dense, purpose);
    if (st == IKT_OK) st = draw_cells(ctx, metric, x, is_u8, seed, out, dense);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = place_centres(ctx, x, is_u8, out);
    if (st == IKT_OK && out->candidates > 0) st = find_probes(ctx, metric, dense, out);
    ikt_free(&dense);
    if (st != IKT_OK) ikt_near_centres_destroy(out);
    return st;
}

void ikt_near_centres_destroy(ikt_near_centres *near) {
    ikt_free(&near->first);
    ikt_free(&near->number);
    ikt_free(&near->place);
    ikt_free(&near->packed);
    ikt_pyramid_destroy(&near->pyramid);
    ikt_free(&near->probe);
    near->count = near->cells = 0;
}

int64_t ikt_near_centres_bytes(int64_t count, int64_t d, int64_t candidates) {
    const int64_t cells = ikt_near_centres_cells(count);
    /* In the order: numbers and places, the cells of the centres on the way, and of the coarse
     * centres three copies and their means. */
    return count * 3 * (int64_t)sizeof(uint32_t) + cells * (int64_t)sizeof(int64_t) +
           4 * ikt_packed_floats(cells, d) * (int64_t)sizeof(float) +
           2 * cells * probes_of(count, candidates) * (int64_t)sizeof(uint32_t);
}
