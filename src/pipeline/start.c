/* Where the rows start. See start.h; read ikt_start, at the end, first. */
#include "pipeline/start.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "base/timer.h"
#include "io/results/result.h"
#include "io/sources/source.h"
#include "linalg/blocks.h"
#include "linalg/eigen.h"
#include "linalg/pca.h"
#include "plan/plan.h"

static const char purpose[] = "initial";

ikt_status ikt_start_draw(ikt_context *ctx, uint64_t seed, ikt_rng_purpose what, int64_t n,
                          int64_t count, int64_t **row) {
    const int64_t slots = ikt_draw_slots(count);
    int64_t *slot = NULL;
    *row = NULL;
    ikt_status st = ikt_alloc(ctx, row, count, sizeof **row, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &slot, slots, sizeof *slot, purpose);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) ikt_draw_subset(seed, what, 0, n, count, slot, slots, *row);
    ikt_free(&slot);
    if (st != IKT_OK) ikt_free(row);
    return st;
}

/* --- principal components --------------------------------------------------------------------- */

/* Scores of the own sparse rows on the first components, along the axes of some of them that are
 * drawn at random. */
static ikt_status find_sparse_scores(ikt_context *ctx, int q, uint64_t seed, ikt_dataset *data,
                                     const ikt_rows *rows, double *scores) {
    const int64_t n = rows->n, count = n < IKT_START_SPARSE_ROWS ? n : IKT_START_SPARSE_ROWS;
    const ikt_row_range own = {rows->first, rows->count};
    const int64_t block = ikt_dataset_block_rows(data);
    ikt_sparse sample = {0}, part = {0};
    ikt_sparse_axes axes = {0};
    int64_t *row = NULL;
    ikt_status st = ikt_start_draw(ctx, seed, IKT_RNG_AXES, n, count, &row);
    if (st == IKT_OK) st = ikt_dataset_gather_sparse(data, row, count, &sample);
    if (st == IKT_OK) st = ikt_sparse_axes_fit(ctx, &sample, q, &axes);
    const int64_t steps = st == IKT_OK ? ikt_stream_steps(ctx, own.count, block) : 0;
    for (int64_t step = 0; st == IKT_OK && step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, block, step);
        st = ikt_dataset_read_sparse(data, at.first, at.count, &part);
        if (st == IKT_OK)
            ikt_sparse_axes_scores(ctx, &axes, &part, scores + (at.first - own.first) * axes.q);
    }
    ikt_free(&row);
    ikt_sparse_destroy(&part);
    ikt_sparse_axes_destroy(&axes);
    ikt_sparse_destroy(&sample);
    return st;
}

/* Principal coordinates of the rows of a matrix of all distances.
 *
 * Method: classical scaling (Torgerson 1952) of up to IKT_START_SPARSE_ROWS rows drawn at random;
 * every row is then placed by its distances to them (Gower 1968; landmark MDS, de Silva & Tenenbaum
 * 2004). Advantage: of Euclidean distances these are the scores on the principal components, of the
 * drawn rows; one pass over the matrix. Disadvantage: distances that are not Euclidean lose what
 * negative eigenvalues hold. */
typedef struct {
    int64_t m, q;
    int64_t *row;   /* [m] the drawn rows */
    double *square; /* [m * m] their squared distances, */
    double *mean;   /* [m] and the means of these */
    double *vector; /* [q * m] v_c / sqrt(lambda_c); 0 where there is no extent left */
} pair_axes;

static void pair_axes_destroy(pair_axes *a) {
    ikt_free(&a->row);
    ikt_free(&a->square);
    ikt_free(&a->mean);
    ikt_free(&a->vector);
}

/* COLLECTIVE. Draws the rows and reads what they have to do with one another. */
static ikt_status draw_pairs(ikt_context *ctx, uint64_t seed, ikt_dataset *data, pair_axes *a) {
    const int64_t n = ikt_dataset_rows(data), m = a->m;
    const ikt_rows share = ikt_rows_make(m, ikt_size(ctx), ikt_rank(ctx));
    const int64_t most = ikt_rows_count(&share, 0);
    float *whole = NULL;
    double *own = NULL;
    IKT_TRY(ikt_start_draw(ctx, seed, IKT_RNG_AXES, n, m, &a->row));
    ikt_status st = ikt_alloc(ctx, &whole, n, sizeof *whole, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &own, share.count * m, sizeof *own, purpose);
    st = ikt_agree(ctx, st);
    for (int64_t i = 0; st == IKT_OK && i < most; i++) {
        const bool is_mine = i < share.count;
        st = ikt_dataset_read(data, is_mine ? a->row[share.first + i] : 0, is_mine, whole);
        for (int64_t j = 0; st == IKT_OK && is_mine && j < m; j++)
            own[i * m + j] = (double)whole[a->row[j]];
    }
    if (st == IKT_OK)
        st = ikt_share_rows(ctx, &share, own, (size_t)m * sizeof *own, purpose, &a->square);
    ikt_free(&whole);
    ikt_free(&own);
    return st;
}

/* COLLECTIVE. Eigenvectors of the doubly centred matrix -1/2 (d_ij^2 - m_i - m_j + m). */
static ikt_status fit_pairs(ikt_context *ctx, pair_axes *a) {
    const int64_t m = a->m, found = a->q < m ? a->q : m;
    double *upper = NULL, *values = NULL, mean = 0;
    ikt_status st = ikt_alloc(ctx, &upper, m * (m + 1) / 2, sizeof *upper, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &values, found, sizeof *values, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &a->mean, m, sizeof *a->mean, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &a->vector, a->q * m, sizeof *a->vector, purpose);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        for (int64_t i = 0; i < m; i++) {
            for (int64_t j = 0; j < m; j++)
                a->mean[i] += a->square[i * m + j] / (double)m;
            mean += a->mean[i] / (double)m;
        }
        for (int64_t i = 0, at = 0; i < m; i++)
            for (int64_t j = i; j < m; j++, at++)
                upper[at] = -0.5 * (a->square[i * m + j] - a->mean[i] - a->mean[j] + mean);
        st = ikt_eigen_leading(ctx, upper, m, found, IKT_EIGEN_ALONE_MAX, values, a->vector);
    }
    for (int64_t c = 0; st == IKT_OK && c < found; c++) {
        const bool has_extent = values[c] > (double)m * DBL_EPSILON * values[0] && values[0] > 0;
        for (int64_t i = 0; i < m; i++)
            a->vector[c * m + i] *= has_extent ? 1 / sqrt(values[c]) : 0;
    }
    ikt_free(&upper);
    ikt_free(&values);
    return st;
}

/* y_c = -1/2 sum over the drawn rows of v_ci / sqrt(lambda_c) (d_i^2 - m_i). */
static void place_pairs(const pair_axes *a, const float *square, double *score) {
    for (int64_t c = 0; c < a->q; c++) {
        double sum = 0;
        for (int64_t i = 0; i < a->m; i++)
            sum += a->vector[c * a->m + i] * ((double)square[a->row[i]] - a->mean[i]);
        score[c] = -0.5 * sum;
    }
}

/* COLLECTIVE. Principal coordinates of the own rows. */
static ikt_status find_pair_scores(ikt_context *ctx, int q, uint64_t seed, ikt_dataset *data,
                                   const ikt_rows *rows, double *scores) {
    const int64_t n = rows->n;
    const ikt_row_range own = {rows->first, rows->count};
    const int64_t block = ikt_stream_rows(n, (int64_t)sizeof(double));
    pair_axes axes = {.m = n < IKT_START_SPARSE_ROWS ? n : IKT_START_SPARSE_ROWS, .q = q};
    float *part = NULL;
    ikt_status st = draw_pairs(ctx, seed, data, &axes);
    if (st == IKT_OK) st = fit_pairs(ctx, &axes);
    if (st == IKT_OK) st = ikt_agree(ctx, ikt_alloc(ctx, &part, block * n, sizeof *part, purpose));
    const int64_t steps = st == IKT_OK ? ikt_stream_steps(ctx, own.count, block) : 0;
    for (int64_t step = 0; st == IKT_OK && step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, block, step);
        st = ikt_dataset_read(data, at.count > 0 ? at.first : 0, at.count, part);
#pragma omp parallel for num_threads(ikt_threads(ctx))
        for (int64_t i = 0; i < (st == IKT_OK ? at.count : 0); i++)
            place_pairs(&axes, part + i * n, scores + (at.first + i - own.first) * q);
    }
    ikt_free(&part);
    pair_axes_destroy(&axes);
    return st;
}

/* COLLECTIVE. Scores as the map, or made as small as every start. */
static void take_scores(ikt_context *ctx, const ikt_settings *settings, const ikt_rows *rows,
                        const double *scores, float *y) {
    const int q = (int)settings->layout.dimensions;
    const ikt_objective_kind *objective = ikt_layout_objective(&settings->layout);
    for (int64_t e = 0; objective->is_start && e < q * rows->count; e++)
        y[e] = (float)scores[e];
    if (!objective->is_start)
        ikt_initial_from_scores(ctx, rows, q, (uint64_t)settings->run.seed,
                                objective->start_deviation, scores, y);
}

static ikt_status start_from_pca(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                                 const ikt_rows *rows, const ikt_start_sources *from, float *y) {
    const int q = (int)settings->layout.dimensions;
    const uint64_t seed = (uint64_t)settings->run.seed;
    double *scores = NULL;
    ikt_pca *pca = NULL;
    ikt_stage_begin(ctx, IKT_STAGE_PCA);
    ikt_status st =
        ikt_agree(ctx, ikt_alloc(ctx, &scores, q * rows->count, sizeof *scores, purpose));
    if (st == IKT_OK && from->scores) {
        memcpy(scores, from->scores, (size_t)(q * rows->count) * sizeof *scores);
    } else if (st == IKT_OK && ikt_dataset_pairs(data)) {
        st = find_pair_scores(ctx, q, seed, data, rows, scores);
    } else if (st == IKT_OK && ikt_dataset_is_sparse(data)) {
        st = find_sparse_scores(ctx, q, seed, data, rows, scores);
    } else if (st == IKT_OK && ikt_dataset_has_components(data, q)) {
        st = ikt_dataset_read_components(ctx, data, q, rows->first, rows->count, scores);
    } else if (st == IKT_OK) {
        ikt_strided_reader space;
        const ikt_row_reader reader = ikt_dataset_reader(data);
        const ikt_row_reader sample = ikt_strided_reader_make(ctx, &reader, IKT_START_ROWS, &space);
        st = ikt_pca_fit(ctx, &sample, q, &pca);
        if (st == IKT_OK) st = ikt_pca_scores(ctx, pca, &reader, rows->first, rows->count, scores);
        ikt_pca_destroy(&pca);
    }
    if (st == IKT_OK && from->graph_writer)
        st = ikt_graph_writer_start(from->graph_writer, IKT_GRAPH_START_PCA, q, scores);
    if (st == IKT_OK) take_scores(ctx, settings, rows, scores, y);
    ikt_free(&scores);
    ikt_stage_end(ctx, IKT_STAGE_PCA);
    return st;
}

/* COLLECTIVE. The map of kpca or kda. */
static ikt_status start_from_kernel(ikt_context *ctx, const ikt_settings *settings,
                                    ikt_dataset *data, const ikt_rows *rows,
                                    const ikt_start_sources *from, float *y) {
    const int q = (int)settings->layout.dimensions;
    double *scores = NULL;
    ikt_stage_begin(ctx, IKT_STAGE_PCA);
    ikt_status st =
        ikt_agree(ctx, ikt_alloc(ctx, &scores, q * rows->count, sizeof *scores, purpose));
    if (st == IKT_OK)
        st = ikt_kernel_scores(ctx, settings, data, rows, from->labels, from->model_writer, scores,
                               from->kernel);
    if (st == IKT_OK) take_scores(ctx, settings, rows, scores, y);
    ikt_free(&scores);
    ikt_stage_end(ctx, IKT_STAGE_PCA);
    return st;
}

/* --- eigenvectors of P ------------------------------------------------------------------------ */

/* Signs are fixed here, as ties go to the lower row of the input. */
static void start_from_eigenvectors(ikt_context *ctx, const ikt_settings *settings,
                                    const ikt_rows *rows, double *eigenvectors, float *y) {
    const int q = (int)settings->layout.dimensions;
    const ikt_objective_kind *objective = ikt_layout_objective(&settings->layout);
    ikt_spectrum_orient(ctx, rows, q, eigenvectors);
    if (!objective->is_start) {
        const double scale = settings->layout.init_scale;
        if (scale != 0) {
            ikt_initial_from_scores(ctx, rows, q, (uint64_t)settings->run.seed,
                                    scale > 0 ? scale : objective->start_deviation, eigenvectors,
                                    y);
            return;
        }
        for (int64_t e = 0; e < q * rows->count; e++) /* eigenvectors of length 1 */
            y[e] = (float)(eigenvectors[e] / sqrt((double)rows->n));
        ikt_initial_from_map(ctx, rows, q, (uint64_t)settings->run.seed, y);
        return;
    }
    for (int64_t e = 0; e < q * rows->count; e++)
        y[e] = (float)eigenvectors[e];
}

/* --- a file ----------------------------------------------------------------------------------- */

/* COLLECTIVE. Positions of the own rows from layout.init_file. Without places they are only
 * checked. is_run   receives whether they are those of a run, which stay as they are */
static ikt_status read_places(ikt_context *ctx, const ikt_layout_settings *layout,
                              const ikt_rows *rows, double *places, bool *is_run) {
    const char *path = layout->init_file;
    const int64_t q = layout->dimensions;
    ikt_result_file *map = NULL;
    float *y = NULL;
    IKT_TRY(ikt_result_open(ctx, path, &map));
    *is_run = ikt_result_is_run(map);
    ikt_status st = IKT_OK;
    if (ikt_result_rows(map) != rows->n)
        st = ikt_fail(ctx, IKT_ERR_DATA, "%s holds %lld positions, the data has %lld rows", path,
                      (long long)ikt_result_rows(map), (long long)rows->n);
    else if (ikt_result_dimensions(map) != q)
        st = ikt_fail(ctx, IKT_ERR_DATA,
                      "%s holds positions in %d dimensions, but layout.dimensions = %lld", path,
                      ikt_result_dimensions(map), (long long)q);
    if (st == IKT_OK && places) {
        st = ikt_agree(ctx, ikt_alloc(ctx, &y, q * rows->count, sizeof *y, purpose));
        if (st == IKT_OK) st = ikt_result_read_embedding(map, rows->first, rows->count, y);
        for (int64_t e = 0; st == IKT_OK && e < q * rows->count; e++) {
            places[e] = (double)y[e];
            if (!(fabs(places[e]) <= 1e30))
                st =
                    ikt_fail(ctx, IKT_ERR_DATA,
                             "%s, row %lld, column %lld (counted from 0): %g is no position to "
                             "start from",
                             path, (long long)(rows->first + e / q), (long long)(e % q), places[e]);
        }
        st = ikt_agree(ctx, st);
    }
    ikt_free(&y);
    ikt_result_close(&map);
    return st;
}

ikt_status ikt_start_file_fingerprint(ikt_context *ctx, const ikt_layout_settings *layout,
                                      const ikt_rows *rows, char text[IKT_INPUT_TEXT]) {
    const int64_t q = layout->dimensions;
    double *places = NULL;
    bool is_run = false;
    IKT_TRY(ikt_alloc_all(ctx, &places, q * rows->count, sizeof *places, purpose));
    const ikt_status st = read_places(ctx, layout, rows, places, &is_run);
    if (st == IKT_OK)
        snprintf(text, IKT_INPUT_TEXT, "%lld x %lld positions%s, hash %016llx", (long long)rows->n,
                 (long long)q, is_run ? " of a run" : "",
                 (unsigned long long)ikt_row_hash(ctx, places, rows->first, rows->count,
                                                  (size_t)q * sizeof *places));
    ikt_free(&places);
    return st;
}

static ikt_status start_from_file(ikt_context *ctx, const ikt_settings *settings,
                                  const ikt_rows *rows, float *y) {
    const ikt_layout_settings *layout = &settings->layout;
    const int q = (int)layout->dimensions;
    const bool is_auto = layout->init_scale == IKT_AUTO_REAL;
    double *places = NULL;
    bool is_run = false;
    IKT_TRY(ikt_alloc_all(ctx, &places, q * rows->count, sizeof *places, purpose));
    const ikt_status st = read_places(ctx, layout, rows, places, &is_run);
    const bool is_kept = is_auto ? is_run : layout->init_scale == 0;
    for (int64_t e = 0; e < q * rows->count && st == IKT_OK && is_kept; e++)
        y[e] = (float)places[e];
    if (st == IKT_OK && !is_kept)
        ikt_initial_from_places(ctx, rows, q, (uint64_t)settings->run.seed,
                                is_auto ? ikt_layout_objective(layout)->start_deviation
                                        : layout->init_scale,
                                places, y);
    ikt_free(&places);
    return st;
}

/* --- the whole -------------------------------------------------------------------------------- */

ikt_status ikt_start(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                     const ikt_rows *rows, const ikt_start_sources *from, float **y) {
    const int q = (int)settings->layout.dimensions;
    const uint64_t seed = (uint64_t)settings->run.seed;
    const bool is_placed = *y != NULL;
    ikt_status st = IKT_OK;
    if (!is_placed) st = ikt_alloc(ctx, y, q * rows->count, sizeof **y, "embedding");
    IKT_TRY(ikt_agree(ctx, st));
    switch (settings->layout.init) {
    case IKT_INIT_PCA:
        return start_from_pca(ctx, settings, data, rows, from, *y);
    case IKT_INIT_KPCA:
    case IKT_INIT_KDA:
        return start_from_kernel(ctx, settings, data, rows, from, *y);
    case IKT_INIT_LANDMARK: /* rows that a checkpoint has placed come without landmarks */
        if (!is_placed) IKT_TRY(ikt_landmarks_place_rows(ctx, from->landmarks, rows, data, *y));
        if (from->graph_writer)
            IKT_TRY(ikt_graph_writer_start(from->graph_writer, IKT_GRAPH_START_LANDMARK, q, *y));
        ikt_initial_from_map(ctx, rows, q, seed, *y);
        return IKT_OK;
    case IKT_INIT_FILE:
        return start_from_file(ctx, settings, rows, *y);
    case IKT_INIT_SPECTRAL:
        start_from_eigenvectors(ctx, settings, rows, from->eigenvectors, *y);
        return IKT_OK;
    default:
        ikt_initial_random(ctx, rows, q, seed,
                           ikt_layout_objective(&settings->layout)->start_deviation, *y);
        return IKT_OK;
    }
}
