/* Lists of wide rows that are searched as bytes. See byte_lists.h. */
#include "neighbours/byte_lists.h"

#include <math.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/watch.h"
#include "linalg/blocks.h"
#include "metric/halves.h"
#include "metric/near_bytes.h"
#include "neighbours/exact.h"
#include "neighbours/foreign.h"
#include "neighbours/search.h"

enum { TRIED = 64, READ_ROWS = 4096 /* that are compared with them at a time */ };

static const char purpose[] = "lists by bytes";

/* Half the squared length of a row, at most: a product of two steps stays finite. */
static const float half_most = 1e30F;

bool ikt_byte_lists_suit(bool is_manhattan, int64_t n, int64_t d, int64_t passes) {
    return passes > 1 && n >= TRIED && d >= IKT_BYTES_WORTH &&
           ikt_bytes_suit(false, is_manhattan, d);
}

/* The rows plain and packed; lists, and those of a pass. */
int64_t ikt_byte_lists_memory(const ikt_rows *rows, int64_t k, int64_t d) {
    return 2 * rows->count * ikt_near_bytes_words(d) * (int64_t)sizeof(int32_t) +
           2 * ikt_neighbours_memory(rows->count, ikt_byte_lists_length(rows->n, k));
}

/* --- the trial -------------------------------------------------------------------------------- */

/* The tried rows in one of the two forms, and their lists. */
typedef struct {
    ikt_scorer scorer;
    void *plain, *packed; /* [TRIED] rows, [READ_ROWS] rows */
    ikt_neighbours lists;
} tried_form;

typedef struct {
    ikt_context *ctx;
    ikt_dataset *data;
    const ikt_rows *rows;
    const ikt_byte_rows *bytes;
    int64_t row[TRIED], d;
    int64_t *counts; /* [ranks] tried rows whose lists a rank joins */
    tried_form form[2];
    float *x;                  /* [READ_ROWS * d] */
    int64_t too_large, uneven; /* rows: beyond bytes; that half precision does not hold */
} trial;

static ikt_status create(trial *t, ikt_arrays *held, int64_t k) {
    const ikt_rows tried = ikt_rows_make(TRIED, 1, 0);
    const int64_t d = t->d, words = ikt_near_bytes_words(d), ranks = ikt_size(t->ctx);
    const int64_t length[] = {k, ikt_byte_lists_length(t->rows->n, k)};
    t->form[0].plain = ikt_claim(held, TRIED * d, sizeof(float));
    t->form[1].plain = ikt_claim(held, TRIED * words, sizeof(int32_t));
    t->form[0].scorer = ikt_scorer_rows(ikt_metric_of(t->data), t->form[0].plain, d, &tried);
    t->form[1].scorer = ikt_scorer_bytes(t->form[1].plain, d, &tried);
    t->x = ikt_claim(held, READ_ROWS * d, sizeof *t->x);
    t->counts = ikt_claim(held, ranks, sizeof *t->counts);
    for (int f = 0; f < 2; f++) {
        const ikt_scorer *scorer = &t->form[f].scorer;
        t->form[f].packed = ikt_claim(held, scorer->packed_bytes(scorer, READ_ROWS), 1);
    }
    IKT_TRY(held->status);
    for (int64_t r = 0; r < ranks; r++)
        t->counts[r] = ikt_rows_make(TRIED, (int)ranks, (int)r).count;
    for (int64_t i = 0; i < TRIED; i++)
        t->row[i] = i * t->rows->n / TRIED;
    for (int f = 0; f < 2; f++)
        IKT_TRY(ikt_neighbours_create(t->ctx, &tried, length[f], &t->form[f].lists));
    return IKT_OK;
}

/* LOCAL. Makes bytes of own rows that have been read, and offers them to the lists in both forms.
 */
static ikt_status offer(trial *t, int64_t first, int64_t count) {
    const int64_t d = t->d, words = ikt_near_bytes_words(d);
    int32_t *word = t->bytes->word + (first - t->rows->first) * words;
    const void *plain[] = {t->x, word};
    const ikt_halves_kernel *halves = ikt_halves_kernel_for(ikt_cpu_isa());
    int64_t too_large = 0, uneven = 0;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(t->ctx))                         \
    reduction(+ : too_large, uneven)
    for (int64_t i = 0; i < count; i++) {
        float half;
        ikt_near_bytes_rows(t->x + i * d, 1, d, t->bytes->mean, word + i * words);
        memcpy(&half, word + i * words + 1, sizeof half);
        too_large += !(half <= half_most);
        uneven += !halves->hold(t->x + i * d, d);
    }
    t->too_large += too_large;
    t->uneven += uneven;
    for (int f = 0; f < 2; f++) {
        tried_form *form = &t->form[f];
        ikt_scorer_pack(t->ctx, &form->scorer, plain[f], count, form->packed);
        IKT_TRY(ikt_neighbours_offer(t->ctx, &form->scorer, t->row, form->packed, first, count,
                                     &form->lists));
    }
    return IKT_OK;
}

/* Entries of the true list of a tried row that its list by bytes lacks. */
static int64_t missed_of(const trial *t, int64_t i) {
    const ikt_neighbours *all = &t->form[0].lists, *some = &t->form[1].lists;
    int64_t missed = all->k;
    for (int64_t e = 0; e < all->k; e++)
        for (int64_t f = 0; f < some->k; f++)
            missed -= some->row[i * some->k + f] == all->row[i * all->k + e];
    return missed;
}

static void trial_end(trial *t) {
    for (int f = 0; f < 2; f++)
        ikt_neighbours_destroy(&t->form[f].lists);
}

/* COLLECTIVE. Reads the own rows, some at a time. */
static ikt_status offer_all(trial *t) {
    const ikt_row_range own = {t->rows->first, t->rows->count};
    const int64_t steps = ikt_stream_steps(t->ctx, own.count, READ_ROWS);
    ikt_status st = IKT_OK;
    for (int64_t step = 0; step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, READ_ROWS, step);
        IKT_TRY(ikt_dataset_read(t->data, at.first, at.count, t->x));
        if (st == IKT_OK) st = offer(t, at.first, at.count);
        IKT_TRY(ikt_watch_pause(t->ctx));
    }
    return ikt_agree(t->ctx, st);
}

ikt_status ikt_byte_lists_try(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows, int64_t k,
                              ikt_arrays *held, ikt_byte_rows *bytes, double *share) {
    trial t IKT_AT_END(trial_end) = {
        .ctx = ctx, .data = data, .rows = rows, .bytes = bytes, .d = ikt_dataset_columns(data)};
    const int64_t words = ikt_near_bytes_words(t.d);
    int64_t missed = 0;
    IKT_ARRAYS(work, ctx, purpose);
    bytes->word = ikt_claim(held, rows->count * words, sizeof *bytes->word);
    IKT_TRY(ikt_arrays_agree(held));
    IKT_TRY(ikt_agree(ctx, create(&t, &work, k)));
    IKT_TRY(ikt_dataset_gather_floats(data, t.row, TRIED, t.form[0].plain));
    ikt_near_bytes_rows(t.form[0].plain, TRIED, t.d, bytes->mean, t.form[1].plain);
    IKT_TRY(offer_all(&t));
    for (int f = 0; f < 2; f++)
        IKT_TRY(ikt_query_join(ctx, &t.form[f].lists, t.counts));
    for (int64_t i = 0; i < t.counts[ikt_rank(ctx)]; i++)
        missed += missed_of(&t, i);
    missed = ikt_sum_one(ctx, missed);
    bytes->is_half = ikt_sum_one(ctx, t.uneven) == 0;
    *share = ikt_sum_one(ctx, t.too_large) > 0 ? 1 : (double)missed / (double)(TRIED * k);
    return IKT_OK;
}

/* --- the distances themselves ----------------------------------------------------------------- */

typedef struct {
    const ikt_tiles *tiles;
    const ikt_neighbours *bytes;
    ikt_neighbours *out;
    ikt_foreign foreign; /* rows that a batch wants */
    const char **other;  /* [threads * bytes->k] where rows lie */
    float *score;        /* the same */
    ikt_pair *pair;      /* the same */
    char *scratch;       /* [threads * scorer.scratch_bytes] */
} decision;

static void decide_row(const decision *w, int64_t i, int thread) {
    const ikt_scorer *scorer = &w->tiles->scorer;
    const int64_t length = w->bytes->k, k = w->out->k;
    const uint32_t *row = w->bytes->row + i * length;
    const char **other = w->other + thread * length;
    float *score = w->score + thread * length;
    ikt_pair *pair = w->pair + thread * length;
    int64_t count = 0;
    for (; count < length && row[count] != UINT32_MAX; count++)
        other[count] = ikt_foreign_value(&w->foreign, &scorer->rows, w->tiles->data, row[count]);
    scorer->score_one(scorer, w->tiles->data + i * scorer->row_bytes, other, count,
                      w->scratch + thread * scorer->scratch_bytes, score);
    for (int64_t e = 0; e < count; e++)
        pair[e] = ikt_pair_make(score[e], row[e]);
    ikt_pairs_sort(pair, count);
    ikt_best_write(w->out->score + i * k, w->out->row + i * k, pair, ikt_smaller(count, k));
}

/* COLLECTIVE. The own rows first .. end - 1. */
static ikt_status decide_batch(ikt_context *ctx, decision *w, int64_t first, int64_t end,
                               ikt_number_set *wanted) {
    const ikt_scorer *scorer = &w->tiles->scorer;
    w->foreign = (ikt_foreign){.bytes = scorer->row_bytes};
    if (ikt_size(ctx) > 1) {
        ikt_number_set_empty(wanted);
        for (int64_t e = first * w->bytes->k; e < end * w->bytes->k; e++)
            if (w->bytes->row[e] != UINT32_MAX && !ikt_is_own(&scorer->rows, w->bytes->row[e]))
                ikt_number_set_add(wanted, w->bytes->row[e]);
        IKT_TRY(ikt_foreign_fetch(ctx, &scorer->rows, wanted, w->tiles->data, scorer->row_bytes,
                                  &w->foreign));
    }
#pragma omp parallel for schedule(dynamic, 64) num_threads(ikt_threads(ctx))
    for (int64_t i = first; i < end; i++)
        decide_row(w, i, omp_get_thread_num());
    ikt_foreign_destroy(&w->foreign);
    return IKT_OK;
}

ikt_status ikt_byte_lists_decide(ikt_context *ctx, const ikt_tiles *tiles,
                                 const ikt_neighbours *bytes, ikt_neighbours *out) {
    const ikt_scorer *scorer = &tiles->scorer;
    const int64_t entries = ikt_threads(ctx) * bytes->k, own = scorer->rows.count;
    const int64_t most = ikt_max_one(ctx, own);
    const int64_t batch =
        ikt_size(ctx) > 1 ? ikt_foreign_batch(ctx, most, bytes->k, scorer->row_bytes) : most;
    decision w = {.tiles = tiles, .bytes = bytes, .out = out};
    ikt_number_set wanted = {0};
    IKT_ARRAYS(held, ctx, purpose);
    w.other = ikt_claim(&held, entries, sizeof *w.other);
    w.score = ikt_claim(&held, entries, sizeof *w.score);
    w.pair = ikt_claim(&held, entries, sizeof *w.pair);
    w.scratch = ikt_claim(&held, ikt_threads(ctx) * scorer->scratch_bytes, 1);
    if (ikt_size(ctx) > 1) ikt_number_set_create(&held, batch * bytes->k, &wanted);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t first = 0; first < most; first += batch)
        IKT_TRY(decide_batch(ctx, &w, ikt_smaller(first, own), ikt_smaller(first + batch, own),
                             &wanted));
    return IKT_OK;
}
