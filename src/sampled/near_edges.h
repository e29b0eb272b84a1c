/* The edges from rows to their near rows, for forces that have both ends: coefficients are computed
 * by tiles where an edge begins, and added up by rows where it ends.
 *
 * Method: coefficient c of edge b of row i stands in the tile of i (pool.h), by lanes. Each row has
 * the list of the edges that end at it, by ascending global number of where they begin. Where the
 * ends have different owners, the coefficient travels: four bytes an edge that is cut, in one
 * exchange. Advantage: no addition of two threads or ranks to one number, one order of additions
 * whatever the ranks. Disadvantage: 12 bytes an edge, and a read of four bytes anywhere.
 */
#ifndef IKT_SAMPLED_NEAR_EDGES_H
#define IKT_SAMPLED_NEAR_EDGES_H

#include <stdint.h>

#include "base/status.h"
#include "dist/shuffle.h"
#include "neighbours/neighbours.h"
#include "sampled/pool.h"
#include "sampled/tile_forces.h"

typedef struct {
    ikt_rows rows;
    int64_t m;     /* edges of a row */
    int64_t tiles; /* with own rows */
    int32_t *near; /* [tiles * m * 16] local numbers of where edges end: own rows, then ghosts; of
                      lanes without own rows 0 */
    float *d;      /* [tiles * m * 16] D of the edges */
    float *c; /* [tiles * m * 16 + cut.received] coefficients of own edges, by tiles, then those
                 of other ranks' edges that end at own rows */
    ikt_edge_ends ends; /* of each own row, by ascending row where they begin */
    int64_t n_ghost;
    int64_t *ghost_row; /* [n_ghost] rows of other ranks where edges end or begin, ascending */
    ikt_shuffle cut;    /* own edges that end at rows of other ranks, to these */
    uint32_t *leaving;  /* [cut.sent] where in c */
    float *packed;      /* [cut.sent] */
} ikt_near_edges;

/* COLLECTIVE.
 *   lists   of the own rows with D in place of scores
 * Errors: IKT_ERR_RESOURCE (memory; 2^31 edges on a rank). Destroy it in any case. */
ikt_status ikt_near_edges_create(ikt_context *ctx, const ikt_rows *rows,
                                 const ikt_neighbours *lists, ikt_near_edges *out);
void ikt_near_edges_destroy(ikt_near_edges *edges);

/* LOCAL, pure. Where edge b of an own row (local number) stands in near, d and c; edge b + 1 stands
 * IKT_TILE places behind it. */
static inline int64_t ikt_near_edges_place(const ikt_near_edges *e, int64_t row, int64_t b) {
    const int64_t slot = row + e->rows.first % IKT_TILE;
    return (slot / IKT_TILE * e->m + b) * IKT_TILE + slot % IKT_TILE;
}

/* COLLECTIVE. Fills in the coefficients of other ranks' edges that end at own rows. */
void ikt_near_edges_exchange(ikt_context *ctx, const ikt_near_edges *edges);

/* LOCAL, pure. Bytes, as predicted.
 *   ghosts   rows of other ranks, about; cut: edges between ranks, about */
int64_t ikt_near_edges_memory(const ikt_rows *rows, int64_t m, int64_t ghosts, int64_t cut);

#endif
