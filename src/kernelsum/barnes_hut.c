/* Sums of the Student kernel by a tree of boxes (Barnes & Hut 1986).
 *
 * Method: the points of each leaf of a tree of all points (octree.h) walk it together (bucket.h). A
 * rank sums for a stretch of the order of points, and every rank gets the results of all: the
 * stretches are equal whoever owns the rows.
 * Advantage: n log n in 1, 2 and 3 dimensions, where a grid of a volume would not fit. Nothing
 * depends on ranks and threads: the tree is that of all points, lists follow its order.
 * Disadvantage: positions, tree and results of all points on every rank, which also sorts them. */
#include <math.h>
#include <stdio.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "kernelsum/bucket.h"
#include "kernelsum/octree.h"
#include "kernelsum/ops.h"
#include "kernelsum/replica.h"

typedef struct {
    ikt_isa isa;
    float opening; /* square of the largest radius of a node, relative to distance and width */
    ikt_tree_accuracy accuracy;
    ikt_replica replica;
    ikt_octree tree;
    ikt_bucket_result *all; /* [n] in the order of keys */
    int64_t *counts;        /* [ranks] points that each sums for */
} barnes_hut;

/* --- shares ----------------------------------------------------------------------------------- */

/* First point that rank r sums for: leaves belong to the rank in whose even share they begin. */
static int64_t share_begin(const ikt_octree *tree, int ranks, int r) {
    const int64_t n = tree->n, wanted = n / ranks * r + n % ranks * r / ranks;
    if (r == ranks) return n;
    int64_t i = 0; /* the first leaf that begins at `wanted` or after it */
    while (i < tree->count) {
        const ikt_octree_node *node = &tree->node[i];
        if (node->end <= wanted)
            i = node->next;
        else if (node->is_leaf && node->first >= wanted)
            return node->first;
        else
            i++;
    }
    return n;
}

/* Sums for the leaves of the own stretch of points. */
static void sum_share(ikt_context *ctx, const barnes_hut *m, int64_t begin, int64_t end) {
    const ikt_octree *tree = &m->tree;
#pragma omp parallel for num_threads(ikt_threads(ctx)) schedule(dynamic, 16)
    for (int64_t i = 0; i < tree->count; i++) {
        const ikt_octree_node *node = &tree->node[i];
        if (node->is_leaf && node->first >= begin && node->first < end)
            ikt_bucket_sum_leaf(tree, m->isa, m->opening, node, m->all + node->first);
    }
}

static void share(ikt_kernelsum *sums) {
    barnes_hut *m = sums->self;
    ikt_context *ctx = sums->ctx;
    for (int r = 0; r < sums->rows.ranks; r++)
        m->counts[r] = share_begin(&m->tree, sums->rows.ranks, r + 1) -
                       share_begin(&m->tree, sums->rows.ranks, r);
    const int64_t begin = share_begin(&m->tree, sums->rows.ranks, ikt_rank(ctx));
    const int64_t count = m->counts[ikt_rank(ctx)];
    sum_share(ctx, m, begin, begin + count);
    ikt_allgather(ctx, m->all + begin, count, sizeof *m->all, m->all, m->counts);
}

/* --- the way of summing ----------------------------------------------------------------------- */

static ikt_status make_tree(ikt_kernelsum *sums) {
    barnes_hut *m = sums->self;
    const int64_t nodes = ikt_octree_order(&m->tree, sums->q, m->replica.all);
    if (nodes > m->tree.room) /* equal on all ranks */
        IKT_TRY(ikt_agree(sums->ctx, ikt_octree_reserve(sums->ctx, &m->tree, nodes)));
    ikt_octree_build(&m->tree);
    return IKT_OK;
}

static void evaluate(ikt_kernelsum *sums, const float *y, double *phi, float *gradient) {
    barnes_hut *m = sums->self;
    const int64_t first = sums->rows.first, count = sums->rows.count;
    if (!ikt_replica_fill(sums->ctx, &sums->rows, y, &m->replica) || make_tree(sums) != IKT_OK) {
        ikt_kernelsum_invalid(sums, phi, gradient);
        return;
    }
    share(sums);
    for (int64_t s = 0; s < sums->rows.n; s++) {
        const int64_t i = (int64_t)m->tree.row[s] - first;
        if (i < 0 || i >= count) continue;
        phi[i] = m->all[s].phi;
        for (int c = 0; c < sums->q; c++)
            gradient[sums->q * i + c] = m->all[s].gradient[c];
    }
}

static void destroy(ikt_kernelsum *sums) {
    barnes_hut *m = sums->self;
    if (!m) return;
    ikt_replica_destroy(&m->replica);
    ikt_octree_destroy(&m->tree);
    ikt_free(&m->all);
    ikt_free(&m->counts);
    ikt_free(&m);
}

static void describe(const ikt_kernelsum *sums, char *text, size_t size) {
    const barnes_hut *m = sums->self;
    snprintf(text, size, "Barnes-Hut tree in %d dimensions, opened at %g, second moments", sums->q,
             sqrt((double)m->opening));
}

static const ikt_kernelsum_ops tree_ops = {evaluate, destroy, describe};

static ikt_status prepare(ikt_kernelsum *sums, ikt_tree_accuracy accuracy) {
    /* By dimensions: on a line forces cancel most, and nodes cost least. */
    static const float openings[][4] = {
        [IKT_TREE_DEFAULT] = {0, 0.3f, 0.45f, 0.5f}, [IKT_TREE_TIGHT] = {0, 0.15f, 0.22f, 0.25f}};
    ikt_context *ctx = sums->ctx;
    barnes_hut *m = NULL;
    if (sums->rows.n >= UINT32_MAX)
        return ikt_fail(ctx, IKT_ERR_USAGE, "repulsion by a tree: %lld points are too many",
                        (long long)sums->rows.n);
    IKT_TRY(ikt_alloc(ctx, &m, 1, sizeof *m, "repulsion"));
    sums->self = m;
    m->isa = ikt_cpu_isa();
    m->accuracy = accuracy;
    m->opening = openings[accuracy][sums->q] * openings[accuracy][sums->q];
    IKT_TRY(ikt_replica_create(ctx, &sums->rows, sums->q, &m->replica));
    IKT_TRY(ikt_octree_create(ctx, sums->rows.n, &m->tree));
    IKT_TRY(ikt_alloc(ctx, &m->all, sums->rows.n, sizeof *m->all, "repulsion"));
    return ikt_alloc(ctx, &m->counts, sums->rows.ranks, sizeof *m->counts, "repulsion");
}

ikt_status ikt_kernelsum_create_tree(ikt_context *ctx, const ikt_rows *rows, int q,
                                     ikt_tree_accuracy accuracy, ikt_kernelsum **out) {
    *out = NULL;
    ikt_status st = ikt_alloc(ctx, out, 1, sizeof **out, "repulsion");
    if (st == IKT_OK) {
        **out = (ikt_kernelsum){ctx, *rows, q, IKT_KERNEL_STUDENT, NULL, &tree_ops};
        st = prepare(*out, accuracy);
    }
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) ikt_kernelsum_destroy(out);
    return st;
}

/* Leaves are a quarter full or more on maps as they occur, and nodes few more than leaves. */
int64_t ikt_kernelsum_memory_tree(const ikt_rows *rows, int q, int threads) {
    const int64_t of_point = 2 * (8 + 4) + 12 + (int64_t)sizeof(ikt_bucket_result);
    const int64_t of_node = (int64_t)(sizeof(ikt_octree_node) + sizeof(ikt_octree_moments));
    const int64_t nodes = 7 * (rows->n / 16 + 1) / 2;
    return ikt_replica_memory(rows, q) + of_point * rows->n + of_node * nodes +
           threads * ikt_bucket_memory() + 8 * rows->ranks;
}
