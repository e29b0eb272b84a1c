/* Eigenpairs of symmetric matrices: against their equation and plain rotations, and bit for bit
 * against one rank where one rank solves. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "dist/rows.h"
#include "linalg/column_stats.h"
#include "linalg/eigen.h"

/* Symmetric test matrices, as upper triangles. */
typedef enum { RANDOM, IDENTITY, RANK_TWO, GRADED, MATRIX_KINDS } matrix_kind;

static double *matrix_make(matrix_kind kind, int64_t d) {
    double *upper = malloc((size_t)ikt_upper_entries(d) * sizeof(double));
    assert_non_null(upper);
    for (int64_t i = 0; i < d; i++) {
        for (int64_t j = i; j < d; j++) {
            double value = 0;
            if (kind == RANDOM) value = ikt_rng_normal(2, IKT_RNG_TEST, i, (uint64_t)j);
            if (kind == IDENTITY) value = i == j;
            if (kind == RANK_TWO) value = 1 + (double)((i % 2) * (j % 2));
            if (kind == GRADED) value = pow(2, -(double)(i + j) / 4) * (i == j ? 2 : 1);
            upper[ikt_upper_index(d, i, j)] = value;
        }
    }
    return upper;
}

static double matrix_entry(const double *upper, int64_t d, int64_t i, int64_t j) {
    return i <= j ? upper[ikt_upper_index(d, i, j)] : upper[ikt_upper_index(d, j, i)];
}

/* A v = lambda v, V V^T = 1, descending order, sign rule. */
static void check_eigenpairs(const double *upper, int64_t d, int64_t k, const double *values,
                             const double *vectors) {
    double norm = 0;
    for (int64_t e = 0; e < ikt_upper_entries(d); e++)
        norm = fmax(norm, fabs(upper[e]));
    double bound = 1e-14 * (double)(d + 10) * norm;
    for (int64_t m = 0; m < k; m++) {
        const double *v = vectors + m * d;
        double largest = 0;
        if (m > 0) assert_true(values[m] <= values[m - 1]);
        for (int64_t i = 0; i < d; i++) {
            double product = 0;
            for (int64_t j = 0; j < d; j++)
                product += matrix_entry(upper, d, i, j) * v[j];
            assert_true(fabs(product - values[m] * v[i]) <= bound);
            if (fabs(v[i]) > fabs(largest)) largest = v[i];
        }
        assert_true(largest > 0);
        for (int64_t other = 0; other <= m; other++) {
            double product = 0;
            for (int64_t i = 0; i < d; i++)
                product += v[i] * vectors[other * d + i];
            assert_true(fabs(product - (other == m)) <= 1e-14 * (double)(d + 10));
        }
    }
}

static void eigenpairs_solve_their_equation(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    const int64_t dims[] = {1, 2, 7, 70, 150};
    double *values = malloc(300 * sizeof(double)),
           *vectors = malloc(2 * 150 * 150 * sizeof(double));
    for (size_t t = 0; t < sizeof dims / sizeof *dims; t++) {
        for (matrix_kind kind = RANDOM; kind < MATRIX_KINDS; kind++) {
            int64_t d = dims[t], k = t % 2 ? (d + 1) / 2 : d;
            size_t bytes = (size_t)(k * d) * sizeof(double);
            double *upper = matrix_make(kind, d), *other = vectors + 150 * 150;
            assert_int_equal(
                ikt_eigen_leading(ctx, upper, d, k, IKT_EIGEN_ALONE_MAX, values, vectors), IKT_OK);
            check_eigenpairs(upper, d, k, values, vectors);
            assert_int_equal(
                ikt_eigen_leading(alone, upper, d, k, IKT_EIGEN_ALONE_MAX, values + 150, other),
                IKT_OK);
            assert_memory_equal(values, values + 150, (size_t)k * sizeof(double));
            assert_memory_equal(vectors, other, bytes);
            /* Now spread over all ranks, whatever the size. */
            assert_int_equal(ikt_eigen_leading(ctx, upper, d, k, 0, values, vectors), IKT_OK);
            check_eigenpairs(upper, d, k, values, vectors);
            free(upper);
        }
    }
    free(values);
    free(vectors);
    ikt_context_destroy(&alone);
}

/* Every small size and number of pairs: the solver's work arrays have their corner cases there. */
static void eigenpairs_of_every_small_size(void **state) {
    ikt_context *ctx = *state;
    double values[12], vectors[144];
    for (int64_t d = 1; d <= 12; d++) {
        double *upper = matrix_make(RANDOM, d);
        for (int64_t k = 1; k <= d; k++) {
            for (int64_t alone_max = 0; alone_max <= 12; alone_max += 12) {
                assert_int_equal(ikt_eigen_leading(ctx, upper, d, k, alone_max, values, vectors),
                                 IKT_OK);
                check_eigenpairs(upper, d, k, values, vectors);
            }
        }
        free(upper);
    }
}

/* All eigenvalues of a symmetric matrix, descending, by Jacobi's rotations, written plainly.
 *   a   [d * d], destroyed */
static void plain_eigenvalues(double *a, int64_t d, double *values) {
    for (int sweep = 0; sweep < 30; sweep++)
        for (int64_t p = 0; p < d; p++)
            for (int64_t q = p + 1; q < d; q++) {
                if (fabs(a[p * d + q]) < 1e-300) continue;
                const double theta = (a[q * d + q] - a[p * d + p]) / (2 * a[p * d + q]);
                const double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
                const double c = 1 / sqrt(t * t + 1), sine = t * c;
                for (int64_t i = 0; i < d; i++) {
                    const double x = a[i * d + p], y = a[i * d + q];
                    a[i * d + p] = c * x - sine * y;
                    a[i * d + q] = sine * x + c * y;
                }
                for (int64_t i = 0; i < d; i++) {
                    const double x = a[p * d + i], y = a[q * d + i];
                    a[p * d + i] = c * x - sine * y;
                    a[q * d + i] = sine * x + c * y;
                }
            }
    for (int64_t m = 0; m < d; m++) {
        int64_t at = m;
        for (; at > 0 && values[at - 1] < a[m * d + m]; at--)
            values[at] = values[at - 1];
        values[at] = a[m * d + m];
    }
}

/* A positive definite matrix: L L^T for an L with 1 on the diagonal and 1/2 below it. */
static double definite(int64_t i, int64_t j) {
    if (i == j) return i > 0 ? 1.25 : 1;
    return i - j == 1 || j - i == 1 ? 0.5 : 0;
}

/* L^-1 M L^-T for that L: L x = y gives x[i] = y[i] - x[i - 1] / 2. */
static void reduce(double *m, int64_t d) {
    for (int side = 0; side < 2; side++)
        for (int64_t j = 0; j < d; j++)
            for (int64_t i = 1; i < d; i++) {
                double *at = side ? &m[j * d + i] : &m[i * d + j];
                *at -= 0.5 * (side ? m[j * d + i - 1] : m[(i - 1) * d + j]);
            }
}

/* Both problems, at either end, against all eigenvalues by another method.
 *   whole   [d * d]; b is the identity where the problem is not a general one */
static void check_selected(ikt_context *ctx, const double *upper, int64_t d, int64_t k,
                           bool is_general, ikt_eigen_end end, int64_t alone_max) {
    const ikt_rows rows = ikt_rows_make(d, ikt_size(ctx), ikt_rank(ctx));
    double *whole = malloc((size_t)(d * d) * sizeof(double)), *b = malloc((size_t)(d * d) * 8);
    double *plain = malloc((size_t)(d * d) * sizeof(double)), *all = malloc((size_t)d * 8);
    double *values = malloc((size_t)k * 8), *vectors = malloc((size_t)(k * d) * 8), norm = 0;
    for (int64_t e = 0; e < d * d; e++) {
        plain[e] = whole[e] = matrix_entry(upper, d, e / d, e % d);
        b[e] = is_general ? definite(e / d, e % d) : e / d == e % d;
        norm = fmax(norm, fabs(whole[e]));
    }
    if (is_general) reduce(plain, d);
    plain_eigenvalues(plain, d, all);
    assert_int_equal(ikt_eigen_selected(ctx, &rows, whole + rows.first * d,
                                        is_general ? b + rows.first * d : NULL, k, end, alone_max,
                                        values, vectors),
                     IKT_OK);
    const double bound = 1e-13 * (double)(d + 10) * norm * (is_general ? 20 : 1);
    for (int64_t m = 0; m < k; m++) {
        const double *v = vectors + m * d;
        assert_true(fabs(values[m] - all[end == IKT_EIGEN_LARGEST ? m : d - 1 - m]) <= bound);
        for (int64_t i = 0; i < d; i++) {
            double left = 0, right = 0;
            for (int64_t j = 0; j < d; j++) {
                left += whole[i * d + j] * v[j];
                right += b[i * d + j] * v[j];
            }
            assert_true(fabs(left - values[m] * right) <= 10 * bound);
        }
        for (int64_t other = 0; other <= m; other++) {
            double product = 0;
            for (int64_t e = 0; e < d * d; e++)
                product += v[e / d] * b[e] * vectors[other * d + e % d];
            assert_true(fabs(product - (other == m)) <= 1e-11);
        }
    }
    free(whole);
    free(b);
    free(plain);
    free(all);
    free(values);
    free(vectors);
}

/* From row blocks, some ranks without rows; rank 0 alone, and over all ranks. */
static void selected_eigenpairs_are_those_of_all(void **state) {
    const int64_t dims[] = {1, 2, 5, 23, 70};
    for (size_t t = 0; t < sizeof dims / sizeof *dims; t++)
        for (matrix_kind kind = RANDOM; kind < MATRIX_KINDS; kind++) {
            const int64_t d = dims[t], k = d < 4 ? d : (d + 1) / 3;
            double *upper = matrix_make(kind, d);
            for (int variant = 0; variant < 8; variant++)
                check_selected(*state, upper, d, k, variant & 1,
                               variant & 2 ? IKT_EIGEN_LEAST : IKT_EIGEN_LARGEST,
                               variant & 4 ? 0 : IKT_EIGEN_ALONE_MAX);
            free(upper);
        }
}

/* What one rank solves alone has the same bits however many ranks hold the rows. */
static void selected_eigenpairs_alone_do_not_depend_on_ranks(void **state) {
    enum { D = 60, K = 5 };
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    const ikt_rows rows = ikt_rows_make(D, ikt_size(ctx), ikt_rank(ctx)), whole = {D, 1, 0, D};
    double *upper = matrix_make(RANDOM, D), a[D * D], values[2][K], vectors[2][K * D];
    for (int64_t e = 0; e < D * D; e++)
        a[e] = matrix_entry(upper, D, e / D, e % D);
    assert_int_equal(ikt_eigen_selected(ctx, &rows, a + rows.first * D, NULL, K, IKT_EIGEN_LARGEST,
                                        IKT_EIGEN_ALONE_MAX, values[0], vectors[0]),
                     IKT_OK);
    assert_int_equal(ikt_eigen_selected(alone, &whole, a, NULL, K, IKT_EIGEN_LARGEST,
                                        IKT_EIGEN_ALONE_MAX, values[1], vectors[1]),
                     IKT_OK);
    assert_memory_equal(values[0], values[1], sizeof values[0]);
    assert_memory_equal(vectors[0], vectors[1], sizeof vectors[0]);
    free(upper);
    ikt_context_destroy(&alone);
}

static void generalised_problem_needs_a_definite_matrix(void **state) {
    ikt_context *ctx = *state;
    const ikt_rows rows = ikt_rows_make(3, ikt_size(ctx), ikt_rank(ctx));
    const double a[12] = {2, 0, 0, 0, 1, 0, 0, 0, 3}, b[12] = {1, 0, 0, 0, -1, 0, 0, 0, 1};
    double value, vector[3];
    assert_int_equal(ikt_eigen_selected(ctx, &rows, a + 3 * rows.first, b + 3 * rows.first, 1,
                                        IKT_EIGEN_LARGEST, IKT_EIGEN_ALONE_MAX, &value, vector),
                     IKT_ERR_INTERNAL);
    assert_non_null(strstr(ikt_message(ctx), "positive definite"));
}

static void eigen_refuses_what_integers_cannot_count(void **state) {
    ikt_context *ctx = *state;
    double value = 0;
    assert_int_equal(
        ikt_eigen_leading(ctx, &value, 100000000, 2, IKT_EIGEN_ALONE_MAX, &value, &value),
        IKT_ERR_RESOURCE);
    assert_non_null(strstr(ikt_message(ctx), "32-bit"));
}

IKT_MPI_TESTS(ikt_test(eigenpairs_solve_their_equation), ikt_test(eigenpairs_of_every_small_size),
              ikt_test(selected_eigenpairs_are_those_of_all),
              ikt_test(selected_eigenpairs_alone_do_not_depend_on_ranks),
              ikt_test(generalised_problem_needs_a_definite_matrix),
              ikt_test(eigen_refuses_what_integers_cannot_count))
