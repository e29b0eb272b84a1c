/* Where the rows start. */
#include "pipeline/start.h"

#include "base/memory.h"
#include "base/timer.h"
#include "linalg/pca.h"
#include "linalg/thin_reader.h"
#include "pipeline/start_file.h"
#include "pipeline/workload.h"

static ikt_status start_from_pca(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                                 const ikt_row_map *map, float *y) {
    const int q = (int)settings->layout.dimensions;
    const uint64_t seed = (uint64_t)settings->run.seed;
    double *scores = NULL;
    ikt_pca *pca = NULL;
    ikt_thin_reader space;
    ikt_row_reader reader = ikt_dataset_reader(data);
    ikt_row_reader sample = ikt_thin_reader_make(ctx, &reader, IKT_START_ROWS, &space);
    ikt_stage_begin(ctx, IKT_STAGE_PCA);
    ikt_status st =
        ikt_agree(ctx, ikt_alloc(ctx, &scores, q * map->count, sizeof *scores, "initial"));
    if (st == IKT_OK) st = ikt_pca_fit(ctx, &sample, q, &pca);
    if (st == IKT_OK) st = ikt_pca_scores(ctx, pca, &reader, map->first, map->count, scores);
    if (st == IKT_OK) ikt_initial_from_scores(ctx, map, q, seed, scores, y);
    ikt_pca_destroy(&pca);
    ikt_free(&scores);
    ikt_stage_end(ctx, IKT_STAGE_PCA);
    return st;
}

static ikt_status start_from_landmarks(ikt_context *ctx, const ikt_settings *settings,
                                       ikt_dataset *data, const ikt_row_map *map,
                                       const ikt_landmarks *landmarks, bool is_placed, float *y) {
    if (!is_placed) IKT_TRY(ikt_landmarks_place_rows(ctx, landmarks, map, data, y));
    /* Rows that a checkpoint has placed come without landmarks. */
    ikt_initial_from_map(ctx, map, (int)settings->layout.dimensions, (uint64_t)settings->run.seed,
                         y);
    return IKT_OK;
}

ikt_status ikt_start(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                     const ikt_row_map *map, const ikt_landmarks *landmarks, float **y) {
    const int q = (int)settings->layout.dimensions;
    const bool is_placed = *y != NULL;
    ikt_status st = IKT_OK;
    if (!is_placed) st = ikt_alloc(ctx, y, q * map->count, sizeof **y, "embedding");
    IKT_TRY(ikt_agree(ctx, st));
    switch (settings->layout.init) {
    case IKT_INIT_PCA:
        return start_from_pca(ctx, settings, data, map, *y);
    case IKT_INIT_LANDMARK:
        return start_from_landmarks(ctx, settings, data, map, landmarks, is_placed, *y);
    case IKT_INIT_FILE:
        return ikt_start_from_file(ctx, settings, map, *y);
    default:
        ikt_initial_random(ctx, map, q, (uint64_t)settings->run.seed, *y);
        return IKT_OK;
    }
}
