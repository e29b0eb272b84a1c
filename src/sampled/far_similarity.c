/* D of pairs of rows. See far_similarity.h. */
#include "sampled/far_similarity.h"

#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/exact_sum.h"
#include "base/log.h"
#include "isolation/similarity.h"
#include "sampled/pool.h"

static const char purpose[] = "triplets";

static const char *far_payload(const ikt_tile_pairs *t, int64_t a) {
    return t->payload + (size_t)t->place[a] * t->stride;
}

/* The numbers of the own rows of a tile, column by column. */
static const float *own_tile(const ikt_similarity *s, const ikt_tile_pairs *t) {
    return s->features->tile + (t->tile - s->rows.first / IKT_TILE) * s->features->d * IKT_TILE;
}

/* --- rows by their codes ---------------------------------------------------------------------- */

/* Pairs of far rows that are scored together: their steps overlap. */
enum { SOME = 8 };

static void put_code(const ikt_similarity *s, int64_t row, void *to) {
    memcpy(to, (const char *)s->codes->code + row * s->codes->stride, s->row_bytes);
}

static void tile_of_codes(const ikt_similarity *s, const ikt_tile_pairs *t, float *d) {
    const ikt_codes *codes = s->codes;
    const ikt_code_shape shape = {codes->t, codes->stride, codes->width};
    const char *own = (const char *)codes->code + t->begin * codes->stride;
    const int64_t rows = t->end - t->begin;
    const float *of_equal = s->of_score + codes->t;
    memset(d, 0, (size_t)(t->f * IKT_TILE) * sizeof *d);
    for (int64_t a = 0; a < t->f; a += SOME) {
        const int64_t some = t->f - a < SOME ? t->f - a : SOME;
        const void *row[SOME];
        uint16_t equal[SOME * IKT_TILE];
        for (int64_t e = 0; e < some; e++)
            row[e] = far_payload(t, a + e);
        ikt_similarity_rows(s->scorer.isa, shape, row, some, own, rows, equal, IKT_TILE);
        for (int64_t e = 0; e < some; e++)
            for (int64_t i = 0; i < rows; i++)
                d[(a + e) * IKT_TILE + t->lane + i] = of_equal[-(int64_t)equal[e * IKT_TILE + i]];
    }
}

static void some_of_codes(const ikt_similarity *s, const char *row, const char *const *other,
                          int64_t count, void *scratch, float *d) {
    s->scorer.score_one(&s->scorer, row, other, count, scratch, d);
    for (int64_t e = 0; e < count; e++)
        d[e] = s->of_score[(int64_t)d[e]];
}

static float listed_code(const ikt_similarity *s, int64_t row, uint32_t far, float score,
                         float scale) {
    (void)row, (void)far, (void)scale;
    return s->of_score[(int64_t)score];
}

static const ikt_pair_kind by_codes = {put_code, tile_of_codes, some_of_codes, listed_code};

/* --- rows by their numbers -------------------------------------------------------------------- */

/* Squares of distances are divided by the scales of both rows; that of a far row stands behind its
 * numbers. */
static float scale_in(const ikt_similarity *s, const char *payload) {
    float scale;
    memcpy(&scale, payload + s->row_bytes, sizeof scale);
    return scale;
}

/* 0 in lanes without own rows, of which the scale is 0. */
static IKT_WIDEST_VECTORS void divide_lanes(const float scale[IKT_TILE], float far, float *d) {
    for (int l = 0; l < IKT_TILE; l++) {
        const float quotient = d[l] / (scale[l] * far);
        d[l] = scale[l] > 0 ? quotient : 0;
    }
}

static void divide_tile(const ikt_similarity *s, const ikt_tile_pairs *t, float *d) {
    float scale[IKT_TILE] = {0};
    memcpy(scale + t->lane, s->scale + t->begin, (size_t)(t->end - t->begin) * sizeof *scale);
    for (int64_t a = 0; a < t->f; a++)
        divide_lanes(scale, scale_in(s, far_payload(t, a)), d + a * IKT_TILE);
}

static float listed_distance(const ikt_similarity *s, int64_t row, uint32_t far, float score,
                             float scale) {
    (void)far;
    return score / (s->scale[row] * scale);
}

static void put_numbers(const ikt_similarity *s, int64_t row, void *to) {
    ikt_features_copy(s->features, row, to);
    memcpy((char *)to + s->row_bytes, &s->scale[row], sizeof *s->scale);
}

static void tile_of_rows(const ikt_similarity *s, const ikt_tile_pairs *t, float *d) {
    for (int64_t a = 0; a < t->f; a++)
        memcpy(t->scratch + (size_t)a * s->row_bytes, far_payload(t, a), s->row_bytes);
    s->scorer.score(&s->scorer, t->scratch, t->f, own_tile(s, t), IKT_TILE, d);
    divide_tile(s, t, d);
}

static void some_of_rows(const ikt_similarity *s, const char *row, const char *const *other,
                         int64_t count, void *scratch, float *d) {
    s->scorer.score_one(&s->scorer, row, other, count, scratch, d);
    for (int64_t e = 0; e < count; e++)
        d[e] /= scale_in(s, row) * scale_in(s, other[e]);
}

static const ikt_pair_kind by_rows = {put_numbers, tile_of_rows, some_of_rows, listed_distance};

/* --- rows by D of all pairs: the payload is the number of the row ----------------------------- */

static void put_number(const ikt_similarity *s, int64_t row, void *to) {
    const uint32_t number = (uint32_t)(s->rows.first + row);
    memcpy(to, &number, sizeof number);
}

static int64_t number_in(const char *payload) {
    uint32_t number;
    memcpy(&number, payload, sizeof number);
    return number;
}

static void tile_of_matrix(const ikt_similarity *s, const ikt_tile_pairs *t, float *d) {
    const float *own = own_tile(s, t);
    for (int64_t a = 0; a < t->f; a++)
        memcpy(d + a * IKT_TILE, own + number_in(far_payload(t, a)) * IKT_TILE,
               IKT_TILE * sizeof *d);
}

static void some_of_matrix(const ikt_similarity *s, const char *row, const char *const *other,
                           int64_t count, void *scratch, float *score) {
    (void)scratch;
    for (int64_t e = 0; e < count; e++)
        score[e] =
            ikt_features_number(s->features, number_in(row) - s->rows.first, number_in(other[e]));
}

static float listed_d(const ikt_similarity *s, int64_t row, uint32_t far, float score,
                      float scale) {
    (void)score, (void)scale;
    return ikt_features_number(s->features, row, far);
}

static const ikt_pair_kind by_matrix = {put_number, tile_of_matrix, some_of_matrix, listed_d};

/* --- rows of a graph: the same, of those that it joins ---------------------------------------- */

/* Some far rows are looked up in a row at a time: their bisections take the same steps. */
static void tile_of_graph(const ikt_similarity *s, const ikt_tile_pairs *t, float *d) {
    memset(d, 0, (size_t)(t->f * IKT_TILE) * sizeof *d);
    for (int64_t a = 0; a < t->f; a += SOME) {
        const int64_t some = t->f - a < SOME ? t->f - a : SOME;
        uint32_t row[SOME];
        float found[SOME];
        for (int64_t e = 0; e < some; e++)
            row[e] = (uint32_t)number_in(far_payload(t, a + e));
        for (int64_t i = t->begin; i < t->end; i++) {
            ikt_joined_some(&s->joined, i, row, some, found);
            for (int64_t e = 0; e < some; e++)
                d[(a + e) * IKT_TILE + t->lane + i - t->begin] = found[e];
        }
    }
}

static void some_of_graph(const ikt_similarity *s, const char *row, const char *const *other,
                          int64_t count, void *scratch, float *score) {
    (void)scratch;
    for (int64_t e = 0; e < count; e++) {
        const uint32_t number = (uint32_t)number_in(other[e]);
        ikt_joined_some(&s->joined, number_in(row) - s->rows.first, &number, 1, &score[e]);
    }
}

static const ikt_pair_kind by_graph = {put_number, tile_of_graph, some_of_graph, NULL};

/* --- making ----------------------------------------------------------------------------------- */

/* COLLECTIVE. */
static ikt_status find_scales(ikt_context *ctx, const ikt_neighbours *lists, int64_t from,
                              int64_t to, ikt_similarity *s) {
    ikt_exact_sum sum = {{0}, 0, 0};
    IKT_TRY(ikt_alloc_all(ctx, &s->scale, s->rows.count, sizeof *s->scale, purpose));
    for (int64_t i = 0; i < s->rows.count; i++) {
        const double scale = ikt_scale_of(lists->score + i * lists->k, lists->k, from, to);
        s->scale[i] = (float)scale;
        ikt_exact_sum_add(&sum, scale);
    }
    return ikt_scales_bound(ctx, &s->rows, &sum, "its nearest ones", s->scale);
}

ikt_status ikt_similarity_of_codes(ikt_context *ctx, const ikt_rows *rows, const ikt_codes *codes,
                                   ikt_similarity *out) {
    const int64_t t = codes->t;
    *out = (ikt_similarity){
        .rows = *rows, .kind = &by_codes, .codes = codes, .scorer = ikt_scorer_codes(codes, rows)};
    out->row_bytes = out->bytes = (size_t)out->scorer.row_bytes;
    IKT_TRY(ikt_alloc_all(ctx, &out->of_score, t + 1, sizeof *out->of_score, purpose));
    for (int64_t differing = 0; differing <= t; differing++)
        out->of_score[differing] = (float)log((double)(1 + t) / (double)(1 + t - differing));
    return IKT_OK;
}

ikt_status ikt_similarity_of_rows(ikt_context *ctx, const ikt_rows *rows,
                                  const ikt_neighbours *lists, const ikt_features *features,
                                  int64_t from, int64_t to, ikt_similarity *out) {
    *out = (ikt_similarity){.rows = *rows,
                            .kind = &by_rows,
                            .features = features,
                            .scorer = ikt_scorer_rows(features->metric, NULL, features->d, rows)};
    out->row_bytes = (size_t)out->scorer.row_bytes;
    out->bytes = out->row_bytes + sizeof *out->scale;
    return find_scales(ctx, lists, from, to, out);
}

/* Squares of distances become D.
 *   all   [n] scales of all rows */
static void divide_all(ikt_context *ctx, const float *all, ikt_features *features) {
    const int64_t n = features->d, first = features->rows.first - features->lane;
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t at = features->lane; at < features->lane + features->rows.count; at++)
        for (int64_t j = 0; j < n; j++)
            features->tile[(at / IKT_TILE * n + j) * IKT_TILE + at % IKT_TILE] /=
                all[first + at] * all[j];
    features->are_d = true;
}

ikt_status ikt_similarity_of_matrix(ikt_context *ctx, const ikt_rows *rows,
                                    const ikt_neighbours *lists, ikt_features *features,
                                    int64_t from, int64_t to, ikt_similarity *out) {
    float *all IKT_AT_END(ikt_free) = NULL;
    *out = (ikt_similarity){.rows = *rows, .kind = &by_matrix, .features = features};
    out->row_bytes = out->bytes = sizeof(uint32_t);
    if (features->are_d) return IKT_OK;
    IKT_TRY(find_scales(ctx, lists, from, to, out));
    IKT_TRY(ikt_share_rows(ctx, rows, out->scale, sizeof *all, purpose, &all));
    divide_all(ctx, all, features);
    ikt_free(&out->scale);
    return IKT_OK;
}

ikt_status ikt_similarity_of_graph(ikt_context *ctx, const ikt_rows *rows, ikt_joined *joined,
                                   int64_t from, int64_t to, ikt_similarity *out) {
    *out = (ikt_similarity){.rows = *rows, .kind = &by_graph, .joined = *joined};
    *joined = (ikt_joined){.apart = 0};
    out->row_bytes = out->bytes = sizeof(uint32_t);
    return ikt_joined_resolve(ctx, rows, from, to, &out->joined);
}

void ikt_similarity_destroy(ikt_similarity *s) {
    ikt_joined_destroy(&s->joined);
    ikt_free_all(&s->scale, &s->of_score);
}

/* --- neighbours ------------------------------------------------------------------------------- */

/* The m least of k by (D, row), by insertion: lists are nearly sorted as they are. Returns how many
 * there are. */
static int64_t take_least(const uint32_t *row, const float *d, int64_t k, int64_t m,
                          uint32_t *to_row, float *to_d) {
    int64_t count = 0;
    for (int64_t e = 0; e < k; e++) {
        int64_t at = count < m ? count : m;
        while (at > 0 && (d[e] < to_d[at - 1] || (d[e] == to_d[at - 1] && row[e] < to_row[at - 1])))
            at--;
        if (at == m) continue;
        const int64_t end = count < m ? count++ : m - 1;
        memmove(to_row + at + 1, to_row + at, (size_t)(end - at) * sizeof *to_row);
        memmove(to_d + at + 1, to_d + at, (size_t)(end - at) * sizeof *to_d);
        to_row[at] = row[e];
        to_d[at] = d[e];
    }
    return count;
}

/* COLLECTIVE. Says of how many rows the graph joins to fewer than m others, and how few. */
static void log_short_rows(ikt_context *ctx, int64_t n, int64_t m, int64_t count, int64_t fewest) {
    ikt_min_i64(ctx, &fewest, 1);
    const int64_t all = ikt_sum_one(ctx, count);
    if (all > 0)
        ikt_log_numbers(ctx, IKT_LOG_STAGE,
                        IKT_LOG_NUMBERS(IKT_LOG_INT("rows", all), IKT_LOG_INT("fewest", fewest)),
                        "%lld of %lld rows are joined to fewer than trimap.neighbours = %lld "
                        "others, at least to %lld: they have triplets with these alone",
                        (long long)all, (long long)n, (long long)m, (long long)fewest);
}

/* COLLECTIVE. Of a graph. Every row is joined to another one. */
static ikt_status take_joined(ikt_context *ctx, const ikt_similarity *s, int64_t m,
                              ikt_neighbours *out) {
    const ikt_directed *pairs = &s->joined.pairs;
    int64_t few = 0, fewest = INT64_MAX;
    *out = (ikt_neighbours){0};
    IKT_TRY(ikt_agree(ctx, ikt_neighbours_create(ctx, &s->rows, m, out)));
#pragma omp parallel for schedule(dynamic, 256) num_threads(ikt_threads(ctx))                      \
    reduction(+ : few) reduction(min : fewest)
    for (int64_t i = 0; i < s->rows.count; i++) {
        const int64_t begin = pairs->start[i], k = pairs->start[i + 1] - begin;
        uint32_t *row = out->row + i * m;
        float *d = out->score + i * m;
        const int64_t found = take_least(pairs->column + begin, pairs->value + begin, k, m, row, d);
        for (int64_t b = found; b < m; b++) {
            row[b] = row[0];
            d[b] = s->joined.apart;
        }
        few += found < m;
        fewest = found < fewest ? found : fewest;
    }
    log_short_rows(ctx, s->rows.n, m, few, fewest);
    return IKT_OK;
}

/* Rows of the kernel that share a cell with no other are no neighbours of anybody. */
static bool is_similar(const ikt_similarity *s, float d) {
    return !s->codes || d < s->of_score[s->codes->t];
}

ikt_status ikt_similarity_nearest(ikt_context *ctx, const ikt_similarity *s,
                                  const ikt_neighbours *lists, int64_t m, ikt_neighbours *out) {
    if (!s->kind->listed) return take_joined(ctx, s, m, out);
    const int64_t n_local = s->rows.count, k = lists->k;
    ikt_row_set set IKT_AT_END(ikt_row_set_destroy) = {0};
    ikt_neighbours made IKT_AT_END(ikt_neighbours_destroy) = {0};
    float *scale IKT_AT_END(ikt_free) = NULL, *d IKT_AT_END(ikt_free) = NULL;
    int64_t near = 0; /* rows that have any similarity to another */
    *out = (ikt_neighbours){0};
    if (s->scale)
        IKT_TRY(ikt_scales_fetch(ctx, &s->rows, lists->row, n_local * k, s->scale, &set, &scale));
    ikt_status st = ikt_neighbours_create(ctx, &s->rows, m, &made);
    if (st == IKT_OK) st = ikt_alloc(ctx, &d, k, sizeof *d, purpose);
    IKT_TRY(ikt_agree(ctx, st));
    for (int64_t i = 0; i < n_local; i++) {
        for (int64_t e = 0; e < k; e++) {
            const uint32_t far = lists->row[i * k + e];
            const float of_far = s->scale ? ikt_scale_at(&s->rows, s->scale, &set, scale, far) : 1;
            d[e] = s->kind->listed(s, i, far, lists->score[i * k + e], of_far);
        }
        take_least(lists->row + i * k, d, k, m, made.row + i * m, made.score + i * m);
        near += is_similar(s, made.score[i * m]);
    }
    if (ikt_sum_one(ctx, near) == 0)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "no row shares a cell of the Isolation kernel with any other, so that all "
                        "triplets have weight 0: choose a smaller isolation.psi");
    return ikt_give(out, made);
}

/* --- far rows --------------------------------------------------------------------------------- */

void ikt_similarity_ask(const ikt_similarity *s, const char *payload, size_t stride,
                        const int32_t *place, int64_t f) {
    for (int64_t a = 0; a < f; a++)
        for (size_t at = 0; at < s->bytes; at += 64)
            __builtin_prefetch(payload + (size_t)place[a] * stride + at);
}

void ikt_similarity_ask_own(const ikt_similarity *s, int64_t tile) {
    int64_t begin, end;
    if (!s->codes) return;
    ikt_pool_tile_rows(&s->rows, tile, &begin, &end);
    const char *own = s->codes->code;
    for (int64_t at = begin * s->codes->stride; at < end * s->codes->stride; at += 64)
        __builtin_prefetch(own + at);
}

void ikt_similarity_tile(const ikt_similarity *s, int64_t tile, const char *payload, size_t stride,
                         const int32_t *place, int64_t f, void *scratch, float *d) {
    ikt_tile_pairs t = {.tile = tile,
                        .payload = payload,
                        .stride = stride,
                        .place = place,
                        .f = f,
                        .scratch = scratch};
    ikt_pool_tile_rows(&s->rows, tile, &t.begin, &t.end);
    t.lane = (s->rows.first + t.begin) % IKT_TILE;
    s->kind->tile(s, &t, d);
}

ikt_status ikt_similarity_check(ikt_context *ctx, double most) {
    if (most > 0) return IKT_OK;
    return ikt_fail(
        ctx, IKT_ERR_DATA,
        "every row is as similar to all other rows as to its nearest ones, so that no "
        "triplet of rows has a weight: are all rows equal? trimap.weights=log has weights "
        "for rows that are very far from one another");
}
