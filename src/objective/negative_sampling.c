/* clang-format off */
/* Attraction along P and repulsion from rows drawn at random. See negative_sampling.h.
 *
 * With w_ij = 1 / (1 + a d_ij^(2 b)) the similarity in the map, p_i = sum_j p_ij, and M negative
 * samples an edge,
 *     E = sum_ij p_ij (-log w_ij) + m sum_i p_i mean_{k != i} (-gamma log(1 - w_ik)).
 * Forces, with u = y_i - y_j and the softening e that the programs have:
 *     attraction of i  2 sum_j p_ij clip(2 b (1 - w_ij) / d^2 u)
 *     repulsion of i   -m mean_k (p_i + p_k) clip(2 b gamma w_ik / (e + d^2) u)
 * The second holds i as a row and i as the sample of others, in one sum: nothing is scattered.
 *
 * Method: the mean over k is taken over far rows of a pool (sampled/pool.h), with n / (n - 1) for k
 * = i, which adds nothing: without bias. The published programs move two rows at a time, an edge
 * after the other, with a rate that falls from 1 to 0; here all rows move at once, each by its own
 * gradient divided by 2 p_i, that is to about the mean of where its neighbours pull it, times a
 * rate that falls likewise. A row goes at most `clip` along an axis at rate 1.
 * Advantage: an order of magnitude less work for a pass over the edges, no random access but to
 * neighbours, the same bits on any ranks and threads; the step asks nothing of the size of P or of
 * n. Disadvantage: a batch has less noise than steps edge by edge, which help to disentangle a map
 * in the beginning. */
/* clang-format on */
#include "objective/negative_sampling.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/sort.h"
#include "base/timer.h"
#include "dist/halo.h"
#include "objective/attraction.h"

enum { VALUE_FAR = 8 /* rows of the pool that a tile meets for the value */ };

/* What the settings make of a kind. */
typedef struct {
    double a, b;
    double samples; /* m */
    const ikt_negative_kind *kind;
    ikt_negative_settings sample;
    double pull;          /* what a force of the attraction counts, */
    ikt_pair_weight pair; /* which is this */
} rule;

typedef struct {
    ikt_context *ctx;
    ikt_objective_inputs inputs;
    rule rule;
    float *y;       /* [(n_local + n_ghost) * q] own positions, then those of ghosts */
    float *force;   /* [n_local * q] attraction, then the gradient */
    float *repel;   /* [n_local * q] */
    float *weight;  /* [n_local] p_i */
    double entropy; /* sum of p log p, which the value of t-SNE's pairs has and E has not */
    ikt_halo *halo;
    ikt_pool pool;  /* of the forces, */
    ikt_pool fixed; /* and of the value: drawn once, so that values can be compared */
    float *all;     /* [pool.size * (q + 1)] */
    ikt_arrays held;
} state;

const ikt_negative_settings *ikt_negatives_of(const ikt_objective_kind *kind,
                                              const ikt_objective_own *own) {
    return (const ikt_negative_settings *)((const char *)own + kind->keys);
}

/* The kernel of t-SNE has pairs of a division each where the curve takes logarithms: 2 p w u is
 * twice their force, and no axis of it comes near the cut. */
static rule rule_of(const ikt_objective_kind *kind, const ikt_objective_options *options) {
    const ikt_negative_kind *of = kind->negatives;
    const ikt_negative_settings *s = ikt_negatives_of(kind, &options->own);
    const double samples = of->share * (double)s->negatives;
    rule r = {.a = 1,
              .b = 1,
              .samples = samples,
              .kind = of,
              .sample = *s,
              .pull = 4,
              .pair = {.kind = IKT_PAIR_TSNE}};
    if (!of->has_curve) return r;
    r.a = s->a;
    r.b = s->b;
    r.pull = 2;
    r.pair = (ikt_pair_weight){IKT_PAIR_CURVE, (float)log(s->a), (float)s->b, (float)of->clip};
    return r;
}

/* --- choices ---------------------------------------------------------------------------------- */

enum { USUAL_POOL = 4096 };

ikt_status ikt_negatives_resolve(ikt_context *ctx, const ikt_objective_kind *kind, int64_t n, int q,
                                 ikt_objective_options *options) {
    ikt_negative_settings *s = (void *)((char *)&options->own + kind->keys);
    const char *section = kind->section->name;
    (void)q;
    if (s->pool == IKT_AUTO_INT) s->pool = ikt_smaller(n, USUAL_POOL);
    if (s->pool > n)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s.pool = %lld, but there are only %lld rows to draw: choose at most "
                        "that, or auto",
                        section, (long long)s->pool, (long long)n);
    if (s->far_rows == IKT_AUTO_INT) s->far_rows = ikt_smaller(kind->negatives->usual_far, s->pool);
    if (s->far_rows <= s->pool) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "%s.far_rows = %lld, but the pool has only %lld rows: choose at most that",
                    section, (long long)s->far_rows, (long long)s->pool);
}

/* Fewer rows have a pool of their own. */
void ikt_negatives_shrink(void *settings, int64_t n) {
    ikt_negative_settings *own = settings;
    (void)n;
    own->pool = own->far_rows = IKT_AUTO_INT;
}

const ikt_rule ikt_negatives_rules[] = {
    {{IKT_NOT(IKT_FACT_SPARSE)},
     "affinity.support = {affinity.support} does not go with layout.objective={layout.objective}, "
     "which goes along the entries of a sparse P: take affinity.support=sparse",
     IKT_ERR_USAGE},
    {{0}, NULL, IKT_OK}};

/* --- making and destroying -------------------------------------------------------------------- */

/* LOCAL. */
static ikt_status allocate(ikt_context *ctx, const ikt_objective_inputs *inputs, state *t) {
    const int64_t n_local = inputs->rows.count, rows = n_local + inputs->graph->n_ghost;
    const int64_t size = t->rule.sample.pool, q = inputs->q;
    IKT_TRY(ikt_objective_check_rows(ctx, rows, inputs->q));
    t->y = ikt_claim(&t->held, q * rows, sizeof *t->y);
    t->force = ikt_claim(&t->held, q * n_local, sizeof *t->force);
    t->repel = ikt_claim(&t->held, q * n_local, sizeof *t->repel);
    t->weight = ikt_claim(&t->held, n_local, sizeof *t->weight);
    t->all = ikt_claim(&t->held, size * (q + 1), sizeof *t->all);
    IKT_TRY(t->held.status);
    IKT_TRY(ikt_pool_create(ctx, &inputs->rows, size, t->rule.sample.redraw, inputs->options.seed,
                            IKT_RNG_SAMPLED, &t->pool));
    return ikt_pool_create(ctx, &inputs->rows, size, INT64_MAX, inputs->options.seed, IKT_RNG_VALUE,
                           &t->fixed);
}

/* The sum of a row's entries in one part of P; p log p of each is added to `entropy`. */
static double sum_row(const ikt_csr *part, int64_t i, ikt_exact_sum *entropy) {
    double sum = 0;
    for (int64_t e = part->start[i]; e < part->start[i + 1]; e++) {
        const double p = (double)ikt_csr_value(part, e);
        sum += p;
        if (p > 0) ikt_exact_sum_add(entropy, p * log(p));
    }
    return sum;
}

/* COLLECTIVE. Sums over P that stay as they are: t->weight, and t->entropy. */
static void sum_rows(state *t) {
    const ikt_graph *graph = t->inputs.graph;
    ikt_exact_sum entropy = {{0}, 0, 0};
#pragma omp parallel for reduction(exact                                                           \
                                   : entropy) schedule(dynamic, 1024)                              \
    num_threads(ikt_threads(t->ctx))
    for (int64_t i = 0; i < t->inputs.rows.count; i++)
        t->weight[i] =
            (float)(sum_row(&graph->forward, i, &entropy) + sum_row(&graph->reverse, i, &entropy));
    ikt_exact_sum_reduce(t->ctx, &entropy, 1);
    t->entropy = ikt_exact_sum_value(&entropy);
}

ikt_status ikt_negatives_create(ikt_context *ctx, const ikt_objective_inputs *inputs,
                                ikt_objective *out) {
    const ikt_graph *graph = inputs->graph;
    state *t;
    if (!graph || inputs->whole) /* settings are checked before; a program may give any P */
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.objective=%s goes along the entries of a sparse P: take "
                        "affinity.support=sparse",
                        out->kind->name);
    IKT_TRY(ikt_alloc_all(ctx, &t, 1, sizeof *t, "layout"));
    out->self = t;
    *t = (state){.ctx = ctx,
                 .inputs = *inputs,
                 .rule = rule_of(out->kind, &inputs->options),
                 .held = ikt_arrays_of(ctx, "layout")};
    IKT_TRY(ikt_agree(ctx, allocate(ctx, inputs, t)));
    out->y = t->y;
    ikt_pool_draw(&t->fixed, 0);
    sum_rows(t);
    return ikt_halo_create(ctx, &graph->rows, graph->ghost_row, graph->n_ghost, inputs->q,
                           &t->halo);
}

void ikt_negatives_destroy(ikt_objective *objective) {
    state *t = objective->self;
    if (!t) return;
    ikt_halo_destroy(&t->halo);
    ikt_pool_destroy(&t->pool);
    ikt_pool_destroy(&t->fixed);
    ikt_arrays_free(&t->held);
    ikt_free(&t);
}

void ikt_negatives_describe(const ikt_objective *objective, char *text, size_t size) {
    const rule *r = &((const state *)objective->self)->rule;
    snprintf(text, size,
             "%lld negative samples an edge, from %lld far rows of a pool of %lld; a = %.4g, b = "
             "%.4g",
             (long long)r->sample.negatives, (long long)r->sample.far_rows,
             (long long)r->sample.pool, r->a, r->b);
}

int64_t ikt_negatives_memory(const ikt_objective_kind *kind, const ikt_objective_shape *shape) {
    const rule r = rule_of(kind, &shape->options);
    const int64_t rows = shape->rows.count, q = shape->q, f = sizeof(float);
    return f * (q * (2 * rows + shape->boundary) + rows) /* forces, ghosts, weights */
           + f * (q + 1) * r.sample.pool + 2 * ikt_pool_memory(r.sample.pool, shape->rows.ranks);
}

/* --- the pool --------------------------------------------------------------------------------- */

/* COLLECTIVE. Position and weight of the rows of a pool, on all ranks, into t->all. */
static void gather(state *t, const ikt_pool *pool) {
    const int q = t->inputs.q;
    for (int64_t a = 0; a < pool->count; a++) {
        const int64_t i = pool->row[pool->first + a] - pool->rows.first;
        float *to = t->all + (pool->first + a) * (q + 1);
        memcpy(to, t->y + q * i, (size_t)q * sizeof *to);
        to[q] = t->weight[i];
    }
    ikt_pool_gather(pool, (size_t)(q + 1) * sizeof *t->all, t->all);
}

/* A tile and its far rows. */
typedef struct {
    int64_t begin, end; /* own rows, local numbers */
    int64_t lane;       /* of the first */
    float at[IKT_DIMENSIONS_MOST][IKT_TILE], weight[IKT_TILE], sum[IKT_DIMENSIONS_MOST][IKT_TILE];
} tile_rows;

static void load_tile(const state *t, int64_t tile, tile_rows *out) {
    const int q = t->inputs.q;
    ikt_pool_tile_rows(&t->inputs.rows, tile, &out->begin, &out->end);
    out->lane = (t->inputs.rows.first + out->begin) % IKT_TILE;
    memset(out->at, 0, sizeof out->at); /* lanes of other ranks' rows are computed, and dropped */
    memset(out->weight, 0, sizeof out->weight);
    for (int64_t i = out->begin; i < out->end; i++) {
        const int64_t l = out->lane + i - out->begin;
        for (int c = 0; c < q; c++)
            out->at[c][l] = t->y[q * i + c];
        out->weight[l] = t->weight[i];
    }
}

/* The far rows of a tile, one behind the other.
 *   place   [f] work space
 *   far     [f * (q + 1)] receives them */
static void load_far(const state *t, const ikt_pool *pool, int64_t tile, int64_t f, int32_t *place,
                     float *far) {
    const int width = t->inputs.q + 1;
    ikt_pool_far(pool, tile, f, place);
    for (int64_t k = 0; k < f; k++)
        memcpy(far + k * width, t->all + place[k] * (int64_t)width, (size_t)width * sizeof *far);
}

/* Work space of the far rows of a tile, for each thread. */
typedef struct {
    int32_t *place;
    float *far;
} far_space;

static ikt_status far_space_create(const state *t, int64_t f, far_space *out) {
    const int64_t threads = ikt_threads(t->ctx);
    *out = (far_space){NULL, NULL};
    IKT_TRY(ikt_alloc(t->ctx, &out->place, threads * f, sizeof *out->place, "pool"));
    return ikt_alloc(t->ctx, &out->far, threads * f * (t->inputs.q + 1), sizeof *out->far, "pool");
}

static void far_space_destroy(far_space *space) {
    ikt_free_all(&space->place, &space->far);
}

/* --- gradient --------------------------------------------------------------------------------- */

/* LOCAL. The mean over far rows of what the own rows take from them, times m n / (n - 1). */
static void repel_all(const state *t, const far_space *space) {
    const rule *r = &t->rule;
    const int q = t->inputs.q;
    const int64_t f = r->sample.far_rows, n = t->inputs.rows.n;
    const float scale = (float)(r->samples * (double)n / ((double)(n - 1) * (double)f));
    const ikt_tiles_span tiles = ikt_pool_tiles(&t->inputs.rows);
    ikt_negatives_kernel *kernel = ikt_negatives_kernel_for(ikt_cpu_isa());
#pragma omp parallel for schedule(dynamic, 64) num_threads(ikt_threads(t->ctx))
    for (int64_t tile = tiles.first; tile < tiles.last; tile++) {
        const int64_t thread = omp_get_thread_num();
        float *far = space->far + thread * f * (q + 1);
        tile_rows rows;
        load_tile(t, tile, &rows);
        load_far(t, &t->pool, tile, f, space->place + thread * f, far);
        const ikt_negatives_job job = {
            .q = q,
            .force = {.log_a = (float)log(r->a),
                      .b = (float)r->b,
                      .strength = (float)(2 * r->b * r->sample.repulsion),
                      .soft = (float)r->kind->soft,
                      .clip = (float)r->kind->clip},
            .at = {rows.at[0], rows.at[1], rows.at[2]},
            .weight = rows.weight,
            .far = f,
            .far_at = far,
            .sum = {rows.sum[0], rows.sum[1], rows.sum[2]}};
        kernel(&job);
        for (int64_t i = rows.begin; i < rows.end; i++)
            for (int c = 0; c < q; c++)
                t->repel[q * i + c] = scale * rows.sum[c][rows.lane + i - rows.begin];
    }
}

/* LOCAL. From both forces to the gradient: divided by 2 p_i, and no more than `clip` along an axis;
 * four times that, as a learning rate is defined on a quarter of it. */
static void combine(const state *t) {
    const int q = t->inputs.q;
    const float most = (float)t->rule.kind->clip, pull = (float)t->rule.pull;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(t->ctx))
    for (int64_t i = 0; i < t->inputs.rows.count; i++) {
        const float whole = 2 * t->weight[i];
        for (int64_t e = q * i; e < q * (i + 1); e++) {
            const float along = (pull * t->force[e] + t->repel[e]) / whole;
            t->force[e] = fmaxf(-most, fminf(most, along));
        }
    }
}

/* --- value ------------------------------------------------------------------------------------ */

/* -log(1 - w) at the distance that the softened force has. */
static double repulsion_value(const rule *r, double square) {
    const double l = r->b * log(square + r->kind->soft) + log(r->a);
    return l > 0 ? log1p(exp(-l)) : log1p(exp(l)) - l;
}

/* COLLECTIVE. m gamma sum_i p_i mean over far rows of -log(1 - w_ik), from the pool that is never
 * drawn anew. */
static double value_of_repulsion(state *t, int64_t f, const far_space *space) {
    const rule *r = &t->rule;
    const int q = t->inputs.q;
    const ikt_tiles_span tiles = ikt_pool_tiles(&t->inputs.rows);
    ikt_exact_sum sum = {{0}, 0, 0};
    gather(t, &t->fixed);
#pragma omp parallel reduction(exact : sum) num_threads(ikt_threads(t->ctx))
    {
        int32_t *place = space->place + omp_get_thread_num() * f;
        float *far = space->far + omp_get_thread_num() * f * (q + 1);
#pragma omp for schedule(dynamic, 64) nowait
        for (int64_t tile = tiles.first; tile < tiles.last; tile++) {
            int64_t begin, end;
            ikt_pool_tile_rows(&t->inputs.rows, tile, &begin, &end);
            load_far(t, &t->fixed, tile, f, place, far);
            for (int64_t i = begin; i < end; i++) {
                double of_row = 0;
                for (int64_t k = 0; k < f; k++) {
                    double square = 0;
                    if (t->fixed.row[place[k]] == t->inputs.rows.first + i) continue;
                    for (int c = 0; c < q; c++) {
                        const double d = (double)t->y[q * i + c] - (double)far[k * (q + 1) + c];
                        square += d * d;
                    }
                    of_row += repulsion_value(r, square);
                }
                ikt_exact_sum_add(&sum, (double)t->weight[i] * of_row);
            }
        }
    }
    ikt_exact_sum_reduce(t->ctx, &sum, 1);
    const double n = (double)t->inputs.rows.n;
    return r->samples * r->sample.repulsion * n / ((n - 1) * (double)f) * ikt_exact_sum_value(&sum);
}

/* --- the whole -------------------------------------------------------------------------------- */

ikt_status ikt_negatives_evaluate(ikt_objective *objective, int64_t iteration, bool want_value,
                                  ikt_gradient *gradient, ikt_objective_terms *terms) {
    state *t = objective->self;
    ikt_context *ctx = t->ctx;
    const rule *r = &t->rule;
    const int64_t n_local = t->inputs.rows.count, f = r->sample.far_rows, size = r->sample.pool;
    const int64_t of_value = size < VALUE_FAR ? size : VALUE_FAR;
    ikt_pair_totals totals = {{{0}, 0, 0}, {{0}, 0, 0}};
    double value = NAN;
    far_space space;
    ikt_status st = far_space_create(t, f > of_value ? f : of_value, &space);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        ikt_halo_begin(t->halo, t->y, t->y + t->inputs.q * n_local);
        ikt_stage_begin(ctx, IKT_STAGE_REPULSION);
        ikt_pool_draw(&t->pool, iteration);
        gather(t, &t->pool);
        repel_all(t, &space);
        if (want_value) value = value_of_repulsion(t, of_value, &space);
        ikt_stage_end(ctx, IKT_STAGE_REPULSION);
        ikt_stage_begin(ctx, IKT_STAGE_HALO);
        ikt_halo_end(t->halo);
        ikt_stage_end(ctx, IKT_STAGE_HALO);
        ikt_stage_begin(ctx, IKT_STAGE_ATTRACTION);
        ikt_attraction(ctx, t->inputs.graph, t->inputs.q, &r->pair, t->y, t->force,
                       want_value ? &totals : NULL);
        combine(t);
        ikt_stage_end(ctx, IKT_STAGE_ATTRACTION);
    }
    far_space_destroy(&space);
    IKT_TRY(st);
    if (want_value) {
        ikt_exact_sum_reduce(ctx, &totals.value, 1);
        value += ikt_exact_sum_value(&totals.value);
        if (r->pair.kind == IKT_PAIR_TSNE) value -= t->entropy;
    }
    const double all = (double)t->inputs.iterations, done = (double)iteration;
    *gradient = (ikt_gradient){t->force, t->force, 4, 0};
    *terms = (ikt_objective_terms){.value = value, .step = done < all ? 1 - done / all : 1};
    return IKT_OK;
}
