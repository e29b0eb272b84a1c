/* Cell codes, streamed. See codes.h for the method. */
#include "isolation/codes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <omp.h>

#include "base/log.h"
#include "base/memory.h"
#include "isolation/codes_kernel.h"
#include "linalg/blocks.h"

static const ikt_codes_budget usual_budget = {INT64_C(256) << 20, INT64_C(64) << 20};

/* Sizes that must be the same on all ranks, so they depend on the problem alone: a rank's
 * instruction set, for one, may differ. */
typedef struct {
    int64_t element; /* bytes of a coordinate */
    int64_t block;   /* rows of X read at a time */
    int64_t batch;   /* partitionings to a pass */
    int64_t passes;
} stream_plan;

typedef struct {
    ikt_context *ctx;
    ikt_dataset *data;
    const ikt_row_map *map;
    const ikt_model *model;
    const ikt_codes_kernel *kernel;
    ikt_codes *codes;
    int64_t d;
    stream_plan plan;
    int threads;
    ikt_row_tile *tile;   /* [threads] */
    void *rows;           /* [block*d] */
    char *slab;           /* the packed centres of a batch */
    ikt_centres *centres; /* [batch], places in the slab */
    int64_t done;         /* cells found so far */
} coder;

static int64_t divide_up(int64_t value, int64_t by) {
    return (value + by - 1) / by;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

/* `most_rows`: rows of the rank that has the most, at least 1. */
static stream_plan plan_make(ikt_codes_budget budget, bool is_u8, int64_t d, int64_t most_rows,
                             int64_t psi, int64_t t) {
    stream_plan plan = {.element = is_u8 ? 1 : (int64_t)sizeof(float)};
    const int64_t row_bytes = d * plan.element;
    plan.block = clamp(budget.block_bytes / row_bytes, 1, most_rows);
    plan.batch = clamp(budget.batch_bytes / (2 * psi * row_bytes), 1, t);
    plan.passes = divide_up(t, plan.batch);
    plan.batch = divide_up(t, plan.passes); /* passes of equal length */
    return plan;
}

/* --- one pass --------------------------------------------------------------------------------- */

static int compare_rows(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Packs partitioning `first` + i, whose centres are among the gathered rows. */
static void pack_one(const coder *job, int64_t first, int64_t i, const int64_t *row, int64_t n_rows,
                     const void *gathered, int64_t *index) {
    const int64_t psi = job->model->psi, bytes = ikt_centres_bytes(job->kernel, psi, job->d);
    const int64_t *centre = job->model->row + (first + i) * psi;
    for (int64_t j = 0; j < psi; j++) {
        const int64_t *at = bsearch(&centre[j], row, (size_t)n_rows, sizeof *row, compare_rows);
        index[j] = at - row;
    }
    ikt_centres_place(job->kernel, psi, job->d, job->slab + i * bytes, &job->centres[i]);
    ikt_centres_fill(job->kernel, &job->centres[i], gathered, index);
}

static void pack_batch(const coder *job, int64_t first, int64_t count, const int64_t *row,
                       int64_t n_rows, const void *gathered, int64_t *index) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(job->threads)
    for (int64_t i = 0; i < count; i++)
        pack_one(job, first, i, row, n_rows, gathered,
                 index + omp_get_thread_num() * job->model->psi);
}

/* COLLECTIVE. Fetches and packs the centres of `count` partitionings. */
static ikt_status load_batch(const coder *job, int64_t first, int64_t count) {
    int64_t *row = NULL, *index = NULL, n_rows = 0;
    void *gathered = NULL;
    const size_t element = (size_t)job->plan.element;
    ikt_status st = ikt_model_distinct(job->ctx, job->model, first, count, &row, &n_rows);
    if (st == IKT_OK) st = ikt_alloc(job->ctx, &gathered, n_rows * job->d, element, "centres");
    if (st == IKT_OK)
        st = ikt_alloc(job->ctx, &index, job->threads * job->model->psi, sizeof *index, "centres");
    st = ikt_agree(job->ctx, st);
    if (st == IKT_OK) st = ikt_dataset_gather(job->data, row, n_rows, gathered);
    if (st == IKT_OK) pack_batch(job, first, count, row, n_rows, gathered, index);
    ikt_free(&index);
    ikt_free(&gathered);
    ikt_free(&row);
    return st;
}

static void write_cells(const ikt_codes *codes, int64_t row, int64_t count, int64_t p,
                        const uint16_t *cell) {
    char *at = (char *)codes->code + row * codes->stride + p * codes->width;
    for (int64_t i = 0; i < count; i++, at += codes->stride) {
        if (codes->width == 1)
            *(uint8_t *)at = (uint8_t)cell[i];
        else
            memcpy(at, &cell[i], sizeof *cell);
    }
}

/* One tile: rows `from` .. of the block at hand, which begins at the own row `row`. */
static void code_tile(const coder *job, ikt_row_tile *tile, int64_t row, int64_t from,
                      int64_t count, int64_t first, int64_t partitionings) {
    const char *rows = (const char *)job->rows + from * job->d * job->plan.element;
    uint16_t cell[IKT_ROW_TILE_MOST];
    ikt_row_tile_stage(job->kernel, tile, rows, count);
    for (int64_t i = 0; i < partitionings; i++) {
        ikt_row_tile_assign(job->kernel, tile, &job->centres[i], cell);
        write_cells(job->codes, row + from, count, first + i, cell);
    }
}

/* Rows of a tile so that `count` rows make full register blocks and the threads equal shares. */
static int64_t tile_rows(const coder *job, int64_t count) {
    int64_t tiles = divide_up(count, job->tile[0].capacity);
    tiles = divide_up(tiles, job->threads) * job->threads;
    return divide_up(divide_up(count, tiles), job->kernel->rows) * job->kernel->rows;
}

static void code_block(const coder *job, int64_t row, int64_t count, int64_t first,
                       int64_t partitionings) {
    if (count == 0) return;
    const int64_t step = tile_rows(job, count);
#pragma omp parallel for schedule(dynamic, 1) num_threads(job->threads)
    for (int64_t from = 0; from < count; from += step)
        code_tile(job, &job->tile[omp_get_thread_num()], row, from,
                  count - from < step ? count - from : step, first, partitionings);
}

/* COLLECTIVE. One pass over X. */
static ikt_status code_batch(coder *job, int64_t first, int64_t partitionings) {
    const ikt_row_range own = {job->map->first, job->map->count};
    const int64_t steps = ikt_stream_steps(job->ctx, own.count, job->plan.block);
    for (int64_t step = 0; step < steps; step++) {
        ikt_row_range at = ikt_stream_step(own, job->plan.block, step);
        if (ikt_dataset_is_u8(job->data))
            IKT_TRY(ikt_dataset_read_u8(job->data, at.first, at.count, job->rows));
        else
            IKT_TRY(ikt_dataset_read(job->data, at.first, at.count, job->rows));
        code_block(job, at.first - own.first, at.count, first, partitionings);
        job->done += at.count * partitionings;
        ikt_progress(job->ctx, "cells", job->done, own.count * job->model->t, NULL);
    }
    return IKT_OK;
}

/* --- the whole -------------------------------------------------------------------------------- */

static ikt_status create_codes(ikt_context *ctx, int64_t n_local, int64_t psi, int64_t t,
                               ikt_codes *codes) {
    const int width = psi <= 256 ? 1 : 2;
    *codes = (ikt_codes){
        .n_local = n_local, .t = t, .stride = divide_up(t * width, 64) * 64, .width = width};
    return ikt_alloc(ctx, &codes->code, n_local * codes->stride, 1, "codes");
}

static ikt_status create_job(coder *job) {
    const int64_t psi = job->model->psi;
    ikt_context *ctx = job->ctx;
    IKT_TRY(create_codes(ctx, job->map->count, psi, job->model->t, job->codes));
    IKT_TRY(ikt_alloc(ctx, &job->rows, job->plan.block * job->d, (size_t)job->plan.element,
                      "rows of X"));
    IKT_TRY(ikt_alloc(ctx, &job->slab, job->plan.batch,
                      (size_t)ikt_centres_bytes(job->kernel, psi, job->d), "centres"));
    IKT_TRY(ikt_alloc(ctx, &job->centres, job->plan.batch, sizeof *job->centres, "centres"));
    IKT_TRY(ikt_alloc(ctx, &job->tile, job->threads, sizeof *job->tile, "tiles of rows"));
    for (int i = 0; i < job->threads; i++)
        IKT_TRY(ikt_row_tile_create(ctx, job->kernel, job->d, &job->tile[i]));
    return IKT_OK;
}

static void destroy_job(coder *job) {
    for (int i = 0; job->tile && i < job->threads; i++)
        ikt_row_tile_destroy(&job->tile[i]);
    ikt_free(&job->tile);
    ikt_free(&job->centres);
    ikt_free(&job->slab);
    ikt_free(&job->rows);
}

ikt_status ikt_codes_compute(ikt_context *ctx, ikt_dataset *data, const ikt_row_map *map,
                             const ikt_model *model, ikt_codes *out) {
    return ikt_codes_compute_within(ctx, usual_budget, data, map, model, out);
}

ikt_status ikt_codes_compute_within(ikt_context *ctx, ikt_codes_budget budget, ikt_dataset *data,
                                    const ikt_row_map *map, const ikt_model *model,
                                    ikt_codes *out) {
    assert(model->n == ikt_dataset_rows(data) && map->n == model->n);
    coder job = {.ctx = ctx,
                 .data = data,
                 .map = map,
                 .model = model,
                 .kernel = ikt_codes_kernel_choose(ikt_dataset_is_u8(data), ikt_cpu_isa()),
                 .codes = out,
                 .d = ikt_dataset_columns(data),
                 .plan = plan_make(budget, ikt_dataset_is_u8(data), ikt_dataset_columns(data),
                                   ikt_row_map_count(map, 0), model->psi, model->t),
                 .threads = ikt_threads(ctx)};
    ikt_status st = ikt_agree(ctx, create_job(&job));
    ikt_log(ctx, IKT_LOG_DETAIL, "codes: %lld partitionings x %lld centres, kernel %s, %lld passes",
            (long long)model->t, (long long)model->psi, job.kernel->name,
            (long long)job.plan.passes);
    for (int64_t first = 0; st == IKT_OK && first < model->t; first += job.plan.batch) {
        int64_t left = model->t - first;
        int64_t count = left < job.plan.batch ? left : job.plan.batch;
        st = load_batch(&job, first, count);
        if (st == IKT_OK) st = code_batch(&job, first, count);
    }
    destroy_job(&job);
    if (st != IKT_OK) ikt_codes_destroy(out);
    return st;
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

int64_t ikt_codes_memory_peak(bool is_u8, int64_t rows, int64_t d, int64_t n_local, int64_t psi,
                              int64_t t, int threads) {
    const ikt_codes_kernel *kernel = ikt_codes_kernel_choose(is_u8, ikt_cpu_isa());
    const stream_plan plan = plan_make(usual_budget, is_u8, d, n_local > 1 ? n_local : 1, psi, t);
    const int64_t drawn = plan.batch * psi, distinct = drawn < rows ? drawn : rows;
    const int64_t model = t * psi * 8 + drawn * 8 + threads * psi * 8;
    const int64_t centres =
        plan.batch * ikt_centres_bytes(kernel, psi, d) + distinct * d * plan.element;
    return ikt_codes_memory(n_local, psi, t) + model + centres + plan.block * d * plan.element +
           threads * ikt_row_tile_bytes(kernel, d);
}
