/* Products with the normalised affinities. See normalised.h. */
#include "spectral/normalised.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/sort.h"
#include "dist/halo.h"

enum {
    WIDE = 16,
    NARROW = 8, /* columns that are summed up together */
    ROWS = 128  /* that a thread takes at a time */
};

static const char purpose[] = "eigenvectors";

struct ikt_normalised {
    ikt_context *ctx;
    const ikt_graph *graph;
    const ikt_dense *dense;
    const ikt_components *components;
    ikt_rows rows;
    int64_t m;
    double *scale;   /* 1 / sqrt(d_i) of the own rows, then of the ghosts; 0 for empty rows */
    double *part;    /* [rows.count] sqrt(d_i / sum of d over the component) */
    double *foreign; /* rows of the block: those of the ghosts, or all, scaled, of a dense P */
    ikt_halo *halo;  /* of a sparse P: `columns` doubles a row */
    int64_t *counts; /* [ranks] rows of each, of a dense P */
    ikt_arrays held;
};

/* --- one pass over P -------------------------------------------------------------------------- */

typedef struct {
    const ikt_normalised *n;
    const ikt_block *x;
    double alpha, beta, gamma;
    ikt_block *y;
    int64_t first, last; /* own rows */
} job;

typedef double vector __attribute__((vector_size(NARROW * sizeof(double))));

#define INLINE static inline __attribute__((always_inline))

INLINE void add_scaled(double weight, const double *x, int vectors, vector *sum) {
    for (int v = 0; v < vectors; v++) {
        vector value;
        memcpy(&value, x + v * NARROW, sizeof value);
        sum[v] += weight * value;
    }
}

/* The entries of one row in one half of a sparse P. */
INLINE void add_entries(const job *j, const ikt_csr *half, int64_t i, int64_t column, int vectors,
                        vector *sum) {
    const int64_t m = j->n->m, own = j->n->rows.count;
    for (int64_t e = half->start[i]; e < half->start[i + 1]; e++) {
        const int64_t k = half->column[e];
        const double *x = k < own ? j->x->v + k * m : j->n->foreign + (k - own) * m;
        add_scaled((double)ikt_csr_value(half, e) * j->n->scale[k], x + column, vectors, sum);
    }
}

/* Some columns of one row: alpha N x + beta x + gamma y. A row of x may be read beyond its end,
 * where other rows or spare memory stand; what comes of that is not written. */
INLINE void some_columns(const job *j, int64_t i, int64_t column, int vectors) {
    const int64_t m = j->n->m, width = vectors * NARROW;
    const int64_t count = m - column < width ? m - column : width;
    vector sum[WIDE / NARROW];
    double total[WIDE];
    memset(sum, 0, sizeof sum);
    if (j->n->graph) {
        add_entries(j, &j->n->graph->forward, i, column, vectors, sum);
        add_entries(j, &j->n->graph->reverse, i, column, vectors, sum);
    } else {
        const float *row = j->n->dense->value + i * j->n->dense->stride;
        for (int64_t k = 0; k < j->n->rows.n; k++)
            add_scaled((double)row[k], j->n->foreign + k * m + column, vectors, sum);
    }
    memcpy(total, sum, sizeof total);
    const double alpha = j->alpha * j->n->scale[i];
    const double *x = j->x->v + i * m + column;
    double *y = j->y->v + i * m + column;
    for (int64_t c = 0; c < count; c++) {
        double value = alpha * total[c] + j->beta * x[c];
        if (j->gamma != 0) value += j->gamma * y[c];
        y[c] = value;
    }
}

INLINE void some_rows(const job *j) {
    for (int64_t i = j->first; i < j->last; i++)
        for (int64_t column = 0; column < j->n->m; column += WIDE)
            if (j->n->m - column > NARROW)
                some_columns(j, i, column, WIDE / NARROW);
            else
                some_columns(j, i, column, 1);
}

IKT_FOR_EACH_ISA(kernel_for, some_rows, (const job *j), (j))

/* --- rows of other ranks ---------------------------------------------------------------------- */

/* COLLECTIVE. Rows of the block that the own rows of P meet, in `foreign`. */
static void fetch(ikt_normalised *n, const ikt_block *x) {
    if (n->halo) {
        ikt_halo_begin(n->halo, (const float *)(const void *)x->v, (float *)(void *)n->foreign);
        ikt_halo_end(n->halo);
        return;
    }
    double *own = n->foreign + n->rows.first * n->m;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(n->ctx))
    for (int64_t i = 0; i < n->rows.count; i++)
        for (int64_t c = 0; c < n->m; c++)
            own[i * n->m + c] = n->scale[i] * x->v[i * n->m + c];
    ikt_allgather(n->ctx, own, n->rows.count, (size_t)n->m * sizeof *own, n->foreign, n->counts);
}

static ikt_status apply(void *self, const ikt_block *x, double alpha, double beta, double gamma,
                        ikt_block *y) {
    ikt_normalised *n = self;
    void (*kernel)(const job *) = kernel_for(ikt_cpu_isa());
    assert(x->m == n->m && y->m == n->m);
    fetch(n, x);
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(n->ctx))
    for (int64_t first = 0; first < n->rows.count; first += ROWS) {
        const int64_t last = first + ROWS < n->rows.count ? first + ROWS : n->rows.count;
        const job rows = {n, x, alpha, beta, gamma, y, first, last};
        kernel(&rows);
    }
    return IKT_OK;
}

/* --- eigenvectors that are known -------------------------------------------------------------- */

/* Sums over the rows of each component, of numbers of size 1 at most in all, as integers. */
static const double one = 0x1p61;

/* COLLECTIVE. sqrt(d_i / sum over the component) of the own rows, whose d_i `part` holds. An empty
 * row is a component of its own, with the eigenvalue 0 of L by agreement. */
static ikt_status set_parts(ikt_normalised *n) {
    int64_t *sum IKT_AT_END(ikt_free) = NULL;
    const int32_t *of = n->components->of;
    IKT_TRY(ikt_alloc_all(n->ctx, &sum, n->components->count, sizeof *sum, purpose));
    for (int64_t i = 0; i < n->rows.count; i++)
        sum[of[i]] += llrint(n->part[i] * one);
    ikt_sum_i64(n->ctx, sum, n->components->count);
    for (int64_t i = 0; i < n->rows.count; i++)
        n->part[i] = sum[of[i]] > 0 ? sqrt(n->part[i] / ((double)sum[of[i]] / one)) : 1;
    return IKT_OK;
}

/* What the columns have along each known vector, in units of unit[k], added up by threads.
 *   sum   [threads * components * m] */
static void find_along(const ikt_normalised *n, const ikt_block *v, const double *unit,
                       int64_t *sum) {
    const int64_t m = v->m, entries = n->components->count * m;
#pragma omp parallel num_threads(ikt_threads(n->ctx))
    {
        int64_t *mine = sum + omp_get_thread_num() * entries;
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n->rows.count; i++) {
            int64_t *to = mine + n->components->of[i] * m;
            for (int64_t k = 0; k < m; k++)
                to[k] += llrint(n->part[i] * v->v[i * m + k] * unit[k]);
        }
#pragma omp for schedule(static)
        for (int64_t e = 0; e < entries; e++)
            for (int t = 1; t < omp_get_num_threads(); t++)
                sum[e] += sum[t * entries + e];
    }
}

/* COLLECTIVE. v_k -= sum over components of t (t' v_k): for ikt_deflation. A sum is at most the
 * norm of the column, from which its unit comes. */
static ikt_status remove_known(void *self, ikt_block *v) {
    const ikt_normalised *n = self;
    const int64_t m = v->m, entries = n->components->count * m;
    IKT_ARRAYS(held, n->ctx, purpose);
    int64_t *sum = ikt_claim(&held, ikt_threads(n->ctx) * entries, sizeof *sum);
    double *unit = ikt_claim(&held, m, sizeof *unit);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_block_norms(v, unit));
    for (int64_t k = 0; k < m; k++) {
        int exponent;
        frexp(unit[k], &exponent);
        unit[k] = unit[k] > 0x1p-900 ? ldexp(one, -exponent) : 0;
    }
    find_along(n, v, unit, sum);
    ikt_sum_i64(n->ctx, sum, entries);
#pragma omp parallel for schedule(static) num_threads(ikt_threads(n->ctx))
    for (int64_t i = 0; i < n->rows.count; i++) {
        const int64_t *along = sum + n->components->of[i] * m;
        for (int64_t k = 0; k < m; k++)
            if (unit[k] > 0) v->v[i * m + k] -= n->part[i] * ((double)along[k] / unit[k]);
    }
    return IKT_OK;
}

ikt_operator ikt_normalised_operator(ikt_normalised *normalised) {
    return (ikt_operator){normalised, apply, {remove_known, normalised}, -1};
}

/* --- the operator ----------------------------------------------------------------------------- */

static double sum_of(const ikt_csr *half, int64_t i) {
    double sum = 0;
    for (int64_t e = half->start[i]; e < half->start[i + 1]; e++)
        sum += (double)ikt_csr_value(half, e);
    return sum;
}

/* COLLECTIVE. Degrees of the own rows in `part`, and the scales of these and of the ghosts. */
static ikt_status set_scales(ikt_normalised *n) {
    const int64_t count = n->rows.count;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(n->ctx))
    for (int64_t i = 0; i < count; i++) {
        double degree = 0;
        if (n->graph) {
            degree = sum_of(&n->graph->forward, i) + sum_of(&n->graph->reverse, i);
        } else {
            for (int64_t k = 0; k < n->rows.n; k++)
                degree += (double)n->dense->value[i * n->dense->stride + k];
        }
        n->part[i] = degree;
        n->scale[i] = degree > 0 ? 1 / sqrt(degree) : 0;
    }
    if (n->dense) return IKT_OK;
    ikt_halo *halo IKT_AT_END(ikt_halo_destroy) = NULL;
    IKT_TRY(ikt_halo_create(n->ctx, &n->rows, n->graph->ghost_row, n->graph->n_ghost,
                            sizeof(double) / sizeof(float), &halo));
    ikt_halo_begin(halo, (const float *)(const void *)n->scale,
                   (float *)(void *)(n->scale + count));
    ikt_halo_end(halo);
    return IKT_OK;
}

/* COLLECTIVE. All but the exchange of boundary rows. */
static ikt_status allocate(ikt_normalised *n) {
    const int64_t ghosts = n->graph ? n->graph->n_ghost : 0, count = n->rows.count;
    const int64_t foreign = (n->graph ? ghosts : n->rows.n) * n->m + WIDE;
    n->scale = ikt_claim(&n->held, count + ghosts, sizeof *n->scale);
    n->part = ikt_claim(&n->held, count, sizeof *n->part);
    n->counts = ikt_claim(&n->held, n->rows.ranks, sizeof *n->counts);
    n->foreign = ikt_claim(&n->held, foreign, sizeof *n->foreign);
    IKT_TRY(ikt_arrays_agree(&n->held));
    for (int r = 0; r < n->rows.ranks; r++)
        n->counts[r] = ikt_rows_count(&n->rows, r);
    return IKT_OK;
}

ikt_status ikt_normalised_create(ikt_context *ctx, const ikt_graph *graph, const ikt_dense *dense,
                                 const ikt_components *components, int64_t columns,
                                 ikt_normalised **out) {
    ikt_normalised *made IKT_AT_END(ikt_normalised_destroy) = NULL;
    *out = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &made, 1, sizeof *made, purpose));
    ikt_normalised *n = made;
    *n = (ikt_normalised){.ctx = ctx,
                          .graph = graph,
                          .dense = dense,
                          .components = components,
                          .rows = graph ? graph->rows : dense->rows,
                          .m = columns,
                          .held = ikt_arrays_of(ctx, purpose)};
    IKT_TRY(allocate(n));
    if (graph)
        IKT_TRY(ikt_halo_create(ctx, &n->rows, graph->ghost_row, graph->n_ghost,
                                (int)columns * (int)(sizeof(double) / sizeof(float)), &n->halo));
    IKT_TRY(set_scales(n));
    IKT_TRY(set_parts(n));
    return ikt_give(out, made);
}

void ikt_normalised_destroy(ikt_normalised **normalised) {
    ikt_normalised *n = *normalised;
    if (!n) return;
    ikt_arrays_free(&n->held);
    ikt_halo_destroy(&n->halo);
    ikt_free(normalised);
}

int64_t ikt_normalised_bytes(int64_t n_local, int64_t boundary, int64_t columns) {
    return (2 * n_local + boundary + 2 * (boundary * columns + WIDE)) * (int64_t)sizeof(double);
}

/* --- connected components of P ---------------------------------------------------------------- */

static const char components_purpose[] = "components";

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
    IKT_ARRAYS(held, s->ctx, components_purpose);
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
    IKT_ARRAYS(held, ctx, components_purpose);
    s.joined = ikt_claim(&held, s.nodes, sizeof *s.joined);
    s.label = ikt_claim(&held, s.nodes, sizeof *s.label);
    IKT_TRY(ikt_arrays_agree(&held));
    ikt_halo *halo IKT_AT_END(ikt_halo_destroy) = NULL;
    if (graph)
        IKT_TRY(ikt_halo_create(ctx, &s.rows, graph->ghost_row, graph->n_ghost,
                                sizeof *s.label / sizeof(float), &halo));
    s.halo = halo;
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
    return number(&s, out);
}

void ikt_components_destroy(ikt_components *components) {
    ikt_free(&components->of);
}

int64_t ikt_components_bytes(int64_t n_local, int64_t boundary) {
    return (n_local + boundary) * 2 * (int64_t)sizeof(int64_t) + n_local * (int64_t)sizeof(int32_t);
}
