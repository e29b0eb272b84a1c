/* The distinct centres of a model in the order of coarse cells, and the cells in that of groups.
 *
 * Some of the centres are drawn as those of coarse cells, and some of the cells as those of groups;
 * each centre belongs to the nearest cell, each cell to the nearest group, and the groups stand in
 * an order in which near ones are near (cells/cells.h). In many columns the middles of cells then
 * become the means of their centres, and these choose anew, as in k-means: a drawn centre is as far
 * from all others of its cell as they are from each other, so that its distance to a row says
 * little of theirs. A centre's number along the cells is its *place*. A row looks for near centres
 * from the groups down (near_search.h), and the place of the centre nearest to a row says where the
 * row lies among the others (neighbours/fine.h).
 */
#ifndef IKT_ISOLATION_NEAR_CENTRES_H
#define IKT_ISOLATION_NEAR_CENTRES_H

#include <stdbool.h>

#include "base/arrays.h"
#include "cells/cells.h"
#include "metric/near_bytes.h"

typedef struct {
    const ikt_metric *metric; /* of the rows */
    ikt_isa isa;              /* what to compute with */
    int64_t count, d;         /* centres, columns */
    int64_t cells;            /* coarse cells */
    int64_t *first;           /* [cells + 1] first place of each cell */
    uint32_t *number;         /* [count] number of the centre at each place */
    uint32_t *place;          /* [count] place of each centre */
    uint32_t *drawn;          /* [cells] number of the centre that each cell is drawn as; of no use
                                 where cells are means */
    float *mean;              /* [cells * d] the means of the cells, or NULL: they are as drawn */
    float *packed;            /* what centres and rows choose a cell by, packed, in their order */
    int64_t groups;           /* of cells */
    int64_t *group_first;     /* [groups + 1] first cell of each group */
    uint32_t *group_drawn;    /* [groups] number of the centre that each group is drawn as; of the
                                 cell where cells are means */
    float *group_packed;      /* the same for groups */
    int64_t candidates;       /* centres that a row is compared with, about; 0 where rows do not
                                 look for near ones */
    ikt_arrays held;          /* all of these arrays */
} ikt_near_centres;

/* LOCAL, pure. Whether cells are means. Rows of few columns find nearly all near centres by drawn
 * ones; a mean of bytes is none.
 *   has_bytes   as in ikt_isolation_candidates */
static inline bool ikt_near_has_means(bool has_bytes, int64_t d) {
    return has_bytes && d >= IKT_BYTES_WORTH;
}

/* COLLECTIVE. Orders the centres.
 *   metric       of the rows, borrowed
 *   x            [count * d] the centres by number, the same on all ranks: bytes or floats
 *   seed         of the draw of coarse centres
 *   candidates   centres that a row is compared with, about; 0 where it looks for none
 *   has_means    rows of floats only
 *   out          free with ikt_near_centres_destroy; empty on failure
 * Errors: IKT_ERR_RESOURCE. Cost: each rank finds the cells of its share of the centres, three
 * times where cells are means. */
ikt_status ikt_near_centres_create(ikt_context *ctx, const ikt_metric *metric, const void *x,
                                   bool is_u8, int64_t count, int64_t d, uint64_t seed,
                                   int64_t candidates, bool has_means, ikt_near_centres *out);
void ikt_near_centres_destroy(ikt_near_centres *near);

enum {
    IKT_FINDER_ROWS = 1024, /* whose cells are found at a time: many want the same groups */
    IKT_FINDER_GROUPS = 8,  /* in which a cell is looked for that is to be the nearest */
    IKT_FINDER_FEW = 2      /* where a near one does: it is nearest for most rows */
};

/* What one thread finds the cells of rows with. */
typedef struct {
    int64_t groups;  /* in which a cell is looked for */
    float *x;        /* [IKT_FINDER_ROWS * d] the rows */
    float *some;     /* those that are compared with the cells of one group */
    float *distance; /* of each of these from all groups, or from the cells of one */
    uint32_t *group; /* [IKT_FINDER_ROWS] times the groups that each is compared with */
    uint32_t *order; /* the same, by group */
    int64_t *first;  /* [groups + 1] where each begins there */
    ikt_pair *best;  /* [IKT_FINDER_ROWS] the nearest cell so far */
} ikt_cell_finder;

/* LOCAL. Its arrays are claimed in `held`.
 *   groups   IKT_FINDER_GROUPS or IKT_FINDER_FEW */
void ikt_cell_finder_create(ikt_arrays *held, const ikt_near_centres *near, int64_t groups,
                            ikt_cell_finder *out);

/* LOCAL, called from several threads with a finder each. The coarse cell of each row: the nearest
 * in the groups that are nearest.
 *   rows    [count * d] bytes or floats, at most IKT_FINDER_ROWS
 *   cell    [count], receives them */
void ikt_cell_finder_find(const ikt_near_centres *near, ikt_cell_finder *finder, const void *rows,
                          bool is_u8, int64_t count, uint32_t *cell);

/* LOCAL, pure. Bytes of one, of `count` centres. */
int64_t ikt_cell_finder_bytes(int64_t count, int64_t d);

/* LOCAL, pure. Coarse cells of `count` centres, and groups of those; bytes that the order takes on
 * a rank. */
int64_t ikt_near_centres_cells(int64_t count);
int64_t ikt_near_centres_groups(int64_t count);
int64_t ikt_near_centres_bytes(int64_t count, int64_t d);

#endif
