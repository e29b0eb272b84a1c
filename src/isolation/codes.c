/* Cell codes, streamed. See codes.h for the method. */
#include "isolation/codes.h"

#include <assert.h>
#include <string.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/watch.h"
#include "isolation/codes_list.h"
#include "isolation/codes_sparse.h"
#include "isolation/coding.h"
#include "linalg/blocks.h"

/* What lists may take for centres of sparse rows. */
static const int64_t sparse_index_most = INT64_C(4) << 30;

/* Entries of a block of sparse rows, twice what aligned ones have, and bytes of each: as read, as
 * mapped. */
enum { SPARSE_BLOCK = 1 << 21, SPARSE_ENTRY_BYTES = 12 + 8 };

static const ikt_codes_budget usual_budget = {INT64_C(256) << 20, INT64_C(64) << 20};

static int64_t divide_up(int64_t value, int64_t by) {
    return (value + by - 1) / by;
}

/* Rows of X to be read at a time. `most_rows`: of the rank that has the most. */
static int64_t block_rows(ikt_codes_budget budget, int64_t row_bytes, int64_t most_rows) {
    int64_t rows = budget.block_bytes / row_bytes;
    if (rows > most_rows) rows = most_rows;
    return rows < 1 ? 1 : rows;
}

/* --- one pass over X -------------------------------------------------------------------------- */

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
    return c->keeper->save(c->keeper->self, c->codes, c->coarse, c->done);
}

/* COLLECTIVE. Between two blocks. */
static ikt_status pause_coding(ikt_coding *c) {
    if (!c->keeper) return IKT_OK;
    const ikt_saver saver = {c, save, c->keeper->where};
    return ikt_watch_pause_after(c->ctx, &saver, &c->has_worked);
}

ikt_status ikt_coding_pass(ikt_coding *c, int64_t entries, ikt_coding_visitor *visit, void *self) {
    const ikt_row_range own = {c->distribution->first, c->distribution->count};
    const int64_t steps = ikt_stream_steps(c->ctx, own.count, c->block);
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
        IKT_TRY(pause_coding(c));
    }
    return IKT_OK;
}

void ikt_coding_write(const ikt_coding *c, int64_t row, int64_t count, int64_t p,
                      const uint16_t *cell, int64_t step) {
    const ikt_codes *codes = c->codes;
    if (p == codes->t) {
        for (int64_t i = 0; i < count; i++)
            c->coarse[row + i] = cell[i * step];
        return;
    }
    char *at = (char *)codes->code + row * codes->stride + p * codes->width;
    for (int64_t i = 0; i < count; i++, at += codes->stride) {
        if (codes->width == 1)
            *(uint8_t *)at = (uint8_t)cell[i * step];
        else
            memcpy(at, &cell[i * step], sizeof *cell);
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

static ikt_status create_codes(ikt_context *ctx, int64_t n_local, int64_t psi, int64_t t,
                               ikt_codes *codes) {
    const int width = psi <= 256 ? 1 : 2;
    *codes = (ikt_codes){
        .n_local = n_local, .t = t, .stride = divide_up(t * width, 64) * 64, .width = width};
    return ikt_alloc(ctx, &codes->code, n_local * codes->stride, 1, "codes");
}

/* How many distinct centres a model can have at most. */
static int64_t distinct_most(const ikt_model_spec *spec) {
    int64_t all = spec->t * spec->psi + spec->coarse, from = spec->pool ? spec->pool : spec->n;
    return all < from ? all : from;
}

static bool use_lists(const ikt_model_spec *spec, const ikt_codes_rows *rows) {
    const int64_t distinct = distinct_most(spec);
    if (spec->form != IKT_FORM_VORONOI) return false;
    if (!rows->is_sparse) return ikt_list_pays(rows->is_u8, distinct, spec->psi, spec->t, rows->d);
    const int64_t held = (int64_t)((double)distinct * rows->entries);
    return ikt_sparse_list_pays(distinct, spec->psi, spec->t) &&
           ikt_sparse_coder_bytes(distinct, rows->d, held) <= sparse_index_most;
}

/* COLLECTIVE. Whether there is nothing left to do. */
static bool is_complete(const ikt_coding *c) {
    bool all = is_done(c, 0, c->distribution->count, c->model->t + 1);
    return c->done && ikt_max_one(c->ctx, !all) == 0;
}

static ikt_codes_rows rows_of(const ikt_coding *c) {
    ikt_codes_rows rows = {.d = c->d, .is_u8 = c->kernel->is_u8, .is_sparse = c->is_sparse};
    if (!c->is_sparse) return rows;
    const ikt_dataset *centres = ikt_dataset_model(c->data);
    rows.entries = (double)ikt_dataset_entries(centres) / (double)ikt_dataset_rows(centres);
    rows.longest = ikt_dataset_longest_row(c->data);
    return rows;
}

static ikt_status compute(ikt_coding *c) {
    const ikt_model *model = c->model;
    const ikt_saver saver = {c, save, c->keeper ? c->keeper->where : NULL};
    if (c->keeper) IKT_TRY(c->keeper->load(c->keeper->self, c->codes, c->coarse, c->done));
    if (is_complete(c)) return IKT_OK;
    ikt_log(c->ctx, IKT_LOG_DETAIL, "codes: %lld partitionings x %lld centres, %s",
            (long long)model->t, (long long)model->psi,
            c->is_sparse                          ? "sparse float32"
            : model->spec.form == IKT_FORM_FOREST ? "random trees"
                                                  : c->kernel->name);
    const ikt_codes_rows rows = rows_of(c);
    const bool with_lists = use_lists(&model->spec, &rows);
    IKT_TRY(c->is_sparse                          ? ikt_coding_sparse(c, with_lists)
            : model->spec.form == IKT_FORM_FOREST ? ikt_coding_forest(c)
            : with_lists                          ? ikt_coding_lists(c)
                                                  : ikt_coding_direct(c));
    note_done(c, 0, c->distribution->count, model->t + 1);
    return ikt_watch_stage_end(c->ctx, c->keeper ? &saver : NULL);
}

ikt_status ikt_codes_compute_within(ikt_context *ctx, ikt_codes_budget budget,
                                    const ikt_codes_hooks *keeper, ikt_dataset *data,
                                    const ikt_rows *distribution, const ikt_model *model,
                                    ikt_codes *out, uint16_t *coarse) {
    assert(model->spec.n == ikt_dataset_rows(ikt_dataset_model(data)));
    assert(distribution->n == ikt_dataset_rows(data));
    assert(model->spec.form == IKT_FORM_VORONOI || !coarse);
    const bool is_u8 = ikt_dataset_is_u8(data);
    ikt_coding c = {.ctx = ctx,
                    .data = data,
                    .distribution = distribution,
                    .model = model,
                    .kernel = ikt_codes_kernel_choose(is_u8, ikt_cpu_isa()),
                    .codes = out,
                    .coarse = coarse,
                    .budget = budget,
                    .d = ikt_dataset_columns(data),
                    .is_sparse = ikt_dataset_is_sparse(data),
                    .element = is_u8 ? 1 : (int64_t)sizeof(float),
                    .threads = ikt_threads(ctx),
                    .keeper = keeper};
    if (c.is_sparse && model->spec.form == IKT_FORM_FOREST)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "isolation.form: forest needs dense rows, and those of %s are sparse; take "
                        "isolation.form=voronoi",
                        ikt_dataset_name(data));
    c.block = c.is_sparse ? ikt_dataset_block_rows(data)
                          : block_rows(budget, c.d * c.element, ikt_rows_count(distribution, 0));
    ikt_status st = create_codes(ctx, distribution->count, model->psi, model->t, out);
    if (st == IKT_OK && !c.is_sparse)
        st = ikt_alloc(ctx, &c.rows, c.block * c.d, (size_t)c.element, "rows of X");
    if (st == IKT_OK && keeper)
        st = ikt_alloc(ctx, &c.done, distribution->count, sizeof *c.done, "codes");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = compute(&c);
    ikt_free(&c.rows);
    ikt_sparse_destroy(&c.entries);
    ikt_free(&c.done);
    if (st != IKT_OK) ikt_codes_destroy(out);
    return st;
}

ikt_status ikt_codes_compute(ikt_context *ctx, ikt_dataset *data, const ikt_rows *distribution,
                             const ikt_model *model, ikt_codes *out, uint16_t *coarse) {
    return ikt_codes_compute_within(ctx, usual_budget, NULL, data, distribution, model, out,
                                    coarse);
}

ikt_status ikt_codes_compute_kept(ikt_context *ctx, const ikt_codes_hooks *keeper,
                                  ikt_dataset *data, const ikt_rows *distribution,
                                  const ikt_model *model, ikt_codes *out, uint16_t *coarse) {
    return ikt_codes_compute_within(ctx, usual_budget, keeper, data, distribution, model, out,
                                    coarse);
}

void ikt_codes_destroy(ikt_codes *codes) {
    ikt_free(&codes->code);
    *codes = (ikt_codes){0};
}

int64_t ikt_codes_cell(const ikt_codes *codes, int64_t i, int64_t p) {
    const char *row = (const char *)codes->code + i * codes->stride;
    return codes->width == 1 ? ((const uint8_t *)row)[p] : ((const uint16_t *)(const void *)row)[p];
}

int64_t ikt_codes_memory(int64_t n_local, int64_t psi, int64_t t) {
    return n_local * divide_up(t * (psi <= 256 ? 1 : 2), 64) * 64;
}

int64_t ikt_codes_distinct(const ikt_model_spec *spec, const ikt_codes_rows *rows) {
    return use_lists(spec, rows) ? distinct_most(spec) : 0;
}

/* Rows of X that are held at a time, as read and, sparse ones, as mapped. */
static int64_t block_bytes(const ikt_codes_rows *rows, int64_t n_local) {
    const int64_t row_bytes = rows->d * (rows->is_u8 ? 1 : (int64_t)sizeof(float));
    if (!rows->is_sparse)
        return block_rows(usual_budget, row_bytes, n_local > 1 ? n_local : 1) * row_bytes;
    const int64_t block = rows->longest > SPARSE_BLOCK ? rows->longest : SPARSE_BLOCK;
    return SPARSE_ENTRY_BYTES * block;
}

int64_t ikt_codes_memory_peak(const ikt_codes_rows *rows, int64_t n_local,
                              const ikt_model_spec *spec, int threads) {
    const ikt_codes_kernel *kernel = ikt_codes_kernel_choose(rows->is_u8, ikt_cpu_isa());
    const int64_t d = rows->d, row_bytes = d * (rows->is_u8 ? 1 : (int64_t)sizeof(float));
    const int64_t distinct = ikt_codes_distinct(spec, rows);
    const int64_t work =
        rows->is_sparse ? ikt_coding_sparse_bytes(usual_budget, spec, distinct, rows, threads)
        : spec->form == IKT_FORM_FOREST
            ? ikt_coding_forest_bytes(usual_budget, spec, row_bytes, d, threads)
        : distinct > 0 ? ikt_coding_lists_bytes(kernel, spec, distinct, d, threads)
                       : ikt_coding_direct_bytes(kernel, usual_budget, spec, d, threads);
    return ikt_codes_memory(n_local, spec->psi, spec->t) + spec->t * spec->psi * 8 +
           block_bytes(rows, n_local) + work;
}
