/* Codes from random trees: a tile of rows goes down every tree. The limit is to read as many nodes
 * as rows pass, one behind the other, from the second-level cache. */
#include <omp.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/timer.h"
#include "isolation/tree.h"
#include "limits.h"
#include "paths.h"
#include "scene.h"

enum { ROWS = 1024, TREES = 4 };

typedef struct {
    ikt_context *ctx;
    int64_t psi, d;
    float *x; /* [(threads * ROWS + TREES * psi) * d] rows, then those sampled */
    ikt_tree_rows rows;
    ikt_tree_node *node; /* [TREES * nodes] */
    uint32_t *cell;      /* [threads * ROWS] */
} forest;

static ikt_status grow(forest *f) {
    ikt_tree_workspace space;
    IKT_ARRAYS(held, f->ctx, "bench");
    ikt_tree_workspace_create(&held, f->psi, f->d, &space);
    IKT_TRY(held.status);
    const ikt_tree_rows from = {f->x + ikt_threads(f->ctx) * ROWS * f->d, f->d, false};
    for (int64_t i = 0; i < TREES; i++) {
        const ikt_tree_key key = {1, i};
        for (int64_t j = 0; j < f->psi; j++)
            space.sample[j] = (uint32_t)(i * f->psi + j);
        ikt_tree_grow(&key, &from, f->psi, &space, f->node + i * ikt_tree_nodes(f->psi));
    }
    return IKT_OK;
}

static ikt_status make(forest *f) {
    const int64_t rows = ikt_threads(f->ctx) * ROWS, all = rows + TREES * f->psi;
    IKT_TRY(ikt_alloc(f->ctx, &f->x, all * f->d, sizeof *f->x, "bench"));
    IKT_TRY(ikt_alloc(f->ctx, &f->cell, rows, sizeof *f->cell, "bench"));
    IKT_TRY(ikt_alloc(f->ctx, &f->node, TREES * ikt_tree_nodes(f->psi), sizeof *f->node, "bench"));
#pragma omp parallel for num_threads(ikt_threads(f->ctx))
    for (int64_t i = 0; i < all; i++)
        for (int64_t c = 0; c < f->d; c++)
            f->x[i * f->d + c] = (float)bench_coordinate(i, c);
    f->rows = (ikt_tree_rows){f->x, f->d, false};
    return grow(f);
}

static void release(forest *f) {
    ikt_free(&f->x);
    ikt_free(&f->cell);
    ikt_free(&f->node);
}

static double lead(void *self) {
    const forest *f = self;
    double begin = ikt_now();
#pragma omp parallel num_threads(ikt_threads(f->ctx))
    {
        const int64_t first = omp_get_thread_num() * (int64_t)ROWS;
        for (int64_t i = 0; i < TREES; i++)
            ikt_tree_cells(f->node + i * ikt_tree_nodes(f->psi), &f->rows, first, ROWS,
                           f->cell + first);
    }
    return ikt_now() - begin;
}

/* Nodes that all rows pass. */
static double count_passed(const forest *f) {
    double passed = 0;
    for (int64_t i = 0; i < TREES; i++) {
        const ikt_tree_node *tree = f->node + i * ikt_tree_nodes(f->psi);
        for (int64_t row = 0; row < ikt_threads(f->ctx) * ROWS; row++) {
            uint32_t at = 0;
            for (passed++; tree[at].below != at; passed++)
                at = tree[at].below + (f->x[row * f->d + tree[at].attribute] > tree[at].threshold);
        }
    }
    return passed;
}

static ikt_status measure(bench *b, int64_t d, int64_t psi) {
    forest f = {.ctx = b->ctx, .d = d, .psi = psi};
    bench_stream near = {0};
    ikt_status st = make(&f);
    if (st == IKT_OK) st = bench_near_create(b->ctx, &near);
    st = ikt_agree(b->ctx, st);
    if (st == IKT_OK) {
        bench_case c = {
            .path = "codes-trees", .unit = "nodes", .work = {NULL, lead, &f, count_passed(&f)}};
        c.limit[0] = (bench_part){"reading them from L2", bench_pass_read, &near,
                                  bench_near_bytes(&near) / (double)sizeof(ikt_tree_node)};
        snprintf(c.size, sizeof c.size, "%lld columns, psi %lld", (long long)d, (long long)psi);
        st = bench_measure(b, &c);
    }
    bench_stream_destroy(&near);
    release(&f);
    return st;
}

ikt_status bench_path_trees(bench *b) {
    if (b->quick) return measure(b, 5, 17);
    IKT_TRY(measure(b, 50, 256));
    IKT_TRY(measure(b, 50, 4096));
    return measure(b, 784, 256);
}
