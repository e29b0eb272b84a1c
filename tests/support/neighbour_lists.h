/* Neighbour lists made in one call, without checkpoints: exact ones, by search, refined. */
#ifndef IKT_TEST_NEIGHBOUR_LISTS_H
#define IKT_TEST_NEIGHBOUR_LISTS_H

#include "base/row_hash.h"
#include "neighbours/exact.h"
#include "neighbours/search.h"
#include "support/ikt_test.h"

/* Sorted lists of all pairs. */
static inline ikt_status exact_lists(ikt_context *ctx, const ikt_scorer *scorer, int64_t k,
                                     ikt_neighbours *out) {
    ikt_list_course course = {.lists = out};
    IKT_TRY(ikt_agree(ctx, ikt_neighbours_create(ctx, &scorer->rows, k, out)));
    IKT_TRY(ikt_neighbours_exact(ctx, scorer, &course));
    ikt_neighbours_sort(ctx, out);
    return IKT_OK;
}

static inline ikt_status search_lists(ikt_context *ctx, const ikt_cells *cells,
                                      const ikt_tiles *tiles, int64_t k, int64_t candidates,
                                      ikt_neighbours *out) {
    ikt_list_course course = {.lists = out};
    IKT_TRY(ikt_agree(ctx, ikt_neighbours_create(ctx, &tiles->scorer.rows, k, out)));
    return ikt_neighbours_search(ctx, cells, tiles, candidates, &course);
}

static inline ikt_status refine_lists(ikt_context *ctx, ikt_tiles *tiles, ikt_neighbours *lists) {
    ikt_list_course course = {.lists = lists};
    const ikt_status st = ikt_neighbours_refine(ctx, tiles, &course);
    ikt_list_course_end(&course);
    return st;
}

static inline uint64_t hash_lists(ikt_context *ctx, const ikt_neighbours *lists, int64_t first) {
    uint64_t rows =
        ikt_row_hash(ctx, lists->row, first, lists->n_local, (size_t)lists->k * sizeof *lists->row);
    uint64_t scores = ikt_row_hash(ctx, lists->score, first, lists->n_local,
                                   (size_t)lists->k * sizeof *lists->score);
    return rows * 31 + scores;
}

#endif
