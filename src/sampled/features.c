/* Rows in tiles. See features.h. */
#include "sampled/features.h"

#include <math.h>
#include <string.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "dist/shuffle.h"
#include "neighbours/neighbours.h"
#include "sampled/pool.h"
#include "sampled/triplet.h"

static int64_t tiles_of(const ikt_rows *rows) {
    const ikt_tiles_span tiles = ikt_pool_tiles(rows);
    return tiles.last - tiles.first;
}

ikt_status ikt_features_create(ikt_context *ctx, const ikt_rows *rows, int64_t d,
                               const ikt_metric *metric, ikt_features *out) {
    *out = (ikt_features){.rows = *rows, .metric = metric, .d = d, .lane = rows->first % IKT_TILE};
    return ikt_alloc(ctx, &out->tile, tiles_of(rows) * d * IKT_TILE, sizeof *out->tile, "rows");
}

void ikt_features_destroy(ikt_features *features) {
    ikt_free(&features->tile);
}

float *ikt_features_rows(const ikt_features *features) {
    return features->tile + features->lane * features->d;
}

ikt_status ikt_features_turn(ikt_context *ctx, const ikt_features *features) {
    const int64_t d = features->d, numbers = d * IKT_TILE, tiles = tiles_of(&features->rows);
    const int threads = ikt_threads(ctx);
    float *space IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_alloc(ctx, &space, threads * numbers, sizeof *space, "rows"));
#pragma omp parallel num_threads(threads)
    {
        float *rows = space + omp_get_thread_num() * numbers;
#pragma omp for schedule(static)
        for (int64_t tile = 0; tile < tiles; tile++) {
            float *to = features->tile + tile * numbers;
            memcpy(rows, to, (size_t)numbers * sizeof *rows);
            for (int64_t c = 0; c < d; c++)
                for (int64_t l = 0; l < IKT_TILE; l++)
                    to[c * IKT_TILE + l] = rows[l * d + c];
        }
    }
    return IKT_OK;
}

void ikt_features_copy(const ikt_features *features, int64_t row, float *to) {
    const int64_t at = row + features->lane, d = features->d;
    const float *from = features->tile + at / IKT_TILE * d * IKT_TILE + at % IKT_TILE;
    for (int64_t c = 0; c < d; c++)
        to[c] = from[c * IKT_TILE];
}

/* --- pairs of rows that a graph joins --------------------------------------------------------- */

static const char purpose[] = "triplets";

void ikt_joined_destroy(ikt_joined *joined) {
    ikt_directed_destroy(&joined->pairs);
}

int64_t ikt_joined_memory(int64_t n_local, int64_t entries) {
    return (int64_t)sizeof(int64_t) * (n_local + 1) +
           entries * (int64_t)(sizeof(uint32_t) + sizeof(float));
}

float ikt_joined_of_similarity(float part) {
    return (float)(0 - log((double)part));
}

float ikt_joined_apart(ikt_context *ctx, double least, double most) {
    double both[] = {most, -least};
    ikt_max_f64(ctx, both, 2);
    return (float)(both[0] > -both[1] ? both[0] : both[0] + 1);
}

/* --- distances -------------------------------------------------------------------------------- */

/* The squares of the nearest rows that are not at distance 0, ascending; returns how many.
 *   best, row   [to] */
static int64_t find_nearest(const ikt_directed *pairs, int64_t i, int64_t to, float *best,
                            uint32_t *row) {
    int64_t count = 0;
    ikt_best_clear(best, row, to);
    for (int64_t e = pairs->start[i]; e < pairs->start[i + 1]; e++) {
        if (!(pairs->value[e] > 0)) continue;
        ikt_best_offer(best, row, to, pairs->value[e], pairs->column[e]);
        count++;
    }
    ikt_best_sort(best, row, to);
    return count < to ? count : to;
}

/* COLLECTIVE. Scales of the own rows.
 *   scale   [rows->count] */
static ikt_status find_scales(ikt_context *ctx, const ikt_rows *rows, const ikt_directed *pairs,
                              int64_t from, int64_t to, float *scale) {
    const int64_t threads = ikt_threads(ctx);
    ikt_exact_sum sum = {{0}, 0, 0};
    IKT_ARRAYS(held, ctx, purpose);
    float *best = ikt_claim(&held, threads * to, sizeof *best);
    uint32_t *row = ikt_claim(&held, threads * to, sizeof *row);
    IKT_TRY(ikt_arrays_agree(&held));
#pragma omp parallel for schedule(dynamic, 256) reduction(exact : sum) num_threads(threads)
    for (int64_t i = 0; i < rows->count; i++) {
        const int64_t space = omp_get_thread_num() * to;
        const int64_t k = find_nearest(pairs, i, to, best + space, row + space);
        const double found = ikt_scale_of(best + space, k, from, to);
        scale[i] = (float)found;
        ikt_exact_sum_add(&sum, found);
    }
    ikt_arrays_free(&held);
    return ikt_scales_bound(ctx, rows, &sum, "all rows that the graph joins it to", scale);
}

/* COLLECTIVE. */
static ikt_status divide_by_scales(ikt_context *ctx, const ikt_rows *rows, int64_t from, int64_t to,
                                   const ikt_directed *pairs) {
    float *scale IKT_AT_END(ikt_free) = NULL, *others IKT_AT_END(ikt_free) = NULL;
    ikt_row_set set IKT_AT_END(ikt_row_set_destroy) = {0};
    IKT_TRY(ikt_alloc_all(ctx, &scale, rows->count, sizeof *scale, purpose));
    IKT_TRY(find_scales(ctx, rows, pairs, from, to, scale));
    IKT_TRY(ikt_scales_fetch(ctx, rows, pairs->column, pairs->start[rows->count], scale, &set,
                             &others));
#pragma omp parallel for schedule(dynamic, 256) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < rows->count; i++)
        for (int64_t e = pairs->start[i]; e < pairs->start[i + 1]; e++) {
            const uint32_t far = pairs->column[e];
            pairs->value[e] /= scale[i] * ikt_scale_at(rows, scale, &set, others, far);
        }
    return IKT_OK;
}

ikt_status ikt_joined_resolve(ikt_context *ctx, const ikt_rows *rows, int64_t from, int64_t to,
                              ikt_joined *joined) {
    const ikt_directed *pairs = &joined->pairs;
    const int64_t entries = pairs->start[rows->count];
    double least = INFINITY, most = -INFINITY;
    if (joined->are_distances) IKT_TRY(divide_by_scales(ctx, rows, from, to, pairs));
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx)) reduction(min              \
                                                                                  : least)         \
    reduction(max                                                                                  \
              : most)
    for (int64_t e = 0; e < entries; e++) {
        if (!joined->are_distances) pairs->value[e] = ikt_joined_of_similarity(pairs->value[e]);
        least = fmin(least, (double)pairs->value[e]);
        most = fmax(most, (double)pairs->value[e]);
    }
    joined->apart = ikt_joined_apart(ctx, least, most);
    return IKT_OK;
}
