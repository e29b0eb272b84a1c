/* Distances between blocks of rows: against double precision, and bit for bit over instruction
 * sets, blockings and argument order. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "linalg/dot_tile.h"
#include "metric/metric.h"

enum { ROWS_MAX = 70 };

/* What is tested. */
static const ikt_metric *metric = &ikt_metric_euclidean;

static void *aligned(size_t bytes) {
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(memory);
    return memory;
}

static float *random_rows(int64_t n, int64_t d, uint64_t seed, double offset) {
    float *rows = aligned((size_t)(n * d) * sizeof(float));
    for (int64_t i = 0; i < n * d; i++)
        rows[i] = (float)(offset + ikt_rng_normal(seed, IKT_RNG_TEST, i, 0));
    return rows;
}

static float *distances(ikt_isa isa, const float *a, int64_t na, const float *b, int64_t nb,
                        int64_t d) {
    float *packed = aligned((size_t)ikt_packed_floats(nb, d) * sizeof(float));
    float *out = aligned((size_t)(na * ikt_packed_rows(nb)) * sizeof(float));
    ikt_pack_rows(b, nb, d, packed);
    metric->on(isa)->block(a, na, packed, nb, d, out);
    free(packed);
    return out;
}

static void close_to_reference(void **state) {
    (void)state;
    const int64_t dims[] = {1, 2, 13, 64, 257};
    for (size_t t = 0; t < sizeof dims / sizeof *dims; t++) {
        int64_t d = dims[t], na = 13, nb = 35, stride = ikt_packed_rows(nb);
        /* The offset would ruin |x|^2 - 2 x.y + |y|^2 in single precision. */
        float *a = random_rows(na, d, 1, 1000), *b = random_rows(nb, d, 2, 1000);
        float *out = distances(ikt_cpu_isa(), a, na, b, nb, d);
        for (int64_t i = 0; i < na; i++) {
            for (int64_t j = 0; j < nb; j++) {
                double expected = metric->exact(a + i * d, b + j * d, d);
                double of_sum = metric == &ikt_metric_manhattan ? 2 : 1; /* its square is taken */
                double bound = expected * of_sum * (double)(d + 2) * 0x1p-24;
                assert_true(fabs((double)out[i * stride + j] - expected) <= bound);
            }
        }
        free(a);
        free(b);
        free(out);
    }
}

static void same_bits_for_every_isa(void **state) {
    (void)state;
    for (int64_t na = 1; na <= 17; na += na < 9 ? 1 : 8) {
        for (int64_t nb = 1; nb <= ROWS_MAX; nb += 23) {
            int64_t d = 37;
            float *a = random_rows(na, d, 3, 0), *b = random_rows(nb, d, 4, 0);
            float *expected = distances(IKT_ISA_PORTABLE, a, na, b, nb, d);
            for (int isa = IKT_ISA_AVX2; isa <= (int)ikt_cpu_isa(); isa++) {
                float *out = distances((ikt_isa)isa, a, na, b, nb, d);
                size_t bytes = (size_t)(na * ikt_packed_rows(nb)) * sizeof(float);
                assert_memory_equal(out, expected, bytes);
                free(out);
            }
            free(a);
            free(b);
            free(expected);
        }
    }
}

/* Groups that lie anywhere, any number of them in any order, some of them twice. */
static void some_groups_are_as_in_a_block(void **state) {
    (void)state;
    enum { GROUPS = 19, LANES = IKT_PACK_ROWS };
    const int64_t d = 37, nb = GROUPS * LANES - 5;
    float *a = random_rows(1, d, 7, 0), *b = random_rows(nb, d, 8, 0);
    float *packed = aligned((size_t)ikt_packed_floats(nb, d) * sizeof(float));
    float *expected = distances(IKT_ISA_PORTABLE, a, 1, b, nb, d);
    ikt_pack_rows(b, nb, d, packed);
    for (int isa = IKT_ISA_PORTABLE; isa <= (int)ikt_cpu_isa(); isa++)
        for (int64_t groups = 0; groups <= GROUPS; groups++) {
            const float *group[GROUPS];
            float out[GROUPS * LANES + 1];
            out[groups * LANES] = -1;
            for (int64_t g = 0; g < groups; g++)
                group[g] = packed + g * g % GROUPS * LANES * d;
            metric->on((ikt_isa)isa)->groups(a, group, groups, d, out);
            for (int64_t g = 0; g < groups; g++)
                assert_memory_equal(out + g * LANES, expected + g * g % GROUPS * LANES,
                                    LANES * sizeof(float));
            assert_true(out[groups * LANES] == -1);
        }
    free(a);
    free(b);
    free(packed);
    free(expected);
}

static void symmetric_and_zero_on_itself(void **state) {
    (void)state;
    int64_t n = ROWS_MAX, d = 50, stride = ikt_packed_rows(n);
    float *a = random_rows(n, d, 5, 100);
    float *out = distances(ikt_cpu_isa(), a, n, a, n, d);
    for (int64_t i = 0; i < n; i++) {
        assert_true(out[i * stride + i] == 0);
        for (int64_t j = 0; j < n; j++) {
            assert_memory_equal(&out[i * stride + j], &out[j * stride + i], sizeof(float));
            if (i != j) assert_true(out[i * stride + j] > 0);
        }
    }
    free(a);
    free(out);
}

/* A row alone gives the bits it has as part of any block. */
static void independent_of_blocking(void **state) {
    (void)state;
    int64_t n = 41, d = 21, stride = ikt_packed_rows(n);
    float *a = random_rows(n, d, 6, 0);
    float *whole = distances(ikt_cpu_isa(), a, n, a, n, d);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j += 5) {
            float *one = distances(ikt_cpu_isa(), a + i * d, 1, a + j * d, n - j, d);
            assert_memory_equal(one, whole + i * stride + j, (size_t)(n - j) * sizeof(float));
            free(one);
        }
    }
    free(a);
    free(whole);
}

static void padding_is_zero_rows(void **state) {
    (void)state;
    int64_t d = 3, nb = 18;
    float *b = random_rows(nb, d, 7, 0);
    float *packed = aligned((size_t)ikt_packed_floats(nb, d) * sizeof(float));
    memset(packed, 0xFF, (size_t)ikt_packed_floats(nb, d) * sizeof(float));
    ikt_pack_rows(b, nb, d, packed);
    for (int64_t row = 0; row < ikt_packed_rows(nb); row++) {
        for (int64_t k = 0; k < d; k++) {
            float expected = row < nb ? b[row * d + k] : 0;
            assert_true(packed[(row / 16 * d + k) * 16 + row % 16] == expected);
        }
    }
    free(b);
    free(packed);
}

/* The double-precision tile behind covariance and projection. */
static void dot_tile_same_bits_and_right(void **state) {
    (void)state;
    enum { DEPTH = 33 };
    double *a = aligned(sizeof(double) * DEPTH * 8), *b = aligned(sizeof(double) * DEPTH * 16);
    double expected[128], c[128];
    for (int64_t i = 0; i < DEPTH * 8; i++)
        a[i] = ikt_rng_normal(8, IKT_RNG_TEST, i, 0);
    for (int64_t i = 0; i < DEPTH * 16; i++)
        b[i] = ikt_rng_normal(9, IKT_RNG_TEST, i, 0);
    for (int transposed = 0; transposed < 2; transposed++) {
        int64_t row = transposed ? 1 : DEPTH, step = transposed ? 8 : 1;
        ikt_dot_tile(IKT_ISA_PORTABLE, DEPTH, a, row, step, b, expected);
        for (int i = 0; i < 8; i++) {
            for (int j = 0; j < 16; j++) {
                double sum = 0;
                for (int k = 0; k < DEPTH; k++)
                    sum += a[i * row + k * step] * b[k * 16 + j];
                assert_true(fabs(expected[i * 16 + j] - sum) < 1e-13);
            }
        }
        for (int isa = IKT_ISA_AVX2; isa <= (int)ikt_cpu_isa(); isa++) {
            ikt_dot_tile((ikt_isa)isa, DEPTH, a, row, step, b, c);
            assert_memory_equal(c, expected, sizeof c);
        }
    }
    free(a);
    free(b);
}

static void by_manhattan(void **state) {
    metric = &ikt_metric_manhattan;
    close_to_reference(state);
    same_bits_for_every_isa(state);
    some_groups_are_as_in_a_block(state);
    symmetric_and_zero_on_itself(state);
    independent_of_blocking(state);
    metric = &ikt_metric_euclidean;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(close_to_reference),
        cmocka_unit_test(same_bits_for_every_isa),
        cmocka_unit_test(some_groups_are_as_in_a_block),
        cmocka_unit_test(symmetric_and_zero_on_itself),
        cmocka_unit_test(independent_of_blocking),
        cmocka_unit_test(by_manhattan),
        cmocka_unit_test(padding_is_zero_rows),
        cmocka_unit_test(dot_tile_same_bits_and_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
