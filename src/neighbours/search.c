/* Neighbour search that looks at near cells only.
 *
 * Method: own blocks are taken in batches. For each block the near blocks are chosen (probe.h),
 * those of other ranks are fetched (fetch.h), and the block is scored against all of them, block
 * against block, with the kernel that brute force uses.
 * Advantage: dense work in cache at the kernel's full speed, no random access to rows, cost n times
 * a constant; the candidates follow from the data alone. Disadvantage: a row at the rim of its cell
 * shares the candidates of the rows in the middle. */
#include "neighbours/search.h"

#include <omp.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/select.h"
#include "neighbours/fetch.h"
#include "neighbours/probe.h"
#include "neighbours/scorer.h"

enum {
    FETCH_BYTES = 256 << 20, /* that a batch may fetch from others */
    BATCH_LEAST = 8,
    BATCH_MOST = 4096,
    TILE = IKT_SHELF_ROWS * (IKT_SHELF_ROWS + 1) /* scores; some are read behind the last */
};

typedef struct {
    ikt_context *ctx;
    const ikt_cells *cells;
    const ikt_tiles *tiles;
    ikt_probe_lists lists;
    ikt_foreign foreign;
    ikt_list_course *course;
    ikt_neighbours *out; /* its lists */
    float *scores;       /* [threads * TILE] */
    ikt_select *kept;    /* [threads * IKT_SHELF_ROWS] */
    ikt_pair *pairs;     /* [threads * IKT_SHELF_ROWS * IKT_SELECT_ROOM * k] */
    char *scratch;       /* [threads * tiles->scratch_bytes] */
} search;

static int64_t batch_blocks(int64_t bytes, int64_t candidates, int64_t row_bytes) {
    int64_t blocks = bytes / (candidates * row_bytes);
    return blocks < BATCH_LEAST ? BATCH_LEAST : blocks > BATCH_MOST ? BATCH_MOST : blocks;
}

static void write_list(ikt_select *kept, float *score, uint32_t *row) {
    ikt_select_end(kept);
    for (int64_t e = 0; e < kept->count; e++) {
        score[e] = ikt_pair_value(kept->pair[e]);
        row[e] = ikt_pair_number(kept->pair[e]);
    }
}

/* Scores an own block of the batch against its probes. */
static void search_block(const search *s, int64_t block) {
    const ikt_tiles *tiles = s->tiles;
    const int64_t thread = omp_get_thread_num(), k = s->out->k, room = IKT_SELECT_ROOM * k;
    int64_t b = s->lists.first_block + block, first = tiles->first[b];
    int64_t na = tiles->first[b + 1] - first, i = first - tiles->rows.first;
    float *score = s->scores + thread * TILE;
    ikt_select *kept = s->kept + thread * IKT_SHELF_ROWS;
    const void *left = tiles->prepare(tiles, tiles->data + tiles->offset[b], na,
                                      s->scratch + thread * tiles->scratch_bytes);
    for (int64_t a = 0; a < na; a++)
        ikt_select_begin(&kept[a], tiles->isa, k, s->pairs + (thread * IKT_SHELF_ROWS + a) * room);
    for (int64_t e = 0; e < s->lists.probes[block]; e++) {
        const ikt_probe probe = s->lists.probe[block * s->lists.room + e];
        int64_t end, begin = ikt_block_at(s->cells, &tiles->rows, probe.first, &end);
        tiles->score(tiles, left, na, ikt_foreign_block(tiles, &s->foreign, begin), end - begin,
                     score);
        for (int64_t a = 0; a < na; a++)
            ikt_select_floats(&kept[a], first + a, probe.first, probe.end - probe.first,
                              score + a * ikt_score_stride(end - begin) + probe.first - begin);
    }
    for (int64_t a = 0; a < na; a++)
        write_list(&kept[a], s->out->score + (i + a) * k, s->out->row + (i + a) * k);
}

/* First and last own row of a block of the batch, as local numbers. */
static int64_t block_row(const search *s, int64_t block) {
    return s->tiles->first[s->lists.first_block + block] - s->tiles->rows.first;
}

/* Blocks that a run before this one has been through want nothing. */
static void pass_over_done(search *s) {
    for (int64_t block = 0; block < s->lists.count; block++)
        if (ikt_list_done(s->course, block_row(s, block), block_row(s, block + 1)))
            s->lists.probes[block] = 0;
}

/* COLLECTIVE. The batch that begins at own block `done`; ranks that have finished help others. */
static ikt_status search_batch(search *s, int64_t done, int64_t blocks, int64_t candidates) {
    int64_t left = s->tiles->blocks - done;
    s->lists.first_block = done;
    s->lists.count = left < 0 ? 0 : left < blocks ? left : blocks;
    IKT_TRY(ikt_agree(s->ctx, ikt_probe_choose(s->ctx, s->cells, s->tiles, candidates, &s->lists)));
    pass_over_done(s);
    IKT_TRY(ikt_foreign_fetch(s->ctx, s->cells, s->tiles, &s->lists, &s->foreign));
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(s->ctx))
    for (int64_t block = 0; block < s->lists.count; block++)
        if (s->lists.probes[block] > 0) search_block(s, block);
    ikt_foreign_destroy(&s->foreign);
    if (s->lists.count > 0) ikt_list_note(s->course, block_row(s, 0), block_row(s, s->lists.count));
    return IKT_OK;
}

static ikt_status search_alloc(search *s, int64_t blocks, int64_t candidates) {
    ikt_context *ctx = s->ctx;
    int64_t threads = ikt_threads(ctx);
    s->lists.room = candidates;
    IKT_TRY(ikt_alloc(ctx, &s->lists.probes, blocks, sizeof *s->lists.probes, "blocks"));
    IKT_TRY(ikt_alloc(ctx, &s->lists.probe, blocks * candidates, sizeof *s->lists.probe, "blocks"));
    IKT_TRY(ikt_alloc(ctx, &s->scratch, threads * s->tiles->scratch_bytes, 1, "blocks"));
    IKT_TRY(ikt_alloc(ctx, &s->kept, threads * IKT_SHELF_ROWS, sizeof *s->kept, "blocks"));
    IKT_TRY(ikt_alloc(ctx, &s->pairs, threads * IKT_SHELF_ROWS * IKT_SELECT_ROOM * s->out->k,
                      sizeof *s->pairs, "blocks"));
    return ikt_alloc(ctx, &s->scores, threads * TILE, sizeof(float), "blocks");
}

ikt_status ikt_neighbours_search_kept(ikt_context *ctx, const ikt_cells *cells,
                                      const ikt_tiles *tiles, int64_t candidates,
                                      ikt_list_course *course) {
    search s = {.ctx = ctx, .cells = cells, .tiles = tiles, .course = course, .out = course->lists};
    const int64_t piece = ikt_piece_bytes(ctx) < FETCH_BYTES ? ikt_piece_bytes(ctx) : FETCH_BYTES;
    int64_t blocks = batch_blocks(piece, candidates, tiles->row_bytes);
    ikt_status st = ikt_agree(ctx, search_alloc(&s, blocks, candidates));
    int64_t most = st == IKT_OK ? ikt_max_one(ctx, tiles->blocks) : 0;
    for (int64_t done = 0; st == IKT_OK && done < most; done += blocks) {
        st = search_batch(&s, done, blocks, candidates);
        ikt_progress(ctx, "blocks of rows", done + blocks < most ? done + blocks : most, most,
                     NULL);
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
    ikt_status st = ikt_agree(ctx, ikt_neighbours_create(ctx, &tiles->rows, k, out));
    if (st == IKT_OK) st = ikt_neighbours_search_kept(ctx, cells, tiles, candidates, &course);
    if (st != IKT_OK) ikt_neighbours_destroy(out);
    return st;
}

int64_t ikt_search_memory(int64_t cells, int64_t candidates, int64_t row_bytes, int threads) {
    int64_t blocks = batch_blocks(FETCH_BYTES, candidates, row_bytes);
    return blocks * candidates * (row_bytes + (int64_t)sizeof(ikt_probe)) +
           threads * IKT_SHELF_ROWS * (IKT_SHELF_ROWS * (int64_t)sizeof(float) + row_bytes) +
           ikt_probe_memory(cells, threads);
}
