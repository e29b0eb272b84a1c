/* The forces of TriMap on the sixteen rows of a tile, from far rows of the pool.
 *
 * Row i of the tile has m near rows j_b, and looks at f far rows a of the pool, which has their
 * places and, for each of them, A_ab = |y_a - y_j|^2 and D_ab of its own m near rows. With
 * v = y_i - y_a it is, for each a,
 *   the anchor of the triplets (i, j_b, a): c_ib += c_j, and a force -c_k v;
 *   the far row of the triplets (a, j_b(a), i): a force -c_k v.
 * Then its near rows pull with c_ib (y_i - y_jb). What i gives j_b is not added here: each pull is
 * kept for who adds it up by rows j (near_edges.h). Where random triplets are wanted, each two
 * consecutive far rows make one with i, whose force on i alone is taken. A row is no far row of
 * itself.
 *
 * All kernels give the same bits: one row a lane, sums over far rows and near rows in order, true
 * divisions. t = t' = 2 with weights of logarithms is compiled apart: divisions and square roots
 * are made of multiplications there, so that a term is exact to 3e-5 of itself.
 */
#ifndef IKT_SAMPLED_TILE_FORCES_H
#define IKT_SAMPLED_TILE_FORCES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"
#include "sampled/triplet.h"

typedef struct {
    int q; /* dimensions: 1, 2 or 3 */
    ikt_triplet_rule rule;
    ikt_triplet_weighing weighing;
    float most;          /* of L, for weights by ratios */
    int64_t m, f;        /* near rows of a row, far rows of a tile */
    float share;         /* of all far rows that one of the f stands for: m' n / ((n - 1) f) */
    float random_share;  /* triplets that one pair of far rows stands for; 0: there are none */
    const float *y;      /* [local numbers * q] positions of own rows and others */
    const float *pool;   /* [S * (q + m)] of each row of the pool its position, then the squares
                            |y_a - y_j|^2 of its near rows */
    const float *pool_d; /* [S * m] D of these, */
    const float *pool_factor; /* [S * m] and their factors in weights (ikt_triplet_near) */
    int64_t first, count;     /* own rows of the tile: local numbers first .. first + count - 1, */
    int lane;                 /* from this lane on */
    const int32_t *near;      /* [m * 16] local numbers of near rows, by lanes */
    const float *near_d;      /* [m * 16] D of them */
    const float *far_d;       /* [f * 16] D of far rows */
    const int32_t *far;       /* [f] their places in the pool */
    const int32_t *far_lane;  /* [f] the lane of which it is the row itself, or -1 */
    float *space;             /* [m * 16 * (q + 4)] work space */
    float *pull;              /* [m * 16 * q] receives c_ib (y_i - y_jb) */
    float *force;             /* [rows * q] receives the forces on the own rows of the tile */
} ikt_tile_job;

/* LOCAL, from several threads. */
typedef void ikt_tile_forces(const ikt_tile_job *job);

IKT_KERNELS(ikt_tile_forces, ikt_tile_forces)

#endif
