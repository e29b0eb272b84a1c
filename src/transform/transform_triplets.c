/* New rows in a map by triplets: from rows or codes to D of near and far old rows, and from these
 * to places. See transform.h, and objective/triplet_placing.h for what is minimised. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/memory.h"
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
} comparison;

int64_t ikt_new_triplets_far(int64_t n) {
    return n < FAR ? n : FAR;
}

int64_t ikt_new_triplets_lists(const ikt_loaded_model *loaded, int64_t k) {
    ikt_triplet_settings settings = loaded->settings.layout.own.triplet;
    settings.neighbours = k;
    const int64_t length = loaded->shape.has_rows ? ikt_triplet_lists(&settings, true) : k;
    return length < loaded->shape.n ? length : loaded->shape.n;
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

/* COLLECTIVE. The new rows, and lists of near old rows with D in place of scores.
 *   codes   receives them where rows are compared by codes; the scorer lends them */
static ikt_status find_near(comparison *c, ikt_dataset *data, ikt_transformed *done,
                            ikt_codes *codes, ikt_neighbours *lists) {
    ikt_context *ctx = c->ctx;
    const ikt_loaded_model *m = c->loaded;
    const int64_t t = m->shape.t, count = done->rows.count;
    if (!m->shape.has_rows) {
        ikt_new_lists new = {0};
        IKT_TRY(ikt_new_lists_find(ctx, m, data, &done->rows, done->k, codes, &new));
        *lists = new.lists;
        done->similarity = new.similarity;
        done->zero_similarity = new.zero_similarity;
        done->cells = new.cells;
        c->scorer = ikt_scorer_codes(codes, &done->rows);
        IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &c->of_score, t + 1, sizeof(float), purpose)));
        for (int64_t differing = 0; differing <= t; differing++)
            c->of_score[differing] = (float)log((double)(1 + t) / (double)(1 + t - differing));
        find_near_d(c, lists, NULL);
        return IKT_OK;
    }
    c->least = least_scale(m);
    ikt_stage_begin(ctx, IKT_STAGE_READ);
    ikt_status st = ikt_scorer_data(ctx, data, &done->rows, &c->scorer);
    ikt_stage_end(ctx, IKT_STAGE_READ);
    if (st == IKT_OK) {
        st = ikt_neighbours_create(ctx, &done->rows, ikt_new_triplets_lists(m, done->k), lists);
        if (st == IKT_OK) st = ikt_alloc(ctx, &c->scale, count, sizeof *c->scale, purpose);
        if (st == IKT_OK)
            st = ikt_alloc(ctx, &done->similarity, count, sizeof *done->similarity, "neighbours");
        st = ikt_agree(ctx, st);
    }
    if (st == IKT_OK) st = ikt_old_rows_search(ctx, m, &c->scorer, lists);
    IKT_TRY(st);
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
    char *own = NULL;
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &own, share.count, (size_t)bytes, purpose));
    for (int64_t e = 0; st == IKT_OK && e < steps; e++) {
        const bool is_one = e < share.count;
        st = ikt_model_file_read(c->loaded->file, part, is_one ? c->far[share.first + e] : 0,
                                 is_one, is_one ? own + e * bytes : own, 0);
    }
    if (st == IKT_OK) st = ikt_share_rows(ctx, &share, own, (size_t)bytes, purpose, &c->plain_far);
    ikt_free(&own);
    if (st != IKT_OK || !scorer->pack) return st;
    st = ikt_agree(
        ctx, ikt_alloc(ctx, &c->packed_far, scorer->packed_bytes(scorer, c->n_far), 1, purpose));
    if (st == IKT_OK) scorer->pack(scorer, c->plain_far, c->n_far, c->packed_far);
    return st;
}

/* COLLECTIVE. Draws the far rows, a function of the seed alone, so that no new row's place depends
 * on the others or on their order. */
static ikt_status draw_far(comparison *c) {
    ikt_context *ctx = c->ctx;
    const int64_t n = c->loaded->shape.n;
    const uint64_t seed = (uint64_t)c->loaded->settings.run.seed;
    int64_t *slot = NULL;
    c->n_far = ikt_new_triplets_far(n);
    const int64_t slots = ikt_draw_slots(c->n_far);
    ikt_status st = ikt_alloc(ctx, &c->far, c->n_far, sizeof *c->far, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &slot, slots, sizeof *slot, purpose);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) ikt_draw_subset(seed, IKT_RNG_PLACING, 0, n, c->n_far, slot, slots, c->far);
    ikt_free(&slot);
    return st == IKT_OK ? read_far(c) : st;
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
        const int64_t some = count - first < SCORED ? count - first : SCORED;
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
    ikt_neighbours lists = {0};
    float *scale = NULL;
    scorer.rows = rows;
    scorer.plain = c->plain_far;
    scorer.owned = NULL;
    ikt_status st = ikt_neighbours_create(ctx, &rows, length < 2 ? 2 : length, &lists);
    if (st == IKT_OK && c->loaded->scale)
        st = ikt_alloc(ctx, &scale, c->n_far, sizeof *scale, purpose);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = ikt_old_rows_search(ctx, c->loaded, &scorer, &lists);
    if (st == IKT_OK) find_near_d(c, &lists, scale);
    for (int64_t i = 0; scale && st == IKT_OK && i < c->n_far; i++)
        scale[i] = c->loaded->scale[c->far[i]]; /* that of the run, whose lists were without i */
    for (int64_t first = 0; st == IKT_OK && first < c->n_far; first += CHUNK_ROWS) {
        const int64_t left = c->n_far - first, count = left < CHUNK_ROWS ? left : CHUNK_ROWS;
        find_far_d(c, c->plain_far + first * scorer.row_bytes, scale ? scale + first : NULL, count,
                   tile, d);
        for (int64_t i = 0; i < count; i++) {
            const int64_t at = (first + i) * lists.k;
            const bool is_own = (int64_t)lists.row[at] == c->far[first + i];
            for (int64_t e = 0; e < c->n_far; e++)
                *most = fmax(*most, (double)d[i * c->n_far + e] - (double)lists.score[at + is_own]);
        }
    }
    ikt_neighbours_destroy(&lists);
    ikt_free(&scale);
    return st;
}

/* --- places ----------------------------------------------------------------------------------- */

/* COLLECTIVE. Some rows at a time. */
static ikt_status place_all(const comparison *c, const ikt_neighbours *near, int64_t trials,
                            ikt_transformed *done) {
    ikt_context *ctx = c->ctx;
    const ikt_loaded_model *m = c->loaded;
    const int64_t count = done->rows.count, q = m->shape.q, threads = ikt_threads(ctx);
    const int64_t chunk = CHUNK_ROWS > c->n_far ? CHUNK_ROWS : c->n_far;
    ikt_placed_triplets old = {.y = m->y,
                               .q = (int)q,
                               .settings = m->settings.layout.own.triplet,
                               .seed = (uint64_t)m->settings.run.seed,
                               .n_far = c->n_far,
                               .far = c->far};
    float *d = NULL, *tile = NULL;
    old.settings.neighbours = done->k;
    ikt_status st = ikt_alloc(ctx, &done->y, count * q, sizeof *done->y, "embedding");
    if (st == IKT_OK) st = ikt_alloc(ctx, &done->divergence, count, sizeof(double), "embedding");
    if (st == IKT_OK) st = ikt_alloc(ctx, &done->nearest, count, sizeof(int64_t), "embedding");
    if (st == IKT_OK) st = ikt_alloc(ctx, &d, chunk * c->n_far, sizeof *d, purpose);
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &tile, threads * SCORED * ikt_score_stride(c->n_far), sizeof *tile,
                       purpose);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK && old.settings.weights == IKT_TRIPLET_RATIO)
        st = find_most(c, done->k, tile, d, &old.most);
    for (int64_t first = 0; st == IKT_OK && first < count; first += CHUNK_ROWS) {
        const int64_t some = count - first < CHUNK_ROWS ? count - first : CHUNK_ROWS;
        const ikt_neighbours part = {some, near->k, near->row + first * near->k,
                                     near->score + first * near->k};
        find_far_d(c, (const char *)c->scorer.plain + first * c->scorer.row_bytes,
                   c->scale ? c->scale + first : NULL, some, tile, d);
        st = ikt_triplets_place(ctx, &old, &part, d, trials, done->y + first * q,
                                done->divergence + first, &done->unsettled);
        for (int64_t i = 0; i < some; i++)
            done->nearest[first + i] = part.row[i * near->k];
    }
    ikt_free(&d);
    ikt_free(&tile);
    return ikt_agree(ctx, st);
}

ikt_status ikt_new_triplets_place(ikt_context *ctx, ikt_dataset *data, int64_t trials,
                                  ikt_transformed *done) {
    comparison c = {.ctx = ctx, .loaded = &done->loaded};
    ikt_codes codes = {0};
    ikt_neighbours near = {0};
    ikt_status st = find_near(&c, data, done, &codes, &near);
    ikt_stage_begin(ctx, IKT_STAGE_LAYOUT);
    if (st == IKT_OK) st = draw_far(&c);
    if (st == IKT_OK) st = place_all(&c, &near, trials, done);
    ikt_stage_end(ctx, IKT_STAGE_LAYOUT);
    ikt_scorer_destroy(&c.scorer);
    ikt_codes_destroy(&codes);
    ikt_neighbours_destroy(&near);
    ikt_free(&c.scale);
    ikt_free(&c.of_score);
    ikt_free(&c.far);
    ikt_free(&c.plain_far);
    ikt_free(&c.packed_far);
    return st;
}
