/* Plain descent: a step is the rate times the whole gradient, both of its fields. */
#include "support/ikt_test.h"

#include <math.h>

#include "optimiser/optimiser.h"

static void a_step_goes_down_the_whole_gradient(void **state) {
    enum { COUNT = 21 };
    (void)state;
    float y[COUNT], attraction[COUNT], repulsion[COUNT];
    const ikt_gradient gradient = {attraction, repulsion, 3, -0.5f};
    const ikt_optimiser_step step = {.momentum = 0.9, .next_momentum = 0.9, .rate = 0.25};
    for (int e = 0; e < COUNT; e++) {
        y[e] = (float)e;
        attraction[e] = (float)(e - 7);
        repulsion[e] = (float)(2 * e + 1);
    }
    for (int times = 1; times <= 3; times++) { /* without any memory of the last one */
        ikt_optimiser_descent.step(&step, &gradient, COUNT, NULL, y);
        for (int e = 0; e < COUNT; e++)
            assert_true(fabs((double)y[e] - (e - times * 0.25 * (3 * (e - 7) - e - 0.5))) < 1e-4);
    }
    assert_int_equal(ikt_optimiser_descent.arrays, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_step_goes_down_the_whole_gradient)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
