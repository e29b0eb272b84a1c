/* Codes partitioning by partitioning: every row against the centres of each.
 *
 * Advantage: any model. Disadvantage: t psi distances a row, and a pass over X for every batch of
 * partitionings whose centres fit the budget. */
#include <omp.h>

#include "base/arrays.h"
#include "base/sort.h"
#include "isolation/coding.h"

/* A run of partitionings that are packed together; the coarse one is a run of its own. */
typedef struct {
    ikt_coding *c;
    ikt_row_tile *tile;   /* [threads] */
    ikt_draws draws;      /* for the threads */
    char *slab;           /* the packed centres of a run */
    ikt_centres *centres; /* [batch], places in the slab */
    int64_t first, count; /* partitionings of the run */
    int64_t psi;          /* centres of each */
} direct;

/* Partitionings to a pass. */
static int64_t batch_of(ikt_codes_budget budget, int64_t row_bytes, const ikt_model_spec *spec) {
    return ikt_coding_batch(budget.batch_bytes, 2 * spec->psi * row_bytes, spec->t);
}

static int64_t slab_bytes(const ikt_codes_kernel *kernel, int64_t batch, const ikt_model_spec *spec,
                          int64_t d) {
    return ikt_larger(batch * ikt_centres_bytes(kernel, spec->psi, d),
                      ikt_centres_bytes(kernel, spec->coarse, d));
}

/* COLLECTIVE. Fetches and packs the run's centres. */
static ikt_status load_run(const direct *run) {
    ikt_coding *c = run->c;
    const int64_t psi = run->psi, bytes = ikt_centres_bytes(c->kernel, psi, c->d);
    int64_t *row IKT_AT_END(ikt_free) = NULL, n_rows = 0;
    void *gathered IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_coding_gather(c, run->first, run->count, &row, &n_rows, &gathered));
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads)
    for (int64_t i = 0; i < run->count; i++) {
        int64_t *index =
            ikt_model_draw(c->model, &run->draws, omp_get_thread_num(), run->first + i);
        for (int64_t j = 0; j < psi; j++) /* a row becomes its number among the gathered */
            index[j] = ikt_find_i64(row, n_rows, index[j]);
        ikt_centres_place(c->kernel, psi, c->d, run->slab + i * bytes, &run->centres[i]);
        ikt_centres_fill(c->kernel, &run->centres[i], gathered, index, NULL);
    }
    return IKT_OK;
}

static void code_block(void *self, int64_t row, int64_t count) {
    const direct *run = self;
    const ikt_coding *c = run->c;
    const int64_t step = ikt_coding_tile(c, count, run->tile[0].capacity, c->kernel->rows);
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads)
    for (int64_t from = 0; from < count; from += step) {
        const int64_t rows = count - from < step ? count - from : step;
        ikt_row_tile *tile = &run->tile[omp_get_thread_num()];
        uint32_t cell[IKT_ROW_TILE_MOST];
        ikt_row_tile_stage(c->kernel, tile, (const char *)c->rows + from * c->d * c->element, rows);
        for (int64_t i = 0; i < run->count; i++) {
            ikt_row_tile_assign(c->kernel, tile, &run->centres[i], cell);
            ikt_coding_write(c, row + from, rows, run->first + i, cell, 1);
        }
    }
}

static void direct_destroy(direct *run) {
    ikt_draws_destroy(&run->draws);
}

ikt_status ikt_coding_direct(ikt_coding *c) {
    const ikt_model *model = c->model;
    const int64_t parts = ikt_model_parts(&model->spec);
    const int64_t batch = batch_of(c->budget, c->d * c->element, &model->spec);
    direct run IKT_AT_END(direct_destroy) = {.c = c};
    c->passes = ikt_divide_up(model->t, batch) + (parts > model->t);
    IKT_ARRAYS(held, c->ctx, "centres");
    run.slab = ikt_claim(&held, slab_bytes(c->kernel, batch, &model->spec, c->d), 1);
    run.centres = ikt_claim(&held, batch, sizeof *run.centres);
    run.tile = ikt_claim(&held, c->threads, sizeof *run.tile);
    for (int i = 0; run.tile && i < c->threads; i++)
        ikt_row_tile_create(&held, c->kernel, c->d, &run.tile[i]);
    if (held.status == IKT_OK)
        held.status = ikt_draws_create(c->ctx, model, c->threads, &run.draws);
    IKT_TRY(ikt_arrays_agree(&held));
    for (; run.first < parts; run.first += run.count) {
        const int64_t left = model->t - run.first;
        run.count = left > batch ? batch : left > 0 ? left : 1;
        run.psi = ikt_model_centres(&model->spec, run.first);
        IKT_TRY(load_run(&run));
        IKT_TRY(ikt_coding_pass(c, run.first + run.count, code_block, &run));
    }
    return IKT_OK;
}

int64_t ikt_coding_direct_bytes(const ikt_codes_kernel *kernel, ikt_codes_budget budget,
                                const ikt_model_spec *spec, int64_t d, int threads) {
    const int64_t element = ikt_held_bytes(kernel->is_u8);
    const int64_t batch = batch_of(budget, d * element, spec);
    const int64_t drawn = ikt_larger(batch * spec->psi, spec->coarse);
    const int64_t distinct = ikt_model_distinct_most(spec, drawn);
    return slab_bytes(kernel, batch, spec, d) + distinct * (d * element + 8) +
           ikt_draws_bytes(spec, threads) + ikt_model_distinct_bytes(spec, drawn, threads) +
           threads * ikt_row_tile_bytes(kernel, d);
}
