/* The curve of UMAP's min_dist and spread against what umap-learn 0.5.12 finds by scipy's
 * curve_fit. */
#include "support/ikt_test.h"

#include <math.h>

#include "objective/umap.h"

static const struct {
    double min_dist, spread, a, b;
} known[] = {{0, 0.5, 5.78248339, 0.790495107},     {0, 1, 1.9328084, 0.790494973},
             {0, 1.5, 1.01810114, 0.790494038},     {0, 3, 0.340302505, 0.790494726},
             {0.001, 0.5, 5.77629898, 0.792515307}, {0.001, 1, 1.9290734, 0.791504533},
             {0.001, 3, 0.339831951, 0.790831135},  {0.05, 0.5, 5.45376517, 0.8950608},
             {0.05, 1, 1.75022496, 0.842055393},    {0.05, 3, 0.317370379, 0.807451828},
             {0.1, 0.5, 5.06930933, 1.00300542},    {0.1, 1, 1.57694346, 0.895060878},
             {0.1, 1.5, 0.842372804, 0.859600179},  {0.1, 3, 0.295656462, 0.824652538},
             {0.25, 0.5, 3.7062902, 1.33416725},    {0.25, 1, 1.12143634, 1.05749988},
             {0.25, 3, 0.237691242, 0.877275694},   {0.5, 0.5, 1.66771687, 1.92924044},
             {0.5, 1, 0.58303002, 1.33416699},      {0.5, 1.5, 0.359327761, 1.14888936},
             {0.8, 1, 0.232062727, 1.6812316},      {0.8, 1.5, 0.174316267, 1.3717233},
             {0.8, 3, 0.10133877, 1.07570388},      {0.99, 1, 0.1193053, 1.91639042},
             {0.99, 1.5, 0.106261936, 1.51645774},  {0.99, 3, 0.074295865, 1.14522929}};

static void the_curve_is_that_of_umap_learn(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const ikt_umap_curve curve = ikt_umap_curve_fit(known[k].min_dist, known[k].spread);
        assert_true(fabs(curve.a - known[k].a) <= 2e-5 * curve.a);
        assert_true(fabs(curve.b - known[k].b) <= 2e-5 * curve.b);
    }
}

/* Nothing near it is nearer to the wanted curve. */
static double squares_of(double min_dist, double spread, double a, double b) {
    double sum = 0;
    for (int e = 0; e < 300; e++) {
        const double d = 3 * spread * e / 299;
        const double wanted = d < min_dist ? 1 : exp(-(d - min_dist) / spread);
        const double r = 1 / (1 + a * pow(d, 2 * b)) - wanted;
        sum += r * r;
    }
    return sum;
}

static void it_has_the_least_sum_of_squares(void **state) {
    (void)state;
    for (double spread = 0.01; spread < 1e3; spread *= 7)
        for (int part = 0; part <= 10; part++) {
            const double min_dist = spread * part / 10;
            const ikt_umap_curve c = ikt_umap_curve_fit(min_dist, spread);
            const double least = squares_of(min_dist, spread, c.a, c.b);
            assert_true(c.a > 0 && c.b > 0);
            for (int k = 0; k < 8; k++) {
                const double a = c.a * (1 + 1e-3 * cos(k)), b = c.b * (1 + 1e-3 * sin(k));
                assert_true(squares_of(min_dist, spread, a, b) >= least);
            }
        }
}

IKT_MPI_TESTS(ikt_test(the_curve_is_that_of_umap_learn), ikt_test(it_has_the_least_sum_of_squares))
