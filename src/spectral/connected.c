/* Connected components of P. See connected.h. */
#include "spectral/connected.h"

#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/sort.h"
#include "dist/halo.h"

static const char purpose[] = "components";

/* Nodes are the own rows and the ghosts of a sparse P, or all rows of a dense one. */
typedef struct {
    ikt_context *ctx;
    ikt_rows rows;
    int64_t nodes, own; /* the own rows are nodes own .. own + rows.count - 1 */
    int64_t *joined;    /* [nodes] another node of the same set with a lower number, or itself */
    int64_t *label;     /* [nodes] the lowest global row that it is known to be joined to */
    ikt_halo *halo;     /* of a sparse P, else NULL */
} sets;

static int64_t root_of(int64_t *joined, int64_t node) {
    while (joined[node] != node) {
        joined[node] = joined[joined[node]];
        node = joined[node];
    }
    return node;
}

static void join(int64_t *joined, int64_t a, int64_t b) {
    a = root_of(joined, a);
    b = root_of(joined, b);
    if (a < b) joined[b] = a;
    if (b < a) joined[a] = b;
}

/* Joins what the own entries say. Entries between own rows stand in both halves of P. */
static void join_graph(const ikt_graph *graph, int64_t *joined) {
    const int64_t n = graph->rows.count;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t e = graph->forward.start[i]; e < graph->forward.start[i + 1]; e++)
            join(joined, i, graph->forward.column[e]);
        for (int64_t e = graph->reverse.start[i]; e < graph->reverse.start[i + 1]; e++)
            if (graph->reverse.column[e] >= n) join(joined, i, graph->reverse.column[e]);
    }
}

static void join_dense(const ikt_dense *dense, int64_t *joined) {
    for (int64_t i = 0; i < dense->rows.count; i++)
        for (int64_t j = 0; j < dense->rows.n; j++)
            if (dense->value[i * dense->stride + j] > 0) join(joined, dense->rows.first + i, j);
}

/* Brings every node the lowest label of its set; whether that changed one of them. */
static bool lower_labels(const sets *s) {
    bool is_changed = false;
    for (int64_t k = 0; k < s->nodes; k++) { /* roots gather */
        const int64_t root = root_of(s->joined, k);
        if (s->label[k] < s->label[root]) s->label[root] = s->label[k];
    }
    for (int64_t k = 0; k < s->nodes; k++) {
        const int64_t root = root_of(s->joined, k);
        is_changed = is_changed || s->label[root] != s->label[k];
        s->label[k] = s->label[root];
    }
    return is_changed;
}

/* COLLECTIVE. Labels of rows of other ranks. */
static void share_labels(const sets *s) {
    if (s->halo) {
        float *ghosts = (float *)(void *)(s->label + s->rows.count);
        ikt_halo_begin(s->halo, (const float *)(const void *)s->label, ghosts);
        ikt_halo_end(s->halo);
    } else {
        ikt_min_i64(s->ctx, s->label, s->nodes);
    }
}

/* COLLECTIVE. Components by the order of their lowest rows, of which every rank gets the list. */
static ikt_status number(const sets *s, ikt_components *out) {
    const int64_t *label = s->label + s->own;
    int64_t count = 0;
    for (int64_t i = 0; i < s->rows.count; i++)
        count += label[i] == s->rows.first + i;
    out->count = ikt_sum_one(s->ctx, count);
    IKT_ARRAYS(held, s->ctx, purpose);
    int64_t *mine = ikt_claim(&held, count, sizeof *mine);
    int64_t *all = ikt_claim(&held, out->count, sizeof *all);
    int64_t *counts = ikt_claim(&held, s->rows.ranks, sizeof *counts);
    out->of = ikt_claim_kept(&held, s->rows.count, sizeof *out->of);
    IKT_TRY(ikt_arrays_agree(&held));
    count = 0;
    for (int64_t i = 0; i < s->rows.count; i++)
        if (label[i] == s->rows.first + i) mine[count++] = label[i];
    ikt_gather_counts(s->ctx, count, counts);
    ikt_allgather(s->ctx, mine, count, sizeof *mine, all, counts);
    for (int64_t i = 0; i < s->rows.count; i++) {
        int64_t k;
        IKT_FIND_FIRST(k, 0, out->count, all[k] >= label[i]);
        out->of[i] = (int32_t)k;
    }
    return IKT_OK;
}

ikt_status ikt_components_find(ikt_context *ctx, const ikt_graph *graph, const ikt_dense *dense,
                               ikt_components *out) {
    *out = (ikt_components){.count = 0};
    sets s = {.ctx = ctx, .rows = graph ? graph->rows : dense->rows};
    s.nodes = graph ? s.rows.count + graph->n_ghost : s.rows.n;
    s.own = graph ? 0 : s.rows.first;
    IKT_ARRAYS(held, ctx, purpose);
    s.joined = ikt_claim(&held, s.nodes, sizeof *s.joined);
    s.label = ikt_claim(&held, s.nodes, sizeof *s.label);
    ikt_status st = ikt_arrays_agree(&held);
    if (st == IKT_OK && graph)
        st = ikt_halo_create(ctx, &s.rows, graph->ghost_row, graph->n_ghost,
                             sizeof *s.label / sizeof(float), &s.halo);
    if (st == IKT_OK) {
        for (int64_t k = 0; k < s.nodes; k++) {
            s.joined[k] = k;
            s.label[k] = graph ? ikt_graph_global(graph, (int32_t)k) : k;
        }
        if (graph)
            join_graph(graph, s.joined);
        else
            join_dense(dense, s.joined);
        while (ikt_sum_one(ctx, lower_labels(&s)) > 0)
            share_labels(&s);
        st = number(&s, out);
    }
    ikt_halo_destroy(&s.halo);
    return st;
}

void ikt_components_destroy(ikt_components *components) {
    ikt_free(&components->of);
}

int64_t ikt_components_bytes(int64_t n_local, int64_t boundary) {
    return (n_local + boundary) * 2 * (int64_t)sizeof(int64_t) + n_local * (int64_t)sizeof(int32_t);
}
