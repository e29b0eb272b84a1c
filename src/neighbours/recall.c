/* Recall of a neighbour search on a sample of rows.
 *
 * Method: the sampled rows go to every rank; each scores them against its own rows and sends the k
 * best to the rank that owns the sampled row, which merges them and compares.
 * Advantage: exact, and no rank holds lists of all ranks. */
#include "neighbours/recall.h"

#include <math.h>
#include <string.h>

#include <omp.h>

#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/sort.h"

enum { TOGETHER = 64 }; /* sampled rows that a thread scores at a time */

typedef struct {
    ikt_context *ctx;
    const ikt_tiles *tiles;
    const ikt_neighbours *lists;
    int64_t sample, k;
    int64_t *slot;     /* [sample] ascending */
    int64_t *counts;   /* [ranks] sampled rows that each rank owns */
    int64_t own_first; /* of them, the first of this rank */
    char *plain;       /* [sample * row_bytes] the sampled rows */
    float *score;      /* [sample * k] best among own rows */
    uint32_t *row;     /* [sample * k] */
    float *come_score; /* [ranks * own * k] lists of own sampled rows from every rank */
    uint32_t *come_row;
    float *tile; /* [threads * TOGETHER * IKT_TILE_ROWS] */
} measurement;

static void free_measurement(measurement *w) {
    ikt_free(&w->slot);
    ikt_free(&w->counts);
    ikt_free(&w->plain);
    ikt_free(&w->score);
    ikt_free(&w->row);
    ikt_free(&w->come_score);
    ikt_free(&w->come_row);
    ikt_free(&w->tile);
}

static void draw(measurement *w, uint64_t seed) {
    const ikt_rows *rows = &w->tiles->scorer.rows;
    for (int64_t s = 0; s < w->sample; s++)
        w->slot[s] = ikt_rng_below(seed, IKT_RNG_SAMPLE, s, 0, rows->n);
    ikt_sort_i64(w->slot, w->sample);
    for (int64_t s = 0; s < w->sample; s++) {
        w->counts[ikt_rows_owner(rows, w->slot[s])]++;
        w->own_first += w->slot[s] < rows->first;
    }
}

static ikt_status alloc_measurement(measurement *w, uint64_t seed) {
    ikt_context *ctx = w->ctx;
    int64_t entries = w->sample * w->k, ranks = ikt_size(ctx);
    IKT_TRY(ikt_alloc(ctx, &w->slot, w->sample, sizeof(int64_t), "recall"));
    IKT_TRY(ikt_alloc(ctx, &w->counts, ranks, sizeof(int64_t), "recall"));
    draw(w, seed);
    int64_t coming = ranks * w->counts[ikt_rank(ctx)] * w->k;
    IKT_TRY(ikt_alloc(ctx, &w->plain, w->sample * w->tiles->scorer.row_bytes, 1, "recall"));
    IKT_TRY(ikt_alloc(ctx, &w->score, entries, sizeof *w->score, "recall"));
    IKT_TRY(ikt_alloc(ctx, &w->row, entries, sizeof *w->row, "recall"));
    IKT_TRY(ikt_alloc(ctx, &w->come_score, coming, sizeof *w->come_score, "recall"));
    IKT_TRY(ikt_alloc(ctx, &w->come_row, coming, sizeof *w->come_row, "recall"));
    return ikt_alloc(ctx, &w->tile, ikt_threads(ctx) * TOGETHER * IKT_TILE_ROWS, sizeof(float),
                     "recall");
}

/* COLLECTIVE. The sampled rows on every rank. */
static ikt_status share_rows(measurement *w) {
    const ikt_tiles *tiles = w->tiles;
    const int64_t own = w->counts[ikt_rank(w->ctx)], bytes = tiles->scorer.row_bytes;
    char *scratch = NULL, *mine = NULL;
    ikt_status st = ikt_alloc(w->ctx, &scratch, ikt_tiles_scratch_bytes(tiles), 1, "recall");
    if (st == IKT_OK) st = ikt_alloc(w->ctx, &mine, own * bytes, 1, "recall");
    st = ikt_agree(w->ctx, st);
    for (int64_t s = 0; st == IKT_OK && s < own; s++) {
        const int64_t at = w->slot[w->own_first + s], tile = ikt_tile_of(tiles, at);
        const char *rows = ikt_tile_plain(tiles, tile, scratch);
        memcpy(mine + s * bytes, rows + (at - tiles->first[tile]) * bytes, (size_t)bytes);
    }
    if (st == IKT_OK) ikt_allgather(w->ctx, mine, own, (size_t)bytes, w->plain, w->counts);
    ikt_free(&scratch);
    ikt_free(&mine);
    return st;
}

/* The best own rows for all sampled rows, some of which are scored together. */
static void search(const measurement *w) {
    const ikt_tiles *tiles = w->tiles;
    const ikt_scorer *scorer = &tiles->scorer;
    const int64_t k = w->k;
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(w->ctx))
    for (int64_t from = 0; from < w->sample; from += TOGETHER) {
        const int64_t count = w->sample - from < TOGETHER ? w->sample - from : TOGETHER;
        float *tile = w->tile + (int64_t)omp_get_thread_num() * TOGETHER * IKT_TILE_ROWS;
        for (int64_t s = from; s < from + count; s++)
            ikt_best_clear(w->score + s * k, w->row + s * k, k);
        for (int64_t t = 0; t < tiles->count; t++) {
            const int64_t first = tiles->first[t], nb = tiles->first[t + 1] - first;
            scorer->score(scorer, w->plain + from * scorer->row_bytes, count,
                          tiles->data + tiles->offset[t], nb, tile);
            for (int64_t s = 0; s < count; s++)
                ikt_best_offer_row(w->score + (from + s) * k, w->row + (from + s) * k, k,
                                   w->slot[from + s], first, nb, tile + s * ikt_score_stride(nb));
        }
    }
}

/* COLLECTIVE. Lists of a sampled row go to the rank that owns it. */
static ikt_status collect(measurement *w) {
    int64_t *leave = NULL, *come = NULL, ranks = ikt_size(w->ctx);
    ikt_status st = ikt_alloc(w->ctx, &leave, ranks, sizeof *leave, "recall");
    if (st == IKT_OK) st = ikt_alloc(w->ctx, &come, ranks, sizeof *come, "recall");
    st = ikt_agree(w->ctx, st);
    if (st == IKT_OK) {
        for (int64_t r = 0; r < ranks; r++) {
            leave[r] = w->counts[r] * w->k;
            come[r] = w->counts[ikt_rank(w->ctx)] * w->k;
        }
        ikt_exchange(w->ctx, w->score, leave, w->come_score, come, sizeof *w->score);
        ikt_exchange(w->ctx, w->row, leave, w->come_row, come, sizeof *w->row);
    }
    ikt_free(&leave);
    ikt_free(&come);
    return st;
}

/* True lists of the own sampled rows, into w->score and w->row from the front. */
static void merge(measurement *w) {
    int64_t own = w->counts[ikt_rank(w->ctx)], k = w->k;
    for (int64_t s = 0; s < own; s++) {
        ikt_best_clear(w->score + s * k, w->row + s * k, k);
        for (int64_t e = 0; e < ikt_size(w->ctx) * k; e++) {
            int64_t at = (e / k * own + s) * k + e % k;
            ikt_best_offer(w->score + s * k, w->row + s * k, k, w->come_score[at], w->come_row[at]);
        }
    }
}

/* Closeness of a score: similarity, or distance where there is no greatest score. */
static double closeness(const ikt_tiles *tiles, float score) {
    return tiles->scorer.score_most > 0 ? tiles->scorer.score_most - (double)score
                                        : sqrt((double)score);
}

static void compare(measurement *w, ikt_recall *out) {
    int64_t own = w->counts[ikt_rank(w->ctx)], k = w->k, hits = 0;
    ikt_exact_sum sum[2] = {{{0}, 0, 0}, {{0}, 0, 0}}; /* of the lists, of the truth */
    for (int64_t s = 0; s < own; s++) {
        int64_t i = w->slot[w->own_first + s] - w->tiles->scorer.rows.first;
        for (int64_t e = 0; e < k; e++) {
            float score = w->lists->score[i * k + e];
            hits += score <= w->score[s * k]; /* the worst of the true list is on top */
            ikt_exact_sum_add(&sum[0], closeness(w->tiles, score));
            ikt_exact_sum_add(&sum[1], closeness(w->tiles, w->score[s * k + e]));
        }
    }
    hits = ikt_sum_one(w->ctx, hits);
    ikt_exact_sum_reduce(w->ctx, sum, 2);
    double lists = ikt_exact_sum_value(&sum[0]), truth = ikt_exact_sum_value(&sum[1]);
    double above = w->tiles->scorer.score_most > 0 ? lists : truth;
    double below = w->tiles->scorer.score_most > 0 ? truth : lists;
    out->sample = w->sample;
    out->found = (double)hits / (double)(w->sample * k);
    out->similarity = below > 0 ? above / below : 1;
}

ikt_status ikt_recall_measure(ikt_context *ctx, const ikt_tiles *tiles, const ikt_neighbours *lists,
                              uint64_t seed, int64_t sample, ikt_recall *out) {
    measurement w = {.ctx = ctx, .tiles = tiles, .lists = lists, .sample = sample, .k = lists->k};
    *out = (ikt_recall){0, 0, 0};
    ikt_status st = ikt_agree(ctx, alloc_measurement(&w, seed));
    if (st == IKT_OK) st = share_rows(&w);
    if (st == IKT_OK) {
        search(&w);
        st = collect(&w);
    }
    if (st == IKT_OK) {
        merge(&w);
        compare(&w, out);
    }
    free_measurement(&w);
    return st;
}
