/* What a study's file means: lists of values, settings, data sets, and what is refused with which
 * line. */
#include "support/ikt_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "config/value.h"
#include "config/yaml_tree.h"
#include "evaluate/measure.h"
#include "plot/chart.h"
#include "study/spec.h"

static ikt_study_values values_of(ikt_context *ctx, const char *text) {
    ikt_yaml *yaml = NULL;
    ikt_study_values values;
    assert_int_equal(ikt_yaml_parse(ctx, "test.yaml", text, &yaml), IKT_OK);
    assert_int_equal(ikt_study_values_read(ctx, yaml, ikt_yaml_root(yaml), &values), IKT_OK);
    ikt_yaml_destroy(&yaml);
    return values;
}

static void the_papers_range_has_fifty_values(void **state) {
    ikt_context *ctx = *state;
    const ikt_key integer = {.type = IKT_KEY_INT}, real = {.type = IKT_KEY_REAL};
    char text[IKT_STUDY_TEXT];
    ikt_study_values v = values_of(ctx, "[1, 5, .., 97, 0.01n, 0.05n, .., 0.97n]");
    assert_int_equal(v.count, 50);
    for (int i = 0; i < 25; i++) {
        assert_true(!v.value[i].is_share && v.value[i].number == 1 + 4 * i);
        assert_true(v.value[25 + i].is_share);
        assert_true(fabs(v.value[25 + i].number - (0.01 + 0.04 * i)) < 1e-15);
    }
    ikt_study_value_text(&v.value[2], &integer, 178, text);
    assert_string_equal(text, "9");
    ikt_study_value_text(&v.value[25], &integer, 178, text); /* 1.78 */
    assert_string_equal(text, "2");
    ikt_study_value_text(&v.value[25], &real, 178, text);
    assert_string_equal(text, "1.78");
    ikt_study_value_text(&v.value[25], &integer, 3, text); /* never none */
    assert_string_equal(text, "1");
    ikt_study_values_destroy(&v);
}

static void lists_hold_words_and_single_values(void **state) {
    ikt_context *ctx = *state;
    ikt_study_values v = values_of(ctx, "[voronoi, 1e3, -0.5]");
    assert_int_equal(v.count, 3);
    assert_false(v.value[0].is_number);
    assert_string_equal(v.value[0].text, "voronoi");
    assert_true(v.value[1].number == 1000 && v.value[2].number == -0.5);
    ikt_study_values_destroy(&v);
    v = values_of(ctx, "7");
    assert_int_equal(v.count, 1);
    ikt_study_values_destroy(&v);
    v = values_of(ctx, "[3, 2, .., -1]");
    assert_int_equal(v.count, 5);
    assert_true(v.value[4].number == -1);
    ikt_study_values_destroy(&v);
}

static void lists_that_lead_nowhere_are_refused(void **state) {
    ikt_context *ctx = *state;
    static const char *const bad[] = {
        "[.., 3]",        "[1, .., 3]",     "[1, 2, ..]",    "[1, 3, .., 6]", "[1, 1, .., 4]",
        "[1, 2, .., -3]", "[1, 2n, .., 8]", "[a, b, .., c]", "[[1]]",         "[1, 2, .., 9000]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ikt_yaml *yaml = NULL;
        ikt_study_values v;
        assert_int_equal(ikt_yaml_parse(ctx, "test.yaml", bad[i], &yaml), IKT_OK);
        assert_int_equal(ikt_study_values_read(ctx, yaml, ikt_yaml_root(yaml), &v), IKT_ERR_USAGE);
        assert_non_null(strstr(ikt_message(ctx), "test.yaml, line 1: "));
        assert_null(v.value);
        ikt_clear(ctx);
        ikt_yaml_destroy(&yaml);
    }
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void write_text(const char *text) {
    FILE *file = fopen("unit-study.yaml", "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Lines 1 to 9 of the studies below. */
static const char start[] = "title: T\n"
                            "measures: [Davies-Bouldin, 10-NN accuracy]\n"
                            "methods:\n"
                            "  - name: A\n"
                            "    settings: {affinity.kind: gaussian, layout: {iterations: 10}}\n"
                            "    vary: {gaussian.perplexity: [2, 0.1n]}\n"
                            "  - name: B\n"
                            "data:\n"
                            "  - {name: one, file: one.h5}\n";

static void a_study_is_what_its_file_says(void **state) {
    ikt_context *ctx = *state;
    ikt_study s;
    char text[4096];
    snprintf(text, sizeof text,
             "%s  - {name: two, generate: uniform-2d, options: {points: [10, 20]}, seed: each,\n"
             "     published: {B: [1.5, -]}}\n"
             "seeds: [3, 5, .., 9]\n",
             start);
    write_text(text);
    assert_int_equal(ikt_study_read(ctx, "unit-study.yaml", &s), IKT_OK);
    assert_string_equal(s.name, "unit-study");
    assert_int_equal(s.n_methods, 2);
    assert_int_equal(s.method[0].settings.count, 2);
    assert_string_equal(s.method[0].settings.text[1], "layout.iterations=10");
    assert_int_equal(s.method[0].axes, 1);
    assert_int_equal(s.method[1].axes, 0);
    assert_int_equal(s.n_data, 3); /* the list of points stands for two sets */
    assert_string_equal(s.data[2].name, "two (points 20)");
    assert_string_equal(s.data[2].options.text[0], "points=20");
    assert_true(s.data[1].seed == IKT_AUTO_INT && s.data[0].seed == 1);
    assert_true(s.data[1].published[2] == 1.5 && isnan(s.data[1].published[0]) &&
                isnan(s.data[1].published[3]));
    assert_int_equal(s.n_seeds, 4);
    assert_int_equal(s.seed[3], 9);
    ikt_study_destroy(&s);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* Refused with a message that holds `words`. */
static void refused(ikt_context *ctx, const char *text, const char *words) {
    ikt_study s;
    write_text(text);
    assert_int_equal(ikt_study_read(ctx, "unit-study.yaml", &s), IKT_ERR_USAGE);
    if (!strstr(ikt_message(ctx), words)) fail_msg("no '%s' in: %s", words, ikt_message(ctx));
    ikt_clear(ctx);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* Each value of each list, in the order of the file. */
static void lists_of_options_are_combined(void **state) {
    static const char *const options[][2] = {{"points=10", "clusters=3"},
                                             {"points=10", "clusters=4"},
                                             {"points=20", "clusters=3"},
                                             {"points=20", "clusters=4"}};
    ikt_context *ctx = *state;
    ikt_study s;
    char text[4096];
    snprintf(text, sizeof text,
             "%s  - {name: mix, generate: gaussian-mixture,\n"
             "     options: {points: [10, 20], dimensions: 2, clusters: [3, 4]}}\n",
             start);
    write_text(text);
    assert_int_equal(ikt_study_read(ctx, "unit-study.yaml", &s), IKT_OK);
    assert_int_equal(s.n_data, 5);
    assert_string_equal(s.data[2].name, "mix (points 10, clusters 4)");
    for (int i = 0; i < 4; i++) {
        const ikt_assignments *of = &s.data[1 + i].options;
        assert_int_equal(of->count, 3);
        assert_string_equal(of->text[0], "dimensions=2");
        assert_string_equal(of->text[1], options[i][0]);
        assert_string_equal(of->text[2], options[i][1]);
    }
    ikt_study_destroy(&s);
    snprintf(text, sizeof text,
             "%s  - {name: a name of more than twenty-four letters, generate: gaussian-mixture,\n"
             "     options: {points: [1000, 2000], dimensions: [20, 30], clusters: [3, 4],\n"
             "               separation: [1.25, 1.26]}}\n",
             start);
    write_text(text);
    assert_int_equal(ikt_study_read(ctx, "unit-study.yaml", &s), IKT_OK);
    assert_int_equal(s.n_data, 17);
    assert_string_equal(s.data[16].name, "a name of more than twenty-four letters (points 2000, "
                                         "dimensions 30, clusters 4, separation 1.26)");
    ikt_study_destroy(&s);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

#define WORDS "a name of sixty letters, which is as many as a name may have "

static void what_is_unknown_is_refused_with_its_line(void **state) {
    ikt_context *ctx = *state;
    static const char *const cases[][2] = {
        {"  - {name: x, file: x.h5, sed: 1}\n",
         "line 10: a data set has no key 'sed'; did you mean"},
        {"  - {name: x}\n", "line 10: a data set has either `file` or `generate`"},
        {"  - {name: one, file: y.h5}\n", "two data sets called 'one'"},
        {"  - name: " WORDS WORDS WORDS
         "\n    generate: sphere\n    options: {points: [1000, 2000]}\n",
         "points 1000...', the name of a set is longer than 191 characters: give it a shorter "
         "name"},
        {"  - {name: x, generate: uniform-3d}\n", "did you mean 'uniform-2d'?"},
        {"  - {name: x, generate: sphere, options: {pints: 3}}\n", "no option 'pints'"},
        {"  - {name: x, generate: sphere, options: {points: few}}\n", "'few' is not an integer"},
        {"  - {name: x, file: x.h5, settings: {isolation.psy: 4}}\n",
         "did you mean 'isolation.psi'"},
        {"  - {name: x, file: x.h5, settings: {run.seed: 4}}\n", "a study gives it to its runs"},
        {"  - {name: x, file: x.h5, settings: {isolation.psi: [1, 2]}}\n", "stand under `vary`"},
        {"  - {name: x, file: x.h5, reference: y}\n", "there is no data set 'y'"},
        {"  - {name: x, file: x.h5, published: {C: [1, 2]}}\n", "there is no method 'C'"},
        {"  - {name: x, file: x.h5, published: {B: [1]}}\n", "a list of 2"},
        {"  - {name: x, file: x.h5, published: {B: [1, many]}}\n", "'many' is neither a number"},
        {"seeds: [1.5]\n", "line 10: '1.5' is no seed"},
        {"seed: [1]\n", "a study has no key 'seed'; did you mean 'seeds'?"},
        {"title: again\n", "'title' is given a second time"},
        {"curves_over: columns\n", "`values` or `rows`"},
        {"  - [\n", "not valid YAML"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[4096];
        snprintf(text, sizeof text, "%s%s", start, cases[i][0]);
        refused(ctx, text, cases[i][1]);
    }
    refused(ctx, "measures: [Davis-Bouldin]\nmethods: [{name: A}]\ndata: [{name: x, file: x}]\n",
            "line 1: there is no measure 'Davis-Bouldin'; did you mean 'Davies-Bouldin'?");
    refused(ctx, "measures: [trustworthy]\nmethods: [{name: A}]\ndata: [{name: x, file: x}]\n",
            "there is no measure 'trustworthy'; did you mean 'trustworthiness'?");
    refused(ctx, "measures: [KL]\ndata: [{name: x, file: x}]\n", "`methods` is a list");
    refused(ctx, "methods: [{name: A}, {name: A}]\nmeasures: [KL]\ndata: [{name: x, file: x}]\n",
            "two methods called 'A'");
    refused(ctx, "methods: [{name: A, vary: {affinity.kind: [2n]}}]\n", "no values in shares of n");
    char many[1024] = "methods: [{name: A}]\nmeasures: [KL";
    for (int m = 0; m < IKT_STUDY_MEASURES; m++)
        strcat(many, ", KL");
    strcat(many, "]\n");
    refused(ctx, many, "line 2: a study has at most 32 measures");
    refused(ctx, "methods: [{name: \"\"}]\n", "line 1: a method needs a name");
    refused(ctx, "methods: [{name: A, settings: {isolation.psi: 3, isolation.psi: 4}}]\n",
            "line 1: isolation.psi is given a second time");
    refused(ctx, "methods: [{name: A}]\nmeasures: [KL]\ndata: [{name: x, file: }]\n",
            "line 3: `file` is empty");
    refused(ctx, "[1, 2]\n", "a study is a mapping");
    refused(ctx, "", "a study is a mapping");
    remove("unit-study.yaml");
}

static void measures_are_found_with_any_number_in_their_names(void **state) {
    (void)state;
    assert_int_equal(ikt_measure_find("Davies-Bouldin")->better, -1);
    assert_string_equal(ikt_measure_find("37-NN accuracy")->family, "labels");
    assert_non_null(ikt_measure_find("row 12 to class -3"));
    assert_null(ikt_measure_find("row x to class 3"));
    assert_null(ikt_measure_find("row 1 to class 3 and 4"));
    assert_null(ikt_measure_find(""));
    /* Words stand for the measure with the numbers that evaluate has when nobody says any. */
    static const char *const asked[][2] = {{"trustworthiness", "trustworthiness (k 12)"},
                                           {"KNN", "10-NN accuracy"},
                                           {"ch", "Calinski-Harabasz"},
                                           {"7-NN accuracy", "7-NN accuracy"}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char name[80] = "";
        assert_true(ikt_measure_named(asked[i][0], name, sizeof name));
        assert_string_equal(name, asked[i][1]);
    }
    char name[80];
    assert_false(ikt_measure_named("beauty", name, sizeof name));
}

static int64_t occurrences(const char *text, const char *word) {
    int64_t count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word))
        count++;
    return count;
}

static void a_chart_shows_each_line_and_no_number_that_is_none(void **state) {
    ikt_context *ctx = *state;
    const double x[] = {1, 10, 100, 1000}, y[] = {2, NAN, 4, INFINITY}, z[] = {5, 5, 5, 5};
    const ikt_chart_line line[] = {{.name = "a < b", .x = x, .y = y, .count = 4},
                                   {.name = "flat", .x = x, .y = z, .count = 4},
                                   {.name = "none", .count = 0}};
    const ikt_chart chart = {.title = "T & U",
                             .x_label = "x",
                             .y_label = "y",
                             .log_x = true,
                             .line = line,
                             .lines = 3,
                             .width = 400,
                             .height = 300};
    ikt_text svg = {ctx, NULL, 0, 0, IKT_OK};
    ikt_chart_svg(&chart, &svg);
    assert_int_equal(svg.status, IKT_OK);
    assert_non_null(strstr(svg.data, "a &lt; b"));
    assert_non_null(strstr(svg.data, "T &amp; U"));
    assert_null(strstr(svg.data, "nan"));
    assert_null(strstr(svg.data, "inf"));
    assert_int_equal(occurrences(svg.data, "a3 3 0 1 0 6 0"), 3); /* two points and the key */
    assert_int_equal(occurrences(svg.data, "m-3 -3h6v6h-6z"), 5); /* four and the key */
    ikt_free(&svg.data);
}

/* The loader of libyaml would take minutes for the deepest of these. */
static void deep_nesting_is_refused(void **state) {
    enum { DEEPEST = 400000 };
    static const struct {
        const char *open;
        int depth;
        ikt_status status;
    } cases[] = {{"[", 63, IKT_OK},
                 {"[", 65, IKT_ERR_USAGE},
                 {"[", DEEPEST, IKT_ERR_USAGE},
                 {"{a: ", DEEPEST / 4, IKT_ERR_USAGE},
                 {"- ", DEEPEST / 2, IKT_ERR_USAGE},
                 {"\n- &a 1", DEEPEST / 8, IKT_ERR_USAGE}};
    static char text[2 * DEEPEST + 8];
    ikt_context *ctx = *state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        ikt_yaml *yaml = NULL;
        char *at = text;
        const size_t length = strlen(cases[c].open);
        for (int d = 0; d < cases[c].depth; d++, at += length)
            memcpy(at, cases[c].open, length);
        *at++ = '1';
        for (int d = 0; d < cases[c].depth && length == 1; d++)
            *at++ = ']';
        *at = '\0';
        assert_int_equal(ikt_yaml_parse(ctx, "deep.yaml", text, &yaml), cases[c].status);
        if (cases[c].status != IKT_OK) {
            assert_null(yaml);
            assert_non_null(strstr(ikt_message(ctx), "deep.yaml, line "));
            assert_non_null(strstr(ikt_message(ctx), "more than"));
        }
        ikt_clear(ctx);
        ikt_yaml_destroy(&yaml);
    }
}

IKT_MPI_TESTS(ikt_test(deep_nesting_is_refused), ikt_test(the_papers_range_has_fifty_values),
              ikt_test(lists_hold_words_and_single_values),
              ikt_test(lists_that_lead_nowhere_are_refused),
              ikt_test(a_study_is_what_its_file_says), ikt_test(lists_of_options_are_combined),
              ikt_test(what_is_unknown_is_refused_with_its_line),
              ikt_test(measures_are_found_with_any_number_in_their_names),
              ikt_test(a_chart_shows_each_line_and_no_number_that_is_none))
