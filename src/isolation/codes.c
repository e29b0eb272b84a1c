/* Cell codes, streamed. See codes.h for the method. */
#include "isolation/codes.h"

#include <assert.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "isolation/codes_ways.h"

/* Entries of a block of sparse rows, twice what aligned ones have, and bytes of each: as read, as
 * mapped. */
enum { SPARSE_BLOCK = 1 << 21, SPARSE_ENTRY_BYTES = 12 + 8 };

static const ikt_codes_budget usual_budget = {INT64_C(256) << 20, INT64_C(64) << 20};

/* Rows of X to be read at a time. `most_rows`: of the rank that has the most. */
static int64_t block_rows(ikt_codes_budget budget, int64_t row_bytes, int64_t most_rows) {
    int64_t rows = budget.block_bytes / row_bytes;
    if (rows > most_rows) rows = most_rows;
    return rows < 1 ? 1 : rows;
}

/* Distinct centres that a model can have at most, where codes come from lists of them; 0 where they
 * do not. */
int64_t ikt_codes_distinct(const ikt_model_spec *spec, const ikt_codes_rows *rows) {
    const int64_t all = spec->t * spec->psi + spec->coarse;
    const int64_t from = spec->pool ? spec->pool : spec->n;
    const int64_t distinct = all < from ? all : from;
    if (spec->form != IKT_FORM_VORONOI) return 0;
    const bool pays = rows->is_sparse
                          ? ikt_sparse_list_pays(spec, rows, distinct)
                          : ikt_list_pays(rows->is_u8, distinct, spec->psi, spec->t, rows->d);
    return pays ? distinct : 0;
}

static ikt_codes_rows rows_of(const ikt_coding *c) {
    ikt_codes_rows rows = {.d = c->d, .is_u8 = c->kernel->is_u8, .is_sparse = c->is_sparse};
    if (!c->is_sparse) return rows;
    const ikt_dataset *centres = ikt_dataset_model(c->data);
    rows.entries = (double)ikt_dataset_entries(centres) / (double)ikt_dataset_rows(centres);
    rows.longest = ikt_dataset_longest_row(c->data);
    return rows;
}

/* Fills the codes in the way that suits the model and the rows. */
static ikt_status fill(ikt_coding *c) {
    const ikt_model *model = c->model;
    const ikt_codes_rows rows = rows_of(c);
    const bool is_forest = model->spec.form == IKT_FORM_FOREST;
    const bool with_lists = ikt_codes_distinct(&model->spec, &rows) > 0;
    ikt_log(c->ctx, IKT_LOG_DETAIL, "codes: %lld partitionings x %lld centres, %s",
            (long long)model->t, (long long)model->psi,
            c->is_sparse ? "sparse float32"
            : is_forest  ? "random trees"
                         : c->kernel->name);
    if (c->is_sparse) return ikt_coding_sparse(c, with_lists);
    if (is_forest) return ikt_coding_forest(c);
    return with_lists ? ikt_coding_lists(c) : ikt_coding_direct(c);
}

ikt_status ikt_codes_compute_within(ikt_context *ctx, ikt_codes_budget budget,
                                    const ikt_codes_hooks *hooks, ikt_dataset *data,
                                    const ikt_rows *distribution, const ikt_model *model,
                                    ikt_codes *out, uint16_t *coarse) {
    assert(model->spec.n == ikt_dataset_rows(ikt_dataset_model(data)));
    assert(distribution->n == ikt_dataset_rows(data));
    assert(model->spec.form == IKT_FORM_VORONOI || !coarse);
    const bool is_u8 = ikt_dataset_is_u8(data);
    const int64_t n_local = distribution->count;
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
                    .hooks = hooks};
    if (c.is_sparse && model->spec.form == IKT_FORM_FOREST)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "isolation.form: forest needs dense rows, and those of %s are sparse; take "
                        "isolation.form=voronoi",
                        ikt_dataset_name(data));
    c.block = c.is_sparse ? ikt_dataset_block_rows(data)
                          : block_rows(budget, c.d * c.element, ikt_rows_count(distribution, 0));
    *out = (ikt_codes){.n_local = n_local,
                       .t = model->t,
                       .stride = ikt_codes_memory(1, model->psi, model->t),
                       .width = model->psi <= 256 ? 1 : 2};
    ikt_status st = ikt_alloc(ctx, &out->code, n_local * out->stride, 1, "codes");
    if (st == IKT_OK && !c.is_sparse)
        st = ikt_alloc(ctx, &c.rows, c.block * c.d, (size_t)c.element, "rows of X");
    if (st == IKT_OK && hooks) st = ikt_alloc(ctx, &c.done, n_local, sizeof *c.done, "codes");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK && hooks) st = hooks->load(hooks->self, out, coarse, c.done);
    if (st == IKT_OK && !ikt_coding_is_complete(&c)) {
        st = fill(&c);
        if (st == IKT_OK) st = ikt_coding_end(&c);
    }
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

ikt_status ikt_codes_compute_kept(ikt_context *ctx, const ikt_codes_hooks *hooks, ikt_dataset *data,
                                  const ikt_rows *distribution, const ikt_model *model,
                                  ikt_codes *out, uint16_t *coarse) {
    return ikt_codes_compute_within(ctx, usual_budget, hooks, data, distribution, model, out,
                                    coarse);
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
