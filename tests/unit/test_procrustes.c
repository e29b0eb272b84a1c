/* Small singular value decompositions, and motions that are known. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "linalg/procrustes.h"

enum { N = 400 };

static double random_number(int64_t row, uint64_t draw) {
    return ikt_rng_normal(3, IKT_RNG_TEST, row, draw);
}

/* Largest difference of m^T m from the identity. */
static double from_orthonormal(int d, const double *m) {
    double worst = 0;
    for (int a = 0; a < d; a++)
        for (int b = 0; b < d; b++) {
            double sum = a == b ? -1 : 0;
            for (int i = 0; i < d; i++)
                sum += m[i * d + a] * m[i * d + b];
            worst = fmax(worst, fabs(sum));
        }
    return worst;
}

static void check_svd(int d, const double *a) {
    double u[9], s[3], v[9], size = 0;
    ikt_small_svd(d, a, u, s, v);
    for (int e = 0; e < d * d; e++)
        size = fmax(size, fabs(a[e]));
    assert_true(from_orthonormal(d, u) < 1e-14 && from_orthonormal(d, v) < 1e-14);
    for (int k = 0; k < d; k++)
        assert_true(s[k] >= 0 && (k == 0 || s[k] <= s[k - 1]));
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            double sum = -a[i * d + j];
            for (int k = 0; k < d; k++)
                sum += u[i * d + k] * s[k] * v[j * d + k];
            assert_true(fabs(sum) <= 1e-14 * size);
        }
}

static void decompositions(void **state) {
    (void)state;
    for (int64_t trial = 0; trial < 300; trial++)
        for (int d = 1; d <= 3; d++) {
            double a[9];
            for (int e = 0; e < d * d; e++)
                a[e] = random_number(trial, (uint64_t)e) * pow(10, (double)(trial % 7) * e - 9);
            check_svd(d, a);
            for (int j = 0; j < d; j++) /* of less rank */
                a[(d - 1) * d + j] = trial % 2 ? 0 : 3 * a[j];
            check_svd(d, a);
        }
    const double nothing[9] = {0}, swap[9] = {0, 0, 2, 0, -1, 0, 3, 0, 0};
    check_svd(3, nothing);
    check_svd(3, swap);
}

/* An orthogonal matrix with that determinant. */
static void random_turn(int q, int64_t seed, bool mirrors, double *turn) {
    double a[9], s[3], v[9], u[9];
    for (int e = 0; e < q * q; e++)
        a[e] = random_number(seed, 50 + (uint64_t)e);
    ikt_small_svd(q, a, u, s, v);
    memcpy(turn, u, sizeof u);
    if ((ikt_small_det(q, turn) < 0) != mirrors)
        for (int i = 0; i < q; i++)
            turn[i * q] *= -1;
}

static void fill(int q, const double *turn, double scale, float *y, float *moved) {
    for (int64_t i = 0; i < N; i++) {
        for (int c = 0; c < q; c++)
            y[q * i + c] = (float)(random_number(i, 20 + (uint64_t)c) * (c + 1) + 5);
        for (int c = 0; c < q; c++) {
            double sum = -40;
            for (int k = 0; k < q; k++)
                sum += scale * (double)y[q * i + k] * turn[k * q + c];
            moved[q * i + c] = (float)sum;
        }
    }
}

static double worst_difference(int64_t count, const float *a, const float *b) {
    double worst = 0;
    for (int64_t e = 0; e < count; e++)
        worst = fmax(worst, fabs((double)a[e] - (double)b[e]));
    return worst;
}

static void known_motions(void **state) {
    ikt_context *ctx = *state;
    float y[3 * N], reference[3 * N], out[3 * N];
    for (int q = 1; q <= 3; q++)
        for (int mirrors = 0; mirrors < 2; mirrors++) {
            double turn[9];
            ikt_procrustes found;
            random_turn(q, q, mirrors, turn);
            fill(q, turn, 0.25, y, reference);
            assert_int_equal(ikt_procrustes_fit(ctx, q, y, reference, N, true, true, &found),
                             IKT_OK);
            assert_int_equal(found.is_mirrored, mirrors);
            assert_true(fabs(found.scale - 0.25) < 1e-6);
            for (int e = 0; e < q * q; e++)
                assert_true(fabs(found.turn[e] - turn[e]) < 1e-6);
            ikt_procrustes_apply(&found, y, N, out);
            assert_true(worst_difference(q * N, out, reference) < 1e-5);
            assert_int_equal(ikt_procrustes_fit(ctx, q, y, reference, N, true, false, &found),
                             IKT_OK);
            assert_true(found.scale == 1);
            const ikt_status st = ikt_procrustes_fit(ctx, q, y, reference, N, false, true, &found);
            assert_int_equal(st, q == 1 && mirrors ? IKT_ERR_DATA : IKT_OK);
            if (st == IKT_OK) assert_true(ikt_small_det(q, found.turn) > 0);
            if (st != IKT_OK) ikt_clear(ctx);
        }
}

/* 30 degrees counter-clockwise, and nothing. */
static void angles(void **state) {
    ikt_context *ctx = *state;
    const double c = cos(acos(-1.0) / 6), turn[4] = {c, 0.5, -0.5, c};
    float y[2 * N], reference[2 * N];
    ikt_procrustes found;
    fill(2, turn, 1, y, reference);
    assert_int_equal(ikt_procrustes_fit(ctx, 2, y, reference, N, true, true, &found), IKT_OK);
    assert_true(fabs(ikt_procrustes_angle(&found) - 30) < 1e-4);
    assert_int_equal(ikt_procrustes_fit(ctx, 2, y, y, N, true, true, &found), IKT_OK);
    assert_true(fabs(ikt_procrustes_angle(&found)) < 1e-12 && fabs(found.scale - 1) < 1e-15);
}

/* A line in the plane: a mirror would not bring it nearer, so there is none. */
static void lines_are_turned(void **state) {
    ikt_context *ctx = *state;
    float y[2 * N], reference[2 * N], out[2 * N];
    ikt_procrustes found;
    for (int64_t i = 0; i < N; i++) {
        y[2 * i] = (float)i, y[2 * i + 1] = 0;
        reference[2 * i] = 0, reference[2 * i + 1] = (float)(-2 * i);
    }
    assert_int_equal(ikt_procrustes_fit(ctx, 2, y, reference, N, true, true, &found), IKT_OK);
    assert_false(found.is_mirrored);
    ikt_procrustes_apply(&found, y, N, out);
    assert_true(worst_difference(2 * N, out, reference) < 1e-4);
}

static void one_point(void **state) {
    ikt_context *ctx = *state;
    float y[2 * N] = {0}, reference[2 * N];
    ikt_procrustes found;
    for (int64_t e = 0; e < 2 * N; e++)
        reference[e] = (float)e;
    assert_int_equal(ikt_procrustes_fit(ctx, 2, y, reference, N, true, true, &found), IKT_ERR_DATA);
    assert_non_null(strstr(ikt_message(ctx), "lie in one point"));
}

static void no_rows(void **state) {
    ikt_procrustes found;
    assert_int_equal(ikt_procrustes_fit(*state, 2, NULL, NULL, 0, true, true, &found),
                     IKT_ERR_DATA);
}

IKT_MPI_TESTS(ikt_test(decompositions), ikt_test(known_motions), ikt_test(angles),
              ikt_test(lines_are_turned), ikt_test(one_point), ikt_test(no_rows))
