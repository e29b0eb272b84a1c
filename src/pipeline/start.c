/* Where the rows start. */
#include "pipeline/start.h"

#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/timer.h"
#include "linalg/blocks.h"
#include "linalg/pca.h"
#include "pipeline/start_file.h"
#include "plan/workload.h"

/* Scores of the own rows on the first components. */
static ikt_status find_scores(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                              const ikt_rows *distribution, double *scores) {
    const int q = (int)settings->layout.dimensions;
    ikt_pca *pca = NULL;
    ikt_strided_reader space;
    ikt_row_reader reader = ikt_dataset_reader(data);
    ikt_row_reader sample = ikt_strided_reader_make(ctx, &reader, IKT_START_ROWS, &space);
    ikt_status st = ikt_pca_fit(ctx, &sample, q, &pca);
    if (st == IKT_OK)
        st = ikt_pca_scores(ctx, pca, &reader, distribution->first, distribution->count, scores);
    ikt_pca_destroy(&pca);
    return st;
}

/* COLLECTIVE. Some rows, drawn at random, on every rank. */
static ikt_status draw_rows(ikt_context *ctx, uint64_t seed, ikt_dataset *data, ikt_sparse *out) {
    const int64_t n = ikt_dataset_rows(data);
    const int64_t count = n < IKT_START_SPARSE_ROWS ? n : IKT_START_SPARSE_ROWS;
    const int64_t slots = ikt_draw_slots(count);
    int64_t *row = NULL, *slot = NULL;
    ikt_status st = ikt_alloc(ctx, &row, count, sizeof *row, "initial");
    if (st == IKT_OK) st = ikt_alloc(ctx, &slot, slots, sizeof *slot, "initial");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) ikt_draw_subset(seed, IKT_RNG_AXES, 0, n, count, slot, slots, row);
    if (st == IKT_OK) st = ikt_dataset_gather_sparse(data, row, count, out);
    ikt_free(&row);
    ikt_free(&slot);
    return st;
}

/* COLLECTIVE. Scores of the own rows along the axes.
 *   scores   [distribution->count * axes->q] */
static ikt_status score_rows(ikt_context *ctx, const ikt_sparse_axes *axes, ikt_dataset *data,
                             const ikt_rows *distribution, double *scores) {
    const ikt_row_range own = {distribution->first, distribution->count};
    const int64_t block = ikt_dataset_block_rows(data);
    const int64_t steps = ikt_stream_steps(ctx, own.count, block);
    ikt_sparse rows = {0};
    ikt_status st = IKT_OK;
    for (int64_t step = 0; st == IKT_OK && step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, block, step);
        st = ikt_dataset_read_sparse(data, at.first, at.count, &rows);
        if (st == IKT_OK)
            ikt_sparse_axes_scores(ctx, axes, &rows, scores + (at.first - own.first) * axes->q);
    }
    ikt_sparse_destroy(&rows);
    return st;
}

/* The same scores of sparse rows, along the axes of some of them. */
static ikt_status find_sparse_scores(ikt_context *ctx, const ikt_settings *settings,
                                     ikt_dataset *data, const ikt_rows *distribution,
                                     double *scores) {
    ikt_sparse sample = {0};
    ikt_sparse_axes axes = {0};
    ikt_status st = draw_rows(ctx, (uint64_t)settings->run.seed, data, &sample);
    if (st == IKT_OK)
        st = ikt_sparse_axes_fit(ctx, &sample, (int)settings->layout.dimensions, &axes);
    if (st == IKT_OK) st = score_rows(ctx, &axes, data, distribution, scores);
    ikt_sparse_axes_destroy(&axes);
    ikt_sparse_destroy(&sample);
    return st;
}

static ikt_status start_from_pca(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                                 const ikt_rows *distribution, const ikt_start_sources *from,
                                 float *y) {
    const int q = (int)settings->layout.dimensions;
    double *scores = NULL;
    ikt_stage_begin(ctx, IKT_STAGE_PCA);
    ikt_status st =
        ikt_agree(ctx, ikt_alloc(ctx, &scores, q * distribution->count, sizeof *scores, "initial"));
    if (st == IKT_OK && from->scores)
        memcpy(scores, from->scores, (size_t)(q * distribution->count) * sizeof *scores);
    else if (st == IKT_OK)
        st = ikt_dataset_is_sparse(data)
                 ? find_sparse_scores(ctx, settings, data, distribution, scores)
                 : find_scores(ctx, settings, data, distribution, scores);
    if (st == IKT_OK && from->graph_writer)
        st = ikt_graph_writer_start(from->graph_writer, IKT_GRAPH_START_PCA, q, scores);
    if (st == IKT_OK)
        ikt_initial_from_scores(ctx, distribution, q, (uint64_t)settings->run.seed, scores, y);
    ikt_free(&scores);
    ikt_stage_end(ctx, IKT_STAGE_PCA);
    return st;
}

static ikt_status start_from_landmarks(ikt_context *ctx, const ikt_settings *settings,
                                       ikt_dataset *data, const ikt_rows *distribution,
                                       const ikt_start_sources *from, bool is_placed, float *y) {
    const int q = (int)settings->layout.dimensions;
    if (!is_placed) IKT_TRY(ikt_landmarks_place_rows(ctx, from->landmarks, distribution, data, y));
    if (from->graph_writer)
        IKT_TRY(ikt_graph_writer_start(from->graph_writer, IKT_GRAPH_START_LANDMARK, q, y));
    /* Rows that a checkpoint has placed come without landmarks. */
    ikt_initial_from_map(ctx, distribution, q, (uint64_t)settings->run.seed, y);
    return IKT_OK;
}

ikt_status ikt_start(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                     const ikt_rows *distribution, const ikt_start_sources *from, float **y) {
    const int q = (int)settings->layout.dimensions;
    const bool is_placed = *y != NULL;
    ikt_status st = IKT_OK;
    if (!is_placed) st = ikt_alloc(ctx, y, q * distribution->count, sizeof **y, "embedding");
    IKT_TRY(ikt_agree(ctx, st));
    switch (settings->layout.init) {
    case IKT_INIT_PCA:
        return start_from_pca(ctx, settings, data, distribution, from, *y);
    case IKT_INIT_LANDMARK:
        return start_from_landmarks(ctx, settings, data, distribution, from, is_placed, *y);
    case IKT_INIT_FILE:
        return ikt_start_from_file(ctx, settings, distribution, *y);
    default:
        ikt_initial_random(ctx, distribution, q, (uint64_t)settings->run.seed, *y);
        return IKT_OK;
    }
}
