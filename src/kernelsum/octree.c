/* The tree of boxes. See octree.h. */
#include "kernelsum/octree.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/sort.h"

enum { RADIX_BITS = 11, RADIX = 1 << RADIX_BITS };

/* --- memory ----------------------------------------------------------------------------------- */

ikt_status ikt_octree_claim_points(ikt_context *ctx, ikt_octree *tree, int64_t points) {
    ikt_arrays *held = &tree->held_points;
    if (points <= tree->room) return IKT_OK;
    ikt_arrays_free(held);
    tree->room = 0;
    points += points / 16;
    *held = ikt_arrays_of(ctx, "repulsion");
    tree->key = ikt_claim(held, points, sizeof *tree->key);
    tree->spare_key = ikt_claim(held, points, sizeof *tree->spare_key);
    tree->row = ikt_claim(held, points, sizeof *tree->row);
    tree->spare_row = ikt_claim(held, points, sizeof *tree->spare_row);
    for (int c = 0; c < 3; c++)
        tree->at[c] = ikt_claim(held, points, sizeof *tree->at[c]);
    IKT_TRY(held->status);
    tree->room = points;
    return IKT_OK;
}

ikt_status ikt_octree_claim_nodes(ikt_context *ctx, ikt_octree *tree, int64_t nodes) {
    ikt_arrays *held = &tree->held_nodes;
    if (nodes <= tree->capacity) return IKT_OK;
    ikt_arrays_free(held);
    tree->capacity = 0;
    nodes += nodes / 4;
    *held = ikt_arrays_of(ctx, "repulsion");
    tree->node = ikt_claim(held, nodes, sizeof *tree->node);
    tree->moments = ikt_claim(held, nodes, sizeof *tree->moments);
    IKT_TRY(held->status);
    tree->capacity = nodes;
    return IKT_OK;
}

void ikt_octree_destroy(ikt_octree *tree) {
    ikt_arrays_free(&tree->held_points);
    ikt_arrays_free(&tree->held_nodes);
}

/* --- the order -------------------------------------------------------------------------------- */

/* Puts two zeros before each of the 21 bits. */
static uint64_t spread_bits(uint64_t x) {
    x = (x | x << 32) & 0x1f00000000ffff;
    x = (x | x << 16) & 0x1f0000ff0000ff;
    x = (x | x << 8) & 0x100f00f00f00f00f;
    x = (x | x << 4) & 0x10c30c30c30c30c3;
    x = (x | x << 2) & 0x1249249249249249;
    return x;
}

/* LOCAL, pure. The key of a place, q coordinates, in a cube of that side about the tree's origin.
 */
static uint64_t ikt_octree_key(const ikt_octree *tree, int q, double side, const float *place) {
    const double cells = (double)(1 << IKT_OCTREE_BITS), scale = side > 0 ? cells / side : 0;
    uint64_t key = 0;
    for (int c = 0; c < q; c++) {
        double along = ((double)place[c] - tree->origin[c]) * scale + cells / 2;
        along = fmin(fmax(along, 0), cells - 1);
        key |= spread_bits((uint64_t)along) << c;
    }
    return key;
}

/* LOCAL. Sorts key[n], and row[n] with it; equal keys keep their order. */
static void ikt_octree_sort(ikt_octree *tree) {
    for (int shift = 0; shift < 3 * IKT_OCTREE_BITS && tree->n > 0; shift += RADIX_BITS) {
        int64_t place[RADIX] = {0}, sum = 0;
        for (int64_t i = 0; i < tree->n; i++)
            place[tree->key[i] >> shift & (RADIX - 1)]++;
        if (place[tree->key[0] >> shift & (RADIX - 1)] == tree->n) continue; /* the same in all */
        for (int digit = 0; digit < RADIX; digit++) {
            const int64_t count = place[digit];
            place[digit] = sum;
            sum += count;
        }
        for (int64_t i = 0; i < tree->n; i++) {
            const int64_t to = place[tree->key[i] >> shift & (RADIX - 1)]++;
            tree->spare_key[to] = tree->key[i];
            tree->spare_row[to] = tree->row[i];
        }
        uint64_t *key = tree->key;
        uint32_t *row = tree->row;
        tree->key = tree->spare_key;
        tree->row = tree->spare_row;
        tree->spare_key = key;
        tree->spare_row = row;
    }
}

/* --- the nodes -------------------------------------------------------------------------------- */

/* Nodes of a stretch, without what comes from those below; or only counts them. */
static void add_nodes(ikt_octree *tree, int64_t first, int64_t end, int64_t parent, bool write) {
    const int64_t me = tree->count++;
    const uint64_t differ = tree->key[first] ^ tree->key[end - 1];
    const bool leaf = end - first <= IKT_OCTREE_LEAF || differ == 0;
    int shift = 0;
    if (write) {
        tree->moments[me] = (ikt_octree_moments){0};
        tree->node[me] = (ikt_octree_node){.is_leaf = leaf,
                                           .first = first,
                                           .end = end,
                                           .parent = parent,
                                           .low = {INFINITY, INFINITY, INFINITY},
                                           .high = {-INFINITY, -INFINITY, -INFINITY}};
    }
    while (!leaf && differ >> (shift + 1) != 0)
        shift++;
    shift = shift / 3 * 3; /* lowest of the first three bits that differ: of the eight children */
    for (int64_t at = first, to; !leaf && at < end; at = to) {
        const uint64_t child = tree->key[at] >> shift;
        IKT_FIND_FIRST(to, at + 1, end, tree->key[to] >> shift != child);
        add_nodes(tree, at, to, me, write);
    }
    if (write) tree->node[me].next = tree->count;
}

/* The boxes of the stretch within one of the given level that begins at `box`; of them those with
 * points, which are first .. end - 1. */
static void add_boxes(ikt_octree *tree, int level, uint64_t box, int64_t first, int64_t end,
                      bool write) {
    const uint64_t size = UINT64_C(1) << 3 * level, after = box + size;
    if (first == end || after <= tree->low || box >= tree->high) return;
    if (box >= tree->low && after <= tree->high) {
        tree->root[tree->roots++] = tree->count;
        add_nodes(tree, first, end, -1, write);
        return;
    }
    for (int child = 0; child < 8; child++) {
        const uint64_t begin = box + (uint64_t)child * (size / 8);
        int64_t to;
        IKT_FIND_FIRST(to, first, end, tree->key[to] >= begin + size / 8);
        add_boxes(tree, level - 1, begin, first, to, write);
        first = to;
    }
}

static void add_forest(ikt_octree *tree, bool write) {
    tree->count = 0;
    tree->roots = 0;
    add_boxes(tree, IKT_OCTREE_BITS, 0, 0, tree->n, write);
}

int64_t ikt_octree_count(ikt_octree *tree) {
    add_forest(tree, false);
    return tree->count;
}

void ikt_octree_add(ikt_octree_moments *sum, const ikt_octree_moments *m) {
    sum->mass += m->mass;
    for (int c = 0; c < 3; c++)
        sum->first[c] += m->first[c];
    for (int k = 0; k < 6; k++)
        sum->second[k] += m->second[k];
}

/* Moments of a leaf's points, or of their charges, about the middle of the cube. */
static void sum_leaf(const ikt_octree *tree, const ikt_octree_node *node, const float *charge,
                     ikt_octree_moments *m) {
    for (int64_t i = node->first; i < node->end; i++) {
        const double amount = charge ? (double)charge[i] : 1;
        double place[3];
        m->mass += amount;
        for (int c = 0; c < 3; c++) {
            place[c] = (double)tree->at[c][i] - tree->origin[c];
            m->first[c] += amount * place[c];
        }
        for (int k = 0; k < 6; k++)
            m->second[k] += amount * place[ikt_octree_axis_a[k]] * place[ikt_octree_axis_b[k]];
    }
}

/* The box around a leaf's points. */
static void bound_leaf(const ikt_octree *tree, ikt_octree_node *node) {
    for (int64_t i = node->first; i < node->end; i++)
        for (int c = 0; c < 3; c++) {
            const float at = tree->at[c][i];
            node->low[c] = at < node->low[c] ? at : node->low[c];
            node->high[c] = at > node->high[c] ? at : node->high[c];
        }
}

void ikt_octree_finish(const double origin[3], ikt_octree_node *node, const ikt_octree_moments *m) {
    double off[3], radius2 = 0;
    node->mass = (float)m->mass;
    for (int c = 0; c < 3; c++) {
        off[c] = m->first[c] / m->mass;
        node->centre[c] = (float)(off[c] + origin[c]);
        const double centre = (double)node->centre[c];
        const double reach = fmax(centre - (double)node->low[c], (double)node->high[c] - centre);
        radius2 += reach * reach;
    }
    node->radius2 = (float)radius2;
    for (int k = 0; k < 6; k++)
        node->second[k] =
            (float)(m->second[k] - m->mass * off[ikt_octree_axis_a[k]] * off[ikt_octree_axis_b[k]]);
}

void ikt_octree_shift(const double origin[3], const ikt_octree_node *node, ikt_octree_moments *m) {
    double off[3];
    for (int c = 0; c < 3; c++)
        off[c] = (double)node->centre[c] - origin[c];
    for (int k = 0; k < 6; k++) {
        const int a = ikt_octree_axis_a[k], b = ikt_octree_axis_b[k];
        m->second[k] += m->mass * off[a] * off[b] - m->first[a] * off[b] - off[a] * m->first[b];
    }
    for (int c = 0; c < 3; c++)
        m->first[c] -= m->mass * off[c];
}

void ikt_octree_extend(ikt_octree_node *node, const ikt_octree_node *by) {
    for (int c = 0; c < 3; c++) {
        node->low[c] = by->low[c] < node->low[c] ? by->low[c] : node->low[c];
        node->high[c] = by->high[c] > node->high[c] ? by->high[c] : node->high[c];
    }
}

void ikt_octree_build(ikt_octree *tree) {
    add_forest(tree, true);
    for (int64_t i = tree->count - 1; i >= 0; i--) { /* those below come first */
        ikt_octree_node *node = &tree->node[i];
        if (node->is_leaf) {
            bound_leaf(tree, node);
            sum_leaf(tree, node, NULL, &tree->moments[i]);
        }
        ikt_octree_finish(tree->origin, node, &tree->moments[i]);
        if (node->parent < 0) continue;
        ikt_octree_add(&tree->moments[node->parent], &tree->moments[i]);
        ikt_octree_extend(&tree->node[node->parent], node);
    }
    for (int r = 0; r < tree->roots; r++)
        tree->raw[r] = tree->moments[tree->root[r]];
}

void ikt_octree_charge(ikt_octree *tree, const float *charge) {
    int root = tree->roots;
    if (tree->count == 0) return; /* a rank without rows has no moments either */
    memset(tree->moments, 0, (size_t)tree->count * sizeof *tree->moments);
    for (int64_t i = tree->count - 1; i >= 0; i--) { /* those below come first */
        const ikt_octree_node *node = &tree->node[i];
        ikt_octree_moments *m = &tree->moments[i];
        if (node->is_leaf) sum_leaf(tree, node, charge, m);
        if (node->parent < 0)
            tree->raw[--root] = *m;
        else
            ikt_octree_add(&tree->moments[node->parent], m);
        ikt_octree_shift(tree->origin, node, m);
    }
}

/* --- points dealt out by place ---------------------------------------------------------------- */

enum { SAMPLES = 256, LEVELS = IKT_OCTREE_BITS + 1 };

ikt_status ikt_stretches_create(ikt_context *ctx, const ikt_rows *rows, ikt_stretches *out) {
    const int64_t ranks = rows->ranks, n = rows->count;
    *out = (ikt_stretches){.held = ikt_arrays_of(ctx, "repulsion")};
    IKT_TRY(ikt_shuffle_create(ctx, "repulsion", &out->shuffle));
    out->order = ikt_claim(&out->held, n, sizeof *out->order);
    out->begin = ikt_claim(&out->held, ranks + 1, sizeof *out->begin);
    if (ranks == 1) { /* all stay */
        out->shuffle.send_counts[0] = out->shuffle.recv_counts[0] = n;
        out->shuffle.sent = out->shuffle.received = n;
        return out->held.status;
    }
    out->leaving = ikt_claim(&out->held, n, sizeof *out->leaving);
    out->sample = ikt_claim(&out->held, SAMPLES * (ranks + 1), sizeof *out->sample);
    out->samples = ikt_claim(&out->held, ranks, sizeof *out->samples);
    out->around = ikt_claim(&out->held, ranks * LEVELS, sizeof *out->around);
    return out->held.status;
}

void ikt_stretches_destroy(ikt_stretches *stretches) {
    ikt_shuffle_destroy(&stretches->shuffle);
    ikt_arrays_free(&stretches->held);
    ikt_free(&stretches->arriving);
}

/* COLLECTIVE. The cube around all points: the tree's origin; its side, or -1 where a coordinate is
 * not finite. */
static double find_cube(ikt_context *ctx, const ikt_rows *rows, int q, const float *y,
                        ikt_octree *tree) {
    double least[7]; /* of the coordinates, of their opposites, and -1 for one that is not finite */
    double side = 0;
    for (int k = 0; k < 7; k++)
        least[k] = k < 6 ? INFINITY : 0;
    for (int64_t i = 0; i < rows->count; i++)
        for (int c = 0; c < q; c++) {
            const double at = (double)y[q * i + c];
            if (!isfinite(at)) least[6] = -1;
            least[c] = at < least[c] ? at : least[c];
            least[3 + c] = -at < least[3 + c] ? -at : least[3 + c];
        }
    ikt_min_f64(ctx, least, 7);
    for (int c = 0; c < 3; c++) {
        tree->origin[c] = c < q ? 0.5 * (least[c] - least[3 + c]) : 0;
        side = c < q ? fmax(side, -least[3 + c] - least[c]) : side;
    }
    return least[6] < 0 ? -1 : side;
}

/* Points of the sorted keys below one. */
static int64_t below(const ikt_octree *tree, uint64_t key) {
    int64_t at;
    IKT_FIND_FIRST(at, 0, tree->n, tree->key[at] >= key);
    return at;
}

/* COLLECTIVE. Where the stretches of all ranks begin, from the sorted keys of the own rows. */
static void find_beginnings(ikt_context *ctx, const ikt_octree *tree, ikt_stretches *s) {
    const int ranks = ikt_size(ctx);
    uint64_t *own = s->sample + (int64_t)SAMPLES * ranks;
    const int64_t shown = tree->n < SAMPLES ? tree->n : SAMPLES;
    int64_t all = 0;
    for (int64_t k = 0; k < shown; k++)
        own[k] = tree->key[k * tree->n / shown];
    ikt_gather_counts(ctx, shown, s->samples);
    for (int r = 0; r < ranks; r++)
        all += s->samples[r];
    ikt_allgather(ctx, own, shown, sizeof *own, s->sample, s->samples);
    ikt_sort_i64((int64_t *)s->sample, all); /* keys have 63 bits */
    s->begin[0] = 0;
    s->begin[ranks] = IKT_OCTREE_KEYS;
    for (int r = 1; r < ranks; r++) {
        s->begin[r] = s->sample[all * r / ranks];
        for (int level = 0; level < LEVELS; level++) {
            const uint64_t size = UINT64_C(1) << 3 * level, box = s->begin[r] & ~(size - 1);
            s->around[r * LEVELS + level] = below(tree, box + size) - below(tree, box);
        }
    }
    ikt_sum_i64(ctx, s->around + LEVELS, (int64_t)(ranks - 1) * LEVELS);
    for (int r = 1; r < ranks;
         r++) { /* the largest box that a leaf may be, or the smallest there is */
        int level = 0;
        while (level + 1 < LEVELS && s->around[r * LEVELS + level + 1] <= IKT_OCTREE_LEAF)
            level++;
        s->begin[r] &= ~((UINT64_C(1) << 3 * level) - 1);
    }
}

/* COLLECTIVE. The points there, where they are sorted again: ties keep the order of ranks, and so
 * that of rows. */
static ikt_status travel(ikt_context *ctx, int q, const float *y, ikt_stretches *s,
                         ikt_octree *tree) {
    for (int r = 0; r < ikt_size(ctx); r++)
        s->shuffle.send_counts[r] = below(tree, s->begin[r + 1]) - below(tree, s->begin[r]);
    for (int64_t k = 0; k < tree->n; k++) {
        s->leaving[k].key = tree->key[k];
        for (int c = 0; c < 3; c++)
            s->leaving[k].at[c] = c < q ? y[q * (int64_t)s->order[k] + c] : 0;
    }
    ikt_shuffle_group(ctx, &s->shuffle);
    ikt_shuffle_meet(ctx, &s->shuffle);
    const int64_t n = s->shuffle.received;
    ikt_status st = ikt_octree_claim_points(ctx, tree, n);
    if (st == IKT_OK && n > s->room) {
        ikt_free(&s->arriving);
        s->room = 0;
        st = ikt_alloc(ctx, &s->arriving, n + n / 16, sizeof *s->arriving, "repulsion");
        if (st == IKT_OK) s->room = n + n / 16;
    }
    IKT_TRY(ikt_agree(ctx, st));
    ikt_shuffle_send(ctx, &s->shuffle, s->leaving, s->arriving, sizeof *s->leaving);
    tree->n = n;
    for (int64_t i = 0; i < n; i++) {
        tree->key[i] = s->arriving[i].key;
        tree->row[i] = (uint32_t)i;
    }
    ikt_octree_sort(tree);
    for (int c = 0; c < 3; c++)
        for (int64_t i = 0; i < n; i++)
            tree->at[c][i] = s->arriving[tree->row[i]].at[c];
    return IKT_OK;
}

ikt_status ikt_stretches_deal(ikt_context *ctx, const ikt_rows *rows, int q, const float *y,
                              ikt_stretches *s, ikt_octree *tree, bool *finite) {
    const int ranks = rows->ranks, me = ikt_rank(ctx);
    const double side = find_cube(ctx, rows, q, y, tree);
    *finite = side >= 0;
    if (!*finite) return IKT_OK;
    tree->n = rows->count;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < tree->n; i++) {
        tree->key[i] = ikt_octree_key(tree, q, side, y + q * i);
        tree->row[i] = (uint32_t)i;
    }
    ikt_octree_sort(tree);
    if (tree->n > 0) memcpy(s->order, tree->row, (size_t)tree->n * sizeof *s->order);
    tree->low = 0;
    tree->high = IKT_OCTREE_KEYS;
    if (ranks > 1) {
        find_beginnings(ctx, tree, s);
        tree->low = s->begin[me];
        tree->high = s->begin[me + 1];
        return travel(ctx, q, y, s, tree);
    }
    for (int64_t i = 0; i < tree->n; i++)
        tree->row[i] = (uint32_t)i;
    for (int c = 0; c < 3; c++)
        for (int64_t i = 0; i < tree->n; i++)
            tree->at[c][i] = c < q ? y[q * (int64_t)s->order[i] + c] : 0;
    return IKT_OK;
}
