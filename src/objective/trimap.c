/* TriMap as an objective. See trimap.h. */
#include "objective/trimap.h"

#include <math.h>
#include <stdio.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/timer.h"
#include "kernelsum/replica.h"
#include "sampled/fixed_triplets.h"

/* On a quarter of the gradient, of weights whose mean is 1. From 0.3 to 2.4 small sets get no
 * worse, and rows of large ones arrive within 400 iterations (docs/trimap.md). */
static const double learning_rate = 1.2;

static ikt_status resolve(ikt_context *ctx, const ikt_objective_kind *kind, int64_t n, int q,
                          ikt_objective_options *options) {
    (void)kind, (void)q;
    return ikt_triplet_resolve(ctx, &options->own.triplet, n);
}

static int64_t lists(const ikt_objective_options *options, bool has_distances, int64_t *least) {
    const ikt_triplet_settings *s = &options->own.triplet;
    *least = s->neighbours;
    if (has_distances && s->scale_to > *least) *least = s->scale_to;
    return ikt_triplet_lists(s, has_distances);
}

/* COLLECTIVE. By what any two rows are compared. */
static ikt_status compare(ikt_context *ctx, const ikt_objective_inputs *in, ikt_similarity *out) {
    const ikt_triplet_settings *s = &in->options.own.triplet;
    const int64_t from = s->scale_from, to = s->scale_to;
    if (in->joined) return ikt_similarity_of_graph(ctx, &in->rows, in->joined, from, to, out);
    if (!in->features) return ikt_similarity_of_codes(ctx, &in->rows, in->codes, out);
    if (in->features->metric)
        return ikt_similarity_of_rows(ctx, &in->rows, in->neighbours, in->features, from, to, out);
    return ikt_similarity_of_matrix(ctx, &in->rows, in->neighbours, in->features, from, to, out);
}

const char *ikt_trimap_compared_by(const ikt_objective_inputs *inputs) {
    if (inputs->joined) return "the pairs that the graph joins";
    if (!inputs->features)
        return "the Isolation kernel (affinity.kind=knn takes distances, as the paper does)";
    return inputs->features->metric ? "distances" : "the matrix of all pairs";
}

ikt_status ikt_trimap_begin(ikt_context *ctx, const ikt_objective_inputs *inputs,
                            ikt_similarity *similarity, ikt_neighbours *near) {
    ikt_status st = compare(ctx, inputs, similarity);
    if (st == IKT_OK)
        st = ikt_similarity_nearest(ctx, similarity, inputs->neighbours,
                                    inputs->options.own.triplet.neighbours, near);
    if (inputs->neighbours) ikt_neighbours_destroy(inputs->neighbours);
    return st;
}

/* The objective is that of the way in which triplets are drawn. */
static const ikt_objective_kind *kind_of(const ikt_objective_options *options) {
    return options->own.triplet.triplets == IKT_TRIPLETS_FIXED ? &ikt_trimap_fixed
                                                               : &ikt_trimap_pool;
}

static ikt_status create(ikt_context *ctx, const ikt_objective_inputs *inputs, ikt_objective *out) {
    out->kind = kind_of(&inputs->options);
    return out->kind->create(ctx, inputs, out);
}

static int64_t memory(const ikt_objective_kind *kind, const ikt_objective_shape *shape) {
    (void)kind;
    return kind_of(&shape->options)->memory(kind, shape);
}

ikt_status ikt_trimap_check_start(ikt_context *ctx, const ikt_rows *rows, int q, const float *y) {
    if (ikt_map_width(ctx, y, q, rows->count) > 0) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "all rows start in one place, where the gradient of TriMap is zero: choose "
                    "another layout.init");
}

float ikt_trimap_scale(const ikt_triplet_settings *s, double mean) {
    const double least = 1 / (double)(s->neighbours * s->outliers + s->random);
    return (float)(fmax(least, fmin(1, fmin(s->t, s->t_prime - 1))) / mean);
}

void ikt_trimap_limit(const ikt_objective_inputs *inputs, double mean, float *a, float *b) {
    const ikt_triplet_settings *s = &inputs->options.own.triplet;
    const double most = 20 * mean * (double)(s->neighbours * s->outliers + s->random);
    const int64_t q = inputs->q;
    if (s->t >= 1 && s->t_prime >= 2) return;
    for (int64_t i = 0; i < inputs->rows.count; i++) {
        double square = 0;
        for (int64_t c = q * i; c < q * (i + 1); c++) {
            const double sum = (double)a[c] + (b ? (double)b[c] : 0);
            square += sum * sum;
        }
        if (!(square > most * most)) continue;
        const double factor = most / sqrt(square);
        for (int64_t c = q * i; c < q * (i + 1); c++) {
            a[c] = (float)(factor * (double)a[c]);
            if (b) b[c] = (float)(factor * (double)b[c]);
        }
    }
}

static void shrink(void *settings, int64_t n) {
    ikt_triplet_settings *own = settings;
    if (own->pool_rows > n) own->pool_rows = IKT_AUTO_INT;
}

static const ikt_idle idle[] = {
    {"pool_rows", "triplets", "fixed", 0, "trimap.triplets=pool"},
    {"redraw", "triplets", "fixed", 0, "trimap.triplets=pool"},
    {"far_rows", "triplets", "fixed", 0, "trimap.triplets=pool"},
    {"scale_from", NULL, NULL, IKT_FACT_MEASURES_ROWS,
     "an affinity.kind other than isolation, or input.graph with graph.values=distances"},
    {"scale_to", NULL, NULL, IKT_FACT_MEASURES_ROWS,
     "an affinity.kind other than isolation, or input.graph with graph.values=distances"},
    {NULL, NULL, NULL, 0, NULL}};

const ikt_objective_kind ikt_objective_trimap = {IKT_TRIMAP_KIND,
                                                 .section = &ikt_triplet_section,
                                                 .keys = offsetof(ikt_objective_own, triplet),
                                                 .shrink = shrink,
                                                 .idle = idle,
                                                 .places = IKT_PLACES_BY_TRIPLETS,
                                                 .needs = IKT_NEEDS_NEIGHBOURS | IKT_NEEDS_FEATURES,
                                                 .frees_neighbours = true,
                                                 .learning_rate = learning_rate,
                                                 .iterations = 400,
                                                 .momentum = 0.5,
                                                 .start_deviation = 0.01,
                                                 .resolve = resolve,
                                                 .lists = lists,
                                                 .create = create,
                                                 .memory = memory};

/* TriMap with triplets that are drawn once (sampled/fixed_triplets.h): the reference.
 *
 * Each row adds up, in double precision, what all triplets that it takes part in do to it, in one
 * order: as i, as j, as k, each by ascending (i, place). The value is the mean loss over all of
 * them. */

/* Rows from which on a second thread is worth waking. */
static const int64_t parallel_rows = 256;

typedef struct {
    ikt_context *ctx;
    ikt_objective_inputs inputs;
    ikt_fixed_triplets triplets;
    ikt_replica all; /* positions of all rows */
    float *y;        /* [own rows * q] */
    float *force;    /* [own rows * q] */
} fixed_state;

static ikt_status fixed_create(ikt_context *ctx, const ikt_objective_inputs *inputs,
                               ikt_objective *out) {
    const int64_t coordinates = inputs->q * inputs->rows.count;
    ikt_similarity similarity IKT_AT_END(ikt_similarity_destroy) = {.codes = NULL};
    ikt_neighbours near IKT_AT_END(ikt_neighbours_destroy) = {0};
    fixed_state *t = NULL;
    IKT_TRY(ikt_trimap_begin(ctx, inputs, &similarity, &near));
    IKT_TRY(ikt_alloc_all(ctx, &t, 1, sizeof *t, "triplets"));
    out->self = t;
    *t = (fixed_state){.ctx = ctx, .inputs = *inputs};
    IKT_ARRAYS(held, ctx, "layout");
    out->y = t->y = ikt_claim_kept(&held, coordinates, sizeof *t->y);
    t->force = ikt_claim_kept(&held, coordinates, sizeof *t->force);
    if (held.status == IKT_OK)
        held.status = ikt_replica_create(ctx, &inputs->rows, inputs->q, &t->all);
    IKT_TRY(ikt_arrays_agree(&held));
    return ikt_fixed_triplets_draw(ctx, &similarity, &near, &inputs->options.own.triplet,
                                   inputs->options.seed, &t->triplets);
}

static void fixed_destroy(ikt_objective *objective) {
    fixed_state *t = objective->self;
    if (!t) return;
    ikt_fixed_triplets_destroy(&t->triplets);
    ikt_replica_destroy(&t->all);
    ikt_free_all(&t->y, &t->force, &t);
}

/* y_a - y_b; returns its square. */
static double between(const fixed_state *t, int64_t a, int64_t b,
                      double along[IKT_DIMENSIONS_MOST]) {
    double square = 0;
    for (int c = 0; c < t->inputs.q; c++) {
        along[c] = (double)t->all.at[c][a] - (double)t->all.at[c][b];
        square += along[c] * along[c];
    }
    return square;
}

/* What one triplet does to row r, which has that role in it; returns its loss. */
static double add_triplet(const fixed_state *t, ikt_triplet_role role, int64_t r,
                          const ikt_triplet_entry *entry, double sum[IKT_DIMENSIONS_MOST]) {
    const ikt_triplet_settings *s = &t->inputs.options.own.triplet;
    const ikt_triplet_rule rule = {s->t, s->t_prime};
    const int64_t i = role == IKT_AS_ANCHOR ? r : entry->first;
    const int64_t j = role == IKT_AS_ANCHOR ? entry->first
                      : role == IKT_AS_NEAR ? r
                                            : entry->second;
    const int64_t k = role == IKT_AS_FAR ? r : entry->second;
    double u[IKT_DIMENSIONS_MOST], v[IKT_DIMENSIONS_MOST];
    const double u_square = between(t, i, j, u), v_square = between(t, i, k, v);
    const ikt_triplet_terms terms = ikt_triplet(&rule, u_square, v_square);
    const double w = (double)entry->weight;
    for (int c = 0; c < t->inputs.q; c++) {
        const double pull = w * terms.c_j * u[c], push = w * terms.c_k * v[c];
        sum[c] += role == IKT_AS_ANCHOR ? pull - push : role == IKT_AS_NEAR ? -pull : push;
    }
    return w * terms.loss;
}

/* The force on own row i; returns the loss of the triplets that it is the anchor of. */
static double add_row(const fixed_state *t, int64_t i) {
    const int64_t row = t->inputs.rows.first + i;
    double sum[IKT_DIMENSIONS_MOST] = {0}, loss = 0;
    for (int role = 0; role < IKT_TRIPLET_ROLES; role++) {
        const ikt_triplet_list *list = &t->triplets.as[role];
        for (int64_t e = list->start[i]; e < list->start[i + 1]; e++) {
            const double one = add_triplet(t, (ikt_triplet_role)role, row, list->entry + e, sum);
            if (role == IKT_AS_ANCHOR) loss += one;
        }
    }
    for (int c = 0; c < t->inputs.q; c++)
        t->force[t->inputs.q * i + c] = (float)sum[c];
    return loss;
}

static ikt_status fixed_evaluate(ikt_objective *objective, int64_t iteration, bool want_value,
                                 ikt_gradient *gradient, ikt_objective_terms *terms) {
    const fixed_state *t = objective->self;
    const ikt_rows *rows = &t->inputs.rows;
    ikt_exact_sum sum = {{0}, 0, 0};
    if (iteration == 0) IKT_TRY(ikt_trimap_check_start(t->ctx, rows, t->inputs.q, t->y));
    ikt_stage_begin(t->ctx, IKT_STAGE_HALO);
    ikt_replica_fill(t->ctx, rows, t->y, &t->all);
    ikt_stage_end(t->ctx, IKT_STAGE_HALO);
    ikt_stage_begin(t->ctx, IKT_STAGE_REPULSION);
#pragma omp parallel for reduction(exact                                                           \
                                   : sum) schedule(static)                                         \
    num_threads(ikt_threads(t->ctx)) if (rows->count >= parallel_rows)
    for (int64_t i = 0; i < rows->count; i++)
        ikt_exact_sum_add(&sum, add_row(t, i));
    ikt_stage_end(t->ctx, IKT_STAGE_REPULSION);
    ikt_trimap_limit(&t->inputs, t->triplets.mean, t->force, NULL);
    if (want_value) ikt_exact_sum_reduce(t->ctx, &sum, 1);
    *gradient = (ikt_gradient){
        t->force, t->force, ikt_trimap_scale(&t->inputs.options.own.triplet, t->triplets.mean), 0};
    *terms = (ikt_objective_terms){
        .value = want_value ? ikt_exact_sum_value(&sum) / (double)t->triplets.drawn : NAN};
    return IKT_OK;
}

static void fixed_describe(const ikt_objective *objective, char *text, size_t size) {
    const fixed_state *t = objective->self;
    const ikt_triplet_settings *s = &t->inputs.options.own.triplet;
    snprintf(text, size, "%lld triplets a row, drawn once, by %s",
             (long long)(s->neighbours * s->outliers + s->random),
             ikt_trimap_compared_by(&t->inputs));
}

static int64_t fixed_memory(const ikt_objective_kind *kind, const ikt_objective_shape *shape) {
    (void)kind;
    const int64_t n_local = shape->rows.count, q = shape->q;
    const int64_t row_bytes =
        shape->columns > 0 ? 4 * shape->columns + 4 : ikt_codes_memory(1, shape->psi, shape->t);
    return ikt_fixed_triplets_memory(n_local, &shape->options.own.triplet) +
           ikt_replica_memory(&shape->rows, shape->q) +
           n_local * (2 * q * (int64_t)sizeof(float) + row_bytes) +
           shape->options.own.triplet.neighbours * 8 * n_local;
}

const ikt_objective_kind ikt_trimap_fixed = {IKT_TRIMAP_KIND,
                                             .create = fixed_create,
                                             .destroy = fixed_destroy,
                                             .evaluate = fixed_evaluate,
                                             .describe = fixed_describe,
                                             .memory = fixed_memory};
