/* Codes from random trees: every row goes down each of t trees.
 *
 * Method: the sampled rows of a run of partitionings are gathered on every rank, which grows the
 * same trees from them; as many trees as fit the budget serve one pass over X. A tile of rows,
 * which stays in cache, goes down one tree after the other. Advantage: a few coordinates a row and
 * tree, whatever psi and d; one pass for all but the largest psi. Disadvantage: every rank grows
 * all trees. */
#include <omp.h>
#include <stdlib.h>

#include "base/memory.h"
#include "isolation/coding.h"
#include "isolation/tree.h"

/* Rows of a tile: as many as a second-level cache holds, so that a tree is worth loading; a
 * multiple of those that are led down together. */
enum { TILE_BYTES = 1 << 20, CACHE_LINE = 64, TILE_LEAST = 64, TILE_MOST = 4096, TILE_STEP = 16 };

static const char purpose[] = "trees";

/* Sizes that are the same on all ranks: they depend on the problem alone. */
typedef struct {
    int64_t pass;   /* trees of a pass */
    int64_t gather; /* partitionings whose sampled rows are gathered at a time */
} forest_sizes;

typedef struct {
    ikt_coding *c;
    int64_t nodes;        /* room for a tree */
    ikt_tree_node *node;  /* [trees of a pass * nodes] */
    ikt_tree_room *room;  /* [threads] */
    int64_t first, count; /* trees of the pass */
    int64_t tile;         /* rows, at most */
    uint16_t *cell;       /* [threads * tile] */
} forest_job;

static int64_t divide_up(int64_t value, int64_t by) {
    return (value + by - 1) / by;
}

static int64_t within(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

static forest_sizes sizes_of(ikt_codes_budget budget, const ikt_model_spec *spec,
                             int64_t row_bytes) {
    const int64_t tree_bytes = ikt_tree_nodes(spec->psi) * (int64_t)sizeof(ikt_tree_node);
    forest_sizes s = {within(budget.batch_bytes / 2 / tree_bytes, 1, spec->t),
                      within(budget.batch_bytes / 2 / (spec->psi * row_bytes), 1, spec->t)};
    s.pass = divide_up(spec->t, divide_up(spec->t, s.pass)); /* passes of equal length */
    return s;
}

/* A row, and the line of its code that is being written. */
static int64_t tile_rows(int64_t row_bytes) {
    int64_t rows = TILE_BYTES / (row_bytes + CACHE_LINE);
    return within(rows, TILE_LEAST, TILE_MOST) / TILE_STEP * TILE_STEP;
}

/* --- trees ------------------------------------------------------------------------------------ */

static int compare_rows(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Partitioning p, whose sampled rows are among those gathered. */
static void grow_one(const forest_job *job, int64_t p, const int64_t *row, int64_t n_rows,
                     const ikt_tree_rows *gathered) {
    const ikt_model *model = job->c->model;
    const ikt_tree_key key = {model->spec.seed, p};
    ikt_tree_room *room = &job->room[omp_get_thread_num()];
    for (int64_t j = 0; j < model->psi; j++) {
        const int64_t *at = bsearch(&model->row[p * model->psi + j], row, (size_t)n_rows,
                                    sizeof *row, compare_rows);
        room->sample[j] = (uint32_t)(at - row);
    }
    ikt_tree_grow(&key, gathered, model->psi, room, job->node + (p - job->first) * job->nodes);
}

/* COLLECTIVE. Partitionings p .. p + count - 1 of the pass. */
static ikt_status grow_some(const forest_job *job, int64_t p, int64_t count) {
    ikt_coding *c = job->c;
    int64_t *row = NULL, n_rows = 0;
    void *x = NULL;
    ikt_status st = ikt_model_distinct(c->ctx, c->model, p, count, &row, &n_rows);
    if (st == IKT_OK) st = ikt_alloc(c->ctx, &x, n_rows * c->d, (size_t)c->element, purpose);
    st = ikt_agree(c->ctx, st);
    if (st == IKT_OK) st = ikt_dataset_gather(ikt_dataset_model(c->data), row, n_rows, x);
    if (st == IKT_OK) {
        const ikt_tree_rows gathered = {x, c->d, c->kernel->is_u8};
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads)
        for (int64_t i = 0; i < count; i++)
            grow_one(job, p + i, row, n_rows, &gathered);
    }
    ikt_free(&row);
    ikt_free(&x);
    return st;
}

/* --- rows ------------------------------------------------------------------------------------- */

static void code_tile(const forest_job *job, int64_t row, int64_t from, int64_t count) {
    const ikt_coding *c = job->c;
    const ikt_tree_rows rows = {c->rows, c->d, c->kernel->is_u8};
    uint16_t *cell = job->cell + omp_get_thread_num() * job->tile;
    for (int64_t i = 0; i < job->count; i++) {
        ikt_tree_cells(job->node + i * job->nodes, &rows, from, count, cell);
        ikt_coding_write(c, row + from, count, job->first + i, cell, 1);
    }
}

/* Tiles of at most the size that suits the cache, and equal shares for the threads. */
static void code_block(void *self, int64_t row, int64_t count) {
    const forest_job *job = self;
    const int64_t threads = job->c->threads;
    int64_t tiles = divide_up(divide_up(count, job->tile), threads) * threads;
    int64_t step = divide_up(divide_up(count, tiles), TILE_STEP) * TILE_STEP;
#pragma omp parallel for schedule(dynamic, 1) num_threads(job->c->threads)
    for (int64_t from = 0; from < count; from += step)
        code_tile(job, row, from, count - from < step ? count - from : step);
}

/* --- the whole -------------------------------------------------------------------------------- */

static ikt_status code_pass(forest_job *job, int64_t gather) {
    for (int64_t done = 0; done < job->count; done += gather)
        IKT_TRY(grow_some(job, job->first + done,
                          job->count - done < gather ? job->count - done : gather));
    return ikt_coding_pass(job->c, job->first + job->count, code_block, job);
}

static ikt_status create_job(forest_job *job, int64_t trees) {
    const ikt_coding *c = job->c;
    IKT_TRY(ikt_alloc(c->ctx, &job->node, trees * job->nodes, sizeof *job->node, purpose));
    IKT_TRY(ikt_alloc(c->ctx, &job->cell, c->threads * job->tile, sizeof *job->cell, purpose));
    IKT_TRY(ikt_alloc(c->ctx, &job->room, c->threads, sizeof *job->room, purpose));
    for (int i = 0; i < c->threads; i++)
        IKT_TRY(ikt_tree_room_create(c->ctx, c->model->psi, c->d, &job->room[i]));
    return IKT_OK;
}

static void destroy_job(forest_job *job) {
    for (int i = 0; job->room && i < job->c->threads; i++)
        ikt_tree_room_destroy(&job->room[i]);
    ikt_free(&job->room);
    ikt_free(&job->cell);
    ikt_free(&job->node);
}

ikt_status ikt_coding_forest(ikt_coding *c) {
    const ikt_model *model = c->model;
    const int64_t row_bytes = c->d * c->element;
    const forest_sizes sizes = sizes_of(c->budget, &model->spec, row_bytes);
    forest_job job = {.c = c, .nodes = ikt_tree_nodes(model->psi), .tile = tile_rows(row_bytes)};
    c->passes = divide_up(model->t, sizes.pass);
    ikt_status st = ikt_agree(c->ctx, create_job(&job, sizes.pass));
    for (; st == IKT_OK && job.first < model->t; job.first += sizes.pass) {
        int64_t left = model->t - job.first;
        job.count = left < sizes.pass ? left : sizes.pass;
        st = code_pass(&job, sizes.gather);
    }
    destroy_job(&job);
    return st;
}

int64_t ikt_coding_forest_bytes(ikt_codes_budget budget, const ikt_model_spec *spec,
                                int64_t row_bytes, int64_t d, int threads) {
    const forest_sizes sizes = sizes_of(budget, spec, row_bytes);
    const int64_t from = spec->pool > 0 ? spec->pool : spec->n;
    const int64_t together = sizes.gather < sizes.pass ? sizes.gather : sizes.pass;
    const int64_t drawn = together * spec->psi, distinct = drawn < from ? drawn : from;
    return sizes.pass * ikt_tree_nodes(spec->psi) * (int64_t)sizeof(ikt_tree_node) +
           distinct * row_bytes + drawn * 8 +
           threads * (ikt_tree_room_bytes(spec->psi, d) + TILE_MOST * 2);
}
