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
 * A rank sums for the points of a stretch of the order (octree.h), with the nodes of other ranks
 * that these open (essential.h).
 * Advantage: n log n in 1, 2 and 3 dimensions, where a grid of a volume would not fit. Nothing
 * depends on ranks and threads: the tree is that of all points, lists follow its order. One walk
 * serves many points, and the loops are of the kind that exact sums have.
 * Disadvantage: points travel to the rank of their place and results back, 24 bytes each way; what
 * is near one point of a bucket is near for all. */
#include <math.h>
#include <stdio.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "kernelsum/essential.h"
#include "kernelsum/octree.h"
#include "kernelsum/ops.h"
#include "kernelsum/pairs.h"

enum {
    CHUNK = 512,      /* entries of a list that are summed at a time, a multiple of LANES */
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
    ikt_far_rule far;
    ikt_stretches stretches;
    ikt_octree tree;
    ikt_essential essential;
    result *found, *back; /* [room] at the points, in the order of keys and as they arrived */
    int64_t room;
    result *own;           /* [rows.count] in the order in which the rows left */
    float *charge, *moved; /* [charge_room] in the order of keys and as they travel */
    int64_t charge_room;
} barnes_hut;

/* Places that go together, and what is near and far of them. */
typedef struct {
    const barnes_hut *of;
    int count;
    float own[3][IKT_OCTREE_LEAF]; /* [axis][count] places */
    ikt_box box;
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
    if (b->of->essential.charge)
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
    const int64_t nodes_end = (nodes + LANES - 1) / LANES * LANES;
    const int64_t points_end = (points + LANES - 1) / LANES * LANES;
    for (; nodes < nodes_end; nodes++)
        for (int k = 0; k < OF_CHARGES; k++)
            b->node[k][nodes] = 0;
    for (; points < points_end; points++) {
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
    const ikt_essential *e = &b->of->essential;
    const ikt_octree_moments *m = &e->moments[node - e->node];
    const bool charged = e->charge != NULL;
    for (int c = 0; c < 3; c++)
        b->node[c][at] = node->centre[c];
    b->node[3][at] = charged ? (float)m->mass : node->mass;
    for (int k = 0; k < 6; k++)
        b->node[4 + k][at] = charged ? (float)m->second[k] : node->second[k];
    b->node[10][at] = charged ? (float)(m->second[0] + m->second[1] + m->second[2])
                              : node->second[0] + node->second[1] + node->second[2];
    for (int c = 0; c < 3 && charged; c++)
        b->node[11 + c][at] = (float)m->first[c];
    if (b->n_nodes == CHUNK) flush(b);
}

static void list_points(bucket *b, const ikt_octree_node *node) {
    const ikt_essential *e = &b->of->essential;
    for (int64_t i = node->first; i < node->end; i++) {
        for (int c = 0; c < 3; c++)
            b->point[c][b->n_points] = e->at[c][i];
        if (e->charge) b->amount[b->n_points] = e->charge[i];
        if (++b->n_points == CHUNK) flush(b);
    }
}

/* Walks the tree for `count` places own[axis][0 .. count - 1] of the bucket, and sums. */
static void sum_bucket(bucket *b, int count, result *out) {
    const ikt_essential *tree = &b->of->essential;
    b->count = count;
    b->n_nodes = b->n_points = 0;
    memset(b->sums, 0, sizeof b->sums);
    for (int c = 0; c < 3; c++) {
        b->box.low[c] = b->box.high[c] = b->own[c][0];
        for (int k = 0; k < count; k++) {
            const float at = b->own[c][k];
            b->box.low[c] = at < b->box.low[c] ? at : b->box.low[c];
            b->box.high[c] = at > b->box.high[c] ? at : b->box.high[c];
        }
    }
    for (int64_t i = 0; i < tree->count;) {
        const ikt_octree_node *node = &tree->node[i];
        const bool whole =
            node->end - node->first > IKT_FEW_POINTS && ikt_far(b->of->far, node, &b->box);
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

/* --- places ----------------------------------------------------------------------------------- */

/* Sums at the points of a leaf, which are more than a bucket holds where they share a key. */
static void sum_leaf(const barnes_hut *m, const ikt_octree_node *leaf) {
    bucket b;
    b.of = m;
    for (int64_t first = leaf->first; first < leaf->end; first += IKT_OCTREE_LEAF) {
        const int64_t left = leaf->end - first;
        const int count = left < IKT_OCTREE_LEAF ? (int)left : IKT_OCTREE_LEAF;
        for (int c = 0; c < 3; c++)
            memcpy(b.own[c], m->tree.at[c] + first, (size_t)count * sizeof *b.own[c]);
        sum_bucket(&b, count, m->found + first);
    }
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

/* COLLECTIVE. Sums at the points of the own stretch, which go back to the owners of the rows. */
static void sum_points(const ikt_kernelsum *sums, const ikt_kernelsum_request *r, int k) {
    const barnes_hut *m = sums->self;
    const ikt_octree *tree = &m->tree;
#pragma omp parallel for num_threads(ikt_threads(sums->ctx)) schedule(dynamic, 16)
    for (int64_t i = 0; i < tree->count; i++)
        if (tree->node[i].is_leaf) sum_leaf(m, &tree->node[i]);
    const bool alone = sums->rows.ranks == 1; /* points stand in the order in which they left */
    for (int64_t s = 0; s < tree->n && !alone; s++)
        m->back[tree->row[s]] = m->found[s];
    if (!alone)
        ikt_shuffle_answer(sums->ctx, &m->stretches.shuffle, m->back, m->own, sizeof *m->own);
    const result *own = alone ? m->found : m->own;
    for (int64_t s = 0; s < sums->rows.count; s++)
        store(sums, r, k, m->stretches.order[s], &own[s]);
}

static void sum_targets(const ikt_kernelsum *sums, const ikt_kernelsum_request *r, int k) {
    const barnes_hut *m = sums->self;
#pragma omp parallel for num_threads(ikt_threads(sums->ctx)) schedule(dynamic, 16)
    for (int64_t i = 0; i < r->targets; i++) {
        bucket b;
        result found;
        b.of = m;
        for (int c = 0; c < 3; c++)
            b.own[c][0] = c < sums->q ? r->target[sums->q * i + c] : 0;
        sum_bucket(&b, 1, &found);
        store(sums, r, k, i, &found);
    }
}

/* LOCAL. Memory for results and charges of the points that are here now. */
static ikt_status claim(ikt_context *ctx, barnes_hut *m, bool charged, int64_t rows) {
    const int64_t n = m->tree.n > rows ? m->tree.n : rows, more = n + n / 16;
    if (n > m->room) {
        m->room = 0;
        ikt_free_all(&m->found, &m->back);
        IKT_TRY(ikt_alloc(ctx, &m->found, more, sizeof *m->found, "repulsion"));
        if (ikt_size(ctx) > 1)
            IKT_TRY(ikt_alloc(ctx, &m->back, more, sizeof *m->back, "repulsion"));
        m->room = more;
    }
    if (charged && n > m->charge_room) {
        m->charge_room = 0;
        ikt_free_all(&m->charge, &m->moved);
        IKT_TRY(ikt_alloc(ctx, &m->charge, more, sizeof *m->charge, "repulsion"));
        IKT_TRY(ikt_alloc(ctx, &m->moved, 2 * more, sizeof *m->moved, "repulsion"));
        m->charge_room = more;
    }
    return ikt_octree_claim_nodes(ctx, &m->tree, ikt_octree_count(&m->tree));
}

/* COLLECTIVE. The k-th set of charges, divided by its scale, in the tree. */
static ikt_status bring_charges(ikt_kernelsum *sums, const ikt_kernelsum_request *r, int k) {
    barnes_hut *m = sums->self;
    const double *charge = r->charge + k * sums->rows.count;
    float *leaving = m->moved, *arriving = m->moved + m->charge_room;
    for (int64_t s = 0; s < sums->rows.count; s++)
        leaving[s] = (float)(charge[m->stretches.order[s]] / sums->scale[k]);
    ikt_shuffle_send(sums->ctx, &m->stretches.shuffle, leaving, arriving, sizeof *leaving);
    for (int64_t s = 0; s < m->tree.n; s++)
        m->charge[s] = arriving[m->tree.row[s]];
    ikt_octree_charge(&m->tree, m->charge);
    return ikt_essential_charge(sums->ctx, &m->tree, m->charge, &m->essential);
}

static ikt_status evaluate(ikt_kernelsum *sums, const ikt_kernelsum_request *r) {
    barnes_hut *m = sums->self;
    ikt_context *ctx = sums->ctx;
    bool finite;
    IKT_TRY(ikt_stretches_deal(ctx, &sums->rows, sums->q, r->y, &m->stretches, &m->tree, &finite));
    if (!finite) {
        ikt_kernelsum_invalid(sums, r);
        return IKT_OK;
    }
    IKT_TRY(ikt_agree(ctx, claim(ctx, m, r->charge != NULL, sums->rows.count)));
    ikt_octree_build(&m->tree);
    IKT_TRY(
        ikt_essential_make(ctx, &m->tree, m->far, sums->q, r->target, r->targets, &m->essential));
    for (int k = 0; k < r->charges; k++) {
        if (r->charge) IKT_TRY(bring_charges(sums, r, k));
        if (r->target)
            sum_targets(sums, r, k);
        else
            sum_points(sums, r, k);
    }
    return IKT_OK;
}

static void destroy(ikt_kernelsum *sums) {
    barnes_hut *m = sums->self;
    ikt_stretches_destroy(&m->stretches);
    ikt_octree_destroy(&m->tree);
    ikt_essential_destroy(&m->essential);
    ikt_free_all(&m->found, &m->back, &m->own, &m->charge, &m->moved);
}

static void describe(const ikt_kernelsum *sums, char *text, size_t size) {
    const barnes_hut *m = sums->self;
    snprintf(text, size, "Barnes-Hut tree in %d dimensions, opened at %g, second moments", sums->q,
             sqrt((double)m->far.opening));
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
    m->far.opening = opening * opening;
    m->form = pair_form_of(sums->kernel);
    m->far.width = 1;
    if (sums->kernel.kind == IKT_KERNEL_TAILED) {
        const float alpha = m->form.alpha;
        /* As w' / w'' is to that of the Student kernel for light tails; heavy ones add up from
         * afar, and on a line forces cancel most. */
        m->far.opening *= (alpha < 1 ? (1 + alpha) / 2 : 2 / (1 + alpha)) / (sums->q == 1 ? 2 : 1);
        m->far.width = alpha;
    }
    IKT_TRY(ikt_stretches_create(ctx, &sums->rows, &m->stretches));
    IKT_TRY(ikt_octree_claim_points(ctx, &m->tree, sums->rows.count));
    IKT_TRY(ikt_essential_create(ctx, &m->essential));
    if (sums->rows.ranks == 1) return IKT_OK;
    return ikt_alloc(ctx, &m->own, sums->rows.count, sizeof *m->own, "repulsion");
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

/* Leaves are a quarter full or more on maps as they occur, and nodes few more than leaves. Of other
 * ranks' points a rank needs those at the surface of its own places, and few of them travel: taken
 * to be four times its own where there are so many, which small maps reach; in a large one they are
 * fewer. */
int64_t ikt_kernelsum_memory_tree(const ikt_rows *rows, int q, int charges, int threads) {
    const int64_t n = (rows->n + rows->ranks - 1) / rows->ranks;
    const int64_t others = rows->n - n < 4 * n ? rows->n - n : 4 * n;
    const int64_t of_node = (int64_t)(sizeof(ikt_octree_node) + sizeof(ikt_octree_moments));
    int64_t of_point = 2 * (8 + 4) + 12 + 4 + (int64_t)sizeof(result) + (charges > 0 ? 12 : 0);
    int64_t nodes = 7 * (n / 16 + 1) / 2, shared = 0;
    (void)q;
    if (rows->ranks > 1) { /* travellers; own points and nodes once more; what others sent */
        of_point += 2 * (int64_t)(sizeof(ikt_traveller) + sizeof(result)) + 16;
        nodes *= 2;
        shared = (charges > 0 ? 180 : 140) * others + 8192 * (int64_t)rows->ranks;
    }
    return (of_point * n + of_node * nodes) * 17 / 16 + shared + (int64_t)sizeof(barnes_hut) +
           threads * (int64_t)sizeof(bucket) + 8 * charges;
}
