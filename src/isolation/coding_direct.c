/* Codes partitioning by partitioning: every row against the centres of each.
 *
 * Advantage: any model. Disadvantage: t psi distances a row, and a pass over X for every batch of
 * partitionings whose centres fit the budget. */
#include <omp.h>
#include <stdlib.h>

#include "base/memory.h"
#include "isolation/coding.h"

/* Sizes that must be the same on all ranks, so they depend on the problem alone: a rank's
 * instruction set, for one, may differ. */
typedef struct {
    int64_t batch; /* partitionings to a pass */
    int64_t passes;
} batches;

/* A run of partitionings that is packed at a time; the coarse one is a run of its own. */
typedef struct {
    ikt_coding *c;
    ikt_row_tile *tile;   /* [threads] */
    char *slab;           /* the packed centres of a run */
    ikt_centres *centres; /* [batch], places in the slab */
    int64_t first, count; /* partitionings of the run */
    int64_t psi;          /* centres of each */
} direct_job;

static int64_t divide_up(int64_t value, int64_t by) {
    return (value + by - 1) / by;
}

static batches batches_of(ikt_codes_budget budget, int64_t row_bytes, int64_t psi, int64_t t) {
    batches b = {budget.batch_bytes / (2 * psi * row_bytes), 0};
    if (b.batch > t) b.batch = t;
    if (b.batch < 1) b.batch = 1;
    b.passes = divide_up(t, b.batch);
    if (b.passes > 0) b.batch = divide_up(t, b.passes); /* passes of equal length */
    return b;
}

/* --- centres of a run ------------------------------------------------------------------------- */

static int compare_rows(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Packs partitioning i of the run, whose centres are among the gathered rows. */
static void pack_one(const direct_job *job, const int64_t *centre, int64_t i, const int64_t *row,
                     int64_t n_rows, const void *gathered, int64_t *index) {
    const ikt_codes_kernel *kernel = job->c->kernel;
    const int64_t psi = job->psi, d = job->c->d, bytes = ikt_centres_bytes(kernel, psi, d);
    for (int64_t j = 0; j < psi; j++) {
        const int64_t *at =
            bsearch(&centre[i * psi + j], row, (size_t)n_rows, sizeof *row, compare_rows);
        index[j] = at - row;
    }
    ikt_centres_place(kernel, psi, d, job->slab + i * bytes, &job->centres[i]);
    ikt_centres_fill(kernel, &job->centres[i], gathered, index);
}

/* COLLECTIVE. Fetches and packs the run's centres.
 *   centre   [count * psi] their rows, partitioning by partitioning
 *   row      [n_rows] the same, ascending, each once */
static ikt_status load_run(const direct_job *job, const int64_t *centre, const int64_t *row,
                           int64_t n_rows) {
    ikt_coding *c = job->c;
    int64_t *index = NULL;
    void *gathered = NULL;
    ikt_status st = ikt_alloc(c->ctx, &gathered, n_rows * c->d, (size_t)c->element, "centres");
    if (st == IKT_OK)
        st = ikt_alloc(c->ctx, &index, c->threads * job->psi, sizeof *index, "centres");
    st = ikt_agree(c->ctx, st);
    if (st == IKT_OK) st = ikt_dataset_gather(ikt_dataset_model(c->data), row, n_rows, gathered);
    if (st == IKT_OK) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads)
        for (int64_t i = 0; i < job->count; i++)
            pack_one(job, centre, i, row, n_rows, gathered,
                     index + omp_get_thread_num() * job->psi);
    }
    ikt_free(&index);
    ikt_free(&gathered);
    return st;
}

/* --- rows ------------------------------------------------------------------------------------- */

static void code_tile(const direct_job *job, ikt_row_tile *tile, int64_t row, int64_t from,
                      int64_t count) {
    const ikt_coding *c = job->c;
    uint16_t cell[IKT_ROW_TILE_MOST];
    ikt_row_tile_stage(c->kernel, tile, (const char *)c->rows + from * c->d * c->element, count);
    for (int64_t i = 0; i < job->count; i++) {
        ikt_row_tile_assign(c->kernel, tile, &job->centres[i], cell);
        ikt_coding_write(c, row + from, count, job->first + i, cell, 1);
    }
}

/* Rows of a tile so that `count` rows make full register blocks and the threads equal shares. */
static int64_t tile_rows(const direct_job *job, int64_t count) {
    int64_t tiles = divide_up(count, job->tile[0].capacity);
    tiles = divide_up(tiles, job->c->threads) * job->c->threads;
    return divide_up(divide_up(count, tiles), job->c->kernel->rows) * job->c->kernel->rows;
}

static void code_block(void *self, int64_t row, int64_t count) {
    const direct_job *job = self;
    const int64_t step = tile_rows(job, count);
#pragma omp parallel for schedule(dynamic, 1) num_threads(job->c->threads)
    for (int64_t from = 0; from < count; from += step)
        code_tile(job, &job->tile[omp_get_thread_num()], row, from,
                  count - from < step ? count - from : step);
}

/* --- the whole -------------------------------------------------------------------------------- */

static ikt_status code_batch(direct_job *job, int64_t first, int64_t count) {
    ikt_coding *c = job->c;
    int64_t *row = NULL, n_rows = 0;
    job->first = first;
    job->count = count;
    job->psi = c->model->psi;
    ikt_status st =
        ikt_agree(c->ctx, ikt_model_distinct(c->ctx, c->model, first, count, &row, &n_rows));
    if (st == IKT_OK) st = load_run(job, c->model->row + first * job->psi, row, n_rows);
    if (st == IKT_OK) st = ikt_coding_pass(c, first + count, code_block, job);
    ikt_free(&row);
    return st;
}

static ikt_status code_coarse(direct_job *job) {
    const ikt_model *model = job->c->model;
    job->first = model->t;
    job->count = 1;
    job->psi = model->spec.coarse;
    IKT_TRY(load_run(job, model->coarse_row, model->coarse_row, job->psi));
    return ikt_coding_pass(job->c, model->t + 1, code_block, job);
}

static int64_t slab_bytes(const ikt_codes_kernel *kernel, int64_t batch, int64_t psi,
                          int64_t coarse, int64_t d) {
    int64_t fine = batch * ikt_centres_bytes(kernel, psi, d);
    int64_t rough = ikt_centres_bytes(kernel, coarse, d);
    return fine > rough ? fine : rough;
}

static ikt_status create_job(direct_job *job, int64_t batch) {
    ikt_coding *c = job->c;
    int64_t slab = slab_bytes(c->kernel, batch, c->model->psi, c->model->spec.coarse, c->d);
    IKT_TRY(ikt_alloc(c->ctx, &job->slab, slab, 1, "centres"));
    IKT_TRY(ikt_alloc(c->ctx, &job->centres, batch, sizeof *job->centres, "centres"));
    IKT_TRY(ikt_alloc(c->ctx, &job->tile, c->threads, sizeof *job->tile, "tiles of rows"));
    for (int i = 0; i < c->threads; i++)
        IKT_TRY(ikt_row_tile_create(c->ctx, c->kernel, c->d, &job->tile[i]));
    return IKT_OK;
}

static void destroy_job(direct_job *job) {
    for (int i = 0; job->tile && i < job->c->threads; i++)
        ikt_row_tile_destroy(&job->tile[i]);
    ikt_free(&job->tile);
    ikt_free(&job->centres);
    ikt_free(&job->slab);
}

ikt_status ikt_coding_direct(ikt_coding *c) {
    const ikt_model *model = c->model;
    const batches b = batches_of(c->budget, c->d * c->element, model->psi, model->t);
    direct_job job = {.c = c};
    c->passes = b.passes + (model->spec.coarse > 0);
    ikt_status st = ikt_agree(c->ctx, create_job(&job, b.batch));
    for (int64_t first = 0; st == IKT_OK && first < model->t; first += b.batch)
        st = code_batch(&job, first, model->t - first < b.batch ? model->t - first : b.batch);
    if (st == IKT_OK && model->spec.coarse > 0) st = code_coarse(&job);
    destroy_job(&job);
    return st;
}

int64_t ikt_coding_direct_bytes(const ikt_codes_kernel *kernel, ikt_codes_budget budget,
                                const ikt_model_spec *spec, int64_t d, int threads) {
    const int64_t element = kernel->is_u8 ? 1 : 4;
    const batches b = batches_of(budget, d * element, spec->psi, spec->t);
    int64_t drawn = b.batch * spec->psi > spec->coarse ? b.batch * spec->psi : spec->coarse;
    int64_t most = spec->psi > spec->coarse ? spec->psi : spec->coarse;
    int64_t distinct = drawn < spec->n ? drawn : spec->n;
    return slab_bytes(kernel, b.batch, spec->psi, spec->coarse, d) + distinct * d * element +
           drawn * 8 + threads * (most * 8 + ikt_row_tile_bytes(kernel, d));
}
