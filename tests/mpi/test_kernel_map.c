/* Similarities to chosen rows, and kernel PCA on them: against plain formulas in double precision,
 * known equalities, and bit for bit against one rank. */
#include "support/kernel_world.h"

#include "linalg/eigen.h"
#include "linalg/pca.h"
#include "similarity/kernel_map.h"

/* --- similarities ----------------------------------------------------------------------------- */

static double expected(const world *w, ikt_similarity_kind kind, double bandwidth,
                       const ikt_codes *all, int64_t i, int64_t j) {
    int64_t equal = 0;
    if (kind == IKT_SIMILARITY_GAUSSIAN)
        return exp(-gap(w->gram, i, j) / (2 * bandwidth * bandwidth));
    if (kind != IKT_SIMILARITY_ISOLATION) return w->gram[i * N + j];
    for (int64_t p = 0; p < all->t; p++)
        equal += ikt_code_entry(all, i, p) == ikt_code_entry(all, j, p);
    return (double)equal / (double)all->t;
}

/* Similarities of all own rows. */
typedef struct {
    double k[N * N], self[N]; /* [rows * m], [rows] */
} own_rows;

static own_rows *own_rows_make(const compared *c) {
    own_rows *own = calloc(1, sizeof *own);
    assert_int_equal(
        ikt_similarities_of_rows(c->similar, c->rows.first, c->rows.count, own->k, own->self),
        IKT_OK);
    return own;
}

static void check_rows(const world *w, const compared *c, const own_rows *own, int64_t m,
                       ikt_similarity_kind kind, double bandwidth, const ikt_codes *all,
                       const int64_t *chosen) {
    for (int64_t i = 0; i < c->rows.count; i++) {
        const int64_t row = c->rows.first + i;
        const double self = expected(w, kind, bandwidth, all, row, row);
        assert_true(fabs(own->self[i] - self) <= 1e-12 * fabs(self));
        for (int64_t l = 0; l < m; l++) {
            const double wanted = expected(w, kind, bandwidth, all, row, chosen[l]);
            assert_true(fabs(own->k[i * m + l] - wanted) <= 1e-6 * fabs(wanted) + 1e-9);
        }
    }
}

/* Inner products of the rows as a data set has them, which may have lost a common offset. */
static void take_products(world *w, ikt_dataset *data) {
    float x[N * D];
    assert_int_equal(ikt_dataset_read(data, 0, N, x), IKT_OK);
    memset(w->gram, 0, sizeof w->gram);
    for (int64_t e = 0; e < N * N; e++)
        for (int64_t c = 0; c < D; c++)
            w->gram[e] += (double)x[e / N * D + c] * (double)x[e % N * D + c];
}

static void similarities_are_those_of_the_formulas(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    static const ikt_similarity_kind kinds[] = {IKT_SIMILARITY_LINEAR, IKT_SIMILARITY_GAUSSIAN,
                                                IKT_SIMILARITY_ISOLATION, IKT_SIMILARITY_GIVEN};
    const double bandwidth = 1.5;
    world *w = world_make();
    int64_t chosen[N];
    for (int run = 0; run < 8; run++) {
        const ikt_similarity_kind kind = kinds[run / 2];
        const int64_t m = choose(run % 2, chosen);
        compared c, one;
        double *k = malloc((size_t)(m * m) * sizeof *k), *again = malloc((size_t)m * sizeof *k);
        compared_make(ctx, w, kind, bandwidth, chosen, m, &c);
        compared_make(alone, w, kind, bandwidth, chosen, m, &one);
        own_rows *own = own_rows_make(&c), *of_one = own_rows_make(&one);
        if (kind == IKT_SIMILARITY_LINEAR) take_products(w, one.data);
        check_rows(w, &c, own, m, kind, bandwidth, &one.codes, chosen);
        assert_memory_equal(own->k, of_one->k + c.rows.first * m,
                            (size_t)(c.rows.count * m) * sizeof *own->k);
        /* Chosen rows with each other are what rows with chosen ones are; in any order. */
        assert_int_equal(ikt_similarities_of_chosen(one.similar, 0, m, k), IKT_OK);
        for (int64_t l = 0; l < m; l++) {
            assert_int_equal(ikt_similarities_of_rows(one.similar, chosen[l], 1, again, NULL),
                             IKT_OK);
            assert_memory_equal(again, k + l * m, (size_t)m * sizeof *k);
            for (int64_t j = 0; j < m; j++)
                assert_true(k[l * m + j] == k[j * m + l]);
        }
        free(k);
        free(again);
        free(own);
        free(of_one);
        compared_end(&c);
        compared_end(&one);
        assert_int_equal(ikt_memory_now(ctx), 0);
    }
    free(w);
    ikt_context_destroy(&alone);
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void the_bandwidth_is_half_of_the_median_distance(void **state) {
    ikt_context *ctx = *state;
    world *w = world_make();
    double all[N * (N - 1) / 2];
    int64_t chosen[N], count = 0;
    const int64_t m = choose(false, chosen);
    compared c;
    for (int64_t a = 0; a < m; a++)
        for (int64_t b = a + 1; b < m; b++)
            all[count++] = gap(w->gram, chosen[a], chosen[b]);
    qsort(all, (size_t)count, sizeof *all, ascending);
    compared_make(ctx, w, IKT_SIMILARITY_GAUSSIAN, 0, chosen, m, &c);
    const double wanted = sqrt(all[count / 2]) / 2;
    assert_true(fabs(ikt_similarities_bandwidth(c.similar) - wanted) <= 1e-9 * wanted);
    compared_end(&c);
    free(w);
}

/* --- kernel PCA ------------------------------------------------------------------------------- */

/* Largest difference of one column of two maps of the own rows, up to sign. */
static double apart(ikt_context *ctx, const double *a, const double *b, int64_t count, int q,
                    int axis) {
    double same = 0, turned = 0;
    for (int64_t i = 0; i < count; i++) {
        same = fmax(same, fabs(a[i * q + axis] - b[i * q + axis]));
        turned = fmax(turned, fabs(a[i * q + axis] + b[i * q + axis]));
    }
    double both[2] = {same, turned};
    MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    (void)ctx;
    return fmin(both[0], both[1]);
}

static void linear_components_are_those_of_pca(void **state) {
    ikt_context *ctx = *state;
    world *w = world_make();
    int64_t chosen[N];
    choose(true, chosen);
    for (int run = 0; run < 4; run++) {
        const int q = 2 + run % 2;
        double y[N * 3], scores[N * 3];
        compared c, rows;
        ikt_kernel_map map;
        ikt_kernel_pca_facts facts;
        ikt_pca *pca = NULL;
        compared_make(ctx, w, run < 2 ? IKT_SIMILARITY_LINEAR : IKT_SIMILARITY_GIVEN, 0, chosen, N,
                      &c);
        compared_make(ctx, w, IKT_SIMILARITY_LINEAR, 0, chosen, N, &rows);
        const ikt_row_reader reader = ikt_dataset_reader(rows.data);
        assert_int_equal(ikt_pca_fit(ctx, &reader, q, &pca), IKT_OK);
        assert_int_equal(ikt_pca_scores(ctx, pca, &reader, c.rows.first, c.rows.count, scores),
                         IKT_OK);
        assert_int_equal(
            ikt_kernel_pca_fit(ctx, c.similar, N, q, IKT_EIGEN_ALONE_MAX, &map, &facts), IKT_OK);
        assert_int_equal(ikt_kernel_map_place(ctx, &map, c.similar, &c.rows, y, NULL), IKT_OK);
        for (int axis = 0; axis < q; axis++) {
            assert_true(apart(ctx, y, scores, c.rows.count, q, axis) <= 1e-8);
            assert_true(fabs(facts.value[axis] - (N - 1) * pca->variance[axis]) <=
                        1e-8 * facts.value[0]);
            /* A row of the map has its own coordinate v sqrt(lambda); the largest is positive. */
            double largest = 0;
            for (int64_t l = 0; l < N; l++) {
                const double own = map.weight[axis * N + l] * facts.value[axis];
                const int64_t i = l - c.rows.first;
                if (fabs(own) > fabs(largest)) largest = own;
                if (i >= 0 && i < c.rows.count) assert_true(fabs(y[i * q + axis] - own) <= 1e-8);
            }
            assert_true(largest > 0);
        }
        assert_true(fabs(facts.trace - (N - 1) * pca->total_variance) <= 1e-8 * facts.trace);
        ikt_pca_destroy(&pca);
        ikt_kernel_map_destroy(&map);
        compared_end(&c);
        compared_end(&rows);
    }
    assert_int_equal(ikt_memory_now(ctx), 0);
    free(w);
}

/* The new-row formula as it is written, from k(x, s) and K of the landmarks. */
static void place_plainly(const double *k, const double *kernel, int64_t m, const double *v,
                          double lambda, double *y) {
    double mean = 0, all = 0;
    *y = 0;
    for (int64_t l = 0; l < m; l++)
        mean += k[l] / (double)m;
    for (int64_t e = 0; e < m * m; e++)
        all += kernel[e] / (double)(m * m);
    for (int64_t l = 0; l < m; l++) {
        double of_row = 0;
        for (int64_t j = 0; j < m; j++)
            of_row += kernel[l * m + j] / (double)m;
        *y += (k[l] - mean - of_row + all) * v[l] / sqrt(lambda);
    }
}

static void other_rows_are_placed_by_landmarks(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    enum { Q = 2 };
    const double h = 1.2;
    world *w = world_make();
    int64_t chosen[N];
    const int64_t m = choose(false, chosen);
    double y[N * Q], of_one[N * Q], *kernel = malloc((size_t)(m * m) * sizeof *kernel);
    compared c, one;
    ikt_kernel_map map, map_of_one;
    ikt_kernel_pca_facts facts;
    for (int64_t e = 0; e < m * m; e++)
        kernel[e] = exp(-gap(w->gram, chosen[e / m], chosen[e % m]) / (2 * h * h));
    compared_make(ctx, w, IKT_SIMILARITY_GAUSSIAN, h, chosen, m, &c);
    compared_make(alone, w, IKT_SIMILARITY_GAUSSIAN, h, chosen, m, &one);
    assert_int_equal(ikt_kernel_pca_fit(ctx, c.similar, m, Q, IKT_EIGEN_ALONE_MAX, &map, &facts),
                     IKT_OK);
    assert_int_equal(ikt_kernel_map_place(ctx, &map, c.similar, &c.rows, y, NULL), IKT_OK);
    for (int64_t i = 0; i < c.rows.count; i++) {
        double k[N], v[N], wanted;
        for (int64_t l = 0; l < m; l++)
            k[l] = exp(-gap(w->gram, c.rows.first + i, chosen[l]) / (2 * h * h));
        for (int axis = 0; axis < Q; axis++) {
            for (int64_t l = 0; l < m; l++)
                v[l] = map.weight[axis * m + l] * sqrt(facts.value[axis]);
            place_plainly(k, kernel, m, v, facts.value[axis], &wanted);
            assert_true(fabs(y[i * Q + axis] - wanted) <= 1e-10);
        }
    }
    assert_int_equal(
        ikt_kernel_pca_fit(alone, one.similar, m, Q, IKT_EIGEN_ALONE_MAX, &map_of_one, &facts),
        IKT_OK);
    assert_int_equal(ikt_kernel_map_place(alone, &map_of_one, one.similar, &one.rows, of_one, NULL),
                     IKT_OK);
    assert_memory_equal(y, of_one + c.rows.first * Q, (size_t)(c.rows.count * Q) * sizeof *y);
    ikt_kernel_map_destroy(&map);
    ikt_kernel_map_destroy(&map_of_one);
    /* Over a grid of all ranks: the same but for rounding. */
    assert_int_equal(ikt_kernel_pca_fit(ctx, c.similar, m, Q, 8, &map, &facts), IKT_OK);
    assert_int_equal(ikt_kernel_map_place(ctx, &map, c.similar, &c.rows, y, NULL), IKT_OK);
    for (int64_t e = 0; e < c.rows.count * Q; e++)
        assert_true(fabs(y[e] - of_one[c.rows.first * Q + e]) <= 1e-10);
    ikt_kernel_map_destroy(&map);
    compared_end(&c);
    compared_end(&one);
    free(kernel);
    free(w);
    ikt_context_destroy(&alone);
}

static void too_few_eigenvalues_are_refused(void **state) {
    ikt_context *ctx = *state;
    world *w = world_make();
    int64_t chosen[N];
    compared c;
    ikt_kernel_map map;
    ikt_kernel_pca_facts facts;
    choose(true, chosen);
    for (int64_t e = 0; e < N * N; e++) /* one direction alone, and no negative one */
        w->gram[e] = (double)(e / N) * (double)(e % N);
    compared_make(ctx, w, IKT_SIMILARITY_GIVEN, 0, chosen, N, &c);
    assert_int_equal(ikt_kernel_pca_fit(ctx, c.similar, N, 2, IKT_EIGEN_ALONE_MAX, &map, &facts),
                     IKT_ERR_DATA);
    assert_non_null(strstr(ikt_message(ctx), "kernel PCA: 1 of"));
    ikt_clear(ctx);
    assert_int_equal(ikt_kernel_pca_fit(ctx, c.similar, N, 1, IKT_EIGEN_ALONE_MAX, &map, &facts),
                     IKT_OK);
    ikt_kernel_map_destroy(&map);
    compared_end(&c);
    assert_int_equal(ikt_memory_now(ctx), 0);
    free(w);
}

IKT_MPI_TESTS(ikt_test(similarities_are_those_of_the_formulas),
              ikt_test(the_bandwidth_is_half_of_the_median_distance),
              ikt_test(linear_components_are_those_of_pca),
              ikt_test(other_rows_are_placed_by_landmarks),
              ikt_test(too_few_eigenvalues_are_refused))
