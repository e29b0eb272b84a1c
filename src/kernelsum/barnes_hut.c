/* Sums of the Student kernel by a tree of boxes (Barnes & Hut 1986).
 *
 * Method: the points of a leaf go together, at most 32. Walking down the tree (octree.h), a node
 * whose radius is small beside its distance from them, or beside the width of the kernel, counts as
 * its mass at its centre with its second moments; of other leaves every point counts. Both lists
 * are summed in sixteen lanes of float. With u = y - centre, w = 1 / (1 + u^2), S the second
 * moments and T their trace, the expansion of sum_j w(y - y_j) to second order is
 *     m w - w^2 T + 4 w^3 u.Su,
 * whose gradient is summed with it. A rank sums for a stretch of the order of points, and every
 * rank gets the results of all: the stretches are equal whoever owns the rows.
 * Advantage: n log n in 1, 2 and 3 dimensions, where a grid of a volume would not fit. Nothing
 * depends on ranks and threads: the tree is that of all points, lists follow its order.
 * Disadvantage: positions, tree and results of all points on every rank, which also sorts them. */
#include <math.h>
#include <stdio.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "kernelsum/octree.h"
#include "kernelsum/ops.h"
#include "kernelsum/pairs.h"

enum {
    CHUNK = 512,    /* entries of a list that are summed at a time, a multiple of LANES */
    FEW_POINTS = 4, /* of a node that are summed sooner than its moments */
    OF_NODE = 11    /* numbers of a node in a list: centre, mass, second moments, their trace */
};

/* What is summed at a point of the order. */
typedef struct {
    double phi;
    float gradient[3];
} result;

typedef struct {
    ikt_isa isa;
    float opening; /* square of the largest radius of a node, relative to distance and width */
    ikt_tree_accuracy accuracy;
    ikt_replica replica;
    ikt_octree tree;
    result *all;     /* [n] in the order of keys */
    int64_t *counts; /* [ranks] points that each sums for */
} barnes_hut;

/* Points that go together, and what is near and far of them. */
typedef struct {
    const ikt_octree *tree;
    ikt_isa isa;
    float opening;
    int64_t first;
    int count;
    float low[3], high[3];
    pair_sums sums[IKT_OCTREE_LEAF]; /* sum of w, and of minus half its gradient */
    int64_t n_nodes, n_points;
    float node[OF_NODE][CHUNK];
    float point[3][CHUNK];
} bucket;

/* --- lists to sums ---------------------------------------------------------------------------- */

LANES_INLINE void add_nodes(bucket *b, int64_t entries, int k) {
    pair_lanes lanes;
    memset(&lanes, 0, sizeof lanes);
    const int64_t at = b->first + k;
    const float *const *own = (const float *const *)b->tree->at;
    for (int64_t j = 0; j < entries; j += LANES) {
        vector e[OF_NODE];
        for (int k2 = 0; k2 < OF_NODE; k2++)
            memcpy(&e[k2], b->node[k2] + j, sizeof e[k2]);
        const vector x = own[0][at] - e[0], y = own[1][at] - e[1], z = own[2][at] - e[2];
        const vector w = 1.0f / (1.0f + (x * x + y * y + z * z)), w2 = w * w, w3 = w2 * w;
        const vector sx = e[4] * x + e[7] * y + e[8] * z;
        const vector sy = e[7] * x + e[5] * y + e[9] * z;
        const vector sz = e[8] * x + e[9] * y + e[6] * z;
        const vector usu = x * sx + y * sy + z * sz;
        lanes.value += e[3] * w - w2 * e[10] + 4.0f * w3 * usu;
        /* minus half the gradient, as for a point: w^2 u */
        const vector along = e[3] * w2 - 2.0f * w3 * e[10] + 12.0f * (w2 * w2) * usu;
        const vector across = 4.0f * w3;
        lanes.along[0] += along * x - across * sx;
        lanes.along[1] += along * y - across * sy;
        lanes.along[2] += along * z - across * sz;
    }
    pair_widen(&lanes.value, &b->sums[k].value);
    for (int c = 0; c < 3; c++)
        pair_widen(&lanes.along[c], &b->sums[k].along[c]);
}

LANES_INLINE void add_points(bucket *b, int64_t entries, int k) {
    const float *const at[3] = {b->point[0], b->point[1], b->point[2]};
    const int64_t i = b->first + k;
    const float own[3] = {b->tree->at[0][i], b->tree->at[1][i], b->tree->at[2][i]};
    pair_add(at, 0, entries, 3, IKT_KERNEL_STUDENT, 1, own, &b->sums[k]);
}

LANES_INLINE void add_lists(bucket *b, int64_t nodes, int64_t points) {
    for (int k = 0; k < b->count; k++) {
        add_nodes(b, nodes, k);
        add_points(b, points, k);
    }
}

static void add_portable(bucket *b, int64_t nodes, int64_t points) {
    add_lists(b, nodes, points);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void add_avx2(bucket *b, int64_t nodes, int64_t points) {
    add_lists(b, nodes, points);
}

__attribute__((target("avx512f"))) static void add_avx512(bucket *b, int64_t nodes,
                                                          int64_t points) {
    add_lists(b, nodes, points);
}
#endif

static void add(bucket *b, int64_t nodes, int64_t points) {
#if defined(__x86_64__)
    if (b->isa >= IKT_ISA_AVX512)
        add_avx512(b, nodes, points);
    else if (b->isa == IKT_ISA_AVX2)
        add_avx2(b, nodes, points);
    else
#endif
        add_portable(b, nodes, points);
}

/* Sums what is in the lists, filled up with nodes without mass and points far away. */
static void flush(bucket *b) {
    int64_t nodes = b->n_nodes, points = b->n_points;
    for (; nodes % LANES != 0; nodes++)
        for (int k = 0; k < OF_NODE; k++)
            b->node[k][nodes] = 0;
    for (; points % LANES != 0; points++)
        for (int c = 0; c < 3; c++)
            b->point[c][points] = pair_far;
    add(b, nodes, points);
    b->n_nodes = b->n_points = 0;
}

/* --- the walk --------------------------------------------------------------------------------- */

static void list_node(bucket *b, const ikt_octree_node *node) {
    const int64_t at = b->n_nodes++;
    for (int c = 0; c < 3; c++)
        b->node[c][at] = node->centre[c];
    b->node[3][at] = node->mass;
    for (int k = 0; k < 6; k++)
        b->node[4 + k][at] = node->second[k];
    b->node[10][at] = node->second[0] + node->second[1] + node->second[2];
    if (b->n_nodes == CHUNK) flush(b);
}

static void list_points(bucket *b, const ikt_octree_node *node) {
    for (int64_t i = node->first; i < node->end; i++) {
        for (int c = 0; c < 3; c++)
            b->point[c][b->n_points] = b->tree->at[c][i];
        if (++b->n_points == CHUNK) flush(b);
    }
}

/* Whether the node counts as a whole for the bucket: its radius beside the distance, and beside the
 * width of the kernel, within which forces are nearly linear. */
static bool is_far(const bucket *b, const ikt_octree_node *node) {
    float distance2 = 0;
    for (int c = 0; c < 3; c++) {
        float below = b->low[c] - node->centre[c], above = node->centre[c] - b->high[c];
        float gap = below > above ? below : above;
        if (gap > 0) distance2 += gap * gap;
    }
    return node->radius2 < b->opening * (1 + distance2);
}

static void walk(bucket *b) {
    const ikt_octree *tree = b->tree;
    for (int64_t i = 0; i < tree->count;) {
        const ikt_octree_node *node = &tree->node[i];
        if (node->end - node->first > FEW_POINTS && is_far(b, node)) {
            list_node(b, node);
            i = node->next;
        } else if (node->is_leaf) {
            list_points(b, node);
            i = node->next;
        } else {
            i++;
        }
    }
    flush(b);
}

static void begin_bucket(const barnes_hut *m, int64_t first, int64_t end, bucket *b) {
    b->tree = &m->tree;
    b->isa = m->isa;
    b->opening = m->opening;
    b->first = first;
    b->count = (int)(end - first);
    b->n_nodes = b->n_points = 0;
    memset(b->sums, 0, sizeof b->sums);
    for (int c = 0; c < 3; c++) {
        b->low[c] = b->high[c] = m->tree.at[c][first];
        for (int64_t i = first; i < end; i++) {
            const float at = m->tree.at[c][i];
            b->low[c] = at < b->low[c] ? at : b->low[c];
            b->high[c] = at > b->high[c] ? at : b->high[c];
        }
    }
}

static void sum_leaf(const barnes_hut *m, const ikt_octree_node *leaf) {
    bucket b;
    for (int64_t first = leaf->first; first < leaf->end; first += IKT_OCTREE_LEAF) {
        const int64_t end =
            first + IKT_OCTREE_LEAF < leaf->end ? first + IKT_OCTREE_LEAF : leaf->end;
        begin_bucket(m, first, end, &b);
        walk(&b);
        for (int k = 0; k < b.count; k++) {
            result *r = &m->all[first + k];
            r->phi = pair_total(&b.sums[k].value);
            for (int c = 0; c < 3; c++)
                r->gradient[c] = (float)(-2 * pair_total(&b.sums[k].along[c]));
        }
    }
}

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
        if (node->is_leaf && node->first >= begin && node->first < end) sum_leaf(m, node);
    }
}

static void share(ikt_kernelsum *sums) {
    barnes_hut *m = sums->self;
    ikt_context *ctx = sums->ctx;
    for (int r = 0; r < sums->map.ranks; r++)
        m->counts[r] = share_begin(&m->tree, sums->map.ranks, r + 1) -
                       share_begin(&m->tree, sums->map.ranks, r);
    const int64_t begin = share_begin(&m->tree, sums->map.ranks, ikt_rank(ctx));
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
    const int64_t first = sums->map.first, count = sums->map.count;
    if (!ikt_replica_fill(sums->ctx, &sums->map, y, &m->replica) || make_tree(sums) != IKT_OK) {
        ikt_kernelsum_invalid(sums, phi, gradient);
        return;
    }
    share(sums);
    for (int64_t s = 0; s < sums->map.n; s++) {
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
    if (sums->map.n >= UINT32_MAX)
        return ikt_fail(ctx, IKT_ERR_USAGE, "repulsion by a tree: %lld points are too many",
                        (long long)sums->map.n);
    IKT_TRY(ikt_alloc(ctx, &m, 1, sizeof *m, "repulsion"));
    sums->self = m;
    m->isa = ikt_cpu_isa();
    m->accuracy = accuracy;
    m->opening = openings[accuracy][sums->q] * openings[accuracy][sums->q];
    IKT_TRY(ikt_replica_create(ctx, &sums->map, sums->q, &m->replica));
    IKT_TRY(ikt_octree_create(ctx, sums->map.n, &m->tree));
    IKT_TRY(ikt_alloc(ctx, &m->all, sums->map.n, sizeof *m->all, "repulsion"));
    return ikt_alloc(ctx, &m->counts, sums->map.ranks, sizeof *m->counts, "repulsion");
}

ikt_status ikt_kernelsum_create_tree(ikt_context *ctx, const ikt_row_map *map, int q,
                                     ikt_tree_accuracy accuracy, ikt_kernelsum **out) {
    *out = NULL;
    ikt_status st = ikt_alloc(ctx, out, 1, sizeof **out, "repulsion");
    if (st == IKT_OK) {
        **out = (ikt_kernelsum){ctx, *map, q, IKT_KERNEL_STUDENT, NULL, &tree_ops};
        st = prepare(*out, accuracy);
    }
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) ikt_kernelsum_destroy(out);
    return st;
}

/* Leaves are a quarter full or more on maps as they occur, and nodes few more than leaves. */
int64_t ikt_kernelsum_memory_tree(const ikt_row_map *map, int q, int threads) {
    const int64_t of_point = 2 * (8 + 4) + 12 + (int64_t)sizeof(result);
    const int64_t of_node = (int64_t)(sizeof(ikt_octree_node) + sizeof(ikt_octree_moments));
    const int64_t nodes = 7 * (map->n / 16 + 1) / 2;
    return ikt_replica_memory(map, q) + of_point * map->n + of_node * nodes +
           threads * (int64_t)sizeof(bucket) + 8 * map->ranks;
}
