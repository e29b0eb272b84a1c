/* Rows in tiles. See features.h. */
#include "sampled/features.h"

#include <omp.h>
#include <string.h>

#include "base/arrays.h"
#include "sampled/pool.h"

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

int64_t ikt_features_memory(const ikt_rows *rows, int64_t d) {
    return tiles_of(rows) * d * IKT_TILE * (int64_t)sizeof(float);
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
