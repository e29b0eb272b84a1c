/* Codes from random trees: every row goes down each of t trees.
 *
 * Method: the sampled rows of a run of partitionings are gathered on every rank, which grows the
 * same trees from them; as many trees as fit the budget serve one pass over X. A tile of rows,
 * which stays in cache, goes down one tree after the other. Advantage: a few coordinates a row and
 * tree, whatever psi and d; one pass for all but the largest psi. Disadvantage: every rank grows
 * all trees. */
#include <omp.h>

#include "base/arrays.h"
#include "base/sort.h"
#include "isolation/coding.h"
#include "isolation/tree.h"

/* Rows of a tile: as many as a second-level cache holds, so that a tree is worth loading; a
 * multiple of those that are led down together. */
enum { TILE_BYTES = 1 << 20, CACHE_LINE = 64, TILE_LEAST = 64, TILE_MOST = 4096, TILE_STEP = 16 };

static const char purpose[] = "trees";

typedef struct {
    ikt_coding *c;
    int64_t nodes;             /* of a tree, at most */
    ikt_tree_node *node;       /* [trees of a pass * nodes] */
    ikt_tree_workspace *space; /* [threads] */
    ikt_draws draws;           /* for the threads */
    int64_t first, count;      /* trees of the pass */
    int64_t tile;              /* rows, at most */
    uint32_t *cell;            /* [threads * tile] */
} forest;

static int64_t within(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

/* Trees of a pass, and in *gather the partitionings whose sampled rows are gathered at a time: the
 * same on all ranks, as they depend on the problem alone. */
static int64_t trees_of(ikt_codes_budget budget, const ikt_model_spec *spec, int64_t row_bytes,
                        int64_t *gather) {
    const int64_t tree_bytes = ikt_tree_nodes(spec->psi) * (int64_t)sizeof(ikt_tree_node);
    const int64_t bytes = budget.batch_bytes / 2;
    const int64_t trees = ikt_coding_batch(bytes, tree_bytes, spec->t);
    *gather = within(within(bytes / (spec->psi * row_bytes), 1, spec->t), 0, trees);
    return trees;
}

/* COLLECTIVE. Grows the trees of partitionings p .. p + count - 1 of the pass, whose sampled rows
 * are gathered together. */
static ikt_status grow_some(const forest *f, int64_t p, int64_t count) {
    ikt_coding *c = f->c;
    const int64_t psi = c->model->psi;
    int64_t *row IKT_AT_END(ikt_free) = NULL, n_rows = 0;
    void *x IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_coding_gather(c, p, count, &row, &n_rows, &x));
    const ikt_tree_rows gathered = {x, c->d, c->kernel->is_u8};
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads)
    for (int64_t q = p; q < p + count; q++) {
        const ikt_tree_key key = {c->model->spec.seed, q};
        ikt_tree_workspace *space = &f->space[omp_get_thread_num()];
        const int64_t *sampled = ikt_model_draw(c->model, &f->draws, omp_get_thread_num(), q);
        for (int64_t j = 0; j < psi; j++)
            space->sample[j] = (uint32_t)ikt_find_i64(row, n_rows, sampled[j]);
        ikt_tree_grow(&key, &gathered, psi, space, f->node + (q - f->first) * f->nodes);
    }
    return IKT_OK;
}

static void code_block(void *self, int64_t row, int64_t count) {
    const forest *f = self;
    const ikt_coding *c = f->c;
    const int64_t step = ikt_coding_tile(c, count, f->tile, TILE_STEP);
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads)
    for (int64_t from = 0; from < count; from += step) {
        const int64_t rows = count - from < step ? count - from : step;
        const ikt_tree_rows x = {c->rows, c->d, c->kernel->is_u8};
        uint32_t *cell = f->cell + omp_get_thread_num() * f->tile;
        for (int64_t i = 0; i < f->count; i++) {
            ikt_tree_cells(f->node + i * f->nodes, &x, from, rows, cell);
            ikt_coding_write(c, row + from, rows, f->first + i, cell, 1);
        }
    }
}

static void forest_destroy(forest *f) {
    ikt_draws_destroy(&f->draws);
}

ikt_status ikt_coding_forest(ikt_coding *c) {
    const ikt_model *model = c->model;
    const int64_t row_bytes = c->d * c->element;
    const int64_t tile =
        TILE_BYTES / (row_bytes + CACHE_LINE); /* a row, and the line of its code */
    int64_t gather;
    const int64_t trees = trees_of(c->budget, &model->spec, row_bytes, &gather);
    forest f IKT_AT_END(forest_destroy) = {.c = c,
                                           .nodes = ikt_tree_nodes(model->psi),
                                           .tile = within(tile, TILE_LEAST, TILE_MOST) / TILE_STEP *
                                                   TILE_STEP};
    c->passes = ikt_divide_up(model->t, trees);
    IKT_ARRAYS(held, c->ctx, purpose);
    f.node = ikt_claim(&held, trees * f.nodes, sizeof *f.node);
    f.cell = ikt_claim(&held, c->threads * f.tile, sizeof *f.cell);
    f.space = ikt_claim(&held, c->threads, sizeof *f.space);
    for (int i = 0; f.space && i < c->threads; i++)
        ikt_tree_workspace_create(&held, model->psi, c->d, &f.space[i]);
    if (held.status == IKT_OK) held.status = ikt_draws_create(c->ctx, model, c->threads, &f.draws);
    IKT_TRY(ikt_arrays_agree(&held));
    for (; f.first < model->t; f.first += trees) {
        const int64_t end = f.first + within(model->t - f.first, 0, trees);
        f.count = end - f.first;
        for (int64_t p = f.first; p < end; p += gather)
            IKT_TRY(grow_some(&f, p, within(end - p, 0, gather)));
        IKT_TRY(ikt_coding_pass(c, end, code_block, &f));
    }
    return IKT_OK;
}

int64_t ikt_coding_forest_bytes(ikt_codes_budget budget, const ikt_model_spec *spec,
                                int64_t row_bytes, int64_t d, int threads) {
    int64_t gather;
    const int64_t trees = trees_of(budget, spec, row_bytes, &gather);
    const int64_t distinct = ikt_model_distinct_most(spec, gather * spec->psi);
    return trees * ikt_tree_nodes(spec->psi) * (int64_t)sizeof(ikt_tree_node) +
           distinct * (row_bytes + 8) + ikt_draws_bytes(spec, threads) +
           ikt_model_distinct_bytes(spec, gather * spec->psi, threads) +
           threads * (ikt_tree_workspace_bytes(spec->psi, d) + TILE_MOST * 4);
}
