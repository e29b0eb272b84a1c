/* The locally essential tree. See essential.h. */
#include "kernelsum/essential.h"

#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/sort.h"

enum { BOXES = 64 /* of a rank, at least, where it has so many leaves */ };

/* A root on every rank. */
struct ikt_essential_root {
    uint64_t key; /* of its first point */
    ikt_octree_moments raw;
    float low[3], high[3];
    int64_t points;
};

/* A node as it travels. */
struct ikt_essential_node {
    float centre[3], mass, second[6], radius2;
    uint32_t next; /* the first node not below this one, counted from this one */
    uint32_t points;
    uint32_t has_points; /* a leaf whose points come along */
};

/* --- memory ----------------------------------------------------------------------------------- */

ikt_status ikt_essential_create(ikt_context *ctx, ikt_essential *out) {
    *out = (ikt_essential){0};
    if (ikt_size(ctx) == 1) return IKT_OK;
    const int64_t ranks = ikt_size(ctx);
    IKT_TRY(ikt_shuffle_create(ctx, "repulsion", &out->nodes));
    IKT_TRY(ikt_shuffle_create(ctx, "repulsion", &out->points));
    IKT_TRY(ikt_alloc(ctx, &out->root_counts, ranks, sizeof(int64_t), "repulsion"));
    return ikt_alloc(ctx, &out->box_counts, ranks, sizeof(int64_t), "repulsion");
}

void ikt_essential_destroy(ikt_essential *e) {
    ikt_shuffle_destroy(&e->nodes);
    ikt_shuffle_destroy(&e->points);
    ikt_free_all(&e->all_nodes, &e->all_moments);
    for (int c = 0; c < 3; c++)
        ikt_free(&e->all_at[c]);
    ikt_free_all(&e->all_charge, &e->sent_node, &e->sent_point, &e->leaving, &e->arriving,
                 &e->leaving_moments, &e->arriving_moments, &e->leaving_points, &e->arriving_points,
                 &e->root, &e->box, &e->root_counts, &e->box_counts);
}

/* LOCAL. Makes an array, at the address `array`, larger where it has room for fewer. */
static ikt_status grow(ikt_context *ctx, void *array, int64_t *room, int64_t need, size_t size) {
    void *now;
    memcpy(&now, array, sizeof now);
    if (now && need <= *room) return IKT_OK;
    ikt_free(array);
    *room = 0;
    IKT_TRY(ikt_alloc(ctx, array, need + need / 4, size, "repulsion"));
    *room = need + need / 4;
    return IKT_OK;
}

/* --- what ranks show each other --------------------------------------------------------------- */

static ikt_box box_of(const ikt_octree_node *node) {
    ikt_box box;
    memcpy(box.low, node->low, sizeof box.low);
    memcpy(box.high, node->high, sizeof box.high);
    return box;
}

/* Boxes around the own points, at most `most` (then false is to say that there were more): nodes of
 * no more than a share of them, and leaves. Only counts where `box` is NULL. */
static int64_t list_boxes(const ikt_octree *tree, ikt_box *box) {
    const int64_t share = tree->n / BOXES;
    int64_t count = 0;
    for (int64_t i = 0; i < tree->count;) {
        const ikt_octree_node *node = &tree->node[i];
        const bool whole = node->is_leaf || node->end - node->first <= share;
        if (whole && box) box[count] = box_of(node);
        count += whole;
        i = whole ? node->next : i + 1;
    }
    return count;
}

static ikt_box box_of_targets(int q, const float *target, int64_t targets) {
    ikt_box box = {{0, 0, 0}, {0, 0, 0}};
    for (int64_t i = 0; i < targets; i++)
        for (int c = 0; c < q; c++) {
            const float at = target[q * i + c];
            if (i == 0 || at < box.low[c]) box.low[c] = at;
            if (i == 0 || at > box.high[c]) box.high[c] = at;
        }
    return box;
}

static int64_t total_of(ikt_context *ctx, const int64_t *counts) {
    int64_t sum = 0;
    for (int r = 0; r < ikt_size(ctx); r++)
        sum += counts[r];
    return sum;
}

/* COLLECTIVE. Boxes and roots of all ranks. */
static ikt_status show(ikt_context *ctx, const ikt_octree *tree, int q, const float *target,
                       int64_t targets, ikt_essential *e) {
    const int64_t boxes = target ? targets > 0 : list_boxes(tree, NULL);
    ikt_gather_counts(ctx, boxes, e->box_counts);
    ikt_gather_counts(ctx, tree->roots, e->root_counts);
    e->roots = total_of(ctx, e->root_counts);
    IKT_ARRAYS(held, ctx, "repulsion");
    ikt_box *own = ikt_claim(&held, boxes, sizeof *own);
    ikt_essential_root *roots = ikt_claim(&held, tree->roots, sizeof *roots);
    if (held.status == IKT_OK)
        held.status =
            grow(ctx, &e->box, &e->boxes_room, total_of(ctx, e->box_counts), sizeof *e->box);
    if (held.status == IKT_OK)
        held.status = grow(ctx, &e->root, &e->roots_room, e->roots, sizeof *e->root);
    IKT_TRY(ikt_arrays_agree(&held));
    if (target && targets > 0)
        own[0] = box_of_targets(q, target, targets);
    else if (!target)
        list_boxes(tree, own);
    for (int r = 0; r < tree->roots; r++) {
        const ikt_octree_node *node = &tree->node[tree->root[r]];
        roots[r] = (ikt_essential_root){
            .key = tree->key[node->first], .raw = tree->raw[r], .points = node->end - node->first};
        memcpy(roots[r].low, node->low, sizeof node->low);
        memcpy(roots[r].high, node->high, sizeof node->high);
    }
    ikt_allgather(ctx, own, boxes, sizeof *own, e->box, e->box_counts);
    ikt_allgather(ctx, roots, tree->roots, sizeof *roots, e->root, e->root_counts);
    return IKT_OK;
}

/* --- what goes to whom ------------------------------------------------------------------------ */

/* Whether a node is far for all boxes; `near`: the one asked first, which is the last that it was
 * not far for. */
static bool is_far_for_all(ikt_far_rule rule, const ikt_octree_node *node, const ikt_box *box,
                           int64_t boxes, int64_t *near) {
    if (!ikt_far(rule, node, &box[*near])) return false;
    for (int64_t k = 0; k < boxes; k++)
        if (!ikt_far(rule, node, &box[k])) {
            *near = k;
            return false;
        }
    return true;
}

/* Nodes and points for a rank with such boxes, from node[0] and point[0] on; only counts them where
 * `node` is NULL. */
static void list_for(const ikt_octree *tree, ikt_far_rule rule, const ikt_box *box, int64_t boxes,
                     int32_t *node, int32_t *point, int64_t *nodes, int64_t *points) {
    int64_t near = 0;
    *nodes = *points = 0;
    for (int64_t i = 0; i < tree->count && boxes > 0;) {
        const ikt_octree_node *at = &tree->node[i];
        const bool whole =
            at->end - at->first > IKT_FEW_POINTS && is_far_for_all(rule, at, box, boxes, &near);
        /* One that is not opened is told apart by its sign. */
        if (node) node[*nodes] = (int32_t)(whole ? ~i : i);
        ++*nodes;
        for (int64_t s = at->first; !whole && at->is_leaf && s < at->end; s++, ++*points)
            if (node) point[*points] = (int32_t)s;
        i = whole || at->is_leaf ? at->next : i + 1;
    }
}

/* Nodes as they travel; `next` of each from the octree's, by those that follow. */
static void pack_nodes(const ikt_octree *tree, int32_t *sent, int64_t count,
                       ikt_essential_node *out) {
    for (int64_t k = 0; k < count; k++) {
        const bool whole = sent[k] < 0;
        const int64_t i = whole ? ~sent[k] : sent[k];
        const ikt_octree_node *node = &tree->node[i];
        out[k] = (ikt_essential_node){.mass = node->mass,
                                      .radius2 = node->radius2,
                                      .points = (uint32_t)(node->end - node->first),
                                      .has_points = !whole && node->is_leaf};
        memcpy(out[k].centre, node->centre, sizeof node->centre);
        memcpy(out[k].second, node->second, sizeof node->second);
        sent[k] = (int32_t)i;
    }
    for (int64_t k = 0; k < count; k++) { /* the sent ones ascend */
        int64_t to;
        IKT_FIND_FIRST(to, k + 1, count, sent[to] >= tree->node[sent[k]].next);
        out[k].next = (uint32_t)(to - k);
    }
}

/* COLLECTIVE. Nodes and points of other ranks that this one needs. */
static ikt_status trade(ikt_context *ctx, const ikt_octree *tree, ikt_far_rule rule,
                        ikt_essential *e) {
    const int ranks = ikt_size(ctx), me = ikt_rank(ctx);
    const ikt_box *box = e->box;
    for (int r = 0; r < ranks; box += e->box_counts[r++])
        list_for(tree, rule, box, r == me ? 0 : e->box_counts[r], NULL, NULL,
                 &e->nodes.send_counts[r], &e->points.send_counts[r]);
    ikt_shuffle_group(ctx, &e->nodes);
    ikt_shuffle_group(ctx, &e->points);
    ikt_shuffle_meet(ctx, &e->nodes);
    ikt_shuffle_meet(ctx, &e->points);
    int64_t room = e->leaving_room;
    ikt_status st = grow(ctx, &e->sent_node, &room, e->nodes.sent, sizeof *e->sent_node);
    if (st == IKT_OK)
        st = grow(ctx, &e->leaving, &e->leaving_room, e->nodes.sent, sizeof *e->leaving);
    room = e->leaving_points_room;
    if (st == IKT_OK) st = grow(ctx, &e->sent_point, &room, e->points.sent, sizeof *e->sent_point);
    if (st == IKT_OK)
        st = grow(ctx, &e->leaving_points, &e->leaving_points_room, e->points.sent,
                  3 * sizeof(float));
    if (st == IKT_OK)
        st = grow(ctx, &e->arriving, &e->arriving_room, e->nodes.received, sizeof *e->arriving);
    if (st == IKT_OK)
        st = grow(ctx, &e->arriving_points, &e->arriving_points_room, e->points.received,
                  3 * sizeof(float));
    IKT_TRY(ikt_agree(ctx, st));
    int64_t nodes = 0, points = 0;
    box = e->box;
    for (int r = 0; r < ranks; box += e->box_counts[r++]) {
        int64_t n, p;
        list_for(tree, rule, box, r == me ? 0 : e->box_counts[r], e->sent_node + nodes,
                 e->sent_point + points, &n, &p);
        pack_nodes(tree, e->sent_node + nodes, n, e->leaving + nodes);
        nodes += n;
        points += p;
    }
    for (int64_t k = 0; k < points; k++)
        for (int c = 0; c < 3; c++)
            e->leaving_points[3 * k + c] = tree->at[c][e->sent_point[k]];
    ikt_shuffle_send(ctx, &e->nodes, e->leaving, e->arriving, sizeof *e->leaving);
    ikt_shuffle_send(ctx, &e->points, e->leaving_points, e->arriving_points, 3 * sizeof(float));
    return IKT_OK;
}

/* --- the tree --------------------------------------------------------------------------------- */

/* Where the merge stands. */
typedef struct {
    const ikt_octree *tree;
    ikt_essential *e;
    bool charged;           /* only the moments are set, of charges */
    int64_t first, own;     /* own roots are first .. first + own - 1 of all */
    int64_t arrived, point; /* nodes and points of other ranks that are in the tree */
} merge;

/* The nodes of a root of this rank, or those that another rank sent of its root. */
static void graft(merge *m, int64_t root) {
    ikt_essential *e = m->e;
    const int64_t to = e->count;
    if (root >= m->first && root < m->first + m->own) {
        const int64_t from = m->tree->root[root - m->first],
                      count = m->tree->node[from].next - from;
        memcpy(e->all_moments + to, m->tree->moments + from,
               (size_t)count * sizeof *e->all_moments);
        for (int64_t k = 0; k < count && !m->charged; k++) {
            e->all_nodes[to + k] = m->tree->node[from + k];
            e->all_nodes[to + k].next += to - from;
        }
        e->count += count;
        return;
    }
    if (m->arrived == e->nodes.received) return; /* this rank has no places */
    const int64_t count = e->arriving[m->arrived].next;
    for (int64_t k = 0; k < count; k++, m->arrived++) {
        const ikt_essential_node *in = &e->arriving[m->arrived];
        if (m->charged) {
            e->all_moments[to + k] = e->arriving_moments[m->arrived];
            continue;
        }
        ikt_octree_node *node = &e->all_nodes[to + k];
        const int64_t first = in->has_points ? m->tree->n + m->point : 0;
        *node = (ikt_octree_node){.mass = in->mass,
                                  .radius2 = in->radius2,
                                  .is_leaf = in->has_points != 0,
                                  .first = first,
                                  .end = first + in->points,
                                  .next = to + k + in->next};
        memcpy(node->centre, in->centre, sizeof node->centre);
        memcpy(node->second, in->second, sizeof node->second);
        if (in->has_points) m->point += in->points;
    }
    e->count += count;
}

/* The nodes over the roots from .. to - 1 of all; `box`, `raw`: box and moments of all of them. */
static void join(merge *m, int64_t from, int64_t to, ikt_octree_node *box,
                 ikt_octree_moments *raw) {
    ikt_essential *e = m->e;
    if (to - from == 1) {
        *box = (ikt_octree_node){.first = 0, .end = e->root[from].points};
        memcpy(box->low, e->root[from].low, sizeof box->low);
        memcpy(box->high, e->root[from].high, sizeof box->high);
        *raw = e->root[from].raw;
        graft(m, from);
        return;
    }
    const uint64_t differ = e->root[from].key ^ e->root[to - 1].key;
    const int64_t me = e->count++;
    ikt_octree_node below[8];
    ikt_octree_moments part[8];
    int shift = 0, children = 0;
    while (differ >> (shift + 1) != 0)
        shift++;
    shift = shift / 3 * 3;
    for (int64_t at = from, end; at < to; at = end) {
        const uint64_t child = e->root[at].key >> shift;
        IKT_FIND_FIRST(end, at + 1, to, e->root[end].key >> shift != child);
        join(m, at, end, &below[children], &part[children]);
        children++;
    }
    *box = (ikt_octree_node){.first = 0,
                             .end = 0,
                             .low = {INFINITY, INFINITY, INFINITY},
                             .high = {-INFINITY, -INFINITY, -INFINITY}};
    *raw = (ikt_octree_moments){0};
    for (int c = children - 1; c >= 0; c--) { /* in the order of ikt_octree_build */
        ikt_octree_add(raw, &part[c]);
        ikt_octree_extend(box, &below[c]);
        box->end += below[c].end;
    }
    e->all_moments[me] = *raw;
    if (m->charged) {
        ikt_octree_shift(m->tree->origin, &e->all_nodes[me], &e->all_moments[me]);
        return;
    }
    ikt_octree_finish(m->tree->origin, box, raw);
    e->all_nodes[me] = *box;
    e->all_nodes[me].next = e->count;
}

static void merge_all(ikt_context *ctx, const ikt_octree *tree, ikt_essential *e, bool charged) {
    merge m = {.tree = tree, .e = e, .charged = charged, .own = tree->roots};
    ikt_octree_node box;
    ikt_octree_moments raw;
    for (int r = 0; r < ikt_rank(ctx); r++)
        m.first += e->root_counts[r];
    e->count = 0;
    join(&m, 0, e->roots, &box, &raw);
}

ikt_status ikt_essential_make(ikt_context *ctx, const ikt_octree *tree, ikt_far_rule rule, int q,
                              const float *target, int64_t targets, ikt_essential *e) {
    e->charge = NULL;
    if (ikt_size(ctx) == 1) {
        e->node = tree->node;
        e->moments = tree->moments;
        e->count = tree->count;
        for (int c = 0; c < 3; c++)
            e->at[c] = tree->at[c];
        return IKT_OK;
    }
    IKT_TRY(show(ctx, tree, q, target, targets, e));
    IKT_TRY(trade(ctx, tree, rule, e));
    const int64_t nodes = tree->count + e->nodes.received + e->roots;
    const int64_t points = tree->n + e->points.received;
    int64_t room = e->capacity;
    ikt_status st = grow(ctx, &e->all_nodes, &room, nodes, sizeof *e->all_nodes);
    if (st == IKT_OK) st = grow(ctx, &e->all_moments, &e->capacity, nodes, sizeof *e->all_moments);
    const int64_t had = e->room;
    for (int c = 0; c < 3 && st == IKT_OK; c++) {
        e->room = had;
        st = grow(ctx, &e->all_at[c], &e->room, points, sizeof *e->all_at[c]);
    }
    IKT_TRY(ikt_agree(ctx, st));
    for (int c = 0; c < 3; c++) {
        if (tree->n > 0) memcpy(e->all_at[c], tree->at[c], (size_t)tree->n * sizeof(float));
        for (int64_t k = 0; k < e->points.received; k++)
            e->all_at[c][tree->n + k] = e->arriving_points[3 * k + c];
        e->at[c] = e->all_at[c];
    }
    merge_all(ctx, tree, e, false);
    e->node = e->all_nodes;
    e->moments = e->all_moments;
    return IKT_OK;
}

ikt_status ikt_essential_charge(ikt_context *ctx, const ikt_octree *tree, const float *charge,
                                ikt_essential *e) {
    e->charge = charge;
    if (ikt_size(ctx) == 1) return IKT_OK;
    const int64_t points = tree->n + e->points.received;
    ikt_status st =
        grow(ctx, &e->all_charge, &e->charge_room, points + e->points.sent, sizeof *e->all_charge);
    if (st == IKT_OK)
        st = grow(ctx, &e->leaving_moments, &e->moments_out_room, e->nodes.sent,
                  sizeof *e->leaving_moments);
    if (st == IKT_OK)
        st = grow(ctx, &e->arriving_moments, &e->moments_in_room, e->nodes.received,
                  sizeof *e->arriving_moments);
    IKT_TRY(ikt_agree(ctx, st));
    for (int64_t k = 0; k < e->nodes.sent; k++)
        e->leaving_moments[k] = tree->moments[e->sent_node[k]];
    ikt_shuffle_send(ctx, &e->nodes, e->leaving_moments, e->arriving_moments,
                     sizeof *e->leaving_moments);
    float *leaving = e->all_charge + points;
    for (int64_t k = 0; k < e->points.sent; k++)
        leaving[k] = charge[e->sent_point[k]];
    if (tree->n > 0) memcpy(e->all_charge, charge, (size_t)tree->n * sizeof *charge);
    ikt_shuffle_send(ctx, &e->points, leaving, e->all_charge + tree->n, sizeof *leaving);
    e->charge = e->all_charge;
    /* The roots' moments are those of charges now; their order is that of before. */
    int64_t first = 0;
    for (int r = 0; r < ikt_rank(ctx); r++)
        first += e->root_counts[r];
    for (int r = 0; r < tree->roots; r++)
        e->root[first + r].raw = tree->raw[r];
    ikt_essential_root *own IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(st);
    IKT_TRY(ikt_alloc_all(ctx, &own, tree->roots, sizeof *own, "repulsion"));
    if (tree->roots > 0) memcpy(own, e->root + first, (size_t)tree->roots * sizeof *own);
    ikt_allgather(ctx, own, tree->roots, sizeof *own, e->root, e->root_counts);
    merge_all(ctx, tree, e, true);
    return IKT_OK;
}
