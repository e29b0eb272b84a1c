/* New rows in a map by triplets: from rows or codes to D of near and far old rows, and from these
 * to places. See transform.h, and objective/triplet_placing.h for what is minimised. */
#include <math.h>
#include <omp.h>

#include "base/arrays.h"
#include "base/exact_sum.h"
#include "base/sort.h"
#include "base/rng.h"
#include "base/timer.h"
#include "objective/triplet_placing.h"
#include "sampled/far_similarity.h"
#include "sampled/triplet.h"
#include "transform/transform.h"

enum {
    FAR = 256,         /* old rows that are far rows of all new ones */
    CHUNK_ROWS = 1024, /* new rows whose D to the far rows are held at a time */
    SCORED = 64        /* of them that are scored at a time */
};

static const char purpose[] = "placing";

/* How new rows are compared with old ones. */
typedef struct {
    ikt_context *ctx;
    const ikt_loaded_model *loaded;
    ikt_scorer scorer; /* of the new rows */
    float *scale;      /* [new rows] where rows are compared by distances; or NULL */
    float *of_score;   /* [t + 1] of codes: D of a number of differing entries; or NULL */
    float least;       /* scale that there is */
    int64_t *far;      /* [n_far] old rows, ascending */
    int64_t n_far;
    char *plain_far;  /* [n_far] their codes or numbers, */
    void *packed_far; /* and packed, where that is another form */
    ikt_codes codes;  /* which the scorer lends, */
    ikt_arrays held;  /* and the other arrays */
} comparison;

static void destroy(comparison *c) {
    ikt_scorer_destroy(&c->scorer);
    ikt_codes_destroy(&c->codes);
    ikt_free(&c->plain_far);
    ikt_arrays_free(&c->held);
}

int64_t ikt_new_triplets_far(int64_t n) {
    return ikt_smaller(n, FAR);
}

int64_t ikt_new_triplets_lists(const ikt_loaded_model *loaded, int64_t k) {
    ikt_triplet_settings settings = loaded->settings.layout.own.triplet;
    settings.neighbours = k;
    const int64_t length = loaded->shape.has_rows ? ikt_triplet_lists(&settings, true) : k;
    return ikt_smaller(length, loaded->shape.n);
}

static float d_of(const comparison *c, float score, float scale, int64_t old) {
    return c->of_score ? c->of_score[(int64_t)score] : score / (scale * c->loaded->scale[old]);
}

/* --- near rows -------------------------------------------------------------------------------- */

/* Scores of lists, squared distances or differing entries, become D, by which they are sorted. */
static void find_near_d(const comparison *c, ikt_neighbours *lists, float *scale) {
    const ikt_triplet_settings *s = &c->loaded->settings.layout.own.triplet;
    const int64_t k = lists->k;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(c->ctx))
    for (int64_t i = 0; i < lists->n_local; i++) {
        float *score = lists->score + i * k;
        uint32_t *row = lists->row + i * k;
        if (scale)
            scale[i] = fmaxf((float)ikt_scale_of(score, k, s->scale_from, s->scale_to), c->least);
        for (int64_t e = 0; e < k; e++)
            score[e] = d_of(c, score[e], scale ? scale[i] : 1, row[e]);
        ikt_best_sort(score, row, k);
    }
}

/* LOCAL. How small a scale may be: a share of the mean of the old ones. */
static float least_scale(const ikt_loaded_model *m) {
    ikt_exact_sum sum = {{0}, 0, 0};
    for (int64_t i = 0; i < m->shape.n; i++)
        ikt_exact_sum_add(&sum, (double)m->scale[i]);
    return (float)(IKT_SCALE_LEAST * ikt_exact_sum_value(&sum) / (double)m->shape.n);
}

/* COLLECTIVE. Lists of near old rows with D in place of scores, of rows compared by codes. */
static ikt_status find_near_codes(comparison *c, ikt_dataset *data, ikt_transformed *done,
                                  ikt_neighbours *lists) {
    const int64_t t = c->loaded->shape.t;
    ikt_new_lists new = {.similarity = NULL};
    IKT_TRY(ikt_new_lists_find(c->ctx, c->loaded, data, &done->rows, done->k, &c->codes, &new));
    *lists = new.lists;
    done->similarity = new.similarity;
    done->zero_similarity = new.zero_similarity;
    done->cells = new.cells;
    c->scorer = ikt_scorer_codes(&c->codes, &done->rows);
    c->of_score = ikt_claim(&c->held, t + 1, sizeof *c->of_score);
    IKT_TRY(ikt_arrays_agree(&c->held));
    for (int64_t differing = 0; differing <= t; differing++)
        c->of_score[differing] = (float)log((double)(1 + t) / (double)(1 + t - differing));
    find_near_d(c, lists, NULL);
    return IKT_OK;
}

/* COLLECTIVE. The same of rows compared by distances. */
static ikt_status find_near_rows(comparison *c, ikt_dataset *data, ikt_transformed *done,
                                 ikt_neighbours *lists) {
    ikt_context *ctx = c->ctx;
    const int64_t count = done->rows.count, length = ikt_new_triplets_lists(c->loaded, done->k);
    c->least = least_scale(c->loaded);
    IKT_TRY_STAGE(ctx, IKT_STAGE_READ, ikt_scorer_data(ctx, data, &done->rows, &c->scorer));
    IKT_TRY(ikt_agree(ctx, ikt_neighbours_create(ctx, &done->rows, length, lists)));
    c->scale = ikt_claim(&c->held, count, sizeof *c->scale);
    IKT_TRY(ikt_arrays_agree(&c->held));
    IKT_TRY(ikt_alloc_all(ctx, &done->similarity, count, sizeof *done->similarity, "neighbours"));
    IKT_TRY(ikt_old_rows_search(ctx, c->loaded, &c->scorer, lists));
    find_near_d(c, lists, c->scale);
    for (int64_t i = 0; i < count; i++)
        done->similarity[i] = expf(-lists->score[i * lists->k]);
    return IKT_OK;
}

/* --- far rows --------------------------------------------------------------------------------- */

/* COLLECTIVE. Codes or numbers of the far rows on all ranks, each of which reads a share. */
static ikt_status read_far(comparison *c) {
    ikt_context *ctx = c->ctx;
    const ikt_scorer *scorer = &c->scorer;
    const bool has_rows = c->loaded->shape.has_rows;
    const ikt_model_part part = has_rows ? IKT_MODEL_ROWS : IKT_MODEL_CODES;
    const int64_t bytes = scorer->row_bytes; /* codes with zeros behind them */
    const ikt_rows share = ikt_rows_make(c->n_far, ikt_size(ctx), ikt_rank(ctx));
    const int64_t steps = ikt_rows_count(&share, 0);
    IKT_ARRAYS(held, ctx, purpose);
    char *own = ikt_claim(&held, share.count, (size_t)bytes);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t e = 0; e < steps; e++) {
        const bool is_one = e < share.count;
        IKT_TRY(ikt_model_file_read(c->loaded->file, part, is_one ? c->far[share.first + e] : 0,
                                    is_one, is_one ? own + e * bytes : own, 0));
    }
    IKT_TRY(ikt_share_rows(ctx, &share, own, (size_t)bytes, purpose, &c->plain_far));
    ikt_arrays_free(&held);
    if (!scorer->pack) return IKT_OK;
    c->packed_far = ikt_claim(&c->held, scorer->packed_bytes(scorer, c->n_far), 1);
    IKT_TRY(ikt_arrays_agree(&c->held));
    scorer->pack(scorer, c->plain_far, c->n_far, c->packed_far);
    return IKT_OK;
}

/* COLLECTIVE. Draws the far rows, a function of the seed alone, so that no new row's place depends
 * on the others or on their order. */
static ikt_status draw_far(comparison *c) {
    const int64_t n = c->loaded->shape.n;
    const uint64_t seed = (uint64_t)c->loaded->settings.run.seed;
    c->n_far = ikt_new_triplets_far(n);
    const int64_t slots = ikt_draw_slots(c->n_far);
    IKT_ARRAYS(held, c->ctx, purpose);
    c->far = ikt_claim(&c->held, c->n_far, sizeof *c->far);
    int64_t *slot = ikt_claim(&held, slots, sizeof *slot);
    IKT_TRY(ikt_arrays_agree(&c->held));
    IKT_TRY(ikt_arrays_agree(&held));
    ikt_draw_subset(seed, IKT_RNG_PLACING, 0, n, c->n_far, slot, slots, c->far);
    return IKT_OK;
}

/* LOCAL. D of some rows and the far rows.
 *   plain   [count] codes or numbers of the rows
 *   scale   [count] of them, or NULL
 *   tile    [threads * SCORED * stride] work space
 *   d       [count * n_far], receives them */
static void find_far_d(const comparison *c, const char *plain, const float *scale, int64_t count,
                       float *tile, float *d) {
    const ikt_scorer *scorer = &c->scorer;
    const int64_t stride = ikt_score_stride(c->n_far);
    const void *far = c->packed_far ? c->packed_far : c->plain_far;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(c->ctx))
    for (int64_t first = 0; first < count; first += SCORED) {
        const int64_t some = ikt_smaller(count - first, SCORED);
        float *score = tile + omp_get_thread_num() * SCORED * stride;
        scorer->score(scorer, plain + first * scorer->row_bytes, some, far, c->n_far, score);
        for (int64_t i = 0; i < some; i++)
            for (int64_t k = 0; k < c->n_far; k++)
                d[(first + i) * c->n_far + k] =
                    d_of(c, score[i * stride + k], scale ? scale[first + i] : 1, c->far[k]);
    }
}

/* COLLECTIVE. The greatest L, by which ratios are weighed, of the triplets of the far rows
 * themselves with their nearest old row: a sample of those of the map. */
static ikt_status find_most(const comparison *c, int64_t k, float *tile, float *d, double *most) {
    ikt_context *ctx = c->ctx;
    const ikt_rows rows = {.n = c->n_far, .ranks = 1, .first = 0, .count = c->n_far};
    const int64_t length = ikt_new_triplets_lists(c->loaded, k + 1);
    ikt_scorer scorer = c->scorer;
    ikt_neighbours lists IKT_AT_END(ikt_neighbours_destroy) = {.row = NULL};
    float *scale = NULL;
    scorer.rows = rows;
    scorer.plain = c->plain_far;
    scorer.owned = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_neighbours_create(ctx, &rows, ikt_larger(length, 2), &lists)));
    IKT_ARRAYS(held, ctx, purpose);
    if (c->loaded->scale) scale = ikt_claim(&held, c->n_far, sizeof *scale);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_old_rows_search(ctx, c->loaded, &scorer, &lists));
    find_near_d(c, &lists, scale);
    for (int64_t i = 0; scale && i < c->n_far; i++)
        scale[i] = c->loaded->scale[c->far[i]]; /* that of the run, whose lists were without i */
    for (int64_t first = 0; first < c->n_far; first += CHUNK_ROWS) {
        const int64_t count = ikt_smaller(CHUNK_ROWS, c->n_far - first);
        find_far_d(c, c->plain_far + first * scorer.row_bytes, scale ? scale + first : NULL, count,
                   tile, d);
        for (int64_t i = 0; i < count; i++) {
            const int64_t at = (first + i) * lists.k;
            const bool is_own = (int64_t)lists.row[at] == c->far[first + i];
            for (int64_t e = 0; e < c->n_far; e++)
                *most = fmax(*most, (double)d[i * c->n_far + e] - (double)lists.score[at + is_own]);
        }
    }
    return IKT_OK;
}

/* --- places ----------------------------------------------------------------------------------- */

/* COLLECTIVE. Some rows at a time. */
static ikt_status place_all(const comparison *c, const ikt_neighbours *near, int64_t trials,
                            ikt_transformed *done) {
    ikt_context *ctx = c->ctx;
    const ikt_loaded_model *m = c->loaded;
    const int64_t count = done->rows.count, q = m->shape.q;
    ikt_placed_triplets old = {.y = m->y,
                               .q = (int)q,
                               .settings = m->settings.layout.own.triplet,
                               .seed = (uint64_t)m->settings.run.seed,
                               .n_far = c->n_far,
                               .far = c->far};
    old.settings.neighbours = done->k;
    IKT_ARRAYS(held, ctx, "embedding");
    done->y = ikt_claim_kept(&held, count * q, sizeof *done->y);
    done->divergence = ikt_claim_kept(&held, count, sizeof *done->divergence);
    done->nearest = ikt_claim_kept(&held, count, sizeof *done->nearest);
    held.purpose = purpose;
    float *d = ikt_claim(&held, ikt_larger(CHUNK_ROWS, c->n_far) * c->n_far, sizeof *d);
    float *tile =
        ikt_claim(&held, ikt_threads(ctx) * SCORED * ikt_score_stride(c->n_far), sizeof *tile);
    IKT_TRY(ikt_arrays_agree(&held));
    if (old.settings.weights == IKT_TRIPLET_RATIO)
        IKT_TRY(find_most(c, done->k, tile, d, &old.most));
    ikt_status st = IKT_OK;
    for (int64_t first = 0; st == IKT_OK && first < count; first += CHUNK_ROWS) {
        const int64_t some = ikt_smaller(CHUNK_ROWS, count - first);
        const ikt_neighbours part = {some, near->k, near->row + first * near->k,
                                     near->score + first * near->k};
        find_far_d(c, (const char *)c->scorer.plain + first * c->scorer.row_bytes,
                   c->scale ? c->scale + first : NULL, some, tile, d);
        st = ikt_triplets_place(ctx, &old, &part, d, trials, done->y + first * q,
                                done->divergence + first, &done->unsettled);
        for (int64_t i = 0; i < some; i++)
            done->nearest[first + i] = part.row[i * near->k];
    }
    return ikt_agree(ctx, st);
}

ikt_status ikt_new_triplets_place(ikt_context *ctx, ikt_dataset *data, int64_t trials,
                                  ikt_transformed *done) {
    comparison c IKT_AT_END(destroy) = {
        .ctx = ctx, .loaded = &done->loaded, .held = ikt_arrays_of(ctx, purpose)};
    ikt_neighbours near IKT_AT_END(ikt_neighbours_destroy) = {.row = NULL};
    IKT_TRY(done->loaded.shape.has_rows ? find_near_rows(&c, data, done, &near)
                                        : find_near_codes(&c, data, done, &near));
    IKT_IN_STAGE(ctx, IKT_STAGE_LAYOUT);
    IKT_TRY(draw_far(&c));
    IKT_TRY(read_far(&c));
    return place_all(&c, &near, trials, done);
}
