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

/* Where the own rows of a tile are, and the far rows that they are compared with. */
typedef struct {
    int64_t tile, begin, end, lane; /* own rows begin .. end - 1, in the lanes from `lane` on */
    const char *payload;            /* of rows, `stride` bytes apart, */
    size_t stride;
    const int32_t *place; /* [f] which of them are the far ones */
    int64_t f;
    char *scratch; /* [f * row_bytes] */
} tile_pairs;

/* What rows are compared by. D comes from the scores of these functions (d_of). */
struct ikt_pair_kind {
    /* The payload of an own row, without its scale. */
    void (*put)(const ikt_similarity *s, int64_t row, void *to);
    /* Scores of the own rows of a tile and far rows, [f * 16] by lanes; D itself where rows have no
     * scales. */
    void (*tile)(const ikt_similarity *s, const tile_pairs *t, float *d);
    /* Scores of one row and others, given by their payloads. */
    void (*some)(const ikt_similarity *s, const char *row, const char *const *other, int64_t count,
                 void *scratch, float *score);
};

static const char *far_payload(const tile_pairs *t, int64_t a) {
    return t->payload + (size_t)t->place[a] * t->stride;
}

/* The numbers of the own rows of a tile, column by column. */
static const float *own_tile(const ikt_similarity *s, const tile_pairs *t) {
    return s->features->tile + (t->tile - s->rows.first / IKT_TILE) * s->features->d * IKT_TILE;
}

/* --- rows by their codes ---------------------------------------------------------------------- */

/* Pairs of far rows that are scored together: their steps overlap. */
enum { SOME = 8 };

static void put_code(const ikt_similarity *s, int64_t row, void *to) {
    memcpy(to, (const char *)s->codes->code + row * s->codes->stride, s->row_bytes);
}

static void tile_of_codes(const ikt_similarity *s, const tile_pairs *t, float *d) {
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

static void score_some(const ikt_similarity *s, const char *row, const char *const *other,
                       int64_t count, void *scratch, float *score) {
    s->scorer.score_some(&s->scorer, row, other, count, scratch, score);
}

static const ikt_pair_kind by_codes = {put_code, tile_of_codes, score_some};

/* --- rows by their numbers -------------------------------------------------------------------- */

static void put_numbers(const ikt_similarity *s, int64_t row, void *to) {
    ikt_features_copy(s->features, row, to);
}

static void tile_of_rows(const ikt_similarity *s, const tile_pairs *t, float *d) {
    for (int64_t a = 0; a < t->f; a++)
        memcpy(t->scratch + (size_t)a * s->row_bytes, far_payload(t, a), s->row_bytes);
    s->scorer.score(&s->scorer, t->scratch, t->f, own_tile(s, t), IKT_TILE, d);
}

static const ikt_pair_kind by_rows = {put_numbers, tile_of_rows, score_some};

/* --- rows by the numbers of all pairs: the payload is the row --------------------------------- */

static void put_number(const ikt_similarity *s, int64_t row, void *to) {
    const uint32_t number = (uint32_t)(s->rows.first + row);
    memcpy(to, &number, sizeof number);
}

static int64_t number_in(const char *payload) {
    uint32_t number;
    memcpy(&number, payload, sizeof number);
    return number;
}

static void tile_of_matrix(const ikt_similarity *s, const tile_pairs *t, float *d) {
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

static const ikt_pair_kind by_matrix = {put_number, tile_of_matrix, some_of_matrix};

/* --- rows of a graph: the same, of those that it joins ---------------------------------------- */

/* Some far rows are looked up in a row at a time: their bisections take the same steps. */
static void tile_of_graph(const ikt_similarity *s, const tile_pairs *t, float *d) {
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

static const ikt_pair_kind by_graph = {put_number, tile_of_graph, some_of_graph};

/* --- scales ----------------------------------------------------------------------------------- */

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

ikt_status ikt_similarity_create(ikt_context *ctx, const ikt_rows *rows,
                                 const ikt_neighbours *lists, const ikt_features *features,
                                 const ikt_codes *codes, int64_t from, int64_t to,
                                 ikt_similarity *out) {
    *out = (ikt_similarity){.rows = *rows, .features = features};
    if (features) {
        out->kind = &by_matrix;
        out->row_bytes = sizeof(uint32_t);
        if (features->metric) {
            out->kind = &by_rows;
            out->scorer = ikt_scorer_rows(features->metric, NULL, features->d, rows);
            out->row_bytes = (size_t)out->scorer.row_bytes;
        }
        out->bytes = out->row_bytes;
        if (features->are_d) return IKT_OK;
        out->bytes += sizeof *out->scale;
        return find_scales(ctx, lists, from, to, out);
    }
    out->kind = &by_codes;
    out->codes = codes;
    out->scorer = ikt_scorer_codes(codes, rows);
    out->row_bytes = out->bytes = (size_t)out->scorer.row_bytes;
    const int64_t t = codes->t;
    IKT_TRY(ikt_alloc_all(ctx, &out->of_score, t + 1, sizeof *out->of_score, purpose));
    for (int64_t differing = 0; differing <= t; differing++)
        out->of_score[differing] = (float)log((double)(1 + t) / (double)(1 + t - differing));
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

/* --- payloads --------------------------------------------------------------------------------- */

void ikt_similarity_payload(const ikt_similarity *s, int64_t row, void *to) {
    s->kind->put(s, row, to);
    if (s->scale) memcpy((char *)to + s->row_bytes, &s->scale[row], sizeof *s->scale);
}

static float scale_in(const ikt_similarity *s, const char *payload) {
    float scale = 1;
    if (s->scale) memcpy(&scale, payload + s->row_bytes, sizeof scale);
    return scale;
}

static float d_of(const ikt_similarity *s, float score, float scale_i, float scale_j) {
    return s->codes ? s->of_score[(int64_t)score] : score / (scale_i * scale_j);
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
        ikt_log_numbers(
            ctx, IKT_LOG_STAGE,
            (ikt_log_number[]){IKT_LOG_INT("rows", all), IKT_LOG_INT("fewest", fewest), {0}},
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

ikt_status ikt_similarity_nearest(ikt_context *ctx, const ikt_similarity *s,
                                  const ikt_neighbours *lists, int64_t m, ikt_neighbours *out) {
    if (s->kind == &by_graph) return take_joined(ctx, s, m, out);
    const int64_t first = s->rows.first, n_local = s->rows.count, k = lists->k;
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
            const uint32_t row = lists->row[i * k + e];
            const int64_t own = (int64_t)row - first;
            const bool is_own = own >= 0 && own < n_local;
            const float other = !s->scale ? 1
                                : is_own  ? s->scale[own]
                                          : scale[ikt_row_set_place(&set, row)];
            d[e] = s->features && s->features->are_d
                       ? ikt_features_number(s->features, i, row)
                       : d_of(s, lists->score[i * k + e], s->scale ? s->scale[i] : 1, other);
        }
        take_least(lists->row + i * k, d, k, m, made.row + i * m, made.score + i * m);
        near += !s->codes || made.score[i * m] < s->of_score[s->codes->t];
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

/* Squares of distances of a far row, divided by both scales; 0 in lanes without own rows, of which
 * the scale is 0. */
static IKT_WIDEST_VECTORS void divide_tile(const float scale[IKT_TILE], float far, float *d) {
    for (int l = 0; l < IKT_TILE; l++) {
        const float quotient = d[l] / (scale[l] * far);
        d[l] = scale[l] > 0 ? quotient : 0;
    }
}

void ikt_similarity_tile(const ikt_similarity *s, int64_t tile, const char *payload, size_t stride,
                         const int32_t *place, int64_t f, void *scratch, float *d) {
    tile_pairs t = {.tile = tile,
                    .payload = payload,
                    .stride = stride,
                    .place = place,
                    .f = f,
                    .scratch = scratch};
    float scale[IKT_TILE] = {0};
    ikt_pool_tile_rows(&s->rows, tile, &t.begin, &t.end);
    t.lane = (s->rows.first + t.begin) % IKT_TILE;
    s->kind->tile(s, &t, d);
    if (!s->scale) return;
    memcpy(scale + t.lane, s->scale + t.begin, (size_t)(t.end - t.begin) * sizeof *scale);
    for (int64_t a = 0; a < f; a++)
        divide_tile(scale, scale_in(s, far_payload(&t, a)), d + a * IKT_TILE);
}

int64_t ikt_similarity_scratch(const ikt_similarity *s) {
    return s->scorer.some_bytes;
}

void ikt_similarity_some(const ikt_similarity *s, const char *row, const char *const *other,
                         int64_t count, void *scratch, float *d) {
    const float own = scale_in(s, row);
    s->kind->some(s, row, other, count, scratch, d);
    for (int64_t e = 0; e < count; e++)
        d[e] = d_of(s, d[e], own, scale_in(s, other[e]));
}

ikt_status ikt_similarity_check(ikt_context *ctx, double most) {
    if (most > 0) return IKT_OK;
    return ikt_fail(
        ctx, IKT_ERR_DATA,
        "every row is as similar to all other rows as to its nearest ones, so that no "
        "triplet of rows has a weight: are all rows equal? trimap.weights=log has weights "
        "for rows that are very far from one another");
}
