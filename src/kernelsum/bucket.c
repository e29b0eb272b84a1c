/* Sums at a few points that are near each other. See bucket.h. */
#include "kernelsum/bucket.h"

#include "kernelsum/pairs.h"

enum {
    CHUNK = 512,    /* entries of a list that are summed at a time, a multiple of LANES */
    FEW_POINTS = 4, /* of a node that are summed sooner than its moments */
    OF_NODE = 11    /* numbers of a node in a list: centre, mass, second moments, their trace */
};

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

static void begin_bucket(bucket *b, int64_t first, int64_t end) {
    b->first = first;
    b->count = (int)(end - first);
    b->n_nodes = b->n_points = 0;
    memset(b->sums, 0, sizeof b->sums);
    for (int c = 0; c < 3; c++) {
        b->low[c] = b->high[c] = b->tree->at[c][first];
        for (int64_t i = first; i < end; i++) {
            const float at = b->tree->at[c][i];
            b->low[c] = at < b->low[c] ? at : b->low[c];
            b->high[c] = at > b->high[c] ? at : b->high[c];
        }
    }
}

void ikt_bucket_sum_leaf(const ikt_octree *tree, ikt_isa isa, float opening,
                         const ikt_octree_node *leaf, ikt_bucket_result *out) {
    bucket b;
    b.tree = tree;
    b.isa = isa;
    b.opening = opening;
    for (int64_t first = leaf->first; first < leaf->end; first += IKT_OCTREE_LEAF) {
        const int64_t end =
            first + IKT_OCTREE_LEAF < leaf->end ? first + IKT_OCTREE_LEAF : leaf->end;
        begin_bucket(&b, first, end);
        walk(&b);
        for (int k = 0; k < b.count; k++) {
            ikt_bucket_result *r = &out[first - leaf->first + k];
            r->phi = pair_total(&b.sums[k].value);
            for (int c = 0; c < 3; c++)
                r->gradient[c] = (float)(-2 * pair_total(&b.sums[k].along[c]));
        }
    }
}

int64_t ikt_bucket_memory(void) {
    return (int64_t)sizeof(bucket);
}
