/* Blocks of vectors: against plain sums in extended precision, against what defines the results,
 * and bit for bit against one rank with one thread. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "linalg/block.h"
#include "linalg/blocks.h"

enum { M = 21, SEED = 7 };

static const int64_t sizes[] = {60, 511, 513, 2500, 5000};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Random columns whose lengths differ by powers of ten. */
static ikt_block block_make(ikt_context *ctx, int64_t n, int64_t m, uint64_t seed) {
    const ikt_rows rows = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    ikt_block block;
    assert_int_equal(ikt_block_create(ctx, &rows, m, &block), IKT_OK);
    ikt_block_random(&block, 0, seed, 0);
    for (int64_t e = 0; e < rows.count * m; e++)
        block.v[e] *= pow(10, (double)(e % m % 7 - 3));
    return block;
}

/* The rows of this rank are those of a block over one rank, to the bit. */
static void assert_part(const ikt_block *part, const ikt_block *whole) {
    assert_memory_equal(part->v, whole->v + part->rows.first * whole->m,
                        (size_t)(part->rows.count * part->m) * sizeof(double));
}

typedef void (*check)(ikt_context *ctx, ikt_context *alone, int64_t n);

static void everywhere(ikt_context *ctx, check run) {
    for (int threads = 1; threads <= 2; threads++) {
        ikt_context_set_threads(ctx, threads);
        for (int s = 0; s < SIZES; s++) {
            ikt_context *alone = ikt_test_alone();
            run(ctx, alone, sizes[s]);
            ikt_context_destroy(&alone);
        }
    }
}

/* --- sums ------------------------------------------------------------------------------------- */

static void check_gram(ikt_context *ctx, ikt_context *alone, int64_t n) {
    ikt_block v = block_make(ctx, n, M, 1), w = block_make(ctx, n, M - 8, 2);
    ikt_block v1 = block_make(alone, n, M, 1), w1 = block_make(alone, n, M - 8, 2);
    double mixed[M * (M - 8)], mixed1[M * (M - 8)], same[M * M], same1[M * M], norm[M];
    assert_int_equal(ikt_block_gram(&v, &w, mixed), IKT_OK);
    assert_int_equal(ikt_block_gram(&v1, &w1, mixed1), IKT_OK);
    assert_int_equal(ikt_block_gram(&v, &v, same), IKT_OK);
    assert_int_equal(ikt_block_gram(&v1, &v1, same1), IKT_OK);
    assert_int_equal(ikt_block_norms(&v, norm), IKT_OK);
    assert_memory_equal(mixed, mixed1, sizeof mixed);
    assert_memory_equal(same, same1, sizeof same);
    for (int i = 0; i < M; i++) {
        long double square = 0;
        for (int j = 0; j < M - 8; j++) {
            long double sum = 0, size = 0;
            for (int64_t r = 0; r < n; r++) {
                const long double term =
                    (long double)v1.v[r * M + i] * (long double)w1.v[r * (M - 8) + j];
                sum += term;
                size += fabsl(term);
            }
            assert_true(fabsl((long double)mixed[i * (M - 8) + j] - sum) <= 0x1p-44L * size);
        }
        for (int64_t r = 0; r < n; r++)
            square += (long double)v1.v[r * M + i] * (long double)v1.v[r * M + i];
        assert_true(fabsl((long double)same[i * M + i] / square - 1) <= 0x1p-44L);
        assert_true(fabsl((long double)norm[i] / sqrtl(square) - 1) <= 0x1p-44L);
        for (int j = 0; j < M; j++)
            assert_true(same[i * M + j] == same[j * M + i]);
    }
    ikt_block_destroy(&v);
    ikt_block_destroy(&w);
    ikt_block_destroy(&v1);
    ikt_block_destroy(&w1);
}

static void gram_matrices_are_right_and_reproducible(void **state) {
    everywhere(*state, check_gram);
}

static void columns_of_any_size_have_their_sums(void **state) {
    ikt_context *ctx = *state;
    const int64_t n = 1500;
    const double size[] = {1e-120, 1e120, 0, 1};
    ikt_block v = block_make(ctx, n, 4, 3);
    double gram[16], norm[4];
    for (int64_t i = 0; i < v.rows.count; i++)
        for (int c = 0; c < 4; c++) /* the last two: nothing at all, and one single entry */
            v.v[i * 4 + c] = c < 3 ? size[c] : v.rows.first + i == 777;
    assert_int_equal(ikt_block_gram(&v, &v, gram), IKT_OK);
    assert_int_equal(ikt_block_norms(&v, norm), IKT_OK);
    assert_true(fabs(gram[0] / (1e-240 * (double)n) - 1) < 1e-12);
    assert_true(fabs(gram[5] / (1e240 * (double)n) - 1) < 1e-12);
    assert_true(fabs(gram[1] / (double)n - 1) < 1e-12);
    assert_true(gram[2] == 0 && gram[10] == 0 && norm[2] == 0);
    assert_true(gram[15] == 1 && norm[3] == 1);
    assert_true(fabs(gram[7] / 1e120 - 1) < 1e-12);
    ikt_block_destroy(&v);
}

static void values_that_are_not_finite_are_refused(void **state) {
    ikt_context *ctx = *state;
    ikt_block v = block_make(ctx, 900, 3, 3);
    double gram[9];
    if (v.rows.first <= 600 && 600 < v.rows.first + v.rows.count)
        v.v[(600 - v.rows.first) * 3 + 1] = NAN;
    assert_int_equal(ikt_block_gram(&v, &v, gram), IKT_ERR_INTERNAL);
    assert_non_null(strstr(ikt_message(ctx), "not finite"));
    ikt_clear(ctx);
    ikt_block_destroy(&v);
}

/* --- orthonormal columns ---------------------------------------------------------------------- */

static double worst_of_identity(const double *gram, int64_t m) {
    double worst = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++)
            worst = fmax(worst, fabs(gram[i * m + j] - (i == j)));
    return worst;
}

/* A block two columns of which hang on others: one to the last digit, one but for 1e-5. */
static ikt_block dependent_make(ikt_context *ctx, int64_t n) {
    ikt_block v = block_make(ctx, n, M, 4);
    for (int64_t i = 0; i < v.rows.count; i++) {
        double *row = v.v + i * M;
        row[8] = 3 * row[2] - row[5];
        row[12] = row[1] + 1e-5 * row[12] * fabs(row[1]);
    }
    return v;
}

/* V <- V - T (T^T V), for ikt_deflation: removes what orthonormal columns T explain. */
static ikt_status deflate(void *self, ikt_block *v) {
    const ikt_block *t = self;
    double along[M * M];
    IKT_TRY(ikt_block_gram(t, v, along));
    for (int64_t i = 0; i < v->rows.count; i++)
        for (int64_t j = 0; j < t->m; j++)
            for (int64_t k = 0; k < v->m; k++)
                v->v[i * v->m + k] -= t->v[i * t->m + j] * along[j * v->m + k];
    return IKT_OK;
}

static void check_orthonormal(ikt_context *ctx, ikt_context *alone, int64_t n) {
    ikt_block v = dependent_make(ctx, n), v1 = dependent_make(alone, n);
    ikt_block before = dependent_make(ctx, n);
    ikt_block t = block_make(ctx, n, 3, 5), t1 = block_make(alone, n, 3, 5);
    double gram[M * M], along[3 * M];
    int64_t replaced, replaced1;
    assert_int_equal(ikt_block_orthonormalise(&t, NULL, SEED, &replaced), IKT_OK);
    assert_int_equal(replaced, 0);
    assert_int_equal(ikt_block_orthonormalise(&t1, NULL, SEED, &replaced), IKT_OK);
    const ikt_deflation known = {deflate, &t}, known1 = {deflate, &t1};
    assert_int_equal(ikt_block_orthonormalise(&v, &known, SEED, &replaced), IKT_OK);
    assert_int_equal(ikt_block_orthonormalise(&v1, &known1, SEED, &replaced1), IKT_OK);
    assert_int_equal(replaced, 1);
    assert_int_equal(replaced1, 1);
    assert_part(&t, &t1);
    assert_part(&v, &v1);
    assert_int_equal(ikt_block_gram(&v, &v, gram), IKT_OK);
    assert_true(worst_of_identity(gram, M) < 1e-14);
    assert_int_equal(ikt_block_gram(&t, &v, along), IKT_OK);
    for (int e = 0; e < 3 * M; e++)
        assert_true(fabs(along[e]) < 1e-14);
    /* Column 12, of which 1e-5 was its own, still lies in the span: nothing is left of it. */
    double norm[M], left[M];
    assert_int_equal(ikt_block_norms(&before, norm), IKT_OK);
    assert_int_equal(deflate(&t, &before), IKT_OK);
    assert_int_equal(deflate(&v, &before), IKT_OK);
    assert_int_equal(ikt_block_norms(&before, left), IKT_OK);
    for (int k = 0; k < M; k++)
        assert_true(left[k] < 1e-12 * norm[k]);
    ikt_block_destroy(&v);
    ikt_block_destroy(&v1);
    ikt_block_destroy(&before);
    ikt_block_destroy(&t);
    ikt_block_destroy(&t1);
}

static void columns_become_orthonormal(void **state) {
    everywhere(*state, check_orthonormal);
}

static void zero_and_equal_columns_become_random(void **state) {
    ikt_context *ctx = *state;
    ikt_block v = block_make(ctx, 700, 6, 3);
    double gram[36];
    int64_t replaced;
    memset(v.v, 0, (size_t)(v.rows.count * 6) * sizeof *v.v);
    for (int64_t i = 0; i < v.rows.count; i++)
        v.v[i * 6 + 1] = v.v[i * 6 + 4] = 1;
    assert_int_equal(ikt_block_orthonormalise(&v, NULL, SEED, &replaced), IKT_OK);
    assert_int_equal(replaced, 5);
    assert_int_equal(ikt_block_gram(&v, &v, gram), IKT_OK);
    assert_true(worst_of_identity(gram, 6) < 1e-14);
    /* What the equal columns were lies in the span. */
    ikt_block ones = block_make(ctx, 700, 1, 3);
    double along[6], square = 0;
    for (int64_t i = 0; i < ones.rows.count; i++)
        ones.v[i] = 1 / sqrt(700);
    assert_int_equal(ikt_block_gram(&v, &ones, along), IKT_OK);
    for (int k = 0; k < 6; k++)
        square += along[k] * along[k];
    assert_true(fabs(square - 1) < 1e-14);
    ikt_block_destroy(&ones);
    ikt_block_destroy(&v);
}

/* Columns that are what is known, all along: what removing it leaves is rounding, and lies along it
 * again. */
static void columns_within_the_known_become_random(void **state) {
    ikt_context *ctx = *state;
    ikt_block v = block_make(ctx, 700, 4, 3), t = block_make(ctx, 700, 1, 3);
    double gram[16], along[4];
    int64_t replaced;
    for (int64_t i = 0; i < v.rows.count; i++) {
        t.v[i] = 1 / sqrt(700);
        v.v[i * 4] = v.v[i * 4 + 2] = 3.25;
    }
    const ikt_deflation known = {deflate, &t};
    assert_int_equal(ikt_block_orthonormalise(&v, &known, SEED, &replaced), IKT_OK);
    assert_int_equal(replaced, 2);
    assert_int_equal(ikt_block_gram(&v, &v, gram), IKT_OK);
    assert_true(worst_of_identity(gram, 4) < 1e-14);
    assert_int_equal(ikt_block_gram(&t, &v, along), IKT_OK);
    for (int k = 0; k < 4; k++)
        assert_true(fabs(along[k]) < 1e-14);
    ikt_block_destroy(&v);
    ikt_block_destroy(&t);
}

/* One pass leaves of a column that is new but for 1e-5 an error of some 1e-6. */
static void nearly_dependent_columns_take_two_passes(void **state) {
    ikt_context *ctx = *state;
    ikt_block v = block_make(ctx, 900, 4, 8);
    double gram[16];
    int64_t replaced;
    for (int64_t i = 0; i < v.rows.count; i++)
        v.v[i * 4 + 3] = v.v[i * 4] + 1e-5 * fabs(v.v[i * 4]) * v.v[i * 4 + 3];
    assert_int_equal(ikt_block_orthonormalise(&v, NULL, SEED, &replaced), IKT_OK);
    assert_int_equal(replaced, 0);
    assert_int_equal(ikt_block_gram(&v, &v, gram), IKT_OK);
    assert_true(worst_of_identity(gram, 4) < 1e-14);
    ikt_block_destroy(&v);
}

static void more_columns_than_rows_are_refused(void **state) {
    ikt_context *ctx = *state;
    ikt_block v = block_make(ctx, 5, 6, 3), all = block_make(ctx, 6, 6, 3);
    double gram[36];
    int64_t replaced;
    assert_int_equal(ikt_block_orthonormalise(&v, NULL, SEED, &replaced), IKT_ERR_INTERNAL);
    assert_non_null(strstr(ikt_message(ctx), "6 orthonormal vectors"));
    ikt_clear(ctx);
    assert_int_equal(ikt_block_orthonormalise(&all, NULL, SEED, &replaced), IKT_OK);
    assert_int_equal(ikt_block_gram(&all, &all, gram), IKT_OK);
    assert_true(worst_of_identity(gram, 6) < 1e-14);
    ikt_block_destroy(&v);
    ikt_block_destroy(&all);
}

/* --- Rayleigh-Ritz ---------------------------------------------------------------------------- */

/* A diagonal operator: row i times its number / n. */
static void times_diagonal(const ikt_block *v, ikt_block *b) {
    for (int64_t i = 0; i < v->rows.count; i++)
        for (int64_t k = 0; k < v->m; k++)
            b->v[i * v->m + k] =
                (double)(v->rows.first + i) / (double)v->rows.n * v->v[i * v->m + k];
}

static void check_ritz(ikt_context *ctx, ikt_context *alone, int64_t n) {
    ikt_context *both[2] = {ctx, alone};
    ikt_block v[2], b[2];
    double theta[2][M], x[2][M * M], residual[2][M], h[M * M];
    for (int s = 0; s < 2; s++) {
        int64_t replaced;
        v[s] = block_make(both[s], n, M, 6);
        b[s] = block_make(both[s], n, M, 6);
        assert_int_equal(ikt_block_orthonormalise(&v[s], NULL, SEED, &replaced), IKT_OK);
        times_diagonal(&v[s], &b[s]);
        assert_int_equal(ikt_block_ritz(&v[s], &b[s], 0, theta[s], x[s]), IKT_OK);
        assert_int_equal(ikt_block_rotate(&v[s], x[s]), IKT_OK);
        assert_int_equal(ikt_block_rotate(&b[s], x[s]), IKT_OK);
        assert_int_equal(ikt_block_residuals(&v[s], &b[s], theta[s], residual[s]), IKT_OK);
    }
    assert_memory_equal(theta[0], theta[1], sizeof theta[0]);
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    assert_memory_equal(residual[0], residual[1], sizeof residual[0]);
    assert_part(&v[0], &v[1]);
    assert_part(&b[0], &b[1]);
    assert_int_equal(ikt_block_gram(&v[0], &b[0], h), IKT_OK);
    for (int i = 0; i < M; i++) {
        long double square = 0;
        int largest = 0;
        for (int j = 0; j < M; j++) {
            assert_true(fabs(h[i * M + j] - (i == j ? theta[0][i] : 0)) < 1e-13);
            if (fabs(x[0][j * M + i]) > fabs(x[0][largest * M + i])) largest = j;
        }
        assert_true(x[0][largest * M + i] > 0);
        assert_true(i == 0 || theta[0][i] <= theta[0][i - 1]);
        for (int64_t r = 0; r < n; r++) {
            const long double rest = (long double)b[1].v[r * M + i] -
                                     (long double)theta[0][i] * (long double)v[1].v[r * M + i];
            square += rest * rest;
        }
        assert_true(fabsl((long double)residual[0][i] - sqrtl(square)) < 1e-14L);
    }
    for (int s = 0; s < 2; s++) {
        ikt_block_destroy(&v[s]);
        ikt_block_destroy(&b[s]);
    }
}

static void ritz_pairs_are_right_and_reproducible(void **state) {
    everywhere(*state, check_ritz);
}

/* Of the others the pairs are those of a block without them. */
static void columns_that_stay_are_left_out(void **state) {
    enum { N = 900, FIRST = 2, REST = M - FIRST };
    ikt_context *ctx = *state;
    ikt_block v = block_make(ctx, N, M, 6), b = block_make(ctx, N, M, 6);
    ikt_block v1 = block_make(ctx, N, REST, 6), b1 = block_make(ctx, N, REST, 6);
    double theta[M], x[M * M], theta1[REST], x1[REST * REST], h[M * M];
    int64_t replaced;
    assert_int_equal(ikt_block_orthonormalise(&v, NULL, SEED, &replaced), IKT_OK);
    times_diagonal(&v, &b);
    for (int64_t i = 0; i < v.rows.count; i++)
        memcpy(v1.v + i * REST, v.v + i * M + FIRST, REST * sizeof(double));
    times_diagonal(&v1, &b1);
    assert_int_equal(ikt_block_gram(&v, &b, h), IKT_OK);
    assert_int_equal(ikt_block_ritz(&v, &b, FIRST, theta, x), IKT_OK);
    assert_int_equal(ikt_block_ritz(&v1, &b1, 0, theta1, x1), IKT_OK);
    assert_memory_equal(theta + FIRST, theta1, sizeof theta1);
    for (int j = 0; j < M; j++) {
        assert_true(j >= FIRST || theta[j] == h[j * M + j]);
        for (int c = 0; c < M; c++)
            assert_true(x[j * M + c] ==
                        (j < FIRST || c < FIRST ? j == c : x1[(j - FIRST) * REST + c - FIRST]));
    }
    ikt_block_destroy(&v);
    ikt_block_destroy(&b);
    ikt_block_destroy(&v1);
    ikt_block_destroy(&b1);
}

static void one_column_is_its_own_pair(void **state) {
    ikt_context *ctx = *state;
    ikt_block v = block_make(ctx, 800, 1, 6), b = block_make(ctx, 800, 1, 6);
    int64_t replaced;
    double theta, x, h;
    assert_int_equal(ikt_block_orthonormalise(&v, NULL, SEED, &replaced), IKT_OK);
    times_diagonal(&v, &b);
    assert_int_equal(ikt_block_ritz(&v, &b, 0, &theta, &x), IKT_OK);
    assert_int_equal(ikt_block_gram(&v, &b, &h), IKT_OK);
    assert_true(x == 1 && theta == h);
    ikt_block_destroy(&v);
    ikt_block_destroy(&b);
}

static void draws_are_functions_of_row_column_and_round(void **state) {
    ikt_context *ctx = *state;
    const ikt_rows rows = ikt_rows_make(100, ikt_size(ctx), ikt_rank(ctx));
    ikt_block wide, narrow;
    assert_int_equal(ikt_block_create(ctx, &rows, 5, &wide), IKT_OK);
    assert_int_equal(ikt_block_create(ctx, &rows, 3, &narrow), IKT_OK);
    ikt_block_random(&wide, 0, 9, 0);
    ikt_block_random(&narrow, 0, 9, 0);
    ikt_block_random(&wide, 3, 9, 1);
    for (int64_t i = 0; i < rows.count; i++) {
        const int64_t row = rows.first + i;
        assert_memory_equal(wide.v + i * 5, narrow.v + i * 3, 3 * sizeof(double));
        for (uint64_t c = 0; c < 5; c++) {
            const uint64_t draw = c < 3 ? c : (UINT64_C(1) << 32) + c;
            const double expected = 2 * ikt_rng_uniform(9, IKT_RNG_SPECTRAL, row, draw) - 1;
            assert_true(wide.v[i * 5 + (int64_t)c] == expected);
        }
    }
    ikt_block_destroy(&wide);
    ikt_block_destroy(&narrow);
}

IKT_MPI_TESTS(ikt_test(gram_matrices_are_right_and_reproducible),
              ikt_test(columns_of_any_size_have_their_sums),
              ikt_test(values_that_are_not_finite_are_refused),
              ikt_test(columns_become_orthonormal), ikt_test(zero_and_equal_columns_become_random),
              ikt_test(columns_within_the_known_become_random),
              ikt_test(nearly_dependent_columns_take_two_passes),
              ikt_test(more_columns_than_rows_are_refused),
              ikt_test(ritz_pairs_are_right_and_reproducible),
              ikt_test(columns_that_stay_are_left_out), ikt_test(one_column_is_its_own_pair),
              ikt_test(draws_are_functions_of_row_column_and_round))
