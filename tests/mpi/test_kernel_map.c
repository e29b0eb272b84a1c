/* Similarities to chosen rows, maps of them (kernel PCA, kernel discriminant analysis), and
 * matrices that are made definite: against plain formulas in double precision, known equalities,
 * and bit for bit against one rank. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "isolation/model.h"
#include "linalg/eigen.h"
#include "linalg/pca.h"
#include "similarity/kernel_map.h"
#include "similarity/similarity_matrix.h"

enum { N = 93, D = 21, CLASSES = 4 };

/* --- rows, their matrix of inner products, and what compares them ----------------------------- */

typedef struct {
    float x[N * D];
    double gram[N * N];
    int64_t label[N];
} world;

static world *world_make(void) {
    world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    for (int64_t i = 0; i < N; i++) {
        w->label[i] = 10 * (i * 7 % CLASSES);
        for (int64_t c = 0; c < D; c++)
            w->x[i * D + c] =
                (float)(ikt_rng_normal(3, IKT_RNG_TEST, i, (uint64_t)c) / (double)(1 + c) +
                        (c % CLASSES == i * 7 % CLASSES ? 0.8 : 0) + 3);
    }
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            for (int64_t c = 0; c < D; c++)
                w->gram[i * N + j] += (double)w->x[i * D + c] * (double)w->x[j * D + c];
    return w;
}

static double gap(const double *k, int64_t i, int64_t j) {
    return k[i * N + i] + k[j * N + j] - 2 * k[i * N + j];
}

typedef struct {
    ikt_source *source;
    ikt_dataset *data;
    ikt_rows rows;
    ikt_codes codes;
    ikt_similarities *similar;
} compared;

/* Compares the rows of a world with chosen ones. */
static void compared_make(ikt_context *ctx, const world *w, ikt_similarity_kind kind,
                          double bandwidth, const int64_t *chosen, int64_t m, compared *out) {
    const bool is_given = kind == IKT_SIMILARITY_GIVEN;
    const ikt_preprocess_settings as_read = {.normalise = IKT_NORMALISE_NONE,
                                             .metric = is_given ? IKT_METRIC_PRECOMPUTED
                                                                : IKT_METRIC_EUCLIDEAN,
                                             .matrix = IKT_MATRIX_SIMILARITIES,
                                             .is_indefinite = true};
    ikt_model *model = NULL;
    *out = (compared){.rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx))};
    const void *rows = is_given ? (const void *)w->gram : w->x;
    assert_int_equal(ikt_source_from_memory(ctx, rows, N, is_given ? N : D,
                                            is_given ? IKT_TYPE_F64 : IKT_TYPE_F32, &out->source),
                     IKT_OK);
    assert_int_equal(ikt_dataset_create(ctx, out->source, &as_read, &out->data), IKT_OK);
    ikt_similarity_of of = {.kind = kind, .bandwidth = bandwidth, .data = out->data};
    if (kind == IKT_SIMILARITY_ISOLATION) {
        const ikt_model_spec spec = {.seed = 5, .n = N, .psi = 8, .t = 50};
        assert_int_equal(ikt_model_create(ctx, &spec, &model), IKT_OK);
        assert_int_equal(ikt_codes_compute(ctx, out->data, &out->rows, model, &out->codes, NULL),
                         IKT_OK);
        ikt_model_destroy(&model);
        of.codes = &out->codes;
    }
    assert_int_equal(ikt_similarities_create(ctx, &of, &out->rows, chosen, m, &out->similar),
                     IKT_OK);
}

static void compared_end(compared *c) {
    ikt_similarities_destroy(&c->similar);
    ikt_codes_destroy(&c->codes);
    ikt_dataset_destroy(&c->data);
    ikt_source_close(&c->source);
}

/* All of N rows; or some, which lie unevenly. */
static int64_t choose(bool all, int64_t chosen[N]) {
    int64_t m = 0;
    for (int64_t i = 0; i < N; i++)
        if (all || i % 5 == 1 || i > 70) chosen[m++] = i;
    return m;
}

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

/* --- kernel discriminant analysis ------------------------------------------------------------- */

/* Gauss and Jordan with pivots: x = a^-1 b, n <= N. */
static void solve_plainly(double *a, double *b, int64_t n) {
    for (int64_t p = 0; p < n; p++) {
        int64_t best = p;
        for (int64_t i = p; i < n; i++)
            if (fabs(a[i * n + p]) > fabs(a[best * n + p])) best = i;
        for (int64_t j = 0; j < n; j++) {
            const double kept = a[p * n + j];
            a[p * n + j] = a[best * n + j];
            a[best * n + j] = kept;
        }
        const double kept = b[p];
        b[p] = b[best];
        b[best] = kept;
        for (int64_t i = 0; i < n; i++) {
            const double factor = i == p ? 0 : a[i * n + p] / a[p * n + p];
            for (int64_t j = 0; j < n && factor != 0; j++)
                a[i * n + j] -= factor * a[p * n + j];
            b[i] -= factor * b[p];
        }
    }
    for (int64_t p = 0; p < n; p++)
        b[p] /= a[p * n + p];
}

/* Classes in order, each less what 1 and those before it have of it. */
static int respond_plainly(const int64_t *label, double response[CLASSES][N]) {
    double basis[CLASSES + 1][N];
    int count = 0;
    for (int64_t i = 0; i < N; i++)
        basis[0][i] = 1 / sqrt(N);
    for (int c = 0; c < CLASSES; c++) {
        double *r = basis[count + 1], length = 0;
        for (int64_t i = 0; i < N; i++)
            r[i] = label[i] == 10 * c;
        for (int b = 0; b <= count; b++) {
            double product = 0;
            for (int64_t i = 0; i < N; i++)
                product += r[i] * basis[b][i];
            for (int64_t i = 0; i < N; i++)
                r[i] -= product * basis[b][i];
        }
        for (int64_t i = 0; i < N; i++)
            length += r[i] * r[i];
        if (length < 1e-9) continue;
        for (int64_t i = 0; i < N; i++)
            response[count][i] = r[i] /= sqrt(length);
        count++;
    }
    return count;
}

/* Fits all rows, and gathers nothing: the coordinates of the own rows. */
static void discriminate(ikt_context *ctx, const world *w, int q, double ridge, int64_t alone_max,
                         double *y, ikt_discriminant_facts *facts) {
    int64_t chosen[N];
    compared c;
    ikt_kernel_map map;
    choose(true, chosen);
    compared_make(ctx, w, IKT_SIMILARITY_LINEAR, 0, chosen, N, &c);
    assert_int_equal(
        ikt_discriminant_fit(ctx, c.similar, N, w->label, q, ridge, 1, alone_max, &map, facts),
        IKT_OK);
    assert_int_equal(ikt_kernel_map_place(ctx, &map, c.similar, &c.rows, y, NULL), IKT_OK);
    ikt_kernel_map_destroy(&map);
    compared_end(&c);
}

static void two_classes_lie_along_ridge_lda(void **state) {
    ikt_context *ctx = *state;
    const double ridge = 0.3;
    world *w = world_make();
    double scatter[D * D] = {0}, direction[D] = {0}, mean[D] = {0}, sums[3] = {0, 0, 0}, y[N * 2];
    ikt_discriminant_facts facts;
    for (int64_t i = 0; i < N; i++)
        w->label[i] = w->label[i] == 10; /* two classes of 23 and 70 rows */
    for (int64_t e = 0; e < N * D; e++)
        mean[e % D] += (double)w->x[e] / N;
    int64_t ones = 0;
    for (int64_t i = 0; i < N; i++)
        ones += w->label[i];
    for (int64_t i = 0; i < N; i++)
        for (int64_t a = 0; a < D; a++) {
            const double value = (double)w->x[i * D + a] - mean[a];
            for (int64_t b = 0; b < D; b++)
                scatter[a * D + b] += value * ((double)w->x[i * D + b] - mean[b]);
            direction[a] += value * (w->label[i] ? 1.0 / (double)ones : -1.0 / (double)(N - ones));
        }
    for (int64_t a = 0; a < D; a++)
        scatter[a * D + a] += ridge;
    solve_plainly(scatter, direction, D);
    discriminate(ctx, w, 2, ridge, IKT_EIGEN_ALONE_MAX, y, &facts);
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    for (int64_t i = 0; i < rows.count; i++) {
        double along = 0;
        for (int64_t a = 0; a < D; a++)
            along += ((double)w->x[(rows.first + i) * D + a] - mean[a]) * direction[a];
        assert_true(y[2 * i + 1] == 0); /* there is one discriminant */
        sums[0] += along * along;
        sums[1] += along * y[2 * i];
        sums[2] += y[2 * i] * y[2 * i];
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    assert_true(fabs(sums[1]) / sqrt(sums[0] * sums[2]) > 1 - 1e-8);
    assert_int_equal(facts.classes, 2);
    const double share = (double)ones / N;
    assert_true(fabs(facts.chance - (1 - share * share - (1 - share) * (1 - share))) < 1e-12);
    free(w);
}

static void discriminants_solve_their_equation(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    const double ridge = 2;
    world *w = world_make();
    double response[CLASSES][N], *a = malloc(sizeof w->gram), *centred = malloc(sizeof w->gram);
    double y[N * 3], of_one[N * 3], plane[N * 2], wanted[CLASSES][N], row_mean[N] = {0}, all = 0;
    ikt_discriminant_facts facts;
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    for (int64_t e = 0; e < N * N; e++) {
        row_mean[e / N] += w->gram[e] / N;
        all += w->gram[e] / (N * N);
    }
    for (int64_t e = 0; e < N * N; e++)
        centred[e] = w->gram[e] - row_mean[e / N] - row_mean[e % N] + all;
    assert_int_equal(respond_plainly(w->label, response), CLASSES - 1);
    for (int r = 0; r < CLASSES - 1; r++) {
        double x[N];
        memcpy(x, response[r], sizeof x);
        memcpy(a, centred, sizeof w->gram);
        for (int64_t i = 0; i < N; i++)
            a[i * N + i] += ridge;
        solve_plainly(a, x, N);
        for (int64_t i = 0; i < N; i++) {
            wanted[r][i] = 0;
            for (int64_t j = 0; j < N; j++)
                wanted[r][i] += centred[i * N + j] * x[j];
        }
    }
    for (int grid = 0; grid < 2; grid++) {
        discriminate(ctx, w, 3, ridge, grid ? 8 : IKT_EIGEN_ALONE_MAX, y, &facts);
        for (int64_t i = 0; i < rows.count; i++)
            for (int r = 0; r < 3; r++)
                assert_true(fabs(y[3 * i + r] - wanted[r][rows.first + i]) <= 1e-9);
    }
    discriminate(ctx, w, 3, ridge, IKT_EIGEN_ALONE_MAX, y, &facts);
    discriminate(alone, w, 3, ridge, IKT_EIGEN_ALONE_MAX, of_one, &facts);
    assert_memory_equal(y, of_one + 3 * rows.first, (size_t)(3 * rows.count) * sizeof *y);
    /* Two dimensions: uncorrelated axes, and as much of the three as any two can have. */
    double gram[6] = {0}, products[3] = {0}, largest[2] = {0, 0};
    discriminate(alone, w, 2, ridge, IKT_EIGEN_ALONE_MAX, plane, &facts);
    for (int64_t i = 0; i < N; i++) {
        for (int p = 0, e = 0; p < 3; p++)
            for (int r = p; r < 3; r++)
                gram[e++] += of_one[3 * i + p] * of_one[3 * i + r];
        products[0] += plane[2 * i] * plane[2 * i];
        products[1] += plane[2 * i + 1] * plane[2 * i + 1];
        products[2] += plane[2 * i] * plane[2 * i + 1];
        for (int c = 0; c < 2; c++)
            if (fabs(plane[2 * i + c]) > fabs(largest[c])) largest[c] = plane[2 * i + c];
    }
    double values[3], vectors[9];
    assert_int_equal(ikt_eigen_leading(alone, gram, 3, 3, 2048, values, vectors), IKT_OK);
    assert_true(fabs(products[0] - values[0]) <= 1e-9 && fabs(products[1] - values[1]) <= 1e-9);
    assert_true(fabs(products[2]) <= 1e-9 && largest[0] > 0 && largest[1] > 0);
    free(a);
    free(centred);
    free(w);
    ikt_context_destroy(&alone);
}

/* Labels that mean nothing are told apart where the ridge is small and there are more columns than
 * rows to do it by; then the facts say so, and the ridge that is chosen does it less. */
static void a_small_ridge_leaks(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    world *w = world_make();
    double y[N * 2];
    ikt_discriminant_facts small, chosen, of_one;
    int64_t rows[N];
    compared c;
    ikt_kernel_map map;
    choose(true, rows);
    compared_make(ctx, w, IKT_SIMILARITY_GAUSSIAN, 4, rows, N, &c);
    assert_int_equal(ikt_discriminant_fit(ctx, c.similar, N, w->label, 2, 1e-6, 1,
                                          IKT_EIGEN_ALONE_MAX, &map, &small),
                     IKT_OK);
    ikt_kernel_map_destroy(&map);
    assert_true(small.leaks && small.baseline < 0.1 && small.error == 0);
    assert_true(small.chance > 0.74 && small.chance < 0.76);
    assert_int_equal(ikt_discriminant_fit(ctx, c.similar, N, w->label, 2, 0, 1, IKT_EIGEN_ALONE_MAX,
                                          &map, &chosen),
                     IKT_OK);
    ikt_kernel_map_destroy(&map);
    const double deviation = sqrt(chosen.chance * (1 - chosen.chance) / N);
    assert_true(!chosen.leaks && chosen.ridge > 1e-3);
    assert_true(chosen.baseline >= chosen.chance - 3 * deviation);
    compared_end(&c);
    discriminate(ctx, w, 2, 0, IKT_EIGEN_ALONE_MAX, y, &chosen);
    discriminate(alone, w, 2, 0, IKT_EIGEN_ALONE_MAX, y, &of_one);
    assert_memory_equal(&chosen, &of_one, sizeof chosen);
    /* The next smaller one leaks, or is the least that is tried. */
    discriminate(ctx, w, 2, chosen.ridge / sqrt(10), IKT_EIGEN_ALONE_MAX, y, &small);
    double trace = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            trace += (i == j ? w->gram[i * N + i] : 0) - w->gram[i * N + j] / N;
    assert_true(small.leaks || chosen.ridge < 1.01e-4 * trace / N);
    free(w);
    ikt_context_destroy(&alone);
}

/* Every row comes three times, under labels that differ: the nearest rows are the two others of its
 * kind, each with half a vote, whatever the ridge, the order of the rows and the unit of the
 * similarities are, which all move the last bits of the coordinates. */
static void equal_rows_share_their_vote(void **state) {
    enum { KINDS = N / 3 };
    static const double ridges[] = {1e-3, 0.02492, 0.025, 0.5};
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    world *plain = world_make(), *w = world_make();
    double wanted = 0, baseline = 0, y[N * 2];
    for (int64_t i = 0; i < N; i++)
        plain->label[i] = ikt_rng_below(3, IKT_RNG_TEST, N, (uint64_t)i, 2);
    for (int64_t i = 0; i < N; i++)
        for (int64_t turn = 1; turn < 3; turn++)
            wanted += plain->label[i] != plain->label[(i + turn * KINDS) % N] ? 0.5 / N : 0;
    for (int run = 0; run < 8; run++) {
        ikt_discriminant_facts facts, of_one;
        const double unit = run % 2 ? 1.7 : 1;
        for (int64_t i = 0; i < N; i++) {
            const int64_t from = run / 2 % 2 ? (i * 40 + 7) % N : i; /* the order of the rows */
            w->label[i] = plain->label[from];
            for (int64_t c = 0; c < D; c++)
                w->x[i * D + c] = (float)unit * plain->x[from % KINDS * D + c];
        }
        const double ridge = ridges[run / 2] * unit * unit;
        discriminate(ctx, w, 2, ridge, IKT_EIGEN_ALONE_MAX, y, &facts);
        discriminate(alone, w, 2, ridge, IKT_EIGEN_ALONE_MAX, y, &of_one);
        assert_memory_equal(&facts, &of_one, sizeof facts);
        assert_true(fabs(facts.error - wanted) < 1e-14);
        if (run / 2 % 2) continue; /* other rows have the labels of a permutation then */
        if (run == 0) baseline = facts.baseline;
        assert_true(facts.baseline == baseline && !facts.leaks);
    }
    assert_true(fabs(baseline - 0.5) < 0.05); /* chance, by eight permutations of 93 rows */
    free(plain);
    free(w);
    ikt_context_destroy(&alone);
}

static void labels_that_tell_nothing_are_refused(void **state) {
    ikt_context *ctx = *state;
    static const char *const words[] = {"needs two classes", "needs two rows of each class",
                                        "eigenvalue of -kernel.ridge or below"};
    world *w = world_make();
    int64_t chosen[N];
    choose(true, chosen);
    for (int run = 0; run < 3; run++) {
        compared c;
        ikt_kernel_map map;
        ikt_discriminant_facts facts;
        for (int64_t i = 0; i < N; i++)
            w->label[i] = run == 0 ? 3 : run == 1 ? i == 40 : i % 2;
        if (run == 2)
            for (int64_t e = 0; e < N * N; e++)
                w->gram[e] = -w->gram[e];
        compared_make(ctx, w, IKT_SIMILARITY_GIVEN, 0, chosen, N, &c);
        assert_int_equal(ikt_discriminant_fit(ctx, c.similar, N, w->label, 2, 1e-3, 1,
                                              IKT_EIGEN_ALONE_MAX, &map, &facts),
                         IKT_ERR_DATA);
        assert_non_null(strstr(ikt_message(ctx), words[run]));
        ikt_clear(ctx);
        compared_end(&c);
        assert_int_equal(ikt_memory_now(ctx), 0);
    }
    free(w);
}

/* --- definite matrices ------------------------------------------------------------------------ */

/* Entry (i, j) of a symmetric matrix with about as many negative eigenvalues as positive ones. */
static double entry(int64_t i, int64_t j) {
    const int64_t low = i < j ? i : j, high = i < j ? j : i;
    return ikt_rng_normal(9, IKT_RNG_TEST, low, (uint64_t)high);
}

static void fill(const ikt_rows *rows, double *k) {
    for (int64_t i = 0; i < rows->count; i++)
        for (int64_t j = 0; j < N; j++)
            k[i * N + j] = entry(rows->first + i, j);
}

/* All rows of what lies on the ranks. */
static void gather(const ikt_rows *rows, const double *own, double *all) {
    memset(all, 0, N * N * sizeof *all);
    memcpy(all + rows->first * N, own, (size_t)(rows->count * N) * sizeof *own);
    MPI_Allreduce(MPI_IN_PLACE, all, N * N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static double least_of(ikt_context *ctx, const ikt_rows *rows, const double *own) {
    double value, vector[N];
    assert_int_equal(ikt_eigen_selected(ctx, rows, own, NULL, 1, IKT_EIGEN_LEAST,
                                        IKT_EIGEN_ALONE_MAX, &value, vector),
                     IKT_OK);
    return value;
}

/* The clipped matrix P and what it has more, M = P - K, have no negative eigenvalue, and P M = 0:
 * there is one pair of such matrices. */
static void eigenvalues_are_clipped_flipped_and_shifted(void **state) {
    ikt_context *ctx = *state;
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    const size_t own = (size_t)(rows.count * N + 1) * sizeof(double);
    double *k = malloc(own), *p = malloc(own), *more = malloc(own);
    double *all = malloc(N * N * sizeof *all), *all_more = malloc(N * N * sizeof *all);
    for (int grid = 0; grid < 2; grid++) {
        const int64_t alone_max = grid ? 16 : IKT_EIGEN_ALONE_MAX;
        ikt_eigenvalues found;
        fill(&rows, k);
        fill(&rows, p);
        assert_int_equal(ikt_eigenvalues_change(ctx, &rows, IKT_USE_CLIP, alone_max, p, &found),
                         IKT_OK);
        for (int64_t e = 0; e < rows.count * N; e++)
            more[e] = p[e] - k[e];
        const double least = least_of(ctx, &rows, k);
        assert_true(least < -10 && fabs(found.least - least) < 1e-9 && found.most > 10);
        assert_true(found.negative > N / 3 && found.negative < 2 * N / 3);
        assert_true(found.share > 0.3 && found.share < 0.7);
        assert_true(least_of(ctx, &rows, p) >= -1e-10 * found.most);
        assert_true(least_of(ctx, &rows, more) >= -1e-10 * found.most);
        gather(&rows, p, all);
        gather(&rows, more, all_more);
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < N; j++) {
                double product = 0;
                for (int64_t l = 0; l < N; l++)
                    product += all[i * N + l] * all_more[l * N + j];
                assert_true(fabs(product) <= 1e-9 && all[i * N + j] == all[j * N + i]);
            }
        /* Clipping once more changes nothing; flipping adds M twice. */
        memcpy(more, p, own - sizeof(double));
        assert_int_equal(ikt_eigenvalues_change(ctx, &rows, IKT_USE_CLIP, alone_max, more, &found),
                         IKT_OK);
        assert_int_equal(found.negative, 0);
        for (int64_t e = 0; e < rows.count * N; e++)
            assert_true(more[e] == p[e]);
        fill(&rows, more);
        assert_int_equal(ikt_eigenvalues_change(ctx, &rows, IKT_USE_FLIP, alone_max, more, &found),
                         IKT_OK);
        for (int64_t e = 0; e < rows.count * N; e++)
            assert_true(fabs(more[e] - (2 * p[e] - k[e])) <= 1e-10);
        fill(&rows, more);
        assert_int_equal(ikt_eigenvalues_change(ctx, &rows, IKT_USE_SHIFT, alone_max, more, &found),
                         IKT_OK);
        for (int64_t e = 0; e < rows.count * N; e++) {
            const bool is_self = e % N == rows.first + e / N;
            assert_true(fabs(more[e] - k[e] + (is_self ? least : 0)) <= 1e-9);
            assert_true(is_self || more[e] == k[e]);
        }
    }
    free(k);
    free(p);
    free(more);
    free(all);
    free(all_more);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void mirror_images_meet(void **state) {
    ikt_context *ctx = *state;
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    double *k = malloc((size_t)(rows.count * N + 1) * sizeof *k);
    for (int64_t e = 0; e < rows.count * N; e++)
        k[e] = (double)(1000 * (rows.first + e / N) + e % N);
    assert_int_equal(ikt_matrix_symmetrise(ctx, &rows, k), IKT_OK);
    for (int64_t e = 0; e < rows.count * N; e++)
        assert_true(k[e] == 500.5 * (double)(rows.first + e / N + e % N));
    free(k);
}

/* Three right-hand sides, alone and over a grid; and a matrix that is not definite. */
static void systems_are_solved(void **state) {
    ikt_context *ctx = *state;
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    world *w = world_make();
    double *own = malloc((size_t)(rows.count * N + 1) * sizeof *own), *a = malloc(sizeof w->gram);
    for (int run = 0; run < 3; run++) {
        double b[3 * N], x[3 * N];
        bool is_definite;
        for (int64_t e = 0; e < rows.count * N; e++)
            own[e] = w->gram[rows.first * N + e];
        for (int64_t i = 0; i < rows.count; i++)
            own[i * N + rows.first + i] += run == 2 ? -1e4 : 1;
        for (int64_t e = 0; e < 3 * N; e++)
            b[e] = cos((double)(e * e % 101));
        assert_int_equal(
            ikt_cholesky_solve(ctx, &rows, own, b, 3, run == 1 ? 16 : 2048, x, &is_definite),
            IKT_OK);
        assert_int_equal(is_definite, run != 2);
        for (int s = 0; s < 3 && run != 2; s++) {
            memcpy(a, w->gram, sizeof w->gram);
            for (int64_t i = 0; i < N; i++)
                a[i * N + i] += 1;
            solve_plainly(a, b + s * N, N);
            for (int64_t i = 0; i < N; i++)
                assert_true(fabs(x[s * N + i] - b[s * N + i]) <= 1e-9);
        }
    }
    free(own);
    free(a);
    free(w);
}

IKT_MPI_TESTS(ikt_test(similarities_are_those_of_the_formulas),
              ikt_test(the_bandwidth_is_half_of_the_median_distance),
              ikt_test(linear_components_are_those_of_pca),
              ikt_test(other_rows_are_placed_by_landmarks),
              ikt_test(too_few_eigenvalues_are_refused), ikt_test(two_classes_lie_along_ridge_lda),
              ikt_test(discriminants_solve_their_equation), ikt_test(a_small_ridge_leaks),
              ikt_test(equal_rows_share_their_vote), ikt_test(labels_that_tell_nothing_are_refused),
              ikt_test(eigenvalues_are_clipped_flipped_and_shifted), ikt_test(mirror_images_meet),
              ikt_test(systems_are_solved))
