/* Recall of a neighbour search on a sample of rows.
 *
 * Method: the sampled rows go to every rank; each scores them against its own rows and sends the k
 * best to the rank that owns the sampled row, which merges them and compares.
 * Advantage: exact, and no rank holds lists of all ranks. */
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/rng.h"
#include "base/sort.h"
#include "neighbours/exact.h"
#include "neighbours/search.h"

enum { BLOCK_ROWS = 1024 }; /* own rows that are scored at a time */

static const char purpose[] = "recall";

typedef struct {
    ikt_context *ctx;
    const ikt_tiles *tiles;
    int64_t sample, k;
    int64_t *slot;          /* [sample] ascending */
    int64_t *counts;        /* [ranks] sampled rows that each rank owns */
    int64_t own, own_first; /* those of this rank, and the first of them */
    char *plain, *mine;     /* [sample * row_bytes], [own * row_bytes] the sampled rows */
    char *packed;           /* a block of own rows; NULL where rows are packed as they are */
    ikt_neighbours best;    /* of the sampled rows among own rows */
    float *come_score;      /* [ranks * own * k] lists of own sampled rows from every rank */
    uint32_t *come_row;
    int64_t *leave, *come; /* [ranks] entries */
} measurement;

static ikt_status allocate(measurement *w, uint64_t seed) {
    ikt_context *ctx = w->ctx;
    const ikt_scorer *scorer = &w->tiles->scorer;
    const int64_t ranks = ikt_size(ctx), bytes = scorer->row_bytes;
    const ikt_rows sampled = ikt_rows_make(w->sample, 1, 0);
    IKT_TRY(ikt_alloc(ctx, &w->slot, w->sample, sizeof *w->slot, purpose));
    IKT_TRY(ikt_alloc(ctx, &w->counts, ranks, sizeof *w->counts, purpose));
    for (int64_t s = 0; s < w->sample; s++)
        w->slot[s] = ikt_rng_below(seed, IKT_RNG_SAMPLE, s, 0, scorer->rows.n);
    ikt_sort_i64(w->slot, w->sample);
    for (int64_t s = 0; s < w->sample; s++) {
        w->counts[ikt_rows_owner(&scorer->rows, w->slot[s])]++;
        w->own_first += w->slot[s] < scorer->rows.first;
    }
    w->own = w->counts[ikt_rank(ctx)];
    const int64_t coming = ranks * w->own * w->k;
    IKT_TRY(ikt_alloc(ctx, &w->plain, w->sample * bytes, 1, purpose));
    IKT_TRY(ikt_alloc(ctx, &w->mine, w->own * bytes, 1, purpose));
    if (scorer->pack)
        IKT_TRY(ikt_alloc(ctx, &w->packed, scorer->packed_bytes(scorer, BLOCK_ROWS), 1, purpose));
    IKT_TRY(ikt_neighbours_create(ctx, &sampled, w->k, &w->best));
    IKT_TRY(ikt_alloc(ctx, &w->come_score, coming, sizeof *w->come_score, purpose));
    IKT_TRY(ikt_alloc(ctx, &w->come_row, coming, sizeof *w->come_row, purpose));
    IKT_TRY(ikt_alloc(ctx, &w->leave, ranks, sizeof *w->leave, purpose));
    return ikt_alloc(ctx, &w->come, ranks, sizeof *w->come, purpose);
}

/* COLLECTIVE. The lists of all sampled rows among the own rows. */
static ikt_status search(measurement *w) {
    const ikt_tiles *tiles = w->tiles;
    const int64_t bytes = tiles->scorer.row_bytes;
    for (int64_t s = 0; s < w->own; s++) {
        const int64_t at = w->slot[w->own_first + s] - tiles->scorer.rows.first;
        memcpy(w->mine + s * bytes, tiles->data + at * bytes, (size_t)bytes);
    }
    ikt_allgather(w->ctx, w->mine, w->own, (size_t)bytes, w->plain, w->counts);
    ikt_scorer sampled = tiles->scorer;
    sampled.plain = w->plain;
    sampled.rows = ikt_rows_make(w->sample, 1, 0);
    ikt_status st = IKT_OK;
    const ikt_rows *own = &tiles->scorer.rows;
    for (int64_t from = 0; from < own->count && st == IKT_OK; from += BLOCK_ROWS) {
        const int64_t count = ikt_smaller(own->count - from, BLOCK_ROWS);
        const char *rows = tiles->data + from * bytes;
        if (w->packed) sampled.pack(&sampled, rows, count, w->packed);
        st = ikt_neighbours_offer(w->ctx, &sampled, w->slot, w->packed ? w->packed : rows,
                                  own->first + from, count, &w->best);
    }
    return ikt_agree(w->ctx, st);
}

/* Closeness of a score: similarity, or distance where there is no greatest score. */
static double closeness(const ikt_scorer *scorer, float score) {
    return scorer->score_most > 0 ? scorer->score_most - (double)score : sqrt((double)score);
}

/* COLLECTIVE. Lists go to the ranks that own the sampled rows, which merge them into the true lists
 * and compare. */
static void compare(measurement *w, const ikt_neighbours *lists, ikt_recall *out) {
    const ikt_scorer *scorer = &w->tiles->scorer;
    const int64_t k = w->k;
    ikt_exact_sum sum[2] = {{{0}, 0, 0}, {{0}, 0, 0}}; /* of the lists, of the truth */
    int64_t hits = 0;
    for (int r = 0; r < ikt_size(w->ctx); r++) {
        w->leave[r] = w->counts[r] * k;
        w->come[r] = w->own * k;
    }
    ikt_exchange(w->ctx, w->best.score, w->leave, w->come_score, w->come, sizeof(float));
    ikt_exchange(w->ctx, w->best.row, w->leave, w->come_row, w->come, sizeof(uint32_t));
    for (int64_t s = 0; s < w->own; s++) {
        float *score = w->best.score + s * k;
        uint32_t *row = w->best.row + s * k;
        ikt_best_clear(score, row, k);
        for (int64_t e = 0; e < ikt_size(w->ctx) * k; e++) {
            const int64_t at = (e / k * w->own + s) * k + e % k;
            ikt_best_offer(score, row, k, w->come_score[at], w->come_row[at]);
        }
    }
    for (int64_t s = 0; s < w->own; s++) {
        const float *found = lists->score + (w->slot[w->own_first + s] - scorer->rows.first) * k;
        const float *truth = w->best.score + s * k; /* the worst is on top */
        for (int64_t e = 0; e < k; e++) {
            hits += found[e] <= truth[0];
            ikt_exact_sum_add(&sum[0], closeness(scorer, found[e]));
            ikt_exact_sum_add(&sum[1], closeness(scorer, truth[e]));
        }
    }
    hits = ikt_sum_one(w->ctx, hits);
    ikt_exact_sum_reduce(w->ctx, sum, 2);
    const bool is_similarity = scorer->score_most > 0;
    const double above = ikt_exact_sum_value(&sum[is_similarity ? 0 : 1]);
    const double below = ikt_exact_sum_value(&sum[is_similarity ? 1 : 0]);
    out->sample = w->sample;
    out->found = (double)hits / (double)(w->sample * k);
    out->similarity = below > 0 ? above / below : 1;
}

ikt_status ikt_recall_measure(ikt_context *ctx, const ikt_tiles *tiles, const ikt_neighbours *lists,
                              uint64_t seed, int64_t sample, ikt_recall *out) {
    measurement w = {.ctx = ctx, .tiles = tiles, .sample = sample, .k = lists->k};
    *out = (ikt_recall){0, 0, 0};
    ikt_status st = ikt_agree(ctx, allocate(&w, seed));
    if (st == IKT_OK) st = search(&w);
    if (st == IKT_OK) compare(&w, lists, out);
    ikt_free(&w.slot);
    ikt_free(&w.counts);
    ikt_free(&w.plain);
    ikt_free(&w.mine);
    ikt_free(&w.packed);
    ikt_neighbours_destroy(&w.best);
    ikt_free(&w.come_score);
    ikt_free(&w.come_row);
    ikt_free(&w.leave);
    ikt_free(&w.come);
    return st;
}
