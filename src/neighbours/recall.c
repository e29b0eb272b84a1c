/* Recall of a neighbour search on a sample of rows.
 *
 * Method: the sampled rows are queries, which belong to the ranks that own the rows;
 * these compare the true lists with those of the search. */
#include <math.h>
#include <stdio.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/watch.h"
#include "neighbours/exact.h"
#include "neighbours/search.h"

/* --- the nearest rows of a few rows ----------------------------------------------------------- */

ikt_status ikt_query_join(ikt_context *ctx, ikt_neighbours *lists, const int64_t *counts) {
    const int64_t k = lists->k, ranks = ikt_size(ctx), own = counts[ikt_rank(ctx)];
    IKT_ARRAYS(held, ctx, "lists of queries");
    int64_t *leave = ikt_claim(&held, ranks, sizeof *leave); /* entries */
    int64_t *come = ikt_claim(&held, ranks, sizeof *come);
    float *score = ikt_claim(&held, ranks * own * k, sizeof *score); /* from every rank */
    uint32_t *row = ikt_claim(&held, ranks * own * k, sizeof *row);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t r = 0; r < ranks; r++) {
        leave[r] = counts[r] * k;
        come[r] = own * k;
    }
    ikt_exchange(ctx, lists->score, leave, score, come, sizeof *score);
    ikt_exchange(ctx, lists->row, leave, row, come, sizeof *row);
    for (int64_t q = 0; q < own; q++) {
        float *best = lists->score + q * k;
        uint32_t *best_row = lists->row + q * k;
        ikt_best_clear(best, best_row, k);
        for (int64_t e = 0; e < ranks * k; e++) {
            const int64_t at = (e / k * own + q) * k + e % k;
            ikt_best_offer(best, best_row, k, score[at], row[at]);
        }
        ikt_best_sort(best, best_row, k);
    }
    return IKT_OK;
}

enum { BLOCK_ROWS = 1024 }; /* own rows that are scored at a time */

static const char purpose[] = "recall";

typedef struct {
    ikt_context *ctx;
    const ikt_tiles *tiles;
    int64_t sample, k;
    int64_t *slot;          /* [sample] ascending */
    int64_t *counts;        /* [ranks] sampled rows that each rank owns */
    int64_t own, own_first; /* those of this rank, and the first of them */
    char *plain;            /* [sample * row_bytes] the sampled rows, */
    float *wide;            /* [sample * d] and these as floats, where they are no such; or NULL */
    char *packed;           /* a block of own rows; NULL where rows are packed as they are */
    ikt_neighbours *best;   /* of the sampled rows among own rows; then of the own sampled ones */
} measurement;

static ikt_status allocate(measurement *w, ikt_arrays *held, uint64_t seed) {
    const ikt_scorer *scorer = &w->tiles->scorer;
    const ikt_rows sampled = ikt_rows_make(w->sample, 1, 0);
    w->slot = ikt_claim(held, w->sample, sizeof *w->slot);
    w->counts = ikt_claim(held, ikt_size(w->ctx), sizeof *w->counts);
    w->plain = ikt_claim(held, w->sample * scorer->row_bytes, 1);
    if (scorer->widen) w->wide = ikt_claim(held, w->sample * scorer->d, sizeof *w->wide);
    if (scorer->pack) w->packed = ikt_claim(held, scorer->packed_bytes(scorer, BLOCK_ROWS), 1);
    IKT_TRY(held->status);
    for (int64_t s = 0; s < w->sample; s++)
        w->slot[s] = ikt_rng_below(seed, IKT_RNG_SAMPLE, s, 0, scorer->rows.n);
    ikt_sort_i64(w->slot, w->sample);
    for (int64_t s = 0; s < w->sample; s++)
        w->own_first += w->slot[s] < scorer->rows.first;
    return ikt_neighbours_create(w->ctx, &sampled, w->k, w->best);
}

/* COLLECTIVE. The true lists of the own sampled rows. */
static ikt_status search(measurement *w) {
    const ikt_tiles *tiles = w->tiles;
    const ikt_scorer *scorer = &tiles->scorer;
    const int64_t bytes = scorer->row_bytes;
    const ikt_rows *own = &scorer->rows, all = ikt_rows_make(w->sample, 1, 0);
    ikt_rows_gather(w->ctx, own, w->slot, w->sample, tiles->data, (size_t)bytes, w->counts,
                    w->plain);
    w->own = w->counts[ikt_rank(w->ctx)];
    ikt_scorer sampled = *scorer;
    sampled.plain = w->plain;
    sampled.rows = all;
    if (scorer->widen) {
        scorer->widen(scorer, w->plain, w->sample, w->wide);
        sampled = ikt_scorer_rows(scorer->metric, w->wide, scorer->d, &all);
    }
    const int64_t most = ikt_rows_count(own, 0); /* rank 0 owns the most rows */
    for (int64_t done = 0; done < most; done += BLOCK_ROWS) {
        const int64_t from = ikt_smaller(done, own->count);
        const int64_t count = ikt_smaller(own->count - from, BLOCK_ROWS);
        const char *rows = tiles->data + from * bytes;
        ikt_status st = IKT_OK;
        if (w->packed) ikt_scorer_pack(w->ctx, scorer, rows, count, w->packed);
        if (count > 0)
            st = ikt_neighbours_offer(w->ctx, &sampled, w->slot, w->packed ? w->packed : rows,
                                      own->first + from, count, w->best);
        IKT_TRY(ikt_agree(w->ctx, st));
        IKT_TRY(ikt_watch_pause(w->ctx));
    }
    return ikt_query_join(w->ctx, w->best, w->counts);
}

/* Closeness of a score: similarity, or distance where there is no greatest score. */
static double closeness(const ikt_scorer *scorer, float score) {
    return scorer->score_most > 0 ? scorer->score_most - (double)score : sqrt((double)score);
}

/* COLLECTIVE. The lists that were found against the true ones, all ranks together. */
static void compare(measurement *w, const ikt_neighbours *lists, ikt_recall *out) {
    const ikt_scorer *scorer = &w->tiles->scorer;
    const int64_t k = w->k;
    ikt_exact_sum sum[2] = {{{0}, 0, 0}, {{0}, 0, 0}}; /* of the lists, of the truth */
    int64_t hits = 0;
    for (int64_t s = 0; s < w->own; s++) {
        const float *found = lists->score + (w->slot[w->own_first + s] - scorer->rows.first) * k;
        const float *truth = w->best->score + s * k;
        for (int64_t e = 0; e < k; e++) {
            hits += found[e] <= truth[k - 1];
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
    ikt_neighbours best IKT_AT_END(ikt_neighbours_destroy) = {0};
    IKT_ARRAYS(held, ctx, purpose);
    w.best = &best;
    *out = (ikt_recall){0, 0, 0};
    IKT_TRY(ikt_agree(ctx, allocate(&w, &held, seed)));
    IKT_TRY(search(&w));
    compare(&w, lists, out);
    return IKT_OK;
}

void ikt_recall_describe(const ikt_recall *recall, char text[static IKT_RECALL_TEXT]) {
    if (recall->found >= 0)
        snprintf(text, IKT_RECALL_TEXT,
                 "%.1f %% of the true neighbours, and %.2f %% of their similarity (on %lld rows)",
                 100 * recall->found, 100 * recall->similarity, (long long)recall->sample);
    else
        snprintf(text, IKT_RECALL_TEXT,
                 "%.2f %% of the similarity of the true neighbours (on %lld rows)",
                 100 * recall->similarity, (long long)recall->sample);
}
