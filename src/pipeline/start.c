/* Where the rows start. */
#include "pipeline/start.h"

#include <string.h>

#include "base/memory.h"
#include "base/timer.h"
#include "linalg/pca.h"
#include "linalg/thin_reader.h"
#include "pipeline/start_file.h"
#include "pipeline/workload.h"

/* Scores of the own rows on the first components. */
static ikt_status find_scores(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                              const ikt_row_map *map, double *scores) {
    const int q = (int)settings->layout.dimensions;
    ikt_pca *pca = NULL;
    ikt_thin_reader space;
    ikt_row_reader reader = ikt_dataset_reader(data);
    ikt_row_reader sample = ikt_thin_reader_make(ctx, &reader, IKT_START_ROWS, &space);
    ikt_status st = ikt_pca_fit(ctx, &sample, q, &pca);
    if (st == IKT_OK) st = ikt_pca_scores(ctx, pca, &reader, map->first, map->count, scores);
    ikt_pca_destroy(&pca);
    return st;
}

static ikt_status start_from_pca(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                                 const ikt_row_map *map, const ikt_start_sources *from, float *y) {
    const int q = (int)settings->layout.dimensions;
    double *scores = NULL;
    ikt_stage_begin(ctx, IKT_STAGE_PCA);
    ikt_status st =
        ikt_agree(ctx, ikt_alloc(ctx, &scores, q * map->count, sizeof *scores, "initial"));
    if (st == IKT_OK && from->scores)
        memcpy(scores, from->scores, (size_t)(q * map->count) * sizeof *scores);
    else if (st == IKT_OK)
        st = find_scores(ctx, settings, data, map, scores);
    if (st == IKT_OK && from->keep)
        st = ikt_graph_writer_start(from->keep, IKT_GRAPH_START_PCA, q, scores);
    if (st == IKT_OK) ikt_initial_from_scores(ctx, map, q, (uint64_t)settings->run.seed, scores, y);
    ikt_free(&scores);
    ikt_stage_end(ctx, IKT_STAGE_PCA);
    return st;
}

static ikt_status start_from_landmarks(ikt_context *ctx, const ikt_settings *settings,
                                       ikt_dataset *data, const ikt_row_map *map,
                                       const ikt_start_sources *from, bool is_placed, float *y) {
    const int q = (int)settings->layout.dimensions;
    if (!is_placed) IKT_TRY(ikt_landmarks_place_rows(ctx, from->landmarks, map, data, y));
    if (from->keep) IKT_TRY(ikt_graph_writer_start(from->keep, IKT_GRAPH_START_LANDMARK, q, y));
    /* Rows that a checkpoint has placed come without landmarks. */
    ikt_initial_from_map(ctx, map, q, (uint64_t)settings->run.seed, y);
    return IKT_OK;
}

ikt_status ikt_start(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                     const ikt_row_map *map, const ikt_start_sources *from, float **y) {
    const int q = (int)settings->layout.dimensions;
    const bool is_placed = *y != NULL;
    ikt_status st = IKT_OK;
    if (!is_placed) st = ikt_alloc(ctx, y, q * map->count, sizeof **y, "embedding");
    IKT_TRY(ikt_agree(ctx, st));
    switch (settings->layout.init) {
    case IKT_INIT_PCA:
        return start_from_pca(ctx, settings, data, map, from, *y);
    case IKT_INIT_LANDMARK:
        return start_from_landmarks(ctx, settings, data, map, from, is_placed, *y);
    case IKT_INIT_FILE:
        return ikt_start_from_file(ctx, settings, map, *y);
    default:
        ikt_initial_random(ctx, map, q, (uint64_t)settings->run.seed, *y);
        return IKT_OK;
    }
}
