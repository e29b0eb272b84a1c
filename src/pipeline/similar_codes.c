/* Similar rows by their cell codes. */
#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "isolation/codes.h"
#include "neighbours/cells.h"
#include "pipeline/keep.h"
#include "pipeline/similar.h"
#include "settings/model_spec.h"

/* Codes of the own rows and the coarse cells that order them. */
typedef struct {
    ikt_model *model;
    ikt_codes codes;
    uint16_t *cell; /* [rows->count] coarse cells where they come with the codes, or NULL */
} coded;

static void coded_free(coded *c) {
    ikt_model_destroy(&c->model);
    ikt_codes_destroy(&c->codes);
    ikt_free(&c->cell);
}

/* The model, drawn from the rows of the input or of isolation.model_from. */
static ikt_status resolve(ikt_context *ctx, const ikt_similar_job *job, ikt_probabilities *p,
                          ikt_model_spec *spec) {
    const int64_t drawn = ikt_dataset_rows(ikt_dataset_model(job->data));
    IKT_TRY(ikt_model_spec_make(ctx, job->settings, job->rows->n, drawn, spec));
    p->psi = spec->psi;
    p->pool = spec->pool;
    if (p->pool > 0)
        ikt_log_numbers(
            ctx, IKT_LOG_STAGE,
            (ikt_log_number[]){IKT_LOG_INT("psi", p->psi), IKT_LOG_INT("pool", p->pool), {0}},
            "isolation: psi %lld, centres from a pool of %lld rows", (long long)p->psi,
            (long long)p->pool);
    return IKT_OK;
}

/* Codes of the own rows; from here on the coordinates are not needed. */
static ikt_status code_rows(ikt_context *ctx, const ikt_similar_job *job,
                            const ikt_model_spec *spec, const ikt_probabilities *p, coded *out) {
    const ikt_rows *rows = job->rows;
    *out = (coded){0};
    ikt_stage_begin(ctx, IKT_STAGE_CODES);
    ikt_status st = ikt_model_create(ctx, spec, &out->model);
    if (st == IKT_OK && spec->coarse > 0 && spec->form == IKT_FORM_VORONOI)
        st = ikt_alloc(ctx, &out->cell, rows->count, sizeof *out->cell, "cells");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK && p->keepers)
        st = ikt_codes_compute_kept(ctx, &p->keepers->codes, job->data, rows, out->model,
                                    &out->codes, out->cell);
    else if (st == IKT_OK)
        st = ikt_codes_compute(ctx, job->data, rows, out->model, &out->codes, out->cell);
    ikt_stage_end(ctx, IKT_STAGE_CODES);
    if (st == IKT_OK && p->keep)
        st = ikt_keep_codes(ctx, p->keep, job->data, rows, out->model, &out->codes,
                            job->settings->layout.dimensions);
    if (st != IKT_OK) coded_free(out);
    return st;
}

static ikt_status place_among_landmarks(ikt_context *ctx, const ikt_rows *rows,
                                        const ikt_codes *codes, ikt_probabilities *p) {
    if (!p->landmarks) return IKT_OK;
    const int64_t coordinates = p->landmarks->q * rows->count;
    ikt_status st = ikt_alloc(ctx, &p->start, coordinates, sizeof *p->start, "embedding");
    IKT_TRY(ikt_agree(ctx, st));
    return ikt_landmarks_place_codes(ctx, p->landmarks, rows, codes, p->start);
}

/* Codes of the rows at the own positions. */
static ikt_status order_codes(ikt_context *ctx, const ikt_order *order, ikt_codes *codes) {
    ikt_stage_begin(ctx, IKT_STAGE_ORDER);
    ikt_status st = ikt_order_apply(ctx, order, codes->code, codes->stride, codes->code,
                                    codes->stride, codes->stride);
    ikt_stage_end(ctx, IKT_STAGE_ORDER);
    return st;
}

static ikt_status search_near(ikt_context *ctx, const ikt_similar_job *job, coded *c,
                              ikt_probabilities *p, ikt_neighbours *lists) {
    ikt_cells cells = {0};
    ikt_tiles tiles = {0};
    IKT_TRY(ikt_rows_order(ctx, job->data, job->rows, c->model, c->cell, &cells, &p->order));
    p->is_ordered = true;
    ikt_status st = order_codes(ctx, &p->order, &c->codes);
    if (st == IKT_OK)
        st = ikt_agree(ctx, ikt_tiles_codes(ctx, &cells, job->rows, &c->codes, &tiles));
    if (st == IKT_OK) st = ikt_similar_near(ctx, job, &cells, &tiles, p, lists);
    ikt_tiles_destroy(&tiles);
    ikt_cells_destroy(&cells);
    return st;
}

static ikt_status search_all(ikt_context *ctx, const ikt_similar_job *job, const coded *c,
                             ikt_probabilities *p, ikt_neighbours *lists) {
    const ikt_scorer scorer = ikt_scorer_codes(&c->codes, job->rows);
    return ikt_similar_all(ctx, job, &scorer, p, lists);
}

ikt_status ikt_similar_by_codes(ikt_context *ctx, const ikt_similar_job *job, ikt_probabilities *p,
                                ikt_neighbours *lists) {
    coded c = {0};
    ikt_model_spec spec;
    IKT_TRY(resolve(ctx, job, p, &spec));
    IKT_TRY(code_rows(ctx, job, &spec, p, &c));
    ikt_status st = place_among_landmarks(ctx, job->rows, &c.codes, p);
    if (st == IKT_OK)
        st = spec.coarse > 0 ? search_near(ctx, job, &c, p, lists)
                             : search_all(ctx, job, &c, p, lists);
    coded_free(&c);
    return st;
}

ikt_status ikt_similar_keep_codes(ikt_context *ctx, const ikt_similar_job *job,
                                  ikt_probabilities *p) {
    coded c = {0};
    ikt_model_spec spec;
    IKT_TRY(resolve(ctx, job, p, &spec));
    ikt_status st = code_rows(ctx, job, &spec, p, &c);
    coded_free(&c);
    return st;
}
