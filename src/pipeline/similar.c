/* The most similar rows: by codes or by distances, among all rows or those of near cells. */
#include "pipeline/similar.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "isolation/model.h"
#include "neighbours/cells.h"
#include "neighbours/exact.h"
#include "neighbours/search.h"
#include "neighbours/tiles.h"
#include "objective/objective.h"
#include "pipeline/keep.h"

enum { RECALL_SAMPLE = 1000 };

ikt_affinity_job ikt_similar_weighing(const ikt_similar_job *job, const ikt_probabilities *p) {
    return (ikt_affinity_job){.settings = &job->settings->affinity,
                              .k = p->k,
                              .t = job->settings->isolation.partitionings,
                              .data = job->data,
                              .rows = &p->rows,
                              .order = p->is_ordered ? &p->order : NULL};
}

/* --- lists or the dense P --------------------------------------------------------------------- */

/* COLLECTIVE. Empty lists, or what a checkpoint holds of them. */
static ikt_status begin_lists(ikt_context *ctx, ikt_probabilities *p, ikt_list_course *course) {
    *course = (ikt_list_course){.lists = &p->lists};
    IKT_TRY(ikt_agree(ctx, ikt_neighbours_create(ctx, &p->rows, p->k, &p->lists)));
    return ikt_list_course_begin(ctx, p->hooks ? &p->hooks->lists : NULL, &p->lists, course);
}

static ikt_status compare_all(ikt_context *ctx, const ikt_similar_job *job,
                              const ikt_scorer *scorer, ikt_probabilities *p) {
    const ikt_affinity_job weighing = ikt_similar_weighing(job, p);
    ikt_list_course course;
    if (p->is_dense) {
        ikt_stage_begin(ctx, IKT_STAGE_AFFINITY);
        ikt_status st = job->kind->dense(ctx, &weighing, scorer, &p->dense, &p->zero_similarity);
        if (st == IKT_OK) st = ikt_dense_check(ctx, &p->dense);
        p->entries = p->rows.n * (p->rows.n - 1);
        ikt_stage_end(ctx, IKT_STAGE_AFFINITY);
        return st;
    }
    ikt_stage_begin(ctx, IKT_STAGE_NEIGHBOURS);
    ikt_status st = begin_lists(ctx, p, &course);
    if (st == IKT_OK) st = ikt_neighbours_exact(ctx, scorer, &course);
    ikt_list_course_end(&course);
    if (st == IKT_OK) ikt_neighbours_sort(ctx, &p->lists);
    ikt_stage_end(ctx, IKT_STAGE_NEIGHBOURS);
    return st;
}

/* COLLECTIVE. Among the rows of near cells: the search and the rounds of refinement after it, from
 * where they were left off, and how much of the truth they found. */
static ikt_status search_near(ikt_context *ctx, const ikt_similar_job *job, const ikt_cells *cells,
                              ikt_tiles *tiles, ikt_probabilities *p) {
    const ikt_affinity_settings *settings = &job->settings->affinity;
    const int64_t candidates = ikt_affinity_candidates(settings, p->rows.n, p->k);
    ikt_list_course course;
    ikt_stage_begin(ctx, IKT_STAGE_NEIGHBOURS);
    ikt_status st = begin_lists(ctx, p, &course);
    while (st == IKT_OK && course.progress.round <= settings->refinements) {
        st = course.progress.round == 0
                 ? ikt_neighbours_search(ctx, cells, tiles, candidates, &course)
                 : ikt_neighbours_refine(ctx, tiles, &course);
        if (st == IKT_OK) ikt_list_course_next(&course);
    }
    ikt_list_course_end(&course);
    ikt_stage_end(ctx, IKT_STAGE_NEIGHBOURS);
    ikt_stage_begin(ctx, IKT_STAGE_RECALL);
    if (st == IKT_OK)
        st = ikt_recall_measure(ctx, tiles, &p->lists, (uint64_t)job->settings->run.seed,
                                RECALL_SAMPLE, &p->recall);
    ikt_stage_end(ctx, IKT_STAGE_RECALL);
    return st;
}

/* --- by codes --------------------------------------------------------------------------------- */

/* Codes of the own rows, and the coarse cells that order them. */
typedef struct {
    ikt_model *model;
    ikt_codes codes;
    uint16_t *cell; /* [rows.count] coarse cells where they come with the codes, or NULL */
} coded;

/* Draws the model, from the rows of the input or of isolation.model_from, and codes the own rows;
 * from here on the coordinates are not needed. */
static ikt_status code_rows(ikt_context *ctx, const ikt_similar_job *job, ikt_probabilities *p,
                            coded *out) {
    const int64_t drawn = ikt_dataset_rows(ikt_dataset_model(job->data));
    ikt_model_writer *writer = job->options->model_writer;
    ikt_model_spec spec;
    IKT_TRY(ikt_model_spec_make(ctx, job->settings, p->rows.n, drawn, &spec));
    p->psi = spec.psi;
    p->pool = spec.pool;
    if (p->pool > 0)
        ikt_log_numbers(
            ctx, IKT_LOG_STAGE,
            (ikt_log_number[]){IKT_LOG_INT("psi", p->psi), IKT_LOG_INT("pool", p->pool), {0}},
            "isolation: psi %lld, centres from a pool of %lld rows", (long long)p->psi,
            (long long)p->pool);
    ikt_stage_begin(ctx, IKT_STAGE_CODES);
    ikt_status st = ikt_model_create(ctx, &spec, &out->model);
    if (st == IKT_OK && spec.coarse > 0 && spec.form == IKT_FORM_VORONOI)
        st = ikt_alloc(ctx, &out->cell, p->rows.count, sizeof *out->cell, "cells");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK)
        st = ikt_codes_compute_within(ctx, (ikt_codes_budget){0, 0},
                                      p->hooks ? &p->hooks->codes : NULL, job->data, &p->rows,
                                      out->model, &out->codes, out->cell);
    ikt_stage_end(ctx, IKT_STAGE_CODES);
    if (st == IKT_OK && writer)
        st = ikt_keep_codes(ctx, writer, job->data, &p->rows, out->model, &out->codes,
                            job->settings->layout.dimensions);
    return st;
}

static ikt_status order_codes(ikt_context *ctx, const ikt_order *order, ikt_codes *codes) {
    ikt_stage_begin(ctx, IKT_STAGE_ORDER);
    ikt_status st = ikt_order_apply(ctx, order, codes->code, codes->stride, codes->code,
                                    codes->stride, codes->stride);
    ikt_stage_end(ctx, IKT_STAGE_ORDER);
    return st;
}

static ikt_status place_among_landmarks(ikt_context *ctx, const ikt_landmarks *landmarks,
                                        const ikt_codes *codes, ikt_probabilities *p) {
    const int64_t coordinates = landmarks->q * p->rows.count;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &p->start, coordinates, sizeof *p->start, "embedding")));
    return ikt_landmarks_place_codes(ctx, landmarks, &p->rows, codes, p->start);
}

/* Rows in the order of their cells, and the search among near ones. */
static ikt_status compare_near_codes(ikt_context *ctx, const ikt_similar_job *job, coded *c,
                                     ikt_probabilities *p) {
    ikt_cells cells = {0};
    ikt_tiles tiles = {0};
    IKT_TRY(ikt_rows_order(ctx, job->data, &p->rows, c->model, c->cell, &cells, &p->order));
    p->is_ordered = true;
    ikt_status st = order_codes(ctx, &p->order, &c->codes);
    if (st == IKT_OK)
        st = ikt_agree(ctx, ikt_tiles_codes(ctx, &cells, &p->rows, &c->codes, &tiles));
    if (st == IKT_OK) st = search_near(ctx, job, &cells, &tiles, p);
    ikt_tiles_destroy(&tiles);
    ikt_cells_destroy(&cells);
    return st;
}

static ikt_status find_by_codes(ikt_context *ctx, const ikt_similar_job *job,
                                ikt_probabilities *p) {
    const ikt_landmarks *landmarks = job->options->landmarks;
    coded c = {.model = NULL};
    ikt_status st = code_rows(ctx, job, p, &c);
    if (st == IKT_OK && landmarks && !p->is_found)
        st = place_among_landmarks(ctx, landmarks, &c.codes, p);
    const bool needs_lists = job->options->needs & (IKT_NEEDS_P | IKT_NEEDS_NEIGHBOURS);
    if (st == IKT_OK && (p->is_found || !needs_lists)) {
        if (p->is_ordered) st = order_codes(ctx, &p->order, &c.codes);
    } else if (st == IKT_OK && c.model->spec.coarse > 0) {
        st = compare_near_codes(ctx, job, &c, p);
    } else if (st == IKT_OK) {
        const ikt_scorer scorer = ikt_scorer_codes(&c.codes, &p->rows);
        st = compare_all(ctx, job, &scorer, p);
    }
    if (st == IKT_OK && (job->options->needs & IKT_NEEDS_CODES)) {
        p->codes = c.codes;
        c.codes = (ikt_codes){0};
    }
    ikt_model_destroy(&c.model);
    ikt_codes_destroy(&c.codes);
    ikt_free(&c.cell);
    return st;
}

/* --- by distances ----------------------------------------------------------------------------- */

static ikt_status compare_near_rows(ikt_context *ctx, const ikt_similar_job *job,
                                    ikt_probabilities *p) {
    /* A model without a partitioning but the coarse one. */
    const ikt_model_spec spec = {.seed = (uint64_t)job->settings->run.seed,
                                 .n = p->rows.n,
                                 .psi = 1,
                                 .coarse = ikt_cells_choose(p->rows.n, 0)};
    ikt_model *centres = NULL;
    ikt_cells cells = {0};
    ikt_tiles tiles = {0};
    ikt_status st = ikt_agree(ctx, ikt_model_create(ctx, &spec, &centres));
    if (st == IKT_OK)
        st = ikt_rows_order(ctx, job->data, &p->rows, centres, NULL, &cells, &p->order);
    ikt_model_destroy(&centres);
    ikt_stage_begin(ctx, IKT_STAGE_READ);
    if (st == IKT_OK) {
        p->is_ordered = true;
        st = ikt_tiles_data(ctx, &cells, &p->order, job->data, &tiles);
    }
    ikt_stage_end(ctx, IKT_STAGE_READ);
    if (st == IKT_OK) st = search_near(ctx, job, &cells, &tiles, p);
    ikt_tiles_destroy(&tiles);
    ikt_cells_destroy(&cells);
    return st;
}

static ikt_status find_by_distances(ikt_context *ctx, const ikt_similar_job *job,
                                    ikt_probabilities *p) {
    ikt_scorer scorer;
    if (!p->is_dense && ikt_affinity_is_approximate(&job->settings->affinity, p->rows.n))
        return compare_near_rows(ctx, job, p);
    ikt_stage_begin(ctx, IKT_STAGE_READ);
    ikt_status st = ikt_scorer_data(ctx, job->data, &p->rows, &scorer);
    ikt_stage_end(ctx, IKT_STAGE_READ);
    if (st == IKT_OK) st = compare_all(ctx, job, &scorer, p);
    ikt_scorer_destroy(&scorer);
    return st;
}

ikt_status ikt_similar_find(ikt_context *ctx, const ikt_similar_job *job, ikt_probabilities *p) {
    const bool by_codes = job->kind->scores == IKT_SCORES_CODES;
    const bool needs_codes = job->options->needs & IKT_NEEDS_CODES;
    if (needs_codes && !by_codes)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.objective works on the codes of the Isolation kernel, but "
                        "affinity.kind is %s; take affinity.kind=isolation",
                        job->kind->name);
    if (p->is_found && !needs_codes && !job->options->model_writer) return IKT_OK;
    return by_codes ? find_by_codes(ctx, job, p) : find_by_distances(ctx, job, p);
}
