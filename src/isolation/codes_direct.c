/* Codes partitioning by partitioning: every row against the centres of each.
 *
 * Advantage: any model. Disadvantage: t psi distances a row, and a pass over X for every batch of
 * partitionings whose centres fit the budget. */
#include <omp.h>

#include "base/memory.h"
#include "base/sort.h"
#include "isolation/codes_ways.h"

/* A run of partitionings that are packed together; the coarse one is a run of its own. */
typedef struct {
    ikt_coding *c;
    ikt_row_tile *tile;   /* [threads] */
    char *slab;           /* the packed centres of a run */
    ikt_centres *centres; /* [batch], places in the slab */
    int64_t first, count; /* partitionings of the run */
    int64_t psi;          /* centres of each */
} direct;

/* Partitionings to a pass. They must be the same on all ranks, so they depend on the problem alone:
 * a rank's instruction set, for one, may differ. */
static int64_t batch_of(ikt_codes_budget budget, int64_t row_bytes, int64_t psi, int64_t t) {
    return ikt_coding_batch(budget.batch_bytes, 2 * psi * row_bytes, t);
}

/* COLLECTIVE. Fetches and packs the run's centres.
 *   centre   [count * psi] their rows, partitioning by partitioning
 *   row      [n_rows] the same, ascending, each once */
static ikt_status load_run(const direct *run, const int64_t *centre, const int64_t *row,
                           int64_t n_rows) {
    ikt_coding *c = run->c;
    const ikt_codes_kernel *kernel = c->kernel;
    const int64_t psi = run->psi, bytes = ikt_centres_bytes(kernel, psi, c->d);
    int64_t *indices = NULL; /* [threads * psi] */
    void *gathered = NULL;
    ikt_status st = ikt_alloc(c->ctx, &gathered, n_rows * c->d, (size_t)c->element, "centres");
    if (st == IKT_OK) st = ikt_alloc(c->ctx, &indices, c->threads * psi, sizeof *row, "centres");
    st = ikt_agree(c->ctx, st);
    if (st == IKT_OK) st = ikt_dataset_gather(ikt_dataset_model(c->data), row, n_rows, gathered);
    if (st == IKT_OK) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads)
        for (int64_t i = 0; i < run->count; i++) {
            int64_t *index = indices + omp_get_thread_num() * psi;
            for (int64_t j = 0; j < psi; j++)
                index[j] = ikt_find_i64(row, n_rows, centre[i * psi + j]);
            ikt_centres_place(kernel, psi, c->d, run->slab + i * bytes, &run->centres[i]);
            ikt_centres_fill(kernel, &run->centres[i], gathered, index);
        }
    }
    ikt_free(&indices);
    ikt_free(&gathered);
    return st;
}

/* Tiles so that `count` rows make full register blocks and the threads have equal shares. */
static void code_block(void *self, int64_t row, int64_t count) {
    const direct *run = self;
    const ikt_coding *c = run->c;
    const ikt_codes_kernel *kernel = c->kernel;
    const int64_t tiles =
        ikt_divide_up(ikt_divide_up(count, run->tile[0].capacity), c->threads) * c->threads;
    const int64_t step = ikt_divide_up(ikt_divide_up(count, tiles), kernel->rows) * kernel->rows;
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads)
    for (int64_t from = 0; from < count; from += step) {
        const int64_t rows = count - from < step ? count - from : step;
        ikt_row_tile *tile = &run->tile[omp_get_thread_num()];
        uint16_t cell[IKT_ROW_TILE_MOST];
        ikt_row_tile_stage(kernel, tile, (const char *)c->rows + from * c->d * c->element, rows);
        for (int64_t i = 0; i < run->count; i++) {
            ikt_row_tile_assign(kernel, tile, &run->centres[i], cell);
            ikt_coding_write(c, row + from, rows, run->first + i, cell, 1);
        }
    }
}

static ikt_status code_batch(direct *run, int64_t first, int64_t count) {
    ikt_coding *c = run->c;
    int64_t *row = NULL, n_rows = 0;
    run->first = first;
    run->count = count;
    run->psi = c->model->psi;
    ikt_status st =
        ikt_agree(c->ctx, ikt_model_distinct(c->ctx, c->model, first, count, &row, &n_rows));
    if (st == IKT_OK) st = load_run(run, c->model->row + first * run->psi, row, n_rows);
    if (st == IKT_OK) st = ikt_coding_pass(c, first + count, code_block, run);
    ikt_free(&row);
    return st;
}

static ikt_status code_coarse(direct *run) {
    const ikt_model *model = run->c->model;
    run->first = model->t;
    run->count = 1;
    run->psi = model->spec.coarse;
    IKT_TRY(load_run(run, model->coarse_row, model->coarse_row, run->psi));
    return ikt_coding_pass(run->c, model->t + 1, code_block, run);
}

static int64_t slab_bytes(const ikt_codes_kernel *kernel, int64_t batch, const ikt_model_spec *spec,
                          int64_t d) {
    const int64_t fine = batch * ikt_centres_bytes(kernel, spec->psi, d);
    const int64_t rough = ikt_centres_bytes(kernel, spec->coarse, d);
    return fine > rough ? fine : rough;
}

static ikt_status create(direct *run, int64_t batch) {
    ikt_coding *c = run->c;
    const int64_t slab = slab_bytes(c->kernel, batch, &c->model->spec, c->d);
    IKT_TRY(ikt_alloc(c->ctx, &run->slab, slab, 1, "centres"));
    IKT_TRY(ikt_alloc(c->ctx, &run->centres, batch, sizeof *run->centres, "centres"));
    IKT_TRY(ikt_alloc(c->ctx, &run->tile, c->threads, sizeof *run->tile, "tiles of rows"));
    for (int i = 0; i < c->threads; i++)
        IKT_TRY(ikt_row_tile_create(c->ctx, c->kernel, c->d, &run->tile[i]));
    return IKT_OK;
}

ikt_status ikt_coding_direct(ikt_coding *c) {
    const ikt_model *model = c->model;
    const int64_t batch = batch_of(c->budget, c->d * c->element, model->psi, model->t);
    direct run = {.c = c};
    c->passes = ikt_divide_up(model->t, batch) + (model->spec.coarse > 0);
    ikt_status st = ikt_agree(c->ctx, create(&run, batch));
    for (int64_t first = 0; st == IKT_OK && first < model->t; first += batch)
        st = code_batch(&run, first, model->t - first < batch ? model->t - first : batch);
    if (st == IKT_OK && model->spec.coarse > 0) st = code_coarse(&run);
    for (int i = 0; run.tile && i < c->threads; i++)
        ikt_row_tile_destroy(&run.tile[i]);
    ikt_free(&run.tile);
    ikt_free(&run.centres);
    ikt_free(&run.slab);
    return st;
}

int64_t ikt_coding_direct_bytes(const ikt_codes_kernel *kernel, ikt_codes_budget budget,
                                const ikt_model_spec *spec, int64_t d, int threads) {
    const int64_t element = kernel->is_u8 ? 1 : 4;
    const int64_t batch = batch_of(budget, d * element, spec->psi, spec->t);
    const int64_t drawn = batch * spec->psi > spec->coarse ? batch * spec->psi : spec->coarse;
    const int64_t most = spec->psi > spec->coarse ? spec->psi : spec->coarse;
    const int64_t distinct = drawn < spec->n ? drawn : spec->n;
    return slab_bytes(kernel, batch, spec, d) + distinct * d * element + drawn * 8 +
           threads * (most * 8 + ikt_row_tile_bytes(kernel, d));
}
