/* The regulariser of t-SNE as a part of the objective: the same bits on any ranks and threads by
 * every way of summing; states that are gone on from; lambda = 0; accuracy of sums by FFT and tree.
 */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/row_hash.h"
#include "layout/layout.h"
#include "objective/divergence.h"
#include "support/random_p.h"

enum { N = 1300, K = 9, GROUPS = 5, ITERATIONS = 4 }; /* more than two blocks of fixed sums */

static int64_t in_its_group(int64_t row, int64_t e, int64_t n) {
    return (row + GROUPS * (e + 1) * (e + 1)) % n;
}

/* A map of some groups, of a span where the grid has several hundred nodes. */
static float position(int64_t row, int64_t axis) {
    const double centre = 9 * ikt_rng_normal(31, IKT_RNG_SHAPE, row % GROUPS, (uint64_t)axis);
    return (float)(centre + 3 * ikt_rng_normal(31, IKT_RNG_TEST, row, (uint64_t)axis));
}

typedef struct {
    ikt_context *ctx;
    ikt_rows rows;
    int q;
    ikt_graph graph;
    ikt_objective_options options;
    ikt_objective objective;
    ikt_gradient gradient;
    ikt_objective_terms terms;
} world;

static ikt_objective_options asked(int repulsion, int form, int every) {
    return (ikt_objective_options){
        .repulsion = repulsion,
        .seed = 3,
        .regulariser = {.kind = IKT_REGULARISER_LAPLACIAN,
                        .form = form,
                        .weight = form == IKT_REGULARISER_LOG ? 0.03 : 0.3,
                        .rank = GROUPS,
                        .every = every,
                        .from = IKT_AUTO_INT}};
}

static void make(ikt_context *ctx, int q, const ikt_objective_options *options, world *w) {
    memset(w, 0, sizeof *w);
    w->ctx = ctx;
    w->rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    w->q = q;
    w->options = *options;
    make_random_p(ctx, &w->rows, K, in_its_group, 1, &w->graph);
    const ikt_objective_inputs inputs = {
        .rows = w->rows, .q = q, .options = *options, .graph = &w->graph};
    assert_int_equal(ikt_objective_create(ctx, &ikt_objective_tsne, &inputs, &w->objective),
                     IKT_OK);
    for (int64_t e = 0; e < q * w->rows.count; e++)
        w->objective.y[e] = position(w->rows.first + e / q, e % q);
}

static void destroy(world *w) {
    ikt_objective_destroy(&w->objective);
    ikt_graph_destroy(&w->graph);
}

static void evaluate(world *w, int64_t iteration) {
    assert_int_equal(
        w->objective.kind->evaluate(&w->objective, iteration, true, &w->gradient, &w->terms),
        IKT_OK);
}

static float gradient_at(const world *w, int64_t e) {
    return w->gradient.attraction_scale * w->gradient.attraction[e] +
           w->gradient.repulsion_scale * w->gradient.repulsion[e];
}

/* A step downhill, so that eigenvectors have a map to follow. */
static void step(world *w) {
    for (int64_t e = 0; e < w->q * w->rows.count; e++)
        w->objective.y[e] -= 100 * gradient_at(w, e);
}

static uint64_t hash_map(const world *w) {
    return ikt_row_hash(w->ctx, w->objective.y, w->rows.first, w->rows.count,
                        (size_t)w->q * sizeof(float));
}

/* Some iterations; the hash of the map, and of what the last evaluation found. */
static uint64_t descend(ikt_context *ctx, int q, const ikt_objective_options *options) {
    static world w;
    make(ctx, q, options, &w);
    for (int iteration = 4; iteration < 4 + ITERATIONS; iteration++) {
        evaluate(&w, iteration);
        step(&w);
    }
    uint64_t hash = hash_map(&w), bits;
    assert_int_equal(w.terms.eigenvalues, GROUPS - 1);
    for (int k = 0; k < GROUPS - 1; k++) {
        memcpy(&bits, &w.terms.eigenvalue[k], sizeof bits);
        hash = hash * 31 + bits;
        assert_true(w.terms.eigenvalue[k] > 0 && w.terms.eigenvalue[k] < 1);
    }
    memcpy(&bits, &w.terms.value, sizeof bits);
    destroy(&w);
    return hash * 31 + bits;
}

static void bits_do_not_depend_on_ranks_and_threads(void **state) {
    static const struct {
        int q, repulsion, form, every, vectors;
    } ways[] = {{2, IKT_REPULSION_EXACT, IKT_REGULARISER_SUM, 1, IKT_EIGENVECTORS_FOLLOWED},
                {2, IKT_REPULSION_FFT, IKT_REGULARISER_LOG, 1, IKT_EIGENVECTORS_FOLLOWED},
                {2, IKT_REPULSION_FFT, IKT_REGULARISER_SUM, 3, IKT_EIGENVECTORS_FOLLOWED},
                {2, IKT_REPULSION_EXACT, IKT_REGULARISER_SUM, 1, IKT_EIGENVECTORS_EXACT},
                {3, IKT_REPULSION_TREE, IKT_REGULARISER_SUM, 1, IKT_EIGENVECTORS_FOLLOWED},
                {1, IKT_REPULSION_EXACT, IKT_REGULARISER_LOG, 2, IKT_EIGENVECTORS_FOLLOWED}};
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    ikt_context_set_log(alone, IKT_LOG_ERROR);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        ikt_objective_options options = asked(ways[k].repulsion, ways[k].form, ways[k].every);
        options.regulariser.vectors = ways[k].vectors;
        assert_true(descend(ctx, ways[k].q, &options) == descend(alone, ways[k].q, &options));
    }
    ikt_context_destroy(&alone);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* Arrays of the state as `iteration` begins, into or out of another objective. */
static void copy_state(world *from, int64_t iteration, world *into) {
    const ikt_objective_shape shape = {.rows = from->rows, .q = from->q, .options = from->options};
    ikt_objective_array form[IKT_OBJECTIVE_ARRAYS_MOST];
    const int arrays = ikt_objective_tsne.state(&shape, form);
    assert_int_equal(arrays, 2);
    for (int a = 0; a < arrays; a++) {
        const int64_t numbers = form[a].count * (form[a].is_shared ? 1 : from->rows.count);
        memcpy(into->objective.kind->state_array(&into->objective, 0, a),
               from->objective.kind->state_array(&from->objective, iteration, a),
               (size_t)numbers * ikt_part_type_size(form[a].type));
    }
    memcpy(into->objective.y, from->objective.y,
           (size_t)(from->q * from->rows.count) * sizeof(float));
}

/* From a state before the regulariser, within it, in an iteration that renews no eigenvectors, and
 * of the end of a run, whose last evaluation is made again. */
static void a_state_is_gone_on_from(void **state) {
    enum { FROM = 4, END = 11 };
    ikt_context *ctx = *state;
    for (int every = 1; every <= 3; every += 2)
        for (int stop = FROM - 1; stop <= END; stop++) {
            static world w, other;
            ikt_objective_options options = asked(IKT_REPULSION_EXACT, IKT_REGULARISER_LOG, every);
            options.regulariser.from = FROM;
            make(ctx, 2, &options, &w);
            make(ctx, 2, &options, &other);
            for (int64_t e = 0; e < 2 * w.rows.count; e++)
                w.objective.y[e] *= 20; /* degrees below 1, with which power steps are shifted */
            for (int iteration = 2; iteration <= END; iteration++) {
                if (iteration == stop) copy_state(&w, iteration, &other);
                evaluate(&w, iteration);
                assert_true((w.terms.eigenvalues > 0) == (iteration >= FROM));
                if (iteration == stop && stop % 2 == 0) copy_state(&w, iteration, &other);
                step(&w);
            }
            for (int iteration = stop; iteration <= END; iteration++) {
                evaluate(&other, iteration);
                if (iteration % 2 == 1) evaluate(&other, iteration); /* nothing comes of that */
                step(&other);
            }
            assert_true(hash_map(&w) == hash_map(&other));
            destroy(&w);
            destroy(&other);
        }
}

/* The eigenvalues are measured and nothing else changes. */
static void a_weight_of_zero_leaves_the_gradient(void **state) {
    ikt_context *ctx = *state;
    for (int repulsion = IKT_REPULSION_FFT; repulsion <= IKT_REPULSION_EXACT; repulsion++) {
        static world plain, w;
        ikt_objective_options options = asked(repulsion, IKT_REGULARISER_SUM, 1);
        options.regulariser.weight = 0;
        make(ctx, 2, &options, &w);
        options.regulariser.kind = IKT_REGULARISER_NONE;
        make(ctx, 2, &options, &plain);
        for (int iteration = 0; iteration < 3; iteration++) {
            evaluate(&plain, iteration);
            evaluate(&w, iteration);
            assert_int_equal(plain.terms.eigenvalues, 0);
            assert_int_equal(w.terms.eigenvalues, GROUPS - 1);
            assert_true(plain.terms.value == w.terms.value);
            step(&plain);
            step(&w);
        }
        assert_true(hash_map(&plain) == hash_map(&w));
        assert_string_equal(w.objective.kind->value_name, "KL");
        destroy(&plain);
        destroy(&w);
    }
}

/* What the regulariser adds to the gradient of t-SNE is in proportion to its weight. */
static void the_gradient_is_linear_in_the_weight(void **state) {
    static const double weight[3] = {0, 0.3, 0.6};
    static float gradient[3][2 * N];
    static world w;
    double most = 0;
    for (int k = 0; k < 3; k++) {
        ikt_objective_options options = asked(IKT_REPULSION_EXACT, IKT_REGULARISER_SUM, 1);
        options.regulariser.weight = weight[k];
        make(*state, 2, &options, &w);
        evaluate(&w, 0);
        for (int64_t e = 0; e < 2 * w.rows.count; e++)
            gradient[k][e] = gradient_at(&w, e);
        destroy(&w);
    }
    for (int64_t e = 0; e < 2 * w.rows.count; e++)
        most = fmax(most, fabs((double)gradient[2][e]));
    for (int64_t e = 0; e < 2 * w.rows.count; e++) {
        const double once = (double)gradient[1][e] - (double)gradient[0][e];
        const double twice = (double)gradient[2][e] - (double)gradient[0][e];
        assert_true(fabs(twice - 2 * once) < 1e-6 * most);
    }
}

/* It waits for the end of the first phase, or for its iteration. */
static void it_is_on_when_it_should_be(void **state) {
    static world w;
    ikt_objective_options options = asked(IKT_REPULSION_EXACT, IKT_REGULARISER_SUM, 1);
    make(*state, 2, &options, &w);
    assert_string_equal(w.objective.kind->value_name, "cost");
    w.objective.is_exaggerated = true;
    evaluate(&w, 0);
    assert_int_equal(w.terms.eigenvalues, 0);
    const double divergence = w.terms.value;
    w.objective.is_exaggerated = false;
    evaluate(&w, 1);
    assert_int_equal(w.terms.eigenvalues, GROUPS - 1);
    assert_true(w.terms.divergence == divergence);
    double sum = 0;
    for (int k = 0; k < GROUPS - 1; k++)
        sum += w.terms.eigenvalue[k];
    assert_true(fabs(w.terms.value - divergence - 0.3 * sum) < 1e-12);
    destroy(&w);
}

/* Sums by FFT against exact ones: the gradient of the regulariser alone, and the
 * eigenvalues, at eigenvectors that are settled. */
static void approximate_sums_are_accurate(void **state) {
    static const struct {
        int repulsion, accuracy;
        double gradient, eigenvalue;
    } ways[] = {{IKT_REPULSION_FFT, IKT_ACCURACY_DEFAULT, 1e-2, 1e-4},
                {IKT_REPULSION_FFT, IKT_ACCURACY_TIGHT, 1e-4, 1e-6}};
    static float exact[2 * N];
    static world w, plain;
    double sigma[GROUPS];
    ikt_objective_options options = asked(IKT_REPULSION_EXACT, IKT_REGULARISER_SUM, 1);
    options.regulariser.vectors = IKT_EIGENVECTORS_EXACT;
    options.regulariser.weight = 1;
    for (int k = -1; k < 2; k++) {
        double square = 0, error = 0;
        options.repulsion = k < 0 ? IKT_REPULSION_EXACT : ways[k].repulsion;
        options.accuracy = k < 0 ? IKT_ACCURACY_DEFAULT : ways[k].accuracy;
        options.regulariser.kind = IKT_REGULARISER_NONE;
        make(*state, 2, &options, &plain);
        evaluate(&plain, 0);
        options.regulariser.kind = IKT_REGULARISER_LAPLACIAN;
        make(*state, 2, &options, &w);
        evaluate(&w, 0);
        for (int64_t e = 0; e < 2 * w.rows.count; e++) {
            const float own = gradient_at(&w, e) - gradient_at(&plain, e);
            if (k < 0) exact[e] = own;
            const double away = (double)own - (double)exact[e];
            square += (double)exact[e] * (double)exact[e];
            error += away * away;
        }
        const double sums[2] = {error, square};
        const double all = ikt_exact_total(*state, sums, 1);
        const double relative = sqrt(all / ikt_exact_total(*state, sums + 1, 1));
        for (int j = 0; j < GROUPS - 1; j++) {
            if (k < 0) sigma[j] = w.terms.eigenvalue[j];
            assert_true(k < 0 || fabs(w.terms.eigenvalue[j] - sigma[j]) < ways[k].eigenvalue);
        }
        assert_true(k < 0 || relative < ways[k].gradient);
        destroy(&plain);
        destroy(&w);
    }
}

IKT_MPI_TESTS(ikt_test(bits_do_not_depend_on_ranks_and_threads), ikt_test(a_state_is_gone_on_from),
              ikt_test(a_weight_of_zero_leaves_the_gradient),
              ikt_test(the_gradient_is_linear_in_the_weight), ikt_test(it_is_on_when_it_should_be),
              ikt_test(approximate_sums_are_accurate))
