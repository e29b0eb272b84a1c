/* Neighbour search that looks at near cells only.
 *
 * Method: own tiles are taken in batches (near_tiles.h). The rows of a tile get the nearest of all
 * its candidates, tile by tile (nearest.h), with the scores that exact search uses.
 * Advantage: dense work in cache at the kernel's full speed, no random access to rows, cost n times
 * a constant; the candidates follow from the data alone. Disadvantage: a row at the rim of its cell
 * shares the candidates of the rows in the middle. */
#include "neighbours/search.h"

#include <stdbool.h>
#include <string.h>

#include <omp.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/sort.h"
#include "neighbours/near_tiles.h"
#include "neighbours/nearest.h"

static const char purpose[] = "blocks";

enum { JOINED_ROWS = IKT_TILE_ROWS + 1 /* lists of a tile, and room to join one */ };

typedef struct {
    ikt_context *ctx;
    const ikt_tiles *tiles;
    ikt_near_tiles near;
    int32_t *packed; /* the rows of others, where tiles hold rows packed */
    ikt_list_course *course;
    ikt_neighbours *out;       /* its lists */
    ikt_nearest_rows *nearest; /* [threads] */
    bool is_joined;            /* passes before this one have left lists, which are joined */
    float *score;              /* [threads * JOINED_ROWS * k] lists of a tile, then */
    uint32_t *row;             /* the same; NULL where none are joined */
    ikt_arrays held;           /* these */
} search;

/* --- rows of other ranks, packed -------------------------------------------------------------- */

/* LOCAL. What came plain; packed it would travel for longer than it takes to pack. */
static ikt_status pack_foreign(search *s) {
    const ikt_foreign_tiles *f = &s->near.foreign;
    if (!s->tiles->packed) return IKT_OK;
    IKT_TRY(ikt_alloc(s->ctx, &s->packed, ikt_tiles_packed_size(s->tiles, f->row[f->count]),
                      sizeof *s->packed, purpose));
    ikt_tiles_pack(s->ctx, s->tiles, f->data[0], f->row[f->count], s->packed);
    return IKT_OK;
}

/* --- the search ------------------------------------------------------------------------------- */

/* Where a row lies, own or fetched. */
static const char *find_row(const void *self, uint32_t slot) {
    const search *s = self;
    return ikt_near_tiles_row(&s->near, 0, slot);
}

/* The rows of a probe. */
static ikt_candidates candidates_of(const search *s, ikt_probe at) {
    const ikt_tiles *tiles = s->tiles;
    const int64_t place = ikt_near_tiles_place(&s->near, at.first);
    const int64_t group = place / IKT_PACK_ROWS * IKT_PACK_ROWS;
    ikt_candidates c = {
        .plain = find_row(s, at.first), .first = at.first, .count = at.end - at.first};
    if (!tiles->packed) return c;
    c.packed = (ikt_is_own(&tiles->scorer.rows, at.first) ? tiles->packed : s->packed) +
               ikt_tiles_packed_size(tiles, group);
    c.skipped = place - group;
    return c;
}

/* Compares an own tile of the batch with its probes, and writes the lists of its rows. */
static void find_lists(const search *s, ikt_nearest_rows *nearest, int64_t tile, float *score,
                       uint32_t *row) {
    const ikt_tiles *tiles = s->tiles;
    const ikt_near_tiles *near = &s->near;
    const int64_t t = near->first_tile + tile, first = tiles->first[t];
    const ikt_row_finder finder = {s, find_row};
    ikt_nearest_rows_begin(nearest, ikt_tile_plain(tiles, t), first, tiles->first[t + 1] - first);
    do {
        for (int64_t e = 0; e < near->probes[tile]; e++) {
            const ikt_candidates c = candidates_of(s, near->probe[tile * near->candidates + e]);
            ikt_nearest_rows_offer(nearest, &c);
        }
    } while (ikt_nearest_rows_next(nearest, &finder, score, row));
}

/* The same by a thread, joined with what passes before this one have found. */
static void search_tile(const search *s, int thread, int64_t tile) {
    const int64_t k = s->out->k, first = ikt_near_tiles_begin(&s->near, tile);
    const int64_t count = ikt_near_tiles_begin(&s->near, tile + 1) - first;
    float *list = s->out->score + first * k;
    uint32_t *list_row = s->out->row + first * k;
    if (!s->is_joined) {
        find_lists(s, &s->nearest[thread], tile, list, list_row);
        return;
    }
    float *score = s->score + thread * JOINED_ROWS * k;
    uint32_t *row = s->row + thread * JOINED_ROWS * k;
    ikt_best_clear(score, row, count * k);
    find_lists(s, &s->nearest[thread], tile, score, row);
    for (int64_t at = 0; at < count * k; at += k) {
        ikt_best_join(list + at, list_row + at, k, score + at, row + at, score + IKT_TILE_ROWS * k,
                      row + IKT_TILE_ROWS * k);
    }
}

/* COLLECTIVE. The batch of own tiles that begins at tile `done`. */
static ikt_status search_batch(search *s, int64_t done) {
    ikt_near_tiles *near = &s->near;
    ikt_status st = ikt_near_tiles_fetch(near, done, s->course);
    if (st == IKT_OK) st = ikt_agree(s->ctx, pack_foreign(s));
    if (st == IKT_OK) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(s->ctx))
        for (int64_t t = 0; t < near->count; t++)
            if (near->probes[t] > 0) search_tile(s, omp_get_thread_num(), t);
        if (near->count > 0)
            ikt_list_note(s->course, ikt_near_tiles_begin(near, 0),
                          ikt_near_tiles_begin(near, near->count));
    }
    ikt_near_tiles_let_go(near);
    ikt_free(&s->packed);
    return st;
}

static ikt_status create(search *s, const ikt_cells *cells, int64_t candidates) {
    ikt_context *ctx = s->ctx;
    const ikt_scorer *scorer = &s->tiles->scorer;
    const ikt_row_part plain = {s->tiles->data, scorer->row_bytes};
    const int64_t entries = ikt_threads(ctx) * JOINED_ROWS * s->out->k;
    IKT_TRY(ikt_near_tiles_create(ctx, cells, s->tiles, candidates, &plain, 1, &s->near));
    s->held = ikt_arrays_of(ctx, "candidates");
    s->nearest = ikt_claim(&s->held, ikt_threads(ctx), sizeof *s->nearest);
    s->is_joined = s->course->progress.round > 0;
    if (s->is_joined) {
        s->score = ikt_claim(&s->held, entries, sizeof *s->score);
        s->row = ikt_claim(&s->held, entries, sizeof *s->row);
    }
    for (int i = 0; s->nearest && i < ikt_threads(ctx); i++)
        ikt_nearest_rows_create(&s->held, scorer, &s->tiles->quantiser, s->out->k, &s->nearest[i]);
    return s->held.status;
}

static void destroy(search *s) {
    ikt_arrays_free(&s->held);
    ikt_near_tiles_destroy(&s->near);
}

ikt_status ikt_neighbours_search(ikt_context *ctx, const ikt_cells *cells, const ikt_tiles *tiles,
                                 int64_t candidates, ikt_list_course *course) {
    search s IKT_AT_END(destroy) = {
        .ctx = ctx, .tiles = tiles, .course = course, .out = course->lists};
    IKT_TRY(ikt_agree(ctx, create(&s, cells, candidates)));
    const int64_t most = ikt_max_one(ctx, tiles->count), batch = s.near.most;
    for (int64_t done = 0; done < most; done += batch) {
        IKT_TRY(search_batch(&s, done));
        ikt_progress(ctx, "blocks of rows", ikt_smaller(done + batch, most), most, NULL);
        IKT_TRY(ikt_list_pause(ctx, course));
    }
    return IKT_OK;
}

int64_t ikt_search_memory(const ikt_search_shape *shape) {
    return ikt_near_tiles_memory(shape->cells, shape->candidates, shape->row_bytes,
                                 shape->threads) +
           ikt_near_tiles_batch(shape->candidates, shape->row_bytes) * shape->candidates *
               shape->quantised_bytes +
           shape->threads * (ikt_nearest_rows_memory(shape->row_bytes, shape->k) +
                             ikt_neighbours_memory(JOINED_ROWS, shape->k));
}
