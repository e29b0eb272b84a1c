/* The distinct centres of a model in the order of coarse cells, and which of them are near.
 *
 * Some of the centres are drawn as those of coarse cells, which stand in an order in which near
 * ones are near (cells/cells.h); each centre belongs to a near coarse cell. A centre's number along
 * the cells is its *place*. A row is compared with the centres of the cells that are nearest to its
 * own, a few thousand of them in place of all (codes_lists.c), and the place of the centre nearest
 * to a row says where the row lies among the others (neighbours/fine_search.c). Advantage: what a
 * row is compared with depends on its coarse cell alone, so the same centres serve many rows, in
 * cache, on any rank. Disadvantage: a row at the rim of its cell shares the centres of the rows in
 * the middle, so that a nearest centre may be missed.
 */
#ifndef IKT_ISOLATION_NEAR_CENTRES_H
#define IKT_ISOLATION_NEAR_CENTRES_H

#include <stdbool.h>

#include "cells/cells.h"

typedef struct {
    int64_t count, d;     /* centres, columns */
    int64_t cells;        /* coarse cells */
    int64_t *first;       /* [cells + 1] first place of each cell */
    uint32_t *number;     /* [count] number of the centre at each place */
    uint32_t *place;      /* [count] place of each centre */
    float *packed;        /* the centres of the cells, packed, in their order */
    ikt_pyramid *pyramid; /* finds the cell of a row */
    int64_t candidates;   /* centres that a row is compared with, about; 0: all */
    int64_t probes;       /* cells that a row is compared with, at most; 0: all */
    uint32_t *probe;      /* [cells * probes] the nearest cells of each, itself first; what is not
                             needed is UINT32_MAX */
} ikt_near_centres;

/* COLLECTIVE. Orders the centres.
 *   metric       of the rows
 *   x            [count * d] the centres by number, the same on all ranks: bytes or floats
 *   seed         of the draw of coarse centres
 *   candidates   centres that a row is compared with, about; 0: all of them
 *   out          free with ikt_near_centres_destroy; empty on failure
 * Errors: IKT_ERR_RESOURCE. Cost: each rank finds the cells of its share of the centres, and the
 * nearest cells of its share of the cells. */
ikt_status ikt_near_centres_create(ikt_context *ctx, const ikt_metric *metric, const void *x,
                                   bool is_u8, int64_t count, int64_t d, uint64_t seed,
                                   int64_t candidates, ikt_near_centres *out);
void ikt_near_centres_destroy(ikt_near_centres *near);

/* LOCAL, called from several threads. The coarse cell of a row.
 *   row       [d] bytes or floats
 *   scratch   [d], used for bytes */
int64_t ikt_near_centres_cell(const ikt_near_centres *near, const void *row, bool is_u8,
                              float *scratch);

/* LOCAL, pure. Coarse cells of `count` centres; bytes that the order takes on a rank. */
int64_t ikt_near_centres_cells(int64_t count);
int64_t ikt_near_centres_bytes(int64_t count, int64_t d, int64_t candidates);

#endif
