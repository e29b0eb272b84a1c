/* UMAP and LargeVis: their forces against the slope of their energy in doubles, the pool without
 * bias, values, and the same bits on any ranks, threads and instruction set. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "objective/attraction.h"
#include "objective/objective.h"
#include "support/random_p.h"
#include "support/unbiased.h"

enum { N = 61, K = 6, MOST = 3 * N, SEED = 5 };

/* --- a problem -------------------------------------------------------------------------------- */

/* Weights by draw, for neighbours on a ring. */
static void make_p(ikt_context *ctx, const ikt_rows *rows, ikt_graph *graph) {
    make_random_p(ctx, rows, K, on_a_ring, 1, graph);
}

typedef struct {
    ikt_objective_name name;
    int q;
    double a, b, gamma, soft, samples; /* samples: m of negative_sampling.c */
    double p[N][N], weight[N];
} problem;

static problem make_problem(ikt_objective_name name, int q) {
    static problem x;
    memset(&x, 0, sizeof x);
    x.name = name;
    x.q = q;
    x.a = name == IKT_OBJECTIVE_UMAP ? 1.57694346 : 1;
    x.b = name == IKT_OBJECTIVE_UMAP ? 0.895060878 : 1;
    x.gamma = name == IKT_OBJECTIVE_UMAP ? 1.5 : 7;
    x.soft = name == IKT_OBJECTIVE_UMAP ? 0.001 : 0.1;
    x.samples = name == IKT_OBJECTIVE_UMAP ? 2.5 : 5;
    fill_random_p(N, K, on_a_ring, 1, x.p[0]);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            x.weight[i] += x.p[i][j];
    return x;
}

/* Rows on a grid of side `spacing`, shaken: none so near another that a force is cut. */
static float position(int q, double spacing, int64_t row, int64_t c) {
    const int64_t side = q == 1 ? N : q == 2 ? 8 : 4;
    int64_t place = row * 17 % N;
    for (int64_t k = 0; k < c; k++)
        place /= side;
    const double shake = ikt_rng_uniform(7, IKT_RNG_TEST, row, (uint64_t)c) - 0.5;
    return (float)(spacing * ((double)(place % side) + 0.3 * shake));
}

/* --- in doubles ------------------------------------------------------------------------------- */

/* The energy of a pair's repulsion: the integral of b gamma w / (soft + t) from s on, t = e^z, by
 * Simpson's rule. Its slope by s is the softened force. */
static double potential(const problem *x, double s) {
    enum { STEPS = 400 };
    const double from = log(s), to = 60, h = (to - from) / STEPS;
    double sum = 0;
    for (int k = 0; k <= STEPS; k++) {
        const double t = exp(from + h * k);
        const double f = x->b * x->gamma * t / ((x->soft + t) * (1 + x->a * pow(t, x->b)));
        sum += f * (k == 0 || k == STEPS ? 1 : k % 2 ? 4 : 2);
    }
    return sum * h / 3;
}

static double square(const problem *x, const double *y, int64_t i, int64_t j) {
    double sum = 0;
    for (int c = 0; c < x->q; c++)
        sum += pow(y[x->q * i + c] - y[x->q * j + c], 2);
    return sum;
}

/* All of the energy that row i has a part in: the mean over every other row, not over far rows. */
static double energy_of(const problem *x, const double *y, int64_t i) {
    double sum = 0;
    for (int64_t j = 0; j < N; j++) {
        if (j == i) continue;
        const double s = square(x, y, i, j);
        sum += 2 * x->p[i][j] * log1p(x->a * pow(s, x->b));
        sum += x->samples * (x->weight[i] + x->weight[j]) / (N - 1) * potential(x, s);
    }
    return sum;
}

/* Central differences of the energy, divided by 2 p_i: four times what a step of rate 1 goes. */
static void slopes(const problem *x, double *y, double *slope) {
    const double h = 1e-3;
    for (int64_t e = 0; e < x->q * N; e++) {
        const double at = y[e];
        y[e] = at + h;
        const double above = energy_of(x, y, e / x->q);
        y[e] = at - h;
        slope[e] = 4 * (above - energy_of(x, y, e / x->q)) / (2 * h) / (2 * x->weight[e / x->q]);
        y[e] = at;
    }
}

/* --- ours ------------------------------------------------------------------------------------- */

typedef struct {
    ikt_rows rows;
    ikt_graph graph;
    ikt_objective objective;
} ours;

static ikt_objective_options options_of(const problem *x, int64_t pool, int64_t far) {
    const ikt_negative_settings own = {.a = x->a,
                                       .b = x->b,
                                       .repulsion = x->gamma,
                                       .negatives = 5,
                                       .pool = pool,
                                       .far_rows = far,
                                       .redraw = 1};
    return (ikt_objective_options){.seed = SEED, .own = {.umap = own, .largevis = own}};
}

static void create(ikt_context *ctx, const problem *x, double spacing, int64_t pool, int64_t far,
                   ours *o) {
    memset(o, 0, sizeof *o);
    o->rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    make_p(ctx, &o->rows, &o->graph);
    const ikt_objective_inputs inputs = {.rows = o->rows,
                                         .q = x->q,
                                         .options = options_of(x, pool, far),
                                         .iterations = 100,
                                         .graph = &o->graph};
    assert_int_equal(
        ikt_objective_create(ctx, ikt_objective_kind_of(x->name), &inputs, &o->objective), IKT_OK);
    for (int64_t e = 0; e < x->q * o->rows.count; e++)
        o->objective.y[e] = position(x->q, spacing, o->rows.first + e / x->q, e % x->q);
}

static void destroy(ours *o) {
    ikt_objective_destroy(&o->objective);
    ikt_graph_destroy(&o->graph);
}

static double evaluate(ours *o, int64_t iteration, bool want, float *slope) {
    ikt_gradient g;
    ikt_objective_terms terms;
    assert_int_equal(o->objective.kind->evaluate(&o->objective, iteration, want, &g, &terms),
                     IKT_OK);
    assert_true(fabs(terms.step - (1 - (double)iteration / 100)) < 1e-12 || iteration >= 100);
    for (int64_t e = 0; e < o->objective.q * o->rows.count; e++)
        slope[e] = g.attraction_scale * g.attraction[e] + g.repulsion_scale * g.repulsion[e];
    return terms.value;
}

static void positions(const problem *x, double spacing, double *y) {
    for (int64_t e = 0; e < x->q * N; e++)
        y[e] = (double)position(x->q, spacing, e / x->q, e % x->q);
}

/* --- tests ------------------------------------------------------------------------------------ */

static const ikt_objective_name names[] = {IKT_OBJECTIVE_UMAP, IKT_OBJECTIVE_LARGEVIS};

/* With all rows in the pool and all of it met by every tile the mean is exact. */
static void forces_are_the_slope_of_the_energy(void **state) {
    for (int k = 0; k < 2; k++)
        for (int q = 1; q <= 3; q++) {
            const problem x = make_problem(names[k], q);
            double y[MOST], slope[MOST], most = 0;
            float found[MOST];
            ours o;
            positions(&x, 1.8, y);
            slopes(&x, y, slope);
            for (int64_t e = 0; e < q * N; e++)
                most = fmax(most, fabs(slope[e]));
            create(*state, &x, 1.8, N, N, &o);
            evaluate(&o, 3, false, found);
            for (int64_t e = 0; e < q * o.rows.count; e++)
                if (!(fabs((double)found[e] - slope[q * o.rows.first + e]) <= 2e-5 * most))
                    fail_msg("%s q %d: %.7g, slope %.7g of at most %.3g",
                             ikt_objective_kind_of(names[k])->name, q, (double)found[e],
                             slope[q * o.rows.first + e], most);
            destroy(&o);
        }
    assert_int_equal(ikt_memory_now(*state), 0);
}

/* The mean over many pools is that of all rows. */
static void a_pool_has_no_bias(void **state) {
    enum { TRIALS = 1000, POOL = 20, FAR = 4 };
    ikt_context_set_threads(*state, 1); /* thousands of evaluations of a few rows */
    for (int k = 0; k < 2; k++) {
        const problem x = make_problem(names[k], 2);
        double sum[2 * N] = {0}, squares[2 * N] = {0}, expected[2 * N], drawn[2 * N];
        moments m = {0, sum, squares};
        float found[2 * N];
        ours o;
        create(*state, &x, 4, N, N, &o);
        evaluate(&o, 0, false, found);
        for (int64_t e = 0; e < 2 * o.rows.count; e++)
            expected[e] = (double)found[e];
        destroy(&o);
        create(*state, &x, 4, POOL, FAR, &o);
        for (int64_t trial = 0; trial < TRIALS; trial++) {
            evaluate(&o, trial, false, found);
            for (int64_t e = 0; e < 2 * o.rows.count; e++)
                drawn[e] = (double)found[e];
            moments_add(&m, drawn, 2 * o.rows.count);
        }
        check_unbiased(&m, expected, 2 * o.rows.count, 4);
        destroy(&o);
    }
}

/* The value is that of a pool that stays: -log w along P, and -log(1 - w) of far rows. */
static void values_are_those_of_one_pool_for_good(void **state) {
    enum { FAR = 8 };
    for (int k = 0; k < 2; k++) {
        const problem x = make_problem(names[k], 2);
        const ikt_rows alone = ikt_rows_make(N, 1, 0);
        double y[MOST], expected = 0;
        float slope[MOST];
        int32_t place[FAR];
        ikt_pool pool;
        ours o;
        positions(&x, 1.5, y);
        assert_int_equal(ikt_pool_create(*state, &alone, 30, 1, SEED, IKT_RNG_VALUE, &pool),
                         IKT_OK);
        pool.epoch = 0;
        ikt_draw_subset(SEED, IKT_RNG_VALUE, 0, N, 30, pool.slot, pool.slots, pool.row);
        for (int64_t i = 0; i < N; i++) {
            ikt_pool_far(&pool, i / IKT_TILE, FAR, place);
            for (int64_t j = 0; j < N; j++)
                if (x.p[i][j] > 0)
                    expected += x.p[i][j] * log1p(x.a * pow(square(&x, y, i, j), x.b));
            for (int e = 0; e < FAR; e++) {
                const int64_t j = pool.row[place[e]];
                if (j == i) continue;
                const double w = 1 / (1 + x.a * pow(square(&x, y, i, j) + x.soft, x.b));
                expected -= x.samples * x.gamma * x.weight[i] * N / (N - 1) / FAR * log(1 - w);
            }
        }
        ikt_pool_destroy(&pool);
        create(*state, &x, 1.5, 30, 4, &o);
        const double value = evaluate(&o, 7, true, slope);
        if (!(fabs(value - expected) <= 1e-5 * expected))
            fail_msg("%.9g, expected %.9g", value, expected);
        assert_true(evaluate(&o, 60, true, slope) == value);
        assert_true(isnan(evaluate(&o, 61, false, slope)));
        destroy(&o);
    }
}

/* Rows that all but coincide, and a row all by itself. */
static void no_row_goes_farther_than_the_cut(void **state) {
    for (int k = 0; k < 2; k++)
        for (int q = 1; q <= 3; q++) {
            const problem x = make_problem(names[k], q);
            const float most = names[k] == IKT_OBJECTIVE_UMAP ? 16 : 20;
            float found[MOST], largest = 0;
            ours o;
            create(*state, &x, 0.01, N, N, &o);
            for (int64_t e = 0; e < q * o.rows.count; e++)
                if (o.rows.first + e / q == 3) o.objective.y[e] = 1e18f;
            evaluate(&o, 0, false, found);
            for (int64_t e = 0; e < q * o.rows.count; e++) {
                assert_true(fabsf(found[e]) <= most);
                largest = fmaxf(largest, fabsf(found[e]));
            }
            assert_true(largest > 0 || o.rows.count == 0);
            destroy(&o);
        }
}

static uint64_t hash_at(ikt_context *ctx, const problem *x, int64_t pool, int64_t far) {
    float slope[MOST];
    ours o;
    uint64_t hash = 0;
    create(ctx, x, 1, pool, far, &o);
    for (int64_t iteration = 0; iteration < 3; iteration++) {
        const double value = evaluate(&o, iteration, true, slope);
        const uint64_t of_value = ikt_hash_bytes(&value, sizeof value, 1);
        hash = 31 * hash + of_value +
               ikt_row_hash(ctx, slope, o.rows.first, o.rows.count, (size_t)x->q * sizeof *slope);
    }
    destroy(&o);
    return hash;
}

static void bits_do_not_depend_on_ranks_or_threads(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    for (int k = 0; k < 2; k++)
        for (int q = 1; q <= 3; q++)
            for (int64_t pool = 17; pool <= N; pool += 44) {
                const problem x = make_problem(names[k], q);
                const uint64_t hash = hash_at(alone, &x, pool, 5);
                for (int threads = 1; threads <= 2; threads++) {
                    ikt_context_set_threads(ctx, threads);
                    assert_true(hash_at(ctx, &x, pool, 5) == hash);
                }
            }
    ikt_context_destroy(&alone);
}

static void every_instruction_set_gives_the_same_bits(void **state) {
    enum { FAR = 37 };
    const ikt_negative_force forces[] = {{0.4555f, 0.8951f, 1.79f, 0.001f, 4}, {0, 1, 14, 0.1f, 5}};
    (void)state;
    for (int k = 0; k < 2; k++)
        for (int q = 1; q <= 3; q++) {
            float at[3][IKT_TILE], weight[IKT_TILE], far[FAR * 4], sum[3][IKT_TILE],
                first[3][IKT_TILE];
            for (int l = 0; l < IKT_TILE; l++) {
                weight[l] = (float)ikt_rng_uniform(1, IKT_RNG_TEST, l, 9);
                for (int c = 0; c < 3; c++)
                    at[c][l] =
                        (float)pow(10, 12 * ikt_rng_uniform(1, IKT_RNG_TEST, l, (uint64_t)c) - 8);
            }
            for (int e = 0; e < FAR * 4; e++)
                far[e] = (float)pow(10, 12 * ikt_rng_uniform(2, IKT_RNG_TEST, e, 0) - 8);
            for (int c = 0; c < q; c++)
                far[c] = at[c][5]; /* a far row that is a row of the tile */
            for (int isa = IKT_ISA_PORTABLE; isa <= (int)ikt_cpu_isa(); isa++) {
                const ikt_negatives_job job = {.q = q,
                                               .force = forces[k],
                                               .at = {at[0], at[1], at[2]},
                                               .weight = weight,
                                               .far = FAR,
                                               .far_at = far,
                                               .sum = {sum[0], sum[1], sum[2]}};
                ikt_negatives_kernel_for((ikt_isa)isa)(&job);
                if (isa == IKT_ISA_PORTABLE) memcpy(first, sum, sizeof first);
                for (int c = 0; c < q; c++)
                    assert_memory_equal(sum[c], first[c], sizeof sum[c]);
            }
        }
}

IKT_MPI_TESTS(ikt_test(forces_are_the_slope_of_the_energy), ikt_test(a_pool_has_no_bias),
              ikt_test(values_are_those_of_one_pool_for_good),
              ikt_test(no_row_goes_farther_than_the_cut),
              ikt_test(bits_do_not_depend_on_ranks_or_threads),
              ikt_test(every_instruction_set_gives_the_same_bits))
