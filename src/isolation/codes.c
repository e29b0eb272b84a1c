/* Cell codes, streamed: the choice of a way, and the passes over the rows. See codes.h for the
 * method. */
#include "isolation/codes.h"

#include <assert.h>
#include <string.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/watch.h"
#include "isolation/coding.h"
#include "isolation/row_lists.h"
#include "linalg/blocks.h"

/* Entries of a block of sparse rows, twice what aligned ones have, and bytes of each: as read, as
 * mapped. */
enum { SPARSE_BLOCK = 1 << 21, SPARSE_ENTRY_BYTES = 12 + 8 };

static const ikt_codes_budget usual_budget = {INT64_C(256) << 20, INT64_C(64) << 20,
                                              INT64_C(1) << 35};

void ikt_codes_destroy(ikt_codes *codes) {
    ikt_free(&codes->code);
    *codes = (ikt_codes){0};
}

void ikt_code_places_destroy(ikt_code_places *places) {
    ikt_free_all(&places->coarse, &places->list, &places->first);
    *places = (ikt_code_places){.coarse = NULL};
}

int64_t ikt_codes_memory(int64_t n_local, int64_t psi, int64_t t) {
    return n_local * ikt_divide_up(t * ikt_code_width(psi), 64) * 64;
}

ikt_codes_rows ikt_codes_rows_of(ikt_dataset *data) {
    const ikt_dataset *centres = ikt_dataset_model(data);
    ikt_codes_rows rows = {.d = ikt_dataset_columns(data),
                           .is_u8 = ikt_dataset_is_u8(data),
                           .is_sparse = ikt_dataset_is_sparse(data),
                           .is_manhattan = ikt_dataset_metric(data) == IKT_METRIC_MANHATTAN,
                           .is_pairs = ikt_dataset_pairs(data) != NULL};
    if (!rows.is_sparse) return rows;
    rows.entries = (double)ikt_dataset_entries(centres) / (double)ikt_dataset_rows(centres);
    rows.longest = ikt_dataset_longest_row(data);
    return rows;
}

/* --- passes ----------------------------------------------------------------------------------- */

/* Whether `count` rows from own row `row` on have `entries` entries. */
static bool is_done(const ikt_coding *c, int64_t row, int64_t count, int64_t entries) {
    if (!c->done) return false;
    for (int64_t i = row; i < row + count; i++)
        if (c->done[i] < entries) return false;
    return true;
}

static void note_done(ikt_coding *c, int64_t row, int64_t count, int64_t entries) {
    c->has_worked |= !is_done(c, row, count, entries);
    for (int64_t i = row; c->done && i < row + count; i++)
        if (c->done[i] < entries) c->done[i] = (int32_t)entries;
}

static ikt_status save(void *self) {
    const ikt_coding *c = self;
    return c->hooks->save(c->hooks->self, c->codes, c->places, c->done);
}

ikt_status ikt_coding_pass(ikt_coding *c, int64_t entries, ikt_coding_visitor *visit, void *self) {
    const ikt_row_range own = {c->distribution->first, c->distribution->count};
    const int64_t steps = ikt_stream_steps(c->ctx, own.count, c->block);
    const ikt_saver saver = {c, save, c->hooks ? c->hooks->where : NULL, 0};
    for (int64_t step = 0; step < steps; step++) {
        ikt_row_range at = ikt_stream_step(own, c->block, step);
        const int64_t row = at.first - own.first, count = at.count;
        if (is_done(c, row, count, entries)) at.count = 0;
        if (c->is_sparse)
            IKT_TRY(ikt_dataset_read_sparse(c->data, at.first, at.count, &c->entries));
        else if (c->kernel->is_u8)
            IKT_TRY(ikt_dataset_read_u8(c->data, at.first, at.count, c->rows));
        else
            IKT_TRY(ikt_dataset_read(c->data, at.first, at.count, c->rows));
        if (at.count > 0) visit(self, row, at.count);
        note_done(c, row, count, entries);
        c->seen += count;
        ikt_progress(c->ctx, "rows coded", c->seen / c->passes, own.count, NULL);
        IKT_TRY(ikt_watcher_poll(c->ctx));
        if (c->hooks) IKT_TRY(ikt_watch_pause_after(c->ctx, &saver, &c->has_worked));
    }
    return IKT_OK;
}

void ikt_coding_write(const ikt_coding *c, int64_t row, int64_t count, int64_t p,
                      const uint32_t *cell, int64_t step) {
    const bool is_coarse = p == c->codes->t;
    for (int64_t i = 0; i < count; i++) {
        if (is_coarse)
            c->places->coarse[row + i] = (uint16_t)cell[i * step];
        else
            ikt_code_set(c->codes, row + i, p, cell[i * step]);
    }
}

void ikt_coding_write_row(const ikt_coding *c, int64_t row, const uint32_t *cell) {
    const int64_t t = c->codes->t;
    for (int64_t p = 0; p < t; p++)
        ikt_code_set(c->codes, row, p, cell[p]);
    if (c->model->spec.coarse > 0) c->places->coarse[row] = (uint16_t)cell[t];
}

void ikt_coding_write_places(const ikt_coding *c, const uint32_t *place, int64_t row,
                             const ikt_select *kept) {
    const ikt_code_places *places = c->places;
    for (int64_t e = 0; e < places->near; e++)
        places->list[row * places->near + e] =
            e < kept->count ? place[ikt_pair_number(kept->pair[e])] : UINT32_MAX;
}

ikt_status ikt_coding_give_places(const ikt_coding *c, const ikt_near_centres *near) {
    ikt_code_places *places = c->places;
    const int64_t count = near->cells + 1;
    places->centres = near->count;
    places->cells = near->cells;
    IKT_TRY(ikt_alloc_all(c->ctx, &places->first, count, sizeof *places->first, "cells"));
    memcpy(places->first, near->first, (size_t)count * sizeof *places->first);
    return IKT_OK;
}

ikt_status ikt_coding_gather(const ikt_coding *c, int64_t first, int64_t count, int64_t **row,
                             int64_t *n_rows, void **x) {
    ikt_status st = ikt_model_distinct(c->ctx, c->model, first, count, row, n_rows);
    if (st == IKT_OK) st = ikt_alloc(c->ctx, x, *n_rows * c->d, (size_t)c->element, "centres");
    IKT_TRY(ikt_agree(c->ctx, st));
    return ikt_dataset_gather(ikt_dataset_model(c->data), *row, *n_rows, *x);
}

int64_t ikt_coding_batch(int64_t bytes, int64_t each, int64_t t) {
    int64_t batch = bytes / each;
    if (batch > t) batch = t;
    if (batch < 1) batch = 1;
    const int64_t passes = ikt_divide_up(t, batch);
    return passes > 0 ? ikt_divide_up(t, passes) : 1;
}

int64_t ikt_coding_tile(const ikt_coding *c, int64_t count, int64_t most, int64_t multiple) {
    const int64_t tiles = ikt_divide_up(ikt_divide_up(count, most), c->threads) * c->threads;
    const int64_t rows = ikt_divide_up(ikt_divide_up(count, tiles), multiple) * multiple;
    return ikt_smaller(rows, most < multiple ? most : most / multiple * multiple);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Distinct centres that a model can have at most, where codes come from lists of them; 0 where they
 * do not. */
int64_t ikt_codes_distinct(const ikt_model_spec *spec, const ikt_codes_rows *rows) {
    const int64_t distinct = ikt_model_distinct_most(spec, spec->t * spec->psi + spec->coarse);
    if (spec->form != IKT_FORM_VORONOI) return 0;
    if (rows->is_pairs) return distinct;
    const bool pays = rows->is_sparse
                          ? ikt_sparse_list_pays(spec, rows, distinct)
                          : ikt_list_pays(rows->is_u8, distinct, spec->psi, spec->t, rows->d);
    return pays ? distinct : 0;
}

/* Centres that every row is compared with; 0 where it is compared with some, or not compared. */
static int64_t compared(const ikt_model_spec *spec, const ikt_codes_rows *rows) {
    const int64_t distinct = ikt_codes_distinct(spec, rows);
    if (spec->form == IKT_FORM_FOREST || spec->candidates > 0 || rows->is_pairs) return 0;
    return distinct > 0 ? distinct : spec->t * spec->psi + spec->coarse;
}

/* Dense rows of X to be read at a time: as many as fit, but so few that all threads are done with
 * them within some seconds, as a run can be stopped between two blocks only.
 *   threads     of the rank that has the most
 *   most_rows   likewise */
static int64_t block_rows(ikt_codes_budget budget, const ikt_model_spec *spec,
                          const ikt_codes_rows *rows, int64_t threads, int64_t most_rows) {
    const int64_t products = compared(spec, rows) * rows->d;
    int64_t count = budget.block_bytes / (rows->d * ikt_held_bytes(rows->is_u8));
    if (products > 0) count = ikt_smaller(count, threads * budget.block_products / products);
    return ikt_larger(ikt_smaller(count, most_rows), 1);
}

/* Fills the codes in the way that suits the model and the rows. */
static ikt_status fill(ikt_coding *c) {
    const ikt_model *model = c->model;
    const bool is_forest = model->spec.form == IKT_FORM_FOREST;
    const ikt_codes_rows rows = ikt_codes_rows_of(c->data);
    const bool with_lists = ikt_codes_distinct(&model->spec, &rows) > 0;
    ikt_log(c->ctx, IKT_LOG_DETAIL, "codes: %lld partitionings x %lld centres, %s",
            (long long)model->t, (long long)model->psi,
            c->is_sparse    ? "sparse float32"
            : rows.is_pairs ? "distances from a matrix"
            : is_forest     ? "random trees"
                            : c->kernel->name);
    if (rows.is_pairs) return ikt_coding_pairs(c);
    if (c->is_sparse) return ikt_coding_sparse(c, &rows, with_lists);
    if (is_forest) return ikt_coding_forest(c);
    if (!with_lists) return ikt_coding_direct(c);
    return model->spec.candidates > 0 ? ikt_coding_near(c) : ikt_coding_lists(c);
}

ikt_status ikt_codes_compute_within(ikt_context *ctx, ikt_codes_budget budget,
                                    const ikt_codes_hooks *hooks, ikt_dataset *data,
                                    const ikt_rows *distribution, const ikt_model *model,
                                    ikt_codes *out, ikt_code_places *places) {
    assert(model->spec.n == ikt_dataset_rows(ikt_dataset_model(data)));
    assert(distribution->n == ikt_dataset_rows(data));
    ikt_code_places none = {.coarse = NULL};
    if (!places) places = &none;
    assert(model->spec.form == IKT_FORM_VORONOI || !places->coarse);
    if (budget.batch_bytes == 0) budget.batch_bytes = usual_budget.batch_bytes;
    if (budget.block_bytes == 0) budget.block_bytes = usual_budget.block_bytes;
    if (budget.block_products == 0) budget.block_products = usual_budget.block_products;
    const bool is_u8 = ikt_dataset_is_u8(data);
    const bool is_manhattan = ikt_dataset_metric(data) == IKT_METRIC_MANHATTAN;
    const int64_t n_local = distribution->count;
    ikt_coding c = {.ctx = ctx,
                    .data = data,
                    .distribution = distribution,
                    .model = model,
                    .kernel = ikt_codes_kernel_choose(is_u8, is_manhattan, ikt_cpu_isa()),
                    .codes = out,
                    .places = places,
                    .budget = budget,
                    .d = ikt_dataset_columns(data),
                    .is_sparse = ikt_dataset_is_sparse(data),
                    .element = ikt_held_bytes(is_u8),
                    .threads = ikt_threads(ctx),
                    .hooks = hooks};
    if (c.is_sparse && model->spec.form == IKT_FORM_FOREST)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "isolation.form: forest needs dense rows, and those of %s are sparse; take "
                        "isolation.form=voronoi",
                        ikt_dataset_name(data));
    if (ikt_dataset_pairs(data) && model->spec.form == IKT_FORM_FOREST)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "isolation.form: forest splits columns, and preprocess.metric = "
                        "precomputed gives distances only; take isolation.form=voronoi");
    const ikt_codes_rows shape = ikt_codes_rows_of(data);
    c.block = c.is_sparse ? ikt_dataset_block_rows(data)
                          : block_rows(budget, &model->spec, &shape, ikt_max_one(ctx, c.threads),
                                       ikt_rows_count(distribution, 0));
    *out = (ikt_codes){.n_local = n_local,
                       .t = model->t,
                       .stride = ikt_codes_memory(1, model->psi, model->t),
                       .width = ikt_code_width(model->psi)};
    ikt_status st = ikt_alloc(ctx, &out->code, n_local * out->stride, 1, "codes");
    if (st == IKT_OK && !c.is_sparse)
        st = ikt_alloc(ctx, &c.rows, c.block * c.d, (size_t)c.element, "rows of X");
    if (st == IKT_OK && hooks) st = ikt_alloc(ctx, &c.done, n_local, sizeof *c.done, "codes");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK && hooks) st = hooks->load(hooks->self, out, places, c.done);
    const bool is_complete = is_done(&c, 0, n_local, model->t + 1);
    const bool is_left = st == IKT_OK && ikt_max_one(ctx, !is_complete) > 0;
    /* What the places are is found again, also where all rows are done. */
    if (st == IKT_OK && (places->near > 0 || is_left)) {
        const ikt_saver saver = {&c, save, hooks ? hooks->where : NULL, 0};
        st = fill(&c);
        if (st == IKT_OK && is_left) { /* otherwise a run without time would stop here for ever */
            note_done(&c, 0, n_local, model->t + 1);
            st = ikt_watch_stage_end(ctx, hooks ? &saver : NULL);
        }
    }
    ikt_free(&c.rows);
    ikt_sparse_destroy(&c.entries);
    ikt_free(&c.done);
    if (st != IKT_OK) ikt_codes_destroy(out);
    return st;
}

ikt_status ikt_codes_compute(ikt_context *ctx, ikt_dataset *data, const ikt_rows *distribution,
                             const ikt_model *model, ikt_codes *out, uint16_t *coarse) {
    ikt_code_places places = {.coarse = coarse};
    return ikt_codes_compute_within(ctx, usual_budget, NULL, data, distribution, model, out,
                                    &places);
}

int64_t ikt_codes_memory_peak(const ikt_codes_rows *rows, int64_t n_local,
                              const ikt_model_spec *spec, int threads) {
    const ikt_codes_kernel *kernel =
        ikt_codes_kernel_choose(rows->is_u8, rows->is_manhattan, ikt_cpu_isa());
    const int64_t d = rows->d, row_bytes = d * ikt_held_bytes(rows->is_u8);
    const int64_t distinct = ikt_codes_distinct(spec, rows);
    const int64_t entries = rows->longest > SPARSE_BLOCK ? rows->longest : SPARSE_BLOCK;
    const int64_t block = rows->is_sparse
                              ? SPARSE_ENTRY_BYTES * entries
                              : block_rows(usual_budget, spec, rows, threads, n_local) * row_bytes;
    const int64_t tile =
        spec->candidates > 0 ? ikt_coding_near_tile(kernel, d) : ikt_row_lists_tile(kernel, d);
    const int64_t work =
        rows->is_pairs    ? ikt_coding_pairs_bytes(spec, distinct, d, threads)
        : rows->is_sparse ? ikt_coding_sparse_bytes(usual_budget, spec, distinct, rows, threads)
        : spec->form == IKT_FORM_FOREST
            ? ikt_coding_forest_bytes(usual_budget, spec, row_bytes, d, threads)
        : distinct > 0
            ? ikt_row_lists_bytes(kernel, spec, distinct, d, tile, threads) +
                  (spec->candidates > 0 ? ikt_coding_near_bytes(kernel, distinct, spec->candidates,
                                                                d, block / row_bytes, threads)
                                        : 0)
            : ikt_coding_direct_bytes(kernel, usual_budget, spec, d, threads);
    const int64_t model = 8 * (spec->pool + spec->coarse);
    const int64_t places = n_local * spec->near * (int64_t)sizeof(uint32_t);
    return ikt_codes_memory(n_local, spec->psi, spec->t) + model + block + work + places;
}
