/* The exponential of eight doubles against the C library's in long double. */
#include "support/ikt_test.h"

#include <math.h>

#include "base/exp_lanes.h"
#include "base/rng.h"

static void exps_of(const double *x, double *result) {
    ikt_doubles lanes;
    memcpy(&lanes, x, sizeof lanes);
    ikt_exp_lanes(&lanes);
    memcpy(result, &lanes, sizeof lanes);
}

/* Magnitudes from 1e-300 to 707, some at multiples of log(2) / 2, where k changes. */
static void it_is_exact_to_the_last_bits(void **state) {
    (void)state;
    double worst = 0;
    for (int64_t i = 0; i < 200000; i += IKT_DOUBLES) {
        double x[IKT_DOUBLES], result[IKT_DOUBLES];
        for (int l = 0; l < IKT_DOUBLES; l++) {
            const double uniform = ikt_rng_uniform(5, IKT_RNG_TEST, i + l, 0);
            const double half = floor(2000 * uniform) * 0.34657359027997264;
            x[l] = l == 0   ? -pow(10, -300 * uniform)
                   : l == 1 ? -half * (1 + 1e-15 * (double)(i % 7 - 3))
                   : l == 2 ? -uniform
                            : -707 * uniform;
        }
        exps_of(x, result);
        for (int l = 0; l < IKT_DOUBLES; l++) {
            const long double wanted = expl((long double)x[l]);
            worst = fmax(worst, (double)fabsl(((long double)result[l] - wanted) / wanted));
        }
    }
    assert_true(worst < 2.5e-16);
}

static void its_ends_are_one_and_nothing(void **state) {
    (void)state;
    const double x[IKT_DOUBLES] = {0, -0.0, -706.9, -707.1, -745, -1e9, -1e300, -INFINITY};
    double result[IKT_DOUBLES];
    exps_of(x, result);
    assert_true(result[0] == 1 && result[1] == 1);
    assert_true(result[2] > 0 && result[2] < 1e-306);
    for (int l = 3; l < IKT_DOUBLES; l++)
        assert_true(result[l] == 0);
    /* Far below, where what is left out would overflow: sanitizers look at it. */
    for (int64_t i = 0; i < 10000; i += IKT_DOUBLES) {
        double below[IKT_DOUBLES];
        for (int l = 0; l < IKT_DOUBLES; l++)
            below[l] = -708 * pow(10, 8 * ikt_rng_uniform(6, IKT_RNG_TEST, i + l, 0));
        exps_of(below, result);
        for (int l = 0; l < IKT_DOUBLES; l++)
            assert_true(result[l] == 0);
    }
}

static void the_lanes_beyond_a_count_are_left_out(void **state) {
    (void)state;
    const float from[IKT_DOUBLES] = {1, 2, 4, 8, 16, 32, 64, 128};
    for (int64_t count = 1; count <= IKT_DOUBLES + 1; count++) {
        ikt_doubles lanes;
        const int64_t there = count < IKT_DOUBLES ? count : IKT_DOUBLES;
        ikt_doubles_load(from, count, 1000, &lanes);
        assert_true(ikt_doubles_total(&lanes) ==
                    (double)((1 << there) - 1) + 1000 * (double)(IKT_DOUBLES - there));
        ikt_doubles_keep(&lanes, count);
        assert_true(ikt_doubles_total(&lanes) == (double)((1 << there) - 1));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_is_exact_to_the_last_bits),
                                       cmocka_unit_test(its_ends_are_one_and_nothing),
                                       cmocka_unit_test(the_lanes_beyond_a_count_are_left_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
