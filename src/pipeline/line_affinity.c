/* From lists, or from all pairs, to P. See line.h. */
#include "pipeline/line.h"

#include <string.h>

#include "affinity/matrix.h"
#include "base/memory.h"
#include "base/timer.h"
#include "cells/cells.h"
#include "evaluate/measure.h"
#include "neighbours/fine.h"
#include "neighbours/scorer.h"
#include "pipeline/compared.h"
#include "pipeline/early_outputs.h"
#include "pipeline/graph_input.h"

enum { LABEL_NEIGHBOURS = 10 };

ikt_affinity_job ikt_line_weighing(const ikt_line *line) {
    const ikt_probabilities *p = &line->p;
    return (ikt_affinity_job){.settings = &line->settings->affinity,
                              .k = p->k,
                              .t = line->settings->isolation.partitionings,
                              .data = line->data,
                              .rows = &p->rows,
                              .order = p->is_ordered ? &p->order : NULL};
}

/* --- lists ------------------------------------------------------------------------------------ */

/* COLLECTIVE. Label accuracy of the lists, while they still have scores. */
static ikt_status measure_accuracy(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    ikt_probabilities *p = &line->p;
    const int64_t *labels = line->options->labels;
    int64_t *ordered = NULL;
    if (!labels || p->is_found || p->accuracy >= 0) return IKT_OK;
    ikt_status st = IKT_OK;
    if (p->is_ordered) {
        IKT_TRY(ikt_alloc_all(ctx, &ordered, p->rows.count, sizeof *ordered, "labels"));
        st = ikt_line_reorder(ctx, p, false, labels, ordered, sizeof *ordered);
    }
    if (st == IKT_OK)
        st = ikt_list_label_accuracy(ctx, &p->rows, &p->lists, ordered ? ordered : labels,
                                     LABEL_NEIGHBOURS, &p->accuracy);
    ikt_free(&ordered);
    return st;
}

/* COLLECTIVE. A checkpoint holds lists with scores where these are needed. */
ikt_status ikt_step_keep(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    ikt_probabilities *p = &line->p;
    const int64_t entries = p->rows.count * p->lists.k;
    ikt_stage_begin(ctx, IKT_STAGE_AFFINITY);
    ikt_status st = measure_accuracy(line);
    if (st == IKT_OK && !p->is_found) st = ikt_probabilities_save_where_due(ctx, p);
    if (st == IKT_OK && ikt_steps_have(line->steps, IKT_STEP_WEIGH)) {
        st = ikt_agree(ctx, ikt_neighbours_create(ctx, &p->rows, p->lists.k, &p->neighbours));
        if (st == IKT_OK && entries > 0) {
            memcpy(p->neighbours.row, p->lists.row, (size_t)entries * sizeof *p->lists.row);
            memcpy(p->neighbours.score, p->lists.score, (size_t)entries * sizeof *p->lists.score);
        }
    } else if (st == IKT_OK) {
        p->neighbours = p->lists;
        p->lists = (ikt_neighbours){0};
    }
    if (st == IKT_OK) ikt_neighbours_sort(ctx, &p->neighbours);
    ikt_stage_end(ctx, IKT_STAGE_AFFINITY);
    return st;
}

/* COLLECTIVE. Otherwise it holds them with weights in place of scores. */
ikt_status ikt_step_weigh(ikt_line *line) {
    ikt_probabilities *p = &line->p;
    const bool has_scores = ikt_steps_have(line->steps, IKT_STEP_KEEP);
    const ikt_affinity_job weighing = ikt_line_weighing(line);
    const ikt_affinity *kind = ikt_affinity_of(&line->settings->affinity);
    if (p->is_found && !has_scores) return IKT_OK;
    ikt_stage_begin(line->ctx, IKT_STAGE_AFFINITY);
    ikt_status st = measure_accuracy(line);
    if (st == IKT_OK) st = kind->weigh(line->ctx, &weighing, &p->lists, &p->zero_similarity);
    if (st == IKT_OK && !has_scores) st = ikt_probabilities_save_where_due(line->ctx, p);
    ikt_stage_end(line->ctx, IKT_STAGE_AFFINITY);
    return st;
}

/* COLLECTIVE. From weights to the symmetric P, by way of a file where they are written. */
ikt_status ikt_step_symmetrise(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    ikt_probabilities *p = &line->p;
    ikt_stage_begin(ctx, IKT_STAGE_GRAPH);
    ikt_status st = IKT_OK;
    if (!p->weights.start)
        st = ikt_agree(ctx, ikt_directed_from_lists(ctx, &p->lists, &p->weights));
    p->weights.symmetry = ikt_affinity_of(&line->settings->affinity)->symmetry;
    if (st == IKT_OK && line->options->graph_writer && *line->options->graph_writer)
        st = ikt_run_graph_rows(ctx, line->settings, line->options, p);
    if (st == IKT_OK) st = ikt_graph_from_directed(ctx, &p->rows, &p->weights, &p->graph);
#ifdef NDEBUG
    if (st == IKT_OK && !p->is_whole) st = ikt_graph_check_sums(ctx, &p->graph);
#else
    if (st == IKT_OK && !p->is_whole) st = ikt_graph_check(ctx, &p->graph);
#endif
    if (st == IKT_OK && !p->is_whole) p->entries = ikt_graph_entries(ctx, &p->graph);
    ikt_stage_end(ctx, IKT_STAGE_GRAPH);
    return st;
}

/* --- a graph ---------------------------------------------------------------------------------- */

ikt_status ikt_step_edges(ikt_line *line) {
    ikt_stage_begin(line->ctx, IKT_STAGE_AFFINITY);
    const ikt_status st =
        ikt_graph_weights(line->ctx, line->settings, line->data, &line->p.rows, &line->p);
    ikt_stage_end(line->ctx, IKT_STAGE_AFFINITY);
    return st;
}

ikt_status ikt_step_join(ikt_line *line) {
    ikt_stage_begin(line->ctx, IKT_STAGE_GRAPH);
    const ikt_status st = ikt_compared_graph(line->ctx, line->settings, &line->p.rows, &line->p);
    ikt_stage_end(line->ctx, IKT_STAGE_GRAPH);
    return st;
}

/* --- all pairs -------------------------------------------------------------------------------- */

/* COLLECTIVE. From the scores of all pairs to P. */
static ikt_status weigh_dense(ikt_line *line) {
    ikt_probabilities *p = &line->p;
    const ikt_affinity_job weighing = ikt_line_weighing(line);
    const ikt_affinity *kind = ikt_affinity_of(&line->settings->affinity);
    p->entries = p->rows.n * (p->rows.n - 1);
    IKT_TRY(kind->dense(line->ctx, &weighing, &p->dense, &p->zero_similarity));
    return ikt_dense_check(line->ctx, &p->dense);
}

static ikt_status fill(ikt_line *line, const ikt_scorer *scorer) {
    ikt_stage_begin(line->ctx, IKT_STAGE_AFFINITY);
    ikt_status st = ikt_dense_fill(line->ctx, scorer, &line->p.dense);
    if (st == IKT_OK) st = weigh_dense(line);
    ikt_stage_end(line->ctx, IKT_STAGE_AFFINITY);
    return st;
}

ikt_status ikt_step_fill_codes(ikt_line *line) {
    const ikt_scorer scorer = ikt_scorer_codes(&line->p.codes, &line->p.rows);
    const ikt_status st = fill(line, &scorer);
    ikt_model_destroy(&line->model);
    ikt_code_places_destroy(&line->places);
    ikt_codes_destroy(&line->p.codes);
    return st;
}

ikt_status ikt_step_fill_matrix(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    ikt_stage_begin(ctx, IKT_STAGE_AFFINITY);
    ikt_status st =
        ikt_matrix_dense(ctx, line->pairs, &line->p.rows, line->pair_values, &line->p.dense);
    if (st == IKT_OK) st = weigh_dense(line);
    ikt_stage_end(ctx, IKT_STAGE_AFFINITY);
    return st;
}

ikt_status ikt_step_fill_rows(ikt_line *line) {
    ikt_scorer scorer;
    if (line->pairs) return ikt_step_fill_matrix(line);
    ikt_stage_begin(line->ctx, IKT_STAGE_READ);
    ikt_status st = ikt_scorer_data(line->ctx, line->data, &line->p.rows, &scorer);
    ikt_stage_end(line->ctx, IKT_STAGE_READ);
    if (st == IKT_OK) st = fill(line, &scorer);
    ikt_scorer_destroy(&scorer);
    return st;
}

/* --- the whole kernel ------------------------------------------------------------------------- */

/* COLLECTIVE. Rows without similarity get weights for their nearest rows, as in any P; all others
 * have none in this graph. */
static ikt_status adopt_zero_rows(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    ikt_probabilities *p = &line->p;
    ikt_zero_similarity zeros = {0, p->k, NULL, NULL};
    uint8_t *marked = NULL;
    if (p->whole.zero == 0) return IKT_OK;
    IKT_TRY(ikt_alloc_all(ctx, &marked, p->rows.count, 1, "zero similarity"));
    for (int64_t i = 0; i < p->rows.count; i++)
        marked[i] = p->whole.total[i] == 0;
    ikt_status st = ikt_zero_similarity_find_ordered(
        ctx, line->data, &p->rows, p->is_ordered ? &p->order : NULL, marked, p->k, &zeros);
    ikt_free(&marked);
    if (st == IKT_OK)
        st = ikt_agree(ctx, ikt_directed_from_zeros(ctx, &zeros, &p->rows, &p->weights));
    p->zero_similarity = zeros.count;
    ikt_zero_similarity_destroy(&zeros);
    return st;
}

/* COLLECTIVE. The whole kernel of codes, which it takes over; rows first come into the order of
 * their coarse cells, where there are such. */
ikt_status ikt_step_whole(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    ikt_probabilities *p = &line->p;
    const ikt_model_spec spec = line->model->spec;
    const int64_t psi = line->model->psi;
    ikt_cells cells = {0};
    ikt_fine_cells fine;
    ikt_status st = IKT_OK;
    if (spec.near > 0) {
        ikt_stage_begin(ctx, IKT_STAGE_CELLS);
        st = ikt_fine_cells_create(ctx, &p->rows, &line->places, &cells, &p->order, &fine);
        if (st == IKT_OK) ikt_fine_cells_destroy(&fine);
        ikt_stage_end(ctx, IKT_STAGE_CELLS);
    } else if (spec.coarse > 0) {
        st = ikt_rows_order(ctx, line->data, &p->rows, line->model->coarse_row, spec.coarse,
                            line->places.coarse, &cells, &p->order);
    }
    p->is_ordered = st == IKT_OK && (spec.near > 0 || spec.coarse > 0);
    if (p->is_ordered) st = ikt_line_order_codes(ctx, &p->order, &p->codes);
    ikt_cells_destroy(&cells);
    ikt_stage_begin(ctx, IKT_STAGE_AFFINITY);
    if (st == IKT_OK)
        st = ikt_whole_create(ctx, &p->rows, psi, (uint64_t)line->settings->run.seed, &p->codes,
                              &p->whole);
    if (st == IKT_OK) st = adopt_zero_rows(line);
    ikt_stage_end(ctx, IKT_STAGE_AFFINITY);
    ikt_model_destroy(&line->model);
    ikt_code_places_destroy(&line->places);
    ikt_codes_destroy(&p->codes);
    return st == IKT_OK && p->zero_similarity > 0 ? ikt_step_symmetrise(line) : st;
}

/* --- what any two rows are compared by -------------------------------------------------------- */

ikt_status ikt_step_compare_matrix(ikt_line *line) {
    ikt_stage_begin(line->ctx, IKT_STAGE_READ);
    const ikt_status st = ikt_compared_matrix(line->ctx, line->pairs, line->pair_values,
                                              &line->p.rows, &line->p.features);
    ikt_stage_end(line->ctx, IKT_STAGE_READ);
    return st;
}

ikt_status ikt_step_compare_rows(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    ikt_probabilities *p = &line->p;
    const ikt_order *order = p->is_ordered ? &p->order : NULL;
    ikt_stage_begin(ctx, IKT_STAGE_READ);
    const ikt_status st = ikt_compared_rows(ctx, line->data, &p->rows, order, &p->features);
    ikt_stage_end(ctx, IKT_STAGE_READ);
    if (st != IKT_OK || !line->options->model_writer) return st;
    return ikt_run_model_rows(ctx, line->options->model_writer, line->data, &p->rows,
                              &p->neighbours, &p->features, order, &line->settings->layout);
}
