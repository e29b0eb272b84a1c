/* Drawing centres: a subset of the pool, or of all rows, for each part. */
#include "isolation/model.h"

#include <string.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/rng.h"
#include "base/sort.h"

static const char purpose[] = "model";

/* Rows that centres are drawn from, or rows of the pool. */
static int64_t drawn_from(const ikt_model_spec *spec) {
    return spec->pool > 0 ? spec->pool : spec->n;
}

static int64_t most_centres(const ikt_model_spec *spec) {
    return spec->psi > spec->coarse ? spec->psi : spec->coarse;
}

/* Numbers of the pool become rows. */
static void look_up(const int64_t *pool, int64_t count, int64_t *row) {
    for (int64_t i = 0; pool && i < count; i++)
        row[i] = pool[row[i]];
}

ikt_status ikt_model_create(ikt_context *ctx, const ikt_model_spec *spec, ikt_model **out) {
    ikt_model *model IKT_AT_END(ikt_model_destroy) = NULL;
    const int64_t most = spec->pool > spec->coarse ? spec->pool : spec->coarse;
    const int64_t slots = ikt_draw_slots(most);
    *out = NULL;
    IKT_ARRAYS(held, ctx, purpose);
    model = ikt_claim_kept(&held, 1, sizeof *model);
    IKT_TRY(held.status);
    *model = (ikt_model){.spec = *spec, .psi = spec->psi, .t = spec->t};
    model->coarse_row = ikt_claim_kept(&held, spec->coarse, sizeof *model->coarse_row);
    if (spec->pool > 0) model->pool = ikt_claim_kept(&held, spec->pool, sizeof *model->pool);
    int64_t *slot = ikt_claim(&held, slots, sizeof *slot);
    IKT_TRY(held.status);
    if (model->pool)
        ikt_draw_subset(spec->seed, IKT_RNG_POOL, 0, spec->n, spec->pool, slot, slots, model->pool);
    ikt_draw_subset(spec->seed, IKT_RNG_CELLS, 0, drawn_from(spec), spec->coarse, slot, slots,
                    model->coarse_row);
    look_up(model->pool, spec->coarse, model->coarse_row);
    return ikt_give(out, model);
}

void ikt_model_destroy(ikt_model **model) {
    if (*model) {
        ikt_free_all(&(*model)->pool, &(*model)->coarse_row, &(*model)->given);
    }
    ikt_free(model);
}

/* --- drawing ---------------------------------------------------------------------------------- */

ikt_status ikt_draws_create(ikt_context *ctx, const ikt_model *model, int threads, ikt_draws *out) {
    const ikt_model_spec *spec = &model->spec;
    *out = (ikt_draws){.slots = ikt_draw_slots(most_centres(spec)), .most = most_centres(spec)};
    IKT_TRY(ikt_alloc(ctx, &out->slot, threads * out->slots, sizeof *out->slot, purpose));
    return ikt_alloc(ctx, &out->row, threads * out->most, sizeof *out->row, purpose);
}

void ikt_draws_destroy(ikt_draws *draws) {
    ikt_free_all(&draws->slot, &draws->row);
}

int64_t ikt_draws_bytes(const ikt_model_spec *spec, int threads) {
    return threads * 8 * (ikt_draw_slots(most_centres(spec)) + most_centres(spec));
}

/* The centres of a part as numbers of the pool, or as rows where there is none. */
static int64_t *draw_numbers(const ikt_model *model, const ikt_draws *draws, int thread,
                             int64_t p) {
    const ikt_model_spec *spec = &model->spec;
    int64_t *row = draws->row + thread * draws->most, *slot = draws->slot + thread * draws->slots;
    if (p == spec->t)
        ikt_draw_subset(spec->seed, IKT_RNG_CELLS, 0, drawn_from(spec), spec->coarse, slot,
                        draws->slots, row);
    else if (model->given)
        for (int64_t j = 0; j < spec->psi; j++)
            row[j] = model->given[p * spec->psi + j];
    else
        ikt_draw_subset(spec->seed, IKT_RNG_MODEL, p, drawn_from(spec), spec->psi, slot,
                        draws->slots, row);
    return row;
}

int64_t *ikt_model_draw(const ikt_model *model, const ikt_draws *draws, int thread, int64_t part) {
    int64_t *row = draw_numbers(model, draws, thread, part);
    look_up(model->pool, ikt_model_centres(&model->spec, part), row);
    return row;
}

/* --- distinct centres ------------------------------------------------------------------------- */

/* By a bit for each number that can be drawn. */
static ikt_status distinct_by_marks(ikt_context *ctx, const ikt_model *model,
                                    const ikt_draws *draws, int64_t first, int64_t count,
                                    int64_t **rows, int64_t *n_rows) {
    const int64_t words = drawn_from(&model->spec) / 64 + 1;
    uint64_t *mark IKT_AT_END(ikt_free) = NULL;
    int64_t found = 0;
    IKT_TRY(ikt_alloc(ctx, &mark, words, sizeof *mark, purpose));
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(ctx))
    for (int64_t p = first; p < first + count; p++) {
        const int64_t *number = draw_numbers(model, draws, omp_get_thread_num(), p);
        for (int64_t j = 0; j < ikt_model_centres(&model->spec, p); j++) {
            const uint64_t bit = UINT64_C(1) << number[j] % 64;
#pragma omp atomic
            mark[number[j] / 64] |= bit;
        }
    }
    for (int64_t w = 0; w < words; w++)
        found += __builtin_popcountll(mark[w]);
    IKT_TRY(ikt_alloc(ctx, rows, found, sizeof **rows, purpose));
    for (int64_t w = 0, at = 0; w < words; w++)
        for (uint64_t left = mark[w]; left; left &= left - 1)
            (*rows)[at++] = w * 64 + __builtin_ctzll(left);
    look_up(model->pool, found, *rows);
    *n_rows = found;
    return IKT_OK;
}

/* By sorting all of them. */
static ikt_status distinct_by_order(ikt_context *ctx, const ikt_model *model,
                                    const ikt_draws *draws, int64_t first, int64_t count,
                                    int64_t all, int64_t **rows, int64_t *n_rows) {
    IKT_TRY(ikt_alloc(ctx, rows, all, sizeof **rows, purpose));
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(ctx))
    for (int64_t p = first; p < first + count; p++) {
        const int64_t *row = ikt_model_draw(model, draws, omp_get_thread_num(), p);
        memcpy(*rows + (p - first) * model->psi, row,
               (size_t)ikt_model_centres(&model->spec, p) * sizeof *row);
    }
    *n_rows = ikt_sort_distinct_i64(*rows, all);
    return ikt_resize(ctx, rows, *n_rows, sizeof **rows, purpose);
}

ikt_status ikt_model_distinct(ikt_context *ctx, const ikt_model *model, int64_t first,
                              int64_t count, int64_t **rows, int64_t *n_rows) {
    const bool with_coarse = count > 0 && first + count > model->t;
    const int64_t all = (count - with_coarse) * model->psi + (with_coarse ? model->spec.coarse : 0);
    ikt_draws draws IKT_AT_END(ikt_draws_destroy) = {0};
    *n_rows = 0;
    IKT_TRY(ikt_draws_create(ctx, model, ikt_threads(ctx), &draws));
    return drawn_from(&model->spec) / 64 <= all
               ? distinct_by_marks(ctx, model, &draws, first, count, rows, n_rows)
               : distinct_by_order(ctx, model, &draws, first, count, all, rows, n_rows);
}

int64_t ikt_model_distinct_bytes(const ikt_model_spec *spec, int64_t centres, int threads) {
    const int64_t marks = drawn_from(spec) / 8 + 8, all = 8 * centres;
    return ikt_draws_bytes(spec, threads) + (marks <= all ? marks : all);
}
