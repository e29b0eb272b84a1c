/* From rows to lists of the most similar rows. See line.h. */
#include "pipeline/line.h"

#include <string.h>

#include "affinity/matrix.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "cells/cells.h"
#include "neighbours/exact.h"
#include "neighbours/fine.h"
#include "neighbours/tiles.h"
#include "pipeline/early_outputs.h"

/* COLLECTIVE. Empty lists, or what a checkpoint holds of them. */
static ikt_status begin_lists(ikt_context *ctx, ikt_probabilities *p, ikt_list_course *course) {
    *course = (ikt_list_course){.lists = &p->lists};
    IKT_TRY(ikt_agree(ctx, ikt_neighbours_create(ctx, &p->rows, p->k, &p->lists)));
    return ikt_list_course_begin(ctx, p->hooks ? &p->hooks->lists : NULL, &p->lists, course);
}

/* COLLECTIVE. Every row is compared with every other. */
static ikt_status compare_all(ikt_line *line, const ikt_scorer *scorer) {
    ikt_context *ctx = line->ctx;
    ikt_list_course course;
    ikt_stage_begin(ctx, IKT_STAGE_NEIGHBOURS);
    ikt_status st = begin_lists(ctx, &line->p, &course);
    if (st == IKT_OK) st = ikt_neighbours_exact(ctx, scorer, &course);
    ikt_list_course_end(&course);
    if (st == IKT_OK) ikt_neighbours_sort(ctx, &line->p.lists);
    ikt_stage_end(ctx, IKT_STAGE_NEIGHBOURS);
    return st;
}

ikt_status ikt_line_order_codes(ikt_context *ctx, const ikt_order *order, ikt_codes *codes) {
    ikt_stage_begin(ctx, IKT_STAGE_ORDER);
    ikt_status st = ikt_order_apply(ctx, order, codes->code, codes->stride, codes->code,
                                    codes->stride, codes->stride);
    ikt_stage_end(ctx, IKT_STAGE_ORDER);
    return st;
}

/* COLLECTIVE. The search among the rows of near cells and the rounds of refinement after it, from
 * where they were left off, and how much of the truth they found.
 *   fine   the cells that are searched; NULL: coarse ones */
static ikt_status search_near(ikt_line *line, const ikt_cells *cells, const ikt_fine_cells *fine,
                              ikt_tiles *tiles) {
    ikt_context *ctx = line->ctx;
    ikt_probabilities *p = &line->p;
    const ikt_affinity_settings *settings = &line->settings->affinity;
    const bool has_triplets = ikt_layout_objective(&line->settings->layout)->lists != NULL;
    const int64_t n = p->rows.n;
    const int64_t candidates = fine ? ikt_affinity_fine_candidates(settings, n, fine->cells, p->k)
                                    : ikt_affinity_candidates(settings, n, p->k, has_triplets);
    const int64_t rounds = ikt_affinity_refinements(settings, fine != NULL);
    ikt_list_course course;
    p->rounds = rounds;
    ikt_stage_begin(ctx, IKT_STAGE_NEIGHBOURS);
    ikt_status st = begin_lists(ctx, p, &course);
    while (st == IKT_OK && course.progress.round <= rounds) {
        st = course.progress.round > 0 ? ikt_neighbours_refine(ctx, tiles, &course)
             : fine                    ? ikt_neighbours_fine(ctx, fine, tiles, candidates, &course)
                    : ikt_neighbours_search(ctx, cells, tiles, candidates, &course);
        if (st == IKT_OK) ikt_list_course_next(&course);
    }
    ikt_list_course_end(&course);
    ikt_stage_end(ctx, IKT_STAGE_NEIGHBOURS);
    ikt_stage_begin(ctx, IKT_STAGE_RECALL);
    if (st == IKT_OK)
        st = ikt_recall_measure(ctx, tiles, &p->lists, (uint64_t)line->settings->run.seed,
                                ikt_recall_rows(n), &p->recall);
    ikt_stage_end(ctx, IKT_STAGE_RECALL);
    return st;
}

/* COLLECTIVE. Brings rows into the order of their coarse cells and compares those of near ones.
 *   cell    [rows.count] the cells where they came with the codes, or NULL
 *   codes   what is compared; NULL: the rows themselves */
static ikt_status compare_near(ikt_line *line, const ikt_model *model, uint16_t *cell,
                               ikt_codes *codes) {
    ikt_context *ctx = line->ctx;
    ikt_probabilities *p = &line->p;
    ikt_cells cells = {0};
    ikt_tiles tiles = {0};
    IKT_TRY(ikt_rows_order(ctx, line->data, &p->rows, model->coarse_row, model->spec.coarse, cell,
                           &cells, &p->order));
    p->is_ordered = true;
    ikt_status st;
    if (codes) {
        st = ikt_line_order_codes(ctx, &p->order, codes);
        if (st == IKT_OK)
            st = ikt_agree(ctx, ikt_tiles_codes(ctx, &cells, &p->rows, codes, &tiles));
    } else {
        ikt_stage_begin(ctx, IKT_STAGE_READ);
        st = ikt_tiles_data(ctx, &cells, &p->order, line->data, &tiles);
        ikt_stage_end(ctx, IKT_STAGE_READ);
    }
    if (st == IKT_OK) st = search_near(line, &cells, NULL, &tiles);
    ikt_tiles_destroy(&tiles);
    ikt_cells_destroy(&cells);
    return st;
}

/* COLLECTIVE. Brings rows into the order of the centres nearest to them and compares their codes
 * with those of the rows near the same centres. */
static ikt_status compare_fine(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    ikt_probabilities *p = &line->p;
    ikt_cells cells = {0};
    ikt_tiles tiles = {0};
    ikt_fine_cells fine;
    ikt_stage_begin(ctx, IKT_STAGE_CELLS);
    ikt_status st = ikt_fine_cells_create(ctx, &p->rows, &line->places, &cells, &p->order, &fine);
    ikt_stage_end(ctx, IKT_STAGE_CELLS);
    IKT_TRY(st);
    p->is_ordered = true;
    st = ikt_line_order_codes(ctx, &p->order, &p->codes);
    if (st == IKT_OK)
        st = ikt_agree(ctx, ikt_tiles_codes(ctx, &cells, &p->rows, &p->codes, &tiles));
    if (st == IKT_OK) st = search_near(line, &cells, &fine, &tiles);
    ikt_tiles_destroy(&tiles);
    ikt_cells_destroy(&cells);
    ikt_fine_cells_destroy(&fine);
    return st;
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Whether the objective takes codes, as such or to compare any two rows by. */
static bool keeps_codes(const ikt_line *line) {
    return ikt_steps_have(line->steps, IKT_STEP_COMPARE_CODES) ||
           ikt_layout_objective(&line->settings->layout)->needs & IKT_NEEDS_CODES;
}

/* COLLECTIVE. Draws the model, from the rows of the input or of isolation.model_from, and codes the
 * own rows; from here on the coordinates are not needed. */
ikt_status ikt_step_code(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    ikt_probabilities *p = &line->p;
    const bool is_done = p->is_found && !keeps_codes(line) && !line->options->model_writer;
    const int64_t drawn = ikt_dataset_rows(ikt_dataset_model(line->data));
    const ikt_codes_rows shape = ikt_codes_rows_of(line->data);
    ikt_model_spec spec;
    if (is_done) return IKT_OK; /* a checkpoint has had the lists */
    IKT_TRY(ikt_model_spec_make(ctx, line->settings, p->rows.n, drawn, &shape, &spec));
    p->psi = spec.psi;
    p->pool = spec.pool;
    if (p->pool > 0)
        ikt_log_numbers(
            ctx, IKT_LOG_STAGE,
            (ikt_log_number[]){IKT_LOG_INT("psi", p->psi), IKT_LOG_INT("pool", p->pool), {0}},
            "isolation: psi %lld, centres from a pool of %lld rows", (long long)p->psi,
            (long long)p->pool);
    ikt_stage_begin(ctx, IKT_STAGE_CODES);
    ikt_status st = ikt_model_create(ctx, &spec, &line->model);
    if (st == IKT_OK && spec.coarse > 0 && spec.form == IKT_FORM_VORONOI)
        st = ikt_alloc(ctx, &line->places.coarse, p->rows.count, sizeof(uint16_t), "cells");
    line->places.near = spec.near;
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &line->places.list, p->rows.count * spec.near, sizeof(uint32_t),
                       "cells");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK)
        st = ikt_codes_compute_within(ctx, (ikt_codes_budget){0, 0},
                                      p->hooks ? &p->hooks->codes : NULL, line->data, &p->rows,
                                      line->model, &p->codes, &line->places);
    ikt_stage_end(ctx, IKT_STAGE_CODES);
    p->cells = p->codes.check;
    if (st == IKT_OK && line->options->model_writer)
        st = ikt_run_model_codes(ctx, line->options->model_writer, line->data, &p->rows,
                                 line->model, &p->codes, &line->settings->layout);
    if (st != IKT_OK || line->landmarks.count == 0 || p->is_found) return st;
    IKT_TRY(ikt_alloc_all(ctx, &p->start, line->landmarks.q * p->rows.count, sizeof *p->start,
                          "embedding"));
    return ikt_landmarks_place_codes(ctx, &line->landmarks, &p->rows, &p->codes, p->start);
}

ikt_status ikt_step_search_codes(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    ikt_probabilities *p = &line->p;
    ikt_status st = IKT_OK;
    if (p->is_found) {
        if (p->is_ordered && p->codes.code) st = ikt_line_order_codes(ctx, &p->order, &p->codes);
    } else if (line->model->spec.near > 0) {
        st = compare_fine(line);
    } else if (line->model->spec.coarse > 0) {
        st = compare_near(line, line->model, line->places.coarse, &p->codes);
    } else {
        const ikt_scorer scorer = ikt_scorer_codes(&p->codes, &p->rows);
        st = compare_all(line, &scorer);
    }
    ikt_model_destroy(&line->model);
    ikt_code_places_destroy(&line->places);
    if (!keeps_codes(line)) ikt_codes_destroy(&p->codes);
    return st;
}

/* COLLECTIVE. Lists by distances that follow labels; where a checkpoint has them, the rest. */
ikt_status ikt_step_search_classes(ikt_line *line) {
    ikt_probabilities *p = &line->p;
    const ikt_class_search search = {.settings = line->settings,
                                     .data = line->data,
                                     .rows = &p->rows,
                                     .labels = line->options->labels,
                                     .names = line->options->label_names,
                                     .hooks = p->hooks,
                                     .model_writer = line->options->model_writer,
                                     .k = p->k};
    return ikt_class_search_run(line->ctx, &search, p->is_found, &p->lists, &p->recall,
                                &p->classes);
}

ikt_status ikt_step_search_matrix(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    ikt_probabilities *p = &line->p;
    if (p->is_found) return IKT_OK;
    ikt_stage_begin(ctx, IKT_STAGE_NEIGHBOURS);
    const ikt_status st =
        ikt_matrix_lists(ctx, line->pairs, &p->rows, line->pair_values, p->k, &p->lists);
    ikt_stage_end(ctx, IKT_STAGE_NEIGHBOURS);
    return st;
}

ikt_status ikt_step_search_rows(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    ikt_probabilities *p = &line->p;
    ikt_scorer scorer;
    ikt_model *centres = NULL;
    if (p->is_found) return IKT_OK;
    if (line->pairs) return ikt_step_search_matrix(line);
    if (ikt_affinity_is_approximate(&line->settings->affinity, p->rows.n)) {
        /* A model without a partitioning but the coarse one. */
        const ikt_model_spec spec = {.seed = (uint64_t)line->settings->run.seed,
                                     .n = p->rows.n,
                                     .psi = 1,
                                     .coarse = ikt_cells_choose(p->rows.n, 0)};
        IKT_TRY(ikt_agree(ctx, ikt_model_create(ctx, &spec, &centres)));
        const ikt_status st = compare_near(line, centres, NULL, NULL);
        ikt_model_destroy(&centres);
        return st;
    }
    ikt_stage_begin(ctx, IKT_STAGE_READ);
    ikt_status st = ikt_scorer_data(ctx, line->data, &p->rows, &scorer);
    ikt_stage_end(ctx, IKT_STAGE_READ);
    if (st == IKT_OK) st = compare_all(line, &scorer);
    ikt_scorer_destroy(&scorer);
    return st;
}
