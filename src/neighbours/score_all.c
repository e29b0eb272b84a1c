/* Every pair of rows, block by block round a ring of ranks. See scorer.h. */
#include <omp.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "neighbours/scorer.h"

enum {
    BLOCK_ROWS =
        1024,      /* of the travelling side: with 784 floats a row it still fits level-2 cache */
    TILE_ROWS = 64 /* of the own side: a tile of scores fits level-2 cache as well */
};

static int64_t block_count(const ikt_rows *rows, int rank, int64_t block) {
    int64_t left = ikt_rows_count(rows, rank) - block * BLOCK_ROWS;
    return left < 0 ? 0 : left < BLOCK_ROWS ? left : BLOCK_ROWS;
}

/* The own rows that are scored, and who is shown the scores. */
typedef struct {
    ikt_context *ctx;
    const ikt_scorer *scorer;
    int64_t first, end;
    ikt_score_visitor visit;
    void *self;
    float *scores; /* [threads] tiles */
} ring;

static void score_block(const ring *r, const void *packed, int64_t row, int64_t nb) {
    const int64_t tiles = (r->end - r->first + TILE_ROWS - 1) / TILE_ROWS;
#pragma omp parallel for schedule(dynamic) num_threads(ikt_threads(r->ctx))
    for (int64_t tile = 0; tile < tiles; tile++) {
        int64_t first = r->first + tile * TILE_ROWS;
        int64_t na = r->end - first < TILE_ROWS ? r->end - first : TILE_ROWS;
        float *score = r->scores + (int64_t)omp_get_thread_num() * TILE_ROWS * BLOCK_ROWS;
        r->scorer->score(r->scorer->self, first, na, packed, nb, score);
        r->visit(r->self, first, na, row, nb, score, ikt_score_stride(nb));
    }
}

/* One own block goes once round the ring; after `size` steps every rank has seen every rank's. */
static void circulate(const ring *r, int64_t block, char *here, char *next) {
    ikt_context *ctx = r->ctx;
    const ikt_scorer *scorer = r->scorer;
    const ikt_rows *rows = &scorer->rows;
    int rank = ikt_rank(ctx), size = ikt_size(ctx);
    int before = (rank + size - 1) % size, after = (rank + 1) % size;
    scorer->pack(scorer->self, block * BLOCK_ROWS, block_count(rows, rank, block), here);
    for (int step = 0; step < size; step++) {
        int owner = (rank + step) % size, coming = (rank + step + 1) % size;
        int64_t nb = block_count(rows, owner, block), n_coming = block_count(rows, coming, block);
        int64_t row = ikt_rows_first(rows, owner) + block * BLOCK_ROWS;
        if (nb > 0) score_block(r, here, row, nb);
        if (step + 1 == size) break;
        ikt_send_receive(
            ctx, here, nb ? (int64_t)scorer->packed_bytes(scorer->self, nb) : 0, before, next,
            n_coming ? (int64_t)scorer->packed_bytes(scorer->self, n_coming) : 0, after);
        char *swap = here;
        here = next;
        next = swap;
    }
}

ikt_status ikt_score_some(ikt_context *ctx, const ikt_scorer *scorer, int64_t first, int64_t count,
                          ikt_score_visitor visit, void *self) {
    char *here = NULL, *next = NULL;
    ring r = {ctx, scorer, first, first + count, visit, self, NULL};
    int64_t bytes = (int64_t)scorer->packed_bytes(scorer->self, BLOCK_ROWS);
    ikt_status st = ikt_alloc(ctx, &here, bytes, 1, "neighbour blocks");
    if (st == IKT_OK) st = ikt_alloc(ctx, &next, bytes, 1, "neighbour blocks");
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &r.scores, (int64_t)ikt_threads(ctx) * TILE_ROWS * BLOCK_ROWS,
                       sizeof *r.scores, "neighbour blocks");
    st = ikt_agree(ctx, st);
    int64_t most = ikt_rows_count(&scorer->rows, 0); /* rank 0 owns the most rows */
    int64_t blocks = st == IKT_OK ? (most + BLOCK_ROWS - 1) / BLOCK_ROWS : 0;
    for (int64_t block = 0; block < blocks; block++) {
        circulate(&r, block, here, next);
        ikt_progress(ctx, "blocks", block + 1, blocks, NULL);
    }
    ikt_free(&here);
    ikt_free(&next);
    ikt_free(&r.scores);
    return st;
}

ikt_status ikt_score_all(ikt_context *ctx, const ikt_scorer *scorer, ikt_score_visitor visit,
                         void *self) {
    return ikt_score_some(ctx, scorer, 0, scorer->rows.count, visit, self);
}
