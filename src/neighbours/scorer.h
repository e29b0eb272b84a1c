/* What neighbour search asks of a kernel: score rows of this rank against a block of any rank's.
 *
 * A scorer packs blocks of its own rows into bytes that travel between ranks, and scores its own
 * rows against such a block. Smaller scores are more similar. One search then serves every metric
 * and the cell codes, and a new kernel is one struct.
 */
#ifndef IKT_NEIGHBOURS_SCORER_H
#define IKT_NEIGHBOURS_SCORER_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"

typedef struct {
    void *self;
    ikt_rows rows;
    /* LOCAL. Bytes of a packed block of `count` rows. */
    size_t (*packed_bytes)(const void *self, int64_t count);
    /* LOCAL. Packs the own rows first .. first + count - 1 (local numbers). */
    void (*pack)(const void *self, int64_t first, int64_t count, void *packed);
    /* LOCAL, called from several threads. score[a * ikt_score_stride(nb) + b] = score of own row
     * first + a against row b of the packed block; entries from nb on may hold anything. */
    void (*score)(const void *self, int64_t first, int64_t na, const void *packed, int64_t nb,
                  float *score);
} ikt_scorer;

/* LOCAL. Distance between rows of a tile of scores against nb rows: nb rounded up to 16. */
static inline int64_t ikt_score_stride(int64_t nb) {
    return (nb + 15) / 16 * 16;
}

/* Receives a tile of scores: own rows first .. first + na - 1 against the global rows
 * row .. row + nb - 1. Called from several threads, never at once for the same own row. */
typedef void (*ikt_score_visitor)(void *self, int64_t first, int64_t na, int64_t row, int64_t nb,
                                  const float *score, int64_t stride);

/* COLLECTIVE. Shows every pair (own row, any row) to `visit` exactly once, in an order that depends
 * on the ranks: what a visitor keeps must not depend on it.
 * Blocks of rows pass round a ring of ranks: nobody holds all of them. Cost: n_local * n scores;
 * memory: two packed blocks and a tile a thread. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_score_all(ikt_context *ctx, const ikt_scorer *scorer, ikt_score_visitor visit,
                         void *self);

/* COLLECTIVE. The same for own rows first .. first + count - 1 (local numbers), others on each rank
 * and maybe none. */
ikt_status ikt_score_some(ikt_context *ctx, const ikt_scorer *scorer, int64_t first, int64_t count,
                          ikt_score_visitor visit, void *self);

#endif
