/* Neighbour search that looks at near cells only.
 *
 * Method: own tiles are taken in batches. For each tile the near tiles are chosen and those of
 * other ranks are fetched (candidates.h), and the tile is scored against all of them, tile against
 * tile, with the scores that exact search uses (scorer.h).
 * Advantage: dense work in cache at the kernel's full speed, no random access to rows, cost n times
 * a constant; the candidates follow from the data alone. Disadvantage: a row at the rim of its cell
 * shares the candidates of the rows in the middle. */
#include "neighbours/search.h"

#include <omp.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sort.h"
#include "neighbours/candidates.h"

enum {
    FETCH_BYTES = 256 << 20, /* that a batch may fetch from others */
    BATCH_LEAST = 8,         /* tiles of a batch */
    BATCH_MOST = 4096,
    SCORES = IKT_TILE_ROWS * (IKT_TILE_ROWS + 1) /* some are read behind the last */
};

typedef struct {
    ikt_context *ctx;
    const ikt_cells *cells;
    const ikt_tiles *tiles;
    ikt_probe_lists lists;
    ikt_foreign foreign;
    ikt_list_course *course;
    ikt_neighbours *out; /* its lists */
    float *scores;       /* [threads * SCORES] */
    ikt_select *kept;    /* [threads * IKT_TILE_ROWS] */
    ikt_pair *pairs;     /* [threads * IKT_TILE_ROWS * IKT_SELECT_ROOM * k] */
    char *scratch;       /* [threads * ikt_tiles_scratch_bytes] */
} search;

static int64_t batch_tiles(int64_t bytes, int64_t candidates, int64_t row_bytes) {
    const int64_t tiles = bytes / (candidates * row_bytes);
    return tiles < BATCH_LEAST ? BATCH_LEAST : tiles > BATCH_MOST ? BATCH_MOST : tiles;
}

/* Scores an own tile of the batch against its probes, and writes the lists of its rows. */
static void search_tile(const search *s, int64_t tile) {
    const ikt_tiles *tiles = s->tiles;
    const ikt_scorer *scorer = &tiles->scorer;
    const int64_t thread = omp_get_thread_num(), k = s->out->k;
    const int64_t t = s->lists.first_tile + tile, first = tiles->first[t];
    const int64_t na = tiles->first[t + 1] - first;
    float *score = s->scores + thread * SCORES;
    ikt_select *kept = s->kept + thread * IKT_TILE_ROWS;
    ikt_pair *pairs = s->pairs + thread * IKT_TILE_ROWS * IKT_SELECT_ROOM * k;
    const char *plain =
        ikt_tile_plain(tiles, t, s->scratch + thread * ikt_tiles_scratch_bytes(tiles));
    for (int64_t a = 0; a < na; a++)
        ikt_select_begin(&kept[a], scorer->isa, k, pairs + a * IKT_SELECT_ROOM * k);
    for (int64_t e = 0; e < s->lists.probes[tile]; e++) {
        const ikt_probe probe = s->lists.probe[tile * s->lists.capacity + e];
        int64_t end, begin = ikt_tile_at(s->cells, &scorer->rows, probe.first, &end);
        scorer->score(scorer, plain, na, ikt_foreign_tile(tiles, &s->foreign, begin), end - begin,
                      score);
        for (int64_t a = 0; a < na; a++)
            ikt_select_floats(&kept[a], first + a, probe.first, probe.end - probe.first,
                              score + a * ikt_score_stride(end - begin) + probe.first - begin);
    }
    for (int64_t a = 0; a < na; a++) {
        const int64_t list = (first - scorer->rows.first + a) * k;
        ikt_select_end(&kept[a]);
        for (int64_t e = 0; e < kept[a].count; e++) {
            s->out->score[list + e] = ikt_pair_value(kept[a].pair[e]);
            s->out->row[list + e] = ikt_pair_number(kept[a].pair[e]);
        }
    }
}

/* First own row of a tile of the batch, as a local number. */
static int64_t tile_row(const search *s, int64_t tile) {
    return s->tiles->first[s->lists.first_tile + tile] - s->tiles->scorer.rows.first;
}

/* COLLECTIVE. The batch that begins at own tile `done`; ranks that have finished help others. */
static ikt_status search_batch(search *s, int64_t done, int64_t tiles, int64_t candidates) {
    const int64_t left = s->tiles->count - done;
    s->lists.first_tile = done;
    s->lists.count = left < 0 ? 0 : left < tiles ? left : tiles;
    IKT_TRY(ikt_agree(s->ctx, ikt_probe_choose(s->ctx, s->cells, s->tiles, candidates, &s->lists)));
    for (int64_t t = 0; t < s->lists.count; t++) /* what a run before this one has done */
        if (ikt_list_done(s->course, tile_row(s, t), tile_row(s, t + 1))) s->lists.probes[t] = 0;
    IKT_TRY(ikt_foreign_fetch(s->ctx, s->cells, s->tiles, &s->lists, &s->foreign));
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(s->ctx))
    for (int64_t t = 0; t < s->lists.count; t++)
        if (s->lists.probes[t] > 0) search_tile(s, t);
    ikt_foreign_destroy(&s->foreign);
    if (s->lists.count > 0) ikt_list_note(s->course, tile_row(s, 0), tile_row(s, s->lists.count));
    return IKT_OK;
}

static ikt_status search_alloc(search *s, int64_t tiles, int64_t candidates) {
    ikt_context *ctx = s->ctx;
    const int64_t threads = ikt_threads(ctx), scratch = ikt_tiles_scratch_bytes(s->tiles);
    s->lists.capacity = candidates;
    IKT_TRY(ikt_alloc(ctx, &s->lists.probes, tiles, sizeof *s->lists.probes, "blocks"));
    IKT_TRY(ikt_alloc(ctx, &s->lists.probe, tiles * candidates, sizeof *s->lists.probe, "blocks"));
    IKT_TRY(ikt_alloc(ctx, &s->scratch, threads * scratch, 1, "blocks"));
    IKT_TRY(ikt_alloc(ctx, &s->kept, threads * IKT_TILE_ROWS, sizeof *s->kept, "blocks"));
    IKT_TRY(ikt_alloc(ctx, &s->pairs, threads * IKT_TILE_ROWS * IKT_SELECT_ROOM * s->out->k,
                      sizeof *s->pairs, "blocks"));
    return ikt_alloc(ctx, &s->scores, threads * SCORES, sizeof(float), "blocks");
}

ikt_status ikt_neighbours_search_kept(ikt_context *ctx, const ikt_cells *cells,
                                      const ikt_tiles *tiles, int64_t candidates,
                                      ikt_list_course *course) {
    search s = {.ctx = ctx, .cells = cells, .tiles = tiles, .course = course, .out = course->lists};
    const int64_t piece = ikt_piece_bytes(ctx) < FETCH_BYTES ? ikt_piece_bytes(ctx) : FETCH_BYTES;
    const int64_t batch = batch_tiles(piece, candidates, tiles->scorer.row_bytes);
    ikt_status st = ikt_agree(ctx, search_alloc(&s, batch, candidates));
    const int64_t most = st == IKT_OK ? ikt_max_one(ctx, tiles->count) : 0;
    for (int64_t done = 0; st == IKT_OK && done < most; done += batch) {
        st = search_batch(&s, done, batch, candidates);
        ikt_progress(ctx, "blocks of rows", done + batch < most ? done + batch : most, most, NULL);
        if (st == IKT_OK) st = ikt_list_pause(ctx, course);
    }
    ikt_free(&s.lists.probes);
    ikt_free(&s.lists.probe);
    ikt_free(&s.scratch);
    ikt_free(&s.scores);
    ikt_free(&s.kept);
    ikt_free(&s.pairs);
    return st;
}

ikt_status ikt_neighbours_search(ikt_context *ctx, const ikt_cells *cells, const ikt_tiles *tiles,
                                 int64_t k, int64_t candidates, ikt_neighbours *out) {
    ikt_list_course course = {.lists = out};
    ikt_status st = ikt_agree(ctx, ikt_neighbours_create(ctx, &tiles->scorer.rows, k, out));
    if (st == IKT_OK) st = ikt_neighbours_search_kept(ctx, cells, tiles, candidates, &course);
    if (st != IKT_OK) ikt_neighbours_destroy(out);
    return st;
}

int64_t ikt_search_memory(int64_t cells, int64_t candidates, int64_t row_bytes, int threads) {
    const int64_t tiles = batch_tiles(FETCH_BYTES, candidates, row_bytes);
    return tiles * candidates * (row_bytes + (int64_t)sizeof(ikt_probe)) +
           threads * IKT_TILE_ROWS * (IKT_TILE_ROWS * (int64_t)sizeof(float) + row_bytes) +
           ikt_probe_memory(cells, threads);
}
