/* What the keys of the loop stand for, and what is refused: objective, dimensions, repulsion. */
#include "support/ikt_test.h"

#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "layout/layout.h"

static ikt_layout_settings defaults(ikt_context *ctx) {
    ikt_layout_settings settings;
    const ikt_config_part part = {&ikt_layout_section, &settings};
    memset(&settings, 0, sizeof settings);
    assert_int_equal(ikt_config_defaults(ctx, &part, 1), IKT_OK);
    return settings;
}

/* "layout.dimensions=3 layout.objective=jse": the settings after these assignments. */
static ikt_status assign(ikt_context *ctx, const char *text, ikt_layout_settings *settings) {
    const ikt_config_part part = {&ikt_layout_section, settings};
    char copy[256], *rest = copy;
    *settings = defaults(ctx);
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok(rest, " "); word; word = strtok(NULL, " ")) {
        ikt_status st = ikt_config_override(ctx, &part, 1, word);
        if (st != IKT_OK) return st;
    }
    return IKT_OK;
}

static ikt_layout_settings resolved(ikt_context *ctx, const char *text, int64_t n) {
    ikt_layout_settings settings;
    assert_int_equal(assign(ctx, text, &settings), IKT_OK);
    if (ikt_layout_resolve(ctx, &settings, n) != IKT_OK) fail_msg("%s: %s", text, ikt_message(ctx));
    return settings;
}

static void refused(ikt_context *ctx, const char *text, int64_t n, const char *why) {
    ikt_layout_settings settings;
    ikt_status st = assign(ctx, text, &settings);
    if (st == IKT_OK) st = ikt_layout_resolve(ctx, &settings, n);
    assert_int_equal(st, IKT_ERR_USAGE);
    if (!strstr(ikt_message(ctx), why)) fail_msg("%s: %s", text, ikt_message(ctx));
    ikt_clear(ctx);
}

static void the_default_is_tsne_in_the_plane(void **state) {
    const ikt_layout_settings s = resolved(*state, "", 1000);
    assert_int_equal(s.dimensions, 2);
    assert_int_equal(s.objective, IKT_OBJECTIVE_TSNE);
    assert_int_equal(s.repulsion, IKT_REPULSION_EXACT);
    assert_int_equal(resolved(*state, "", 100000).repulsion, IKT_REPULSION_FFT);
}

static void repulsion_follows_objective_and_dimensions(void **state) {
    static const struct {
        const char *text;
        int repulsion;
    } cases[] = {{"layout.dimensions=1", IKT_REPULSION_TREE},
                 {"layout.dimensions=3", IKT_REPULSION_TREE},
                 {"layout.objective=jse", IKT_REPULSION_FFT},
                 {"layout.objective=jse layout.dimensions=3", IKT_REPULSION_TREE},
                 {"layout.objective=nerv", IKT_REPULSION_FFT},
                 {"layout.objective=nerv layout.dimensions=3", IKT_REPULSION_EXACT},
                 {"layout.objective=sne", IKT_REPULSION_EXACT},
                 {"layout.repulsion=barnes_hut", IKT_REPULSION_TREE},
                 {"layout.repulsion=exact layout.dimensions=1", IKT_REPULSION_EXACT},
                 {"layout.degrees_of_freedom=0.5", IKT_REPULSION_FFT},
                 {"layout.degrees_of_freedom=inf", IKT_REPULSION_FFT},
                 {"layout.degrees_of_freedom=0.5 layout.dimensions=3", IKT_REPULSION_TREE},
                 {"layout.degrees_of_freedom=10.5 layout.dimensions=3", IKT_REPULSION_EXACT},
                 {"layout.degrees_of_freedom=inf layout.dimensions=1", IKT_REPULSION_EXACT}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        assert_int_equal(resolved(*state, cases[c].text, 50000).repulsion, cases[c].repulsion);
}

/* Powers take longer, so that exact sums are chosen for fewer rows. */
static void exact_sums_are_for_few_rows(void **state) {
    assert_int_equal(resolved(*state, "", 3000).repulsion, IKT_REPULSION_EXACT);
    assert_int_equal(resolved(*state, "", 3001).repulsion, IKT_REPULSION_FFT);
    assert_int_equal(resolved(*state, "layout.degrees_of_freedom=2", 1000).repulsion,
                     IKT_REPULSION_EXACT);
    assert_int_equal(resolved(*state, "layout.degrees_of_freedom=2", 1001).repulsion,
                     IKT_REPULSION_FFT);
}

static void late_exaggeration_shortens_the_step(void **state) {
    const ikt_layout_settings usual = resolved(*state, "", 60000);
    assert_true(usual.degrees_of_freedom == 1 && usual.final_exaggeration == 1);
    assert_true(usual.final_learning_rate == 60000);
    assert_true(resolved(*state, "layout.final_exaggeration=4", 60000).final_learning_rate ==
                15000);
    assert_true(resolved(*state, "layout.final_exaggeration=0.5", 60000).final_learning_rate ==
                60000);
    assert_true(resolved(*state, "layout.final_exaggeration=1000", 60000).final_learning_rate ==
                60);
    assert_true(resolved(*state, "layout.final_exaggeration=4 layout.learning_rate=300", 60000)
                    .final_learning_rate == 300);
    /* Few rows: no less than what comes after. */
    assert_true(resolved(*state, "layout.final_exaggeration=3", 100).exaggeration == 3);
    assert_true(resolved(*state, "layout.final_exaggeration=1.2", 100).exaggeration == 1.5);
    assert_true(resolved(*state, "layout.degrees_of_freedom=inf", 10).degrees_of_freedom ==
                INFINITY);
}

/* Forces on a row are in proportion to 1 / n, so that steps are in proportion to n, however small.
 */
static void steps_are_in_proportion_to_the_rows(void **state) {
    for (int64_t n = 24; n <= 24000000; n *= 10) {
        const ikt_layout_settings s = resolved(*state, "", n);
        assert_true(s.learning_rate == (double)n / (n < 150 ? 1.5 : 12) &&
                    s.final_learning_rate == (double)n);
    }
}

static void mixtures_begin_with_tsne(void **state) {
    const struct {
        const char *text;
        int64_t n, of_tsne, iterations;
    } cases[] = {{"layout.objective=nerv", 30, 750, 1250},
                 {"layout.objective=jse", 20000, 750, 1250},
                 {"layout.objective=jse", 20001, 0, 750},
                 {"layout.objective=jse layout.tsne_iterations=400", 20001, 400, 1250},
                 {"layout.objective=nerv layout.tsne_iterations=0", 30, 0, 750},
                 {"layout.objective=nerv layout.init_file=map.h5", 30, 0, 750},
                 {"layout.objective=nerv layout.iterations=2000", 30, 750, 2000},
                 {"layout.objective=nerv layout.iterations=500", 30, 300, 500},
                 {"layout.objective=nerv layout.iterations=300", 300, 0, 300},
                 {"layout.objective=nerv layout.iterations=300", 30, 180, 300},
                 {"layout.objective=nerv layout.stop=auto", 30, 1200, 2000},
                 {"layout.objective=sne", 30, IKT_AUTO_INT, 750},
                 {"", 30, IKT_AUTO_INT, 750}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const ikt_layout_settings s = resolved(*state, cases[c].text, cases[c].n);
        assert_true(s.tsne_iterations == cases[c].of_tsne && s.iterations == cases[c].iterations);
    }
    refused(*state, "layout.objective=nerv layout.tsne_iterations=1251", 30,
            "layout.tsne_iterations = 1251 is larger than layout.iterations = 1250");
    refused(*state, "layout.objective=nerv layout.tsne_iterations=100", 300,
            "layout.tsne_iterations = 100 ends before the phase of exaggeration");
}

static void mixtures_have_a_trade_off(void **state) {
    assert_true(resolved(*state, "layout.objective=nerv", 100).trade_off == 0.5);
    assert_true(resolved(*state, "layout.objective=jse", 100).trade_off == 0.5);
    assert_true(resolved(*state, "layout.objective=jse layout.trade_off=0.1", 100).trade_off ==
                0.1);
}

static void contradictions_are_refused(void **state) {
    refused(*state, "layout.dimensions=3 layout.repulsion=fft", 100, "layout.dimensions = 3");
    refused(*state, "layout.dimensions=1 layout.repulsion=fft", 100, "flat grid");
    refused(*state, "layout.objective=sne layout.repulsion=fft", 100,
            "layout.repulsion=fft cannot sum what layout.objective=sne needs; take "
            "repulsion=exact");
    refused(*state, "layout.objective=nerv layout.repulsion=barnes_hut", 100,
            "take repulsion=fft, exact");
    refused(*state, "layout.objective=nerv layout.dimensions=3 layout.repulsion=barnes_hut", 100,
            "take repulsion=exact");
    refused(*state, "layout.degrees_of_freedom=11 layout.repulsion=barnes_hut", 100,
            "at most 10 degrees of freedom");
    refused(*state, "layout.final_exaggeration=2 layout.final_exaggeration_from=249", 1000,
            "from 250");
    refused(*state, "layout.final_exaggeration=2 layout.final_exaggeration_from=751", 1000,
            "to 750");
    refused(*state,
            "layout.final_exaggeration=2 layout.final_exaggeration_from=400 layout.stop=auto", 100,
            "layout.stop=auto");
}

static void values_out_of_range_are_refused(void **state) {
    static const char *const texts[] = {"layout.dimensions=0",
                                        "layout.dimensions=4",
                                        "layout.dimensions=2.5",
                                        "layout.dimensions=auto",
                                        "layout.objective=isomap",
                                        "layout.trade_off=0",
                                        "layout.trade_off=1",
                                        "layout.trade_off=-0.5",
                                        "layout.degrees_of_freedom=0.05",
                                        "layout.degrees_of_freedom=nan",
                                        "layout.degrees_of_freedom=-inf",
                                        "layout.degrees_of_freedom=auto",
                                        "layout.final_exaggeration=inf",
                                        "layout.final_exaggeration=0"};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        ikt_layout_settings settings;
        assert_int_equal(assign(*state, texts[t], &settings), IKT_ERR_USAGE);
        ikt_clear(*state);
    }
}

IKT_MPI_TESTS(ikt_test(the_default_is_tsne_in_the_plane),
              ikt_test(repulsion_follows_objective_and_dimensions),
              ikt_test(exact_sums_are_for_few_rows), ikt_test(late_exaggeration_shortens_the_step),
              ikt_test(steps_are_in_proportion_to_the_rows), ikt_test(mixtures_begin_with_tsne),
              ikt_test(mixtures_have_a_trade_off), ikt_test(contradictions_are_refused),
              ikt_test(values_out_of_range_are_refused))
