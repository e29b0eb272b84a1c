/* From rows to lists of the most similar rows. See line.h. */
#include "pipeline/line.h"

#include "affinity/matrix.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "base/watch.h"
#include "cells/cells.h"
#include "metric/near_bytes.h"
#include "neighbours/byte_lists.h"
#include "neighbours/exact.h"
#include "neighbours/local_join.h"
#include "neighbours/passes.h"
#include "neighbours/tiles.h"
#include "pipeline/early_outputs.h"

/* --- every row with every other --------------------------------------------------------------- */

/* COLLECTIVE. Empty lists, or what a checkpoint holds of them. */
static ikt_status begin_lists(ikt_line *line, int64_t length, ikt_list_course *course) {
    IKT_TRY(
        ikt_agree(line->ctx, ikt_neighbours_create(line->ctx, line->rows, length, &line->lists)));
    return ikt_list_course_begin(line->ctx, ikt_checkpoint_lists(line->options->hooks),
                                 &line->lists, course);
}

static ikt_status compare_all(ikt_line *line, const ikt_scorer *scorer) {
    ikt_list_course course IKT_AT_END(ikt_list_course_end) = {0};
    IKT_IN_STAGE(line->ctx, IKT_STAGE_NEIGHBOURS);
    IKT_TRY(begin_lists(line, line->k, &course));
    IKT_TRY(ikt_neighbours_exact(line->ctx, scorer, &course));
    ikt_list_course_end(&course);
    ikt_neighbours_sort(line->ctx, &line->lists);
    return IKT_OK;
}

ikt_status ikt_line_score_rows(const ikt_line *line, ikt_scorer *scorer) {
    IKT_IN_STAGE(line->ctx, IKT_STAGE_READ);
    return ikt_scorer_data(line->ctx, line->data, line->rows, scorer);
}

/* --- the rows of near cells ------------------------------------------------------------------- */

ikt_status ikt_line_order_codes(ikt_line *line) {
    ikt_codes *codes = &line->codes;
    if (!line->is_ordered || !codes->code) return IKT_OK;
    IKT_IN_STAGE(line->ctx, IKT_STAGE_ORDER);
    return ikt_order_apply(line->ctx, &line->order, codes->code, codes->stride, codes->code,
                           codes->stride, codes->stride);
}

/* COLLECTIVE. The order of the coarse cells that came with the codes. */
static ikt_status order_coarse(ikt_line *line, ikt_cells *cells) {
    const ikt_model *model = line->model;
    IKT_TRY(ikt_rows_order(line->ctx, line->data, line->rows, model->coarse_row, model->spec.coarse,
                           line->places.coarse, NULL, cells, &line->order));
    line->is_ordered = true;
    return IKT_OK;
}

static ikt_status order_fine(ikt_line *line, ikt_cells *cells, ikt_fine_cells *fine) {
    IKT_IN_STAGE(line->ctx, IKT_STAGE_CELLS);
    IKT_TRY(ikt_fine_cells_create(line->ctx, line->rows, &line->places, cells, &line->order, fine));
    line->is_ordered = true;
    return IKT_OK;
}

ikt_status ikt_line_order_rows(ikt_line *line, ikt_cells *cells, ikt_fine_cells *fine) {
    const ikt_model_spec *spec = &line->model->spec;
    if (spec->near > 0) return order_fine(line, cells, fine);
    if (spec->coarse == 0) return IKT_OK;
    return order_coarse(line, cells);
}

/* COLLECTIVE. The last search among the rows of near cells and the rounds of refinement after it,
 * from where they were left off.
 *   fine     the cells that are searched, where there are such; else coarse ones are
 *   course   through the passes before */
static ikt_status search_cells(ikt_line *line, const ikt_list_search *near, const ikt_cells *cells,
                               const ikt_fine_cells *fine, ikt_tiles *tiles,
                               ikt_list_course *course) {
    ikt_context *ctx = line->ctx;
    line->rounds = near->rounds;
    IKT_IN_STAGE(ctx, IKT_STAGE_NEIGHBOURS);
    if (course->progress.round < near->passes) {
        IKT_TRY(fine->cells > 0
                    ? ikt_neighbours_fine(ctx, fine, tiles, near->candidates, course)
                    : ikt_neighbours_search(ctx, cells, tiles, near->candidates, course));
        ikt_list_course_next(course);
    }
    while (course->progress.round < near->passes + near->rounds) {
        IKT_TRY(ikt_neighbours_refine(ctx, tiles, course));
        ikt_list_course_next(course);
    }
    ikt_free(&course->before);
    return IKT_OK;
}

/* COLLECTIVE. How much of the truth the lists hold.
 *   course   which made them, and saves them where they are its own */
static ikt_status measure_lists(ikt_line *line, const ikt_tiles *tiles, ikt_list_course *course,
                                bool is_its_own) {
    ikt_saver saver = ikt_list_saver(course);
    bool has_worked = false;
    if (!is_its_own) saver.save = NULL;
    IKT_IN_STAGE(line->ctx, IKT_STAGE_RECALL);
    IKT_MAY_PAUSE(line->ctx, &saver, is_its_own ? &course->has_worked : &has_worked);
    return ikt_recall_measure(line->ctx, tiles, &line->lists, (uint64_t)line->settings->run.seed,
                              ikt_recall_rows(line->rows->n), &line->recall);
}

/* COLLECTIVE. Compares the codes of rows that are near the same centres, or in near coarse cells.
 */
static ikt_status compare_near_codes(ikt_line *line) {
    ikt_cells cells IKT_AT_END(ikt_cells_destroy) = {0};
    ikt_fine_cells fine IKT_AT_END(ikt_fine_cells_destroy) = {0};
    ikt_tiles tiles IKT_AT_END(ikt_tiles_destroy) = {0};
    ikt_list_course course IKT_AT_END(ikt_list_course_end) = {0};
    IKT_TRY(ikt_line_order_rows(line, &cells, &fine));
    IKT_TRY(ikt_line_order_codes(line));
    IKT_TRY(
        ikt_agree(line->ctx, ikt_tiles_codes(line->ctx, &cells, line->rows, &line->codes, &tiles)));
    IKT_TRY(begin_lists(line, line->k, &course));
    const ikt_list_search near =
        ikt_settings_list_search(line->settings, line->rows->n, line->k, fine.cells, 1, false);
    IKT_TRY(search_cells(line, &near, &cells, &fine, &tiles, &course));
    return measure_lists(line, &tiles, &course, true);
}

/* COLLECTIVE. Whether there is room for rows that a plan took for bytes, and their filter. */
static ikt_status check_floats(const ikt_line *line, int64_t d, double missed) {
    const int64_t needed = line->rows->count * d * (int64_t)(sizeof(float) + sizeof(int16_t));
    const int64_t left = ikt_memory_available(line->ctx);
    ikt_status st = IKT_OK;
    if (needed > left)
        st = ikt_fail(line->ctx, IKT_ERR_RESOURCE,
                      "rows as bytes would miss %.1f %% of the nearest rows, and as floating "
                      "numbers they need %.0f MB on each rank, of which %.0f MB are left: use more "
                      "nodes, or preprocess.pca=100",
                      100 * missed, (double)needed / 1e6, (double)left / 1e6);
    return ikt_agree(line->ctx, st);
}

/* COLLECTIVE. The own rows as bytes, where a trial shows that these find nearly all there is.
 *   held    claims their arrays
 *   bytes   receives them; rows->bytes is set to it, or left as it is */
static ikt_status choose_bytes(ikt_line *line, const ikt_cells *cells, ikt_arrays *held,
                               ikt_byte_rows *bytes, ikt_pass_rows *rows) {
    const double missed_most = .005;
    ikt_context *ctx = line->ctx;
    float *mean = ikt_claim(held, cells->d, sizeof *mean);
    double share;
    IKT_TRY(ikt_arrays_agree(held));
    IKT_IN_STAGE(ctx, IKT_STAGE_NEIGHBOURS);
    ikt_near_bytes_mean(ctx, cells->centre, cells->count, cells->d, mean);
    bytes->mean = mean;
    IKT_TRY(ikt_byte_lists_try(ctx, line->data, line->rows, line->k, held, bytes, &share));
    ikt_log_numbers(ctx, IKT_LOG_DETAIL, IKT_LOG_NUMBERS(IKT_LOG_REAL("missed", share)),
                    "neighbours: rows are compared as %s, as bytes would miss %.3f %% of the "
                    "nearest rows",
                    share <= missed_most ? "bytes" : "they are", 100 * share);
    if (share > missed_most) IKT_TRY(check_floats(line, cells->d, share));
    if (share <= missed_most)
        rows->bytes = bytes;
    else
        ikt_arrays_free(held);
    return IKT_OK;
}

/* COLLECTIVE. The lists by distances from those by bytes, which are saved first where that is due:
 * no checkpoint holds what is made of them until they have weights. */
static ikt_status decide_lists(ikt_line *line, const ikt_tiles *tiles, ikt_list_course *course) {
    const ikt_saver saver = ikt_list_saver(course);
    IKT_IN_STAGE(line->ctx, IKT_STAGE_NEIGHBOURS);
    if (saver.save && ikt_max_one(line->ctx, course->has_worked) > 0) /* by this start */
        IKT_TRY(ikt_watch_stage_end(line->ctx, &saver));
    ikt_neighbours bytes IKT_AT_END(ikt_neighbours_destroy) = line->lists;
    line->lists = (ikt_neighbours){0};
    IKT_TRY(
        ikt_agree(line->ctx, ikt_neighbours_create(line->ctx, line->rows, line->k, &line->lists)));
    return ikt_byte_lists_decide(line->ctx, tiles, &bytes, &line->lists);
}

/* COLLECTIVE. The order of the rows by their cells, and the rows as bytes where these suit: may be
 * stopped, though there is nothing to be saved yet. */
static ikt_status order_rows(ikt_line *line, bool tries_bytes, ikt_cells *cells, ikt_arrays *held,
                             ikt_byte_rows *bytes, ikt_pass_rows *rows) {
    const ikt_list_hooks *hooks = ikt_checkpoint_lists(line->options->hooks);
    const ikt_saver saver = {.where = hooks ? hooks->where : NULL};
    bool has_worked = false;
    IKT_MAY_PAUSE(line->ctx, &saver, &has_worked);
    IKT_TRY(ikt_pass_order(line->ctx, rows, 0, cells, &line->order));
    line->is_ordered = true;
    return tries_bytes ? choose_bytes(line, cells, held, bytes, rows) : IKT_OK;
}

/* COLLECTIVE. The rows in that order, as the last search compares them; or, without cells, as the
 * decision on what bytes have found does. */
static ikt_status read_tiles(const ikt_line *line, const ikt_pass_rows *rows,
                             const ikt_cells *cells, ikt_list_course *course, ikt_tiles *tiles) {
    const ikt_saver saver = ikt_list_saver(course);
    IKT_MAY_PAUSE(line->ctx, &saver, &course->has_worked);
    return cells ? ikt_pass_tiles(line->ctx, rows, cells, &line->order, tiles)
                 : ikt_tiles_rows(line->ctx, &line->order, line->data, rows->bytes->is_half, tiles);
}

/* COLLECTIVE. Compares the rows themselves that are in near coarse cells, in several passes with
 * cells of their own (neighbours/passes.h), of wide rows as bytes (neighbours/byte_lists.h). */
static ikt_status compare_near_rows(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    const int64_t columns = ikt_dataset_columns(line->data);
    const int64_t passes = ikt_affinity_passes(&line->settings->affinity, columns);
    int64_t length = line->k;
    ikt_pass_rows rows = {line->data, line->rows, (uint64_t)line->settings->run.seed, NULL};
    ikt_cells cells IKT_AT_END(ikt_cells_destroy) = {0};
    ikt_tiles tiles IKT_AT_END(ikt_tiles_destroy) = {0};
    ikt_list_course course IKT_AT_END(ikt_list_course_end) = {0};
    ikt_byte_rows bytes;
    IKT_ARRAYS(held, ctx, "rows");
    const bool is_manhattan = ikt_metric_of(line->data) == &ikt_metric_manhattan;
    const bool tries_bytes = ikt_byte_lists_suit(is_manhattan, line->rows->n, columns, passes);
    IKT_TRY(order_rows(line, tries_bytes, &cells, &held, &bytes, &rows));
    if (rows.bytes) length = ikt_byte_lists_length(line->rows->n, line->k);
    ikt_list_search near =
        ikt_settings_list_search(line->settings, line->rows->n, line->k, 0, passes,
                                 ikt_local_join_suits(rows.bytes != NULL, length));
    if (rows.bytes) near.candidates = ikt_larger(near.candidates, length + 1);
    line->passes = near.passes;
    IKT_TRY(begin_lists(line, length, &course));
    while (course.progress.round < near.passes - 1) {
        IKT_TRY(ikt_pass_search(ctx, &rows, &line->order, near.candidates, &tiles, &course));
        ikt_list_course_next(&course);
    }
    IKT_TRY(read_tiles(line, &rows, &cells, &course, &tiles));
    IKT_TRY(search_cells(line, &near, &cells, &(ikt_fine_cells){0}, &tiles, &course));
    if (rows.bytes) {
        ikt_tiles_destroy(&tiles);
        ikt_arrays_free(&held);
        IKT_TRY(read_tiles(line, &rows, NULL, &course, &tiles));
        IKT_TRY(decide_lists(line, &tiles, &course));
    }
    return measure_lists(line, &tiles, &course, rows.bytes == NULL);
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Whether the objective takes codes, as such or to compare any two rows by. */
static bool keeps_codes(const ikt_line *line) {
    return ikt_steps_have(line->steps, IKT_STEP_COMPARE_CODES) ||
           ikt_layout_objective(&line->settings->layout)->needs & IKT_NEEDS_CODES;
}

void ikt_line_forget_model(ikt_line *line) {
    ikt_model_destroy(&line->model);
    ikt_code_places_destroy(&line->places);
}

/* LOCAL. The model, and room for what will order rows by it. */
static ikt_status create_model(ikt_line *line, const ikt_model_spec *spec) {
    const int64_t count = line->rows->count;
    ikt_code_places *places = &line->places;
    IKT_TRY(ikt_model_create(line->ctx, spec, &line->model));
    places->near = spec->near;
    if (spec->coarse > 0 && spec->form == IKT_FORM_VORONOI)
        IKT_TRY(ikt_alloc(line->ctx, &places->coarse, count, sizeof *places->coarse, "cells"));
    return ikt_alloc(line->ctx, &places->list, count * spec->near, sizeof *places->list, "cells");
}

static ikt_status compute_codes(ikt_line *line, const ikt_model_spec *spec) {
    IKT_IN_STAGE(line->ctx, IKT_STAGE_CODES);
    IKT_TRY(ikt_agree(line->ctx, create_model(line, spec)));
    IKT_TRY(ikt_codes_compute_within(line->ctx, (ikt_codes_budget){0, 0, 0},
                                     ikt_checkpoint_codes(line->options->hooks), line->data,
                                     line->rows, line->model, &line->codes, &line->places));
    line->cells = line->codes.check;
    return IKT_OK;
}

/* COLLECTIVE. Draws the model, from the rows of the input or of isolation.model_from, and codes the
 * own rows; from here on the coordinates are not needed. */
ikt_status ikt_step_code(ikt_line *line) {
    ikt_context *ctx = line->ctx;
    ikt_model_writer *writer = line->options->model_writer;
    const int64_t drawn = ikt_dataset_rows(ikt_dataset_model(line->data));
    const ikt_codes_rows shape = ikt_codes_rows_of(line->data);
    ikt_model_spec spec;
    if (line->is_found && !keeps_codes(line) && !writer)
        return IKT_OK; /* lists are there already */
    IKT_TRY(ikt_model_spec_make(ctx, line->settings, line->rows->n, drawn, &shape, &spec));
    line->psi = spec.psi;
    line->pool = spec.pool;
    if (line->pool > 0)
        ikt_log_numbers(
            ctx, IKT_LOG_STAGE,
            IKT_LOG_NUMBERS(IKT_LOG_INT("psi", line->psi), IKT_LOG_INT("pool", line->pool)),
            "isolation: psi %lld, centres from a pool of %lld rows", (long long)line->psi,
            (long long)line->pool);
    IKT_TRY(compute_codes(line, &spec));
    if (writer)
        IKT_TRY(ikt_run_model_codes(ctx, writer, line->data, line->rows, line->model, &line->codes,
                                    &line->settings->layout));
    if (line->landmarks.count == 0 || line->is_found) return IKT_OK;
    IKT_TRY(ikt_alloc_all(ctx, &line->start, line->landmarks.q * line->rows->count,
                          sizeof *line->start, "embedding"));
    return ikt_landmarks_place_codes(ctx, &line->landmarks, line->rows, &line->codes, line->start);
}

ikt_status ikt_step_search_codes(ikt_line *line) {
    if (line->is_found) {
        IKT_TRY(ikt_line_order_codes(line));
    } else if (line->model->spec.near > 0 || line->model->spec.coarse > 0) {
        IKT_TRY(compare_near_codes(line));
    } else {
        const ikt_scorer scorer = ikt_scorer_codes(&line->codes, line->rows);
        IKT_TRY(compare_all(line, &scorer));
    }
    ikt_line_forget_model(line);
    if (!keeps_codes(line)) ikt_codes_destroy(&line->codes);
    return IKT_OK;
}

/* COLLECTIVE. Lists by distances that follow labels; where a checkpoint has them, the rest. */
ikt_status ikt_step_search_classes(ikt_line *line) {
    const ikt_class_search search = {.settings = line->settings,
                                     .data = line->data,
                                     .rows = line->rows,
                                     .labels = line->options->labels,
                                     .names = line->options->label_names,
                                     .hooks = line->options->hooks,
                                     .model_writer = line->options->model_writer,
                                     .k = line->k};
    return ikt_class_search_run(line->ctx, &search, line->is_found, &line->lists, &line->recall,
                                &line->classes);
}

ikt_status ikt_step_search_matrix(ikt_line *line) {
    if (line->is_found) return IKT_OK;
    IKT_IN_STAGE(line->ctx, IKT_STAGE_NEIGHBOURS);
    return ikt_matrix_lists(line->ctx, line->pairs, line->rows, line->pair_values, line->k,
                            &line->lists);
}

ikt_status ikt_step_search_rows(ikt_line *line) {
    ikt_scorer scorer IKT_AT_END(ikt_scorer_destroy) = {0};
    if (line->is_found) return IKT_OK;
    if (ikt_settings_is_near(line->settings, line->rows->n)) return compare_near_rows(line);
    IKT_TRY(ikt_line_score_rows(line, &scorer));
    return compare_all(line, &scorer);
}
