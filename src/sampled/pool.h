/* Rows drawn at random that every rank holds: what sampled objectives take far rows from.
 *
 * Such an objective wants, for each row, the sum over all other rows k of something that few rows
 * suffice to estimate: the far rows of TriMap's triplets, the negative samples of LargeVis and of
 * UMAP. The published programs draw k anywhere, edge by edge, read its place and add a force to it,
 * in no order.
 * Method: time is cut into epochs of some iterations. An epoch has a pool: S rows drawn without
 * replacement. Each rank knows all their numbers without a message; the owners compute what others
 * need of them, and one gather brings that to all ranks. Sixteen consecutive rows, a tile, share
 * few far rows of the pool, which are broadcast to the lanes of a vector. Nothing is added to far
 * rows: a row takes for itself what it would have got as a far row of these same rows of the pool,
 * which has the same expectation.
 * Advantage: no scatter, no sum over ranks, no random access in the inner loop, and one order of
 * additions; messages are in proportion to S, not to n. Disadvantage: the rows of a tile see the
 * same far rows in an iteration, and all rows those of one pool; a pool that is never drawn anew
 * gives bad maps.
 *
 * The pool of an epoch is a pure function of (seed, purpose, epoch), the far rows of a tile one of
 * (seed, epoch, tile): nothing has to be kept in a checkpoint, and ranks and threads change
 * nothing.
 */
#ifndef IKT_SAMPLED_POOL_H
#define IKT_SAMPLED_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/status.h"
#include "dist/rows.h"

/* What an objective that repels by negative samples is told. */
typedef struct {
    double min_dist, spread; /* of a curve, where the kernel of the map is one, */
    double a, b;             /* and the curve itself, or IKT_AUTO_REAL */
    double repulsion;        /* gamma, the weight of the negative samples */
    int64_t negatives;       /* of an edge, M */
    int64_t pool;     /* rows S of the pool, or IKT_AUTO_INT: 4096, and all where there are fewer */
    int64_t far_rows; /* of it that a tile of sixteen rows meets in an iteration */
    int64_t redraw;   /* iterations after which the pool is drawn anew */
} ikt_negative_settings;

typedef struct {
    ikt_context *ctx; /* borrowed */
    ikt_rows rows;    /* of the loop, in its order */
    uint64_t seed;
    ikt_rng_purpose purpose; /* IKT_RNG_SAMPLED, or another where there are two pools */
    int64_t size;            /* S */
    int64_t redraw;          /* iterations of an epoch */
    int64_t epoch;           /* of the rows below; -1: none are drawn yet */
    int64_t *row;            /* [size] global rows, ascending, distinct */
    int64_t first, count;    /* this rank owns row[first .. first + count - 1] */
    int64_t *counts; /* [ranks] rows of the pool that each rank owns; they follow each other in
                        the order of the ranks */
    int64_t *slot;   /* [slots] work space of the draw */
    int64_t slots;
} ikt_pool;

/* LOCAL. A pool without rows yet.
 *   size     S, from 1 to rows->n; with rows->n it holds all rows in every epoch
 *   redraw   iterations of an epoch, at least 1
 * Errors: IKT_ERR_RESOURCE; destroy it then, too. */
ikt_status ikt_pool_create(ikt_context *ctx, const ikt_rows *rows, int64_t size, int64_t redraw,
                           uint64_t seed, ikt_rng_purpose purpose, ikt_pool *out);
void ikt_pool_destroy(ikt_pool *pool);

/* LOCAL; all ranks find the same. The pool of the epoch of an iteration. Returns whether it is
 * another than before: what was gathered of the rows is then of others. Cost: S draws where it is
 * another. */
bool ikt_pool_draw(ikt_pool *pool, int64_t iteration);

/* COLLECTIVE. What the owners have computed of the rows of the pool, on all ranks.
 *   all   [size] payloads of `bytes` bytes, of row[0], row[1], ...: each owner has filled in those
 *         of row[first .. first + count - 1], and receives the others */
void ikt_pool_gather(const ikt_pool *pool, size_t bytes, void *all);

/* COLLECTIVE. The same from an array that holds a payload for each own row of the loop.
 *   value    [rows.count] payloads of `bytes` bytes, `stride` bytes from one to the next
 *   all      [size] receives those of the rows of the pool */
void ikt_pool_gather_rows(const ikt_pool *pool, const void *value, size_t stride, size_t bytes,
                          void *all);

/* LOCAL, pure. Bytes that a pool holds, without payloads. */
int64_t ikt_pool_memory(int64_t size, int ranks);

/* --- tiles ------------------------------------------------------------------------------------ */

enum { IKT_TILE = 16 /* rows: the lanes of base/lanes.h */ };

/* LOCAL, pure. Tile T has the global rows 16 T .. 16 T + 15, whoever owns them. Tiles first .. last
 * - 1 have own rows; the outer ones may have rows of other ranks, too. */
typedef struct {
    int64_t first, last;
} ikt_tiles_span;
ikt_tiles_span ikt_pool_tiles(const ikt_rows *rows);

/* LOCAL, pure. Own rows of a tile as local numbers: *begin .. *end - 1. Row r of the loop is lane
 * r % 16, so that lane `rows->first + *begin` % 16 is the first that is wanted. */
void ikt_pool_tile_rows(const ikt_rows *rows, int64_t tile, int64_t *begin, int64_t *end);

/* LOCAL, from several threads. The far rows of a tile in the pool's epoch, as places in the pool.
 * They are distinct; each place has the same probability f / S; they lie spread over the pool, one
 * in each of f equal stretches of it after a random rotation, which makes a mean over them vary
 * less than one over independent draws where near rows are alike. All places, for f = S.
 *   f       how many, from 1 to size
 *   place   [f] receives them */
void ikt_pool_far(const ikt_pool *pool, int64_t tile, int64_t f, int32_t *place);

#endif
