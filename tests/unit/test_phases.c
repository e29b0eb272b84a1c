/* When phases end, on courses of KL that are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "layout/layout.h"

typedef double course(int64_t iteration, int64_t exaggeration_end);

static ikt_phases follow_values(const ikt_layout_settings *settings, bool are_estimated,
                                course *kl) {
    ikt_phases phases = ikt_phases_begin(settings, are_estimated);
    for (int64_t i = 0; !phases.is_done; i++) {
        int64_t end = phases.is_exaggerated ? INT64_MAX : phases.exaggeration_end;
        ikt_phases_decide(&phases, i, ikt_phases_want_value(&phases, i) ? kl(i, end) : NAN);
    }
    return phases;
}

static ikt_phases follow(const ikt_layout_settings *settings, course *kl) {
    return follow_values(settings, false, kl);
}

static ikt_layout_settings bounds(int stop, int64_t iterations, int64_t exaggerated) {
    return (ikt_layout_settings){
        .stop = stop, .iterations = iterations, .exaggeration_iterations = exaggerated};
}

/* Level with some noise, then a fall that is steepest at 80, then level; after exaggeration an
 * approach to 2 that takes less than KL / 10000 an iteration from about 280 iterations on. */
static double usual(int64_t i, int64_t end) {
    double noise = 1e-9 * sin((double)(7 * i));
    if (i <= end) return 6 - tanh((double)(i - 80) / 15) + noise;
    return 2 + 3 * exp(-(double)(i - end) / 50);
}

static double level(int64_t i, int64_t end) {
    (void)end;
    return 3 + 1e-9 * cos((double)i);
}

static double rising(int64_t i, int64_t end) {
    (void)end;
    return 3 + 1e-3 * (double)i;
}

static double falling_for_ever(int64_t i, int64_t end) {
    (void)end;
    return 10 * exp(-1e-3 * (double)i);
}

static void fixed_phases_end_where_told(void **state) {
    (void)state;
    const ikt_layout_settings settings = bounds(IKT_STOP_FIXED, 40, 13);
    const ikt_phases p = follow(&settings, level);
    assert_int_equal(p.exaggeration_end, 13);
    assert_int_equal(p.end, 40);
    for (int64_t i = 0; i < 40; i++)
        assert_false(ikt_phases_want_value(&p, i));
}

static void no_exaggeration_and_no_iterations_are_legal(void **state) {
    (void)state;
    const ikt_layout_settings none = bounds(IKT_STOP_FIXED, 0, 0), later = bounds(0, 5, 5);
    assert_int_equal(follow(&none, level).end, 0);
    assert_int_equal(follow(&later, level).exaggeration_end, 5);
    assert_int_equal(follow(&later, level).end, 5);
}

static void exaggeration_ends_after_the_steepest_fall(void **state) {
    (void)state;
    const ikt_layout_settings settings = bounds(IKT_STOP_AUTO, 2000, 1000);
    const ikt_phases p = follow(&settings, usual);
    assert_in_range(p.exaggeration_end, 83, 100);
    /* 3/50 exp(-i/50) < 1e-4 (2 + 3 exp(-i/50)) from i = 50 log(0.0597/2e-4) = 285 on. */
    assert_in_range(p.end - p.exaggeration_end, 285, 300);
}

static void noise_on_a_level_is_no_fall(void **state) {
    (void)state;
    const ikt_layout_settings settings = bounds(IKT_STOP_AUTO, 2000, 150);
    const ikt_phases p = follow(&settings, level);
    assert_int_equal(p.exaggeration_end, 150);
    assert_in_range(p.end, 165, 180);
    assert_in_range(follow(&settings, rising).end, 165, 180);
}

static void iterations_stay_the_upper_bound(void **state) {
    (void)state;
    const ikt_layout_settings settings = bounds(IKT_STOP_AUTO, 200, 20);
    const ikt_phases p = follow(&settings, falling_for_ever);
    assert_int_equal(p.exaggeration_end, 20);
    assert_int_equal(p.end, 200);
}

/* --- steps that are too long ------------------------------------------------------------------ */

static ikt_layout_settings watched(int64_t iterations, int64_t exaggerated) {
    ikt_layout_settings s = bounds(IKT_STOP_FIXED, iterations, exaggerated);
    s.final_exaggeration = 1;
    s.batch_rows = IKT_AUTO_INT;
    return s;
}

/* Rises until steps are a quarter of what they were: from iteration 150 on. */
static double too_long(int64_t i, int64_t end) {
    (void)end;
    return i <= 150 ? 2 : 2 + 0.01 * (double)(i - 150);
}

/* Once above, and back. */
static double one_peak(int64_t i, int64_t end) {
    (void)end;
    return i == 200 ? 3 : 2;
}

static double wavering(int64_t i, int64_t end) {
    (void)end;
    return 2 + 1e-3 * sin((double)i);
}

/* Checks at 100, 150, ...: 200 and 250 are above 150, then 300 and 350 above 250, and so on. */
/* With exaggeration the value need not be the least that there was. */
static double partly_back(int64_t i, int64_t end) {
    (void)end;
    return 5 - 3 * fabs(sin((double)i / 100));
}

static void steps_that_raise_the_value_are_halved(void **state) {
    const ikt_layout_settings s = watched(360, 100);
    (void)state;
    assert_true(follow(&s, too_long).step == 0.25);
    assert_true(follow(&s, level).step == 1 && follow(&s, falling_for_ever).step == 1);
    assert_true(follow(&s, one_peak).step == 1 && follow(&s, wavering).step == 1);
    const ikt_layout_settings exaggerated = watched(360, 360);
    assert_true(follow(&exaggerated, too_long).step == 0.25);
    assert_true(follow(&exaggerated, partly_back).step == 1);
}

/* What keeps a factor, or is regularised, and steps of some rows, do not lower the value alone. */
static void only_what_is_minimised_is_watched(void **state) {
    ikt_layout_settings s[] = {watched(360, 100), watched(360, 100), watched(360, 100),
                               watched(360, 100)};
    (void)state;
    s[0].final_exaggeration = 2;
    s[1].regulariser = IKT_REGULARISER_LAPLACIAN;
    s[2].batch_rows = 10;
    s[3].objective = IKT_OBJECTIVE_UMAP;
    for (size_t c = 0; c < sizeof s / sizeof *s; c++)
        assert_true(follow(&s[c], too_long).step == 1);
}

/* Estimates rise by their error alone. */
static void estimates_are_not_watched(void **state) {
    const ikt_layout_settings s = watched(360, 100);
    (void)state;
    assert_true(follow_values(&s, true, too_long).step == 1);
}

/* --- t-SNE before another objective ----------------------------------------------------------- */

/* KL of t-SNE, which falls to 2, and then the value of the objective, which stands higher. */
static double two_values(int64_t i, int64_t end) {
    (void)end;
    return i < 200 ? 2 + exp(-(double)i / 20) : 5 + exp(-(double)(i - 200) / 20);
}

static void the_value_of_the_objective_is_not_held_against_that_of_tsne(void **state) {
    ikt_layout_settings s = watched(500, 50);
    (void)state;
    s.objective = IKT_OBJECTIVE_JSE;
    s.tsne_iterations = 200;
    const ikt_phases p = follow(&s, two_values);
    assert_true(p.step == 1 && !p.is_beginning && p.begun == 200 && p.end == 500);
    s.stop = IKT_STOP_AUTO; /* t-SNE has converged long before, and so has the objective */
    s.tsne_iterations = 400;
    const ikt_phases q = follow(&s, usual);
    assert_in_range(q.begun - q.exaggeration_end, 285, 300);
    assert_in_range(q.end - q.begun, 15, 40);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_phases_end_where_told),
        cmocka_unit_test(no_exaggeration_and_no_iterations_are_legal),
        cmocka_unit_test(exaggeration_ends_after_the_steepest_fall),
        cmocka_unit_test(noise_on_a_level_is_no_fall),
        cmocka_unit_test(iterations_stay_the_upper_bound),
        cmocka_unit_test(steps_that_raise_the_value_are_halved),
        cmocka_unit_test(only_what_is_minimised_is_watched),
        cmocka_unit_test(estimates_are_not_watched),
        cmocka_unit_test(the_value_of_the_objective_is_not_held_against_that_of_tsne)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
