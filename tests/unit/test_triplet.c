/* The loss of a triplet and its gradient: known numbers, central differences, the methods that are
 * cases of it, limits, the weights, and forces without a bound. */
#include "support/ikt_test.h"

#include <math.h>

#include "objective/trimap.h"
#include "sampled/triplet.h"

enum { Q = 2 };

static double square_of(const double *a, const double *b) {
    double sum = 0;
    for (int c = 0; c < Q; c++)
        sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sum;
}

/* The loss by the definition, with nothing taken apart. */
static double plain_loss(double t, double t_prime, double u, double v) {
    const double q_ij = t_prime == 1 ? exp(-u) : pow(1 + (t_prime - 1) * u, 1 / (1 - t_prime));
    const double q_ik = t_prime == 1 ? exp(-v) : pow(1 + (t_prime - 1) * v, 1 / (1 - t_prime));
    const double z = 1 + q_ik / q_ij;
    return t == 1 ? log(z) : (pow(z, 1 - t) - 1) / (1 - t);
}

static double loss_at(const ikt_triplet_rule *rule, double y[3][Q]) {
    return ikt_triplet(rule, square_of(y[0], y[1]), square_of(y[0], y[2])).loss;
}

static void gradient_at(const ikt_triplet_rule *rule, double y[3][Q], double g[3][Q]) {
    const ikt_triplet_terms terms = ikt_triplet(rule, square_of(y[0], y[1]), square_of(y[0], y[2]));
    for (int c = 0; c < Q; c++) {
        const double u = y[0][c] - y[1][c], v = y[0][c] - y[2][c];
        g[0][c] = terms.c_j * u - terms.c_k * v;
        g[1][c] = -terms.c_j * u;
        g[2][c] = terms.c_k * v;
    }
}

static const double grid_t[] = {0, 0.5, 1, 1 + 1e-6, 1.5, 2, 3, 10};
static const double grid_t_prime[] = {1, 1 + 1e-6, 1.5, 2, 3, 10};
enum { TS = sizeof grid_t / sizeof *grid_t, T_PRIMES = sizeof grid_t_prime / sizeof *grid_t_prime };

/* Differences of fourth order: their own error is below 1e-9 of the gradient. */
static void the_gradient_is_that_of_the_loss(void **state) {
    (void)state;
    const double step = 1e-3;
    for (int a = 0; a < TS; a++)
        for (int b = 0; b < T_PRIMES; b++) {
            const ikt_triplet_rule rule = {grid_t[a], grid_t_prime[b]};
            double y[3][Q] = {{0.3, -0.2}, {-0.5, 0.4}, {0.9, 0.7}}, g[3][Q], size = 0;
            gradient_at(&rule, y, g);
            for (int e = 0; e < 3 * Q; e++)
                size = fmax(size, fabs(g[e / Q][e % Q]));
            for (int e = 0; e < 3 * Q; e++) {
                double *at = &y[e / Q][e % Q], value[4];
                const double was = *at, offset[] = {-2, -1, 1, 2};
                for (int k = 0; k < 4; k++) {
                    *at = was + offset[k] * step;
                    value[k] = loss_at(&rule, y);
                }
                *at = was;
                const double found =
                    (value[0] - 8 * value[1] + 8 * value[2] - value[3]) / (12 * step);
                if (fabs(found - g[e / Q][e % Q]) > 1e-7 * size)
                    fail_msg("t %g, t' %g: %.12g is not %.12g", rule.t, rule.t_prime,
                             g[e / Q][e % Q], found);
            }
            for (int c = 0; c < Q; c++)
                assert_true(fabs(g[0][c] + g[1][c] + g[2][c]) <= 1e-15 * size);
        }
}

static void the_loss_is_that_of_the_definition(void **state) {
    (void)state;
    for (int a = 0; a < TS; a++)
        for (int b = 0; b < T_PRIMES; b++) {
            const ikt_triplet_rule rule = {grid_t[a], grid_t_prime[b]};
            const bool is_near_one = grid_t[a] == 1 + 1e-6 || grid_t_prime[b] == 1 + 1e-6;
            for (double u = 0.01; u < 20; u *= 3)
                for (double v = 0.02; v < 20; v *= 2.5) {
                    const double plain = plain_loss(rule.t, rule.t_prime, u, v);
                    const double found = ikt_triplet(&rule, u, v).loss;
                    /* The plain one loses digits of a ratio that is near 0, and near 1. */
                    assert_true(fabs(found - plain) <=
                                (is_near_one ? 1e-8 : 1e-12) * fmax(1, plain));
                }
        }
}

/* Of 1 +- 1e-9, where the definition has no digits left: log_t(z) = log z - (t - 1) log(z)^2 / 2.
 */
static void logarithms_go_over_into_each_other(void **state) {
    (void)state;
    const double tiny = 1e-9;
    for (double x = 0.01; x < 50; x *= 2) {
        const double l = log1p(x);
        assert_true(ikt_log_t(1, l) == l);
        for (int sign = -1; sign <= 1; sign += 2) {
            const double near = l - sign * tiny * l * l / 2;
            assert_true(fabs(ikt_log_t(1 + sign * tiny, l) - near) < 1e-15 * l + 1e-16 * l * l * l);
        }
        assert_true(ikt_log_exp_t(1, x) == -x);
        assert_true(fabs(ikt_log_exp_t(1 + tiny, x) - (-x + tiny * x * x / 2)) < 1e-14 * x);
        assert_true(fabs(ikt_log_exp_t(2, x) + l) < 1e-15 * l);
        assert_true(fabs(ikt_log_t(2, l) - x / (1 + x)) < 1e-15);
        assert_true(fabs(ikt_log_t(0, l) - x) < 2e-15 * x);
    }
}

/* t = t' = 2: A / (A + B); t = 0: the ratio itself. */
static void closed_forms_are_met(void **state) {
    (void)state;
    const ikt_triplet_rule usual = {2, 2}, nearly = {2, 2 + 1e-13}, ratio = {0, 2};
    for (double u = 0; u < 100; u = 3 * u + 0.1)
        for (double v = 0; v < 100; v = 2 * v + 0.3) {
            const double a = 1 + u, b = 1 + v;
            const ikt_triplet_terms found = ikt_triplet(&usual, u, v);
            const ikt_triplet_terms general = ikt_triplet(&nearly, u, v);
            assert_true(fabs(found.loss - a / (a + b)) < 1e-15);
            assert_true(fabs(found.c_j - 2 * b / ((a + b) * (a + b))) < 1e-15);
            assert_true(fabs(found.c_k - 2 * a / ((a + b) * (a + b))) < 1e-15);
            assert_true(fabs(general.loss - found.loss) < 1e-11);
            assert_true(fabs(general.c_j - found.c_j) < 1e-11 * found.c_j);
            assert_true(fabs(general.c_k - found.c_k) < 1e-11 * found.c_k);
            assert_true(fabs(ikt_triplet(&ratio, u, v).loss - a / b) < 1e-14 * a / b);
            /* No force is longer than a quarter of the weight. */
            assert_true(found.c_j * sqrt(u) <= 0.25 + 1e-15);
            assert_true(found.c_k * sqrt(v) <= 0.25 + 1e-15);
        }
}

/* -log p_ijk of t-STE, p = s_ij / (s_ij + s_ik), s = (1 + d^2 / alpha)^-((1 + alpha) / 2), of a map
 * whose squares are 2 alpha / (1 + alpha) times those of this one. */
static void t_ste_is_a_case(void **state) {
    (void)state;
    const double alphas[] = {1, 2, 5};
    for (int k = 0; k < 3; k++) {
        const double alpha = alphas[k], power = -(1 + alpha) / 2;
        const ikt_triplet_rule rule = {1, (3 + alpha) / (1 + alpha)};
        for (double u = 0.01; u < 50; u *= 3)
            for (double v = 0.02; v < 50; v *= 2.5) {
                const double scale = 2 * alpha / (1 + alpha);
                const double s_ij = pow(1 + scale * u / alpha, power);
                const double s_ik = pow(1 + scale * v / alpha, power);
                const double plain = -log(s_ij / (s_ij + s_ik));
                assert_true(fabs(ikt_triplet(&rule, u, v).loss - plain) <= 1e-14 * fmax(1, plain));
            }
    }
    const ikt_triplet_rule ste = {1, 1};
    const double plain = -log(exp(-0.7) / (exp(-0.7) + exp(-0.2)));
    assert_true(fabs(ikt_triplet(&ste, 0.7, 0.2).loss - plain) < 1e-15);
}

static void limits_are_finite(void **state) {
    (void)state;
    for (int a = 0; a < TS; a++)
        for (int b = 0; b < T_PRIMES; b++) {
            const ikt_triplet_rule rule = {grid_t[a], grid_t_prime[b]};
            const double far = 1e30;
            const ikt_triplet_terms point = ikt_triplet(&rule, 0, 0);
            const double half = rule.t == 1 ? log(2) : (pow(2, 1 - rule.t) - 1) / (1 - rule.t);
            assert_true(fabs(point.loss - half) < 1e-9);
            const ikt_triplet_terms good = ikt_triplet(&rule, 1, far);
            assert_true(good.loss >= 0 && good.loss < 1 && isfinite(good.c_j) && good.c_k >= 0);
            const ikt_triplet_terms both = ikt_triplet(&rule, far, far);
            assert_true(isfinite(both.loss) && isfinite(both.c_j * 1e15));
            /* Above 1 the worst triplet has a bounded loss, and is given up. */
            const ikt_triplet_terms bad = ikt_triplet(&rule, far, 1);
            if (rule.t < 1.5) continue;
            assert_true(bad.loss <= 1 / (rule.t - 1) && bad.c_k <= 1 && bad.c_j <= 1);
        }
    const ikt_triplet_rule ste = {1, 1};
    assert_true(fabs(ikt_triplet(&ste, 1000, 0).loss - 1000) < 1e-12);
    assert_true(ikt_triplet(&ste, 0, 1000).loss < 1e-300);
    assert_true(isfinite(ikt_triplet(&ste, 1000, 0).c_j));
}

static void weights_grow_with_l(void **state) {
    (void)state;
    for (int kind = IKT_TRIPLET_LOG; kind <= IKT_TRIPLET_NEAR; kind++) {
        const ikt_triplet_weighing weighing = (ikt_triplet_weighing)kind;
        assert_true(ikt_triplet_weight(weighing, 1, 0, 5) == 0);
        assert_true(ikt_triplet_weight(weighing, 1, -3, 5) == 0);
        assert_true(ikt_triplet_weight(weighing, 1, NAN, 5) == 0);
        double before = 0;
        for (double l = 0.1; l < 5; l += 0.3) {
            const double w = ikt_triplet_weight(weighing, 1, l, 5);
            assert_true(weighing == IKT_TRIPLET_UNIT ? w == 1 : w > before);
            before = w;
        }
    }
    assert_true(ikt_triplet_weight(IKT_TRIPLET_LOG, 1, 3, 0) == 2);
    assert_true(ikt_triplet_weight(IKT_TRIPLET_NEAR, 0.25, 3, 0) == 0.5);
    assert_true(ikt_triplet_near(IKT_TRIPLET_NEAR, 2) == exp(-2));
    assert_true(ikt_triplet_near(IKT_TRIPLET_LOG, 2) == 1);
    assert_true(ikt_triplet_random_share(IKT_TRIPLET_NEAR) == 0.1);
    assert_true(ikt_triplet_random_share(IKT_TRIPLET_RATIO) == 1);
    assert_true(fabs(ikt_triplet_weight(IKT_TRIPLET_RATIO, 1, 5, 5) - 1.001) < 1e-15);
    assert_true(fabs(ikt_triplet_weight(IKT_TRIPLET_RATIO, 1, 4, 5) - (exp(-1) + 0.001)) < 1e-15);
    assert_true(fabs(ikt_triplet_weight(IKT_TRIPLET_RATIO, 1, 9, 5) - 1.001) < 1e-15);
}

/* Of 2 * 3 + 1 triplets of an anchor, whose mean weight is a half, forces are no longer than 70
 * where the rule bounds none: a sum of (60, 80) becomes one of (42, 56), which is let be. */
static void forces_without_a_bound_are_shortened(void **state) {
    static const ikt_triplet_rule rules[] = {{2, 2}, {1, 2}, {3, 2.5}, {0.9, 2}, {2, 1.9}, {0, 1}};
    (void)state;
    for (int rule = 0; rule < 6; rule++) {
        const float half[] = {30, 40, 21, 28}, halves[] = {21, 28, 21, 28};
        ikt_objective_inputs in = {.rows = ikt_rows_make(2, 1, 0), .q = 2};
        ikt_triplet_settings *s = &in.options.own.triplet;
        *s = (ikt_triplet_settings){.neighbours = 2, .outliers = 3, .random = 1};
        s->t = rules[rule].t;
        s->t_prime = rules[rule].t_prime;
        for (int parts = 1; parts <= 2; parts++) {
            float a[2 * Q], b[2 * Q];
            for (int e = 0; e < 2 * Q; e++)
                a[e] = b[e] = half[e] * (float)(3 - parts);
            ikt_trimap_limit(&in, 0.5, a, parts == 2 ? b : NULL);
            for (int e = 0; e < 2 * Q; e++) {
                const float wanted = (rule < 3 ? half : halves)[e] * (float)(3 - parts);
                assert_true(fabsf(a[e] - wanted) < 1e-5f);
                assert_true(parts == 1 || a[e] == b[e]);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_gradient_is_that_of_the_loss),
                                       cmocka_unit_test(the_loss_is_that_of_the_definition),
                                       cmocka_unit_test(logarithms_go_over_into_each_other),
                                       cmocka_unit_test(closed_forms_are_met),
                                       cmocka_unit_test(t_ste_is_a_case),
                                       cmocka_unit_test(limits_are_finite),
                                       cmocka_unit_test(weights_grow_with_l),
                                       cmocka_unit_test(forces_without_a_bound_are_shortened)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
