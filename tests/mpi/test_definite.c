/* Matrices that are made symmetric and definite, and systems of equations with them: by what makes
 * them the only ones, and against plain elimination. */
#include "support/kernel_world.h"

#include "linalg/eigen.h"
#include "similarity/similarity_matrix.h"

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

/* Right-hand sides, alone and over a grid whose columns all have some; and a matrix that is not
 * definite. */
static void systems_are_solved(void **state) {
    enum { SIDES = 40 };
    ikt_context *ctx = *state;
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    world *w = world_make();
    double *own = malloc((size_t)(rows.count * N + 1) * sizeof *own), *a = malloc(sizeof w->gram);
    for (int run = 0; run < 3; run++) {
        double b[SIDES * N], x[SIDES * N];
        bool is_definite;
        for (int64_t e = 0; e < rows.count * N; e++)
            own[e] = w->gram[rows.first * N + e];
        for (int64_t i = 0; i < rows.count; i++)
            own[i * N + rows.first + i] += run == 2 ? -1e4 : 1;
        for (int64_t e = 0; e < SIDES * N; e++)
            b[e] = cos((double)(e * e % 101));
        assert_int_equal(
            ikt_cholesky_solve(ctx, &rows, own, b, SIDES, run == 1 ? 16 : 2048, x, &is_definite),
            IKT_OK);
        assert_int_equal(is_definite, run != 2);
        for (int s = 0; s < SIDES && run != 2; s++) {
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

IKT_MPI_TESTS(ikt_test(eigenvalues_are_clipped_flipped_and_shifted), ikt_test(mirror_images_meet),
              ikt_test(systems_are_solved))
