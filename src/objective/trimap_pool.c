/* TriMap with far rows from a pool that is drawn anew (sampled/pool.h).
 *
 * With z = m' n / ((n - 1) f), f far rows a of a tile, and c_j, c_k of sampled/triplet.h, the
 * gradient of row i is estimated by
 *     - z sum_a sum_b (c_k(i, j_b(i), a) + c_k(a, j_b(a), i)) (y_i - y_a)       (tile_forces.h)
 *     + sum_b c_ib (y_i - y_j_b),   c_ib = z sum_a c_j(i, j_b, a)                  (the same)
 *     + sum over edges (i', b) that end at i of c_i'b (y_i - y_i')             (near_edges.h)
 * whose expectation is the gradient of sum_i sum_b m' mean_k of the loss of (i, j_b(i), k), k being
 * any other row. Random triplets are those of i and two far rows, s n / (n - 2) for each such pair;
 * what they do to these two is left out. Advantage: time and memory of an iteration are linear in
 * n, whatever the triplets' number; an epoch's draws differ from the last one's, so that no row is
 * tied to few far ones. Disadvantage: the map never comes to rest by itself, so that steps fall
 * over the last iterations.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/sort.h"
#include "base/timer.h"
#include "dist/halo.h"
#include "objective/trimap.h"
#include "sampled/near_edges.h"
#include "sampled/pool.h"
#include "sampled/tile_forces.h"

/* The last iterations, over which steps fall in a line to a fiftieth. */
enum { FALLING = 150 };
static const double last_step = 0.02;

/* Tiles that a thread takes at a time. */
enum { SOME_TILES = 64 };

/* Epochs whose far rows are compared with the own rows at a time: reading all codes or numbers from
 * memory for one far row in sixteen would take longer than the comparisons. Draws are functions of
 * the epoch alone, so that they can be made before their time. */
enum { EPOCHS = 4 };

static const char purpose[] = "triplets";

typedef struct {
    ikt_context *ctx;
    ikt_objective_inputs inputs;
    ikt_similarity similarity;
    ikt_near_edges edges;
    ikt_trimap_value value;
    ikt_pool pool[EPOCHS]; /* of consecutive epochs, */
    int64_t batch;         /* the first of which is this times EPOCHS; -1: none are drawn */
    int now;               /* the pool of this iteration */
    ikt_halo *halo;        /* positions of the ghosts of `edges` */
    char *payload;         /* [EPOCHS * pool_rows] of the similarity */
    float *pool_d;         /* [EPOCHS * 2 * pool_rows * m] D of near rows, then their factors */
    float *pool_at;        /* [pool_rows * (q + m)] positions and squares, of this iteration */
    int32_t *far;          /* [tiles * EPOCHS * f] places of far rows in their pool */
    float *far_d;          /* [tiles * EPOCHS * f * 16] */
    char *space;           /* [threads * space_bytes] */
    int64_t space_bytes;
    float *y;     /* [(own rows + ghosts) * q] */
    float *force; /* [own rows * q]: of far rows and of edges that begin there */
    float *ends;  /* the same: of edges that end there */
    ikt_arrays held;
} state;

/* --- making and destroying -------------------------------------------------------------------- */

/* Work space of a thread, in whole lines of the cache. */
static int64_t space_of(const ikt_triplet_settings *s, int q, int64_t row_bytes) {
    const int64_t of_forces = s->neighbours * IKT_TILE * (2 * q + 4) * (int64_t)sizeof(float);
    const int64_t of_rows = s->far_rows * row_bytes;
    return (ikt_larger(of_forces, of_rows) + s->far_rows * (int64_t)sizeof(int32_t) + 127) / 64 *
           64;
}

static ikt_status allocate(state *t) {
    ikt_context *ctx = t->ctx;
    ikt_arrays *held = &t->held;
    const ikt_triplet_settings *s = &t->inputs.options.own.triplet;
    const int64_t n_local = t->inputs.rows.count, q = t->inputs.q, m = s->neighbours;
    const int64_t rows = n_local + t->edges.n_ghost, far = t->edges.tiles * EPOCHS * s->far_rows;
    const size_t number = sizeof(float);
    IKT_TRY(ikt_objective_check_rows(ctx, rows, t->inputs.q));
    t->space_bytes = space_of(s, t->inputs.q, (int64_t)t->similarity.row_bytes);
    t->payload = ikt_claim(held, EPOCHS * s->pool_rows, t->similarity.bytes);
    t->pool_d = ikt_claim(held, 2 * EPOCHS * s->pool_rows * m, number);
    t->pool_at = ikt_claim(held, s->pool_rows * (q + m), number);
    t->far = ikt_claim(held, far, sizeof *t->far);
    t->far_d = ikt_claim(held, far * IKT_TILE, number);
    t->space = ikt_claim(held, ikt_threads(ctx) * t->space_bytes, 1);
    held->purpose = "layout";
    t->y = ikt_claim(held, q * rows, number);
    t->force = ikt_claim(held, q * n_local, number);
    t->ends = ikt_claim(held, q * n_local, number);
    return held->status;
}

static ikt_status create(ikt_context *ctx, const ikt_objective_inputs *inputs, ikt_objective *out) {
    const ikt_triplet_settings *s = &inputs->options.own.triplet;
    const uint64_t seed = inputs->options.seed;
    ikt_similarity similarity IKT_AT_END(ikt_similarity_destroy) = {.codes = NULL};
    ikt_neighbours near IKT_AT_END(ikt_neighbours_destroy) = {0};
    state *t = NULL;
    IKT_TRY(ikt_trimap_begin(ctx, inputs, &similarity, &near));
    IKT_TRY(ikt_alloc_all(ctx, &t, 1, sizeof *t, purpose));
    out->self = t;
    *t = (state){.ctx = ctx,
                 .inputs = *inputs,
                 .similarity = similarity,
                 .batch = -1,
                 .held = ikt_arrays_of(ctx, purpose)};
    similarity = (ikt_similarity){.codes = NULL}; /* it is taken over */
    ikt_status st = ikt_near_edges_create(ctx, &inputs->rows, inputs->q, &near, &t->edges);
    ikt_neighbours_destroy(&near);
    IKT_TRY(st);
    IKT_TRY(ikt_trimap_value_create(ctx, &inputs->rows, inputs->q, seed, s, &t->similarity,
                                    &t->edges, &t->value));
    for (int e = 0; e < EPOCHS && st == IKT_OK; e++)
        st = ikt_pool_create(ctx, &inputs->rows, s->pool_rows, s->redraw, seed, IKT_RNG_SAMPLED,
                             &t->pool[e]);
    if (st == IKT_OK) st = allocate(t);
    IKT_TRY(ikt_agree(ctx, st));
    out->y = t->y;
    return ikt_halo_create(ctx, &inputs->rows, t->edges.ghost_row, t->edges.n_ghost, inputs->q,
                           &t->halo);
}

static void destroy(ikt_objective *objective) {
    state *t = objective->self;
    if (!t) return;
    ikt_similarity_destroy(&t->similarity);
    ikt_near_edges_destroy(&t->edges);
    ikt_trimap_value_destroy(&t->value);
    for (int e = 0; e < EPOCHS; e++)
        ikt_pool_destroy(&t->pool[e]);
    ikt_halo_destroy(&t->halo);
    ikt_arrays_free(&t->held);
    ikt_free(&t);
}

/* --- the pool --------------------------------------------------------------------------------- */

/* LOCAL. The payloads of pool e; D of near rows, and behind them their factors in weights. */
static char *payload_of(const state *t, int e) {
    return t->payload + (size_t)(e * t->pool[e].size) * t->similarity.bytes;
}
static float *pool_d_of(const state *t, int e) {
    return t->pool_d + 2 * e * t->pool[e].size * t->edges.m;
}

/* LOCAL. The factors of near pairs, of their D. */
static void weigh_near(const state *t, int64_t count, float *d) {
    const ikt_triplet_weighing weighing =
        (ikt_triplet_weighing)t->inputs.options.own.triplet.weights;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(t->ctx))
    for (int64_t e = 0; e < count; e++)
        d[count + e] = (float)ikt_triplet_near(weighing, (double)d[e]);
}

/* COLLECTIVE. What does not change while the pools last that have been drawn anew. Own rows of all
 * of them are read by ascending number, side by side: of rows in tiles, one line of the cache has a
 * column of sixteen. */
static void gather_inputs(const state *t, const bool is_drawn[EPOCHS]) {
    const size_t bytes = t->similarity.bytes;
    const int64_t m = t->edges.m;
    int64_t most = 0;
    for (int e = 0; e < EPOCHS; e++)
        if (is_drawn[e]) most = ikt_larger(most, t->pool[e].count);
#pragma omp parallel for schedule(static) num_threads(ikt_threads(t->ctx))
    for (int64_t x = 0; x < most; x++)
        for (int e = 0; e < EPOCHS; e++) {
            const ikt_pool *pool = &t->pool[e];
            if (!is_drawn[e] || x >= pool->count) continue;
            const int64_t a = pool->first + x, i = pool->row[a] - pool->rows.first,
                          near = ikt_near_edges_place(&t->edges, i, 0);
            float *d = pool_d_of(t, e) + a * m;
            t->similarity.kind->put(&t->similarity, i, payload_of(t, e) + (size_t)a * bytes);
            for (int64_t b = 0; b < m; b++)
                d[b] = t->edges.d[near + b * IKT_TILE];
        }
    for (int e = 0; e < EPOCHS; e++) {
        if (!is_drawn[e]) continue;
        ikt_pool_gather(&t->pool[e], bytes, payload_of(t, e));
        ikt_pool_gather(&t->pool[e], (size_t)m * sizeof(float), pool_d_of(t, e));
        weigh_near(t, t->pool[e].size * m, pool_d_of(t, e));
    }
}

/* COLLECTIVE. The pools of the iteration's batch of epochs; returns whether they are others than
 * before. */
static bool draw_pools(state *t, int64_t iteration) {
    const int64_t redraw = t->pool[0].redraw, epoch = iteration / redraw, batch = epoch / EPOCHS;
    bool is_drawn[EPOCHS];
    t->now = (int)(epoch % EPOCHS);
    if (batch == t->batch) return false;
    t->batch = batch;
#pragma omp parallel for schedule(static, 1) num_threads(ikt_threads(t->ctx))
    for (int e = 0; e < EPOCHS; e++)
        is_drawn[e] = ikt_pool_draw(&t->pool[e], (batch * EPOCHS + e) * redraw);
    gather_inputs(t, is_drawn);
    return true;
}

/* LOCAL. The far rows of a tile in all epochs of the batch. */
static void choose_far(const state *t, int64_t k) {
    const int64_t f = t->inputs.options.own.triplet.far_rows;
    const int64_t tile = t->inputs.rows.first / IKT_TILE + k;
    ikt_similarity_ask_own(&t->similarity, tile);
    for (int e = 0; e < EPOCHS; e++) {
        int32_t *far = t->far + (k * EPOCHS + e) * f;
        ikt_pool_far(&t->pool[e], tile, f, far);
        ikt_similarity_ask(&t->similarity, payload_of(t, e), t->similarity.bytes, far, f);
    }
}

/* LOCAL. Their D. */
static void meet_far(const state *t, int64_t k, char *scratch) {
    const int64_t f = t->inputs.options.own.triplet.far_rows;
    const int64_t tile = t->inputs.rows.first / IKT_TILE + k;
    for (int e = 0; e < EPOCHS; e++) {
        const int64_t at = (k * EPOCHS + e) * f;
        ikt_similarity_tile(&t->similarity, tile, payload_of(t, e), t->similarity.bytes,
                            t->far + at, f, scratch, t->far_d + at * IKT_TILE);
    }
}

/* COLLECTIVE. Where the rows of the pool are, and how far from their near rows. */
static void gather_places(const state *t) {
    const ikt_pool *pool = &t->pool[t->now];
    const int64_t q = t->inputs.q, m = t->edges.m;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(t->ctx))
    for (int64_t a = pool->first; a < pool->first + pool->count; a++) {
        const int64_t i = pool->row[a] - pool->rows.first;
        const int32_t *near = t->edges.near + ikt_near_edges_place(&t->edges, i, 0);
        float *at = t->pool_at + a * (q + m);
        for (int64_t c = 0; c < q; c++)
            at[c] = t->y[q * i + c];
        for (int64_t b = 0; b < m; b++) {
            float square = 0;
            for (int64_t c = 0; c < q; c++) {
                const float u = at[c] - t->y[q * near[b * IKT_TILE] + c];
                square += u * u;
            }
            at[q + b] = square;
        }
    }
    ikt_pool_gather(pool, (size_t)(q + m) * sizeof *t->pool_at, t->pool_at);
}

/* --- forces ----------------------------------------------------------------------------------- */

/* LOCAL. One tile. */
static void add_tile(const state *t, ikt_tile_forces *forces, const ikt_tile_job *common, int64_t k,
                     char *space) {
    const ikt_rows *rows = &t->inputs.rows;
    const int64_t f = common->f, m = common->m, tile = rows->first / IKT_TILE + k;
    const int64_t far = (k * EPOCHS + t->now) * f;
    int32_t *far_lane = (int32_t *)(void *)space;
    ikt_tile_job job = *common;
    int64_t end;
    ikt_pool_tile_rows(rows, tile, &job.first, &end);
    job.count = end - job.first;
    job.lane = (int)((rows->first + job.first) % IKT_TILE);
    job.near = t->edges.near + k * m * IKT_TILE;
    job.near_d = t->edges.d + k * m * IKT_TILE;
    job.far = t->far + far;
    job.far_d = t->far_d + far * IKT_TILE;
    for (int64_t e = 0; e < f; e++) {
        const int64_t row = t->pool[t->now].row[job.far[e]];
        far_lane[e] = row / IKT_TILE == tile ? (int32_t)(row % IKT_TILE) : -1;
    }
    job.far_lane = far_lane;
    job.space = (float *)(void *)(space + (f * (int64_t)sizeof *far_lane + 63) / 64 * 64);
    job.pull = job.space + m * IKT_TILE * (job.q + 4);
    forces(&job);
    ikt_near_edges_keep(&t->edges, k, job.pull);
}

/* LOCAL. The forces of far rows and along own edges; coefficients of these.
 *   is_new   whether tiles have other far rows than before */
static void add_tiles(const state *t, bool is_new) {
    const ikt_triplet_settings *s = &t->inputs.options.own.triplet;
    ikt_tile_forces *forces = ikt_tile_forces_for(ikt_cpu_isa());
    const double n = (double)t->inputs.rows.n, pairs = (double)(s->far_rows / 2);
    const ikt_tile_job common = {
        .q = t->inputs.q,
        .rule = {s->t, s->t_prime},
        .weighing = (ikt_triplet_weighing)s->weights,
        .most = (float)t->value.most,
        .m = s->neighbours,
        .f = s->far_rows,
        .share = (float)((double)s->outliers * n / ((n - 1) * (double)s->far_rows)),
        .random_share = s->random > 0 ? (float)((double)s->random * n / ((n - 2) * pairs)) : 0,
        .y = t->y,
        .pool = t->pool_at,
        .pool_d = pool_d_of(t, t->now),
        .pool_factor = pool_d_of(t, t->now) + t->pool[t->now].size * t->edges.m,
        .force = t->force};
#pragma omp parallel num_threads(ikt_threads(t->ctx))
    {
        char *space = t->space + omp_get_thread_num() * t->space_bytes;
#pragma omp for schedule(dynamic, 1)
        for (int64_t first = 0; first < t->edges.tiles; first += SOME_TILES) {
            const int64_t end = ikt_smaller(first + SOME_TILES, t->edges.tiles);
            if (is_new) choose_far(t, first);
            for (int64_t k = first; k < end; k++) {
                if (k + 2 < end) ikt_near_edges_ask(&t->edges, k + 2);
                if (k + 1 < end) ikt_near_edges_ask_ends(&t->edges, k + 1, t->y);
                if (is_new && k + 1 < end) choose_far(t, k + 1);
                if (is_new) meet_far(t, k, space);
                add_tile(t, forces, &common, k, space);
            }
        }
    }
}

static double step_of(const state *t, int64_t iteration) {
    const int64_t all = t->inputs.iterations, falling = all < FALLING ? all : FALLING;
    const int64_t since = iteration - (all - falling);
    if (since <= 0) return 1;
    if (since >= falling) return last_step;
    return 1 - (1 - last_step) * (double)since / (double)falling;
}

static ikt_status evaluate(ikt_objective *objective, int64_t iteration, bool want_value,
                           ikt_gradient *gradient, ikt_objective_terms *terms) {
    state *t = objective->self;
    ikt_context *ctx = t->ctx;
    const int q = t->inputs.q;
    if (iteration == 0) IKT_TRY(ikt_trimap_check_start(ctx, &t->inputs.rows, q, t->y));
    ikt_halo_begin(t->halo, t->y, t->y + q * t->inputs.rows.count);
    ikt_stage_begin(ctx, IKT_STAGE_REPULSION);
    const bool is_new = draw_pools(t, iteration);
    ikt_stage_end(ctx, IKT_STAGE_REPULSION);
    ikt_stage_begin(ctx, IKT_STAGE_HALO);
    ikt_halo_end(t->halo);
    gather_places(t);
    ikt_stage_end(ctx, IKT_STAGE_HALO);
    ikt_stage_begin(ctx, IKT_STAGE_REPULSION);
    add_tiles(t, is_new);
    ikt_stage_end(ctx, IKT_STAGE_REPULSION);
    ikt_stage_begin(ctx, IKT_STAGE_ATTRACTION);
    ikt_near_edges_exchange(ctx, &t->edges);
    ikt_near_edges_end(ctx, &t->edges, t->ends);
    ikt_stage_end(ctx, IKT_STAGE_ATTRACTION);
    ikt_trimap_limit(&t->inputs, t->value.mean, t->force, t->ends);
    const double value = want_value ? ikt_trimap_value_of(ctx, &t->value, &t->edges, q, t->y) : NAN;
    const float scale = ikt_trimap_scale(&t->inputs.options.own.triplet, t->value.mean);
    *gradient = (ikt_gradient){t->force, t->ends, scale, scale};
    *terms = (ikt_objective_terms){.value = value, .step = step_of(t, iteration)};
    return IKT_OK;
}

static void describe(const ikt_objective *objective, char *text, size_t size) {
    const state *t = objective->self;
    const ikt_triplet_settings *s = &t->inputs.options.own.triplet;
    char every[32] = "iteration";
    if (s->redraw > 1) snprintf(every, sizeof every, "%lld iterations", (long long)s->redraw);
    snprintf(text, size,
             "%lld near rows a row; %lld far rows for 16 rows, from a pool of %lld that is drawn "
             "anew every %s, by %s",
             (long long)s->neighbours, (long long)s->far_rows, (long long)s->pool_rows, every,
             ikt_trimap_compared_by(&t->inputs));
}

static int64_t memory(const ikt_objective_kind *kind, const ikt_objective_shape *shape) {
    (void)kind;
    const ikt_triplet_settings *s = &shape->options.own.triplet;
    const ikt_rows *rows = &shape->rows;
    const int64_t q = shape->q, m = s->neighbours, number = sizeof(float);
    const int64_t tiles = rows->count / IKT_TILE + 2;
    const int64_t row_bytes =
        shape->columns > 0 ? number * shape->columns : ikt_codes_memory(1, shape->psi, shape->t);
    const int64_t cut = (int64_t)(shape->cut * (double)(rows->count * m));
    const int64_t of_pool = row_bytes + number * (1 + q + 3 * m);
    return ikt_near_edges_memory(rows, shape->q, m, shape->boundary, cut) +
           ikt_trimap_value_memory(rows, shape->q, m) +
           EPOCHS * ikt_pool_memory(s->pool_rows, rows->ranks) + EPOCHS * s->pool_rows * of_pool +
           EPOCHS * tiles * s->far_rows * number * (1 + IKT_TILE) +
           shape->threads * space_of(s, shape->q, row_bytes) + number * rows->count * (1 + 2 * q) +
           (12 + 12 * q) * shape->boundary;
}

const ikt_objective_kind ikt_trimap_pool = {IKT_TRIMAP_KIND,      .create = create,
                                            .destroy = destroy,   .evaluate = evaluate,
                                            .describe = describe, .memory = memory};
