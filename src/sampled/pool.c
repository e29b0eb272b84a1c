/* The pool of a sampled objective: draws, gathers, tiles. See pool.h. */
#include "sampled/pool.h"

#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"

ikt_status ikt_pool_create(ikt_context *ctx, const ikt_rows *rows, int64_t size, int64_t redraw,
                           uint64_t seed, ikt_rng_purpose purpose, ikt_pool *out) {
    *out = (ikt_pool){.ctx = ctx,
                      .rows = *rows,
                      .seed = seed,
                      .purpose = purpose,
                      .size = size,
                      .redraw = redraw,
                      .epoch = -1,
                      .slots = ikt_draw_slots(size)};
    IKT_ARRAYS(held, ctx, "pool");
    out->row = ikt_claim_kept(&held, size, sizeof *out->row);
    out->counts = ikt_claim_kept(&held, rows->ranks, sizeof *out->counts);
    out->slot = ikt_claim_kept(&held, out->slots, sizeof *out->slot);
    return held.status;
}

void ikt_pool_destroy(ikt_pool *pool) {
    ikt_free_all(&pool->row, &pool->counts, &pool->slot);
}

int64_t ikt_pool_memory(int64_t size, int ranks) {
    return 8 * (size + ikt_draw_slots(size) + ranks);
}

/* Blocks of rows follow each other in the order of the ranks, and so do those of the pool. */
static void divide(ikt_pool *pool, int rank) {
    int64_t end = 0;
    for (int r = 0; r < pool->rows.ranks; r++) {
        const int64_t begin = end, beyond = ikt_rows_first(&pool->rows, r + 1);
        while (end < pool->size && pool->row[end] < beyond)
            end++;
        pool->counts[r] = end - begin;
        if (r == rank) {
            pool->first = begin;
            pool->count = end - begin;
        }
    }
}

bool ikt_pool_draw(ikt_pool *pool, int64_t iteration) {
    const int64_t epoch = iteration / pool->redraw;
    const bool has_all = pool->size == pool->rows.n;
    if (epoch == pool->epoch) return false;
    if (has_all && pool->epoch >= 0) {
        pool->epoch = epoch; /* of which the far rows of a tile are a function */
        return false;
    }
    pool->epoch = epoch;
    if (has_all)
        for (int64_t a = 0; a < pool->size; a++)
            pool->row[a] = a;
    else
        ikt_draw_subset(pool->seed, pool->purpose, epoch, pool->rows.n, pool->size, pool->slot,
                        pool->slots, pool->row);
    divide(pool, ikt_rank(pool->ctx));
    return true;
}

void ikt_pool_gather(const ikt_pool *pool, size_t bytes, void *all) {
    const char *own = (const char *)all + (size_t)pool->first * bytes;
    ikt_allgather(pool->ctx, own, pool->count, bytes, all, pool->counts);
}

void ikt_pool_gather_rows(const ikt_pool *pool, const void *value, size_t stride, size_t bytes,
                          void *all) {
    const char *from = value;
    char *to = (char *)all + (size_t)pool->first * bytes;
    for (int64_t a = 0; a < pool->count; a++) {
        const int64_t own = pool->row[pool->first + a] - pool->rows.first;
        memcpy(to + (size_t)a * bytes, from + (size_t)own * stride, bytes);
    }
    ikt_pool_gather(pool, bytes, all);
}

/* --- tiles ------------------------------------------------------------------------------------ */

ikt_tiles_span ikt_pool_tiles(const ikt_rows *rows) {
    if (rows->count == 0) return (ikt_tiles_span){0, 0};
    return (ikt_tiles_span){rows->first / IKT_TILE, (rows->first + rows->count - 1) / IKT_TILE + 1};
}

void ikt_pool_tile_rows(const ikt_rows *rows, int64_t tile, int64_t *begin, int64_t *end) {
    const int64_t first = tile * IKT_TILE - rows->first, last = first + IKT_TILE;
    *begin = first > 0 ? first : 0;
    *end = last < rows->count ? last : rows->count;
}

void ikt_pool_far(const ikt_pool *pool, int64_t tile, int64_t f, int32_t *place) {
    const uint64_t key = ikt_rng_u64(pool->seed, IKT_RNG_FAR, tile, (uint64_t)pool->epoch);
    const int64_t start = ikt_rng_scale(ikt_rng_mix(key, 0), pool->size), width = pool->size / f;
    for (int64_t q = 0; q < f; q++) {
        const int64_t within = ikt_rng_scale(ikt_rng_mix(key, (uint64_t)q + 1), width);
        const int64_t at = start + q * width + within;
        place[q] = (int32_t)(at < pool->size ? at : at - pool->size);
    }
}
