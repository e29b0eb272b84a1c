/* The regulariser of LaptSNE against central differences of its value in plain doubles, and maps
 * whose graphs are special. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "objective/laplacian.h"
#include "support/map_spectrum.h"

enum { N = 60, Q = 2, RANKS_TRIED = 4 };
static const int ranks[RANKS_TRIED] = {2, 3, 5, 8};

/* --- a map and what the regulariser makes of it ----------------------------------------------- */

typedef struct {
    int n;
    float y[2 * SPECTRUM_MOST];
} map;

/* Three clusters, not far apart. */
static map clustered(void) {
    static const double centre[3][2] = {{0, 0}, {6, 1}, {2, 7}};
    map m = {.n = N};
    for (int i = 0; i < N; i++)
        for (int c = 0; c < Q; c++)
            m.y[Q * i + c] =
                (float)(centre[i % 3][c] + 1.3 * ikt_rng_normal(21, IKT_RNG_TEST, i, (uint64_t)c));
    return m;
}

static void as_doubles(const map *m, double *y) {
    for (int e = 0; e < Q * m->n; e++)
        y[e] = (double)m->y[e];
}

/* A regulariser with exact sums, and all that an evaluation needs. */
typedef struct {
    ikt_context *ctx;
    ikt_rows rows;
    ikt_kernelsum *sums;
    ikt_regulariser *laplacian;
    float y[Q * SPECTRUM_MOST], field[Q * SPECTRUM_MOST];
    double phi[SPECTRUM_MOST];
    ikt_laplacian_terms terms;
    double gradient[Q * SPECTRUM_MOST]; /* of all rows */
} regulariser;

static ikt_regulariser_settings asked(int rank, int form, int vectors) {
    return (ikt_regulariser_settings){.kind = IKT_REGULARISER_LAPLACIAN,
                                      .form = form,
                                      .weight = 1,
                                      .rank = rank,
                                      .every = 1,
                                      .vectors = vectors,
                                      .residual = 1e-9};
}

static void create(ikt_context *ctx, int n, const ikt_regulariser_settings *settings,
                   regulariser *r) {
    memset(r, 0, sizeof *r);
    r->ctx = ctx;
    r->rows = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    assert_int_equal(ikt_kernelsum_create_exact(ctx, &r->rows, Q, ikt_student, &r->sums), IKT_OK);
    const ikt_laplacian_setup setup = {.rows = r->rows,
                                       .q = Q,
                                       .settings = *settings,
                                       .columns = ikt_regulariser_columns(settings->rank, n),
                                       .seed = 5,
                                       .sums = r->sums,
                                       .floor = 1e-5};
    assert_int_equal(ikt_laplacian_create(ctx, &setup, &r->laplacian), IKT_OK);
}

static void destroy(regulariser *r) {
    ikt_regulariser_destroy(&r->laplacian);
    ikt_kernelsum_destroy(&r->sums);
    assert_int_equal(ikt_memory_now(r->ctx), 0);
}

/* The gradient of lambda = 1 alone, of all rows on every rank. */
static void evaluate(regulariser *r, const map *m, int64_t iteration) {
    float own[Q * SPECTRUM_MOST], all[Q * SPECTRUM_MOST];
    int64_t counts[16];
    const int64_t count = r->rows.count;
    memcpy(r->y, m->y + Q * r->rows.first, (size_t)(Q * count) * sizeof *r->y);
    const ikt_kernelsum_request request = {.y = r->y, .value = r->phi, .gradient = r->field};
    assert_int_equal(ikt_kernelsum_evaluate(r->sums, &request), IKT_OK);
    const ikt_laplacian_map at = {iteration, r->y, r->phi, r->field, true};
    assert_int_equal(ikt_laplacian_evaluate(r->laplacian, &at, 0, own, &r->terms), IKT_OK);
    for (int k = 0; k < ikt_size(r->ctx); k++)
        counts[k] = ikt_rows_count(&r->rows, k);
    ikt_allgather(r->ctx, own, count, Q * sizeof *own, all, counts);
    for (int e = 0; e < Q * m->n; e++)
        r->gradient[e] = (double)all[e];
}

/* --- measures --------------------------------------------------------------------------------- */

static double largest(const double *a, int count) {
    double most = 0;
    for (int e = 0; e < count; e++)
        most = fmax(most, fabs(a[e]));
    return most;
}

/* Largest difference of two gradients beside the largest entry of the second. */
static double distance(const double *a, const double *b, int count) {
    double most = 0;
    for (int e = 0; e < count; e++) {
        assert_true(isfinite(a[e]) && isfinite(b[e]));
        most = fmax(most, fabs(a[e] - b[e]));
    }
    return most / largest(b, count);
}

static double cosine(const double *a, const double *b, int count) {
    double ab = 0, aa = 0, bb = 0;
    for (int e = 0; e < count; e++) {
        ab += a[e] * b[e];
        aa += a[e] * a[e];
        bb += b[e] * b[e];
    }
    return ab / sqrt(aa * bb);
}

/* Central differences of the value for every rank and both forms at the clustered map, once. */
static const double *differences(int rank, bool is_log) {
    static double found[RANKS_TRIED][2][Q * N];
    static bool is_found = false;
    static spectrum s;
    const double step = 3e-5;
    double y[Q * N];
    const map m = clustered();
    as_doubles(&m, y);
    for (int e = 0; e < Q * N && !is_found; e++) {
        const double at = y[e];
        for (int side = 1; side >= -1; side -= 2) {
            y[e] = at + side * step;
            spectrum_find(y, N, &s);
            for (int k = 0; k < RANKS_TRIED; k++)
                for (int form = 0; form < 2; form++)
                    found[k][form][e] +=
                        side * spectrum_value(&s, ranks[k], form == 1) / (2 * step);
        }
        y[e] = at;
    }
    is_found = true;
    for (int k = 0; k < RANKS_TRIED; k++)
        if (ranks[k] == rank) return found[k][is_log];
    fail();
    return NULL;
}

/* --- the formula ------------------------------------------------------------------------------ */

static void the_formula_is_the_gradient_and_the_printed_one_is_not(void **state) {
    const map m = clustered();
    double y[Q * N], gradient[Q * N];
    static spectrum s;
    (void)state;
    as_doubles(&m, y);
    spectrum_find(y, N, &s);
    assert_true(fabs(s.sigma[0]) < 1e-13);
    for (int k = 0; k < RANKS_TRIED; k++) {
        for (int form = 0; form < 2; form++) {
            spectrum_gradient(&s, y, ranks[k], form == 1, gradient);
            assert_true(distance(gradient, differences(ranks[k], form == 1), Q * N) < 1e-7);
        }
        /* Not even up to a factor. */
        spectrum_printed(&s, y, ranks[k], gradient);
        const double *truth = differences(ranks[k], false);
        assert_true(distance(gradient, truth, Q * N) > 0.1);
        assert_true(cosine(gradient, truth, Q * N) < 0.9);
    }
}

static void the_gradient_is_that_of_the_value(void **state) {
    ikt_context *ctx = *state;
    const map m = clustered();
    double y[Q * N];
    static spectrum s;
    static regulariser r;
    as_doubles(&m, y);
    spectrum_find(y, N, &s);
    for (int k = 0; k < RANKS_TRIED; k++)
        for (int form = IKT_REGULARISER_SUM; form <= IKT_REGULARISER_LOG; form++) {
            const bool is_log = form == IKT_REGULARISER_LOG;
            const ikt_regulariser_settings settings = asked(ranks[k], form, IKT_EIGENVECTORS_EXACT);
            create(ctx, N, &settings, &r);
            evaluate(&r, &m, 7);
            assert_true(distance(r.gradient, differences(ranks[k], is_log), Q * N) < 1e-6);
            assert_int_equal(r.terms.count, ranks[k] - 1);
            for (int j = 0; j < r.terms.count; j++)
                assert_true(fabs(r.terms.eigenvalue[j] - s.sigma[j + 1]) < 1e-7);
            const double value = spectrum_value(&s, ranks[k], is_log);
            assert_true(fabs(r.terms.value - value) < 1e-6 * fabs(value));
            assert_true(r.terms.residual < 1e-6);
            assert_int_equal(r.terms.isolated, 0);
            destroy(&r);
        }
}

/* Vectors that are followed come to the same at a map that stands still. */
static void followed_vectors_arrive(void **state) {
    ikt_context *ctx = *state;
    const map m = clustered();
    for (int every = 1; every <= 3; every += 2) {
        static regulariser r;
        ikt_regulariser_settings settings =
            asked(3, IKT_REGULARISER_SUM, IKT_EIGENVECTORS_FOLLOWED);
        settings.every = every;
        create(ctx, N, &settings, &r);
        double first = 0;
        for (int iteration = 10; iteration <= 10 + 60 * every; iteration++) {
            evaluate(&r, &m, iteration);
            if (iteration == 10) first = distance(r.gradient, differences(3, false), Q * N);
        }
        const double last = distance(r.gradient, differences(3, false), Q * N);
        assert_true(first > 10 * last && first < 0.5);
        assert_true(last < 2e-6);
        destroy(&r);
    }
}

/* --- what the gradient must not depend on ----------------------------------------------------- */

static void maps_may_be_moved_turned_and_reordered(void **state) {
    ikt_context *ctx = *state;
    const map m = clustered();
    const double angle = 0.7, across = cos(angle), along = sin(angle);
    map other = m;
    double sum[Q] = {0, 0}, moment = 0, gradient[Q * N], expected[Q * N];
    static regulariser r;
    const ikt_regulariser_settings settings = asked(3, IKT_REGULARISER_LOG, IKT_EIGENVECTORS_EXACT);
    create(ctx, N, &settings, &r);
    evaluate(&r, &m, 0);
    memcpy(gradient, r.gradient, sizeof gradient);
    for (int i = 0; i < N; i++) {
        for (int c = 0; c < Q; c++)
            sum[c] += gradient[Q * i + c];
        moment +=
            (double)m.y[Q * i] * gradient[Q * i + 1] - (double)m.y[Q * i + 1] * gradient[Q * i];
    }
    const double size = largest(gradient, Q * N);
    assert_true(fabs(sum[0]) < 1e-5 * size && fabs(sum[1]) < 1e-5 * size);
    assert_true(fabs(moment) < 1e-4 * size);
    destroy(&r);

    for (int i = 0; i < N; i++) { /* row i becomes row N - 1 - i, turned and moved */
        const double x = (double)m.y[Q * i], y = (double)m.y[Q * i + 1];
        const double gx = gradient[Q * i], gy = gradient[Q * i + 1];
        const int to = Q * (N - 1 - i);
        other.y[to] = (float)(across * x - along * y + 40);
        other.y[to + 1] = (float)(along * x + across * y - 13);
        expected[to] = across * gx - along * gy;
        expected[to + 1] = along * gx + across * gy;
    }
    create(ctx, N, &settings, &r);
    evaluate(&r, &other, 0);
    assert_true(distance(r.gradient, expected, Q * N) < 5e-5); /* floats at 40 */
    destroy(&r);
}

/* Whatever basis of their space the vectors begin with, turned and with which signs. */
static void the_basis_does_not_matter(void **state) {
    ikt_context *ctx = *state;
    const map m = clustered();
    double before[Q * N];
    static regulariser r;
    const ikt_regulariser_settings settings =
        asked(3, IKT_REGULARISER_SUM, IKT_EIGENVECTORS_FOLLOWED);
    const int64_t columns = ikt_regulariser_columns(3, N);
    create(ctx, N, &settings, &r);
    for (int iteration = 0; iteration < 5; iteration++)
        evaluate(&r, &m, iteration);
    memcpy(before, r.gradient, sizeof before);
    float *block = ikt_laplacian_state_block(r.laplacian, 4);
    for (int64_t i = 0; i < r.rows.count; i++) {
        float *row = block + i * columns;
        const double a = (double)row[0], b = (double)row[1];
        row[0] = (float)(0.8 * a - 0.6 * b);
        row[1] = (float)(0.6 * a + 0.8 * b);
        row[2] = -row[2];
    }
    evaluate(&r, &m, 4);
    assert_true(distance(r.gradient, before, Q * N) < 1e-5);
    destroy(&r);
}

/* --- maps whose graphs are special ------------------------------------------------------------ */

static void far_groups_have_small_eigenvalues(void **state) {
    ikt_context *ctx = *state;
    map m = {.n = N};
    double size[2];
    for (int i = 0; i < N; i++)
        for (int c = 0; c < Q; c++)
            m.y[Q * i + c] = (float)(ikt_rng_normal(22, IKT_RNG_TEST, i, (uint64_t)c) +
                                     (i % 2 == 1 && c == 0 ? 1000 : 0));
    for (int form = 0; form < 2; form++) {
        static regulariser r;
        const ikt_regulariser_settings settings = asked(2, form, IKT_EIGENVECTORS_EXACT);
        create(ctx, N, &settings, &r);
        evaluate(&r, &m, 0);
        /* Two of 30 rows: 30 weights of 1e-6 between, beside about 10 within, on either side. */
        assert_true(r.terms.eigenvalue[0] > -1e-7 && r.terms.eigenvalue[0] < 2e-5);
        size[form] = largest(r.gradient, Q * N);
        assert_true(isfinite(r.terms.value) && isfinite(size[form]));
        destroy(&r);
    }
    assert_true(size[0] < 1e-5);
    assert_true(size[1] > 10 * size[0] && size[1] < 1e3);
}

/* At the corners of a triangle the eigenvalues 2 and 3 are one and the same: their space is
 * determined, their vectors are not. */
static void equal_groups_pull_alike(void **state) {
    ikt_context *ctx = *state;
    const double turn = 2.0943951023931953, across = cos(turn), along = sin(turn);
    map m = {.n = N};
    static regulariser r;
    for (int i = 0; i < N; i += 3)
        for (int k = 0; k < 3; k++) {
            const double x = 5 + ikt_rng_normal(23, IKT_RNG_TEST, i, 0);
            const double y = ikt_rng_normal(23, IKT_RNG_TEST, i, 1);
            m.y[Q * (i + k)] = (float)(cos(k * turn) * x - sin(k * turn) * y);
            m.y[Q * (i + k) + 1] = (float)(sin(k * turn) * x + cos(k * turn) * y);
        }
    const ikt_regulariser_settings settings = asked(3, IKT_REGULARISER_SUM, IKT_EIGENVECTORS_EXACT);
    create(ctx, N, &settings, &r);
    evaluate(&r, &m, 0);
    assert_true(fabs(r.terms.eigenvalue[0] - r.terms.eigenvalue[1]) < 1e-6);
    const double size = largest(r.gradient, Q * N);
    for (int i = 0; i < N; i++) {
        const int next = i % 3 == 2 ? i - 2 : i + 1;
        const double *g = r.gradient + Q * i, *turned = r.gradient + Q * next;
        assert_true(fabs(across * g[0] - along * g[1] - turned[0]) < 1e-4 * size);
        assert_true(fabs(along * g[0] + across * g[1] - turned[1]) < 1e-4 * size);
    }
    destroy(&r);
}

static void rows_in_one_place_neither_loop_nor_spoil(void **state) {
    ikt_context *ctx = *state;
    for (int vectors = 0; vectors < 2; vectors++)
        for (int form = 0; form < 2; form++) {
            map m = {.n = N};
            static regulariser r;
            const ikt_regulariser_settings settings = asked(5, form, vectors);
            for (int e = 0; e < Q * N; e++)
                m.y[e] = 3.25f;
            create(ctx, N, &settings, &r);
            for (int iteration = 0; iteration < 3; iteration++) {
                evaluate(&r, &m, iteration);
                assert_true(largest(r.gradient, Q * N) < 1e-4);
                for (int k = 0; k < 4; k++)
                    assert_true(fabs(r.terms.eigenvalue[k] - (1 + 1.0 / (N - 1))) < 1e-5);
            }
            destroy(&r);
        }
}

static void a_row_far_from_all_is_counted_and_keeps_its_degree(void **state) {
    ikt_context *ctx = *state;
    for (int vectors = 0; vectors < 2; vectors++) {
        map m = clustered();
        static regulariser r;
        const ikt_regulariser_settings settings = asked(3, IKT_REGULARISER_SUM, vectors);
        m.y[Q * 17] = 1e5f;
        create(ctx, N, &settings, &r);
        for (int iteration = 0; iteration < 30; iteration++)
            evaluate(&r, &m, iteration);
        assert_int_equal(r.terms.isolated, 1);
        assert_true(isfinite(largest(r.gradient, Q * N)));
        assert_true(fabs(r.gradient[Q * 17]) < 1e-6);
        assert_true(r.terms.eigenvalue[0] > 0.01 && r.terms.eigenvalue[1] < 1);
        destroy(&r);
    }
}

/* As few rows as there can be for a rank, where the block is all that there is. */
static void few_rows_are_enough(void **state) {
    ikt_context *ctx = *state;
    const map all = clustered();
    for (int n = 4; n <= 9; n++)
        for (int rank = 2; rank <= n; rank++) {
            map m = all;
            double y[Q * N], expected[Q * N];
            static spectrum s;
            static regulariser r;
            const ikt_regulariser_settings settings =
                asked(rank, IKT_REGULARISER_SUM, IKT_EIGENVECTORS_EXACT);
            m.n = n;
            as_doubles(&m, y);
            spectrum_find(y, n, &s);
            create(ctx, n, &settings, &r);
            evaluate(&r, &m, 0);
            for (int k = 0; k + 1 < rank; k++)
                assert_true(fabs(r.terms.eigenvalue[k] - s.sigma[k + 1]) < 1e-6);
            if (rank < n) { /* all eigenvalues together are n, whatever the map */
                spectrum_gradient(&s, y, rank, false, expected);
                assert_true(distance(r.gradient, expected, Q * n) < 1e-4);
            } else {
                assert_true(fabs(r.terms.value - n) < 1e-5);
                assert_true(largest(r.gradient, Q * n) < 1e-6);
            }
            destroy(&r);
        }
}

IKT_MPI_TESTS(ikt_test(the_formula_is_the_gradient_and_the_printed_one_is_not),
              ikt_test(the_gradient_is_that_of_the_value), ikt_test(followed_vectors_arrive),
              ikt_test(maps_may_be_moved_turned_and_reordered), ikt_test(the_basis_does_not_matter),
              ikt_test(far_groups_have_small_eigenvalues), ikt_test(equal_groups_pull_alike),
              ikt_test(rows_in_one_place_neither_loop_nor_spoil),
              ikt_test(a_row_far_from_all_is_counted_and_keeps_its_degree),
              ikt_test(few_rows_are_enough))
