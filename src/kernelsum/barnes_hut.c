/* Sums of a kernel by a tree of boxes (Barnes & Hut 1986).
 *
 * Method: the points of each leaf of a tree of all points (octree.h) walk it together, in buckets;
 * a target walks it alone, so that what others ask does not change its bits. A node whose radius is
 * small beside its distance from the bucket, or beside the width of the kernel, counts as its mass
 * at its centre with its second moments; of other leaves every point counts. Both are listed, and
 * lists of fixed length are summed in sixteen lanes of float. With u = y - centre, w(u^2) the
 * kernel, D the first and S the second moments and T the trace of S, the expansion of
 * sum_j c_j w(y - y_j) to second order is
 *     m w - 2 w' u.D + w' T + 2 w'' u.Su,
 * whose gradient is summed with it. The centre is that of mass where all charges are 1; D is then 0
 * and left out. For w = 1 / (1 + u^2): w' = -w^2, w'' = 2 w^3, w''' = -6 w^4. For
 * w = (1 + u^2 / alpha)^-alpha and v = 1 / (1 + u^2 / alpha): w' = -w v, w'' = (1 + 1 / alpha) w
 * v^2, w''' = -(1 + 1 / alpha) (1 + 2 / alpha) w v^3.
 * A rank sums for a stretch of the order of points, and every rank gets the results of all: the
 * stretches are equal whoever owns the rows.
 * Advantage: n log n in 1, 2 and 3 dimensions, where a grid of a volume would not fit. Nothing
 * depends on ranks and threads: the tree is that of all points, lists follow its order. One walk
 * serves many points, and the loops are of the kind that exact sums have.
 * Disadvantage: positions, tree and results of all points on every rank, which also sorts them;
 * what is near one point of a bucket is near for all. */
#include <math.h>
#include <stdio.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "kernelsum/octree.h"
#include "kernelsum/ops.h"
#include "kernelsum/pairs.h"

enum {
    CHUNK = 512,      /* entries of a list that are summed at a time, a multiple of LANES */
    FEW_POINTS = 4,   /* of a node that are summed sooner than its moments */
    OF_NODE = 11,     /* numbers of a node in a list: centre, mass, second moments, their trace */
    OF_CHARGES = 14,  /* of a node with charges: first moments, too */
    MOST_DEGREES = 10 /* of freedom; see ikt_tree_has_kernel */
};

/* The sums at a place. */
typedef struct {
    double phi;
    float gradient[3]; /* zeros where the points have fewer dimensions */
} result;

typedef struct {
    ikt_isa isa;
    pair_form form;
    /* A node counts as a whole where the square of its radius is below opening (width +
     * distance^2): its derivatives are small then beside the kernel. */
    float opening, width;
    ikt_replica replica;
    ikt_octree tree;
    result *all;     /* [n] in the order of keys */
    int64_t *counts; /* [ranks] points that each sums for */
    float *charge;   /* [n] in the order of keys, once there have been charges */
} barnes_hut;

/* Places that go together, and what is near and far of them. */
typedef struct {
    const barnes_hut *of;
    const float *charge; /* those of the method, whose moments are in the tree; NULL: all are 1 */
    int count;
    float own[3][IKT_OCTREE_LEAF]; /* [axis][count] places */
    float low[3], high[3];
    pair_sums sums[IKT_OCTREE_LEAF]; /* sum of w, and of minus half its gradient */
    int64_t n_nodes, n_points;
    float node[OF_CHARGES][CHUNK];
    float point[3][CHUNK], amount[CHUNK];
} bucket;

/* --- lists to sums ---------------------------------------------------------------------------- */

/* The derivatives of the tailed kernel at u^2: minus the first, half of the second, and minus a
 * sixth of the third, as powers of w are for the Student kernel. */
LANES_INLINE void tailed_derivatives(pair_form form, const vector *r2, vector *w, vector *w2,
                                     vector *w3, vector *w4) {
    const vector v = 1.0f / (1.0f + *r2 * form.inverse);
    pair_tailed(form, r2, w, w2);
    *w3 = *w2 * v * (0.5f * (1.0f + form.inverse));
    *w4 = *w3 * v * ((1.0f + 2.0f * form.inverse) * (1.0f / 3));
}

LANES_INLINE void add_nodes(bucket *b, bool charged, pair_form form, int64_t entries, int k) {
    pair_lanes lanes;
    memset(&lanes, 0, sizeof lanes);
    for (int64_t j = 0; j < entries; j += LANES) {
        vector e[OF_CHARGES];
        for (int k2 = 0; k2 < (charged ? OF_CHARGES : OF_NODE); k2++)
            memcpy(&e[k2], b->node[k2] + j, sizeof e[k2]);
        const vector x = b->own[0][k] - e[0], y = b->own[1][k] - e[1], z = b->own[2][k] - e[2];
        const vector r2 = x * x + y * y + z * z;
        vector w, w2, w3, w4;
        if (form.kind == IKT_KERNEL_STUDENT) {
            w = 1.0f / (1.0f + r2);
            w2 = w * w;
            w3 = w2 * w;
            w4 = w2 * w2;
        } else {
            tailed_derivatives(form, &r2, &w, &w2, &w3, &w4);
        }
        const vector sx = e[4] * x + e[7] * y + e[8] * z;
        const vector sy = e[7] * x + e[5] * y + e[9] * z;
        const vector sz = e[8] * x + e[9] * y + e[6] * z;
        const vector usu = x * sx + y * sy + z * sz;
        lanes.value += e[3] * w - w2 * e[10] + 4.0f * w3 * usu;
        /* minus half the gradient, as for a point: w^2 u */
        vector along = e[3] * w2 - 2.0f * w3 * e[10] + 12.0f * w4 * usu;
        const vector across = 4.0f * w3;
        if (charged) {
            const vector ud = x * e[11] + y * e[12] + z * e[13];
            lanes.value += 2.0f * w2 * ud;
            along += across * ud;
            for (int c = 0; c < 3; c++)
                lanes.along[c] -= w2 * e[11 + c];
        }
        lanes.along[0] += along * x - across * sx;
        lanes.along[1] += along * y - across * sy;
        lanes.along[2] += along * z - across * sz;
    }
    pair_widen(&lanes.value, &b->sums[k].value);
    for (int c = 0; c < 3; c++)
        pair_widen(&lanes.along[c], &b->sums[k].along[c]);
}

LANES_INLINE void add_lists(bucket *b, bool charged, pair_form form, int64_t nodes,
                            int64_t points) {
    const float *const at[3] = {b->point[0], b->point[1], b->point[2]};
    const float *const amount[1] = {b->amount};
    for (int k = 0; k < b->count; k++) {
        const float own[3] = {b->own[0][k], b->own[1][k], b->own[2][k]};
        add_nodes(b, charged, form, nodes, k);
        pair_add(at, charged ? amount : NULL, 0, points, 3, form, 1, own, &b->sums[k]);
    }
}

LANES_INLINE void add_form(bucket *b, pair_form form, int64_t nodes, int64_t points) {
    if (b->charge)
        add_lists(b, true, form, nodes, points);
    else
        add_lists(b, false, form, nodes, points);
}

LANES_INLINE void add_all(bucket *b, int64_t nodes, int64_t points) {
    const pair_form form = b->of->form;
    if (form.kind == IKT_KERNEL_STUDENT)
        add_form(b, (pair_form){IKT_KERNEL_STUDENT, 1, 1}, nodes, points);
    else
        add_form(b, (pair_form){IKT_KERNEL_TAILED, form.alpha, form.inverse}, nodes, points);
}

IKT_FOR_EACH_ISA(add, add_all, (bucket * b, int64_t nodes, int64_t points), (b, nodes, points))

/* Sums what is in the lists, filled up with nodes without mass and points far away. */
static void flush(bucket *b) {
    int64_t nodes = b->n_nodes, points = b->n_points;
    for (; nodes % LANES != 0; nodes++)
        for (int k = 0; k < OF_CHARGES; k++)
            b->node[k][nodes] = 0;
    for (; points % LANES != 0; points++) {
        b->amount[points] = 0;
        for (int c = 0; c < 3; c++)
            b->point[c][points] = pair_far;
    }
    add(b->of->isa)(b, nodes, points);
    b->n_nodes = b->n_points = 0;
}

/* --- the walk --------------------------------------------------------------------------------- */

/* With charges their moments stand in place of those of points. */
static void list_node(bucket *b, const ikt_octree_node *node) {
    const int64_t at = b->n_nodes++;
    const ikt_octree_moments *m = &b->of->tree.moments[node - b->of->tree.node];
    for (int c = 0; c < 3; c++)
        b->node[c][at] = node->centre[c];
    b->node[3][at] = b->charge ? (float)m->mass : node->mass;
    for (int k = 0; k < 6; k++)
        b->node[4 + k][at] = b->charge ? (float)m->second[k] : node->second[k];
    b->node[10][at] = b->charge ? (float)(m->second[0] + m->second[1] + m->second[2])
                                : node->second[0] + node->second[1] + node->second[2];
    for (int c = 0; c < 3 && b->charge; c++)
        b->node[11 + c][at] = (float)m->first[c];
    if (b->n_nodes == CHUNK) flush(b);
}

static void list_points(bucket *b, const ikt_octree_node *node) {
    for (int64_t i = node->first; i < node->end; i++) {
        for (int c = 0; c < 3; c++)
            b->point[c][b->n_points] = b->of->tree.at[c][i];
        if (b->charge) b->amount[b->n_points] = b->charge[i];
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
    return node->radius2 < b->of->opening * (b->of->width + distance2);
}

/* Walks the tree for `count` places own[axis][0 .. count - 1] of the bucket, and sums. */
static void sum_bucket(bucket *b, int count, result *out) {
    const ikt_octree *tree = &b->of->tree;
    b->count = count;
    b->n_nodes = b->n_points = 0;
    memset(b->sums, 0, sizeof b->sums);
    for (int c = 0; c < 3; c++) {
        b->low[c] = b->high[c] = b->own[c][0];
        for (int k = 0; k < count; k++) {
            const float at = b->own[c][k];
            b->low[c] = at < b->low[c] ? at : b->low[c];
            b->high[c] = at > b->high[c] ? at : b->high[c];
        }
    }
    for (int64_t i = 0; i < tree->count;) {
        const ikt_octree_node *node = &tree->node[i];
        const bool whole = node->end - node->first > FEW_POINTS && is_far(b, node);
        if (whole)
            list_node(b, node);
        else if (node->is_leaf)
            list_points(b, node);
        i = whole || node->is_leaf ? node->next : i + 1;
    }
    flush(b);
    for (int k = 0; k < count; k++) {
        out[k].phi = pair_total(&b->sums[k].value);
        for (int c = 0; c < 3; c++)
            out[k].gradient[c] = (float)(-2 * pair_total(&b->sums[k].along[c]));
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

/* Sums at the points of a leaf, which are more than a bucket holds where they share a key. */
static void sum_leaf(const barnes_hut *m, const float *charge, const ikt_octree_node *leaf) {
    bucket b;
    b.of = m;
    b.charge = charge;
    for (int64_t first = leaf->first; first < leaf->end; first += IKT_OCTREE_LEAF) {
        const int64_t left = leaf->end - first;
        const int count = left < IKT_OCTREE_LEAF ? (int)left : IKT_OCTREE_LEAF;
        for (int c = 0; c < 3; c++)
            memcpy(b.own[c], m->tree.at[c] + first, (size_t)count * sizeof *b.own[c]);
        sum_bucket(&b, count, m->all + first);
    }
}

/* Sums for the leaves of the own stretch of points, and the results of all ranks. */
static void sum_points(ikt_kernelsum *sums, const float *charge) {
    const barnes_hut *m = sums->self;
    const ikt_octree *tree = &m->tree;
    ikt_context *ctx = sums->ctx;
    for (int r = 0; r < sums->rows.ranks; r++)
        m->counts[r] =
            share_begin(tree, sums->rows.ranks, r + 1) - share_begin(tree, sums->rows.ranks, r);
    const int64_t begin = share_begin(tree, sums->rows.ranks, ikt_rank(ctx));
    const int64_t count = m->counts[ikt_rank(ctx)];
#pragma omp parallel for num_threads(ikt_threads(ctx)) schedule(dynamic, 16)
    for (int64_t i = 0; i < tree->count; i++) {
        const ikt_octree_node *node = &tree->node[i];
        if (node->is_leaf && node->first >= begin && node->first < begin + count)
            sum_leaf(m, charge, node);
    }
    ikt_allgather(ctx, m->all + begin, count, sizeof *m->all, m->all, m->counts);
}

/* --- the way of summing ----------------------------------------------------------------------- */

/* Stores the sums at place i of the k-th set of charges. */
static void store(const ikt_kernelsum *sums, const ikt_kernelsum_request *r, int k, int64_t i,
                  const result *found) {
    const int64_t at = k * ikt_kernelsum_places(sums, r) + i;
    const double scale = r->charge ? sums->scale[k] : 1;
    if (r->value) r->value[at] = scale * found->phi;
    for (int c = 0; c < sums->q && r->gradient; c++)
        r->gradient[sums->q * at + c] = (float)(scale * (double)found->gradient[c]);
}

static void sum_targets(const ikt_kernelsum *sums, const ikt_kernelsum_request *r, int k,
                        const float *charge) {
    const barnes_hut *m = sums->self;
#pragma omp parallel for num_threads(ikt_threads(sums->ctx)) schedule(dynamic, 16)
    for (int64_t i = 0; i < r->targets; i++) {
        bucket b;
        result found;
        b.of = m;
        b.charge = charge;
        for (int c = 0; c < 3; c++)
            b.own[c][0] = c < sums->q ? r->target[sums->q * i + c] : 0;
        sum_bucket(&b, 1, &found);
        store(sums, r, k, i, &found);
    }
}

static ikt_status evaluate(ikt_kernelsum *sums, const ikt_kernelsum_request *r) {
    barnes_hut *m = sums->self;
    ikt_context *ctx = sums->ctx;
    if (r->charge && !m->charge)
        IKT_TRY(ikt_kernelsum_claim(sums, &m->charge, sums->rows.n, sizeof *m->charge));
    if (!ikt_replica_fill(ctx, &sums->rows, r->y, &m->replica)) {
        ikt_kernelsum_invalid(sums, r);
        return IKT_OK;
    }
    const int64_t nodes = ikt_octree_order(&m->tree, sums->q, m->replica.all);
    if (nodes > m->tree.capacity) /* equal on all ranks */
        IKT_TRY(ikt_agree(ctx, ikt_octree_reserve(ctx, &m->tree, nodes)));
    ikt_octree_build(&m->tree);
    for (int k = 0; k < r->charges; k++) {
        if (r->charge) { /* in the order of keys; the tree is made: its positions lend memory */
            float *by_row = m->replica.all;
            ikt_replica_charges(ctx, &sums->rows, r->charge + k * sums->rows.count, sums->scale[k],
                                &m->replica, by_row);
            for (int64_t s = 0; s < sums->rows.n; s++)
                m->charge[s] = by_row[m->tree.row[s]];
            ikt_octree_charge(&m->tree, m->charge);
        }
        const float *charge = r->charge ? m->charge : NULL;
        if (r->target) {
            sum_targets(sums, r, k, charge);
            continue;
        }
        sum_points(sums, charge);
        for (int64_t s = 0; s < sums->rows.n; s++) {
            const int64_t i = (int64_t)m->tree.row[s] - sums->rows.first;
            if (i >= 0 && i < sums->rows.count) store(sums, r, k, i, &m->all[s]);
        }
    }
    return IKT_OK;
}

static void destroy(ikt_kernelsum *sums) {
    barnes_hut *m = sums->self;
    ikt_replica_destroy(&m->replica);
    ikt_octree_destroy(&m->tree);
    ikt_free(&m->all);
    ikt_free(&m->counts);
    ikt_free(&m->charge);
}

static void describe(const ikt_kernelsum *sums, char *text, size_t size) {
    const barnes_hut *m = sums->self;
    snprintf(text, size, "Barnes-Hut tree in %d dimensions, opened at %g, second moments", sums->q,
             sqrt((double)m->opening));
}

static ikt_status prepare(ikt_kernelsum *sums, const void *settings) {
    /* By dimensions: on a line forces cancel most, and nodes cost least. */
    static const float openings[][4] = {
        [IKT_TREE_DEFAULT] = {0, 0.3f, 0.45f, 0.5f}, [IKT_TREE_TIGHT] = {0, 0.15f, 0.22f, 0.25f}};
    const float opening = openings[*(const ikt_tree_accuracy *)settings][sums->q];
    ikt_context *ctx = sums->ctx;
    barnes_hut *m = sums->self;
    if (sums->rows.n >= UINT32_MAX)
        return ikt_fail(ctx, IKT_ERR_USAGE, "repulsion by a tree: %lld points are too many",
                        (long long)sums->rows.n);
    if (!ikt_tree_has_kernel(sums->kernel))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "repulsion by a tree: there is no expansion of this kernel");
    m->isa = ikt_cpu_isa();
    m->opening = opening * opening;
    m->form = pair_form_of(sums->kernel);
    m->width = 1;
    if (sums->kernel.kind == IKT_KERNEL_TAILED) {
        const float alpha = m->form.alpha;
        /* As w' / w'' is to that of the Student kernel for light tails; heavy ones add up from
         * afar, and on a line forces cancel most. */
        m->opening *= (alpha < 1 ? (1 + alpha) / 2 : 2 / (1 + alpha)) / (sums->q == 1 ? 2 : 1);
        m->width = alpha;
    }
    IKT_TRY(ikt_replica_create(ctx, &sums->rows, sums->q, &m->replica));
    IKT_TRY(ikt_octree_create(ctx, sums->rows.n, &m->tree));
    IKT_TRY(ikt_alloc(ctx, &m->all, sums->rows.n, sizeof *m->all, "repulsion"));
    return ikt_alloc(ctx, &m->counts, sums->rows.ranks, sizeof *m->counts, "repulsion");
}

bool ikt_tree_has_kernel(ikt_kernel kernel) {
    return kernel.kind == IKT_KERNEL_STUDENT ||
           (kernel.kind == IKT_KERNEL_TAILED && kernel.alpha <= MOST_DEGREES);
}

ikt_status ikt_kernelsum_create_tree(ikt_context *ctx, const ikt_rows *rows, int q,
                                     ikt_kernel kernel, ikt_tree_accuracy accuracy,
                                     ikt_kernelsum **out) {
    static const ikt_kernelsum_ops ops = {sizeof(barnes_hut), prepare, evaluate, destroy, describe};
    return ikt_kernelsum_create(ctx, rows, q, kernel, &ops, &accuracy, out);
}

/* Leaves are a quarter full or more on maps as they occur, and nodes few more than leaves. */
int64_t ikt_kernelsum_memory_tree(const ikt_rows *rows, int q, int charges, int threads) {
    const int64_t of_point =
        2 * (8 + 4) + 12 + (int64_t)sizeof(result) + (charges > 0 ? (int64_t)sizeof(float) : 0);
    const int64_t of_node = (int64_t)(sizeof(ikt_octree_node) + sizeof(ikt_octree_moments));
    const int64_t nodes = 7 * (rows->n / 16 + 1) / 2;
    return ikt_replica_memory(rows, q) + of_point * rows->n + of_node * nodes +
           threads * (int64_t)sizeof(bucket) + 8 * rows->ranks + 8 * charges;
}
