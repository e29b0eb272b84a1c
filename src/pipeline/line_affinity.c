/* From lists, or from all pairs, to P, and to what any two rows are compared by. See line.h. */
#include "pipeline/line.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "affinity/matrix.h"
#include "base/comm.h"
#include "base/memory.h"
#include "base/timer.h"
#include "cells/cells.h"
#include "evaluate/measure.h"
#include "neighbours/fine.h"
#include "neighbours/scorer.h"
#include "pipeline/early_outputs.h"
#include "sampled/lone_rows.h"

enum { LABEL_NEIGHBOURS = 10 };

/* The order that rows were brought into; NULL: that of the input. */
static const ikt_order *order_of(const ikt_line *line) {
    return line->is_ordered ? &line->order : NULL;
}

/* What weights are made with. */
static ikt_affinity_job weighing_of(const ikt_line *line) {
    return (ikt_affinity_job){.settings = &line->settings->affinity,
                              .k = line->k,
                              .t = line->settings->isolation.partitionings,
                              .data = line->data,
                              .rows = line->rows,
                              .order = order_of(line)};
}

/* --- lists ------------------------------------------------------------------------------------ */

/* COLLECTIVE. Label accuracy of the lists, while they still have scores. */
static ikt_status measure_accuracy(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    const int64_t *labels = line->options->labels;
    if (!labels || line->is_found || line->accuracy >= 0) return IKT_OK;
    IKT_ARRAYS(held, ctx, "labels");
    if (line->is_ordered) {
        int64_t *ordered = ikt_claim(&held, line->rows->count, sizeof *ordered);
        IKT_TRY(ikt_arrays_agree(&held));
        IKT_TRY(ikt_line_reorder(line, false, labels, ordered, sizeof *ordered));
        labels = ordered;
    }
    return ikt_list_label_accuracy(ctx, line->rows, &line->lists, labels,
                                   line->options->label_names, LABEL_NEIGHBOURS, &line->accuracy);
}

/* COLLECTIVE. A checkpoint holds lists with scores where these are needed. */
ikt_status ikt_step_keep(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    const int64_t entries = line->rows->count * line->lists.k;
    IKT_IN_STAGE(ctx, IKT_STAGE_AFFINITY);
    IKT_TRY(measure_accuracy(line));
    if (!line->is_found) IKT_TRY(ikt_line_save_where_due(line));
    if (ikt_steps_have(line->steps, IKT_STEP_WEIGH)) {
        IKT_TRY(ikt_agree(
            ctx, ikt_neighbours_create(ctx, line->rows, line->lists.k, &line->neighbours)));
        memcpy(line->neighbours.row, line->lists.row, (size_t)entries * sizeof *line->lists.row);
        memcpy(line->neighbours.score, line->lists.score,
               (size_t)entries * sizeof *line->lists.score);
    } else {
        line->neighbours = line->lists;
        line->lists = (ikt_neighbours){0};
    }
    ikt_neighbours_sort(ctx, &line->neighbours);
    return IKT_OK;
}

/* COLLECTIVE. Otherwise it holds them with weights in place of scores. */
ikt_status ikt_step_weigh(ikt_line *line) {
    const bool has_scores = ikt_steps_have(line->steps, IKT_STEP_KEEP);
    const ikt_affinity_job weighing = weighing_of(line);
    const ikt_affinity *kind = ikt_affinity_of(&line->settings->affinity);
    if (line->is_found && !has_scores) return IKT_OK;
    IKT_IN_STAGE(line->ctx, IKT_STAGE_AFFINITY);
    IKT_TRY(measure_accuracy(line));
    IKT_TRY(kind->weigh(line->ctx, &weighing, &line->lists, &line->zero_similarity));
    return has_scores ? IKT_OK : ikt_line_save_where_due(line);
}

/* COLLECTIVE. What is wrong with a P of weights that were read is wrong in their file. */
static ikt_status check_graph(const ikt_line *line) {
    ikt_context *ctx = line->ctx;
    const char *file = line->settings->input.graph;
#ifdef NDEBUG
    const ikt_status st = ikt_graph_check_sums(ctx, &line->graph);
#else
    const ikt_status st = ikt_graph_check(ctx, &line->graph);
#endif
    if (st != IKT_ERR_INTERNAL || !file[0]) return st;
    ikt_clear(ctx);
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s: its weights do not make a symmetric P whose entries sum to 1; the file is "
                    "damaged: take another copy of it, or make it again",
                    file);
}

/* COLLECTIVE. From weights to the symmetric P, by way of a file where they are written. */
ikt_status ikt_step_symmetrise(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    ikt_graph_writer *writer = ikt_line_graph_writer(line);
    IKT_IN_STAGE(ctx, IKT_STAGE_GRAPH);
    if (!line->weights.start)
        IKT_TRY(ikt_agree(ctx, ikt_directed_from_lists(ctx, &line->lists, &line->weights)));
    line->weights.symmetry = ikt_affinity_of(&line->settings->affinity)->symmetry;
    if (writer) IKT_TRY(ikt_run_graph_rows(line, writer));
    IKT_TRY(ikt_graph_from_directed(ctx, line->rows, &line->weights, &line->graph));
    if (ikt_form_of(line).whole) return IKT_OK;
    IKT_TRY(check_graph(line));
    line->entries = ikt_graph_entries(ctx, &line->graph);
    return IKT_OK;
}

/* --- all pairs -------------------------------------------------------------------------------- */

/* COLLECTIVE. From the scores of all pairs to P. */
static ikt_status weigh_dense(ikt_line *line) {
    const ikt_affinity_job weighing = weighing_of(line);
    const ikt_affinity *kind = ikt_affinity_of(&line->settings->affinity);
    line->entries = line->rows->n * (line->rows->n - 1);
    IKT_TRY(kind->dense(line->ctx, &weighing, &line->dense, &line->zero_similarity));
    return ikt_dense_check(line->ctx, &line->dense);
}

static ikt_status fill(ikt_line *line, const ikt_scorer *scorer) {
    IKT_IN_STAGE(line->ctx, IKT_STAGE_AFFINITY);
    IKT_TRY(ikt_dense_fill(line->ctx, scorer, &line->dense));
    return weigh_dense(line);
}

ikt_status ikt_step_fill_codes(ikt_line *line) {
    const ikt_scorer scorer = ikt_scorer_codes(&line->codes, line->rows);
    IKT_TRY(fill(line, &scorer));
    ikt_line_forget_model(line);
    ikt_codes_destroy(&line->codes);
    return IKT_OK;
}

ikt_status ikt_step_fill_matrix(ikt_line *line) {
    IKT_IN_STAGE(line->ctx, IKT_STAGE_AFFINITY);
    IKT_TRY(ikt_matrix_dense(line->ctx, line->pairs, line->rows, line->pair_values, &line->dense));
    return weigh_dense(line);
}

ikt_status ikt_step_fill_rows(ikt_line *line) {
    ikt_scorer scorer IKT_AT_END(ikt_scorer_destroy) = {0};
    IKT_TRY(ikt_line_score_rows(line, &scorer));
    return fill(line, &scorer);
}

/* --- the whole kernel ------------------------------------------------------------------------- */

/* COLLECTIVE. Rows without similarity get weights for their nearest rows, as in any P; all others
 * have none in this graph. */
static ikt_status adopt_zero_rows(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    ikt_zero_similarity zeros IKT_AT_END(ikt_zero_similarity_destroy) = {0, line->k, NULL, NULL};
    if (line->whole.zero == 0) return IKT_OK;
    IKT_ARRAYS(held, ctx, "zero similarity");
    uint8_t *marked = ikt_claim(&held, line->rows->count, 1);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t i = 0; i < line->rows->count; i++)
        marked[i] = line->whole.total[i] == 0;
    IKT_TRY(ikt_zero_similarity_find_ordered(ctx, line->data, line->rows, order_of(line), marked,
                                             line->k, &zeros));
    ikt_arrays_free(&held);
    line->zero_similarity = zeros.count;
    return ikt_agree(ctx, ikt_directed_from_zeros(ctx, &zeros, line->rows, &line->weights));
}

/* COLLECTIVE. Rows and codes come into the order of their coarse cells, where there are such. */
static ikt_status order_codes(ikt_line *line) {
    ikt_cells cells IKT_AT_END(ikt_cells_destroy) = {0};
    ikt_fine_cells fine IKT_AT_END(ikt_fine_cells_destroy) = {0};
    IKT_TRY(ikt_line_order_rows(line, &cells, &fine));
    return ikt_line_order_codes(line);
}

/* COLLECTIVE. The cells of all partitionings. */
static ikt_status gather_cells(ikt_line *line) {
    IKT_IN_STAGE(line->ctx, IKT_STAGE_AFFINITY);
    IKT_TRY(ikt_whole_create(line->ctx, line->rows, line->model->psi,
                             (uint64_t)line->settings->run.seed, &line->codes, &line->whole));
    return adopt_zero_rows(line);
}

/* COLLECTIVE. The whole kernel of codes, which it takes over. */
ikt_status ikt_step_whole(ikt_line *line) {
    IKT_TRY(order_codes(line));
    IKT_TRY(gather_cells(line));
    ikt_line_forget_model(line);
    ikt_codes_destroy(&line->codes);
    return line->zero_similarity > 0 ? ikt_step_symmetrise(line) : IKT_OK;
}

/* --- what any two rows are compared by: the numbers of all pairs ------------------------------ */

/* Where the numbers of all pairs go. */
typedef struct {
    ikt_context *ctx;
    const ikt_rows *rows;
    float *to;                  /* [rows->count * n] */
    double largest;             /* similarity of different rows */
    double least, most;         /* D of the own rows' pairs that have a similarity */
    int64_t alone, first_alone; /* own rows without any: how many, and the first */
} filling;

static ikt_status put_squares(void *self, int64_t first, int64_t count, const double *value) {
    const filling *f = self;
    float *to = f->to + (first - f->rows->first) * f->rows->n;
#pragma omp parallel for num_threads(ikt_threads(f->ctx))
    for (int64_t e = 0; e < count * f->rows->n; e++)
        to[e] = (float)(value[e] * value[e]);
    return IKT_OK;
}

/* D of similarities as of the pairs of a graph (sampled/features.h): INFINITY where there is none,
 * 0 of a row with itself. */
static ikt_status put_d(void *self, int64_t first, int64_t count, const double *value) {
    filling *f = self;
    const int64_t n = f->rows->n;
    float *to = f->to + (first - f->rows->first) * n;
    double least = f->least, most = f->most;
    int64_t alone = 0, first_alone = f->first_alone;
#pragma omp parallel for num_threads(ikt_threads(f->ctx)) reduction(min : least, first_alone)      \
    reduction(max : most) reduction(+ : alone)
    for (int64_t b = 0; b < count; b++) {
        int64_t similar = 0;
        for (int64_t j = 0; j < n; j++) {
            const double w = value[b * n + j];
            float *d = &to[b * n + j];
            *d = INFINITY;
            if (j == first + b || !(w > 0)) continue;
            *d = ikt_joined_of_similarity(fmaxf((float)(w / f->largest), FLT_MIN));
            least = fmin(least, (double)*d);
            most = fmax(most, (double)*d);
            similar++;
        }
        to[b * n + first + b] = 0;
        alone += similar == 0;
        if (similar == 0 && first + b < first_alone) first_alone = first + b;
    }
    f->least = least;
    f->most = most;
    f->alone += alone;
    f->first_alone = first_alone;
    return IKT_OK;
}

/* COLLECTIVE. D of pairs without a similarity, once that of all others is known. */
static ikt_status fill_gaps(ikt_context *ctx, const ikt_pairwise *pairs, filling *f) {
    const int64_t entries = f->rows->count * f->rows->n, alone = ikt_sum_one(ctx, f->alone);
    const float apart = ikt_joined_apart(ctx, f->least, f->most);
    ikt_min_i64(ctx, &f->first_alone, 1);
    if (alone > 0)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s: %lld of %lld rows have no similarity to another row, first row %lld: "
                        "there are no triplets with them; leave them out",
                        ikt_source_name(pairs->source), (long long)alone, (long long)f->rows->n,
                        (long long)f->first_alone);
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < entries; e++)
        if (isinf(f->to[e])) f->to[e] = apart;
    return IKT_OK;
}

/* COLLECTIVE. Reads all pairs, of which `put` makes numbers to compare rows by. */
static ikt_status read_pairs(ikt_line *line, ikt_pairwise_take put, filling *f) {
    const ikt_rows *rows = line->rows;
    ikt_features *out = &line->features;
    IKT_TRY(ikt_agree(line->ctx, ikt_features_create(line->ctx, rows, rows->n, NULL, out)));
    f->ctx = line->ctx;
    f->rows = rows;
    f->to = ikt_features_rows(out);
    return ikt_pairwise_read(line->ctx, line->pairs, rows, put, f);
}

static ikt_status turn(ikt_line *line) {
    return ikt_agree(line->ctx, ikt_features_turn(line->ctx, &line->features));
}

static ikt_status read_squares(ikt_line *line) {
    filling f = {.to = NULL};
    IKT_TRY(read_pairs(line, put_squares, &f));
    return turn(line);
}

/* COLLECTIVE. The distances of the data set, which have been checked. */
ikt_status ikt_step_compare_pairs(ikt_line *line) {
    IKT_IN_STAGE(line->ctx, IKT_STAGE_READ);
    return read_squares(line);
}

ikt_status ikt_step_compare_distances(ikt_line *line) {
    IKT_IN_STAGE(line->ctx, IKT_STAGE_READ);
    IKT_TRY(ikt_pairwise_check(line->ctx, line->pairs));
    return read_squares(line);
}

/* COLLECTIVE. D of similarities and of probabilities, which similarity 0 does not join. */
ikt_status ikt_step_compare_similarities(ikt_line *line) {
    filling f = {.least = INFINITY, .most = -INFINITY, .first_alone = INT64_MAX};
    IKT_IN_STAGE(line->ctx, IKT_STAGE_READ);
    IKT_TRY(ikt_pairwise_check_similarities(line->ctx, line->pairs, &f.largest));
    IKT_TRY(read_pairs(line, put_d, &f));
    IKT_TRY(fill_gaps(line->ctx, line->pairs, &f));
    line->features.are_d = true;
    return turn(line);
}

/* --- the same: the rows themselves ------------------------------------------------------------ */

/* COLLECTIVE. Codes are there; lists of triplets lose what these do not tell. */
ikt_status ikt_step_compare_codes(ikt_line *line) {
    const ikt_triplet_settings *triplet = &line->settings->layout.own.triplet;
    IKT_IN_STAGE(line->ctx, IKT_STAGE_AFFINITY);
    return ikt_lone_rows_part(line->ctx, line->data, line->rows, order_of(line),
                              triplet->scale_from, triplet->scale_to, (float)line->codes.t,
                              &line->neighbours);
}

/* COLLECTIVE. The rows of the data set. */
static ikt_status read_features(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    const int64_t d = ikt_dataset_columns(line->data), bytes = d * (int64_t)sizeof(float);
    const ikt_metric *metric = ikt_metric_of(line->data);
    IKT_IN_STAGE(ctx, IKT_STAGE_READ);
    IKT_TRY(ikt_agree(ctx, ikt_features_create(ctx, line->rows, d, metric, &line->features)));
    float *x = ikt_features_rows(&line->features);
    IKT_TRY(ikt_scorer_read(ctx, line->data, line->rows, x));
    if (line->is_ordered) IKT_TRY(ikt_order_apply(ctx, &line->order, x, bytes, x, bytes, bytes));
    return turn(line);
}

ikt_status ikt_step_compare_rows(ikt_line *line) {
    IKT_TRY(read_features(line));
    if (!line->options->model_writer) return IKT_OK;
    return ikt_run_model_rows(line->ctx, line->options->model_writer, line->data, line->rows,
                              &line->neighbours, &line->features, order_of(line),
                              &line->settings->layout);
}
