/* The edges from rows to their near rows, for forces that have both ends: the force of an edge on
 * the row where it begins is computed by tiles (pool.h), and taken, with the other sign, by the row
 * where it ends.
 *
 * Method: rows where edges end are divided into blocks, and forces are kept block by block, in each
 * of them in the order of the edges' beginnings, so that a tile appends to a few blocks and what a
 * block's rows read stays in a core's cache. Each row has the list of the edges that end at it, by
 * ascending global number of where they begin. Where the ends have different owners, the force is
 * kept where it is sent from: 4 q bytes an edge that is cut, in one exchange. Advantage: no
 * addition of two threads or ranks to one number, one order of additions whatever the ranks, no
 * reads all over the memory. Disadvantage: 16 + 4 q bytes an edge.
 */
#ifndef IKT_SAMPLED_NEAR_EDGES_H
#define IKT_SAMPLED_NEAR_EDGES_H

#include <stdint.h>

#include "base/status.h"
#include "dist/shuffle.h"
#include "neighbours/neighbours.h"
#include "sampled/pool.h"

enum { IKT_ENDS_SUMS = 4, IKT_ENDS_AHEAD = 64 /* edges that are asked for in advance */ };

typedef struct {
    ikt_rows rows;
    int q;          /* dimensions of a force */
    int64_t m;      /* edges of a row */
    int64_t tiles;  /* with own rows */
    int32_t *near;  /* [tiles * m * 16] local numbers of where edges end: own rows, then ghosts; of
                       lanes without own rows 0 */
    float *d;       /* [tiles * m * 16] D of the edges */
    int32_t *place; /* [tiles * m * 16] where their forces stand in: */
    float *force;   /* [(own + cut.received + cut.sent + 3) * q]: of the own edges that end at own
                       rows, by blocks of these; of other ranks' edges that end at own rows; of own
                       edges that end at rows of other ranks, as they are sent; then 0; then what
                       lanes without own rows leave, in the first tile and in the last */
    int64_t own;    /* own edges that end at own rows */
    int64_t *start; /* [rows.count + 1] where the edges that end at each own row begin in: */
    int32_t *ends;  /* [start[rows.count] + IKT_ENDS_AHEAD] where their forces are; the place of the
                       0 fills each row's list up to a multiple of IKT_ENDS_SUMS */
    int64_t n_ghost;
    int64_t *ghost_row; /* [n_ghost] rows of other ranks where own edges end, ascending */
    ikt_shuffle cut;    /* own edges that end at rows of other ranks, to these */
} ikt_near_edges;

/* COLLECTIVE.
 *   q       dimensions of a force: 1, 2 or 3
 *   lists   of the own rows with D in place of scores
 * Errors: IKT_ERR_RESOURCE (memory; 2^31 edges on a rank). Destroy it in any case. */
ikt_status ikt_near_edges_create(ikt_context *ctx, const ikt_rows *rows, int q,
                                 const ikt_neighbours *lists, ikt_near_edges *out);
void ikt_near_edges_destroy(ikt_near_edges *edges);

/* LOCAL, pure. Where edge b of an own row (local number) stands in near, d and place; edge b + 1
 * stands IKT_TILE places behind it. */
static inline int64_t ikt_near_edges_place(const ikt_near_edges *e, int64_t row, int64_t b) {
    const int64_t slot = row + e->rows.first % IKT_TILE;
    return (slot / IKT_TILE * e->m + b) * IKT_TILE + slot % IKT_TILE;
}

/* LOCAL. Asks for what the forces of a tile need, so that it is there by then: first for what is
 * known of its edges; then, when that has come, for the positions of its near rows, which are
 * anywhere, and for where its forces will be kept.
 *   y   [local numbers * q] positions */
void ikt_near_edges_ask(const ikt_near_edges *edges, int64_t tile);
void ikt_near_edges_ask_ends(const ikt_near_edges *edges, int64_t tile, const float *y);

/* LOCAL, of different tiles from several threads. Keeps the forces of a tile's edges.
 *   force   [m * 16 * q] on the rows where they begin */
void ikt_near_edges_keep(const ikt_near_edges *edges, int64_t tile, const float *force);

/* COLLECTIVE. Fills in the forces of other ranks' edges that end at own rows. */
void ikt_near_edges_exchange(ikt_context *ctx, const ikt_near_edges *edges);

/* LOCAL. What rows get from the edges that end at them: minus the sum of their forces.
 *   force   [rows.count * q] receives it */
void ikt_near_edges_end(ikt_context *ctx, const ikt_near_edges *edges, float *force);

/* LOCAL, pure. Bytes, as predicted.
 *   ghosts   rows of other ranks, about; cut: edges between ranks, about */
int64_t ikt_near_edges_memory(const ikt_rows *rows, int q, int64_t m, int64_t ghosts, int64_t cut);

#endif
