/* Delta-bar-delta with the gradient taken ahead: beside plain steps of x and v, of which y is
 * x + momentum v; gains at their bounds and at zero. */
#include "support/ikt_test.h"

#include <math.h>

#include "optimiser/optimiser.h"

enum { COUNT = 37, STEPS = 40, SWITCH = 25 };

/* A bowl, steep along some coordinates. */
static double slope_at(int e, double y) {
    return (0.1 + 0.3 * (e % 5)) * (y - 0.1 * e);
}

static double momentum_at(int k) {
    return k < SWITCH ? 0.5 : 0.8;
}

static void steps_are_those_of_x_and_v(void **state) {
    (void)state;
    float velocity[COUNT] = {0}, gain[COUNT], y[COUNT] = {0}, attraction[COUNT], repulsion[COUNT];
    float *array[] = {velocity, gain};
    double x[COUNT] = {0}, v[COUNT] = {0}, g[COUNT];
    for (int e = 0; e < COUNT; e++)
        g[e] = gain[e] = 1;
    for (int k = 0; k < STEPS; k++) {
        const ikt_optimiser_step step = {
            .momentum = momentum_at(k), .next_momentum = momentum_at(k + 1), .rate = 0.2};
        const ikt_gradient gradient = {attraction, repulsion, 2, -1};
        for (int e = 0; e < COUNT; e++) {
            /* 2 a - r is the slope at y. */
            attraction[e] = (float)slope_at(e, (double)y[e]);
            repulsion[e] = attraction[e];
            const double ahead = x[e] + momentum_at(k) * v[e], slope = slope_at(e, ahead);
            const bool is_same = (slope > 0) == (v[e] > 0) && (slope < 0) == (v[e] < 0);
            g[e] = is_same ? fmax(0.8 * g[e], 0.01) : g[e] + 0.2;
            v[e] = momentum_at(k) * v[e] - 0.2 * g[e] * slope;
            x[e] += v[e];
        }
        ikt_optimiser_delta_bar_delta.step(&step, &gradient, COUNT, array, y);
        for (int e = 0; e < COUNT; e++)
            assert_true(fabs((double)y[e] - (x[e] + momentum_at(k + 1) * v[e])) < 1e-4);
    }
}

static void gains_have_a_least_value_and_zeros_agree(void **state) {
    (void)state;
    float velocity[] = {1, 0, -1, 1}, gain[] = {0.011f, 1, 1, 1}, y[4] = {0};
    const float attraction[] = {2, 0, 0, -3}, none[4] = {0};
    float *array[] = {velocity, gain};
    const ikt_optimiser_step step = {.momentum = 0, .next_momentum = 0, .rate = 0};
    const ikt_gradient gradient = {attraction, none, 1, 0};
    ikt_optimiser_delta_bar_delta.step(&step, &gradient, 4, array, y);
    assert_true(gain[0] == 0.01f);
    assert_true(gain[1] == 0.8f);
    assert_true(gain[2] == 1.2f);
    assert_true(gain[3] == 1.2f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_are_those_of_x_and_v),
                                       cmocka_unit_test(gains_have_a_least_value_and_zeros_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
