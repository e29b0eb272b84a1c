#define _POSIX_C_SOURCE 200112L /* setenv */

/* The objectives: values and gradients against plain doubles, gradients by finite differences of
 * those; limits that they must have; the same bits on any ranks, threads and instruction set. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/row_hash.h"
#include "objective/divergence.h"
#include "support/random_p.h"

enum { N = 61, K = 6, MOST = 3 * N };

/* The objectives that compare P with Q come first. */
enum { DIVERGENCES = IKT_OBJECTIVE_SNE + 1 };

/* Uneven weights by draw, for neighbours on a ring. */
static void make_p(ikt_context *ctx, const ikt_rows *rows, ikt_graph *graph) {
    make_random_p(ctx, rows, K, on_a_ring, 4, graph);
}

/* All of P on every rank: p[N * N]. With `dense` every pair has some. */
static double *full_p(bool is_dense) {
    double *p = malloc(N * N * sizeof *p), total = 0;
    assert_non_null(p);
    fill_random_p(N, K, on_a_ring, 4, p);
    for (int64_t e = 0; e < N * N; e++) {
        int64_t i = e / N, j = e % N, low = i < j ? i : j, high = i < j ? j : i;
        if (is_dense && i != j)
            p[e] += pow(10, -3 - 8 * ikt_rng_uniform(3, IKT_RNG_TEST, low, (uint64_t)high));
        total += p[e];
    }
    for (int64_t e = 0; e < N * N; e++)
        p[e] = is_dense ? (double)(float)(p[e] / total) : p[e];
    return p;
}

static float position(int64_t row, int64_t c) {
    return (float)(2 * ikt_rng_normal(7, IKT_RNG_TEST, row, (uint64_t)c));
}

/* --- the objectives in doubles ---------------------------------------------------------------- */

typedef struct {
    const double *p;
    int q;
    ikt_objective_name kind;
    double kappa;
    double degrees; /* of freedom; 0: 1 */
} problem;

static double kernel(const problem *x, const double *y, int64_t i, int64_t j) {
    double r2 = 0;
    for (int c = 0; c < x->q; c++)
        r2 += pow(y[x->q * i + c] - y[x->q * j + c], 2);
    if (x->kind == IKT_OBJECTIVE_SNE || isinf(x->degrees)) return exp(-r2);
    return x->degrees > 0 ? pow(1 + r2 / x->degrees, -x->degrees) : 1 / (1 + r2);
}

static double pair_cost(const problem *x, double p, double q) {
    const double k = x->kappa, direct = p > 0 ? p * log(p / q) : 0;
    if (x->kind == IKT_OBJECTIVE_NERV)
        return (1 - k) * direct + k * q * log(q / fmax(p, ikt_nerv_floor(N)));
    if (x->kind == IKT_OBJECTIVE_JSE) {
        const double z = k * p + (1 - k) * q;
        return (p > 0 ? p * log(p / z) / (1 - k) : 0) + q * log(q / z) / k;
    }
    return direct;
}

static double cost(const problem *x, const double *y) {
    double z = 0, sum = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            if (i != j) z += kernel(x, y, i, j);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            if (i != j) sum += pair_cost(x, x->p[i * N + j], kernel(x, y, i, j) / z);
    return sum;
}

/* Central differences. */
static void slopes(const problem *x, double *y, double *slope) {
    const double h = 1e-4;
    for (int64_t e = 0; e < x->q * N; e++) {
        const double at = y[e];
        y[e] = at + h;
        const double above = cost(x, y);
        y[e] = at - h;
        slope[e] = (above - cost(x, y)) / (2 * h);
        y[e] = at;
    }
}

/* --- ours ------------------------------------------------------------------------------------- */

typedef enum {
    EXACT,
    FFT,
    TREE,
    ONE_PASS,
    BEGINNING /* exactly, in iterations that are t-SNE's */
} way;

/* Gradient of the own rows, its value and normalisation. */
typedef struct {
    float gradient[MOST];
    double value, z;
} found;

static ikt_dense make_dense(ikt_context *ctx, const ikt_rows *rows, const double *p) {
    ikt_dense dense = {*rows, (N + 15) / 16 * 16, NULL};
    ikt_alloc(ctx, &dense.value, rows->count * dense.stride, sizeof *dense.value, "test");
    for (int64_t i = 0; i < rows->count; i++)
        for (int64_t j = 0; j < N; j++)
            dense.value[i * dense.stride + j] = (float)p[(rows->first + i) * N + j];
    return dense;
}

/* One evaluation, with values or without. */
static found evaluate(ikt_context *ctx, const problem *x, bool is_dense, way how, bool want) {
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    ikt_graph graph = {.n_ghost = 0};
    ikt_dense dense = {.value = NULL};
    ikt_objective objective;
    found f;
    memset(&f, 0, sizeof f);
    if (is_dense)
        dense = make_dense(ctx, &rows, x->p);
    else
        make_p(ctx, &rows, &graph);
    const ikt_objective_inputs inputs = {.rows = rows,
                                         .q = x->q,
                                         .options = {.trade_off = x->kappa,
                                                     .degrees = x->degrees,
                                                     .repulsion = how == FFT ? IKT_REPULSION_FFT
                                                                  : how == TREE
                                                                      ? IKT_REPULSION_TREE
                                                                      : IKT_REPULSION_EXACT,
                                                     .accuracy = IKT_ACCURACY_TIGHT},
                                         .graph = is_dense ? NULL : &graph,
                                         .dense = is_dense ? &dense : NULL};
    ikt_objective_kind kind = *ikt_objective_kind_of(x->kind);
    if (how != ONE_PASS) kind.create = ikt_divergence_create;
    assert_int_equal(ikt_objective_create(ctx, &kind, &inputs, &objective), IKT_OK);
    assert_true((objective.kind == &ikt_objective_dense_tsne) == (how == ONE_PASS));
    assert_int_equal(objective.q, x->q);
    objective.is_beginning = how == BEGINNING;
    for (int64_t e = 0; e < x->q * rows.count; e++)
        objective.y[e] = position(rows.first + e / x->q, e % x->q);
    ikt_gradient g;
    ikt_objective_terms terms;
    assert_int_equal(objective.kind->evaluate(&objective, 0, want, &g, &terms), IKT_OK);
    for (int64_t e = 0; e < x->q * rows.count; e++)
        f.gradient[e] = g.attraction_scale * g.attraction[e] + g.repulsion_scale * g.repulsion[e];
    f.value = terms.value;
    f.z = terms.z;
    ikt_objective_destroy(&objective);
    ikt_graph_destroy(&graph);
    ikt_dense_destroy(&dense);
    return f;
}

/* Root mean square difference of the own rows from a gradient of all, relative to that. */
static double difference(ikt_context *ctx, const found *f, const double *all, int q) {
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    double wrong = 0, right = 0;
    for (int64_t e = 0; e < q * rows.count; e++)
        wrong += pow((double)f->gradient[e] - all[q * rows.first + e], 2);
    for (int64_t e = 0; e < q * N; e++)
        right += all[e] * all[e];
    return sqrt(wrong / right);
}

static void check(ikt_context *ctx, const problem *x, bool is_dense, way how, double tolerance) {
    double y[MOST], slope[MOST];
    for (int64_t e = 0; e < x->q * N; e++)
        y[e] = (double)position(e / x->q, e % x->q);
    slopes(x, y, slope);
    const found f = evaluate(ctx, x, is_dense, how, true);
    const double expected = cost(x, y), wrong = difference(ctx, &f, slope, x->q);
    if (wrong > tolerance || fabs(f.value - expected) > tolerance * fabs(expected))
        fail_msg("%s q %d dense %d way %d: gradient off by %.2e, value %.9g, expected %.9g",
                 ikt_objective_kind_of(x->kind)->name, x->q, is_dense, how, wrong, f.value,
                 expected);
    const found without = evaluate(ctx, x, is_dense, how, false);
    assert_true(isnan(without.value) && without.z == f.z);
    assert_memory_equal(without.gradient, f.gradient, sizeof f.gradient);
}

static void gradients_are_the_slopes_of_the_cost(void **state) {
    for (int is_dense = 0; is_dense < 2; is_dense++) {
        double *p = full_p(is_dense);
        for (int kind = 0; kind < DIVERGENCES; kind++)
            for (int q = 1; q <= 3; q++)
                for (int k = 1; k <= 9; k += 4) {
                    const problem x = {p, q, (ikt_objective_name)kind, 0.1 * k, 0};
                    if (k > 1 && !ikt_objective_kind_of(x.kind)->divergence->has_trade_off)
                        continue;
                    check(*state, &x, is_dense, EXACT, 2e-5);
                }
        free(p);
    }
    assert_int_equal(ikt_memory_now(*state), 0);
}

/* A gradient of doubles by its formula is the slope of the cost to 1e-6, and ours is that gradient
 * to the rounding of floats. */
static void formula(const problem *x, const double *y, double *slope) {
    double z = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            if (i != j) z += kernel(x, y, i, j);
    memset(slope, 0, MOST * sizeof *slope);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            double r2 = 0;
            for (int c = 0; c < x->q; c++)
                r2 += pow(y[x->q * i + c] - y[x->q * j + c], 2);
            const double q = kernel(x, y, i, j) / z, pull = 1 / (1 + r2 / x->degrees);
            for (int c = 0; c < x->q && i != j; c++)
                slope[x->q * i + c] +=
                    4 * (x->p[i * N + j] - q) * pull * (y[x->q * i + c] - y[x->q * j + c]);
        }
}

static void tails_have_the_gradient_of_their_cost(void **state) {
    const double degrees[] = {0.25, 0.5, 1.5, 2, 30, INFINITY};
    for (int is_dense = 0; is_dense < 2; is_dense++) {
        double *p = full_p(is_dense);
        for (int q = 1; q <= 3; q++)
            for (int d = 0; d < 6; d++) {
                const problem x = {p, q, IKT_OBJECTIVE_TSNE, 0, degrees[d]};
                double y[MOST], slope[MOST], exact[MOST], wrong = 0, right = 0;
                for (int64_t e = 0; e < q * N; e++)
                    y[e] = (double)position(e / q, e % q);
                slopes(&x, y, slope);
                formula(&x, y, exact);
                for (int64_t e = 0; e < q * N; e++) {
                    wrong += pow(slope[e] - exact[e], 2);
                    right += pow(exact[e], 2);
                }
                assert_true(sqrt(wrong / right) < 1e-6);
                const found f = evaluate(*state, &x, is_dense, EXACT, true);
                const double off = difference(*state, &f, exact, q), kl = cost(&x, y);
                if (off > 1e-6 || fabs(f.value - kl) > 1e-6 * kl)
                    fail_msg("alpha %g, q %d, dense %d: gradient off by %.2e, value %.9g for %.9g",
                             degrees[d], q, is_dense, off, f.value, kl);
                check(*state, &x, is_dense, EXACT, 2e-5);
            }
        free(p);
    }
}

/* alpha = 1 is t-SNE to the bit, inf is SNE to the bit, and what lies near them is near. */
static void tails_have_their_limits(void **state) {
    ikt_context *ctx = *state;
    double *p = full_p(false), all[MOST];
    for (int q = 1; q <= 3; q++) {
        const problem tsne = {p, q, IKT_OBJECTIVE_TSNE, 0, 0},
                      one = {p, q, IKT_OBJECTIVE_TSNE, 0, 1};
        const problem sne = {p, q, IKT_OBJECTIVE_SNE, 0, 0};
        const problem limit = {p, q, IKT_OBJECTIVE_TSNE, 0, INFINITY};
        const found a = evaluate(ctx, &tsne, false, EXACT, true);
        const found b = evaluate(ctx, &one, false, EXACT, true);
        const found c = evaluate(ctx, &sne, false, EXACT, true);
        const found d = evaluate(ctx, &limit, false, EXACT, true);
        assert_memory_equal(&a, &b, sizeof a);
        assert_memory_equal(&c, &d, sizeof c);
        double last = INFINITY;
        for (int64_t e = 0; e < q * N; e++)
            all[e] = (double)c.gradient[e];
        if (ikt_size(ctx) > 1) continue; /* the gradient of all rows is wanted */
        for (double degrees = 10; degrees < 2e4; degrees *= 10) {
            const problem x = {p, q, IKT_OBJECTIVE_TSNE, 0, degrees};
            const found f = evaluate(ctx, &x, false, EXACT, true);
            const double off = difference(ctx, &f, all, q);
            if (!(off < last / 2)) fail_msg("alpha %g: %.2e after %.2e", degrees, off, last);
            last = off;
        }
        assert_true(last < 1e-2);
        for (int64_t e = 0; e < q * N; e++)
            all[e] = (double)a.gradient[e];
        const problem near = {p, q, IKT_OBJECTIVE_TSNE, 0, 1 + 1e-6};
        const found f = evaluate(ctx, &near, false, EXACT, true);
        assert_true(difference(ctx, &f, all, q) < 1e-5);
        assert_true(fabs(f.value - a.value) < 1e-5 * a.value);
    }
    free(p);
}

static void grids_and_trees_serve_as_well(void **state) {
    double *p = full_p(false);
    for (int kind = IKT_OBJECTIVE_TSNE; kind <= IKT_OBJECTIVE_JSE; kind++) {
        const problem x = {p, 2, (ikt_objective_name)kind, 0.4, 0};
        check(*state, &x, false, FFT, 1e-3);
    }
    for (int q = 1; q <= 3; q++) {
        const problem tsne = {p, q, IKT_OBJECTIVE_TSNE, 0, 0},
                      jse = {p, q, IKT_OBJECTIVE_JSE, 0.4, 0};
        check(*state, &tsne, false, TREE, 1e-3);
        check(*state, &jse, false, TREE, 1e-3);
    }
    for (int d = 0; d < 4; d++) {
        const double degrees[] = {0.3, 0.5, 2, 9};
        const problem flat = {p, 2, IKT_OBJECTIVE_TSNE, 0, degrees[d]};
        check(*state, &flat, false, FFT, 1e-3);
        for (int q = 1; q <= 3; q++) {
            const problem x = {p, q, IKT_OBJECTIVE_TSNE, 0, degrees[d]};
            check(*state, &x, false, TREE, 1e-3);
        }
    }
    const problem limit = {p, 2, IKT_OBJECTIVE_TSNE, 0, INFINITY};
    check(*state, &limit, false, FFT, 1e-3);
    free(p);
}

static void one_pass_is_as_good_as_two(void **state) {
    double *p = full_p(true);
    for (int q = 1; q <= 3; q++) {
        const problem x = {p, q, IKT_OBJECTIVE_TSNE, 0, 0};
        check(*state, &x, true, ONE_PASS, 1e-5);
    }
    free(p);
}

/* With a small trade-off k both mixtures are t-SNE: NeRV is off by about k, JSE by about k p / q,
 * which is largest for close neighbours that are apart in the map. */
static void mixtures_tend_to_tsne(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    double *p = full_p(false), all[MOST];
    const problem tsne = {p, 2, IKT_OBJECTIVE_TSNE, 0, 0};
    const found limit = evaluate(alone, &tsne, false, EXACT, true);
    for (int e = 0; e < 2 * N; e++)
        all[e] = (double)limit.gradient[e];
    for (int kind = IKT_OBJECTIVE_NERV; kind <= IKT_OBJECTIVE_JSE; kind++) {
        double last = 1, slope_last = 1;
        for (double kappa = 0.1; kappa > 0.0009; kappa /= 10) {
            const problem x = {p, 2, (ikt_objective_name)kind, kappa, 0};
            const found f = evaluate(ctx, &x, false, EXACT, true);
            const double off = fabs(f.value - limit.value) / limit.value;
            const double slope_off = difference(ctx, &f, all, 2);
            assert_true(off < last / 2 && slope_off < slope_last / 2);
            last = off;
            slope_last = slope_off;
        }
        assert_true(last < 0.01 && slope_last < 0.03);
    }
    free(p);
    ikt_context_destroy(&alone);
}

/* Before their own iterations mixtures are t-SNE, to the bit. */
static void mixtures_begin_with_tsne(void **state) {
    for (int is_dense = 0; is_dense < 2; is_dense++) {
        double *p = full_p(is_dense);
        const problem tsne = {p, 2, IKT_OBJECTIVE_TSNE, 0, 0};
        const found wanted = evaluate(*state, &tsne, is_dense, EXACT, true);
        for (int kind = 0; kind < DIVERGENCES; kind++) {
            const problem x = {p, 2, (ikt_objective_name)kind, 0.5, 0};
            if (!ikt_objective_kind_of(x.kind)->begins_with_tsne) continue;
            const found f = evaluate(*state, &x, is_dense, BEGINNING, true);
            assert_memory_equal(f.gradient, wanted.gradient, sizeof f.gradient);
            assert_true(f.value == wanted.value && f.z == wanted.z);
        }
        free(p);
    }
}

/* JSE at 1/2 does not know which of both distributions is which: it is symmetric; here both terms
 * of it, in doubles, give four times the Jensen-Shannon divergence. */
static void jse_at_a_half_is_symmetric(void **state) {
    (void)state;
    const problem x = {NULL, 2, IKT_OBJECTIVE_JSE, 0.5, 0};
    for (int i = 1; i < 10; i++)
        for (int j = 1; j < 10; j++) {
            const double p = 0.1 * i, q = 0.1 * j, m = (p + q) / 2;
            const double shannon = 0.5 * p * log(p / m) + 0.5 * q * log(q / m);
            assert_true(fabs(pair_cost(&x, p, q) - pair_cost(&x, q, p)) < 1e-12);
            assert_true(fabs(pair_cost(&x, p, q) - 4 * shannon) < 1e-12);
        }
}

/* --- bits ------------------------------------------------------------------------------------- */

static uint64_t hash_of(ikt_context *ctx, const problem *x, bool is_dense, way how) {
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    const found f = evaluate(ctx, x, is_dense, how, true);
    uint64_t bits;
    memcpy(&bits, &f.value, sizeof bits);
    return bits ^
           ikt_row_hash(ctx, f.gradient, rows.first, rows.count, (size_t)x->q * sizeof *f.gradient);
}

static void bits_do_not_depend_on_ranks_and_instruction_set(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    assert_int_equal(unsetenv("IKTSNE_ISA"), 0);
    for (int is_dense = 0; is_dense < 2; is_dense++) {
        double *p = full_p(is_dense);
        for (int kind = 0; kind < DIVERGENCES; kind++)
            for (int q = 1; q <= 3; q++) {
                const problem x = {p, q, (ikt_objective_name)kind, 0.3, 0};
                const way how = is_dense && kind == IKT_OBJECTIVE_TSNE ? ONE_PASS : EXACT;
                const uint64_t wanted = hash_of(alone, &x, is_dense, how);
                assert_true(hash_of(ctx, &x, is_dense, how) == wanted);
                for (int isa = IKT_ISA_PORTABLE; isa <= IKT_ISA_AVX512; isa++) {
                    setenv("IKTSNE_ISA", ikt_isa_name((ikt_isa)isa), 1);
                    assert_true(hash_of(ctx, &x, is_dense, how) == wanted);
                }
                unsetenv("IKTSNE_ISA");
            }
        free(p);
    }
    ikt_context_destroy(&alone);
}

static void bits_of_tails_do_not_depend_on_them_either(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    double *p = full_p(false);
    for (int d = 0; d < 3; d++)
        for (int how = EXACT; how <= TREE; how++) {
            const double degrees[] = {0.5, 2.5, INFINITY};
            const problem x = {p, 2, IKT_OBJECTIVE_TSNE, 0, degrees[d]};
            if (how == TREE && d == 2) continue;
            assert_int_equal(unsetenv("IKTSNE_ISA"), 0);
            const uint64_t wanted = hash_of(alone, &x, false, (way)how);
            assert_true(hash_of(ctx, &x, false, (way)how) == wanted);
            for (int isa = IKT_ISA_PORTABLE; isa <= IKT_ISA_AVX512; isa++) {
                setenv("IKTSNE_ISA", ikt_isa_name((ikt_isa)isa), 1);
                assert_true(hash_of(ctx, &x, false, (way)how) == wanted);
            }
            unsetenv("IKTSNE_ISA");
        }
    free(p);
    ikt_context_destroy(&alone);
}

static void the_table_is_in_order(void **state) {
    static const char *const names[] = {"tsne",     "nerv",   "jse", "sne",      "trimap", "umap",
                                        "largevis", "sammon", "pca", "eigenmap", "kpca",   "kda"};
    (void)state;
    assert_int_equal(sizeof names / sizeof *names, IKT_OBJECTIVES);
    for (int kind = 0; kind < IKT_OBJECTIVES; kind++)
        assert_string_equal(ikt_objective_kind_of((ikt_objective_name)kind)->name, names[kind]);
}

IKT_MPI_TESTS(ikt_test(gradients_are_the_slopes_of_the_cost),
              ikt_test(tails_have_the_gradient_of_their_cost), ikt_test(tails_have_their_limits),
              ikt_test(bits_of_tails_do_not_depend_on_them_either),
              ikt_test(grids_and_trees_serve_as_well), ikt_test(one_pass_is_as_good_as_two),
              ikt_test(mixtures_tend_to_tsne), ikt_test(mixtures_begin_with_tsne),
              ikt_test(jse_at_a_half_is_symmetric),
              ikt_test(bits_do_not_depend_on_ranks_and_instruction_set),
              ikt_test(the_table_is_in_order))
