/* Where the rows start. See line.h; read the table of steps, at the end, first. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/row_hash.h"
#include "base/sort.h"
#include "base/timer.h"
#include "base/watch.h"
#include "dist/shuffle.h"
#include "io/results/result.h"
#include "io/sources/source.h"
#include "linalg/blocks.h"
#include "linalg/eigen.h"
#include "linalg/pca.h"
#include "pipeline/early_outputs.h"
#include "pipeline/line.h"
#include "plan/plan.h"
#include "settings/checks.h"

static const char purpose[] = "initial";

/* --- principal components --------------------------------------------------------------------- */

/* Scores of the own sparse rows on the first components, along the axes of some of them that are
 * drawn at random. */
static ikt_status find_sparse_scores(const ikt_line *line, double *scores) {
    ikt_context *ctx = line->ctx;
    const ikt_rows *rows = line->rows;
    const int64_t count = ikt_smaller(rows->n, IKT_START_SPARSE_ROWS);
    const ikt_row_range own = {rows->first, rows->count};
    const int64_t block = ikt_dataset_block_rows(line->data);
    ikt_sparse sample IKT_AT_END(ikt_sparse_destroy) = {0};
    ikt_sparse part IKT_AT_END(ikt_sparse_destroy) = {0};
    ikt_sparse_axes axes IKT_AT_END(ikt_sparse_axes_destroy) = {0};
    IKT_ARRAYS(held, ctx, purpose);
    int64_t *row = ikt_claim(&held, count, sizeof *row);
    ikt_draw_claimed(&held, (uint64_t)line->settings->run.seed, IKT_RNG_AXES, 0, rows->n, count,
                     row);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_dataset_gather_sparse(line->data, row, count, &sample));
    IKT_TRY(ikt_sparse_axes_fit(ctx, &sample, (int)line->settings->layout.dimensions, &axes));
    const int64_t steps = ikt_stream_steps(ctx, own.count, block);
    for (int64_t step = 0; step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, block, step);
        IKT_TRY(ikt_dataset_read_sparse(line->data, at.first, at.count, &part));
        ikt_sparse_axes_scores(ctx, &axes, &part, scores + (at.first - own.first) * axes.q);
        IKT_TRY(ikt_watch_pause(ctx));
    }
    return IKT_OK;
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
    int64_t *row;     /* [m] the drawn rows */
    double *square;   /* [m * m] their squared distances, */
    double *mean;     /* [m] and the means of these */
    double *vector;   /* [q * m] v_c / sqrt(lambda_c); 0 where there is no extent left */
    ikt_arrays *held; /* the caller's, of all of these */
} pair_axes;

/* COLLECTIVE. Draws the rows and reads what they have to do with one another. */
static ikt_status draw_pairs(const ikt_line *line, pair_axes *a) {
    ikt_context *ctx = line->ctx;
    const int64_t n = line->rows->n, m = a->m;
    const ikt_rows share = ikt_rows_make(m, ikt_size(ctx), ikt_rank(ctx));
    const int64_t most = ikt_rows_count(&share, 0);
    IKT_ARRAYS(work, ctx, purpose);
    a->row = ikt_claim(a->held, m, sizeof *a->row);
    ikt_draw_claimed(a->held, (uint64_t)line->settings->run.seed, IKT_RNG_AXES, 0, n, m, a->row);
    IKT_TRY(ikt_arrays_agree(a->held));
    float *whole = ikt_claim(&work, n, sizeof *whole);
    double *own = ikt_claim(&work, share.count * m, sizeof *own);
    IKT_TRY(ikt_arrays_agree(&work));
    for (int64_t i = 0; i < most; i++) {
        const bool is_mine = i < share.count;
        IKT_TRY(
            ikt_dataset_read(line->data, is_mine ? a->row[share.first + i] : 0, is_mine, whole));
        for (int64_t j = 0; is_mine && j < m; j++)
            own[i * m + j] = (double)whole[a->row[j]];
    }
    IKT_TRY(ikt_share_rows(ctx, &share, own, (size_t)m * sizeof *own, purpose, &a->square));
    ikt_arrays_take(a->held, a->square);
    return IKT_OK;
}

/* COLLECTIVE. Eigenvectors of the doubly centred matrix -1/2 (d_ij^2 - m_i - m_j + m). */
static ikt_status fit_pairs(ikt_context *ctx, pair_axes *a) {
    const int64_t m = a->m, found = ikt_smaller(a->q, m);
    double mean = 0;
    IKT_ARRAYS(work, ctx, purpose);
    double *upper = ikt_claim(&work, m * (m + 1) / 2, sizeof *upper);
    double *values = ikt_claim(&work, found, sizeof *values);
    a->mean = ikt_claim(a->held, m, sizeof *a->mean);
    a->vector = ikt_claim(a->held, a->q * m, sizeof *a->vector);
    IKT_TRY(ikt_arrays_agree_both(a->held, &work));
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < m; j++)
            a->mean[i] += a->square[i * m + j] / (double)m;
        mean += a->mean[i] / (double)m;
    }
    for (int64_t i = 0, at = 0; i < m; i++)
        for (int64_t j = i; j < m; j++, at++)
            upper[at] = -0.5 * (a->square[i * m + j] - a->mean[i] - a->mean[j] + mean);
    IKT_TRY(ikt_eigen_leading(ctx, upper, m, found, IKT_EIGEN_ALONE_MAX, values, a->vector));
    for (int64_t c = 0; c < found; c++) {
        const bool has_extent = values[c] > (double)m * DBL_EPSILON * values[0] && values[0] > 0;
        for (int64_t i = 0; i < m; i++)
            a->vector[c * m + i] *= has_extent ? 1 / sqrt(values[c]) : 0;
    }
    return IKT_OK;
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
static ikt_status find_pair_scores(const ikt_line *line, double *scores) {
    ikt_context *ctx = line->ctx;
    const int64_t n = line->rows->n, q = line->settings->layout.dimensions;
    const ikt_row_range own = {line->rows->first, line->rows->count};
    const int64_t block = ikt_stream_rows(n, (int64_t)sizeof(double));
    IKT_ARRAYS(held, ctx, purpose);
    pair_axes axes = {.m = ikt_smaller(n, IKT_START_SPARSE_ROWS), .q = q, .held = &held};
    IKT_TRY(draw_pairs(line, &axes));
    IKT_TRY(fit_pairs(ctx, &axes));
    float *part = ikt_claim(&held, block * n, sizeof *part);
    IKT_TRY(ikt_arrays_agree(&held));
    const int64_t steps = ikt_stream_steps(ctx, own.count, block);
    for (int64_t step = 0; step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, block, step);
        IKT_TRY(ikt_dataset_read(line->data, at.count > 0 ? at.first : 0, at.count, part));
#pragma omp parallel for num_threads(ikt_threads(ctx))
        for (int64_t i = 0; i < at.count; i++)
            place_pairs(&axes, part + i * n, scores + (at.first + i - own.first) * q);
        IKT_TRY(ikt_watch_pause(ctx));
    }
    return IKT_OK;
}

/* COLLECTIVE. Scores of the own dense rows, along the axes of some of them. */
static ikt_status find_dense_scores(const ikt_line *line, double *scores) {
    ikt_context *ctx = line->ctx;
    const int q = (int)line->settings->layout.dimensions;
    const ikt_rows *rows = line->rows;
    ikt_pca *pca IKT_AT_END(ikt_pca_destroy) = NULL;
    ikt_strided_reader space;
    const ikt_row_reader reader = ikt_dataset_reader(line->data);
    const ikt_row_reader sample = ikt_strided_reader_make(
        ctx, &reader, ikt_start_rows(&line->settings->layout, reader.d), &space);
    IKT_TRY(ikt_pca_fit(ctx, &sample, q, &pca));
    return ikt_pca_scores(ctx, pca, &reader, rows->first, rows->count, scores);
}

/* COLLECTIVE. Principal components of the own rows, as their form has it. */
static ikt_status find_scores(const ikt_line *line, double *scores) {
    const ikt_rows *rows = line->rows;
    const int q = (int)line->settings->layout.dimensions;
    if (ikt_dataset_pairs(line->data)) return find_pair_scores(line, scores);
    if (ikt_dataset_is_sparse(line->data)) return find_sparse_scores(line, scores);
    if (ikt_dataset_has_components(line->data, q))
        return ikt_dataset_read_components(line->ctx, line->data, q, rows->first, rows->count,
                                           scores);
    return find_dense_scores(line, scores);
}

/* COLLECTIVE. The file of the graph, where there is one, keeps what rows start from. */
static ikt_status keep_start(const ikt_line *line, ikt_graph_start what, void *values) {
    ikt_graph_writer *writer = ikt_line_graph_writer(line);
    if (!writer) return IKT_OK;
    return ikt_graph_writer_start(writer, what, line->settings->layout.dimensions, values);
}

/* COLLECTIVE. Principal components, which the file of the graph keeps. */
static ikt_status find_components(ikt_line *line, double *scores) {
    IKT_TRY(find_scores(line, scores));
    return keep_start(line, IKT_GRAPH_START_PCA, scores);
}

/* COLLECTIVE. Those that the file of the graph had kept, which another may keep. */
static ikt_status take_components(ikt_line *line, double *scores) {
    const size_t numbers = (size_t)(line->settings->layout.dimensions * line->rows->count);
    memcpy(scores, line->scores, numbers * sizeof *scores);
    return keep_start(line, IKT_GRAPH_START_PCA, scores);
}

/* --- scores as positions ---------------------------------------------------------------------- */

/* COLLECTIVE. Scores as the map where the start is one, or else made as small as a start is. */
static void take_scores(const ikt_line *line, double deviation, const double *scores, float *y) {
    const ikt_layout_settings *layout = &line->settings->layout;
    const int q = (int)layout->dimensions;
    if (!ikt_layout_objective(layout)->is_start) {
        ikt_initial_from_scores(line->ctx, line->rows, q, (uint64_t)line->settings->run.seed,
                                deviation, scores, y);
        return;
    }
    for (int64_t e = 0; e < q * line->rows->count; e++)
        y[e] = (float)scores[e];
}

/* The file of the model, where the map of similarities stays as it is; NULL else. */
static ikt_model_writer *projection_writer(const ikt_line *line) {
    return ikt_settings_is_kernel_map(line->settings) ? line->options->model_writer : NULL;
}

/* COLLECTIVE. The map of kpca or kda, and what it had to decide. */
static ikt_status find_kernel_scores(ikt_line *line, double *scores) {
    ikt_kernel_report *report = &line->out->kernel;
    ikt_kernel_settings *kernel = &line->settings->kernel;
    IKT_TRY(ikt_kernel_scores(line->ctx, line->settings, line->data, line->rows,
                              line->options->labels, line->options->label_names,
                              projection_writer(line), scores, report));
    if (report->bandwidth > 0) kernel->bandwidth = report->bandwidth;
    if (report->of_labels) kernel->ridge = report->separated.ridge;
    return IKT_OK;
}

/* Signs are fixed here, as ties go to the lower row of the input. */
static ikt_status start_from_eigenvectors(ikt_line *line, float *y) {
    const ikt_layout_settings *layout = &line->settings->layout;
    const ikt_objective_kind *objective = ikt_layout_objective(layout);
    const ikt_rows *rows = line->rows;
    const int q = (int)layout->dimensions;
    const double scale = layout->init_scale;
    ikt_spectrum_orient(line->ctx, rows, q, line->eigenvectors);
    if (objective->is_start || scale != 0) {
        take_scores(line, scale > 0 ? scale : objective->start_deviation, line->eigenvectors, y);
        return IKT_OK;
    }
    for (int64_t e = 0; e < q * rows->count; e++) /* eigenvectors of length 1 */
        y[e] = (float)(line->eigenvectors[e] / sqrt((double)rows->n));
    ikt_initial_from_map(line->ctx, rows, q, (uint64_t)line->settings->run.seed, y);
    return IKT_OK;
}

/* --- a file ----------------------------------------------------------------------------------- */

/* LOCAL. */
static ikt_status check_places(ikt_context *ctx, const char *path, const ikt_rows *rows, int64_t q,
                               const double *places) {
    for (int64_t e = 0; e < q * rows->count; e++)
        if (!(fabs(places[e]) <= 1e30))
            return ikt_fail(ctx, IKT_ERR_DATA,
                            "%s, row %lld, column %lld (counted from 0): %g is no position to "
                            "start from",
                            path, (long long)(rows->first + e / q), (long long)(e % q), places[e]);
    return IKT_OK;
}

/* COLLECTIVE. Positions of the own rows from layout.init_file, any map that io/results/result.h
 * reads.
 *   is_run   receives whether they are those of a run */
static ikt_status read_places(ikt_context *ctx, const ikt_layout_settings *layout,
                              const ikt_rows *rows, double *places, bool *is_run) {
    const char *path = layout->init_file;
    const int64_t q = layout->dimensions;
    ikt_result_file *map IKT_AT_END(ikt_result_close) = NULL;
    IKT_ARRAYS(held, ctx, purpose);
    IKT_TRY(ikt_result_open(ctx, path, &map));
    *is_run = ikt_result_is_run(map);
    IKT_TRY(
        ikt_check_start(ctx, layout, ikt_result_rows(map), ikt_result_dimensions(map), rows->n));
    float *y = ikt_claim(&held, q * rows->count, sizeof *y);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_result_read_embedding(map, rows->first, rows->count, y));
    for (int64_t e = 0; e < q * rows->count; e++)
        places[e] = (double)y[e];
    return ikt_agree(ctx, check_places(ctx, path, rows, q, places));
}

ikt_status ikt_start_file_fingerprint(ikt_context *ctx, const ikt_layout_settings *layout,
                                      const ikt_rows *rows, char text[IKT_INPUT_TEXT]) {
    const int64_t q = layout->dimensions;
    bool is_run;
    IKT_ARRAYS(held, ctx, purpose);
    double *places = ikt_claim(&held, q * rows->count, sizeof *places);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(read_places(ctx, layout, rows, places, &is_run));
    const size_t bytes = (size_t)q * sizeof *places;
    snprintf(text, IKT_INPUT_TEXT, "%lld x %lld positions%s, hash %016llx", (long long)rows->n,
             (long long)q, is_run ? " of a run" : "",
             (unsigned long long)ikt_row_hash(ctx, places, rows->first, rows->count, bytes));
    return IKT_OK;
}

/* COLLECTIVE. Positions of a run stay as they are unless layout.init_scale is given: a map that is
 * gone on with keeps its spread. Others are scaled to a standard deviation of 1e-4, as openTSNE
 * does with its own starts: t-SNE must be free to move rows while attraction is exaggerated. */
static ikt_status start_from_file(ikt_line *line, float *y) {
    const ikt_layout_settings *layout = &line->settings->layout;
    const ikt_rows *rows = line->rows;
    const int q = (int)layout->dimensions;
    const bool is_auto = layout->init_scale == IKT_AUTO_REAL;
    bool is_run;
    IKT_ARRAYS(held, line->ctx, purpose);
    double *places = ikt_claim(&held, q * rows->count, sizeof *places);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(read_places(line->ctx, layout, rows, places, &is_run));
    if (is_auto ? is_run : layout->init_scale == 0) {
        for (int64_t e = 0; e < q * rows->count; e++)
            y[e] = (float)places[e];
        return IKT_OK;
    }
    ikt_initial_from_places(
        line->ctx, rows, q, (uint64_t)line->settings->run.seed,
        is_auto ? ikt_layout_objective(layout)->start_deviation : layout->init_scale, places, y);
    return IKT_OK;
}

/* --- the rest --------------------------------------------------------------------------------- */

/* COLLECTIVE. From places among landmarks, which the file of the graph keeps. */
static ikt_status start_from_places(ikt_line *line, float *y) {
    const int q = (int)line->settings->layout.dimensions;
    IKT_TRY(keep_start(line, IKT_GRAPH_START_LANDMARK, y));
    ikt_initial_from_map(line->ctx, line->rows, q, (uint64_t)line->settings->run.seed, y);
    return IKT_OK;
}

static ikt_status start_from_distances(ikt_line *line, float *y) {
    IKT_TRY(ikt_landmarks_place_rows(line->ctx, &line->landmarks, line->rows, line->data, y));
    return start_from_places(line, y);
}

static ikt_status start_at_random(ikt_line *line, float *y) {
    const ikt_layout_settings *layout = &line->settings->layout;
    ikt_initial_random(line->ctx, line->rows, (int)layout->dimensions,
                       (uint64_t)line->settings->run.seed,
                       ikt_layout_objective(layout)->start_deviation, y);
    return IKT_OK;
}

/* --- steps ------------------------------------------------------------------------------------ */

/* How rows get positions where they have none yet, in the order of the input: by a function, or by
 * scores that become positions. */
typedef struct {
    ikt_status (*begin)(ikt_line *line, float *y);
    ikt_status (*find)(ikt_line *line, double *scores);
} beginning;

static const beginning beginnings[IKT_STEPS] = {
    [IKT_STEP_START_SEPARATED] = {.find = find_kernel_scores},
    [IKT_STEP_START_KERNEL] = {.find = find_kernel_scores},
    [IKT_STEP_START_EIGENVECTORS] = {.begin = start_from_eigenvectors},
    [IKT_STEP_START_LANDMARK_CODES] = {.begin = start_from_places}, /* which the codes gave, */
    [IKT_STEP_START_LANDMARK_ROWS] = {.begin = start_from_distances},
    [IKT_STEP_START_KEPT_SCORES] = {.find = take_components},
    [IKT_STEP_START_KEPT_PLACES] = {.begin = start_from_places}, /* or a graph */
    [IKT_STEP_START_PCA] = {.find = find_components},
    [IKT_STEP_START_FILE] = {.begin = start_from_file},
    [IKT_STEP_START_RANDOM] = {.begin = start_at_random}};

static ikt_status start_from_scores(ikt_line *line, const beginning *how, float *y) {
    const ikt_layout_settings *layout = &line->settings->layout;
    IKT_IN_STAGE(line->ctx, IKT_STAGE_PCA);
    IKT_ARRAYS(held, line->ctx, purpose);
    double *scores = ikt_claim(&held, layout->dimensions * line->rows->count, sizeof *scores);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(how->find(line, scores));
    take_scores(line, ikt_layout_objective(layout)->start_deviation, scores, y);
    return IKT_OK;
}

/* Whether scores go to a file, for which they are found even where the loop goes on from others. */
static bool is_written(const ikt_line *line, const beginning *how) {
    if (how->find == find_kernel_scores) return projection_writer(line) != NULL;
    return how->find && ikt_line_graph_writer(line);
}

ikt_status ikt_line_start(ikt_line *line, ikt_step_id step) {
    const beginning *how = &beginnings[step];
    const int64_t q = line->settings->layout.dimensions, count = line->rows->count;
    float **y = &line->out->y;
    if (!how->begin && !how->find)
        return ikt_fail(line->ctx, IKT_ERR_INTERNAL, "step %d makes no positions", (int)step);
    if (!line->from || is_written(line, how)) {
        if (!*y) IKT_TRY(ikt_alloc_all(line->ctx, y, q * count, sizeof **y, "embedding"));
        IKT_TRY(how->begin ? how->begin(line, *y) : start_from_scores(line, how, *y));
    }
    if (!line->from) IKT_TRY(ikt_line_reorder(line, false, *y, *y, q * (int64_t)sizeof **y));
    ikt_free_all(&line->scores, &line->eigenvectors);
    ikt_landmarks_destroy(&line->landmarks);
    return ikt_run_graph_end(line->ctx, line->options->graph_writer);
}
